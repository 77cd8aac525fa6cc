//! One truth: every engine, thread count, window and batch gives the same bytes.
//!
//! The software Vulkan adapter must be there; a test that finds none fails.

mod oracle;
mod parameters;
mod scenarios;

use fabricsim::case::Case;
use fabricsim::engine::{AdapterChoice, Observer, Options, Progress, Sample, Sampling, Silent, run, run_batch};
use fabricsim::error::Error;
use fabricsim::outcome::Outcome;
use proptest::prelude::*;
use scenarios::{Scenario, arbitrary, named};

/// Random scenarios on the built-in adapter; `cargo test -- --ignored` takes many more.
const CASES: u32 = 64;

fn options(adapter: AdapterChoice, threads: usize, window_ps: Option<u32>) -> Options {
    Options { adapter, threads, window_ps, sampling: None }
}

fn outcome(case: &Case, options: &Options) -> Outcome {
    run(case, options, &mut Silent).expect("the case runs").outcome
}

/// Says what differs first.
fn same(name: &str, variant: &str, expected: &Outcome, found: &Outcome) {
    if expected == found {
        return;
    }
    for (i, (a, b)) in expected.flows.iter().zip(&found.flows).enumerate() {
        assert_eq!(a, b, "{name}, {variant}: flow {i}");
    }
    for (i, (a, b)) in expected.queues.iter().zip(&found.queues).enumerate() {
        assert_eq!(a, b, "{name}, {variant}: queue {i} (port * (classes + 1) + class)");
    }
    panic!(
        "{name}, {variant}: lost packets, end or stop differ: {} {} and {} {}",
        expected.end_ps, expected.stopped, found.end_ps, found.stopped
    );
}

/// Runs a case on the built-in adapter in many ways and returns what all of them gave.
fn check_built_in(name: &str, case: &Case) -> Outcome {
    let built_in = |threads, window| outcome(case, &options(AdapterChoice::BuiltIn, threads, window));
    let expected = built_in(1, None);
    same(name, "oracle", &oracle::simulate(case), &expected);
    same(name, "two threads", &expected, &built_in(2, None));
    let lookahead = case.ports.iter().map(|p| p.delay_ps.min(p.pfc_delay_ps)).min().expect("there are ports");
    for part in [2, 7] {
        let window = (lookahead / part).max(1);
        same(name, &format!("window {window} ps"), &expected, &built_in(1, Some(window)));
    }
    expected
}

fn check_vulkan(name: &str, case: &Case, expected: &Outcome) {
    same(name, "software Vulkan adapter", expected, &outcome(case, &options(AdapterChoice::VulkanCpu, 0, None)));
}

/// Named scenarios whose number leaves `part` when divided by 4; tests run side by side.
fn check_part(part: usize) {
    for Scenario { name, case } in named().into_iter().skip(part).step_by(4) {
        let expected = check_built_in(name, &case);
        check_vulkan(name, &case, &expected);
    }
}

#[test]
fn named_scenarios_first_part() {
    check_part(0);
}

#[test]
fn named_scenarios_second_part() {
    check_part(1);
}

#[test]
fn named_scenarios_third_part() {
    check_part(2);
}

#[test]
fn named_scenarios_fourth_part() {
    check_part(3);
}

#[test]
fn there_are_enough_of_them_and_they_do_what_they_say() {
    let all = named();
    assert!(all.len() >= 40, "{}", all.len());
    let mut seen = [0_u64; 8];
    for Scenario { name, case } in &all {
        let o = outcome(case, &options(AdapterChoice::BuiltIn, 1, None));
        let sum = |f: &dyn Fn(&fabricsim::outcome::QueueOutcome) -> u64| o.queues.iter().map(f).sum::<u64>();
        let flows = |f: &dyn Fn(&fabricsim::outcome::FlowOutcome) -> u64| o.flows.iter().map(f).sum::<u64>();
        let marks = [
            sum(&|q| q.xoff_sent),
            sum(&|q| q.drop_packets),
            sum(&|q| q.marked_packets),
            flows(&|f| f.retx_packets),
            flows(&|f| u64::from(f.timeouts)),
            flows(&|f| u64::from(f.cnps_handled)),
            o.lost_packets.iter().sum(),
            u64::from(o.stopped),
        ];
        assert!(sum(&|q| q.rx_packets) > 0, "{name} moves nothing");
        for (total, n) in seen.iter_mut().zip(marks) {
            *total += n;
        }
    }
    assert!(seen.iter().all(|n| *n > 0), "pauses, drops, marks, retransmissions, timeouts, CNPs, losses, stops: {seen:?}");
}

#[test]
fn a_batch_gives_what_its_cases_give_alone() {
    let all = named();
    for adapter in [AdapterChoice::BuiltIn, AdapterChoice::VulkanCpu] {
        let some: Vec<&Case> = all.iter().step_by(9).map(|s| &s.case).collect();
        let reports = run_batch(&some, &options(adapter, 1, None), &mut Silent).expect("the batch runs");
        for (case, report) in some.iter().zip(&reports) {
            same("batch", "one of several", &outcome(case, &options(AdapterChoice::BuiltIn, 1, None)), &report.outcome);
        }
    }
}

#[derive(Default)]
struct Recorder(Vec<Sample>);

impl Observer for Recorder {
    fn progress(&mut self, _: &Progress) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }
    fn sample(&mut self, sample: &Sample) -> Result<(), Error> {
        self.0.push(sample.clone());
        Ok(())
    }
}

#[test]
fn time_series_agree_and_change_nothing() {
    for Scenario { name, case } in named().into_iter().filter(|s| matches!(s.name, "incast" | "pfc storm")) {
        let ports = (16..24).collect();
        let sampling = Sampling { interval_ps: 10_000_000, ports, flows: vec![0, 1] };
        let record = |adapter: AdapterChoice| {
            let mut recorder = Recorder::default();
            let options = Options { sampling: Some(sampling.clone()), ..options(adapter, 1, None) };
            let report = run(&case, &options, &mut recorder).expect("the case runs");
            same(name, "sampled", &outcome(&case, &self::options(AdapterChoice::BuiltIn, 1, None)), &report.outcome);
            recorder.0
        };
        let samples = record(AdapterChoice::BuiltIn);
        assert!(samples.len() > 3, "{name}: {}", samples.len());
        assert!(samples.iter().any(|s| s.queues.iter().any(|q| q.queue_bytes > 10_000)), "{name}: queues are seen");
        assert_eq!(samples, record(AdapterChoice::VulkanCpu), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_scenarios_on_the_built_in_adapter(case in arbitrary()) {
        check_built_in("random", &case);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40 * CASES, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    #[ignore = "takes minutes"]
    fn many_random_scenarios_on_the_built_in_adapter(case in arbitrary()) {
        check_built_in("random", &case);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, max_shrink_iters: 40, ..ProptestConfig::default() })]
    #[test]
    fn random_scenarios_on_the_software_vulkan_adapter(case in arbitrary()) {
        let expected = outcome(&case, &options(AdapterChoice::BuiltIn, 1, None));
        check_vulkan("random", &case, &expected);
    }
}
