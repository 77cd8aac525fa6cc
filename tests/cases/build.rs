//! Hand-made cases: fabrics, rules and flows, independent of what reads scenarios.

use fabricsim::case::{
    After, Case, ClassSpec, CnpMode, Dcqcn, EcnSpec, FlowSpec, NodeKind, NodeSpec, PortSpec, Reaction, Recovery, Routes, Rules,
};
use std::collections::VecDeque;

/// An index as cases have them.
pub fn index(i: usize) -> u32 {
    u32::try_from(i).expect("small")
}

/// Nanoseconds and microseconds in picoseconds.
pub const NS: u32 = 1000;
pub const US: u64 = 1_000_000;

/// A channel of a rate [Mb/s] and delay [ps], with buffers small enough for short cases to reach their limits.
pub fn wire(mbps: u64, delay_ps: u32) -> PortSpec {
    PortSpec {
        node: 0,
        peer: 0,
        rate_kbps: mbps * 1000,
        byte_time_q16: u32::try_from(8 * 65_536 * 1_000_000 / mbps).expect("not too slow"),
        delay_ps,
        pfc_delay_ps: delay_ps + 100 * NS,
        reserve_bytes: 0,
        headroom_bytes: 100_000,
        xon_gap_bytes: 9000,
        alpha_q7: 64,
        alpha_lossy_q7: 128,
        ecn: EcnSpec { kmin_bytes: 20_000, kmax_bytes: 80_000, slope: 14_316, slope_shift: 0 },
        loss_q32: 0,
        drop_every: 0,
        lane: fabricsim::case::LaneSpec::default(),
    }
}

/// 400 Gb/s over 100 m.
pub fn fast() -> PortSpec {
    wire(400_000, 600 * NS)
}

pub fn lossless() -> ClassSpec {
    ClassSpec { priority: 3, lossless: true, ecn: true, quantum_bytes: 0 }
}

pub fn lossy() -> ClassSpec {
    ClassSpec { priority: 1, lossless: false, ecn: true, quantum_bytes: 0 }
}

/// RoCEv2 over Ethernet, no congestion control.
pub fn rules() -> Rules {
    Rules {
        mtu_bytes: 4096,
        data_header_bytes: 62,
        first_extra_bytes: 16,
        ack_bytes: 66,
        cnp_bytes: 82,
        pfc_bytes: 64,
        gap_bytes: 20,
        grain_ps: 1,
        ack_class: None,
        cnp_class: None,
        ack_ignores_pause: false,
        eager_start: false,
        tie_by_flow: false,
        hpcc_wakeup: false,
        ack_every: 1,
        nak_interval_ps: 0,
        recovery: Recovery::GoBackN,
        rto_ps: 200 * US,
        retry_limit: 7,
        variable_window: false,
        cnp_mode: CnpMode::Packet,
        cnp_interval_ps: 4 * US,
        reaction: Reaction::None,
        dcqcn: dcqcn(),
    }
}

/// Reaction point with periods short enough to matter in a short case.
pub fn dcqcn() -> Dcqcn {
    Dcqcn {
        g_q32: 1 << 24,
        alpha_init_q32: u32::MAX,
        alpha_period_ps: 5 * US,
        cut_period_ps: 4 * US,
        first_cut_extra_ps: 0,
        increase_period_ps: 9 * US,
        byte_counter_bytes: 0,
        fast_recovery: 2,
        rate_ai_kbps: 400_000,
        rate_hai_kbps: 2_000_000,
        rate_min_kbps: 100_000,
        rate_max_kbps: 0,
        rate_first_cnp_kbps: 0,
        cut_shift: 1,
        min_keep_q32: 0,
        clamp_target: false,
        clamp_after_time_increase: true,
    }
}

/// A fabric in the making: nodes, and links between them.
#[derive(Debug, Default)]
pub struct Net {
    nodes: Vec<NodeSpec>,
    links: Vec<(usize, usize, PortSpec)>,
}

impl Net {
    fn node(&mut self, kind: NodeKind, pool_bytes: u32) -> usize {
        let i = self.nodes.len();
        let hash_seed = index(i).wrapping_mul(0x9E37_79B1) ^ 0x5bd1;
        self.nodes.push(NodeSpec { name: format!("n{i}"), kind, first_port: 0, n_ports: 0, hash_seed, pool_bytes, cut_through: false });
        i
    }

    pub fn endpoint(&mut self) -> usize {
        self.node(NodeKind::Endpoint, 0)
    }

    pub fn switch(&mut self) -> usize {
        self.node(NodeKind::Switch, 400_000)
    }

    /// A link, the same in both directions.
    pub fn link(&mut self, a: usize, b: usize, both: PortSpec) {
        self.links.push((a, b, both));
    }

    /// Numbers the ports, finds all shortest paths.
    pub fn case(self) -> Case {
        let mut nodes = self.nodes;
        for (a, b, _) in &self.links {
            nodes[*a].n_ports += 1;
            nodes[*b].n_ports += 1;
        }
        let mut next = 0;
        for node in &mut nodes {
            node.first_port = next;
            next += node.n_ports;
        }
        let mut ports = vec![fast(); next as usize];
        let mut used = vec![0; nodes.len()];
        for (a, b, spec) in &self.links {
            let mut take = |n: usize| {
                let p = nodes[n].first_port + used[n];
                used[n] += 1;
                p
            };
            let (p, q) = (take(*a), take(*b));
            ports[p as usize] = PortSpec { node: index(*a), peer: q, ..*spec };
            ports[q as usize] = PortSpec { node: index(*b), peer: p, ..*spec };
        }
        let routes = routes(&nodes, &ports);
        Case {
            seed: 7,
            classes: vec![lossless()],
            nodes,
            ports,
            routes,
            credits: None,
            changes: Vec::new(),
            flows: Vec::new(),
            rules: rules(),
            stop_ps: None,
        }
    }
}

fn ports_of(node: &NodeSpec) -> std::ops::Range<u32> {
    node.first_port..node.first_port + node.n_ports
}

fn routes(nodes: &[NodeSpec], ports: &[PortSpec]) -> Routes {
    let is_switch = |n: u32| nodes[n as usize].kind == NodeKind::Switch;
    let next_node = |p: u32| ports[ports[p as usize].peer as usize].node;
    let mut r = Routes { switch_row: vec![u32::MAX; nodes.len()], endpoint_leaf: vec![u32::MAX; nodes.len()], ..Routes::default() };
    let (mut rows, mut leaves) = (0, Vec::new());
    for (n, node) in nodes.iter().enumerate() {
        if node.kind != NodeKind::Switch {
            continue;
        }
        r.switch_row[n] = rows;
        rows += 1;
        let hosts: Vec<u32> = ports_of(node).map(next_node).filter(|m| !is_switch(*m)).collect();
        if !hosts.is_empty() {
            hosts.iter().for_each(|h| r.endpoint_leaf[*h as usize] = index(leaves.len()));
            leaves.push(index(n));
        }
    }
    r.n_leaves = index(leaves.len());
    r.group_start.push(0);
    let distances: Vec<Vec<usize>> =
        leaves.iter().map(|leaf| distances(nodes, *leaf, &|n| ports_of(&nodes[n as usize]).map(next_node).collect())).collect();
    for (n, node) in nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Switch) {
        for distance in &distances {
            if distance[n] == 0 || distance[n] == usize::MAX {
                r.table.push(u32::MAX);
                continue;
            }
            let closer = |p: &u32| is_switch(next_node(*p)) && distance[next_node(*p) as usize] + 1 == distance[n];
            r.members.extend(ports_of(node).filter(closer));
            r.table.push(index(r.group_start.len() - 1));
            r.group_start.push(index(r.members.len()));
        }
    }
    r
}

fn distances(nodes: &[NodeSpec], from: u32, around: &dyn Fn(u32) -> Vec<u32>) -> Vec<usize> {
    let mut found = vec![usize::MAX; nodes.len()];
    found[from as usize] = 0;
    let mut queue = VecDeque::from([from]);
    while let Some(n) = queue.pop_front() {
        for m in around(n) {
            if nodes[m as usize].kind == NodeKind::Switch && found[m as usize] == usize::MAX {
                found[m as usize] = found[n as usize] + 1;
                queue.push_back(m);
            }
        }
    }
    found
}

/// Endpoints 0 to n - 1 at one switch.
pub fn star(n: usize, spec: PortSpec) -> Case {
    let mut net = Net::default();
    let ends: Vec<usize> = (0..n).map(|_| net.endpoint()).collect();
    let hub = net.switch();
    ends.iter().for_each(|e| net.link(*e, hub, spec));
    net.case()
}

/// `n` endpoints on the left (0 to n - 1), `n` on the right, and one link or several in between.
pub fn dumbbell(n: usize, edge: PortSpec, core: PortSpec, parallel: usize) -> Case {
    leaf_line(&[n, n], edge, core, parallel)
}

/// Switches in a row with some endpoints each; endpoints come first.
pub fn leaf_line(hosts: &[usize], edge: PortSpec, core: PortSpec, parallel: usize) -> Case {
    let mut net = Net::default();
    let ends: Vec<Vec<usize>> = hosts.iter().map(|n| (0..*n).map(|_| net.endpoint()).collect()).collect();
    let switches: Vec<usize> = hosts.iter().map(|_| net.switch()).collect();
    for (switch, ends) in switches.iter().zip(&ends) {
        ends.iter().for_each(|e| net.link(*e, *switch, edge));
    }
    for pair in switches.windows(2) {
        (0..parallel).for_each(|_| net.link(pair[0], pair[1], core));
    }
    net.case()
}

/// Two tiers: `leaves` switches with `hosts` endpoints each, every leaf wired to every spine by `parallel` links.
pub fn leaf_spine(leaves: usize, hosts: usize, spines: usize, edge: PortSpec, core: PortSpec, parallel: usize) -> Case {
    let mut net = Net::default();
    let ends: Vec<usize> = (0..leaves * hosts).map(|_| net.endpoint()).collect();
    let lower: Vec<usize> = (0..leaves).map(|_| net.switch()).collect();
    let upper: Vec<usize> = (0..spines).map(|_| net.switch()).collect();
    for (i, e) in ends.iter().enumerate() {
        net.link(*e, lower[i / hosts], edge);
    }
    for leaf in &lower {
        for spine in &upper {
            (0..parallel).for_each(|_| net.link(*leaf, *spine, core));
        }
    }
    net.case()
}

/// Two endpoints and a cable.
pub fn back_to_back(spec: PortSpec) -> Case {
    let mut net = Net::default();
    let (a, b) = (net.endpoint(), net.endpoint());
    net.link(a, b, spec);
    net.case()
}

/// A message; [`with_flows`] completes it.
pub fn flow(src: u32, dst: u32, size_bytes: u64, start_ps: u64) -> FlowSpec {
    FlowSpec {
        id: 0,
        src,
        dst,
        class: 0,
        size_bytes,
        n_packets: 0,
        last_payload_bytes: 0,
        start_ps,
        after: None,
        hash_data: 0,
        hash_ack: 0,
        path_data: Vec::new(),
        path_ack: Vec::new(),
        sl: 0,
        dlids: [0; 2],
        window_bytes: 0,
    }
}

/// A message that waits for another, given by its place in the list for [`with_flows`].
pub fn then(received: bool, other: u32, flow: FlowSpec) -> FlowSpec {
    FlowSpec { after: Some(After { flow: other, received }), ..flow }
}

/// Puts flows into a case whose rules are final: ids by place in the list, hashes, packets, order.
pub fn with_flows(mut case: Case, flows: Vec<FlowSpec>) -> Case {
    let mtu = u64::from(case.rules.mtu_bytes);
    let complete = |(i, f): (usize, FlowSpec)| FlowSpec {
        id: index(i),
        n_packets: u32::try_from(f.size_bytes.div_ceil(mtu)).expect("small"),
        last_payload_bytes: u32::try_from((f.size_bytes - 1) % mtu + 1).expect("small"),
        hash_data: index(i + 1).wrapping_mul(0x9E37_79B1),
        hash_ack: index(i + 1).wrapping_mul(0x85EB_CA6B),
        ..f
    };
    case.flows = flows.into_iter().enumerate().map(complete).collect();
    case.flows.sort_by_key(|f| (f.src, f.start_ps, f.id));
    let ids: Vec<u32> = case.flows.iter().map(|f| f.id).collect();
    for f in &mut case.flows {
        if let Some(after) = &mut f.after {
            after.flow = index(ids.iter().position(|id| *id == after.flow).expect("in the list"));
        }
    }
    case
}
