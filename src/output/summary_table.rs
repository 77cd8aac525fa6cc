//! The columns of `summary.csv`: one row for all flows and the fabric, then one a traffic group.

use crate::metrics::{Distribution, FabricSummary, GroupSummary, Metrics};
use crate::output::columns::group_name;
use crate::output::table::{Column, boolean, decimal, integer, put, put_some, put_some_fixed, text};

/// A row of `summary.csv`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryRow {
    /// The flows.
    pub group: GroupSummary,
    /// The fabric, in the row of all flows only.
    pub fabric: Option<FabricSummary>,
}

impl SummaryRow {
    /// The rows of a run.
    #[must_use]
    pub fn rows(metrics: &Metrics) -> Vec<Self> {
        let all = Self { group: metrics.all.clone(), fabric: Some(metrics.fabric.clone()) };
        let groups = metrics.groups.iter().map(|g| Self { group: g.clone(), fabric: None });
        std::iter::once(all).chain(groups).collect()
    }

    fn fct(&self, f: fn(&Distribution) -> u64) -> Option<u64> {
        self.group.fct_ps.as_ref().map(f)
    }

    fn slowdown(&self, f: fn(&Distribution) -> u64) -> Option<u64> {
        self.group.slowdown_millionths.as_ref().map(f)
    }

    fn goodput(&self, f: fn(&Distribution) -> u64) -> Option<u64> {
        self.group.goodput_kbps.as_ref().map(f)
    }

    fn fabric(&self, f: fn(&FabricSummary) -> u64) -> Option<u64> {
        self.fabric.as_ref().map(f)
    }
}

/// Columns of `summary.csv`. Percentiles are by nearest rank, over the flows that are done.
pub static SUMMARY: &[Column<SummaryRow>] = &[
    text("scope", "all (all flows, and the fabric) or group.", |_, r, o| {
        o.push_str(if r.group.group.is_some() { "group" } else { "all" });
    }),
    text("group", "Traffic group; empty for all.", |p, r, o| o.push_str(group_name(p, r.group.group))),
    integer("flows", "flows", "Number of flows.", |_, r, o| put(o, r.group.flows)),
    integer("flows_done", "flows", "Flows done.", |_, r, o| put(o, r.group.done)),
    integer("flows_failed", "flows", "Flows that gave up after too many timeouts.", |_, r, o| put(o, r.group.failed)),
    integer("flows_running", "flows", "Flows released and not finished.", |_, r, o| put(o, r.group.running)),
    integer("flows_waiting", "flows", "Flows never released.", |_, r, o| put(o, r.group.waiting)),
    integer("offered_bytes", "bytes", "Size of all flows.", |_, r, o| put(o, r.group.offered_bytes)),
    integer("done_bytes", "bytes", "Size of the flows done.", |_, r, o| put(o, r.group.done_bytes)),
    integer("makespan_ps", "ps", "First release to last completion.", |_, r, o| put_some(o, r.group.makespan_ps)),
    decimal("aggregate_goodput_gbps", "Gb/s", "Bits of done_bytes / makespan_ps.", |_, r, o| {
        put_some_fixed(o, r.group.aggregate_goodput_kbps, 6);
    }),
    integer("fct_mean_ps", "ps", "Mean flow completion time.", |_, r, o| put_some(o, r.fct(|d| d.mean))),
    integer("fct_p50_ps", "ps", "Median flow completion time.", |_, r, o| put_some(o, r.fct(|d| d.p50))),
    integer("fct_p90_ps", "ps", "90th percentile.", |_, r, o| put_some(o, r.fct(|d| d.p90))),
    integer("fct_p95_ps", "ps", "95th percentile.", |_, r, o| put_some(o, r.fct(|d| d.p95))),
    integer("fct_p99_ps", "ps", "99th percentile.", |_, r, o| put_some(o, r.fct(|d| d.p99))),
    integer("fct_p999_ps", "ps", "99.9th percentile.", |_, r, o| put_some(o, r.fct(|d| d.p999))),
    integer("fct_max_ps", "ps", "Longest flow completion time.", |_, r, o| put_some(o, r.fct(|d| d.max))),
    decimal("slowdown_mean", "1", "Mean of fct / ideal fct.", |_, r, o| put_some_fixed(o, r.slowdown(|d| d.mean), 6)),
    decimal("slowdown_p50", "1", "Median of fct / ideal fct.", |_, r, o| put_some_fixed(o, r.slowdown(|d| d.p50), 6)),
    decimal("slowdown_p90", "1", "90th percentile.", |_, r, o| put_some_fixed(o, r.slowdown(|d| d.p90), 6)),
    decimal("slowdown_p95", "1", "95th percentile.", |_, r, o| put_some_fixed(o, r.slowdown(|d| d.p95), 6)),
    decimal("slowdown_p99", "1", "99th percentile.", |_, r, o| put_some_fixed(o, r.slowdown(|d| d.p99), 6)),
    decimal("slowdown_p999", "1", "99.9th percentile.", |_, r, o| put_some_fixed(o, r.slowdown(|d| d.p999), 6)),
    decimal("slowdown_max", "1", "Largest.", |_, r, o| put_some_fixed(o, r.slowdown(|d| d.max), 6)),
    decimal("goodput_mean_gbps", "Gb/s", "Mean goodput of a flow.", |_, r, o| {
        put_some_fixed(o, r.goodput(|d| d.mean), 6);
    }),
    decimal("goodput_p50_gbps", "Gb/s", "Median goodput of a flow.", |_, r, o| {
        put_some_fixed(o, r.goodput(|d| d.p50), 6);
    }),
    decimal("goodput_p05_gbps", "Gb/s", "5th percentile.", |_, r, o| put_some_fixed(o, r.goodput(|d| d.p05), 6)),
    decimal("goodput_p01_gbps", "Gb/s", "1st percentile.", |_, r, o| put_some_fixed(o, r.goodput(|d| d.p01), 6)),
    decimal("goodput_p001_gbps", "Gb/s", "0.1th percentile.", |_, r, o| put_some_fixed(o, r.goodput(|d| d.p001), 6)),
    decimal("goodput_min_gbps", "Gb/s", "Smallest.", |_, r, o| put_some_fixed(o, r.goodput(|d| d.min), 6)),
    decimal("goodput_max_gbps", "Gb/s", "Largest.", |_, r, o| put_some_fixed(o, r.goodput(|d| d.max), 6)),
    decimal("goodput_jain", "1", "Jain's fairness index of the goodputs.", |_, r, o| {
        put_some_fixed(o, r.group.jain_millionths, 6);
    }),
    integer("tx_packets", "packets", "Data packets sent.", |_, r, o| put(o, r.group.tx_packets)),
    integer("retx_packets", "packets", "Retransmissions among tx_packets.", |_, r, o| put(o, r.group.retx_packets)),
    integer("packet_seq_err", "1", "NAKs and SACKs handled by senders.", |_, r, o| put(o, r.group.naks)),
    integer("local_ack_timeout_err", "1", "Expired retransmission timers.", |_, r, o| put(o, r.group.timeouts)),
    integer("out_of_sequence", "packets", "Data packets ahead of the expected one.", |_, r, o| {
        put(o, r.group.out_of_sequence);
    }),
    integer("duplicate_request", "packets", "Data packets that receivers had already.", |_, r, o| {
        put(o, r.group.duplicates);
    }),
    integer("np_ecn_marked_roce_packets", "packets", "CE-marked data packets seen by receivers.", |_, r, o| {
        put(o, r.group.ecn_marked_received);
    }),
    integer("np_cnp_sent", "1", "CNPs (or CNP flags) sent by receivers.", |_, r, o| put(o, r.group.cnps_sent)),
    integer("rp_cnp_handled", "1", "CNPs (or CNP flags) handled by senders.", |_, r, o| put(o, r.group.cnps_handled)),
    integer("end_ps", "ps", "Simulated time. This and all further columns: in the row all only.", |_, r, o| {
        put_some(o, r.fabric(|f| f.end_ps));
    }),
    boolean("stopped", "True if events were left at the end.", |_, r, o| {
        put_some(o, r.fabric.as_ref().map(|f| f.stopped));
    }),
    integer("packet_hops", "packets", "Frames of any kind that arrived over a link.", |_, r, o| {
        put_some(o, r.fabric(|f| f.packet_hops));
    }),
    integer("pfc_pause_sent", "frames", "PFC frames sent to stop a peer (XOFF).", |_, r, o| {
        put_some(o, r.fabric(|f| f.xoff_sent));
    }),
    integer("pfc_resume_sent", "frames", "PFC frames sent to let a peer go on (XON).", |_, r, o| {
        put_some(o, r.fabric(|f| f.xon_sent));
    }),
    integer("pfc_pause_duration_ps", "ps", "Time paused, summed over port queues.", |_, r, o| {
        put_some(o, r.fabric(|f| f.paused_ps));
    }),
    integer("pfc_pause_duration_max_ps", "ps", "Time the most paused port queue was paused.", |_, r, o| {
        put_some(o, r.fabric(|f| f.most_paused.map_or(0, |p| p.value)));
    }),
    integer("pfc_paused_queues", "queues", "Port queues that were paused.", |_, r, o| {
        put_some(o, r.fabric(|f| f.paused_queues));
    }),
    integer("ecn_marked_packets", "packets", "Frames marked CE by switches.", |_, r, o| {
        put_some(o, r.fabric(|f| f.ecn_marked_packets));
    }),
    integer("discard_packets", "packets", "Frames dropped for want of buffer.", |_, r, o| {
        put_some(o, r.fabric(|f| f.discard_packets));
    }),
    integer("lossless_discard_packets", "packets", "Those of lossless classes among them.", |_, r, o| {
        put_some(o, r.fabric(|f| f.lossless_discard_packets));
    }),
    integer("discard_bytes", "bytes", "Frame bytes of discard_packets.", |_, r, o| {
        put_some(o, r.fabric(|f| f.discard_bytes));
    }),
    integer("lost_packets", "packets", "Frames lost on links.", |_, r, o| put_some(o, r.fabric(|f| f.lost_packets))),
    integer("q_watermark_bytes", "bytes", "Largest egress queue of a switch.", |_, r, o| {
        put_some(o, r.fabric(|f| f.largest_queue.map_or(0, |p| p.value)));
    }),
    integer("pg_headroom_watermark_bytes", "bytes", "Largest headroom use.", |_, r, o| {
        put_some(o, r.fabric(|f| f.largest_headroom.map_or(0, |p| p.value)));
    }),
    decimal("utilization_mean_frac", "1", "Utilization, mean over all directions of all links.", |_, r, o| {
        put_some_fixed(o, r.fabric(|f| f.mean_utilization_millionths), 6);
    }),
    decimal("utilization_max_frac", "1", "Utilization of the busiest direction of a link.", |_, r, o| {
        put_some_fixed(o, r.fabric(|f| f.busiest_link.map_or(0, |p| p.value)), 6);
    }),
];
