use crate::case::*;
fn class() -> ClassSpec { ClassSpec { priority: 3, lossless: true, ecn: true, quantum_bytes: 0 } }
fn rules() -> Rules {
    Rules { mtu_bytes: 4096, data_header_bytes: 62, first_extra_bytes: 16, ack_bytes: 66, cnp_bytes: 82, pfc_bytes: 64, gap_bytes: 20, grain_ps: 1,
        ack_class: None, cnp_class: None, ack_ignores_pause: false, eager_start: false, tie_by_flow: false, hpcc_wakeup: false, ack_every: 1,
        nak_interval_ps: 0, recovery: Recovery::GoBackN, rto_ps: 100_000_000, retry_limit: 7, variable_window: false, cnp_mode: CnpMode::Packet,
        cnp_interval_ps: 50_000_000, reaction: Reaction::DcqcnPaper,
        dcqcn: Dcqcn { g_q32: 1<<24, alpha_init_q32: u32::MAX, alpha_period_ps: 55_000_000, cut_period_ps: 4_000_000, first_cut_extra_ps: 0, increase_period_ps: 300_000_000,
            byte_counter_bytes: 10_000_000, fast_recovery: 5, rate_ai_kbps: 40_000, rate_hai_kbps: 200_000, rate_min_kbps: 100_000, rate_max_kbps: 0, rate_first_cnp_kbps: 0, cut_shift: 1, min_keep_q32: 0, clamp_target: false, clamp_after_time_increase: true } }
}
fn port(node: u32, peer: u32, gbps: u64) -> PortSpec {
    PortSpec { node, peer, rate_kbps: gbps * 1_000_000, byte_time_q16: u32::try_from(8 * 65536 * 1000 / gbps).unwrap(), delay_ps: 600_000, pfc_delay_ps: 600_000, reserve_bytes: 10_000,
        headroom_bytes: 200_000, xon_gap_bytes: 20_000, alpha_q7: 128, alpha_lossy_q7: 128, ecn: EcnSpec { kmin_bytes: 400_000, kmax_bytes: 1_600_000, slope: 4096, slope_shift: 3 }, loss_q32: 0, drop_every: 0 }
}
/// leaves x hosts, spines
fn leaf_spine(leaves: u32, hosts: u32, spines: u32) -> Case {
    let mut nodes = vec![]; let mut ports = vec![];
    let ne = leaves * hosts;
    for e in 0..ne { nodes.push(NodeSpec { name: format!("e{e}"), kind: NodeKind::Endpoint, first_port: e, n_ports: 1, hash_seed: 0, pool_bytes: 0, cut_through: false }); }
    let lp = |l: u32, i: u32| ne + l * (hosts + spines) + i;
    let sp = |s: u32, l: u32| ne + leaves * (hosts + spines) + s * leaves + l;
    for e in 0..ne { ports.push(port(e, lp(e / hosts, e % hosts), 400)); }
    for l in 0..leaves {
        nodes.push(NodeSpec { name: format!("l{l}"), kind: NodeKind::Switch, first_port: lp(l, 0), n_ports: hosts + spines, hash_seed: l * 77 + 5, pool_bytes: 16_000_000, cut_through: false });
        for h in 0..hosts { ports.push(port(ne + l, l * hosts + h, 400)); }
        for s in 0..spines { ports.push(port(ne + l, sp(s, l), 400)); }
    }
    for s in 0..spines {
        nodes.push(NodeSpec { name: format!("s{s}"), kind: NodeKind::Switch, first_port: sp(s, 0), n_ports: leaves, hash_seed: s * 7 + 5, pool_bytes: 16_000_000, cut_through: false });
        for l in 0..leaves { ports.push(port(ne + leaves + s, lp(l, hosts + s), 400)); }
    }
    let nn = (ne + leaves + spines) as usize;
    let mut switch_row = vec![u32::MAX; nn]; let mut endpoint_leaf = vec![u32::MAX; nn];
    for e in 0..ne { endpoint_leaf[e as usize] = e / hosts; }
    let mut table = vec![]; let mut group_start = vec![0]; let mut members = vec![];
    for l in 0..leaves {
        switch_row[(ne + l) as usize] = l;
        if spines > 0 { members.extend((0..spines).map(|s| lp(l, hosts + s))); group_start.push(u32::try_from(members.len()).unwrap()); }
        for d in 0..leaves { table.push(if d == l { u32::MAX } else { l }); }
    }
    for s in 0..spines {
        switch_row[(ne + leaves + s) as usize] = leaves + s;
        for d in 0..leaves { table.push(u32::try_from(group_start.len() - 1).unwrap()); members.push(sp(s, d)); group_start.push(u32::try_from(members.len()).unwrap()); }
    }
    Case { seed: 7, classes: vec![class()], nodes, ports, routes: Routes { n_leaves: leaves, switch_row, endpoint_leaf, table, group_start, members }, flows: vec![], rules: rules(), stop_ps: None }
}
fn flow(id: u32, src: u32, dst: u32, size: u64, start: u64) -> FlowSpec {
    FlowSpec { id, src, dst, class: 0, size_bytes: size, n_packets: u32::try_from(size.div_ceil(4096)).unwrap(), last_payload_bytes: u32::try_from((size - 1) % 4096 + 1).unwrap(), start_ps: start, after: None,
        hash_data: id.wrapping_mul(0x9E37_79B1), hash_ack: id.wrapping_mul(0x85EB_CA6B), path_data: vec![], path_ack: vec![], window_bytes: 0 }
}

#[test]
fn perm() {
    let mut c = leaf_spine(32, 32, 32);
    let n = 1024;
    c.flows = (0..n).map(|i| flow(i, i, (i + n / 2 + 1) % n, 1_000_000, 0)).collect();
    super::run::lockstep(&c);
}
