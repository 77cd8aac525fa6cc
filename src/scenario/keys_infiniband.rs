//! The keys of InfiniBand; see [`crate::scenario::keys`].

use crate::scenario::keys::{DAY, Key, Kind, key, quantity, quantity_or};
use crate::units::Unit;

pub(crate) const INFINIBAND: &[Key] = &[
    key("lanes", quantity(Unit::Count, 1, 8), "1", "Data virtual lanes in use.", "IBTA: 1, 2, 4, 8 or 15"),
    key(
        "buffer",
        quantity(Unit::Bytes, 64, 1 << 26),
        "128 KiB",
        "Receive buffer of each lane at each port.",
        "not published for NDR [A]; 128 KiB is the most that credits can name",
    ),
    key(
        "fc_threshold",
        quantity_or(Unit::Bytes, 64, 1 << 26, &["auto"]),
        "auto",
        "Credits are advertised as soon as this much was freed; `auto` is the largest frame.",
        "[A]",
    ),
    key(
        "fc_interval",
        quantity(Unit::Time, 1, 1 << 30),
        "256 ns",
        "They are advertised at the latest this long after something was freed.",
        "Mellanox's flit-level model: 0.256 us",
    ),
    key(
        "sl2vl",
        Kind::Text,
        "auto",
        "Lane of service levels 0 to 15, e.g. `0,1,0,1,...`; 15 drops. `auto`: the number of the service level modulo the lanes.",
        "opensm: service level i on lane i",
    ),
    key(
        "vlarb_high",
        Kind::Text,
        "0:4",
        "High priority arbitration: `lane:weight` entries, weight in 64 bytes; `none` for an empty table.",
        "opensm",
    ),
    key("vlarb_low", Kind::Text, "auto", "Low priority arbitration; `auto` gives weight 4 to every lane but 0.", "opensm: 0:0,1:4,2:4,..."),
    key(
        "high_limit",
        quantity(Unit::Count, 0, 255),
        "0",
        "4096 bytes of high priority before low priority gets a turn; 0 = one frame, 255 = no limit.",
        "opensm: 0",
    ),
    key(
        "input_arbitration",
        Kind::Word(&["round-robin", "first-come"]),
        "round-robin",
        "Which input port an output lane serves next.",
        "Mellanox's flit-level model: round robin",
    ),
    key(
        "hoq_lifetime",
        quantity_or(Unit::Time, 1, DAY, &["none"]),
        "1.073741824 s",
        "Frames that head an output lane of a switch for longer are dropped, between switches.",
        "opensm: head_of_queue_lifetime 0x12",
    ),
    key(
        "leaf_hoq_lifetime",
        quantity_or(Unit::Time, 1, DAY, &["none"]),
        "268.435456 ms",
        "The same at switch ports to endpoints.",
        "opensm: leaf_head_of_queue_lifetime 0x10",
    ),
    key(
        "routing",
        Kind::Word(&["minhop", "updn", "ftree"]),
        "minhop",
        "Routing engine of the subnet manager; `ftree`: destination number modulo the uplinks.",
        "opensm",
    ),
    key(
        "adaptive",
        Kind::Word(&["off", "free", "bounded"]),
        "off",
        "Adaptive routing of data: each packet takes the least loaded port, or a destination keeps its port while packets follow each other within `binding`.",
        "Mellanox's flit-level model: none, free, bounded",
    ),
    key("adaptive_sls", Kind::Text, "all", "Service levels that are routed adaptively, e.g. `0,1`, or `all`.", ""),
    key(
        "adaptive_grades",
        Kind::Text,
        "none",
        "Three queue lengths between load grades, e.g. `1280 B, 2560 B, 5120 B`; `none` compares byte by byte.",
        "Mellanox's flit-level model: 20, 40 and 80 flits of 64 B",
    ),
    key("binding", quantity(Unit::Time, 1, DAY), "2 us", "See `adaptive`.", "Mellanox's flit-level model"),
    key(
        "shield",
        Kind::Flag,
        "false",
        "Switches route around a port that is down without waiting for the subnet manager; a destination keeps its new port as `binding` says.",
        "NVIDIA opensm: on",
    ),
];

pub(crate) const FAILURE: &[Key] = &[
    key("at", quantity(Unit::Time, 1, DAY), "", "When the link fails.", ""),
    key("from", Kind::Text, "", "Node at one end.", ""),
    key("to", Kind::Text, "", "Node at the other end.", ""),
    key("links", quantity_or(Unit::Count, 1, 1024, &["all"]), "all", "How many of parallel links fail, the first ones.", ""),
    key(
        "recovery",
        quantity_or(Unit::Time, 0, DAY, &["never"]),
        "never",
        "How long after the failure new routes are in place: on InfiniBand by the subnet manager's sweep, on Ethernet by the routing protocol.",
        "[A]; seconds at cluster scale",
    ),
];
