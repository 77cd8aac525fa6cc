//! Named cases do what their names say, so that equality means something.

use crate::{built_in, go, named};
use fabricsim::outcome::{FlowOutcome, FlowStatus, Outcome, QueueOutcome};

fn flows(o: &Outcome, f: impl Fn(&FlowOutcome) -> u64) -> u64 {
    o.flows.iter().map(f).sum()
}

fn queues(o: &Outcome, f: impl Fn(&QueueOutcome) -> u64) -> u64 {
    o.queues.iter().map(f).sum()
}

fn pauses(o: &Outcome) -> bool {
    queues(o, |q| q.xoff_received) > 3 && queues(o, |q| q.xon_received) > 0 && queues(o, |q| q.paused_ps) > 1_000_000
}

fn drops(o: &Outcome) -> bool {
    queues(o, |q| q.drop_packets) > 3 && flows(o, |f| f.retx_packets) > 3
}

fn losses(o: &Outcome) -> bool {
    o.lost_packets.iter().sum::<u64>() > 3 && flows(o, |f| f.retx_packets) > 3
}

fn cuts(o: &Outcome) -> bool {
    flows(o, |f| f.cnps_handled.into()) > 3 && o.flows.iter().any(|f| f.alpha_q32 > 0) && flows(o, |f| f.rate_kbps.into()) > 0
}

fn done(o: &Outcome) -> bool {
    o.flows.iter().all(|f| f.status == FlowStatus::Done && f.finish_ps >= f.receive_ps) && !o.stopped
}

type Expectation = (&'static str, fn(&Outcome) -> bool);

/// Prefix of names, and what all of these cases show.
const EXPECTED: [Expectation; 42] = [
    ("single_flow", |o| done(o) && o.flows[0].tx_packets == 25),
    ("one_byte", |o| done(o) && o.flows[0].tx_packets == 1 && o.flows[0].start_ps == 5_000_000),
    ("no_flows", |o| o.end_ps == 0),
    ("back_to_back", done),
    ("equal_times", done),
    ("two_tiers", done),
    ("mtu_256", |o| done(o) && flows(o, |f| f.tx_packets) == 4 * 157),
    ("line_", done),
    ("pfc_", |o| done(o) && pauses(o)),
    ("pfc_storm", |o| queues(o, |q| q.xoff_sent) > 20),
    ("tiny_headroom", |o| pauses(o) && drops(o) && done(o)),
    ("tiny_buffers", pauses),
    ("no_shared_pool", pauses),
    ("reserve", |o| pauses(o) && done(o)),
    ("xon_gap", |o| pauses(o) && done(o)),
    ("large_alpha", |o| done(o) && queues(o, |q| q.max_queue_bytes.into()) > 80_000),
    ("tail_drop", |o| drops(o) && flows(o, |f| f.naks.into()) > 0),
    ("go_back_zero", losses),
    ("random_loss", |o| losses(o) && done(o)),
    ("drop_every", losses),
    ("nak_interval", |o| flows(o, |f| f.naks.into()) > 2),
    ("retry_limit", |o| o.flows.iter().any(|f| f.status == FlowStatus::Failed && f.timeouts == 3)),
    ("two_classes", |o| done(o) && pauses(o)),
    ("strict_over", done),
    ("three_weighted", done),
    ("seven_classes", done),
    ("pinned_paths", done),
    ("parallel_links", |o| done(o) && o.queues.iter().filter(|q| q.tx_packets > 0).count() > 20),
    ("many_paths", done),
    ("mixed_rates", |o| done(o) && queues(o, |q| q.max_queue_bytes.into()) > 50_000),
    ("cut_through", done),
    ("chain", done),
    ("stopped", |o| o.stopped && o.flows.iter().any(|f| f.status == FlowStatus::Running)),
    ("slow_", |o| done(o) && o.end_ps > 9_000_000_000),
    ("slow_flows", |o| flows(o, |f| f.cnps_handled.into()) > 0 && o.end_ps > 40_000_000_000),
    ("long_idle", |o| done(o) && o.end_ps > 8_000_000_000),
    ("ack_ignores_pause", |o| done(o) && losses(o)),
    ("ack_flag", cuts),
    ("dcqcn", cuts),
    ("window_variable", |o| cuts(o) && done(o)),
    ("short_rto", |o| flows(o, |f| f.timeouts.into()) > 3),
    ("ns3_style", |o| queues(o, |q| q.xoff_received) > 0 && cuts(o)),
];

#[test]
fn named_cases_show_what_they_name() {
    let outcomes: Vec<(&str, Outcome)> =
        named::named().iter().map(|(name, case)| (*name, go(case, &built_in()).expect("runs").outcome)).collect();
    let names: std::collections::BTreeSet<&str> = outcomes.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), outcomes.len(), "names are unique");
    assert!(names.len() >= 42, "{} cases", names.len());
    let mut failures = Vec::new();
    for (prefix, holds) in EXPECTED {
        let mut matching = outcomes.iter().filter(|(name, _)| name.starts_with(prefix)).peekable();
        assert!(matching.peek().is_some(), "no case is called `{prefix}...`");
        failures.extend(matching.filter(|(_, o)| !holds(o)).map(|(name, o)| {
            let sums = [
                ("xoff", queues(o, |q| q.xoff_received)),
                ("drops", queues(o, |q| q.drop_packets)),
                ("lost", o.lost_packets.iter().sum()),
                ("resent", flows(o, |f| f.retx_packets)),
                ("timeouts", flows(o, |f| f.timeouts.into())),
                ("naks", flows(o, |f| f.naks.into())),
                ("CNPs", flows(o, |f| f.cnps_handled.into())),
            ];
            let open = o.flows.iter().filter(|f| f.status != FlowStatus::Done).count();
            format!("`{name}` is not what `{prefix}` promises: end {}, {open} flows not done, {sums:?}", o.end_ps)
        }));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
