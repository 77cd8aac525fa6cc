//! InfiniBand cases by hand: credits, forwarding tables from shortest paths. What they show is checked against closed
//! forms, and every way of running them gives what the oracle gives.

use std::collections::VecDeque;

use crate::build::{NS, Net, US, flow, index, rules, star, wire, with_flows};
use crate::differences;
use fabricsim::case::{A10, Adaptive, Case, Change, CnpMode, Credits, FlowSpec, LaneSpec, NodeKind, PortSpec, Reaction, Recovery, Sl2Vl};
use fabricsim::outcome::{FlowStatus, Outcome};
use fabricsim::subnet::{self, Engine, Tables, Wires, credit_loop};

/// Forwarding tables by shortest paths; LID `d` reaches node `d`, the lowest port first.
fn forwarding(case: &Case) -> (u32, Vec<u8>) {
    let n = case.nodes.len();
    let mut lft = Vec::new();
    let ports = |i: usize| case.nodes[i].first_port..case.nodes[i].first_port + case.nodes[i].n_ports;
    let next = |p: u32| case.ports[case.ports[p as usize].peer as usize].node as usize;
    for i in (0..n).filter(|i| case.nodes[*i].kind == NodeKind::Switch) {
        for lid in 0..n {
            let mut far = vec![usize::MAX; n];
            far[lid] = 0;
            let mut queue = VecDeque::from([lid]);
            while let Some(at) = queue.pop_front() {
                for m in ports(at).map(next) {
                    if far[m] == usize::MAX {
                        far[m] = far[at] + 1;
                        queue.push_back(m);
                    }
                }
            }
            let way = ports(i).find(|p| far[next(*p)] + 1 == far[i]);
            lft.push(way.map_or(255, |p| u8::try_from(p - case.nodes[i].first_port).expect("few ports")));
        }
    }
    (index(n), lft)
}

/// The case as an InfiniBand subnet of `lanes` lanes: buffers of `buffer_blocks`, every service level on the lane of its number modulo `lanes`.
pub fn subnet(mut case: Case, lanes: u8, buffer_blocks: u32) -> Case {
    case.classes = vec![case.classes[0]; usize::from(lanes)];
    for port in &mut case.ports {
        port.pfc_delay_ps = port.delay_ps;
        port.lane = LaneSpec { buffer_blocks, hoq_ps: 0, fecn_bytes: u32::MAX, fecn_victims: false };
    }
    case.rules.data_header_bytes = 26;
    case.rules.ack_bytes = 30;
    case.rules.cnp_bytes = 42;
    case.rules.pfc_bytes = 8;
    case.rules.gap_bytes = 0;
    case.rules.rto_ps = 0;
    let (n_lids, lft) = forwarding(&case);
    case.credits = Some(Credits {
        fc_threshold_blocks: 65,
        fc_interval_ps: 256 * NS,
        first_come: false,
        high: Vec::new(),
        low: (0..lanes).map(|lane| (lane, 64)).collect(),
        high_limit: 0,
        sl2vl: vec![std::array::from_fn(|sl| u8::try_from(sl).expect("small") % lanes)],
        sl2vl_of: vec![Sl2Vl::Uniform(0); case.nodes.len()],
        n_lids,
        lft,
        adaptive: Adaptive::default(),
        shield: false,
        mark_size_bytes: 0,
        marking_rate: 0,
        a10: A10 {
            by_sl: false,
            ccti_increase: 1,
            ccti_limit: 63,
            ccti_min: 0,
            ccti_timer_ps: 10 * US,
            cct: (0..64).map(|i| (0, i)).collect(),
        },
    });
    case
}

/// Flows with their LIDs.
pub fn sent(case: Case, flows: Vec<FlowSpec>) -> Case {
    let addressed = |f: FlowSpec| FlowSpec { dlids: [f.dst, f.src], ..f };
    with_flows(case, flows.into_iter().map(addressed).collect())
}

fn on(sl: u8, flow: FlowSpec) -> FlowSpec {
    FlowSpec { sl, class: sl.into(), ..flow }
}

fn link() -> PortSpec {
    wire(100_000, 500 * NS)
}

fn credits(case: &mut Case) -> &mut Credits {
    case.credits.as_mut().expect("InfiniBand")
}

fn simulate(case: &Case) -> Outcome {
    differences("InfiniBand", case).unwrap_or_else(|difference| panic!("{difference}")).outcome
}

fn fits_buffers(case: &Case, o: &Outcome) {
    let stride = case.classes.len() + 1;
    for (i, q) in o.queues.iter().enumerate() {
        assert!(q.max_blocks <= case.ports[i / stride].lane.buffer_blocks, "port {} holds {} blocks", i / stride, q.max_blocks);
    }
}

/// Everything sent arrived or was lost; flow control is lost on links that fail only.
fn conserved(case: &Case, o: &Outcome) {
    let stride = case.classes.len() + 1;
    for (i, port) in case.ports.iter().enumerate() {
        let rows = |p: usize| &o.queues[p * stride..(p + 1) * stride];
        let sent: u64 = rows(i)[1..].iter().map(|q| q.tx_packets).sum();
        let received: u64 = rows(port.peer as usize)[1..].iter().map(|q| q.rx_packets).sum();
        assert_eq!(sent, received + o.lost_packets[i], "frames of port {i}");
        let fails = case.changes.iter().any(|c| c.down.contains(&index(i)));
        for lane in (1..stride).filter(|_| !fails) {
            assert_eq!(rows(i)[lane].fc_sent, rows(port.peer as usize)[lane].fc_received, "flow control of port {i}");
        }
    }
}

fn finished(case: &Case) -> Outcome {
    let o = simulate(case);
    for f in &o.flows {
        assert_eq!(f.status, FlowStatus::Done, "{f:?}");
    }
    fits_buffers(case, &o);
    conserved(case, &o);
    o
}

/// Kilobits a second that a flow received by the end of the case.
fn goodput(case: &Case, o: &Outcome, flow: usize) -> f64 {
    f64::from(o.flows[flow].received_packets) * f64::from(case.rules.mtu_bytes) * 8e9 / o.end_ps as f64
}

#[test]
fn throughput_of_a_lane_is_its_credits_a_loop_time() {
    for (packets, delay_ps) in [(1, 500 * NS), (2, 500 * NS), (3, 2_000 * NS), (31, 20_000 * NS), (200, 20_000 * NS)] {
        let blocks = packets * 65;
        let mut case = subnet(crate::build::back_to_back(wire(100_000, delay_ps)), 1, blocks);
        case.rules.first_extra_bytes = 0;
        let case = sent(case, vec![flow(0, 1, 4_000_000, 0)]);
        let o = finished(&case);
        let frame = 4122 * 80;
        let loop_time = 2 * u64::from(delay_ps) + frame + 8 * 80;
        let at_once = u64::from(blocks.min(2048) / 65);
        let rate = (at_once as f64 * 4096.0 * 8e9 / loop_time as f64).min(4096.0 / 4122.0 * 1e8);
        let found = 4_000_000.0 * 8e9 / o.flows[0].receive_ps.expect("received") as f64;
        assert!((found / rate - 1.0).abs() < 0.04, "{packets} packets, {delay_ps} ps: {found} kb/s, expected {rate}");
    }
}

/// `k` remote and `m` local senders to a hot endpoint, a victim to a cold one.
fn parking_lot(k: u32, m: u32) -> Case {
    let mut net = Net::default();
    let ends: Vec<usize> = (0..k + m + 3).map(|_| net.endpoint()).collect();
    let (far, near) = (net.switch(), net.switch());
    for (i, e) in (0..).zip(&ends) {
        net.link(*e, if i <= k { far } else { near }, link());
    }
    net.link(far, near, link());
    let (hot, cold) = (k + m + 1, k + m + 2);
    let mut case = subnet(net.case(), 1, 8 * 65);
    case.rules.ack_every = 64;
    case.stop_ps = Some(8_000 * US);
    let to_hot = (0..=k + m).filter(|i| *i != k).map(|i| flow(i, hot, 200_000_000, 0));
    let flows: Vec<FlowSpec> = to_hot.chain([flow(k, cold, 200_000_000, 0)]).collect();
    sent(case, flows)
}

#[test]
fn parking_lot_shares_are_those_of_round_robin_over_inputs() {
    for (k, m) in [(1, 1), (1, 2), (2, 1), (3, 2)] {
        let case = parking_lot(k, m);
        let o = simulate(&case);
        fits_buffers(&case, &o);
        for (i, f) in case.flows.iter().enumerate() {
            let share = goodput(&case, &o, i) / (1e8 * 4096.0 / 4122.0);
            let expected = if f.src <= k { 1.0 / f64::from(k * (1 + m)) } else { 1.0 / f64::from(1 + m) };
            assert!((share / expected - 1.0).abs() < 0.03, "k {k}, m {m}, source {}: {share}, expected {expected}", f.src);
        }
    }
}

#[test]
fn lanes_share_by_weight() {
    let mut case = subnet(star(3, link()), 2, 8 * 65);
    credits(&mut case).low = vec![(0, 195), (1, 65)];
    case.stop_ps = Some(4_000 * US);
    let case = sent(case, vec![on(0, flow(0, 2, 100_000_000, 0)), on(1, flow(1, 2, 100_000_000, 0))]);
    let o = simulate(&case);
    let ratio = goodput(&case, &o, 0) / goodput(&case, &o, 1);
    assert!((ratio - 3.0).abs() < 0.09, "{ratio}");
}

#[test]
fn cyclic_waiting_deadlocks_and_a_lifetime_resolves_it() {
    let ring = |hoq_ps| {
        let mut net = Net::default();
        let ends: Vec<usize> = (0..4).map(|_| net.endpoint()).collect();
        let switches: Vec<usize> = (0..4).map(|_| net.switch()).collect();
        (0..4).for_each(|i| net.link(ends[i], switches[i], link()));
        (0..4).for_each(|i| net.link(switches[i], switches[(i + 1) % 4], link()));
        let mut case = subnet(net.case(), 1, 65);
        let nodes = &case.nodes;
        let switches_only = case.ports.iter_mut().filter(|p| nodes[p.node as usize].kind == NodeKind::Switch);
        switches_only.for_each(|p| p.lane.hoq_ps = hoq_ps);
        case.rules.rto_ps = if hoq_ps > 0 { 400 * US } else { 0 };
        case.rules.retry_limit = 1000;
        // Clockwise only: every switch sends what is not for its own endpoint to the next one.
        let stride = case.nodes.len();
        let out = |i: usize| {
            let node = &case.nodes[4 + i];
            let to = |p: u32| case.ports[case.ports[p as usize].peer as usize].node as usize;
            (0..node.n_ports).find(|p| to(node.first_port + p) == 4 + (i + 1) % 4).expect("wired")
        };
        let outs: Vec<u32> = (0..4).map(out).collect();
        let lft = &mut credits(&mut case).lft;
        for i in 0..4 {
            for lid in (0..4).filter(|lid| *lid != i) {
                lft[i * stride + lid] = u8::try_from(outs[i]).expect("few ports");
            }
        }
        sent(case, (0..4).map(|i| flow(i, (i + 2) % 4, 400_000, 0)).collect())
    };
    let stuck = simulate(&ring(0));
    // The circle has a name: the four ports between switches.
    let case = ring(0);
    let wires = Wires { nodes: &case.nodes, ports: &case.ports };
    let credits = case.credits.as_ref().expect("InfiniBand");
    // Of the tables' cells only those of endpoints, the first ones, are walked.
    let tables = Tables { n_lids: credits.n_lids, lft: credits.lft.clone() };
    let mut circle = credit_loop(&wires, &tables, &case.routes.switch_row).expect("a credit loop");
    circle.sort_unstable();
    let mut between: Vec<u32> = (4..8).map(|n| case.nodes[n].first_port).flat_map(|first| (0..3).map(move |p| first + p)).collect();
    between.retain(|p| circle.contains(p));
    assert_eq!((circle.len(), &circle), (4, &between));
    let routed = |engine| credit_loop(&wires, &subnet::forwarding(&wires, engine).expect("fits"), &case.routes.switch_row);
    assert_eq!(routed(Engine::UpDown), None);
    assert!(stuck.flows.iter().any(|f| f.status == FlowStatus::Running), "deadlock");
    let o = simulate(&ring(50 * US));
    assert!(o.queues.iter().map(|q| q.hoq_drop_packets).sum::<u64>() > 0, "lifetimes end");
    assert!(o.end_ps > stuck.end_ps, "it goes on");
}

#[test]
fn marks_reach_the_sender_and_slow_it_down() {
    for mode in [CnpMode::AckFlag, CnpMode::Packet] {
        let mut case = subnet(star(5, link()), 1, 16 * 65);
        case.ports.iter_mut().for_each(|p| p.lane.fecn_bytes = 20_000);
        case.rules.reaction = Reaction::A10;
        case.rules.cnp_mode = mode;
        let case = sent(case, (0..4).map(|i| flow(i, 4, 2_000_000, 0)).collect());
        let o = finished(&case);
        assert!(o.flows.iter().all(|f| f.ccti_max > 1 && f.ccti_max <= 63 && f.ccti <= f.ccti_max), "{:?}", o.flows[0]);
    }
}

#[test]
fn corrupt_frames_return_their_credits() {
    for recovery in [Recovery::GoBackN, Recovery::SelectiveRepeat, Recovery::OutOfOrder] {
        let mut case = subnet(star(3, link()), 1, 2 * 65);
        case.ports.iter_mut().for_each(|p| p.drop_every = 23);
        (case.rules.recovery, case.rules.rto_ps, case.rules.retry_limit) = (recovery, 100 * US, 100);
        let case = sent(case, vec![flow(0, 2, 1_000_000, 0), flow(1, 2, 1_000_000, 0)]);
        let o = finished(&case);
        assert!(o.lost_packets.iter().sum::<u64>() > 10, "{:?}", o.lost_packets);
    }
}

#[test]
fn a_failed_link_is_left_for_another() {
    let two_ways = |shield, moved: Option<u64>| {
        let mut case = crate::build::leaf_spine(2, 2, 2, link(), link(), 1);
        case.rules = rules();
        let mut case = subnet(case, 1, 8 * 65);
        (case.rules.rto_ps, case.rules.retry_limit) = (100 * US, 20);
        credits(&mut case).shield = shield;
        let spine = 4 + 2;
        let dead: Vec<u32> = (case.nodes[spine].first_port..case.nodes[spine].first_port + case.nodes[spine].n_ports).collect();
        let down: Vec<u32> = dead.iter().flat_map(|p| [*p, case.ports[*p as usize].peer]).collect();
        let mut routes = case.routes.clone();
        let kept: Vec<Vec<u32>> = routes
            .group_start
            .windows(2)
            .map(|w| routes.members[w[0] as usize..w[1] as usize].iter().copied().filter(|p| !down.contains(p)).collect())
            .collect();
        let mut number = Vec::new();
        (routes.members, routes.group_start) = (Vec::new(), vec![0]);
        for group in kept {
            number.push(if group.is_empty() { u32::MAX } else { index(routes.group_start.len() - 1) });
            if !group.is_empty() {
                routes.members.extend(group);
                routes.group_start.push(index(routes.members.len()));
            }
        }
        routes.table.iter_mut().filter(|g| **g != u32::MAX).for_each(|g| *g = number[*g as usize]);
        let change = |at_ps| Change { at_ps, down: down.clone(), lft: None, routes: Some(routes.clone()) };
        case.changes = moved.map(change).into_iter().collect();
        sent(case, vec![flow(0, 2, 2_000_000, 0), flow(3, 1, 2_000_000, 0)])
    };
    let whole = finished(&two_ways(false, None));
    assert_eq!(simulate(&two_ways(false, Some(whole.end_ps + 1))), whole, "a change after the end");
    let cut = simulate(&two_ways(false, Some(100 * US)));
    assert!(cut.flows.iter().all(|f| f.status == FlowStatus::Failed), "{:?}", cut.flows);
    let saved = finished(&two_ways(true, Some(100 * US)));
    assert!(saved.lost_packets.iter().sum::<u64>() > 0 && saved.end_ps < 2 * whole.end_ps);
}

#[test]
fn adaptive_routing_spreads_what_one_table_entry_cannot() {
    let case = |adaptive| {
        let mut case = subnet(crate::build::leaf_spine(2, 2, 2, link(), link(), 1), 1, 16 * 65);
        case.rules.recovery = Recovery::OutOfOrder;
        case.rules.rto_ps = 400 * US;
        credits(&mut case).adaptive = adaptive;
        sent(case, vec![flow(0, 2, 2_000_000, 0), flow(1, 3, 2_000_000, 0)])
    };
    let free = Adaptive { sls: 1, ..Adaptive::default() };
    let fixed = finished(&case(Adaptive::default()));
    for adaptive in [free, Adaptive { graded: true, grades_bytes: [4000, 8000, 16_000], ..free }, Adaptive { binding_ps: 2 * US, ..free }] {
        let spread = finished(&case(adaptive));
        assert!(spread.end_ps < fixed.end_ps * 7 / 10, "{adaptive:?}: {} and {}", spread.end_ps, fixed.end_ps);
    }
}
