//! Flows and queues brought down to a few numbers.

use crate::metrics::ports::on_switch;
use crate::metrics::{Distribution, FlowRow, LinkRow, QueueRow, jain_millionths, scaled_ratio};
use crate::outcome::{FlowStatus, Outcome};
use crate::plan::Plan;

/// Flows of one traffic group, or all flows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupSummary {
    /// Group, an index into the plan's groups; `None` = all flows.
    pub group: Option<usize>,
    /// Number of flows.
    pub flows: u64,
    /// Flows whose last acknowledgement came back.
    pub done: u64,
    /// Flows that gave up after too many timeouts.
    pub failed: u64,
    /// Flows released and not finished.
    pub running: u64,
    /// Flows never released.
    pub waiting: u64,
    /// Size of all flows (bytes).
    pub offered_bytes: u64,
    /// Size of the flows that are done (bytes).
    pub done_bytes: u64,
    /// From the first release to the last completion (ps).
    pub makespan_ps: Option<u64>,
    /// Bits done over makespan (kb/s).
    pub aggregate_goodput_kbps: Option<u64>,
    /// Completion times (ps) of flows that are done.
    pub fct_ps: Option<Distribution>,
    /// Slowdowns \[millionths\] of flows that are done.
    pub slowdown_millionths: Option<Distribution>,
    /// Goodputs (kb/s) of flows that are done.
    pub goodput_kbps: Option<Distribution>,
    /// Jain's fairness index of the goodputs \[millionths\].
    pub jain_millionths: Option<u64>,
    /// Data packets sent.
    pub tx_packets: u64,
    /// Retransmissions among them.
    pub retx_packets: u64,
    /// Expired retransmission timers.
    pub timeouts: u64,
    /// NAKs and SACKs handled by senders.
    pub naks: u64,
    /// CNPs sent by receivers.
    pub cnps_sent: u64,
    /// CNPs handled by senders.
    pub cnps_handled: u64,
    /// CE-marked data packets seen by receivers.
    pub ecn_marked_received: u64,
    /// Data packets ahead of what receivers expected.
    pub out_of_sequence: u64,
    /// Data packets that receivers had already.
    pub duplicates: u64,
}

/// A queue and the value found there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Port (case index).
    pub port: usize,
    /// Class (case index); `None` where the value is of the whole port.
    pub class: Option<usize>,
    /// The value, in the unit of the field that holds the place.
    pub value: u64,
}

/// The network as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FabricSummary {
    /// Simulated time (ps).
    pub end_ps: u64,
    /// True if events were left at the end.
    pub stopped: bool,
    /// Frames of any kind that arrived over a link.
    pub packet_hops: u64,
    /// PFC frames sent to stop a peer.
    pub xoff_sent: u64,
    /// PFC frames sent to let it go on.
    pub xon_sent: u64,
    /// Port queues that were paused at least once.
    pub paused_queues: u64,
    /// Port queues that PFC can pause.
    pub lossless_queues: u64,
    /// Time paused, summed over port queues (ps).
    pub paused_ps: u64,
    /// The queue paused longest in total (ps).
    pub most_paused: Option<Place>,
    /// Frames marked CE by switches.
    pub ecn_marked_packets: u64,
    /// Frames dropped on admission.
    pub discard_packets: u64,
    /// Frame bytes dropped on admission.
    pub discard_bytes: u64,
    /// Frames of lossless classes among those dropped.
    pub lossless_discard_packets: u64,
    /// Frames lost on links.
    pub lost_packets: u64,
    /// The largest egress queue of a switch (bytes).
    pub largest_queue: Option<Place>,
    /// The largest headroom use (bytes).
    pub largest_headroom: Option<Place>,
    /// Busy time of all channels over simulated time \[millionths\].
    pub mean_utilization_millionths: u64,
    /// The busiest channel \[millionths\].
    pub busiest_link: Option<Place>,
}

/// Summary of one group, or of all flows.
pub(super) fn group(rows: &[FlowRow], group: Option<usize>) -> GroupSummary {
    let rows: Vec<&FlowRow> = rows.iter().filter(|r| group.is_none() || r.group == group).collect();
    let mut s = GroupSummary { group, flows: count(rows.len()), ..GroupSummary::default() };
    for row in &rows {
        s.add(row);
    }
    let first = rows.iter().filter(|r| r.released()).map(|r| r.outcome.start_ps).min();
    let last = rows.iter().filter(|r| r.fct_ps.is_some()).filter_map(|r| r.outcome.finish_ps).max();
    s.makespan_ps = first.zip(last).map(|(a, b)| b.saturating_sub(a));
    s.aggregate_goodput_kbps = s.makespan_ps.and_then(|t| scaled_ratio(u128::from(s.done_bytes) * 8, u128::from(t), 1_000_000_000));
    s.fct_ps = Distribution::of(rows.iter().filter_map(|r| r.fct_ps).collect());
    s.slowdown_millionths = Distribution::of(rows.iter().filter_map(|r| r.slowdown_millionths).collect());
    let goodputs: Vec<u64> = rows.iter().filter_map(|r| r.goodput_kbps).collect();
    s.jain_millionths = jain_millionths(&goodputs);
    s.goodput_kbps = Distribution::of(goodputs);
    s
}

impl GroupSummary {
    fn add(&mut self, row: &FlowRow) {
        let o = &row.outcome;
        match o.status {
            FlowStatus::Waiting => self.waiting += 1,
            FlowStatus::Running => self.running += 1,
            FlowStatus::Done => self.done += 1,
            FlowStatus::Failed => self.failed += 1,
        }
        self.offered_bytes += row.size_bytes;
        if o.status == FlowStatus::Done {
            self.done_bytes += row.size_bytes;
        }
        self.tx_packets += o.tx_packets;
        self.retx_packets += o.retx_packets;
        self.timeouts += u64::from(o.timeouts);
        self.naks += u64::from(o.naks);
        self.cnps_sent += u64::from(o.cnps_sent);
        self.cnps_handled += u64::from(o.cnps_handled);
        self.ecn_marked_received += u64::from(o.ecn_marked);
        self.out_of_sequence += u64::from(o.out_of_sequence);
        self.duplicates += u64::from(o.duplicates);
    }
}

/// Summary of the network.
pub(super) fn fabric(plan: &Plan, outcome: &Outcome, queues: &[QueueRow], links: &[LinkRow]) -> FabricSummary {
    let lossless = |q: &&QueueRow| q.class.is_some_and(|c| plan.case.classes[c].lossless);
    let place = |q: &QueueRow, value| Place { port: q.port, class: q.class, value };
    let data = || queues.iter().filter(|q| q.class.is_some());
    let on_switches = || data().filter(|q| on_switch(plan, q.port));
    let total = |f: fn(&QueueRow) -> u64| queues.iter().map(f).sum::<u64>();
    let busy: u128 = links.iter().map(|l| u128::from(l.utilization_millionths)).sum();
    FabricSummary {
        end_ps: outcome.end_ps,
        stopped: outcome.stopped,
        packet_hops: total(|q| q.outcome.rx_packets),
        xoff_sent: total(|q| q.outcome.xoff_sent),
        xon_sent: total(|q| q.outcome.xon_sent),
        paused_queues: count(data().filter(|q| q.outcome.paused_ps > 0).count()),
        lossless_queues: count(data().filter(lossless).count()),
        paused_ps: total(|q| q.outcome.paused_ps),
        most_paused: largest(data().map(|q| place(q, q.outcome.paused_ps))),
        ecn_marked_packets: total(|q| q.outcome.marked_packets),
        discard_packets: total(|q| q.outcome.drop_packets),
        discard_bytes: total(|q| q.outcome.drop_bytes),
        lossless_discard_packets: data().filter(lossless).map(|q| q.outcome.drop_packets).sum(),
        lost_packets: links.iter().map(|l| l.lost_packets).sum(),
        largest_queue: largest(on_switches().map(|q| place(q, u64::from(q.outcome.max_queue_bytes)))),
        largest_headroom: largest(on_switches().map(|q| place(q, u64::from(q.outcome.max_headroom_bytes)))),
        mean_utilization_millionths: u128::try_from(links.len()).ok().and_then(|n| scaled_ratio(busy, n, 1)).unwrap_or(0),
        busiest_link: largest(links.iter().map(|l| Place { port: l.port, class: None, value: l.utilization_millionths })),
    }
}

/// The first of the largest places; `None` if all are zero.
fn largest(places: impl Iterator<Item = Place>) -> Option<Place> {
    places.filter(|p| p.value > 0).reduce(|best, p| if p.value > best.value { p } else { best })
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Metrics, testing};

    #[test]
    fn groups_split_what_all_adds_up() {
        let (plan, outcome) = testing::pair();
        let m = Metrics::new(&plan, &outcome).expect("shape fits");
        let counts = |s: &GroupSummary| [s.flows, s.done, s.failed, s.running, s.waiting];
        assert_eq!(counts(&m.all), [4, 2, 1, 1, 0]);
        assert_eq!(counts(&m.groups[0]), [2, 1, 1, 0, 0]);
        assert_eq!(counts(&m.groups[1]), [2, 1, 0, 1, 0]);
        assert_eq!(m.all.retx_packets, m.groups.iter().map(|g| g.retx_packets).sum::<u64>());
        assert_eq!(m.all.retx_packets, 3);
    }

    #[test]
    fn the_makespan_runs_from_the_first_release_to_the_last_completion() {
        let (plan, outcome) = testing::pair();
        let m = Metrics::new(&plan, &outcome).expect("shape fits");
        assert_eq!(m.all.makespan_ps, Some(2_000_000));
        // 10,000 + 5,000 bytes in 2 us.
        assert_eq!(m.all.aggregate_goodput_kbps, Some(60_000_000));
    }

    #[test]
    fn the_fabric_names_the_worst_places() {
        let (plan, outcome) = testing::pair();
        let f = Metrics::new(&plan, &outcome).expect("shape fits").fabric;
        assert_eq!(f.largest_queue, Some(Place { port: 3, class: Some(0), value: 4_000 }));
        assert_eq!(f.most_paused, Some(Place { port: 0, class: Some(0), value: 300_000 }));
        assert_eq!((f.paused_queues, f.lossless_queues), (1, 4));
        assert_eq!((f.xoff_sent, f.xon_sent, f.discard_packets, f.lossless_discard_packets, f.lost_packets), (2, 1, 1, 1, 1));
        assert_eq!(f.packet_hops, 20);
        assert_eq!(f.ecn_marked_packets, 5);
    }

    #[test]
    fn nothing_happened_is_no_place_at_all() {
        let (plan, _) = testing::pair();
        let m = Metrics::new(&plan, &testing::idle(&plan)).expect("shape fits");
        assert_eq!((m.fabric.largest_queue, m.fabric.busiest_link, m.all.fct_ps), (None, None, None));
        assert_eq!(m.all.waiting, 4);
    }
}
