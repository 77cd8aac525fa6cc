//! Small scenarios that between them use every mechanism, by name and at random.

use std::path::Path;

use fabricsim::case::Case;
use fabricsim::error::Error;
use fabricsim::scenario::load_text;
use proptest::prelude::*;

pub struct Scenario {
    pub name: &'static str,
    pub case: Case,
}

/// Sixteen endpoints on four leaves and two spines, an incast of 8 over a shifted permutation.
const BASE: &str = r#"
[scenario]
name = "exactness"
profile = "roce-100g"
[fabric]
kind = "leaf-spine"
endpoints = 16
leaves = 4
spines = 2
endpoints_per_leaf = 4
parallel_links = 1
link_rate = "100 Gbps"
[switch]
buffer = "2 MB"
[ecn]
kmin = "20 KB"
kmax = "80 KB"
pmax = "20 %"
[transport]
rto = "200 us"
[[class]]
name = "data"
priority = 3
lossless = true
ecn = true
[[class]]
name = "control"
priority = 6
service = "strict"
[[traffic]]
name = "incast"
kind = "incast"
receiver = 0
senders = 8
stride = 1
size = "200 KB"
[[traffic]]
name = "background"
kind = "permutation"
shift = 5
size = "100 KB"
"#;

/// The same traffic on an InfiniBand fabric of two lanes with small buffers.
pub const INFINIBAND: &str = r#"
[fabric]
technology = "infiniband"
kind = "leaf-spine"
endpoints = 16
leaves = 4
spines = 2
endpoints_per_leaf = 4
parallel_links = 1
link_rate = "100 Gbps"
[infiniband]
lanes = 2
buffer = "20 KB"
vlarb_high = "0:40"
[transport]
rto = "200 us"
[[traffic]]
name = "incast"
kind = "incast"
receiver = 0
senders = 8
stride = 1
size = "200 KB"
sl = 1
[[traffic]]
name = "background"
kind = "permutation"
shift = 5
size = "100 KB"
"#;

pub const A10: &str = "cc.kind=a10;cc.marking_rate=1;cc.ccti_timer=20 us";
pub const ADAPTIVE: &str = "infiniband.adaptive=free;transport.recovery=out-of-order";
pub const LOSSY: &str = "class.data.lossless=false;switch.buffer=400 KB;switch.alpha_lossy=1/4;cc.kind=none";
pub const PAUSES: &str = "class.data.ecn=false;switch.buffer=700 KB;switch.headroom=40 KB;cc.kind=none";
pub const HPCC: &str = "compat.grain=1 ns;compat.ack_ignores_pause=true;compat.eager_start=true;compat.tie_by_flow=true;compat.hpcc_wakeup=true;cc.cnp_mode=ack-flag";

/// Name, text that replaces the base (or nothing), settings separated by semicolons.
const NAMED: &[(&str, &str, &[&str])] = &[
    ("infiniband", INFINIBAND, &[]),
    ("infiniband, annex A10", INFINIBAND, &[A10]),
    (
        "infiniband, annex A10 by service level, CNPs",
        INFINIBAND,
        &[A10, "cc.ccti_by=sl;cc.cnp_mode=packet;cc.cnp_interval=2 us;cc.victim_mask=all"],
    ),
    (
        "infiniband, lifetimes end",
        INFINIBAND,
        &["infiniband.hoq_lifetime=500 ns;infiniband.leaf_hoq_lifetime=300 ns;infiniband.high_limit=255"],
    ),
    ("infiniband, adaptive", INFINIBAND, &[ADAPTIVE]),
    (
        "infiniband, bounded, by grade",
        INFINIBAND,
        &[ADAPTIVE, "infiniband.adaptive=bounded;infiniband.adaptive_grades=1280 B, 2560 B, 5120 B"],
    ),
    (
        "infiniband, first come, store and forward",
        INFINIBAND,
        &["infiniband.input_arbitration=first-come;switch.cut_through=false;infiniband.high_limit=2"],
    ),
    ("infiniband, losses", INFINIBAND, &["fabric.loss=0.01;transport.recovery=selective-repeat;infiniband.fc_threshold=64 B"]),
    ("infiniband, a link fails", INFINIBAND, &["failure.0.recovery=100 us"]),
    ("infiniband, switches route around a failure", INFINIBAND, &["infiniband.shield=true;failure.0.at=20 us"]),
    ("a link fails", "", &["failure.0.recovery=100 us"]),
    ("incast", "", &[]),
    ("one byte", "", &["traffic.0.size=1 B;traffic.1.size=1 B"]),
    ("pfc storm", "", &[PAUSES]),
    ("pfc storm, dcqcn", "", &["switch.buffer=700 KB;switch.headroom=40 KB"]),
    ("headroom too small", "", &[PAUSES, "switch.headroom=2 KB"]),
    ("no headroom", "", &[PAUSES, "switch.headroom=0 B;transport.recovery=selective-repeat"]),
    ("alpha small", "", &[PAUSES, "switch.alpha=1/128"]),
    ("alpha large", "", &[PAUSES, "switch.alpha=8"]),
    ("no reserve", "", &[PAUSES, "switch.reserve=0 B"]),
    ("xon gap", "", &[PAUSES, "switch.xon_gap=50 KB"]),
    ("slow pause", "", &[PAUSES, "switch.pfc_response=5 us"]),
    ("tail drop, go-back-n", "", &[LOSSY]),
    ("tail drop, go-back-0", "", &[LOSSY, "transport.recovery=go-back-0;traffic.0.size=40 KB;traffic.1.size=40 KB"]),
    ("tail drop, selective repeat", "", &[LOSSY, "transport.recovery=selective-repeat"]),
    ("tail drop, dcqcn", "", &[LOSSY, "cc.kind=dcqcn"]),
    ("repeated naks", "", &[LOSSY, "transport.nak_interval=5 us"]),
    ("random loss", "", &["fabric.loss=0.01"]),
    ("random loss, selective repeat", "", &["fabric.loss=0.02;transport.recovery=selective-repeat"]),
    ("every 13th lost", "", &["fabric.drop_every=13"]),
    ("flows fail", "", &["fabric.loss=0.3;transport.retry_limit=1;transport.rto=20 us"]),
    ("lossy link", "", &["link.0.from=leaf0;link.0.to=spine0;link.0.loss=0.1;link.0.rate=40 Gbps"]),
    ("every packet acknowledged", "", &["transport.ack_every=1"]),
    ("few acknowledgements", "", &["transport.ack_every=64"]),
    ("acks in the control class", "", &["transport.ack_class=control;transport.ack_every=2"]),
    ("cnps with the data", "", &["transport.cnp_class=flow"]),
    ("flags instead of cnps", "", &["cc.cnp_mode=ack-flag"]),
    ("acks pass pauses", "", &[PAUSES, "compat.ack_ignores_pause=true"]),
    ("eager start", "", &["compat.eager_start=true"]),
    ("ties by flow", "", &["compat.tie_by_flow=true"]),
    ("kept wake-up", "", &["compat.hpcc_wakeup=true"]),
    ("like hpcc", "", &[HPCC]),
    ("like hpcc, pauses", "", &[PAUSES, HPCC]),
    ("like hpcc, window", "", &[HPCC, "transport.window=40 KB;transport.variable_window=true"]),
    ("window", "", &["transport.window=30 KB"]),
    ("variable window", "", &["transport.window=60 KB;transport.variable_window=true"]),
    ("paper", "", &["cc.profile=paper;traffic.0.size=600 KB"]),
    ("paper, byte counter", "", &["cc.profile=paper;cc.byte_counter=30 KB;cc.increase_period=20 us"]),
    ("paper, no clamp", "", &["cc.profile=paper;cc.clamp_target=false;cc.clamp_after_increase=false;cc.cnp_interval=2 us"]),
    ("firmware", "", &["cc.profile=connectx;traffic.0.size=600 KB"]),
    ("firmware, first cnp", "", &["cc.profile=connectx;cc.rate_first_cnp=10 Gbps;cc.increase_period=10 us"]),
    ("rate cap", "", &["cc.rate_max=60 Gbps"]),
    ("floor", "", &["cc.rate_min=20 Gbps;cc.cnp_interval=1 us"]),
    ("cut-through", "", &["switch.cut_through=true"]),
    ("cut-through, fast uplinks", "", &["switch.cut_through=true;fabric.uplink_rate=400 Gbps"]),
    ("cut-through, slow uplinks", "", &["switch.cut_through=true;fabric.uplink_rate=40 Gbps"]),
    ("small packets", "", &["transport.mtu=256 B;traffic.0.size=40 KB;traffic.1.size=40 KB"]),
    ("parallel links", "", &["fabric.parallel_links=2;fabric.uplink_length=0 mm"]),
    ("unequal cables", "", &["fabric.link_length=1 m;fabric.uplink_length=300 m"]),
    ("stopped", "", &["scenario.stop=37 us"]),
    ("slow links", "", &["fabric.link_rate=250 Mbps;traffic.0.size=60 KB;traffic.1.size=60 KB;transport.rto=80 ms"]),
    ("long rests", "", &["traffic.1.repeat=3;traffic.1.interval=7 ms"]),
    ("poisson", "", &["traffic.1.kind=poisson;traffic.1.size=20 KB;traffic.1.load=40 %;traffic.1.duration=40 us"]),
    ("single switch", SINGLE, &[]),
    ("fat tree", FAT_TREE, &[]),
    ("weighted classes", WEIGHTED, &[]),
    ("ring", RING, &[]),
    ("after each other", AFTER, &[]),
];

const SINGLE: &str = r#"
[scenario]
profile = "roce-400g"
[fabric]
kind = "single"
endpoints = 9
[switch]
buffer = "1 MB"
headroom = "50 KB"
[[traffic]]
kind = "incast"
receiver = 0
senders = 8
stride = 1
size = "400 KB"
"#;

const FAT_TREE: &str = r#"
[scenario]
profile = "roce-100g"
[fabric]
kind = "fat-tree"
endpoints = 16
radix = 4
[[traffic]]
kind = "all-to-all"
size = "10 KB"
"#;

const RING: &str = r#"
[scenario]
profile = "roce-100g"
[fabric]
kind = "rail"
endpoints = 16
rails = 4
[[traffic]]
kind = "ring"
size = "400 KB"
"#;

const WEIGHTED: &str = r#"
[scenario]
profile = "roce-100g"
[fabric]
kind = "single"
endpoints = 6
[[class]]
name = "gold"
priority = 5
lossless = true
ecn = true
weight = 3
[[class]]
name = "silver"
priority = 4
ecn = true
weight = 1
[[class]]
name = "bronze"
priority = 2
lossless = true
[[class]]
name = "control"
priority = 6
service = "strict"
[switch]
buffer = "1 MB"
headroom = "40 KB"
[transport]
rto = "300 us"
[[traffic]]
name = "a"
class = "gold"
kind = "incast"
receiver = 0
senders = 3
stride = 1
size = "150 KB"
[[traffic]]
name = "b"
class = "silver"
kind = "incast"
receiver = 0
senders = 4
stride = 1
size = "150 KB"
[[traffic]]
name = "c"
class = "bronze"
kind = "incast"
receiver = 0
senders = 5
stride = 1
size = "90 KB"
"#;

const AFTER: &str = r#"
[scenario]
profile = "roce-100g"
[fabric]
kind = "leaf-spine"
endpoints = 8
leaves = 2
spines = 2
endpoints_per_leaf = 4
parallel_links = 1
[[traffic]]
kind = "flows"
flows = [
  { src = 0, dst = 5, size = "100 KB", id = 1, path = "leaf0 spine1 leaf1", ack_path = "leaf1 spine0 leaf0" },
  { src = 0, dst = 6, size = "50 KB", id = 2, after = 1 },
  { src = 5, dst = 0, size = "50 KB", id = 3, after = 1 },
  { src = 5, dst = 2, size = "1 B", id = 4, after = 1, start = "3 us" },
  { src = 0, dst = 7, size = "30 KB", id = 5, after = 2, start = "5 ms" },
  { src = 3, dst = 7, size = "30 KB", id = 6, start = "5 us" },
]
"#;

fn settings(lists: &[&str]) -> Vec<(String, String)> {
    let all = lists.iter().flat_map(|list| list.split(';')).filter(|s| !s.is_empty());
    all.filter_map(|s| s.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

/// Loads a text with settings; some settings need lines of the file to be gone.
pub fn try_load(text: &str, lists: &[&str]) -> Result<Case, Error> {
    let settings = settings(lists);
    let mut text = if text.is_empty() { BASE.to_owned() } else { text.to_owned() };
    let has = |key: &str| settings.iter().any(|(k, _)| k == key);
    if has("traffic.1.kind") {
        text = text.replace("shift = 5\n", "");
    }
    if settings.iter().any(|(k, _)| k.starts_with("link.0.")) {
        text.push_str("[[link]]\nfrom = \"leaf0\"\nto = \"spine0\"\n");
    }
    if settings.iter().any(|(k, _)| k.starts_with("failure.0.")) {
        text.push_str("[[failure]]\nat = \"30 us\"\nfrom = \"leaf0\"\nto = \"spine0\"\n");
    }
    load_text(Path::new("exactness.toml"), &text, &settings).map(|plan| plan.case)
}

/// The same for what must load.
fn load(name: &str, text: &str, lists: &[&str]) -> Case {
    try_load(text, lists).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// All named scenarios.
pub fn named() -> Vec<Scenario> {
    NAMED.iter().map(|(name, text, lists)| Scenario { name, case: load(name, text, lists) }).collect()
}

fn pick(values: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(values)
}

/// A random scenario: independent choices of many settings, and a seed.
pub fn arbitrary() -> impl Strategy<Value = Case> {
    let buffers = (
        pick(&["switch.buffer=500 KB;switch.headroom=20 KB", "switch.buffer=700 KB;switch.headroom=40 KB", "switch.buffer=4 MB"]),
        pick(&["switch.alpha=1/64", "switch.alpha=1/4", "switch.alpha=2"]),
        pick(&["switch.reserve=0 B", "switch.reserve=4 KiB"]),
        pick(&["class.data.lossless=true", "class.data.lossless=false"]),
        pick(&["switch.cut_through=true", "switch.cut_through=false"]),
    );
    let links = (
        pick(&["fabric.link_rate=100 Gbps", "fabric.link_rate=40 Gbps", "fabric.link_rate=400 Gbps"]),
        pick(&["fabric.uplink_rate=auto", "fabric.uplink_rate=25 Gbps"]),
        pick(&["fabric.uplink_length=0 mm", "fabric.uplink_length=10 m", "fabric.uplink_length=400 m"]),
        pick(&["fabric.loss=0", "fabric.loss=0.004", "fabric.drop_every=17"]),
        pick(&["fabric.parallel_links=1", "fabric.parallel_links=2"]),
    );
    let transport = (
        pick(&[
            "transport.recovery=go-back-n",
            "transport.recovery=selective-repeat",
            "transport.recovery=go-back-n;transport.nak_interval=3 us",
        ]),
        pick(&["transport.ack_every=1", "transport.ack_every=3", "transport.ack_every=16"]),
        pick(&["transport.ack_class=flow", "transport.ack_class=control"]),
        pick(&["transport.window=none", "transport.window=20 KB", "transport.window=50 KB;transport.variable_window=true"]),
        pick(&["transport.mtu=512 B", "transport.mtu=1024 B", "transport.mtu=4096 B"]),
    );
    let control = (
        pick(&["cc.kind=none", "cc.profile=paper", "cc.profile=connectx", "cc.profile=hpcc", "cc.profile=paper;cc.byte_counter=20 KB"]),
        pick(&["", HPCC, "compat.eager_start=true", "compat.tie_by_flow=true"]),
        pick(&["traffic.0.start=0 s", "traffic.0.start=3 us"]),
        pick(&["traffic.0.senders=3", "traffic.0.senders=15"]),
        pick(&["", "", "scenario.stop=30 us"]),
    );
    let sizes = (1_u32..60_000, 1_u32..60_000, any::<u16>());
    (buffers, links, transport, control, sizes).prop_map(|(b, l, t, c, (incast, background, seed))| {
        let own = format!("traffic.0.size={incast} B;traffic.1.size={background} B;scenario.seed={seed}");
        let flag = if c.0.contains("none") && c.1 == HPCC { "" } else { c.1 };
        load("random", "", &[b.0, b.1, b.2, b.3, b.4, l.0, l.1, l.2, l.3, l.4, t.0, t.1, t.2, t.3, t.4, c.0, flag, c.2, c.3, c.4, &own])
    })
}
