//! The keys of traffic, single links and time series; see [`crate::scenario::keys`].

use crate::scenario::keys::{DAY, Key, Kind, RATE_HIGH, RATE_LOW, key, quantity, quantity_or};
use crate::units::{SHARE_ONE, Unit};

const SIZE: Kind = quantity(Unit::Bytes, 1, 1 << 46);
const COUNT: Kind = quantity(Unit::Count, 0, 1 << 20);
const FLOW_ID: Kind = quantity(Unit::Count, 0, (1 << 30) - 1);

pub(crate) const LINK: &[Key] = &[
    key("from", Kind::Text, "", "Node at one end, e.g. `leaf0`.", ""),
    key("to", Kind::Text, "", "Node at the other end; of parallel links all are meant.", ""),
    key("both", Kind::Flag, "true", "Both directions; otherwise only from `from` to `to`.", ""),
    key("rate", quantity_or(Unit::Rate, RATE_LOW, RATE_HIGH, &["keep"]), "keep", "Rate.", ""),
    key("length", quantity_or(Unit::Length, 0, 200_000_000, &["keep"]), "keep", "Cable length.", ""),
    key("loss", quantity_or(Unit::Share, 0, SHARE_ONE / 2, &["keep"]), "keep", "Loss probability of a frame.", ""),
    key("drop_every", quantity_or(Unit::Count, 0, u32::MAX as u64, &["keep"]), "keep", "Every n-th frame is lost; 0 = off.", ""),
];

pub(crate) const TRAFFIC: &[Key] = &[
    key(
        "kind",
        Kind::Word(&["flows", "csv", "hpcc", "incast", "permutation", "all-to-all", "ring", "poisson"]),
        "",
        "Where the flows come from; `ring` is an all-reduce, each step released by the one before.",
        "",
    ),
    key("name", Kind::Text, "", "Name in the results; kind and number if left out.", ""),
    key("class", Kind::Text, "data", "Class of the flows (Ethernet).", ""),
    key("sl", quantity(Unit::Count, 0, 15), "0", "Service level of the flows (InfiniBand).", ""),
    key(
        "seed",
        quantity_or(Unit::Count, 0, u64::MAX, &["scenario"]),
        "scenario",
        "Seed of random pairs, sizes and times, and of ECMP hashes; `scenario` is that of the scenario.",
        "",
    ),
    key("start", quantity(Unit::Time, 0, DAY), "0 s", "Start of the first flow; added to the times of lists.", ""),
    key(
        "size",
        SIZE,
        "1 MB",
        "Message size (`incast`, `permutation`, `all-to-all`, and `poisson` without `cdf`); with `ring` the buffer that is reduced.",
        "",
    ),
    key(
        "repeat",
        quantity(Unit::Count, 1, 1_000_000),
        "1",
        "Times that the pattern is sent (`incast`, `permutation`, `all-to-all`, `ring`).",
        "",
    ),
    key("interval", quantity(Unit::Time, 0, DAY), "0 s", "Distance of repetitions.", ""),
    key("receiver", Kind::Text, "0", "Receiving endpoint (`incast`): name or number.", ""),
    key("senders", quantity(Unit::Count, 1, 1 << 20), "8", "Number of senders (`incast`).", ""),
    key(
        "stride",
        COUNT,
        "",
        "`incast`: distance of senders behind the receiver, 0 = random ones (default 0). `all-to-all` and `ring`: distance of a group's members (default 1).",
        "",
    ),
    key("shift", COUNT, "0", "Distance of source and destination (`permutation`); 0 = a random permutation.", ""),
    key("group", quantity_or(Unit::Count, 2, 1 << 20, &["all"]), "all", "Endpoints of a group (`all-to-all`, `ring`).", ""),
    key("load", quantity(Unit::Share, 1, 4 * SHARE_ONE), "30 %", "Offered payload over the rate of all endpoints (`poisson`).", ""),
    key("duration", quantity(Unit::Time, 1, DAY), "1 ms", "How long flows arrive (`poisson`).", ""),
    key(
        "cdf",
        Kind::Text,
        "",
        "File of message sizes (`poisson`): lines of bytes and cumulative percentage, relative to the scenario.",
        "form of HPCC's traffic generator",
    ),
    key("file", Kind::Text, "", "Flow list (`csv`, `hpcc`), relative to the scenario.", ""),
    key("paths", Kind::Text, "", "Pinned paths (`hpcc`), lines `src dst sport D nodes A nodes`.", ""),
    key("time_zero", quantity(Unit::Time, 0, DAY), "0 s", "Instant of the list that is 0 here (`hpcc`).", "HPCC's flows start at 2 s"),
    key("flows", Kind::Tables("traffic.flows"), "", "The flows (`flows`), e.g. `[{ src = 0, dst = 1, size = \"1 MB\" }]`.", ""),
];

pub(crate) const FLOW: &[Key] = &[
    key("src", Kind::Text, "", "Source endpoint: name or number.", ""),
    key("dst", Kind::Text, "", "Destination endpoint.", ""),
    key("size", SIZE, "", "Message size.", ""),
    key("start", quantity(Unit::Time, 0, DAY), "0 s", "Start; with `after`, the delay behind that completion.", ""),
    key("id", quantity_or(Unit::Count, 0, (1 << 30) - 1, &["next"]), "next", "Id in results, unique.", ""),
    key("after", FLOW_ID, "", "Id of the flow whose completion releases this one.", ""),
    key(
        "on",
        Kind::Word(&["received", "sent"]),
        "",
        "Which completion: that flow's last byte received here, or its last acknowledgement. The one that this flow's source sees if left out.",
        "",
    ),
    key("path", Kind::Text, "", "Nodes of the data path between source and destination, separated by blanks; hashed if left out.", ""),
    key("ack_path", Kind::Text, "", "Nodes of the acknowledgement path.", ""),
];

pub(crate) const OUTPUT: &[Key] = &[
    key("interval", quantity_or(Unit::Time, 1000, DAY, &["off"]), "off", "Distance of samples.", ""),
    key("ports", Kind::Texts, "", "Ports to sample: names as `leaf0/p3`, nodes, or `all`.", ""),
    key("flows", Kind::Texts, "", "Flows to sample: ids, traffic groups, or `all`.", ""),
];
