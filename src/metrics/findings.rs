//! What a reader should know before trusting a result.

use crate::metrics::Metrics;
use crate::plan::Plan;

/// Warnings about a finished run, one sentence each; empty if all went as one would expect.
#[must_use]
pub fn findings(plan: &Plan, metrics: &Metrics) -> Vec<String> {
    let mut found = Vec::new();
    let (all, fabric) = (&metrics.all, &metrics.fabric);
    if fabric.lossless_discard_packets > 0 {
        found.push(format!(
            "{} dropped although PFC protects their class: the headroom is too small",
            packets(fabric.lossless_discard_packets)
        ));
    }
    if all.failed > 0 {
        found.push(format!("{} gave up after {} timeouts in a row", flows(all.failed), plan.case.rules.retry_limit));
    }
    if !fabric.stopped && all.running > 0 {
        let cause = if plan.case.rules.rto_ps == 0 && fabric.discard_packets + fabric.lost_packets > 0 {
            "packets were lost and there is no retransmission timeout"
        } else {
            "nothing is left to happen, which is what a deadlock of paused ports looks like"
        };
        found.push(format!("{} never finished: {cause}", flows(all.running)));
    }
    if !fabric.stopped && all.waiting > 0 {
        found.push(format!("{} never released: what they wait for did not happen", flows(all.waiting)));
    }
    if fabric.stopped && all.running + all.waiting > 0 {
        found.push(format!(
            "{} not finished at the end of the simulated time; completion times are of the others only",
            flows(all.running + all.waiting)
        ));
    }
    found
}

fn flows(n: u64) -> String {
    if n == 1 { "1 flow".into() } else { format!("{n} flows") }
}

fn packets(n: u64) -> String {
    if n == 1 { "1 packet was".into() } else { format!("{n} packets were") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing;

    #[test]
    fn drops_failures_and_open_flows_are_told() {
        let (plan, outcome) = testing::pair();
        let metrics = Metrics::new(&plan, &outcome).expect("shape fits");
        let found = findings(&plan, &metrics).join("\n");
        assert_eq!(
            found,
            "1 packet was dropped although PFC protects their class: the headroom is too small\n\
             1 flow gave up after 7 timeouts in a row\n\
             1 flow not finished at the end of the simulated time; completion times are of the others only"
        );
    }

    #[test]
    fn a_silent_stop_is_told() {
        let (plan, _) = testing::pair();
        let mut outcome = testing::idle(&plan);
        outcome.flows[0].status = crate::outcome::FlowStatus::Running;
        let metrics = Metrics::new(&plan, &outcome).expect("shape fits");
        let found = findings(&plan, &metrics);
        assert!(found[0].contains("1 flow never finished: nothing is left to happen"), "{found:?}");
        assert!(found[1].contains("3 flows never released"), "{found:?}");
    }
}
