//! Rows of queues and links.

use crate::case::NodeKind;
use crate::metrics::{MILLION, scaled_ratio};
use crate::outcome::{Outcome, QueueOutcome};
use crate::plan::Plan;

/// One queue of one port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueRow {
    /// Port (case index).
    pub port: usize,
    /// Class (case index); `None` is the control queue of PFC frames.
    pub class: Option<usize>,
    /// Egress queue averaged over the simulated time \[bytes / 1000\].
    pub mean_queue_millibytes: u64,
    /// Counters of the queue.
    pub outcome: QueueOutcome,
}

/// One outgoing channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkRow {
    /// Port that sends (case index).
    pub port: usize,
    /// Frames sent, PFC frames included.
    pub tx_packets: u64,
    /// Frame bytes sent.
    pub tx_bytes: u64,
    /// Bytes sent with preamble and gap.
    pub tx_wire_bytes: u64,
    /// Time the channel was sending (ps).
    pub busy_ps: u64,
    /// Busy time over simulated time \[millionths\], at most one.
    pub utilization_millionths: u64,
    /// Frames lost on the way.
    pub lost_packets: u64,
    /// Counters that InfiniBand ports have.
    pub infiniband: Option<PortCounters>,
}

/// Counters of an InfiniBand port, all lanes together, without flow control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PortCounters {
    /// Frame bytes sent.
    pub xmit_data_bytes: u64,
    /// Frame bytes received.
    pub rcv_data_bytes: u64,
    /// Time with frames queued and none sent (ps).
    pub xmit_wait_ps: u64,
    /// Frames dropped on their way out here.
    pub xmit_discards: u64,
    /// Frames that came in here and could not be forwarded.
    pub relay_errors: u64,
    /// Frames marked here.
    pub fecn_marked: u64,
}

/// The counters of one port; `None` for Ethernet.
fn port_counters(outcome: &Outcome, port: usize, queues: &[QueueOutcome]) -> Option<PortCounters> {
    let xmit_wait_ps = *outcome.xmit_wait_ps.get(port)?;
    let sum = |f: &dyn Fn(&QueueOutcome) -> u64| queues.iter().skip(1).map(f).sum::<u64>();
    let xmit_discards = sum(&|q| q.hoq_drop_packets);
    Some(PortCounters {
        xmit_data_bytes: sum(&|q| q.tx_bytes),
        rcv_data_bytes: sum(&|q| q.rx_bytes),
        xmit_wait_ps,
        xmit_discards,
        relay_errors: sum(&|q| q.drop_packets) - xmit_discards,
        fecn_marked: sum(&|q| q.marked_packets),
    })
}

/// True if the port belongs to a switch.
pub(super) fn on_switch(plan: &Plan, port: usize) -> bool {
    let node = usize::try_from(plan.case.ports[port].node).unwrap_or(usize::MAX);
    plan.case.nodes.get(node).is_some_and(|n| n.kind == NodeKind::Switch)
}

pub(super) fn queue_rows(plan: &Plan, outcome: &Outcome) -> Vec<QueueRow> {
    let stride = plan.case.classes.len() + 1;
    let rows = outcome.queues.iter().enumerate().map(|(i, queue)| QueueRow {
        port: i / stride,
        class: (i % stride).checked_sub(1),
        mean_queue_millibytes: scaled_ratio(queue.queue_byte_ps, u128::from(outcome.end_ps), 1000).unwrap_or(0),
        outcome: *queue,
    });
    rows.collect()
}

pub(super) fn link_rows(plan: &Plan, outcome: &Outcome) -> Vec<LinkRow> {
    let stride = plan.case.classes.len() + 1;
    let queues = outcome.queues.chunks(stride).zip(&outcome.lost_packets);
    queues
        .enumerate()
        .map(|(port, (queues, lost))| LinkRow {
            infiniband: port_counters(outcome, port, queues),
            ..link_row(plan, outcome.end_ps, port, queues, *lost)
        })
        .collect()
}

fn link_row(plan: &Plan, end_ps: u64, port: usize, queues: &[QueueOutcome], lost_packets: u64) -> LinkRow {
    let tx_packets: u64 = queues.iter().map(|q| q.tx_packets).sum();
    let tx_bytes: u64 = queues.iter().map(|q| q.tx_bytes).sum();
    let tx_wire_bytes = tx_bytes + tx_packets * u64::from(plan.case.rules.gap_bytes);
    let byte_time = u128::from(plan.case.ports[port].byte_time_q16);
    let busy_ps = u64::try_from((u128::from(tx_wire_bytes) * byte_time) >> 16).unwrap_or(u64::MAX);
    let utilization = scaled_ratio(u128::from(busy_ps), u128::from(end_ps), MILLION).unwrap_or(0);
    LinkRow {
        port,
        tx_packets,
        tx_bytes,
        tx_wire_bytes,
        busy_ps,
        // The last frame may still be on its way out at the end.
        utilization_millionths: utilization.min(MILLION),
        lost_packets,
        infiniband: None,
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::{Metrics, testing};

    #[test]
    fn a_link_adds_up_its_queues_and_the_gaps_between_frames() {
        let (plan, outcome) = testing::pair();
        let metrics = Metrics::new(&plan, &outcome).expect("shape fits");
        let link = metrics.links[0];
        assert_eq!((link.tx_packets, link.tx_bytes), (11, 10_064));
        assert_eq!(link.tx_wire_bytes, 10_064 + 11 * 20);
        // 100 Gb/s: 80 ps a byte.
        assert_eq!(link.busy_ps, (10_064 + 220) * 80);
        assert_eq!(link.utilization_millionths, 411_360);
        assert_eq!(link.lost_packets, 1);
    }

    #[test]
    fn the_mean_queue_is_the_integral_over_the_time() {
        let (plan, outcome) = testing::pair();
        let metrics = Metrics::new(&plan, &outcome).expect("shape fits");
        let row = metrics.queues[3 * 2 + 1];
        assert_eq!((row.port, row.class), (3, Some(0)));
        assert_eq!(row.mean_queue_millibytes, 1_500_500);
    }

    #[test]
    fn an_outcome_of_another_case_is_an_internal_error() {
        let (plan, mut outcome) = testing::pair();
        outcome.queues.pop();
        let error = Metrics::new(&plan, &outcome).expect_err("one queue is missing");
        assert_eq!(error.exit_code(), 70);
    }
}
