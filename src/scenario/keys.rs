//! Every key of a scenario: type, range, default, meaning and source. The reader, the checks and the reference page
//! all go by this table.
//!
//! Marks in sources: `[M 60 %]` = from memory, with how sure; `[A]` = an assumption of this project.

use crate::scenario::keys_infiniband::{FAILURE, INFINIBAND};
use crate::scenario::keys_traffic::{LINK, OUTPUT, TRAFFIC};
use crate::units::{SHARE_ONE, Unit};

/// What a key takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A quantity in base units from `min` to `max`, or one of some words.
    Quantity { unit: Unit, min: u64, max: u64, words: &'static [&'static str] },
    /// `true` or `false`.
    Flag,
    /// One of some words.
    Word(&'static [&'static str]),
    /// Text or a whole number.
    Text,
    /// A list of texts.
    Texts,
    /// A list of tables with the keys of the named section.
    Tables(&'static str),
}

/// A key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// As written in a scenario, without quotes; empty if there is none.
    pub(crate) default: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) source: &'static str,
}

/// A section.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Section {
    /// `switch` for `[switch]`, `class` for `[[class]]`.
    pub(crate) name: &'static str,
    /// True for `[[...]]`.
    pub(crate) list: bool,
    pub(crate) doc: &'static str,
    pub(crate) keys: &'static [Key],
}

pub(crate) const fn key(name: &'static str, kind: Kind, default: &'static str, doc: &'static str, source: &'static str) -> Key {
    Key { name, kind, default, doc, source }
}

pub(crate) const fn quantity(unit: Unit, min: u64, max: u64) -> Kind {
    Kind::Quantity { unit, min, max, words: &[] }
}

pub(crate) const fn quantity_or(unit: Unit, min: u64, max: u64, words: &'static [&'static str]) -> Kind {
    Kind::Quantity { unit, min, max, words }
}

pub(crate) const US: u64 = 1_000_000;
pub(crate) const MS: u64 = 1_000_000_000;
pub(crate) const DAY: u64 = 86_400_000 * MS;
/// Least rate of a link (kb/s): one byte takes at most 32,768 ps.
pub(crate) const RATE_LOW: u64 = 244_141;
/// Largest rate of a link (kb/s).
pub(crate) const RATE_HIGH: u64 = 2_100_000_000;
/// Largest link delay (ps).
pub(crate) const DELAY_HIGH: u64 = MS;
/// Longest cable (mm).
const LENGTH_HIGH: u64 = DELAY_HIGH / 5;
const RATE: Kind = quantity(Unit::Rate, RATE_LOW, RATE_HIGH);
const LENGTH: Kind = quantity(Unit::Length, 0, LENGTH_HIGH);
const LATENCY: Kind = quantity(Unit::Time, 0, DELAY_HIGH);
const SHARE: Kind = quantity(Unit::Share, 0, SHARE_ONE);
const ALPHA: Kind = quantity(Unit::Share, SHARE_ONE / 128, 8 * SHARE_ONE);
const FRAME: Kind = quantity(Unit::Bytes, 0, 16_383);
const FLOW_RATE: Kind = quantity(Unit::Rate, 0, RATE_HIGH);
const PERIOD: Kind = quantity(Unit::Time, 1, DAY);
const WAIT: Kind = quantity(Unit::Time, 0, DAY);
const AUTO_COUNT: Kind = quantity_or(Unit::Count, 1, 1 << 20, &["auto"]);

/// All sections.
pub(crate) const SECTIONS: &[Section] = &[
    Section { name: "scenario", list: false, doc: "The run as a whole.", keys: SCENARIO },
    Section { name: "fabric", list: false, doc: "Nodes, links and routes.", keys: FABRIC },
    Section { name: "link", list: true, doc: "Changes to single links: slower, longer or lossy ones.", keys: LINK },
    Section { name: "switch", list: false, doc: "All switches.", keys: SWITCH },
    Section {
        name: "ecn",
        list: false,
        doc: "Marking at switch egress, on the queue of the class left behind by the leaving packet.",
        keys: ECN,
    },
    Section {
        name: "class",
        list: true,
        doc: "Traffic classes, at most 7. Strict classes are served first, by falling priority, then the weighted ones.",
        keys: CLASS,
    },
    Section { name: "infiniband", list: false, doc: "Link layer and subnet management of an InfiniBand fabric.", keys: INFINIBAND },
    Section { name: "failure", list: true, doc: "Links that fail while the simulation runs, for good.", keys: FAILURE },
    Section { name: "nic", list: false, doc: "All endpoints' adapters.", keys: NIC },
    Section { name: "transport", list: false, doc: "Frames, acknowledgements and loss recovery.", keys: TRANSPORT },
    Section { name: "cc", list: false, doc: "Congestion control of the senders. Defaults come from `profile`.", keys: CC },
    Section { name: "compat", list: false, doc: "Peculiarities of other simulators, for comparisons with them.", keys: COMPAT },
    Section { name: "traffic", list: true, doc: "Who sends what when; each entry is a group in the results.", keys: TRAFFIC },
    Section { name: "output", list: false, doc: "Time series. Totals are always written.", keys: OUTPUT },
];

/// Sections that are lists inside a key.
pub(crate) const INNER: &[Section] = &[
    Section { name: "ecn.by_rate", list: true, doc: "Marking of the ports of one rate.", keys: ECN_BY_RATE },
    Section { name: "traffic.flows", list: true, doc: "A flow of a `flows` group.", keys: crate::scenario::keys_traffic::FLOW },
];

/// The section of a name.
pub(crate) fn section(name: &str) -> Option<&'static Section> {
    SECTIONS.iter().chain(INNER).find(|s| s.name == name)
}

const SCENARIO: &[Key] = &[
    key("name", Kind::Text, "", "Name in reports; the file's name if left out.", ""),
    key("seed", quantity(Unit::Count, 0, u32::MAX as u64), "1", "Seed of marking and loss, and of traffic without a seed of its own.", ""),
    key("stop", quantity_or(Unit::Time, 1, DAY, &["never"]), "never", "Simulated time to stop at.", ""),
    key("profile", Kind::Text, "none", "Preset that fills in what the file leaves out; `fabricsim presets` lists them.", ""),
];

const FABRIC: &[Key] = &[
    key(
        "kind",
        Kind::Word(&["single", "leaf-spine", "fat-tree", "rail", "graph"]),
        "leaf-spine",
        "Shape: one switch; two tiers; three tiers; two tiers with a leaf for each GPU of a server; or a topology file.",
        "",
    ),
    key(
        "technology",
        Kind::Word(&["ethernet", "infiniband"]),
        "ethernet",
        "RoCEv2 over Ethernet, with `[switch]`, `[ecn]` and `[[class]]`, or InfiniBand, with `[infiniband]`.",
        "",
    ),
    key("endpoints", quantity(Unit::Count, 1, 1 << 20), "64", "GPUs, each with its own network port.", ""),
    key(
        "radix",
        quantity(Unit::Count, 2, 1024),
        "64",
        "Ports of a switch at endpoint speed, for numbers of switches left to `auto`.",
        "NVIDIA QM9700 and 25.6 Tb/s Ethernet switches: 64 ports of 400 Gb/s",
    ),
    key(
        "oversubscription",
        quantity(Unit::Share, SHARE_ONE, 64 * SHARE_ONE),
        "1",
        "Endpoint capacity of a leaf over its uplink capacity.",
        "1 in NVIDIA's reference designs",
    ),
    key("leaves", AUTO_COUNT, "auto", "Leaf switches.", "sizing rules of published reference designs"),
    key("spines", AUTO_COUNT, "auto", "Spine switches.", "the same: equal bundles to every spine"),
    key("endpoints_per_leaf", AUTO_COUNT, "auto", "Endpoints of a leaf.", "the same"),
    key("parallel_links", AUTO_COUNT, "auto", "Links between a leaf and each of its spines.", "the same"),
    key("rails", quantity(Unit::Count, 1, 64), "8", "GPUs of a server, each on a rail of its own.", "8 in DGX and HGX servers"),
    key("rail_only", Kind::Flag, "false", "Every rail is a fabric of its own; endpoints on different rails cannot reach each other.", ""),
    key("topology", Kind::Text, "", "Topology file (HPCC form), relative to the scenario.", "HPCC ns-3"),
    key("link_rate", RATE, "400 Gbps", "Rate of links between endpoints and leaves.", ""),
    key(
        "uplink_rate",
        quantity_or(Unit::Rate, RATE_LOW, RATE_HIGH, &["auto"]),
        "auto",
        "Rate of links between leaves and spines; `auto` is that of `link_rate`.",
        "",
    ),
    key(
        "core_rate",
        quantity_or(Unit::Rate, RATE_LOW, RATE_HIGH, &["auto"]),
        "auto",
        "Rate of links between spines and cores; `auto` is that of `uplink_rate`.",
        "",
    ),
    key(
        "link_length",
        LENGTH,
        "5 m",
        "Cable between endpoint and leaf, 5 ns a metre.",
        "[A]; delay: fibre and copper 5.0 ns/m, SONiC uses 5.05",
    ),
    key("uplink_length", LENGTH, "40 m", "Cable between leaf and spine.", "[A]"),
    key("core_length", LENGTH, "100 m", "Cable between spine and core.", "[A]"),
    key("phy_latency", LATENCY, "100 ns", "PHY and FEC latency of a link, both ends together.", "order of magnitude only [M 65 %]"),
    key("hash_seed", quantity(Unit::Count, 0, u64::MAX), "1", "Seed from which each switch's ECMP hash seed is made.", ""),
    key("loss", quantity(Unit::Share, 0, SHARE_ONE / 2), "0", "Probability that a frame is lost on a link; PFC frames never are.", ""),
    key("drop_every", quantity(Unit::Count, 0, u32::MAX as u64), "0", "Loses every n-th frame of each channel; 0 = off.", ""),
];

const SWITCH: &[Key] = &[
    key(
        "buffer",
        quantity(Unit::Bytes, 1024, 1 << 30),
        "114 MB",
        "Packet buffer of a switch; what reserves and headroom leave (at most 256 MiB) is shared.",
        "Tomahawk 4: 113 to 114 MB [M 88 %]",
    ),
    key("reserve", quantity(Unit::Bytes, 0, 1 << 24), "4 KiB", "Buffer set aside for each class at each port.", "HPCC ns-3"),
    key(
        "headroom",
        quantity_or(Unit::Bytes, 0, 1 << 28, &["auto", "three-delays"]),
        "auto",
        "Buffer set aside for each lossless class at each port, for what arrives after a pause was asked for; `auto` works it out from rate, cable, frame and response time; `three-delays` is three times what the link holds.",
        "SONiC's formula for NVIDIA switches, plus pipeline and crossing packet; HPCC ns-3",
    ),
    key(
        "xon_gap",
        quantity_or(Unit::Bytes, 0, 1 << 28, &["auto"]),
        "auto",
        "A pause ends when use is this far below the threshold; `auto` is two of the largest frames.",
        "DCQCN paper: 2 MTU below",
    ),
    key(
        "alpha",
        ALPHA,
        "1/8",
        "Lossless ingress may use this times the free shared buffer before it asks for a pause.",
        "HPCC ns-3: 1/8 at NIC speed",
    ),
    key("alpha_lossy", ALPHA, "1", "A lossy egress queue may use this times the free shared buffer.", "[A]"),
    key(
        "alpha_scaling",
        Kind::Word(&["none", "rate"]),
        "none",
        "`rate`: `alpha` doubles for each doubling of a port's rate over that of the first endpoint, up to 1.",
        "HPCC ns-3",
    ),
    key("latency", LATENCY, "600 ns", "From arrival to queueing.", "12.8 to 51.2 Tb/s Ethernet switches: 600 to 900 ns [M 60 %]"),
    key("cut_through", Kind::Flag, "false", "Forward a packet before all of it has arrived.", "[A]"),
    key(
        "pfc_response",
        quantity_or(Unit::Time, 0, DELAY_HIGH, &["auto"]),
        "auto",
        "From the arrival of a pause to its effect; `auto` is what the standard allows at the port's rate (905 quanta at 400 Gb/s).",
        "IEEE 802.1Qbb as tabulated by SONiC",
    ),
];

const ECN: &[Key] = &[
    key("profile", Kind::Text, "none", "Preset of this section, see the presets below; `none` takes the defaults.", ""),
    key(
        "kmin",
        quantity(Unit::Bytes, 0, 1 << 31),
        "500 KB",
        "No marks up to this queue.",
        "Arista's 400G example; published values reach from 150 KB to 2 MB",
    ),
    key(
        "kmax",
        quantity(Unit::Bytes, 0, 1 << 31),
        "1500 KB",
        "Every packet is marked above this queue.",
        "the same; published values reach from 1.5 to 12.5 MB",
    ),
    key("pmax", SHARE, "20 %", "Probability of a mark at `kmax`, falling to 0 at `kmin`.", "the same; 7 to 100 % elsewhere"),
    key(
        "at_rate",
        quantity_or(Unit::Rate, RATE_LOW, RATE_HIGH, &["any"]),
        "any",
        "Rate that `kmin` and `kmax` are meant for: at other ports they grow with the rate. `any`: the same at all ports.",
        "HPCC ns-3: 100 and 400 KB for each 25 Gb/s",
    ),
    key(
        "by_rate",
        Kind::Tables("ecn.by_rate"),
        "",
        "Marking for ports of given rates, e.g. `[{ rate = \"100 Gbps\", kmin = \"400 KB\", kmax = \"1600 KB\", pmax = 0.2 }]`.",
        "",
    ),
];

const ECN_BY_RATE: &[Key] = &[
    key("rate", RATE, "", "Rate of the ports.", ""),
    key("kmin", quantity(Unit::Bytes, 0, 1 << 31), "", "As in `[ecn]`.", ""),
    key("kmax", quantity(Unit::Bytes, 0, 1 << 31), "", "As in `[ecn]`.", ""),
    key("pmax", SHARE, "", "As in `[ecn]`.", ""),
];

const CLASS: &[Key] = &[
    key("name", Kind::Text, "", "Name, by which traffic refers to it.", ""),
    key(
        "priority",
        quantity(Unit::Count, 0, 7),
        "",
        "PFC priority, unique.",
        "deployments use 3 for RDMA; NVIDIA 6 and Broadcom 7 for CNPs",
    ),
    key("lossless", Kind::Flag, "false", "Protected by PFC; otherwise packets beyond the threshold are dropped.", ""),
    key("ecn", Kind::Flag, "false", "Packets may be marked.", ""),
    key("service", Kind::Word(&["strict", "weighted"]), "weighted", "How ports serve it.", ""),
    key("weight", quantity(Unit::Count, 1, 1000), "1", "Share among the weighted classes, in largest frames a round.", ""),
];

const NIC: &[Key] = &[key(
    "latency",
    LATENCY,
    "500 ns",
    "From arrival at an endpoint to acting on the packet.",
    "[A]; tuned RoCEv2 takes 2 to 5 us end to end",
)];

const TRANSPORT: &[Key] = &[
    key("mtu", quantity(Unit::Bytes, 64, 16_000), "4096 B", "Payload of a full packet.", "RoCE takes the InfiniBand sizes, up to 4096"),
    key(
        "data_header",
        FRAME,
        "62 B",
        "Frame bytes beyond the payload: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4.",
        "IBTA, IEEE 802.3",
    ),
    key("first_header", FRAME, "16 B", "Further bytes of a message's first packet: RETH.", "IBTA"),
    key("ack_frame", quantity(Unit::Bytes, 1, 16_383), "66 B", "Frame of an acknowledgement: headers and AETH 4.", "IBTA"),
    key("cnp_frame", quantity(Unit::Bytes, 1, 16_383), "78 B", "Frame of a CNP: headers and 16 reserved.", "[M 93 %]"),
    key("pfc_frame", quantity(Unit::Bytes, 1, 16_383), "64 B", "Frame of a pause.", "IEEE 802.1Qbb"),
    key("gap", quantity(Unit::Bytes, 0, 1000), "20 B", "Wire bytes around every frame: preamble 8, gap 12.", "IEEE 802.3"),
    key(
        "ack_every",
        quantity(Unit::Count, 1, 65_535),
        "16",
        "Packets in order for one acknowledgement; the last is always acknowledged.",
        "1 a message or 1 every 4 to 64 packets [M 75 %]",
    ),
    key("ack_class", Kind::Text, "flow", "Class of acknowledgements, or `flow` for that of the data.", "[A]"),
    key("cnp_class", Kind::Text, "control", "Class of CNPs, or `flow`.", "deployments: a strict class of its own"),
    key(
        "recovery",
        Kind::Word(&["go-back-n", "go-back-0", "selective-repeat", "out-of-order"]),
        "go-back-n",
        "What is sent again after a loss: all from the first missing packet, the whole message, or only what is missing. `out-of-order`: the receiver places packets ahead and reports no gap, as adapters do under adaptive routing; a timeout rewinds.",
        "go-back-N by default; selective repeat from ConnectX-6 Dx on",
    ),
    key("rto", quantity_or(Unit::Time, 1, DAY, &["none"]), "4.294967296 s", "Retransmission timeout, 4.096 us * 2^t.", "NCCL: t = 20"),
    key("retry_limit", quantity(Unit::Count, 0, 1_000_000), "7", "Timeouts in a row after which a flow fails.", "NCCL: 7"),
    key("nak_interval", WAIT, "0 s", "Least time between two NAKs for one packet; 0 = only one.", "one NAK: IBTA; ns-3 models: 500 us"),
    key(
        "window",
        quantity_or(Unit::Bytes, 1, u32::MAX as u64, &["none", "bdp", "bdp-max"]),
        "none",
        "Most unacknowledged payload of a flow; `bdp` is what its own path holds in a round trip, `bdp-max` the largest of all pairs.",
        "none: DCQCN has no window; both rules: HPCC ns-3",
    ),
    key("variable_window", Kind::Flag, "false", "The window shrinks with the rate.", "HPCC ns-3"),
];

const CC: &[Key] = &[
    key(
        "kind",
        Kind::Word(&["none", "dcqcn", "a10"]),
        "dcqcn",
        "Reaction to marks; on InfiniBand `none` (the default there) or `a10`, annex A10 of the InfiniBand specification.",
        "",
    ),
    key("profile", Kind::Text, "connectx", "Preset of this section: `paper`, `connectx` or `hpcc`, see below.", ""),
    key(
        "variant",
        Kind::Word(&["paper", "firmware"]),
        "",
        "DCQCN as published (every CNP cuts, byte counter) or as in adapter firmware (free-running clocks).",
        "DCQCN paper, SIGCOMM 2015; HPCC ns-3",
    ),
    key(
        "cnp_mode",
        Kind::Word(&["packet", "ack-flag"]),
        "",
        "Marks come back as CNP packets, or as a flag on acknowledgements (then every marked packet is acknowledged at once).",
        "hardware: packets; HPCC ns-3: flag",
    ),
    key("cnp_interval", WAIT, "", "Least time between two CNPs of a flow.", "50 us in the paper; 0, 2 or 4 us in adapters"),
    key("g", SHARE, "", "Gain of alpha.", "1/256; adapters 5/1024"),
    key("alpha_init", SHARE, "", "Alpha at the first CNP.", "1 [M 95 %]; adapters 1023/1024"),
    key("alpha_period", PERIOD, "", "Period of the alpha update.", "55 us; adapters 1 us (dce_tcp_rtt)"),
    key("cut_period", PERIOD, "", "Least time between two cuts (firmware).", "4 us (rate_reduce_monitor_period)"),
    key("first_cut_delay", WAIT, "", "Extra delay of the first cut (firmware).", "HPCC ns-3: 1 ns"),
    key("increase_period", PERIOD, "", "Period of the increase timer.", "55 us; adapters 300 us (rpg_time_reset)"),
    key(
        "byte_counter",
        quantity_or(Unit::Bytes, 1, u32::MAX as u64, &["off"]),
        "",
        "Bytes sent that count as an increase event (paper).",
        "10 MB in the paper; taken as off in adapters [A]",
    ),
    key(
        "fast_recovery",
        quantity(Unit::Count, 0, 1 << 20),
        "",
        "Increase events before the target is raised.",
        "5; adapters 1 (rpg_threshold)",
    ),
    key("rate_ai", FLOW_RATE, "", "Additive step of the target.", "40 Mb/s; adapters 5 Mb/s"),
    key(
        "rate_hai",
        FLOW_RATE,
        "",
        "Hyper step of the target.",
        "200 Mb/s in the authors' ns-3 sample, not pinned by the paper; adapters 50 Mb/s",
    ),
    key(
        "at_rate",
        quantity_or(Unit::Rate, RATE_LOW, RATE_HIGH, &["any"]),
        "",
        "Link rate that both steps are meant for: they grow with that of the first endpoint. `any`: as given.",
        "HPCC ns-3: 5 and 50 Mb/s for each 25 Gb/s",
    ),
    key("rate_min", quantity(Unit::Rate, 1000, RATE_HIGH), "", "Floor of the rate.", "100 Mb/s in the authors' ns-3 code; adapters 1 Mb/s"),
    key("rate_max", quantity_or(Unit::Rate, 1000, RATE_HIGH, &["line"]), "", "Ceiling of the rate.", "adapters: line (rpg_max_rate 0)"),
    key(
        "rate_first_cnp",
        quantity_or(Unit::Rate, 1000, RATE_HIGH, &["keep"]),
        "",
        "Rate set by the first CNP (firmware).",
        "adapters: keep (rate_to_set_on_first_cnp 0)",
    ),
    key("cut_shift", quantity(Unit::Count, 0, 31), "", "A cut takes the share alpha / 2^n of the rate.", "1; rpg_gd 11 is 1 and 10 is 0"),
    key("min_keep", SHARE, "", "A cut leaves at least this share of the rate; 0 = no limit.", "adapters 50 % (rpg_min_dec_fac)"),
    key("clamp_target", Kind::Flag, "", "Every cut lowers the target to the current rate.", "on in the paper; adapters off"),
    key("clamp_after_increase", Kind::Flag, "", "A cut lowers the target if a timer increase happened since the last one.", "adapters on"),
    key(
        "threshold",
        quantity(Unit::Count, 0, 15),
        "15",
        "a10: switches mark above (16 - threshold)/16 of a lane's buffer; 0 = never.",
        "15: Mellanox ccmgr; bytes: [A], the standard gives none",
    ),
    key("marking_rate", quantity(Unit::Count, 0, 65_535), "10", "a10: eligible packets between two marked ones.", "Mellanox ccmgr: 0xa"),
    key("packet_size", quantity(Unit::Bytes, 0, 16_383), "512 B", "a10: smaller frames are not marked.", "Mellanox ccmgr: 0x200"),
    key(
        "victim_mask",
        Kind::Word(&["hosts", "none", "all"]),
        "hosts",
        "a10: ports that mark although they lack credits; `hosts`: those to endpoints.",
        "LLNL's study: external ports; [M 85 %]",
    ),
    key(
        "ccti_by",
        Kind::Word(&["qp", "sl"]),
        "qp",
        "a10: a table index for each flow, or for each endpoint and service level.",
        "Mellanox ccmgr: queue pair",
    ),
    key("ccti_increase", quantity(Unit::Count, 0, 65_535), "1", "a10: added to the index by a BECN.", "Mellanox ccmgr"),
    key("ccti_limit", quantity(Unit::Count, 0, 1023), "127", "a10: largest index.", "128 entries is the common size"),
    key("ccti_min", quantity(Unit::Count, 0, 1023), "0", "a10: least index.", "Mellanox ccmgr"),
    key(
        "ccti_timer",
        PERIOD,
        "153.6 us",
        "a10: the index falls by one this often.",
        "150 units of 1.024 us [A]; the vendor's value is not published",
    ),
    key(
        "cct",
        Kind::Word(&["mellanox", "mellanox-llnl", "simula", "simula-llnl"]),
        "mellanox",
        "a10: table of injection delays.",
        "LLNL's study of InfiniBand congestion control",
    ),
];

const COMPAT: &[Key] = &[
    key("grain", quantity(Unit::Time, 1, US), "1 ps", "Serialization times are rounded down to a multiple of this.", "ns-3: 1 ns"),
    key(
        "ack_ignores_pause",
        Kind::Flag,
        "false",
        "Acknowledgements leave an adapter while their class is paused.",
        "HPCC ns-3 with ACK_HIGH_PRIO",
    ),
    key(
        "eager_start",
        Kind::Flag,
        "false",
        "A packet that meets an idle egress starts before other packets of the same instant are looked at.",
        "HPCC ns-3",
    ),
    key("tie_by_flow", Kind::Flag, "false", "Simultaneous arrivals at a switch are taken by flow id.", "HPCC ns-3: order of insertion"),
    key("hpcc_wakeup", Kind::Flag, "false", "An adapter keeps a wake-up that it has set.", "HPCC ns-3"),
];
