//! Small cases with a name: fabrics, buffers, classes and losses. Those of transport and congestion control are in `named_rules`.

use crate::build::{
    NS, US, back_to_back, dcqcn, dumbbell, fast, flow, leaf_line, leaf_spine, lossless, lossy, rules, star, then, wire, with_flows,
};
use crate::named_rules;
use fabricsim::case::{Case, ClassSpec, FlowSpec, NodeKind, PortSpec, Reaction, Recovery, Rules};

/// All of them.
pub fn named() -> Vec<(&'static str, Case)> {
    let mut all = basics();
    all.extend(pauses());
    all.extend(losses());
    all.extend(classes());
    all.extend(paths());
    all.extend(times());
    all.extend(named_rules::transport());
    all.extend(named_rules::congestion());
    all.extend(named_rules::compat());
    all
}

/// `n` senders to the endpoint behind them.
pub fn incast(n: u32, bytes: u64) -> Vec<FlowSpec> {
    (0..n).map(|i| flow(i, n, bytes, 0)).collect()
}

/// Every endpoint sends to the one `by` places on.
pub fn shift(n: u32, by: u32, bytes: u64) -> Vec<FlowSpec> {
    (0..n).map(|i| flow(i, (i + by) % n, bytes, 0)).collect()
}

/// Changes ports of switches.
pub fn at_switches(mut case: Case, change: impl Fn(&mut PortSpec)) -> Case {
    let nodes = case.nodes.clone();
    case.ports.iter_mut().filter(|p| nodes[p.node as usize].kind == NodeKind::Switch).for_each(change);
    case
}

fn pools(mut case: Case, bytes: u32) -> Case {
    case.nodes.iter_mut().filter(|n| n.kind == NodeKind::Switch).for_each(|n| n.pool_bytes = bytes);
    case
}

fn cut_through(mut case: Case) -> Case {
    case.nodes.iter_mut().filter(|n| n.kind == NodeKind::Switch).for_each(|n| n.cut_through = true);
    case
}

/// The case with one class, lossy.
pub fn all_lossy(mut case: Case) -> Case {
    case.classes = vec![lossy()];
    case
}

fn basics() -> Vec<(&'static str, Case)> {
    let mut small_mtu = star(4, fast());
    small_mtu.rules.mtu_bytes = 256;
    vec![
        ("single_flow", with_flows(star(2, fast()), vec![flow(0, 1, 100_000, 0)])),
        ("one_byte", with_flows(star(2, fast()), vec![flow(0, 1, 1, 5 * US)])),
        ("no_flows", star(2, fast())),
        ("back_to_back", with_flows(back_to_back(fast()), vec![flow(0, 1, 100_000, 0), flow(1, 0, 50_001, 0), flow(1, 0, 4096, US)])),
        ("equal_times", {
            let all = (0..16_u32).map(|i| flow(i % 4, (i % 4 + 1 + i / 4 % 3) % 4, 20_000, u64::from(i / 8) * 2 * US)).collect();
            with_flows(star(4, fast()), all)
        }),
        ("two_tiers", with_flows(leaf_spine(3, 3, 2, fast(), fast(), 1), shift(9, 4, 100_000))),
        ("mtu_256", with_flows(small_mtu, shift(4, 1, 40_000))),
        ("line_of_five", {
            let flows = vec![flow(0, 2, 120_000, 0), flow(1, 3, 120_000, 0), flow(3, 0, 60_000, US), flow(2, 1, 60_000, US)];
            with_flows(leaf_line(&[2, 0, 0, 0, 2], fast(), wire(200_000, 900 * NS), 1), flows)
        }),
        ("line_with_hosts", with_flows(leaf_line(&[1, 1, 1, 1, 1], fast(), wire(400_000, 300 * NS), 1), shift(5, 3, 100_000))),
    ]
}

fn pauses() -> Vec<(&'static str, Case)> {
    let storm = || {
        let case = leaf_spine(3, 4, 2, wire(100_000, 400 * NS), wire(200_000, 700 * NS), 1);
        let mut flows: Vec<FlowSpec> = (0..8).map(|i| flow(i, 8, 120_000, 0)).collect();
        // Not towards the congested endpoint, but over the same links.
        flows.extend([flow(0, 9, 80_000, US), flow(5, 10, 80_000, US), flow(11, 1, 80_000, 0)]);
        with_flows(pools(case, 150_000), flows)
    };
    let mut asymmetric = storm();
    asymmetric.ports.iter_mut().zip(0..).for_each(|(p, i)| {
        p.pfc_delay_ps = 350 * NS + 37 * i;
        p.alpha_q7 = 16 + 8 * i;
    });
    let recovering = Rules { rto_ps: 60 * US, ..rules() };
    let mut tight = star(5, fast());
    tight.rules = recovering.clone();
    let mut tighter = leaf_spine(2, 4, 2, fast(), fast(), 1);
    tighter.rules = Rules { recovery: Recovery::SelectiveRepeat, ..recovering };
    let spread: Vec<FlowSpec> = (0..8).map(|i| flow(i, 3 - i / 4 + 4 * (1 - i / 4), 100_000, 0)).filter(|f| f.src != f.dst).collect();
    vec![
        ("pfc_incast", with_flows(pools(star(7, fast()), 100_000), incast(6, 150_000))),
        ("pfc_storm_with_victims", storm()),
        ("pfc_storm_asymmetric", asymmetric),
        ("tiny_headroom", with_flows(pools(at_switches(tight, |p| p.headroom_bytes = 9000), 60_000), incast(4, 150_000))),
        ("tiny_headroom_selective", with_flows(pools(at_switches(tighter, |p| p.headroom_bytes = 5000), 50_000), spread)),
        ("tiny_buffers", with_flows(pools(at_switches(star(5, fast()), |p| p.xon_gap_bytes = 0), 5000), incast(4, 80_000))),
        ("no_shared_pool", {
            let reserve = |p: &mut PortSpec| p.reserve_bytes = 30_000;
            with_flows(pools(at_switches(star(4, fast()), reserve), 0), incast(3, 150_000))
        }),
        ("reserve", with_flows(pools(at_switches(star(5, fast()), |p| p.reserve_bytes = 10_007), 60_000), incast(4, 150_000))),
        ("xon_gap", with_flows(pools(at_switches(star(5, fast()), |p| p.xon_gap_bytes = 25_000), 120_000), incast(4, 150_000))),
        ("large_alpha", with_flows(pools(at_switches(star(5, fast()), |p| p.alpha_q7 = 1024), 120_000), incast(4, 150_000))),
    ]
}

fn losses() -> Vec<(&'static str, Case)> {
    let with = |recovery, rest: Rules| {
        let mut case = all_lossy(pools(star(5, fast()), 40_000));
        case.rules = Rules { recovery, rto_ps: 40 * US, ..rest };
        with_flows(case, incast(4, 120_000))
    };
    let lossy_links = |loss_q32, drop_every| {
        let mut case = dumbbell(2, fast(), wire(200_000, 500 * NS), 1);
        case.rules.rto_ps = 50 * US;
        case.ports.iter_mut().for_each(|p| (p.loss_q32, p.drop_every) = (loss_q32, drop_every));
        with_flows(case, vec![flow(0, 2, 300_000, 0), flow(1, 3, 200_000, 0), flow(2, 1, 150_000, US)])
    };
    let selective = |mut case: Case| {
        case.rules.recovery = Recovery::SelectiveRepeat;
        case
    };
    let mut restart = lossy_links(0, 61);
    restart.rules.recovery = Recovery::GoBackZero;
    restart.stop_ps = Some(60 * US);
    let mut failing = lossy_links(0, 0);
    failing.rules.retry_limit = 2;
    failing.ports.iter_mut().filter(|p| p.node == 5).for_each(|p| p.loss_q32 = u32::MAX);
    let mut sparse_naks = with(Recovery::GoBackN, rules());
    sparse_naks.rules.nak_interval_ps = 3 * US;
    let mut late = lossy_links(40_000_000, 0);
    late.rules.nak_interval_ps = 500_000;
    vec![
        ("tail_drop_go_back_n", with(Recovery::GoBackN, rules())),
        ("tail_drop_selective", with(Recovery::SelectiveRepeat, rules())),
        ("tail_drop_unacknowledged", with(Recovery::GoBackN, Rules { ack_every: 64, ..rules() })),
        ("go_back_zero", restart),
        ("random_loss", lossy_links(40_000_000, 0)),
        ("random_loss_selective", selective(lossy_links(100_000_000, 0))),
        ("drop_every", lossy_links(0, 31)),
        ("drop_every_selective", selective(lossy_links(0, 7))),
        ("nak_interval", sparse_naks),
        ("nak_interval_loss", late),
        ("retry_limit", failing.clone()),
        ("retry_limit_selective", selective(failing)),
    ]
}

fn weighted(quantum_bytes: u32, class: ClassSpec) -> ClassSpec {
    ClassSpec { quantum_bytes, ..class }
}

fn in_class(class: u32, flow: FlowSpec) -> FlowSpec {
    FlowSpec { class, ..flow }
}

fn classes() -> Vec<(&'static str, Case)> {
    let mixed = |classes: Vec<ClassSpec>| {
        let n = u32::try_from(classes.len()).expect("few");
        let mut case = pools(dumbbell(3, fast(), wire(300_000, 500 * NS), 1), 120_000);
        case.classes = classes;
        let all = (0..12_u32).map(|i| in_class(i % n, flow(i % 6, (i + 3) % 6, 40_000 + 1111 * u64::from(i), u64::from(i / 6) * US)));
        with_flows(case, all.collect())
    };
    let seven: Vec<ClassSpec> = (0..7_u8)
        .map(|i| ClassSpec {
            priority: i,
            lossless: i % 2 == 0,
            ecn: i < 4,
            quantum_bytes: if i < 2 { 0 } else { 4200 + 500 * u32::from(i) },
        })
        .collect();
    vec![
        ("two_classes_weighted", mixed(vec![weighted(4174, lossless()), weighted(12_000, lossless())])),
        ("strict_over_weighted", mixed(vec![lossless(), weighted(4200, lossy()), weighted(9001, lossless())])),
        ("three_weighted", mixed(vec![weighted(4174, lossless()), weighted(4175, lossy()), weighted(100_000, lossless())])),
        ("two_strict", mixed(vec![lossless(), lossy()])),
        ("seven_classes", mixed(seven)),
    ]
}

fn paths() -> Vec<(&'static str, Case)> {
    let pinned = || {
        let mut case = leaf_spine(2, 2, 2, fast(), fast(), 1);
        case.seed = 99;
        let mut flows = vec![flow(0, 2, 80_000, 0), flow(1, 3, 80_000, 0), flow(2, 0, 80_000, 0), flow(3, 1, 80_000, 0)];
        // Leaves have ports 4 to 7 and 8 to 11: two to endpoints, two to spines; spines 12, 13 and 14, 15.
        flows[0].path_data = vec![6, 13];
        flows[1].path_data = vec![6, 13];
        flows[1].path_ack = vec![10, 12];
        flows[2].path_data = vec![11, 14];
        flows[2].path_ack = vec![7, 15];
        with_flows(case, flows)
    };
    let many =
        |n: u32, hosts: u32| (0..4 * n).map(|i| flow(i % n, (i % n + hosts + i / n % 2) % n, 25_000, u64::from(i / n) * 3 * US)).collect();
    let mut rates = pools(star(4, fast()), 200_000);
    for (p, mbps) in [(0, 800_000), (1, 100_000), (2, 25_000), (3, 400_000)] {
        let q = rates.ports[p].peer as usize;
        for p in [p, q] {
            let spec = wire(mbps, 600 * NS);
            (rates.ports[p].rate_kbps, rates.ports[p].byte_time_q16) = (spec.rate_kbps, spec.byte_time_q16);
        }
    }
    let rates = with_flows(rates, (0..12).map(|i| flow(i % 4, (i % 4 + 1 + i / 4) % 4, 30_000, 0)).collect());
    let delays = |case: Case| {
        let mut case = case;
        case.ports
            .iter_mut()
            .zip(0_u32..)
            .for_each(|(p, i)| (p.delay_ps, p.pfc_delay_ps) = (1000 + 71_003 * (i % 5), 50_000 + 91_009 * (i % 7)));
        case
    };
    let long = |n: u32| shift(n, n / 2 + 1, 60_000);
    vec![
        ("pinned_paths", pinned()),
        ("parallel_links", with_flows(leaf_spine(2, 3, 2, fast(), wire(100_000, 500 * NS), 3), many(6, 3))),
        ("many_paths", with_flows(leaf_spine(3, 2, 4, fast(), fast(), 1), many(6, 2))),
        ("mixed_rates", rates.clone()),
        ("cut_through_mixed_rates", cut_through(rates)),
        ("cut_through", cut_through(with_flows(leaf_spine(2, 3, 2, fast(), fast(), 1), long(6)))),
        ("cut_through_faster_core", cut_through(with_flows(leaf_spine(2, 3, 1, wire(100_000, 300 * NS), fast(), 1), long(6)))),
        ("cut_through_slower_core", cut_through(with_flows(leaf_spine(2, 3, 1, fast(), wire(50_000, 300 * NS), 1), long(6)))),
        ("delays_by_port", delays(with_flows(leaf_spine(2, 3, 2, fast(), fast(), 1), many(6, 3)))),
        ("very_short_delays", with_flows(star(3, PortSpec { delay_ps: 1, pfc_delay_ps: 1, ..fast() }), incast(2, 40_000))),
    ]
}

fn times() -> Vec<(&'static str, Case)> {
    let chain = |delay: u64| {
        let flows = vec![
            flow(0, 1, 50_000, 0),
            then(true, 0, flow(1, 2, 50_000, delay)),
            then(true, 1, flow(2, 0, 50_000, 2 * delay)),
            then(false, 0, flow(0, 3, 30_000, delay)),
            then(false, 3, flow(0, 1, 5000, 0)),
            then(true, 0, flow(1, 3, 5000, delay)),
            then(true, 0, flow(1, 0, 9000, 3 * delay)),
            flow(3, 0, 40_000, US),
            then(false, 99, flow(3, 1, 1, delay)),
        ];
        // The last waits for the one before it.
        let flows = flows.into_iter().map(|mut f| {
            f.after.iter_mut().filter(|a| a.flow == 99).for_each(|a| a.flow = 7);
            f
        });
        with_flows(star(4, fast()), flows.collect())
    };
    let mut stopped = with_flows(pools(star(5, fast()), 100_000), incast(4, 150_000));
    stopped.rules.reaction = Reaction::DcqcnPaper;
    stopped.rules.dcqcn = dcqcn();
    stopped.stop_ps = Some(7_654_321);
    let mut early = stopped.clone();
    early.stop_ps = Some(1);
    // 0.245 Gb/s: a frame takes 136 us; flows at 1 Mb/s send one in 33 ms.
    let slow = || dumbbell(2, wire(245, 5000 * NS), wire(245, 9000 * NS), 1);
    let mut paced = slow();
    paced.rules.reaction = Reaction::DcqcnFirmware;
    paced.rules.rto_ps = 0;
    paced.rules.dcqcn =
        fabricsim::case::Dcqcn { rate_min_kbps: 1000, rate_first_cnp_kbps: 1000, rate_ai_kbps: 10, rate_hai_kbps: 50, ..dcqcn() };
    paced.rules.dcqcn.increase_period_ps = 3000 * US;
    paced.ports.iter_mut().for_each(|p| (p.ecn.kmin_bytes, p.ecn.kmax_bytes) = (5000, 6000));
    let mut capped = slow();
    capped.rules.reaction = Reaction::DcqcnPaper;
    capped.rules.rto_ps = 90_000 * US;
    capped.rules.dcqcn = fabricsim::case::Dcqcn { rate_min_kbps: 1000, rate_max_kbps: 2000, ..dcqcn() };
    let slow_flows = || vec![flow(0, 2, 40_000, 0), flow(1, 2, 40_000, 0), flow(3, 1, 30_000, 9000 * US)];
    let mut slow_links = slow();
    slow_links.rules.rto_ps = 9000 * US;
    let idle =
        |start: u64| vec![flow(0, 1, 30_000, 0), flow(1, 0, 30_000, start), flow(2, 1, 60_000, start), flow(0, 2, 60_000, 2 * start + 1)];
    let mut lost = with_flows(star(3, fast()), idle(4_294_967_296));
    lost.rules.rto_ps = 5000 * US;
    lost.ports.iter_mut().for_each(|p| p.drop_every = 9);
    vec![
        ("chain", chain(0)),
        ("chain_delayed", chain(3 * US)),
        ("chain_delayed_long", chain(6000 * US)),
        ("stopped", stopped),
        ("stopped_early", early),
        ("slow_links", with_flows(slow_links, slow_flows())),
        ("slow_flows", with_flows(paced, slow_flows())),
        ("slow_cap", with_flows(capped, slow_flows())),
        ("long_idle", with_flows(star(3, fast()), idle(25_000 * US))),
        ("long_idle_with_timeouts", lost),
        ("long_delay", with_flows(back_to_back(wire(10_000, 999_000 * NS)), vec![flow(0, 1, 200_000, 0), flow(1, 0, 100_000, 0)])),
    ]
}
