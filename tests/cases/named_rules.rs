//! Named cases of transport, congestion control and compatibility rules.

use crate::build::{NS, US, dcqcn, dumbbell, fast, flow, leaf_spine, lossless, lossy, rules, star, wire, with_flows};
use crate::named::{at_switches, incast, shift};
use fabricsim::case::{Case, ClassSpec, CnpMode, Dcqcn, FlowSpec, Reaction, Recovery, Rules};

/// An incast on a star of five with some rules.
fn contended(rules: Rules) -> Case {
    let mut case = star(5, fast());
    case.rules = rules;
    with_flows(case, incast(4, 500_000))
}

/// Traffic both ways over a bottleneck, with pauses, in two or more classes of which the flows use the second.
fn two_way(classes: Vec<ClassSpec>, rules: Rules) -> Case {
    let mut case = dumbbell(3, fast(), wire(200_000, 500 * NS), 1);
    case.classes = classes;
    case.rules = rules;
    let flows = shift(6, 3, 100_000).into_iter().map(|f| FlowSpec { class: 1, ..f });
    let case = with_flows(case, flows.collect());
    at_switches(case, |p| p.alpha_q7 = 16)
}

fn windowed(rules: Rules, window_bytes: u32) -> Case {
    let mut case = contended(rules);
    case.flows.iter_mut().zip(0..).for_each(|(f, i)| f.window_bytes = window_bytes + 1000 * i);
    case
}

pub fn transport() -> Vec<(&'static str, Case)> {
    let every = |ack_every| two_way(vec![lossless(), lossless()], Rules { ack_every, ..rules() });
    let control = |ack: u32, cnp: u32| Rules { ack_class: Some(ack), cnp_class: Some(cnp), reaction: Reaction::DcqcnPaper, ..rules() };
    let weighted = ClassSpec { quantum_bytes: 5000, ..lossless() };
    let flagged = |recovery| {
        let mut case = contended(Rules { cnp_mode: CnpMode::AckFlag, reaction: Reaction::DcqcnPaper, recovery, ..rules() });
        case.ports.iter_mut().for_each(|p| p.drop_every = 47);
        case
    };
    let unpaused = |recovery| {
        let mut case = two_way(vec![lossless(), lossless()], Rules { ack_ignores_pause: true, recovery, ..rules() });
        case.ports.iter_mut().for_each(|p| p.drop_every = 53);
        case
    };
    let mut variable = windowed(Rules { variable_window: true, reaction: Reaction::DcqcnPaper, ..rules() }, 60_000);
    variable.rules.dcqcn.rate_min_kbps = 1_000_000;
    let mut selective = windowed(Rules { recovery: Recovery::SelectiveRepeat, ..rules() }, 40_000);
    selective.ports.iter_mut().for_each(|p| p.loss_q32 = 50_000_000);
    let mut wide = star(3, fast());
    wide.rules = Rules { mtu_bytes: 512, recovery: Recovery::SelectiveRepeat, rto_ps: 30 * US, ..rules() };
    wide.ports.iter_mut().for_each(|p| p.loss_q32 = 60_000_000);
    vec![
        ("ack_every_1", every(1)),
        ("ack_every_4", every(4)),
        ("ack_every_64", every(64)),
        ("ack_class_strict", two_way(vec![lossless(), lossless()], control(0, 1))),
        ("ack_class_weighted", two_way(vec![ClassSpec { quantum_bytes: 4200, ..lossy() }, weighted], control(0, 0))),
        ("cnp_class_separate", two_way(vec![lossless(), lossless(), lossless()], control(2, 0))),
        ("ack_ignores_pause", unpaused(Recovery::GoBackN)),
        ("ack_ignores_pause_selective", unpaused(Recovery::SelectiveRepeat)),
        ("ack_flag", flagged(Recovery::GoBackN)),
        ("ack_flag_selective", flagged(Recovery::SelectiveRepeat)),
        ("window_fixed", windowed(rules(), 20_000)),
        ("window_below_a_packet", windowed(rules(), 1)),
        ("window_variable", variable),
        ("window_selective", selective),
        ("selective_window_full", with_flows(wide, vec![flow(0, 2, 200_000, 0), flow(1, 2, 200_000, 0)])),
        ("short_rto", contended(Rules { rto_ps: 2 * US, retry_limit: 100, ..rules() })),
        ("no_rto", {
            let mut case = contended(Rules { rto_ps: 0, ..rules() });
            case.ports.iter_mut().for_each(|p| p.drop_every = 37);
            case
        }),
    ]
}

pub fn congestion() -> Vec<(&'static str, Case)> {
    let paper = |dcqcn| contended(Rules { reaction: Reaction::DcqcnPaper, dcqcn, ..rules() });
    let firmware = |dcqcn| contended(Rules { reaction: Reaction::DcqcnFirmware, dcqcn, ..rules() });
    let counter = Dcqcn { byte_counter_bytes: 30_000, rate_ai_kbps: 1_000_000, ..dcqcn() };
    let coarse = Dcqcn {
        g_q32: 1 << 30,
        alpha_init_q32: 1 << 31,
        alpha_period_ps: US,
        cut_period_ps: 2 * US,
        increase_period_ps: 3 * US,
        ..dcqcn()
    };
    let clamped = Dcqcn { clamp_target: true, clamp_after_time_increase: false, ..coarse };
    let free = Dcqcn { clamp_after_time_increase: false, ..coarse };
    let first = Dcqcn { rate_first_cnp_kbps: 50_000_000, first_cut_extra_ps: 1_500_000, ..coarse };
    let rare = |mut case: Case| {
        case.rules.cnp_interval_ps = 50 * US;
        case
    };
    vec![
        ("dcqcn_paper", paper(dcqcn())),
        ("dcqcn_paper_coarse", paper(coarse)),
        ("dcqcn_paper_byte_counter", paper(counter)),
        ("dcqcn_paper_hyper", rare(paper(Dcqcn { fast_recovery: 1, increase_period_ps: US, ..counter }))),
        ("dcqcn_paper_clamp", paper(clamped)),
        ("dcqcn_paper_free", paper(free)),
        ("dcqcn_paper_cap", paper(Dcqcn { rate_max_kbps: 150_000_000, ..coarse })),
        ("dcqcn_min_keep", paper(Dcqcn { min_keep_q32: 3 << 30, ..coarse })),
        ("dcqcn_firmware", firmware(dcqcn())),
        ("dcqcn_firmware_coarse", firmware(coarse)),
        ("dcqcn_firmware_first_cnp", firmware(first)),
        ("dcqcn_firmware_clamp", firmware(Dcqcn { min_keep_q32: 1 << 31, ..clamped })),
        ("dcqcn_firmware_cap", rare(firmware(Dcqcn { rate_max_kbps: 200_000_000, rate_first_cnp_kbps: 300_000_000, ..coarse }))),
        ("dcqcn_firmware_hard_cut", firmware(Dcqcn { cut_shift: 0, rate_min_kbps: 500_000, ..coarse })),
        ("dcqcn_two_tiers", {
            let mut case = leaf_spine(2, 3, 2, fast(), wire(200_000, 500 * NS), 1);
            case.rules = Rules { reaction: Reaction::DcqcnFirmware, dcqcn: coarse, cnp_class: None, ..rules() };
            with_flows(case, shift(6, 3, 150_000))
        }),
    ]
}

pub fn compat() -> Vec<(&'static str, Case)> {
    let base = || Rules { reaction: Reaction::DcqcnPaper, mtu_bytes: 1000, ..rules() };
    let on = |rules: Rules| {
        let mut case = leaf_spine(2, 3, 2, fast(), wire(100_000, 1000 * NS), 1);
        case.rules = rules;
        // Many things at once, so that the order of simultaneous events matters.
        case.nodes.iter_mut().for_each(|n| n.pool_bytes /= 3);
        let flows = (0..18_u32).rev().map(|i| flow(i % 6, (i % 6 + 1 + i / 6) % 6, 20_000, 0));
        with_flows(case, flows.collect())
    };
    let ns3 = || Rules { eager_start: true, tie_by_flow: true, hpcc_wakeup: true, ack_ignores_pause: true, grain_ps: 1000, ..base() };
    let windows = |mut case: Case| {
        case.rules.variable_window = true;
        case.flows.iter_mut().for_each(|f| f.window_bytes = 15_000);
        case
    };
    vec![
        ("eager_start", on(Rules { eager_start: true, ..base() })),
        ("tie_by_flow", on(Rules { tie_by_flow: true, ..base() })),
        ("hpcc_wakeup", on(Rules { hpcc_wakeup: true, ..base() })),
        ("grain", on(Rules { grain_ps: 1000, ..base() })),
        ("none_of_these", on(base())),
        ("ns3_style", on(ns3())),
        ("ns3_style_windows", windows(on(ns3()))),
        ("ns3_style_firmware", on(Rules { reaction: Reaction::DcqcnFirmware, recovery: Recovery::SelectiveRepeat, ..ns3() })),
    ]
}
