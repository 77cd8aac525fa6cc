//! Last steps: flows in order, windows, ideal times, time series, notes.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::case::{After, Case, FlowSpec, NodeKind, Reaction};
use crate::engine::Sampling;
use crate::error::InputError;
use crate::fabric::{Headroom, PortRules, buffer, route};
use crate::scenario::read::{Amount, Reader};
use crate::scenario::traffic::Draft;
use crate::subnet::{Tables, Wires};
use crate::units::Unit;
use crate::workload::ideal;

/// Sorts flows and turns ids into indices. Returns the group of each flow too.
pub(crate) fn flows(mut drafts: Vec<Draft>, case: &Case) -> Result<(Vec<FlowSpec>, Vec<u32>), String> {
    drafts.sort_by_key(|d| (d.src, d.start_ps, d.id));
    let mut index = BTreeMap::new();
    for (i, draft) in (0_u32..).zip(&drafts) {
        if index.insert(draft.id, i).is_some() {
            return Err(format!("flow id {} is used twice", draft.id));
        }
    }
    let mtu = u64::from(case.rules.mtu_bytes).max(1);
    let mut flows = Vec::with_capacity(drafts.len());
    for draft in &drafts {
        let n_packets = u32::try_from(draft.size_bytes.div_ceil(mtu)).ok().filter(|n| i32::try_from(*n).is_ok());
        let n_packets = n_packets.ok_or_else(|| format!("flow {} has more than 2^31 - 1 packets", draft.id))?;
        let after = draft.after.map(|(id, on)| release(draft, id, on, &index, &drafts)).transpose()?;
        flows.push(FlowSpec {
            id: draft.id,
            src: draft.src,
            dst: draft.dst,
            class: draft.class,
            sl: draft.sl,
            dlids: [0; 2],
            size_bytes: draft.size_bytes,
            n_packets,
            last_payload_bytes: u32::try_from((draft.size_bytes - 1) % mtu + 1).unwrap_or(0),
            start_ps: draft.start_ps,
            after,
            hash_data: draft.hash_data,
            hash_ack: draft.hash_ack,
            path_data: draft.path_data.clone(),
            path_ack: draft.path_ack.clone(),
            window_bytes: 0,
        });
    }
    no_cycles(&flows)?;
    Ok((flows, drafts.iter().map(|d| d.group).collect()))
}

fn release(draft: &Draft, id: u32, on: Option<bool>, index: &BTreeMap<u32, u32>, drafts: &[Draft]) -> Result<After, String> {
    let flow = *index.get(&id).ok_or_else(|| format!("flow {} waits for flow {id}, which does not exist", draft.id))?;
    let other = &drafts[flow as usize];
    let received = on.unwrap_or(other.dst == draft.src);
    let seen = if received { other.dst } else { other.src };
    if seen != draft.src {
        return Err(format!(
            "flow {} waits for flow {id} to be {}, which its source does not see; it must start where that flow {}",
            draft.id,
            if received { "received" } else { "sent" },
            if received { "ends" } else { "starts" }
        ));
    }
    Ok(After { flow, received })
}

fn no_cycles(flows: &[FlowSpec]) -> Result<(), String> {
    // 0 = not seen, 1 = on the way, 2 = starts in the end.
    let mut state = vec![0_u8; flows.len()];
    for first in 0..flows.len() {
        let mut chain = Vec::new();
        let mut at = first;
        while state[at] == 0 {
            state[at] = 1;
            chain.push(at);
            match flows[at].after {
                Some(after) => at = after.flow as usize,
                None => break,
            }
        }
        if state[at] == 1 && flows[at].after.is_some() {
            let from = chain.iter().position(|c| *c == at).unwrap_or(0);
            let ids: Vec<String> = chain[from..].iter().map(|c| flows[*c].id.to_string()).collect();
            return Err(format!("flows {} wait for each other", ids.join(", ")));
        }
        chain.into_iter().for_each(|c| state[c] = 2);
    }
    Ok(())
}

/// Sets the windows of all flows.
pub(crate) fn windows<'a>(reader: &'a Reader<'a>, case: &mut Case) -> Result<(), InputError> {
    let sec = reader.section("transport");
    let amount = sec.amount("window")?;
    let narrow = |bytes: u64| {
        u32::try_from(bytes.max(1)).map_err(|_| sec.error("window", format!("comes to {bytes} bytes, more than 32 bits hold")))
    };
    let bytes = match amount {
        Amount::Is(bytes) => vec![narrow(bytes)?; case.flows.len()],
        Amount::Word("bdp-max") => vec![narrow(largest_bdp(case))?; case.flows.len()],
        Amount::Word("bdp") => {
            case.flows.iter().map(|f| narrow(bdp(case, f.src, f.dst, [f.hash_data, f.hash_ack]).unwrap_or(0))).collect::<Result<_, _>>()?
        }
        Amount::Word(_) => vec![0; case.flows.len()],
    };
    for (flow, bytes) in case.flows.iter_mut().zip(bytes) {
        flow.window_bytes = bytes;
    }
    Ok(())
}

/// Bandwidth-delay product of a pair (bytes), as in HPCC ns-3: delays both ways and one way's serialization of a payload,
/// times the slowest rate.
fn bdp(case: &Case, src: u32, dst: u32, hash: [u32; 2]) -> Option<u64> {
    let there = route::path(&case.nodes, &case.ports, &case.routes, src, dst, hash[0], &[])?;
    let back = route::path(&case.nodes, &case.ports, &case.routes, dst, src, hash[1], &[])?;
    let grain = u64::from(case.rules.grain_ps).max(1);
    let port = |p: &u32| &case.ports[*p as usize];
    let serialization = |p: &u32| ((u64::from(case.rules.mtu_bytes) * u64::from(port(p).byte_time_q16)) >> 16) / grain * grain;
    let delays: u64 = there.iter().chain(&back).map(|p| u64::from(port(p).delay_ps)).sum();
    let rtt = delays + there.iter().map(serialization).sum::<u64>();
    let rate = there.iter().map(|p| port(p).rate_kbps).min()?;
    u64::try_from(u128::from(rtt) * u128::from(rate) / 8_000_000_000).ok()
}

/// The largest of all pairs, by one pair of endpoints for each pair of leaves and kinds of link.
fn largest_bdp(case: &Case) -> u64 {
    let mut kinds: BTreeMap<(u32, u64, u32), Vec<u32>> = BTreeMap::new();
    for (n, node) in (0_u32..).zip(&case.nodes).filter(|(_, n)| n.kind == NodeKind::Endpoint && n.n_ports == 1) {
        let port = &case.ports[node.first_port as usize];
        let same = kinds.entry((case.routes.endpoint_leaf[n as usize], port.rate_kbps, port.delay_ps)).or_default();
        if same.len() < 2 {
            same.push(n);
        }
    }
    let ends: Vec<u32> = kinds.into_values().flatten().collect();
    let from = |a: &u32| ends.iter().filter(|b| *b != a).filter_map(|b| bdp(case, *a, *b, [0, 0])).max().unwrap_or(0);
    ends.par_iter().map(from).max().unwrap_or(0)
}

/// Completion time of each flow alone.
pub(crate) fn ideal(case: &Case) -> Result<Vec<u64>, String> {
    let wires = Wires { nodes: &case.nodes, ports: &case.ports };
    let tables = case.credits.as_ref().map(|c| Tables { n_lids: c.n_lids, lft: c.lft.clone() });
    let alone = |f: &FlowSpec| {
        let way = |from, to, hash, pinned: &[u32], cell| {
            let way = match &tables {
                Some(tables) => wires.path(tables, &case.routes.switch_row, from, to, cell),
                None => route::path(&case.nodes, &case.ports, &case.routes, from, to, hash, pinned),
            };
            way.ok_or_else(|| {
                let name = |n: u32| &case.nodes[n as usize].name;
                format!("flow {} has no way from `{}` to `{}`", f.id, name(from), name(to))
            })
        };
        let there = way(f.src, f.dst, f.hash_data, &f.path_data, f.dlids[0])?;
        let back = way(f.dst, f.src, f.hash_ack, &f.path_ack, f.dlids[1])?;
        Ok(ideal::completion_ps(&case.nodes, &case.ports, &case.rules, f, &there, &back))
    };
    case.flows.par_iter().map(alone).collect()
}

/// What to sample.
pub(crate) fn sampling<'a>(
    reader: &'a Reader<'a>,
    case: &Case,
    port_names: &[String],
    groups: &[String],
    group_of_flow: &[u32],
) -> Result<Option<Sampling>, InputError> {
    let sec = reader.section("output");
    let Some(interval_ps) = sec.num_or_word("interval")? else { return Ok(None) };
    let mut ports = Vec::new();
    for name in sec.texts("ports")? {
        let before = ports.len();
        let node = case.nodes.iter().find(|n| n.name == name);
        if name == "all" {
            ports.extend((0_u32..).zip(port_names).map(|(i, _)| i));
        } else if let Some(node) = node {
            ports.extend(node.first_port..node.first_port + node.n_ports);
        } else {
            ports.extend((0_u32..).zip(port_names).filter(|(_, n)| **n == name).map(|(i, _)| i));
        }
        if ports.len() == before {
            return Err(sec.error(
                "ports",
                format!("`{name}` is neither a port, e.g. `{}`, nor a node, nor \"all\"", port_names.first().map_or("", String::as_str)),
            ));
        }
    }
    let mut flows = Vec::new();
    for name in sec.texts("flows")? {
        let before = flows.len();
        let group = groups.iter().position(|g| *g == name).and_then(|g| u32::try_from(g).ok());
        let id = name.parse::<u32>().ok();
        for (i, (flow, of)) in (0_u32..).zip(case.flows.iter().zip(group_of_flow)) {
            if name == "all" || group.map_or(id == Some(flow.id), |g| g == *of) {
                flows.push(i);
            }
        }
        if flows.len() == before && name != "all" {
            return Err(sec.error("flows", format!("`{name}` is neither a flow id, nor a traffic group, nor \"all\"")));
        }
    }
    for list in [&mut ports, &mut flows] {
        list.sort_unstable();
        list.dedup();
    }
    if ports.is_empty() && flows.is_empty() {
        return Err(sec.error("interval", "is set, but neither `ports` nor `flows` says what to sample"));
    }
    Ok(Some(Sampling { interval_ps, ports, flows }))
}

/// What the user should know.
pub(crate) fn notes(case: &Case, rules: &PortRules) -> Vec<String> {
    let mut notes = Vec::new();
    let switch_ports = || case.ports.iter().filter(|p| case.nodes[p.node as usize].kind == NodeKind::Switch);
    let lossless = case.credits.is_none() && case.classes.iter().any(|c| c.lossless);
    let all_lossless = case.classes.iter().all(|c| c.lossless || !case.flows.iter().any(|f| case.classes[f.class as usize] == *c));
    if lossless && rules.headroom != Headroom::Auto {
        let short =
            switch_ports().filter(|p| u64::from(p.headroom_bytes) < buffer::headroom_bytes(p, &case.ports[p.peer as usize], rules)).count();
        if short > 0 {
            notes.push(format!(
                "headroom of {short} ports is below what `switch.headroom = \"auto\"` gives: a lossless class may drop packets"
            ));
        }
    }
    let lossy_links = case.ports.iter().any(|p| p.loss_q32 > 0 || p.drop_every > 0);
    if case.rules.rto_ps == 0 && (lossy_links || !all_lossless) {
        notes.push("packets can be lost, but `transport.rto` is \"none\": a flow that loses its last packet never ends".to_owned());
    }
    if case.rules.rto_ps > 1_000_000_000_000 && (lossy_links || !all_lossless) {
        notes.push(format!(
            "packets can be lost, and `transport.rto` is {}: single losses may cost that long",
            Unit::Time.format(case.rules.rto_ps)
        ));
    }
    if case.credits.is_some() {
        return notes;
    }
    if case.rules.reaction != Reaction::None && !case.classes.iter().any(|c| c.ecn) {
        notes.push("no class has `ecn = true`: congestion control never acts".to_owned());
    }
    let late = switch_ports().filter(|p| lossless && late_marks(case, p)).count();
    if late > 0 && case.rules.reaction != Reaction::None {
        notes.push(format!(
            "at {late} ports marking starts (`ecn.kmin`) above the PFC threshold of an otherwise empty buffer: pauses come before marks"
        ));
    }
    notes
}

fn late_marks(case: &Case, port: &crate::case::PortSpec) -> bool {
    let pool = u64::from(case.nodes[port.node as usize].pool_bytes);
    // One greedy ingress settles at alpha / (1 + alpha) of the pool.
    let alpha = u64::from(port.alpha_q7);
    u64::from(port.ecn.kmin_bytes) > pool * alpha / (128 + alpha)
}
