//! What a simulation yields: integers per flow and per port and class, the same from every engine.

use serde::Serialize;

/// State of a flow at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum FlowStatus {
    /// Never released.
    #[default]
    Waiting,
    /// Released, not finished.
    Running,
    /// Last acknowledgement received.
    Done,
    /// Retry limit exceeded.
    Failed,
}

/// Result of one flow, in case order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct FlowOutcome {
    /// State at the end.
    pub status: FlowStatus,
    /// Release (ps); meaningless while waiting.
    pub start_ps: u64,
    /// Last acknowledgement at the sender, or the failure (ps).
    pub finish_ps: Option<u64>,
    /// Last in-order byte at the receiver (ps).
    pub receive_ps: Option<u64>,
    /// Data packets sent, retransmissions included.
    pub tx_packets: u64,
    /// Retransmissions among them.
    pub retx_packets: u64,
    /// Expired retransmission timers.
    pub timeouts: u32,
    /// NAKs and SACKs handled by the sender.
    pub naks: u32,
    /// CNPs (or CNP flags) sent by the receiver.
    pub cnps_sent: u32,
    /// CNPs (or CNP flags) handled by the sender.
    pub cnps_handled: u32,
    /// CE-marked data packets seen by the receiver.
    pub ecn_marked: u32,
    /// Data packets ahead of the expected PSN at the receiver.
    pub out_of_sequence: u32,
    /// Data packets behind the expected PSN, or held already.
    pub duplicates: u32,
    /// In-order packets at the receiver.
    pub received_packets: u32,
    /// Sender's rate at the end (kb/s).
    pub rate_kbps: u32,
    /// Sender's alpha at the end (2^-32).
    pub alpha_q32: u32,
    /// InfiniBand: congestion control table index at the end, after all expiries due.
    pub ccti: u32,
    /// InfiniBand: largest CCTI.
    pub ccti_max: u32,
}

/// Result of one class at one port; class 0 is the control queue of PFC frames, class `c + 1` is case class `c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct QueueOutcome {
    /// Frames sent.
    pub tx_packets: u64,
    /// Frame bytes sent (without preamble and gap).
    pub tx_bytes: u64,
    /// Frames received from the link.
    pub rx_packets: u64,
    /// Frame bytes received from the link.
    pub rx_bytes: u64,
    /// Frames marked CE here.
    pub marked_packets: u64,
    /// Frames dropped on admission whose egress is here (lossy) or whose ingress is here (lossless).
    pub drop_packets: u64,
    /// Frame bytes of these.
    pub drop_bytes: u64,
    /// Largest egress queue (bytes).
    pub max_queue_bytes: u32,
    /// Egress queue integrated over time (byte ps).
    pub queue_byte_ps: u128,
    /// Largest headroom use of packets that entered here (bytes).
    pub max_headroom_bytes: u32,
    /// XOFF frames sent from here for this class.
    pub xoff_sent: u64,
    /// XON frames sent.
    pub xon_sent: u64,
    /// XOFF frames that took effect here (stopping this egress).
    pub xoff_received: u64,
    /// XON frames that took effect here.
    pub xon_received: u64,
    /// Time this egress class was paused (ps).
    pub paused_ps: u64,
    /// InfiniBand: flow-control packets of this lane sent from here.
    pub fc_sent: u64,
    /// InfiniBand: flow-control packets of this lane that arrived here.
    pub fc_received: u64,
    /// InfiniBand: most blocks of this lane's receive buffer held here.
    pub max_blocks: u32,
    /// InfiniBand: frames dropped here at the end of their head-of-queue lifetime; among the drops.
    pub hoq_drop_packets: u64,
}

/// Everything an engine reports about a case.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Outcome {
    /// End of the simulation (ps): the stop time if events were left, else the last event.
    pub end_ps: u64,
    /// True if events were left at the stop time (or the run was interrupted there).
    pub stopped: bool,
    /// One entry a flow.
    pub flows: Vec<FlowOutcome>,
    /// `queues[port * (n_classes + 1) + class]`.
    pub queues: Vec<QueueOutcome>,
    /// Frames lost on the link after port i.
    pub lost_packets: Vec<u64>,
    /// InfiniBand: time port i had frames queued and sent none (ps), 0 at endpoints; empty for Ethernet.
    pub xmit_wait_ps: Vec<u64>,
}
