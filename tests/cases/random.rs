//! Random cases: any small fabric, any rules, any flows.

use crate::build::{Net, US, back_to_back, dumbbell, flow, index, leaf_line, leaf_spine, star, then, wire, with_flows};
use crate::differences;
use fabricsim::case::{Case, ClassSpec, CnpMode, Dcqcn, EcnSpec, FlowSpec, NodeKind, PortSpec, Reaction, Recovery, Rules};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

fn fabric() -> impl Strategy<Value = Case> {
    let any = || wire(400_000, 1000);
    prop_oneof![
        (2_usize..6).prop_map(move |n| star(n, any())),
        (1_usize..4, 1_usize..4).prop_map(move |(n, parallel)| dumbbell(n, any(), any(), parallel)),
        (2_usize..4, 1_usize..4, 1_usize..4, 1_usize..3).prop_map(move |(l, h, s, parallel)| leaf_spine(l, h, s, any(), any(), parallel)),
        (0_usize..4, 1_usize..3).prop_map(move |(bare, parallel)| {
            let hosts: Vec<usize> = std::iter::once(1).chain(vec![0; bare]).chain([2]).collect();
            leaf_line(&hosts, any(), any(), parallel)
        }),
        Just(()).prop_map(move |()| back_to_back(any())),
        Just(()).prop_map(move |()| ring(any())),
    ]
}

/// Four leaves in a ring, two shortest paths to the opposite one.
fn ring(spec: PortSpec) -> Case {
    let mut net = Net::default();
    let ends: Vec<usize> = (0..4).map(|_| net.endpoint()).collect();
    let switches: Vec<usize> = (0..4).map(|_| net.switch()).collect();
    for i in 0..4 {
        net.link(ends[i], switches[i], spec);
        net.link(switches[i], switches[(i + 1) % 4], spec);
    }
    net.case()
}

fn delay() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 1000_u32..1_500_000, 2 => Just(600_000_u32), 1 => 1_u32..1000, 1 => 1_000_000_u32..50_000_000]
}

fn port() -> impl Strategy<Value = PortSpec> {
    let rate = prop_oneof![6 => Just(400_000_u64), 3 => Just(100_000_u64), 3 => 1000_u64..2_000_000, 1 => Just(245_u64)];
    let buffer = (
        prop_oneof![2 => Just(0_u32), 1 => 0_u32..40_000],
        0_u32..120_000,
        prop_oneof![Just(0_u32), 0_u32..50_000],
        1_u32..=1024,
        1_u32..=1024,
    );
    let ecn = (0_u32..60_000, 0_u32..60_000, any::<u32>(), 0_u32..64);
    let loss =
        prop_oneof![8 => Just((0_u32, 0_u32)), 1 => (0_u32..90_000_000).prop_map(|q| (q, 0)), 1 => (20_u32..90).prop_map(|n| (0, n))];
    (rate, delay(), delay(), buffer, ecn, loss).prop_map(|(mbps, delay_ps, pfc_delay_ps, buffer, ecn, loss)| PortSpec {
        delay_ps,
        pfc_delay_ps,
        reserve_bytes: buffer.0,
        headroom_bytes: buffer.1,
        xon_gap_bytes: buffer.2,
        alpha_q7: buffer.3,
        alpha_lossy_q7: buffer.4,
        ecn: EcnSpec { kmin_bytes: ecn.0, kmax_bytes: ecn.0 + ecn.1, slope: ecn.2, slope_shift: ecn.3 },
        loss_q32: loss.0,
        drop_every: loss.1,
        ..wire(mbps, delay_ps)
    })
}

/// Ports as drawn, few kinds in turn; pools and forwarding of switches.
fn wired() -> impl Strategy<Value = Case> {
    let pool = prop_oneof![4 => 0_u32..300_000, 1 => Just(16_000_000_u32)];
    (fabric(), vec(port(), 1..5), vec((pool, any::<bool>()), 1..3), any::<u32>()).prop_map(|(mut case, specs, switches, seed)| {
        case.seed = seed;
        let all = case.ports.iter_mut().zip(specs.iter().cycle());
        all.for_each(|(p, spec)| *p = PortSpec { node: p.node, peer: p.peer, ..*spec });
        let all = case.nodes.iter_mut().filter(|n| n.kind == NodeKind::Switch).zip(switches.iter().cycle());
        all.for_each(|(n, (pool, cut))| (n.pool_bytes, n.cut_through) = (*pool, *cut));
        case
    })
}

fn classes() -> impl Strategy<Value = Vec<ClassSpec>> {
    let class = (any::<bool>(), any::<bool>(), prop_oneof![Just(0_u32), 16_383_u32..40_000]);
    vec(class, 1..=7).prop_map(|drawn| {
        let spec = |(i, (lossless, ecn, quantum_bytes)): (u8, (bool, bool, u32))| ClassSpec { priority: i, lossless, ecn, quantum_bytes };
        let mut all: Vec<ClassSpec> = (0..).zip(drawn).map(spec).collect();
        all.sort_by_key(|c| c.quantum_bytes > 0);
        all
    })
}

fn period() -> impl Strategy<Value = u64> {
    prop_oneof![8 => US / 2..20 * US, 1 => Just(US), 1 => 1_u64..US / 2, 1 => 20 * US..20_000 * US]
}

fn reaction() -> impl Strategy<Value = (Reaction, Dcqcn)> {
    let kind = prop_oneof![Just(Reaction::None), Just(Reaction::DcqcnPaper), Just(Reaction::DcqcnFirmware)];
    let alpha = (any::<u32>(), any::<u32>(), period(), 0_u32..4, prop_oneof![Just(0_u32), any::<u32>()]);
    let periods = (period(), prop_oneof![Just(0_u64), period()], period(), prop_oneof![Just(0_u32), 5000_u32..100_000]);
    let steps = (0_u32..8, 0_u32..4_000_000, 0_u32..9_000_000);
    let limit = || prop_oneof![3 => Just(0_u32), 1 => 1_000_000_u32..500_000_000, 1 => 1000_u32..1_000_000];
    let rates = (1000_u32..2_000_000, limit(), limit(), any::<bool>(), any::<bool>());
    (kind, alpha, periods, steps, rates).prop_map(|(kind, alpha, periods, steps, rates)| {
        let dcqcn = Dcqcn {
            g_q32: alpha.0,
            alpha_init_q32: alpha.1,
            alpha_period_ps: alpha.2,
            cut_shift: alpha.3,
            min_keep_q32: alpha.4,
            cut_period_ps: periods.0,
            first_cut_extra_ps: periods.1,
            increase_period_ps: periods.2,
            byte_counter_bytes: periods.3,
            fast_recovery: steps.0,
            rate_ai_kbps: steps.1,
            rate_hai_kbps: steps.2,
            rate_min_kbps: rates.0,
            rate_max_kbps: rates.1,
            rate_first_cnp_kbps: rates.2,
            clamp_target: rates.3,
            clamp_after_time_increase: rates.4,
        };
        (kind, dcqcn)
    })
}

/// Rules; classes of control packets are drawn as numbers of any size.
fn rules() -> impl Strategy<Value = Rules> {
    let frames =
        (prop_oneof![Just(1024_u32), Just(4096_u32), 64_u32..9000], 0_u32..100, 0_u32..40, 1_u32..120, 1_u32..120, 1_u32..120, 0_u32..40);
    let compat = (any::<[bool; 4]>(), prop_oneof![2 => Just(1_u32), 1 => Just(1000_u32), 1 => 1_u32..=1000]);
    let control = (proptest::option::of(0_u32..7), proptest::option::of(0_u32..7), prop_oneof![Just(1_u32), 1_u32..20, Just(64_u32)]);
    let recovery = prop_oneof![3 => Just(Recovery::GoBackN), 1 => Just(Recovery::GoBackZero), 3 => Just(Recovery::SelectiveRepeat)];
    let recovery = (recovery, prop_oneof![Just(0_u64), 1_u64..20 * US], prop_oneof![1 => Just(0_u64), 4 => 5 * US..200 * US], 0_u32..5);
    let echo = (any::<bool>(), prop_oneof![Just(CnpMode::Packet), Just(CnpMode::AckFlag)], prop_oneof![Just(0_u64), 0_u64..10 * US]);
    (frames, compat, control, recovery, echo, reaction()).prop_map(|(frames, compat, control, recovery, echo, reaction)| Rules {
        mtu_bytes: frames.0,
        data_header_bytes: frames.1,
        first_extra_bytes: frames.2,
        ack_bytes: frames.3,
        cnp_bytes: frames.4,
        pfc_bytes: frames.5,
        gap_bytes: frames.6,
        grain_ps: compat.1,
        ack_class: control.0,
        cnp_class: control.1,
        ack_ignores_pause: compat.0[0],
        eager_start: compat.0[1],
        tie_by_flow: compat.0[2],
        hpcc_wakeup: compat.0[3],
        ack_every: control.2,
        nak_interval_ps: recovery.1,
        recovery: recovery.0,
        rto_ps: recovery.2,
        retry_limit: recovery.3,
        variable_window: echo.0,
        cnp_mode: echo.1,
        cnp_interval_ps: echo.2,
        reaction: reaction.0,
        dcqcn: reaction.1,
    })
}

/// A flow in numbers of any size, to be fitted to a case.
type Draft = (u32, u32, u32, u64, u64, u64, Option<(u32, bool)>, u32);

fn draft() -> impl Strategy<Value = Draft> {
    let start = prop_oneof![4 => Just(0_u64), 2 => (0_u64..4).prop_map(|n| n * US), 2 => 0..20 * US, 1 => 0..9000 * US];
    let after = proptest::option::weighted(0.2, (any::<u32>(), any::<bool>()));
    let window = prop_oneof![3 => Just(0_u32), 1 => 1_u32..100_000];
    (any::<u32>(), 1_u32..100, 0_u32..7, 1_u64..=40, 0_u64..9000, start, after, window)
}

fn fit(case: &Case, drafts: &[Draft]) -> Vec<FlowSpec> {
    let ends = index(case.nodes.iter().filter(|n| n.kind == NodeKind::Endpoint).count());
    let classes = index(case.classes.len());
    let mtu = u64::from(case.rules.mtu_bytes);
    let mut flows: Vec<FlowSpec> = Vec::new();
    for (i, (src, away, class, packets, tail, start, after, window)) in drafts.iter().enumerate() {
        let other = after.filter(|_| i > 0).map(|(n, received)| (n % index(i), received));
        let src = match other {
            Some((n, true)) => flows[n as usize].dst,
            Some((n, false)) => flows[n as usize].src,
            None => src % ends,
        };
        let dst = (src + 1 + away % (ends - 1)) % ends;
        let size = (packets - 1) * mtu + 1 + tail % mtu;
        let flow = FlowSpec { class: class % classes, window_bytes: *window, ..flow(src, dst, size, *start) };
        flows.push(match other {
            Some((n, received)) => then(received, n, flow),
            None => flow,
        });
    }
    flows
}

/// Keeps the work of a case in bounds: some recoveries never end.
fn bounded(mut case: Case, stop: Option<u64>) -> Case {
    let fastest = case.ports.iter().map(|p| u64::from(p.byte_time_q16)).min().expect("ports");
    let slowest_way = case.ports.iter().map(|p| u64::from(p.delay_ps.max(p.pfc_delay_ps))).max().expect("ports");
    let frame = (u64::from(case.rules.mtu_bytes + case.rules.data_header_bytes + case.rules.gap_bytes) * fastest) >> 16;
    let endless = case.rules.recovery == Recovery::GoBackZero || case.rules.rto_ps > 0 || case.ports.iter().any(|p| p.loss_q32 > 0);
    let bound = if endless { 600 * frame + 20 * slowest_way + 10 * US } else { 1_000_000 * US };
    case.stop_ps = Some(stop.map_or(bound, |s| s.min(bound)));
    case
}

/// Any case of small size.
pub fn arbitrary() -> impl Strategy<Value = Case> {
    let stop = proptest::option::weighted(0.2, 0..60 * US);
    (wired(), classes(), rules(), vec(draft(), 1..=30), stop).prop_map(|(mut case, classes, mut rules, drafts, stop)| {
        let n = index(classes.len());
        rules.ack_class = rules.ack_class.map(|c| c % n);
        rules.cnp_class = rules.cnp_class.map(|c| c % n);
        (case.classes, case.rules) = (classes, rules);
        let flows = fit(&case, &drafts);
        bounded(with_flows(case, flows), stop)
    })
}

/// Runs `PROPTEST_CASES` new cases, or if that is not set, `cases` that are always the same.
fn runner(cases: u32, seed: u8) -> TestRunner {
    let config = |cases| Config { cases, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    match std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()) {
        Some(cases) => TestRunner::new(config(cases)),
        None => TestRunner::new_with_rng(config(cases), TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32])),
    }
}

/// Runs drawn cases in every way.
pub fn check_random(kind: &str, drawn: &impl Strategy<Value = Case>, cases: u32, seed: u8) {
    let most = std::cell::Cell::new((0, 0));
    let result = runner(cases, seed).run(drawn, |case| {
        let report = differences(kind, &case).map_err(TestCaseError::fail)?;
        let (hops, windows) = most.get();
        most.set((report.progress.packet_hops.max(hops), report.windows.max(windows)));
        Ok(())
    });
    println!("most packet-hops and windows of a random case: {:?}", most.get());
    if let Err(e) = result {
        panic!("{e}");
    }
    assert!(most.get().0 < 20_000, "random cases are too large");
}

#[test]
fn random_cases_are_exact() {
    check_random("random", &arbitrary(), 200, 1);
}
