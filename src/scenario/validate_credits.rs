//! Ranges of what only InfiniBand cases have, and of changes of the fabric.

use crate::case::{Case, Credits, NodeKind, Reaction, Sl2Vl};
use crate::error::InputError;
use crate::scenario::keys::DAY;
use crate::scenario::validate::{routes, within, wrong};

/// Most entries of an arbitration table (InfiniBand Architecture Specification vol. 1, VL arbitration).
const ARBITRATION_HIGH: usize = 64;
/// Largest receive buffer of a lane (blocks of 64 bytes).
const BUFFER_HIGH: u64 = 1 << 20;

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Checks the InfiniBand side of a case, or that there is none.
pub(super) fn credits(case: &Case) -> Result<(), InputError> {
    let Some(credits) = &case.credits else {
        if case.rules.reaction == Reaction::A10 {
            return Err(wrong("cc.reaction", "a10", "needs an InfiniBand fabric"));
        }
        return Ok(());
    };
    for (key, on) in [("compat.hpcc_wakeup", case.rules.hpcc_wakeup), ("transport.ack_ignores_pause", case.rules.ack_ignores_pause)] {
        if on {
            return Err(wrong(key, "true", "has no meaning on InfiniBand"));
        }
    }
    within("flow control threshold [blocks]", u64::from(credits.fc_threshold_blocks), 1, BUFFER_HIGH)?;
    within("flow control interval [ps]", u64::from(credits.fc_interval_ps), 1, 1 << 30)?;
    arbitration(credits)?;
    maps(case, credits)?;
    forwarding(case, credits.n_lids, &credits.lft)?;
    lanes(case)?;
    if credits.adaptive.grades_bytes.windows(2).any(|w| w[0] > w[1]) {
        return Err(wrong("adaptive routing grades [bytes]", format!("{:?}", credits.adaptive.grades_bytes), "must ascend"));
    }
    if case.rules.reaction == Reaction::A10 {
        a10(credits)?;
    }
    for flow in &case.flows {
        within(format!("flow {}: service level", flow.id), u64::from(flow.sl), 0, 15)?;
        for dlid in flow.dlids {
            within(format!("flow {}: DLID cell", flow.id), u64::from(dlid), 0, u64::from(credits.n_lids) - 1)?;
        }
    }
    Ok(())
}

fn arbitration(credits: &Credits) -> Result<(), InputError> {
    for (name, table) in [("high", &credits.high), ("low", &credits.low)] {
        within(format!("{name} priority table: entries"), count(table.len()), 0, count(ARBITRATION_HIGH))?;
        for (lane, _) in table {
            within(format!("{name} priority table: lane"), u64::from(*lane), 0, 14)?;
        }
    }
    Ok(())
}

fn maps(case: &Case, credits: &Credits) -> Result<(), InputError> {
    if credits.sl2vl.iter().flatten().any(|lane| *lane > 15) {
        return Err(wrong("SL to VL map", "", "has a lane above 15"));
    }
    within("SL to VL maps: nodes", count(credits.sl2vl_of.len()), count(case.nodes.len()), count(case.nodes.len()))?;
    for (node, map) in case.nodes.iter().zip(&credits.sl2vl_of) {
        let rows = match map {
            Sl2Vl::Uniform(row) => std::slice::from_ref(row),
            Sl2Vl::ByPorts(rows) => {
                let n = u64::from(node.n_ports).pow(2);
                within(format!("SL to VL map of `{}`: pairs of ports", node.name), count(rows.len()), n, n)?;
                rows
            }
        };
        for row in rows {
            within(format!("SL to VL map of `{}`: row", node.name), u64::from(*row), 0, count(credits.sl2vl.len()).saturating_sub(1))?;
        }
    }
    Ok(())
}

fn forwarding(case: &Case, n_lids: u32, lft: &[u8]) -> Result<(), InputError> {
    within("forwarding table: cells a switch", u64::from(n_lids), 1, 1 << 24)?;
    let switches = case.nodes.iter().filter(|n| n.kind == NodeKind::Switch).count();
    let cells = count(switches) * u64::from(n_lids);
    within("forwarding tables: cells", count(lft.len()), cells, cells)?;
    for (n, node) in case.nodes.iter().enumerate().filter(|(_, n)| n.kind == NodeKind::Switch) {
        within(format!("switch `{}`: ports", node.name), u64::from(node.n_ports), 1, 254)?;
        let row = case.routes.switch_row[n];
        within(format!("switch `{}`: row", node.name), u64::from(row), 0, count(switches).saturating_sub(1))?;
        let first = row as usize * n_lids as usize;
        if let Some(cell) = lft[first..first + n_lids as usize].iter().find(|c| **c != 255 && u32::from(**c) >= node.n_ports) {
            return Err(wrong(format!("forwarding table of `{}`", node.name), cell, format!("is no port; it has {}", node.n_ports)));
        }
    }
    Ok(())
}

fn lanes(case: &Case) -> Result<(), InputError> {
    let r = &case.rules;
    let frame = (r.mtu_bytes + r.data_header_bytes + r.first_extra_bytes).max(r.ack_bytes).max(r.cnp_bytes);
    for (i, port) in case.ports.iter().enumerate() {
        let node = &case.nodes[port.node as usize];
        let key = |what: &str| format!("port {i} of `{}`: {what}", node.name);
        within(key("buffer [blocks]"), u64::from(port.lane.buffer_blocks), u64::from(frame.div_ceil(64)), BUFFER_HIGH)?;
        within(key("head-of-queue lifetime [ps]"), port.lane.hoq_ps, 0, if node.kind == NodeKind::Switch { DAY } else { 0 })?;
        within(key("delay of flow control [ps]"), u64::from(port.pfc_delay_ps), u64::from(port.delay_ps), u64::from(port.delay_ps))?;
    }
    Ok(())
}

fn a10(credits: &Credits) -> Result<(), InputError> {
    let a = &credits.a10;
    within("cc.ccti_limit", u64::from(a.ccti_limit), 0, count(a.cct.len()).saturating_sub(1))?;
    within("cc.ccti_min", u64::from(a.ccti_min), 0, u64::from(a.ccti_limit))?;
    within("cc.ccti_timer", a.ccti_timer_ps, 1, u64::MAX >> 8)?;
    within("congestion control table: entries", count(a.cct.len()), 1, 1 << 16)?;
    for (shift, multiplier) in &a.cct {
        within("congestion control table: shift", u64::from(*shift), 0, 3)?;
        within("congestion control table: multiplier", u64::from(*multiplier), 0, (1 << 14) - 1)?;
    }
    Ok(())
}

/// Checks what happens to the fabric on the way.
pub(super) fn changes(case: &Case) -> Result<(), InputError> {
    for (i, change) in case.changes.iter().enumerate() {
        let key = |what: &str| format!("change {i}: {what}");
        within(key("time [ps]"), change.at_ps, i.checked_sub(1).map_or(0, |before| case.changes[before].at_ps), 1 << 60)?;
        for port in &change.down {
            let peer = case.ports.get(*port as usize).map(|p| p.peer);
            if peer.is_none_or(|peer| !change.down.contains(&peer)) {
                return Err(wrong(key("port"), port, "does not exist, or goes down without the other end of its link"));
            }
        }
        if let Some(lft) = &change.lft {
            let Some(credits) = &case.credits else { return Err(wrong(key("forwarding tables"), "", "need an InfiniBand fabric")) };
            forwarding(case, credits.n_lids, lft)?;
        }
        if let Some(new) = &change.routes {
            routes(case, new, true)?;
        }
    }
    Ok(())
}
