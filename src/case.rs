//! The resolved case: everything the model decides with, as integers.
//!
//! A [`Case`] is what remains of a scenario once names, units, defaults and generators are gone: nodes, ports,
//! classes, routes, flows and rules. It is the input of every engine and of the test oracle, and nothing an engine
//! computes depends on anything else. The rules by which a case evolves are in [`crate::model`].
//!
//! Index conventions: nodes, ports, classes and flows are referred to by their position in the vectors here. The
//! ports of a node are contiguous, and so are the flows of a source endpoint.

use serde::Serialize;

/// A complete, validated simulation input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Seed of every random draw.
    pub seed: u32,
    /// Traffic classes in service order: strict classes first, highest first, then the weighted ones. 1 to 7;
    /// InfiniBand: data lanes by number, 1 to 8.
    pub classes: Vec<ClassSpec>,
    /// Endpoints and switches.
    pub nodes: Vec<NodeSpec>,
    /// One entry a port, that is one outgoing channel; ports of a node are contiguous.
    pub ports: Vec<PortSpec>,
    /// Next hops; of an InfiniBand case only the route groups that adaptive routing chooses from.
    pub routes: Routes,
    /// InfiniBand's link layer and forwarding; `None`: Ethernet with PFC.
    pub credits: Option<Credits>,
    /// Flows sorted by (source node, start, id); the position is the flow index of the model.
    pub flows: Vec<FlowSpec>,
    /// Transport, framing and congestion control.
    pub rules: Rules,
    /// What happens to the fabric on the way, by ascending time.
    pub changes: Vec<Change>,
    /// Simulation stops before events at this instant; `None` runs until nothing is left to do.
    pub stop_ps: Option<u64>,
}

/// Something that happens to the fabric at an instant; see [`crate::model`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Change {
    /// When (ps).
    pub at_ps: u64,
    /// Ports that go down, both ends of each link.
    pub down: Vec<u32>,
    /// Forwarding tables from then on, of the size of [`Credits::lft`]; `None` = as they are.
    pub lft: Option<Vec<u8>>,
    /// Route groups from then on; `None` = as they are.
    pub routes: Option<Routes>,
}

/// A traffic class: a PFC priority with its own queue at every port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClassSpec {
    /// PFC priority 0 to 7 as users know it; reports only.
    pub priority: u8,
    /// True: PFC protects the class (ingress thresholds, headroom). False: tail drop at the egress threshold.
    pub lossless: bool,
    /// True: packets of the class are ECN-capable.
    pub ecn: bool,
    /// 0 = strict priority; otherwise the deficit round robin quantum (bytes), at least the largest frame.
    pub quantum_bytes: u32,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum NodeKind {
    /// A GPU with its NIC: exactly one port.
    Endpoint,
    /// A shared-memory output-queued switch.
    Switch,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeSpec {
    /// Name for reports.
    pub name: String,
    /// Endpoint or switch.
    pub kind: NodeKind,
    /// First port index.
    pub first_port: u32,
    /// Number of ports.
    pub n_ports: u32,
    /// Seed of this switch's ECMP hash.
    pub hash_seed: u32,
    /// Shared pool (bytes): buffer minus all headroom and reserves; at most 256 MiB. 0 for endpoints.
    pub pool_bytes: u32,
    /// Cut-through (true) or store-and-forward (false). False for endpoints.
    pub cut_through: bool,
}

/// A port: its outgoing channel, and the buffer rules of packets that come in through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PortSpec {
    /// Owning node.
    pub node: u32,
    /// Port at the other end of the link.
    pub peer: u32,
    /// Rate of the outgoing channel (kb/s); reports only, the model uses `byte_time_q16`.
    pub rate_kbps: u64,
    /// Time of one byte on the wire (2^-16 ps), rounded down; at most 2^31 (one byte in 32,768 ps).
    pub byte_time_q16: u32,
    /// From the end of transmission to the receiver acting on a packet (ps): propagation, PHY, receiver pipeline.
    pub delay_ps: u32,
    /// The same for a PFC frame (ps): propagation, PHY, and the response time of the receiver.
    pub pfc_delay_ps: u32,
    /// Reserve of each class for packets that enter here (bytes).
    pub reserve_bytes: u32,
    /// Headroom of each lossless class for packets that enter here (bytes).
    pub headroom_bytes: u32,
    /// XON when shared use is at least this far below the threshold (bytes).
    pub xon_gap_bytes: u32,
    /// Dynamic threshold factor of lossless ingress (1/128), 1 to 1024.
    pub alpha_q7: u32,
    /// Dynamic threshold factor of a lossy egress queue here (1/128), 1 to 1024.
    pub alpha_lossy_q7: u32,
    /// ECN marking of packets that leave here.
    pub ecn: EcnSpec,
    /// Probability that a frame sent here is lost on the link (2^-32); PFC frames are never lost.
    pub loss_q32: u32,
    /// Deterministic loss: every n-th frame sent here (counting all but PFC frames) is lost; 0 = off.
    pub drop_every: u32,
    /// What only InfiniBand ports have; all 0 otherwise.
    pub lane: LaneSpec,
}

/// The InfiniBand side of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LaneSpec {
    /// Receive buffer of each lane here (blocks of 64 bytes), at least one largest frame; at most 2^20.
    pub buffer_blocks: u32,
    /// Head-of-queue lifetime of frames that leave here (ps); 0 = none. Switches only.
    pub hoq_ps: u64,
    /// Frames that leave a queue longer than this (bytes) may be marked; `u32::MAX` = never. Switches only.
    pub fecn_bytes: u32,
    /// Mark here also while the lane lacks credits (victim mask).
    pub fecn_victims: bool,
}

/// RED-like marking on the instantaneous egress queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EcnSpec {
    /// No marks up to here (bytes).
    pub kmin_bytes: u32,
    /// Every packet is marked above here (bytes).
    pub kmax_bytes: u32,
    /// Slope mantissa: a packet at queue q in between is marked if its draw (32 bit) is below
    /// `((q - kmin) * slope) >> slope_shift`, computed in 64 bits.
    pub slope: u32,
    /// Slope shift, 0 to 63.
    pub slope_shift: u32,
}

/// Next hops as tables that grow with switches and leaves, not with pairs of endpoints.
///
/// A *leaf* is a switch with endpoints. `table[switch_row[node] * n_leaves + leaf_of(dst)]` names a group;
/// group `g` is `members[group_start[g]..group_start[g + 1]]`, egress ports in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Routes {
    /// Number of leaf switches.
    pub n_leaves: u32,
    /// Row of each node in `table`; `u32::MAX` for endpoints.
    pub switch_row: Vec<u32>,
    /// Leaf number of each endpoint's switch, by node; `u32::MAX` for switches and for endpoints wired back to back.
    pub endpoint_leaf: Vec<u32>,
    /// Group of (switch row, leaf); `u32::MAX` where unreachable or where the switch is that leaf itself.
    pub table: Vec<u32>,
    /// Start of each group in `members`, one more than there are groups.
    pub group_start: Vec<u32>,
    /// Egress ports of all groups.
    pub members: Vec<u32>,
}

/// InfiniBand's link layer and forwarding; the rules are in [`crate::model`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Credits {
    /// A lane's credits are advertised as soon as this many blocks were freed, at least 1.
    pub fc_threshold_blocks: u32,
    /// They are advertised at the latest this long after the first one was freed (ps), 1 to 2^30.
    pub fc_interval_ps: u32,
    /// Frames leave in the order of arrival, not round robin over input ports.
    pub first_come: bool,
    /// High-priority arbitration table: (lane, weight in blocks), at most 64 entries.
    pub high: Vec<(u8, u8)>,
    /// Low-priority arbitration table.
    pub low: Vec<(u8, u8)>,
    /// Limit of high priority (4096 bytes); 0 = one packet, 255 = no limit.
    pub high_limit: u8,
    /// Distinct rows of service level to lane maps; 15 = drop.
    pub sl2vl: Vec<[u8; 16]>,
    /// Map of each node.
    pub sl2vl_of: Vec<Sl2Vl>,
    /// Destinations a forwarding table has cells for.
    pub n_lids: u32,
    /// `lft[switch_row * n_lids + lid]`: egress, counted from the first port of the switch; 255 = none.
    pub lft: Vec<u8>,
    /// Adaptive routing.
    pub adaptive: Adaptive,
    /// Switches route around ports that left their route group.
    pub shield: bool,
    /// Frames of fewer bytes are not marked.
    pub mark_size_bytes: u32,
    /// Eligible frames between two marked ones.
    pub marking_rate: u32,
    /// Reaction of [`Reaction::A10`].
    pub a10: A10,
}

/// How a node maps service levels to lanes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Sl2Vl {
    /// One row of [`Credits::sl2vl`] for all ports.
    Uniform(u32),
    /// `rows[input * n_ports + output]`, ports counted from the first one of the node.
    ByPorts(Vec<u32>),
}

/// Adaptive routing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Adaptive {
    /// Service levels whose data frames are routed adaptively; bit `s` = SL `s`.
    pub sls: u16,
    /// True: loads are compared by grade, not byte by byte.
    pub graded: bool,
    /// Limits of the grades (bytes), ascending.
    pub grades_bytes: [u32; 3],
    /// A destination keeps its port until no frame came for this long (ps); 0 = every frame chooses.
    pub binding_ps: u64,
}

/// Reaction of senders by annex A10.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct A10 {
    /// One CCTI for all flows of an endpoint and service level, not one a flow.
    pub by_sl: bool,
    /// Added to CCTI by a BECN.
    pub ccti_increase: u16,
    /// Largest CCTI, below the length of `cct`.
    pub ccti_limit: u16,
    /// Least CCTI, at most `ccti_limit`.
    pub ccti_min: u16,
    /// CCTI falls by one this often (ps), at least 1.
    pub ccti_timer_ps: u64,
    /// Congestion control table: (shift 0 to 3, multiplier below 2^14).
    pub cct: Vec<(u8, u16)>,
}

/// A flow: one message from one endpoint to another over its own queue pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlowSpec {
    /// The id users know, unique.
    pub id: u32,
    /// Source endpoint.
    pub src: u32,
    /// Destination endpoint.
    pub dst: u32,
    /// Class of its data packets; InfiniBand: the lane that its source sends on.
    pub class: u32,
    /// InfiniBand: service level, 0 to 15.
    pub sl: u8,
    /// InfiniBand: destinations of data and of answers, cells of [`Credits::lft`].
    pub dlids: [u32; 2],
    /// Message size (bytes), at least 1.
    pub size_bytes: u64,
    /// Packets: `ceil(size / mtu)`, at most 2^31 - 1.
    pub n_packets: u32,
    /// Payload of the last packet (bytes).
    pub last_payload_bytes: u32,
    /// Release time (ps); with `after`, the delay that follows the completion it waits for.
    pub start_ps: u64,
    /// Released by the completion of another flow at this flow's source, not by time.
    pub after: Option<After>,
    /// ECMP hash of the data direction.
    pub hash_data: u32,
    /// ECMP hash of the acknowledgement direction.
    pub hash_ack: u32,
    /// Egress ports at the switches of the data path, if pinned.
    pub path_data: Vec<u32>,
    /// Egress ports at the switches of the acknowledgement path, if pinned.
    pub path_ack: Vec<u32>,
    /// Largest unacknowledged payload (bytes); 0 = unlimited.
    pub window_bytes: u32,
}

/// What releases a dependent flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct After {
    /// Flow index waited for.
    pub flow: u32,
    /// True: its last byte received (this flow's source is its destination). False: its last acknowledgement
    /// (this flow's source is its source).
    pub received: bool,
}

/// How lost packets are recovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Recovery {
    /// Rewind to the first missing packet.
    GoBackN,
    /// Restart the message (old adapters).
    GoBackZero,
    /// Resend only what is missing, within a window of 128 packets.
    SelectiveRepeat,
    /// Packets ahead are kept and no gap is reported; timeouts rewind. Within a window of 128 packets.
    OutOfOrder,
}

/// How the receiver tells the sender about CE marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum CnpMode {
    /// A CNP packet of its own, at most one per flow and interval.
    Packet,
    /// A flag on the acknowledgement of the marked packet.
    AckFlag,
}

/// Reaction of the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Reaction {
    /// Always line rate.
    None,
    /// DCQCN as published: cut on every CNP, timers restarted by CNPs, byte counter.
    DcqcnPaper,
    /// DCQCN as in adapter firmware: free-running alpha and cut clocks, timer only.
    DcqcnFirmware,
    /// InfiniBand: annex A10, see [`Credits::a10`].
    A10,
}

/// Transport, framing and congestion control of a whole case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rules {
    /// Largest payload of a packet (bytes).
    pub mtu_bytes: u32,
    /// Frame bytes of a data packet beyond its payload.
    pub data_header_bytes: u32,
    /// Further frame bytes of the first packet of a message (RETH).
    pub first_extra_bytes: u32,
    /// Frame bytes of ACK, NAK and SACK.
    pub ack_bytes: u32,
    /// Frame bytes of a CNP.
    pub cnp_bytes: u32,
    /// Frame bytes of a PFC frame.
    pub pfc_bytes: u32,
    /// Wire bytes around every frame (preamble, inter-packet gap).
    pub gap_bytes: u32,
    /// Durations are rounded down to a multiple of this (ps); 1 normally, 1000 to copy ns-3.
    pub grain_ps: u32,
    /// Class of acknowledgements; `None` = class of the flow.
    pub ack_class: Option<u32>,
    /// Class of CNPs; `None` = class of the flow.
    pub cnp_class: Option<u32>,
    /// Acknowledgements leave a NIC even while their class is paused.
    pub ack_ignores_pause: bool,
    /// A packet that arrives at an idle switch egress starts at once, before later simultaneous events.
    pub eager_start: bool,
    /// Simultaneous packet arrivals at a switch are taken by flow id, then port (not by port alone).
    pub tie_by_flow: bool,
    /// NIC wake-up as in HPCC ns-3, see the model text.
    pub hpcc_wakeup: bool,
    /// An ACK every this many in-order packets, and for the last packet.
    pub ack_every: u32,
    /// Shortest time between two NAKs for one expected PSN (ps); 0 = only one.
    pub nak_interval_ps: u64,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Retransmission timeout (ps); 0 = none.
    pub rto_ps: u64,
    /// Consecutive timeouts without progress after which a flow fails.
    pub retry_limit: u32,
    /// The window shrinks with the rate: `window * rate / line`.
    pub variable_window: bool,
    /// How marks are echoed.
    pub cnp_mode: CnpMode,
    /// Shortest time between two CNPs of a flow (ps).
    pub cnp_interval_ps: u64,
    /// Sender's reaction.
    pub reaction: Reaction,
    /// DCQCN parameters.
    pub dcqcn: Dcqcn,
}

/// DCQCN reaction point parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Dcqcn {
    /// Gain g (2^-32).
    pub g_q32: u32,
    /// Alpha at the first CNP (2^-32).
    pub alpha_init_q32: u32,
    /// Alpha timer period (ps), at least 1.
    pub alpha_period_ps: u64,
    /// Cut clock period (ps), firmware only, at least 1.
    pub cut_period_ps: u64,
    /// Extra delay of the first cut after the first CNP (ps), firmware only.
    pub first_cut_extra_ps: u64,
    /// Increase timer period (ps), at least 1.
    pub increase_period_ps: u64,
    /// Byte counter (frame bytes); 0 = off. Paper only.
    pub byte_counter_bytes: u32,
    /// F, stages of fast recovery.
    pub fast_recovery: u32,
    /// Additive step (kb/s).
    pub rate_ai_kbps: u32,
    /// Hyper step (kb/s).
    pub rate_hai_kbps: u32,
    /// Floor (kb/s), at least 1.
    pub rate_min_kbps: u32,
    /// Ceiling (kb/s); 0 = line rate.
    pub rate_max_kbps: u32,
    /// Rate set by the first CNP (kb/s); 0 = keep. Firmware only.
    pub rate_first_cnp_kbps: u32,
    /// Cut by `alpha >> cut_shift`; 1 = alpha/2.
    pub cut_shift: u32,
    /// One cut leaves at least this share of the rate (2^-32); 0 = no limit.
    pub min_keep_q32: u32,
    /// Every cut lowers the target to the current rate.
    pub clamp_target: bool,
    /// A cut lowers the target if the time stage is not zero (else only if the byte stage is not zero).
    pub clamp_after_time_increase: bool,
}
