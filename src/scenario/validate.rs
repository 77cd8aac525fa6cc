//! Ranges that every case keeps, whoever made it.

use crate::case::{Case, FlowSpec, NodeKind, PortSpec, Routes};
use crate::error::InputError;
use crate::scenario::keys::{DELAY_HIGH, RATE_HIGH, RATE_LOW};
use crate::scenario::validate_credits;

/// Largest frame (bytes).
const FRAME_HIGH: u32 = 16_383;
/// Largest shared pool (bytes).
const POOL_HIGH: u32 = 256 << 20;

pub(super) fn wrong(key: impl Into<String>, found: impl ToString, message: impl Into<String>) -> InputError {
    InputError { key: key.into(), found: found.to_string(), message: message.into(), ..InputError::default() }
}

pub(super) fn within(key: impl Into<String>, value: u64, low: u64, high: u64) -> Result<(), InputError> {
    if (low..=high).contains(&value) { Ok(()) } else { Err(wrong(key, value, format!("is out of range; allowed is {low} to {high}"))) }
}

/// Checks that a case is one that engines can run: ranges, indices, order.
///
/// # Errors
/// The first violation; the key names the part of the case.
pub fn validate(case: &Case) -> Result<(), InputError> {
    classes(case)?;
    rules(case)?;
    nodes(case)?;
    for (i, port) in case.ports.iter().enumerate() {
        self::port(case, i, port)?;
    }
    routes(case, &case.routes, false)?;
    flows(case)?;
    validate_credits::credits(case)?;
    validate_credits::changes(case)
}

fn largest_frame(case: &Case) -> u64 {
    let r = &case.rules;
    let data = u64::from(r.mtu_bytes) + u64::from(r.data_header_bytes) + u64::from(r.first_extra_bytes);
    [r.ack_bytes, r.cnp_bytes, r.pfc_bytes].into_iter().map(u64::from).fold(data, u64::max)
}

fn classes(case: &Case) -> Result<(), InputError> {
    let n = u64::try_from(case.classes.len()).unwrap_or(u64::MAX);
    within("classes", n, 1, if case.credits.is_some() { 8 } else { 7 })?;
    let mut weighted = false;
    for (i, class) in case.classes.iter().enumerate() {
        let key = format!("class {i}");
        within(format!("{key} priority"), u64::from(class.priority), 0, 7)?;
        if class.quantum_bytes > 0 {
            weighted = true;
            within(format!("{key} quantum"), u64::from(class.quantum_bytes), largest_frame(case), u64::from(u32::MAX >> 1))?;
        } else if weighted {
            return Err(wrong(key, "strict", "comes after a weighted class"));
        }
    }
    Ok(())
}

fn rules(case: &Case) -> Result<(), InputError> {
    let r = &case.rules;
    within("transport.mtu", u64::from(r.mtu_bytes), 1, u64::from(FRAME_HIGH))?;
    within("largest frame [bytes]", largest_frame(case), 1, u64::from(FRAME_HIGH))?;
    for (key, bytes) in [("transport.ack_frame", r.ack_bytes), ("transport.cnp_frame", r.cnp_bytes), ("transport.pfc_frame", r.pfc_bytes)] {
        within(key, u64::from(bytes), 1, u64::from(FRAME_HIGH))?;
    }
    within("transport.gap", u64::from(r.gap_bytes), 0, 1000)?;
    within("compat.grain", u64::from(r.grain_ps), 1, 1_000_000)?;
    within("transport.ack_every", u64::from(r.ack_every), 1, u64::from(u32::MAX))?;
    let n = u64::try_from(case.classes.len()).unwrap_or(0);
    for (key, class) in [("transport.ack_class", r.ack_class), ("transport.cnp_class", r.cnp_class)] {
        within(key, u64::from(class.unwrap_or(0)), 0, n - 1)?;
    }
    let d = &r.dcqcn;
    for (key, period) in
        [("cc.alpha_period", d.alpha_period_ps), ("cc.cut_period", d.cut_period_ps), ("cc.increase_period", d.increase_period_ps)]
    {
        within(key, period, 1, u64::MAX)?;
    }
    within("cc.rate_min", u64::from(d.rate_min_kbps), 1000, RATE_HIGH)?;
    within("cc.cut_shift", u64::from(d.cut_shift), 0, 31)?;
    for (key, rate) in [("cc.rate_max", d.rate_max_kbps), ("cc.rate_first_cnp", d.rate_first_cnp_kbps)] {
        if rate > 0 {
            within(key, u64::from(rate), 1000, RATE_HIGH)?;
        }
    }
    Ok(())
}

fn nodes(case: &Case) -> Result<(), InputError> {
    let mut next = 0_u64;
    for (i, node) in case.nodes.iter().enumerate() {
        let key = format!("node `{}`", node.name);
        if u64::from(node.first_port) != next {
            return Err(wrong(key, node.first_port, "has ports that are not contiguous"));
        }
        let range = node.first_port..node.first_port.saturating_add(node.n_ports);
        next += u64::from(node.n_ports);
        for p in range {
            let owner = case.ports.get(p as usize).map(|port| port.node as usize);
            if owner != Some(i) {
                return Err(wrong(key, p, "does not own its port"));
            }
        }
        if node.kind == NodeKind::Endpoint && node.n_ports != 1 {
            return Err(wrong(key, node.n_ports, "is an endpoint and must have exactly one port"));
        }
        within(format!("{key} pool"), u64::from(node.pool_bytes), 0, u64::from(POOL_HIGH))?;
    }
    within("number of ports", u64::try_from(case.ports.len()).unwrap_or(u64::MAX), next, next)
}

fn port(case: &Case, index: usize, port: &PortSpec) -> Result<(), InputError> {
    let node = case.nodes.get(port.node as usize).map_or("?", |n| n.name.as_str());
    let key = |what: &str| format!("port {index} of `{node}`: {what}");
    let back = case.ports.get(port.peer as usize).map(|p| p.peer as usize);
    if back != Some(index) || port.peer as usize == index {
        return Err(wrong(key("peer"), port.peer, "is not wired back"));
    }
    within(key("rate [kb/s]"), port.rate_kbps, RATE_LOW, RATE_HIGH)?;
    within(key("byte time"), u64::from(port.byte_time_q16), 1, 1 << 31)?;
    within(key("link delay [ps]"), u64::from(port.delay_ps), 1, DELAY_HIGH)?;
    within(key("PFC delay [ps]"), u64::from(port.pfc_delay_ps), 1, DELAY_HIGH)?;
    within(key("alpha [1/128]"), u64::from(port.alpha_q7), 1, 1024)?;
    within(key("alpha_lossy [1/128]"), u64::from(port.alpha_lossy_q7), 1, 1024)?;
    within(key("headroom [bytes]"), u64::from(port.headroom_bytes), 0, u64::from(u32::MAX >> 2))?;
    within(key("reserve [bytes]"), u64::from(port.reserve_bytes), 0, u64::from(u32::MAX >> 2))?;
    within(key("XON gap [bytes]"), u64::from(port.xon_gap_bytes), 0, u64::from(u32::MAX >> 2))?;
    within(key("kmin [bytes]"), u64::from(port.ecn.kmin_bytes), 0, u64::from(port.ecn.kmax_bytes))?;
    within(key("marking shift"), u64::from(port.ecn.slope_shift), 0, 63)
}

pub(super) fn routes(case: &Case, r: &Routes, empty: bool) -> Result<(), InputError> {
    let n = case.nodes.len();
    if r.switch_row.len() != n || r.endpoint_leaf.len() != n {
        return Err(wrong("routes", r.switch_row.len(), "do not cover all nodes"));
    }
    let members = u32::try_from(r.members.len()).unwrap_or(u32::MAX);
    if r.group_start.last().is_some_and(|last| *last != members)
        || r.group_start.windows(2).any(|w| w[0] > w[1] || (!empty && w[0] == w[1]))
    {
        return Err(wrong("routes", members, "have an empty group"));
    }
    let groups = r.group_start.len().saturating_sub(1);
    if r.table.iter().any(|g| *g != u32::MAX && *g as usize >= groups) || r.members.iter().any(|m| *m as usize >= case.ports.len()) {
        return Err(wrong("routes", groups, "name a group or port that does not exist"));
    }
    Ok(())
}

fn flows(case: &Case) -> Result<(), InputError> {
    let mut ids = std::collections::BTreeSet::new();
    let mut last = None;
    for (i, flow) in case.flows.iter().enumerate() {
        let key = |what: &str| format!("flow {}: {what}", flow.id);
        within(key("id"), u64::from(flow.id), 0, (1 << 30) - 1)?;
        if !ids.insert(flow.id) {
            return Err(wrong(key("id"), flow.id, "is used twice"));
        }
        let order = (flow.src, flow.start_ps, flow.id);
        if last.replace(order).is_some_and(|l| l > order) {
            return Err(wrong(key("order"), i, "is not by source, start and id"));
        }
        let endpoint = |n: u32| case.nodes.get(n as usize).is_some_and(|n| n.kind == NodeKind::Endpoint);
        if !endpoint(flow.src) || !endpoint(flow.dst) || flow.src == flow.dst {
            return Err(wrong(key("ends"), format!("{} to {}", flow.src, flow.dst), "must be two endpoints"));
        }
        within(key("class"), u64::from(flow.class), 0, u64::try_from(case.classes.len()).unwrap_or(0) - 1)?;
        packets(case, flow)?;
        if let Some(after) = flow.after {
            let seen = case.flows.get(after.flow as usize).map(|o| if after.received { o.dst } else { o.src });
            if seen != Some(flow.src) {
                return Err(wrong(key("after"), after.flow, "is not a flow that this one's source sees"));
            }
        }
        if flow.path_data.iter().chain(&flow.path_ack).any(|p| *p as usize >= case.ports.len()) {
            return Err(wrong(key("path"), "", "names a port that does not exist"));
        }
        within(key("start [ps]"), flow.start_ps, 0, 1 << 60)?;
    }
    Ok(())
}

fn packets(case: &Case, flow: &FlowSpec) -> Result<(), InputError> {
    let mtu = u64::from(case.rules.mtu_bytes);
    let key = |what: &str| format!("flow {}: {what}", flow.id);
    within(key("packets"), u64::from(flow.n_packets), 1, i32::MAX.unsigned_abs().into())?;
    let bytes = u64::from(flow.n_packets - 1) * mtu + u64::from(flow.last_payload_bytes);
    let tail = (1..=mtu).contains(&u64::from(flow.last_payload_bytes));
    if bytes != flow.size_bytes || !tail {
        return Err(wrong(key("size [bytes]"), flow.size_bytes, "does not match its packets"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load_text;
    use std::path::Path;

    fn case() -> Case {
        let text = "[fabric]\nendpoints = 8\nleaves = 2\nspines = 2\n[[traffic]]\nkind = \"permutation\"\n";
        load_text(Path::new("s.toml"), text, &[]).expect("loads").case
    }

    #[test]
    fn every_range_is_checked() {
        type Change = fn(&mut Case);
        let changes: [(&str, Change); 34] = [
            ("classes", |c| c.classes.clear()),
            ("classes", |c| c.classes = vec![c.classes[0]; 8]),
            ("order of classes", |c| c.classes.reverse()),
            ("quantum", |c| c.classes[1].quantum_bytes = 4000),
            ("priority", |c| c.classes[0].priority = 8),
            ("frame", |c| c.rules.mtu_bytes = 16_380),
            ("frame", |c| c.rules.ack_bytes = 16_384),
            ("frame", |c| c.rules.cnp_bytes = 0),
            ("grain", |c| c.rules.grain_ps = 0),
            ("ack_every", |c| c.rules.ack_every = 0),
            ("ack_class", |c| c.rules.ack_class = Some(2)),
            ("alpha period", |c| c.rules.dcqcn.alpha_period_ps = 0),
            ("rate_min", |c| c.rules.dcqcn.rate_min_kbps = 999),
            ("rate_max", |c| c.rules.dcqcn.rate_max_kbps = 5),
            ("cut_shift", |c| c.rules.dcqcn.cut_shift = 32),
            ("pool", |c| c.nodes[8].pool_bytes = (256 << 20) + 1),
            ("endpoint ports", |c| c.nodes[8].kind = NodeKind::Endpoint),
            ("contiguous", |c| c.nodes[3].first_port = 9),
            ("wired back", |c| c.ports[0].peer = 1),
            ("rate", |c| c.ports[0].rate_kbps = 244_000),
            ("rate", |c| c.ports[0].rate_kbps = 2_100_000_001),
            ("byte time", |c| c.ports[0].byte_time_q16 = 0),
            ("delay", |c| c.ports[0].delay_ps = 0),
            ("delay", |c| c.ports[0].pfc_delay_ps = 1_000_000_001),
            ("alpha", |c| c.ports[0].alpha_q7 = 0),
            ("alpha", |c| c.ports[0].alpha_lossy_q7 = 1025),
            ("kmin", |c| c.ports[0].ecn.kmin_bytes = u32::MAX),
            ("routes", |c| c.routes.members[0] = u32::MAX),
            ("routes", |c| c.routes.table[1] = 99),
            ("flow id", |c| c.flows[0].id = 1 << 30),
            ("flow id", |c| c.flows[0].id = c.flows[1].id),
            ("flow order", |c| c.flows.reverse()),
            ("packets", |c| c.flows[0].n_packets += 1),
            ("ends", |c| c.flows[0].dst = c.flows[0].src),
        ];
        assert_eq!(validate(&case()), Ok(()));
        for (i, (what, change)) in changes.into_iter().enumerate() {
            let mut case = case();
            change(&mut case);
            assert!(validate(&case).is_err(), "{i}: {what}");
        }
    }
}
