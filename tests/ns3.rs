//! Agreement with the HPCC ns-3 simulator: `data/ns3` holds its inputs and completion times.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fabricsim::engine::{AdapterChoice, Options, Silent, run};
use fabricsim::import::hpcc::import;
use fabricsim::outcome::Outcome;
use fabricsim::plan::Plan;
use fabricsim::scenario::load;

/// Completion times (ns) by (source host, destination host), in ascending order.
type Times = BTreeMap<(u64, u64), Vec<u64>>;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/ns3").join(name)
}

fn simulate(name: &str, seed: u32) -> (Plan, Outcome) {
    let place = tempfile::tempdir().expect("a temporary folder");
    let scenario = place.path().join("scenario.toml");
    import(&folder(name).join("config.txt"), &scenario).expect("the folder is imported");
    let plan = load(&scenario, &[("scenario.seed".into(), seed.to_string())]).expect("the scenario is valid");
    let options = Options { adapter: AdapterChoice::BuiltIn, ..Options::default() };
    let outcome = run(&plan.case, &options, &mut Silent).expect("the case runs").outcome;
    (plan, outcome)
}

fn ours(plan: &Plan, outcome: &Outcome) -> Times {
    let host = |node: u32| plan.case.nodes[node as usize].name.trim_start_matches("host").parse().expect("hosts are numbered");
    let mut times = Times::new();
    for (spec, flow) in plan.case.flows.iter().zip(&outcome.flows) {
        let fct = flow.finish_ps.expect("every flow ends") - flow.start_ps;
        assert_eq!(fct % 1000, 0, "whole nanoseconds");
        times.entry((host(spec.src), host(spec.dst))).or_default().push(fct / 1000);
    }
    times.values_mut().for_each(|t| t.sort_unstable());
    times
}

fn theirs(name: &str) -> Times {
    let text = std::fs::read_to_string(folder(name).join("fct.txt")).expect("results are there");
    let host = |address: &str| u64::from_str_radix(address.trim_start_matches("0x"), 16).expect("an address") >> 8 & 0xffff;
    let mut times = Times::new();
    for line in text.lines() {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let fct = columns[6].parse().expect("a time");
        times.entry((host(columns[0]), host(columns[1]))).or_default().push(fct);
    }
    times.values_mut().for_each(|t| t.sort_unstable());
    times
}

fn sorted(times: &Times) -> Vec<u64> {
    let mut all: Vec<u64> = times.values().flatten().copied().collect();
    all.sort_unstable();
    all
}

#[test]
fn without_randomness_every_flow_agrees_to_the_nanosecond() {
    for name in [
        "a_single_100g_10MB",
        "a_single_100g_10MB_vwin",
        "a_single_400g_10MB",
        "a_single_400g_10MB_vwin",
        "b_incast_2to1_1MB_vwin",
        "b_incast_8to1_10MB_vwin",
        "e_neigh128_leafspine8x16x8_100g_up400g_16MB",
    ] {
        let (plan, outcome) = simulate(name, 1);
        assert_eq!(ours(&plan, &outcome), theirs(name), "{name}");
        assert!(outcome.queues.iter().all(|q| q.xoff_sent == 0), "{name}: no pauses there, none here");
    }
}

/// With PFC alone the order of simultaneous events differs: sorted times within 0.1 %, pauses and resumes within 1 %.
#[test]
fn under_pauses_times_and_counts_agree() {
    const PFC_FRAMES: u64 = 3876;
    let (plan, outcome) = simulate("g_pfconly_incast_8to1_10MB", 1);
    for (a, b) in sorted(&ours(&plan, &outcome)).iter().zip(sorted(&theirs("g_pfconly_incast_8to1_10MB"))) {
        assert!(a.abs_diff(b) * 1000 <= b, "{a} and {b} ns");
    }
    let frames: u64 = outcome.queues.iter().map(|q| q.xoff_received + q.xon_received).sum();
    assert!(frames.abs_diff(PFC_FRAMES) * 100 <= PFC_FRAMES, "{frames} PFC frames, {PFC_FRAMES} in ns-3");
}

/// With random marks: the mean completion time of six seeds lies between the least and the largest mean of six ns-3 seeds (ns).
#[test]
fn with_random_marks_the_mean_agrees() {
    for (name, low, high) in [
        ("b_incast_2to1_10MB", 2_081_000, 2_150_400),
        ("b_incast_8to1_10MB", 7_370_200, 7_564_300),
        ("b_incast_8to1_10MB_paper", 6_372_700, 6_645_700),
        ("c_leafspine8x16x8_100g_up400g_incast8victim10MB", 6_700_000, 6_839_100),
        ("d_leafspine8x16x8_400g_up400g_incast8victim10MB", 2_244_500, 2_290_100),
    ] {
        let mut all = Vec::new();
        for seed in 1..=6 {
            let (plan, outcome) = simulate(name, seed);
            all.extend(sorted(&ours(&plan, &outcome)));
        }
        let mean = all.iter().sum::<u64>() / all.len() as u64;
        assert!((low..=high).contains(&mean), "{name}: mean {mean} ns, band {low} to {high}");
    }
}
