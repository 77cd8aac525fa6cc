//! The columns of the result tables per flow, port and link. Counters carry the names that adapters and switches use.

use crate::case::NodeKind;
use crate::metrics::{FlowRow, LinkRow, QueueRow};
use crate::outcome::FlowStatus;
use crate::output::table::{Column, boolean, decimal, integer, put, put_fixed, put_some, put_some_fixed, text};
use crate::plan::Plan;

/// Columns of `flows.csv`: one row a flow, by flow id.
pub static FLOWS: &[Column<FlowRow>] = &[
    integer("flow_id", "1", "Id of the flow.", |_, r, o| put(o, r.id)),
    text("group", "Traffic group.", |p, r, o| o.push_str(group_name(p, r.group))),
    text("src", "Source endpoint.", |p, r, o| o.push_str(node_name(p, p.case.flows[r.index].src))),
    text("dst", "Destination endpoint.", |p, r, o| o.push_str(node_name(p, p.case.flows[r.index].dst))),
    integer("priority", "1", "PFC priority of the data packets.", |p, r, o| {
        put_some(o, index(p.case.flows[r.index].class).map(|c| p.case.classes[c].priority));
    }),
    integer("size_bytes", "bytes", "Message size.", |_, r, o| put(o, r.size_bytes)),
    text("status", "waiting (never released), running, done or failed (too many timeouts).", |_, r, o| {
        o.push_str(status_name(r.outcome.status));
    }),
    integer("start_ps", "ps", "Release.", |_, r, o| put_some(o, r.released().then_some(r.outcome.start_ps))),
    integer("receive_ps", "ps", "Last byte in order at the receiver.", |_, r, o| put_some(o, r.outcome.receive_ps)),
    integer("finish_ps", "ps", "Last acknowledgement at the sender, or the failure.", |_, r, o| {
        put_some(o, r.outcome.finish_ps);
    }),
    integer("fct_ps", "ps", "Flow completion time: release to last acknowledgement. Only of flows done.", |_, r, o| {
        put_some(o, r.fct_ps);
    }),
    integer("ideal_fct_ps", "ps", "Flow completion time alone in the empty fabric.", |_, r, o| {
        put_some(o, r.ideal_fct_ps);
    }),
    decimal("slowdown", "1", "fct_ps / ideal_fct_ps.", |_, r, o| put_some_fixed(o, r.slowdown_millionths, 6)),
    decimal("goodput_gbps", "Gb/s", "Message bits / fct_ps.", |_, r, o| put_some_fixed(o, r.goodput_kbps, 6)),
    integer("tx_packets", "packets", "Data packets sent, retransmissions included.", |_, r, o| {
        put(o, r.outcome.tx_packets);
    }),
    integer("retx_packets", "packets", "Retransmissions among tx_packets.", |_, r, o| put(o, r.outcome.retx_packets)),
    integer("received_packets", "packets", "Data packets received in order.", |_, r, o| {
        put(o, r.outcome.received_packets);
    }),
    integer("packet_seq_err", "1", "NAKs and SACKs handled by the sender.", |_, r, o| put(o, r.outcome.naks)),
    integer("local_ack_timeout_err", "1", "Expired retransmission timers.", |_, r, o| put(o, r.outcome.timeouts)),
    integer("out_of_sequence", "packets", "Data packets ahead of the expected one at the receiver.", |_, r, o| {
        put(o, r.outcome.out_of_sequence);
    }),
    integer("duplicate_request", "packets", "Data packets that the receiver had already.", |_, r, o| {
        put(o, r.outcome.duplicates);
    }),
    integer("np_ecn_marked_roce_packets", "packets", "CE-marked data packets seen by the receiver.", |_, r, o| {
        put(o, r.outcome.ecn_marked);
    }),
    integer("np_cnp_sent", "1", "CNPs (or CNP flags) sent by the receiver.", |_, r, o| put(o, r.outcome.cnps_sent)),
    integer("rp_cnp_handled", "1", "CNPs (or CNP flags) handled by the sender.", |_, r, o| {
        put(o, r.outcome.cnps_handled);
    }),
    integer("end_rate_kbps", "kb/s", "Rate of the sender at the end.", |_, r, o| {
        put_some(o, r.released().then_some(r.outcome.rate_kbps));
    }),
    decimal("end_alpha", "1", "DCQCN alpha of the sender at the end.", |_, r, o| {
        put_some_fixed(o, r.released().then(|| alpha_billionths(r.outcome.alpha_q32)), 9);
    }),
    integer("end_ccti", "1", "InfiniBand: congestion control table index at the end.", |_, r, o| put(o, r.outcome.ccti)),
    integer("max_ccti", "1", "InfiniBand: largest congestion control table index.", |_, r, o| put(o, r.outcome.ccti_max)),
];

/// Columns of `ports.csv`: one row a port and queue.
pub static PORTS: &[Column<QueueRow>] = &[
    text("port", "Port, as node/port.", |p, r, o| o.push_str(port_name(p, r.port))),
    text("node_kind", "endpoint or switch.", |p, r, o| o.push_str(kind_name(p, r.port))),
    text("queue", "prioN for the queue of PFC priority N, pfc for the PFC frames themselves; InfiniBand: vlN and fc.", |p, r, o| {
        put_queue(o, p, r.class);
    }),
    integer("tx_prio_packets", "packets", "Frames sent.", |_, r, o| put(o, r.outcome.tx_packets)),
    integer("tx_prio_bytes", "bytes", "Frame bytes sent, without preamble and gap.", |_, r, o| {
        put(o, r.outcome.tx_bytes);
    }),
    integer("rx_prio_packets", "packets", "Frames received.", |_, r, o| put(o, r.outcome.rx_packets)),
    integer("rx_prio_bytes", "bytes", "Frame bytes received.", |_, r, o| put(o, r.outcome.rx_bytes)),
    integer("tx_prio_pause", "frames", "PFC frames sent to stop the peer (XOFF).", |_, r, o| {
        put(o, r.outcome.xoff_sent);
    }),
    integer("tx_prio_resume", "frames", "PFC frames sent to let the peer go on (XON).", |_, r, o| {
        put(o, r.outcome.xon_sent);
    }),
    integer("rx_prio_pause", "frames", "PFC frames received that stop this queue (XOFF).", |_, r, o| {
        put(o, r.outcome.xoff_received);
    }),
    integer("rx_prio_resume", "frames", "PFC frames received that let this queue go on (XON).", |_, r, o| {
        put(o, r.outcome.xon_received);
    }),
    integer("rx_prio_pause_duration_ps", "ps", "Time this queue was paused by the peer.", |_, r, o| {
        put(o, r.outcome.paused_ps);
    }),
    integer("ecn_marked_packets", "packets", "Frames marked CE on leaving here.", |_, r, o| {
        put(o, r.outcome.marked_packets);
    }),
    integer(
        "discard_packets",
        "packets",
        "Frames dropped for want of buffer: those to leave here (lossy class) or that came in here (lossless class).",
        |_, r, o| put(o, r.outcome.drop_packets),
    ),
    integer("discard_bytes", "bytes", "Frame bytes of discard_packets.", |_, r, o| put(o, r.outcome.drop_bytes)),
    integer("q_watermark_bytes", "bytes", "Largest egress queue.", |_, r, o| put(o, r.outcome.max_queue_bytes)),
    decimal("q_mean_bytes", "bytes", "Egress queue averaged over the simulated time.", |_, r, o| {
        put_fixed(o, r.mean_queue_millibytes, 3);
    }),
    integer("pg_headroom_watermark_bytes", "bytes", "Largest headroom use of frames that came in here.", |_, r, o| {
        put(o, r.outcome.max_headroom_bytes);
    }),
    integer("vl_xmit_fc_packets", "packets", "InfiniBand: flow-control packets of this lane sent from here.", |_, r, o| {
        put(o, r.outcome.fc_sent);
    }),
    integer("vl_rcv_fc_packets", "packets", "InfiniBand: flow-control packets of this lane that arrived here.", |_, r, o| {
        put(o, r.outcome.fc_received);
    }),
    integer(
        "vl_buffer_watermark_bytes",
        "bytes",
        "InfiniBand: most of this lane's receive buffer here in use, in blocks of 64.",
        |_, r, o| {
            put(o, 64 * u64::from(r.outcome.max_blocks));
        },
    ),
    integer(
        "sw_hoq_lifetime_limit_discards",
        "packets",
        "InfiniBand: frames dropped at the head of this lane at the end of their lifetime; among discard_packets.",
        |_, r, o| put(o, r.outcome.hoq_drop_packets),
    ),
];

/// Columns of `links.csv`: one row a port, that is one direction of a link.
pub static LINKS: &[Column<LinkRow>] = &[
    text("port", "Port that sends, as node/port.", |p, r, o| o.push_str(port_name(p, r.port))),
    text("peer", "Port that receives.", |p, r, o| {
        o.push_str(index(p.case.ports[r.port].peer).map_or("", |peer| port_name(p, peer)));
    }),
    text("node_kind", "endpoint or switch, of the sending node.", |p, r, o| o.push_str(kind_name(p, r.port))),
    integer("rate_kbps", "kb/s", "Rate of the channel.", |p, r, o| put(o, p.case.ports[r.port].rate_kbps)),
    integer("tx_packets", "packets", "Frames sent, PFC frames included.", |_, r, o| put(o, r.tx_packets)),
    integer("tx_bytes", "bytes", "Frame bytes sent.", |_, r, o| put(o, r.tx_bytes)),
    integer("tx_wire_bytes", "bytes", "Bytes sent with preamble and gap.", |_, r, o| put(o, r.tx_wire_bytes)),
    integer("busy_ps", "ps", "Time the channel was sending.", |_, r, o| put(o, r.busy_ps)),
    decimal("utilization_frac", "1", "busy_ps / simulated time, at most 1.", |_, r, o| {
        put_fixed(o, r.utilization_millionths, 6);
    }),
    integer("lost_packets", "packets", "Frames lost on the link.", |_, r, o| put(o, r.lost_packets)),
    integer(
        "port_xmit_data_bytes",
        "bytes",
        "InfiniBand: frame bytes sent, without flow control (PortXmitData, there in words of 4).",
        |_, r, o| {
            put_some(o, r.infiniband.map(|i| i.xmit_data_bytes));
        },
    ),
    integer("port_rcv_data_bytes", "bytes", "InfiniBand: frame bytes received, without flow control (PortRcvData).", |_, r, o| {
        put_some(o, r.infiniband.map(|i| i.rcv_data_bytes));
    }),
    integer("port_xmit_wait_ps", "ps", "InfiniBand: time with frames queued and none sent, at switches (PortXmitWait).", |_, r, o| {
        put_some(o, r.infiniband.map(|i| i.xmit_wait_ps));
    }),
    integer("port_xmit_wait_ticks", "ns", "The same in ticks; here a tick is 1 ns, in hardware it depends on the device.", |_, r, o| {
        put_some(o, r.infiniband.map(|i| i.xmit_wait_ps / 1000));
    }),
    integer("port_xmit_discards", "packets", "InfiniBand: frames dropped on their way out here (PortXmitDiscards).", |_, r, o| {
        put_some(o, r.infiniband.map(|i| i.xmit_discards));
    }),
    integer("port_rcv_switch_relay_errors", "packets", "InfiniBand: frames that came in here and could not be forwarded.", |_, r, o| {
        put_some(o, r.infiniband.map(|i| i.relay_errors));
    }),
    integer("fecn_marked_packets", "packets", "InfiniBand: frames marked here (FECN).", |_, r, o| {
        put_some(o, r.infiniband.map(|i| i.fecn_marked));
    }),
];

/// A sample of one queue or one flow: a row of `timeseries.csv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleRow {
    /// When (ps).
    pub time_ps: u64,
    /// What was sampled.
    pub of: Sampled,
}

/// What a row of the time series is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampled {
    /// The egress queue of a class at a port.
    Queue(crate::engine::QueueSample),
    /// The sender of a flow.
    Flow(crate::engine::FlowSample),
}

impl SampleRow {
    fn queue(&self) -> Option<&crate::engine::QueueSample> {
        if let Sampled::Queue(q) = &self.of { Some(q) } else { None }
    }

    fn flow(&self) -> Option<&crate::engine::FlowSample> {
        if let Sampled::Flow(f) = &self.of { Some(f) } else { None }
    }
}

/// Columns of `timeseries.csv`: one row a sampled queue or flow and instant; cells of the other kind are empty.
pub static TIMESERIES: &[Column<SampleRow>] = &[
    integer("time_ps", "ps", "Simulated time.", |_, r, o| put(o, r.time_ps)),
    text("port", "Port of the sampled queue, as node/port.", |p, r, o| {
        o.push_str(r.queue().and_then(|q| index(q.port)).map_or("", |port| port_name(p, port)));
    }),
    text("queue", "prioN for the queue of PFC priority N; InfiniBand: vlN.", |p, r, o| {
        if let Some(q) = r.queue() {
            put_queue(o, p, index(q.class));
        }
    }),
    integer("queue_bytes", "bytes", "Egress queue.", |_, r, o| put_some(o, r.queue().map(|q| q.queue_bytes))),
    integer("tx_bytes", "bytes", "Frame bytes sent from the queue since the start.", |_, r, o| {
        put_some(o, r.queue().map(|q| q.tx_bytes));
    }),
    boolean("paused", "True while PFC stops the queue.", |_, r, o| put_some(o, r.queue().map(|q| q.paused))),
    integer("flow_id", "1", "Id of the sampled flow.", |p, r, o| {
        let flow = r.flow().and_then(|f| index(f.flow)).and_then(|f| p.case.flows.get(f));
        put_some(o, flow.map(|f| f.id));
    }),
    integer("rate_kbps", "kb/s", "Rate of the sender.", |_, r, o| put_some(o, r.flow().map(|f| f.rate_kbps))),
    decimal("alpha", "1", "DCQCN alpha of the sender.", |_, r, o| {
        put_some_fixed(o, r.flow().map(|f| alpha_billionths(f.alpha_q32)), 9);
    }),
    integer("acked_packets", "packets", "Packets acknowledged.", |_, r, o| {
        put_some(o, r.flow().map(|f| f.acked_packets));
    }),
    integer("in_flight_packets", "packets", "Packets sent and not acknowledged.", |_, r, o| {
        put_some(o, r.flow().map(|f| f.in_flight_packets));
    }),
];

/// A fraction of 2^32 in whole billionths.
fn alpha_billionths(q32: u32) -> u64 {
    (u64::from(q32) * 1_000_000_000) >> 32
}

fn status_name(status: FlowStatus) -> &'static str {
    match status {
        FlowStatus::Waiting => "waiting",
        FlowStatus::Running => "running",
        FlowStatus::Done => "done",
        FlowStatus::Failed => "failed",
    }
}

fn index(i: u32) -> Option<usize> {
    usize::try_from(i).ok()
}

/// Name of a traffic group, empty if it has none.
pub(super) fn group_name(plan: &Plan, group: Option<usize>) -> &str {
    group.and_then(|g| plan.groups.get(g)).map_or("", String::as_str)
}

fn node_name(plan: &Plan, node: u32) -> &str {
    index(node).and_then(|n| plan.case.nodes.get(n)).map_or("", |n| &n.name)
}

/// Name of a port.
pub(super) fn port_name(plan: &Plan, port: usize) -> &str {
    plan.port_names.get(port).map_or("", String::as_str)
}

fn kind_name(plan: &Plan, port: usize) -> &'static str {
    let node = plan.case.ports.get(port).and_then(|p| index(p.node)).and_then(|n| plan.case.nodes.get(n));
    match node.map(|n| n.kind) {
        Some(NodeKind::Endpoint) => "endpoint",
        Some(NodeKind::Switch) => "switch",
        None => "",
    }
}

/// Writes the name of a queue.
pub(super) fn put_queue(out: &mut String, plan: &Plan, class: Option<usize>) {
    match class.and_then(|c| plan.case.classes.get(c)) {
        Some(class) => {
            out.push_str(if plan.case.credits.is_some() { "vl" } else { "prio" });
            put(out, class.priority);
        }
        None => out.push_str(if plan.case.credits.is_some() { "fc" } else { "pfc" }),
    }
}
