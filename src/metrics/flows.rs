//! One row a flow.

use crate::metrics::{MILLION, scaled_ratio};
use crate::outcome::{FlowOutcome, FlowStatus, Outcome};
use crate::plan::Plan;

/// What became of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowRow {
    /// Position in the case.
    pub index: usize,
    /// Id that users know.
    pub id: u32,
    /// Traffic group, an index into the plan's groups.
    pub group: Option<usize>,
    /// Message size (bytes).
    pub size_bytes: u64,
    /// Time of the flow alone in the empty fabric (ps).
    pub ideal_fct_ps: Option<u64>,
    /// From release to the last acknowledgement (ps); only of flows that are done.
    pub fct_ps: Option<u64>,
    /// Completion time over ideal completion time \[millionths\].
    pub slowdown_millionths: Option<u64>,
    /// Message bits over completion time (kb/s).
    pub goodput_kbps: Option<u64>,
    /// Counters of the flow.
    pub outcome: FlowOutcome,
}

impl FlowRow {
    /// True once the flow was released.
    #[must_use]
    pub fn released(&self) -> bool {
        self.outcome.status != FlowStatus::Waiting
    }
}

/// Rows of all flows, by id.
pub(super) fn rows(plan: &Plan, outcome: &Outcome) -> Vec<FlowRow> {
    let mut rows: Vec<FlowRow> = (0..plan.case.flows.len()).map(|i| row(plan, &outcome.flows[i], i)).collect();
    rows.sort_by_key(|r| r.id);
    rows
}

fn row(plan: &Plan, outcome: &FlowOutcome, index: usize) -> FlowRow {
    let spec = &plan.case.flows[index];
    let done = outcome.status == FlowStatus::Done;
    let fct_ps = outcome.finish_ps.filter(|_| done).map(|t| t.saturating_sub(outcome.start_ps));
    let ideal_fct_ps = plan.ideal_fct_ps.get(index).copied().filter(|t| *t > 0);
    let slowdown = |fct: u64| scaled_ratio(u128::from(fct), u128::from(ideal_fct_ps?), MILLION);
    // Bits over picoseconds, times 10^9, are kilobits over seconds.
    let goodput = |fct: u64| scaled_ratio(u128::from(spec.size_bytes) * 8, u128::from(fct), 1_000_000_000);
    FlowRow {
        index,
        id: spec.id,
        group: plan.group_of_flow.get(index).and_then(|g| usize::try_from(*g).ok()),
        size_bytes: spec.size_bytes,
        ideal_fct_ps,
        fct_ps,
        slowdown_millionths: fct_ps.and_then(slowdown),
        goodput_kbps: fct_ps.and_then(goodput),
        outcome: *outcome,
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::{Metrics, testing};

    #[test]
    fn a_done_flow_has_time_slowdown_and_goodput() {
        let (plan, outcome) = testing::pair();
        let metrics = Metrics::new(&plan, &outcome).expect("shape fits");
        let row = metrics.flows.iter().find(|r| r.id == 7).expect("flow 7");
        // 10,000 bytes in 1 us are 80 Gb/s.
        assert_eq!(row.fct_ps, Some(1_000_000));
        assert_eq!(row.slowdown_millionths, Some(1_250_000));
        assert_eq!(row.goodput_kbps, Some(80_000_000));
    }

    #[test]
    fn open_and_failed_flows_have_no_completion_time() {
        let (plan, outcome) = testing::pair();
        let metrics = Metrics::new(&plan, &outcome).expect("shape fits");
        for id in [8, 9] {
            let row = metrics.flows.iter().find(|r| r.id == id).expect("known id");
            assert_eq!((row.fct_ps, row.slowdown_millionths, row.goodput_kbps), (None, None, None), "flow {id}");
        }
    }

    #[test]
    fn rows_are_sorted_by_id() {
        let (plan, outcome) = testing::pair();
        let metrics = Metrics::new(&plan, &outcome).expect("shape fits");
        let ids: Vec<u32> = metrics.flows.iter().map(|r| r.id).collect();
        assert_eq!(ids, [3, 7, 8, 9]);
    }
}
