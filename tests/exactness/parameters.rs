//! Every key of the reference changes an outcome, or is listed here with the reason why it cannot.

use std::collections::BTreeSet;

use fabricsim::engine::AdapterChoice;
use fabricsim::outcome::Outcome;

use crate::scenarios::{A10, ADAPTIVE, INFINIBAND, LOSSY, PAUSES, try_load};
use crate::{options, outcome};

/// Key, settings of both runs, the value that makes the difference.
const KEYS: &[(&str, &str, &str)] = &[
    ("scenario.seed", "", "77"),
    ("scenario.stop", "", "20 us"),
    ("scenario.profile", "", "hpcc-ns3"),
    (
        "fabric.kind",
        "switch.buffer=20 MB;fabric.leaves=auto;fabric.spines=auto;fabric.endpoints_per_leaf=auto;fabric.parallel_links=auto",
        "rail",
    ),
    ("fabric.endpoints", "fabric.leaves=auto;fabric.endpoints_per_leaf=4", "12"),
    (
        "fabric.radix",
        "switch.buffer=20 MB;fabric.leaves=auto;fabric.spines=auto;fabric.endpoints_per_leaf=auto;fabric.parallel_links=auto",
        "8",
    ),
    (
        "fabric.oversubscription",
        "fabric.spines=auto;fabric.leaves=auto;fabric.endpoints_per_leaf=auto;fabric.parallel_links=auto;fabric.radix=8",
        "3",
    ),
    ("fabric.leaves", "fabric.endpoints_per_leaf=auto", "2"),
    ("fabric.spines", "", "4"),
    ("fabric.endpoints_per_leaf", "fabric.leaves=auto", "8"),
    ("fabric.parallel_links", "", "2"),
    ("fabric.link_rate", "", "40 Gbps"),
    ("fabric.uplink_rate", "", "40 Gbps"),
    ("fabric.link_length", "", "50 m"),
    ("fabric.uplink_length", "", "50 m"),
    ("fabric.phy_latency", "", "300 ns"),
    ("fabric.hash_seed", "", "9"),
    ("fabric.loss", "", "0.01"),
    ("fabric.drop_every", "", "31"),
    ("link.both", "link.0.from=leaf0;link.0.rate=40 Gbps", "false"),
    ("link.from", "link.0.rate=40 Gbps", "leaf1"),
    ("link.to", "link.0.from=leaf0;link.0.rate=40 Gbps", "spine1"),
    ("link.rate", "link.0.from=leaf0", "40 Gbps"),
    ("link.length", "link.0.from=leaf0;link.0.rate=99 Gbps", "1 km"),
    ("link.loss", "link.0.from=leaf0;link.0.rate=99 Gbps", "0.1"),
    ("link.drop_every", "link.0.from=leaf0;link.0.rate=99 Gbps", "5"),
    ("switch.buffer", LOSSY, "300 KB"),
    ("switch.reserve", PAUSES, "0 B"),
    ("switch.headroom", PAUSES, "20 KB"),
    ("switch.xon_gap", PAUSES, "30 KB"),
    ("switch.alpha", PAUSES, "1"),
    ("switch.alpha_lossy", LOSSY, "1/16"),
    (
        "switch.alpha_scaling",
        "class.data.ecn=false;switch.buffer=700 KB;switch.headroom=20 KB;cc.kind=none;fabric.uplink_rate=400 Gbps;switch.alpha=1/16",
        "rate",
    ),
    ("switch.latency", "", "900 ns"),
    ("switch.cut_through", "", "true"),
    ("switch.pfc_response", PAUSES, "3 us"),
    ("ecn.kmin", "", "60 KB"),
    ("ecn.kmax", "", "200 KB"),
    ("ecn.pmax", "", "100 %"),
    ("ecn.at_rate", "", "25 Gbps"),
    (
        "class.priority",
        "class.data.priority=3;class.control.priority=2;class.control.service=strict;class.data.service=strict;transport.ack_class=control",
        "1",
    ),
    ("class.lossless", "switch.buffer=400 KB;cc.kind=none;switch.headroom=20 KB", "false"),
    ("class.ecn", "", "false"),
    ("class.service", "transport.ack_every=1;traffic.1.class=control;class.control.service=weighted;switch.headroom=40 KB", "strict"),
    ("class.weight", "transport.ack_every=1;traffic.1.class=control;class.control.service=weighted;switch.headroom=40 KB", "7"),
    ("nic.latency", "", "900 ns"),
    ("transport.mtu", "", "1024 B"),
    ("transport.data_header", "", "90 B"),
    ("transport.first_header", "", "40 B"),
    ("transport.ack_frame", "", "90 B"),
    ("transport.cnp_frame", "", "200 B"),
    ("transport.pfc_frame", PAUSES, "90 B"),
    ("transport.gap", "", "40 B"),
    ("transport.ack_every", "", "3"),
    ("transport.ack_class", "", "control"),
    ("transport.cnp_class", "", "flow"),
    ("transport.recovery", LOSSY, "selective-repeat"),
    ("transport.rto", LOSSY, "90 us"),
    ("transport.retry_limit", "fabric.loss=0.2;transport.rto=20 us", "0"),
    ("transport.nak_interval", LOSSY, "3 us"),
    ("transport.window", "", "20 KB"),
    ("transport.variable_window", "transport.window=60 KB", "true"),
    ("cc.kind", "", "none"),
    ("cc.profile", "", "paper"),
    ("cc.variant", "cc.profile=connectx", "paper"),
    ("cc.cnp_mode", "", "ack-flag"),
    ("cc.cnp_interval", "", "50 us"),
    ("cc.g", "", "1/16"),
    ("cc.alpha_init", "", "1/2"),
    ("cc.alpha_period", "", "5 us"),
    ("cc.cut_period", "", "20 us"),
    ("cc.first_cut_delay", "", "10 us"),
    ("cc.increase_period", "", "10 us"),
    ("cc.byte_counter", "cc.profile=paper", "30 KB"),
    ("cc.fast_recovery", "cc.increase_period=2 us", "3"),
    ("cc.rate_ai", "cc.increase_period=2 us;cc.clamp_target=true", "5 Gbps"),
    ("cc.rate_hai", "cc.increase_period=2 us;cc.clamp_target=true", "9 Gbps"),
    ("cc.at_rate", "cc.increase_period=2 us;cc.clamp_target=true", "10 Gbps"),
    ("cc.rate_min", "", "30 Gbps"),
    ("cc.rate_max", "", "50 Gbps"),
    ("cc.rate_first_cnp", "", "10 Gbps"),
    ("cc.cut_shift", "", "2"),
    ("cc.min_keep", "", "9/10"),
    ("cc.clamp_target", "", "true"),
    ("cc.clamp_after_increase", "cc.increase_period=2 us", "false"),
    ("compat.grain", "", "1 ns"),
    ("compat.ack_ignores_pause", PAUSES, "true"),
    ("compat.eager_start", "fabric.uplink_length=5 m;transport.ack_class=control", "true"),
    ("compat.tie_by_flow", "traffic.0.stride=15", "true"),
    (
        "compat.hpcc_wakeup",
        "traffic.1.kind=incast;traffic.1.senders=8;traffic.1.stride=1;traffic.1.start=100 us;traffic.1.size=600 KB;traffic.0.size=600 KB;cc.profile=paper;cc.cnp_interval=1 us",
        "true",
    ),
    ("traffic.kind", "", "permutation"),
    ("traffic.class", "", "control"),
    ("traffic.seed", "traffic.0.stride=0", "5"),
    ("traffic.start", "", "5 us"),
    ("traffic.size", "", "90 KB"),
    ("traffic.repeat", "", "2"),
    ("traffic.interval", "traffic.0.repeat=2", "30 us"),
    ("traffic.receiver", "", "3"),
    ("traffic.senders", "", "3"),
    ("traffic.stride", "", "2"),
];

/// The same for keys of InfiniBand, on the InfiniBand scenario.
const INFINIBAND_KEYS: &[(&str, &str, &str)] = &[
    ("infiniband.lanes", "infiniband.vlarb_low=0:4", "1"),
    ("infiniband.buffer", "", "40 KB"),
    ("infiniband.fc_threshold", "", "16 KB"),
    ("infiniband.fc_interval", "infiniband.fc_threshold=16 KB", "3 us"),
    ("infiniband.sl2vl", "", "1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0"),
    ("infiniband.vlarb_high", "", "none"),
    ("infiniband.vlarb_low", "infiniband.vlarb_high=none", "0:1,1:200"),
    ("infiniband.high_limit", "", "255"),
    ("infiniband.input_arbitration", "", "first-come"),
    ("infiniband.hoq_lifetime", "", "500 ns"),
    ("infiniband.leaf_hoq_lifetime", "infiniband.high_limit=255", "300 ns"),
    ("infiniband.routing", "fabric.endpoints=15;fabric.endpoints_per_leaf=3;fabric.leaves=auto", "ftree"),
    ("infiniband.adaptive", "transport.recovery=out-of-order", "free"),
    ("infiniband.adaptive_sls", ADAPTIVE, "0"),
    ("infiniband.adaptive_grades", ADAPTIVE, "1280 B, 2560 B, 5120 B"),
    ("infiniband.binding", "transport.recovery=out-of-order;infiniband.adaptive=bounded", "100 us"),
    ("infiniband.shield", "failure.0.from=leaf1", "true"),
    ("failure.at", "failure.0.links=1", "40 us"),
    ("failure.from", "failure.0.links=1", "leaf1"),
    ("failure.to", "failure.0.links=1", "spine1"),
    ("failure.links", "fabric.parallel_links=2;failure.0.at=3 us", "1"),
    ("failure.recovery", "failure.0.links=1", "50 us"),
    ("traffic.sl", "", "0"),
    ("cc.threshold", A10, "1"),
    ("cc.marking_rate", A10, "9"),
    ("cc.packet_size", A10, "9000 B"),
    ("cc.victim_mask", A10, "all"),
    ("cc.ccti_by", "cc.kind=a10;cc.marking_rate=1;cc.ccti_timer=20 us;traffic.1.sl=1", "sl"),
    ("cc.ccti_increase", A10, "4"),
    ("cc.ccti_limit", A10, "3"),
    ("cc.ccti_min", A10, "20"),
    ("cc.ccti_timer", A10, "2 us"),
    ("cc.cct", A10, "simula"),
];

/// Keys that this scenario cannot show, and where they are shown.
const ELSEWHERE: &[(&str, &str)] = &[
    ("scenario.name", "names results"),
    ("fabric.technology", "the InfiniBand scenario"),
    ("fabric.rails", "rail fabrics: the ring below"),
    ("fabric.rail_only", "refuses traffic between rails: tests of src/scenario"),
    ("fabric.topology", "graph fabrics: tests/ns3.rs"),
    ("fabric.core_rate", "three tiers: tests of src/scenario"),
    ("fabric.core_length", "three tiers: tests of src/scenario"),
    ("ecn.profile", "a preset of this section, all of whose keys this scenario sets: tests of src/scenario"),
    ("ecn.by_rate", "tests/ns3.rs, whose imports set it"),
    ("ecn.by_rate.rate", "as ecn.by_rate"),
    ("ecn.by_rate.kmin", "as ecn.by_rate"),
    ("ecn.by_rate.kmax", "as ecn.by_rate"),
    ("ecn.by_rate.pmax", "as ecn.by_rate"),
    ("class.name", "a name"),
    ("traffic.name", "a name"),
    ("traffic.shift", "permutations: below"),
    ("traffic.group", "all-to-all and ring: tests of src/scenario"),
    ("traffic.load", "poisson: tests of src/scenario"),
    ("traffic.duration", "poisson: tests of src/scenario"),
    ("traffic.cdf", "poisson: tests of src/scenario"),
    ("traffic.file", "lists: tests/ns3.rs"),
    ("traffic.paths", "lists: tests/ns3.rs"),
    ("traffic.time_zero", "lists: tests/ns3.rs"),
    ("traffic.flows", "lists of flows: `after each other` of the named scenarios"),
    ("output.interval", "time series, never results"),
    ("output.ports", "time series, never results"),
    ("output.flows", "time series, never results"),
];

/// Keys of the reference page as `section.key`.
fn reference_keys() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let mut section = String::new();
    for line in fabricsim::scenario::reference_markdown().lines() {
        if let Some(title) = line.strip_prefix("## `").or_else(|| line.strip_prefix("### Entries of `")) {
            section = title.trim_matches(|c: char| "[]`".contains(c)).to_owned();
        } else if line.starts_with('#') {
            section.clear();
        } else if let Some((key, _)) = line.strip_prefix("| `").and_then(|l| l.split_once('`'))
            && !section.is_empty()
        {
            keys.insert(format!("{section}.{key}"));
        }
    }
    keys
}

fn result(text: &str, settings: &[&str]) -> Result<Outcome, String> {
    let case = try_load(text, settings).map_err(|e| e.to_string())?;
    Ok(outcome(&case, &options(AdapterChoice::BuiltIn, 1, None)))
}

#[test]
fn every_key_changes_an_outcome() {
    let mut silent = Vec::new();
    let ethernet = KEYS.iter().map(|k| ("", k));
    for (text, (key, both, value)) in ethernet.chain(INFINIBAND_KEYS.iter().map(|k| (INFINIBAND, k))) {
        let path = match key.split_once('.').expect("section and key") {
            ("class", k) => format!("class.data.{k}"),
            (list @ ("link" | "traffic" | "failure"), k) => format!("{list}.0.{k}"),
            _ => (*key).to_owned(),
        };
        let change = format!("{path}={value}");
        match (result(text, &[both]), result(text, &[both, &change])) {
            (Ok(without), Ok(with)) if without != with => {}
            (Ok(_), Ok(_)) => silent.push(format!("{key} changes nothing")),
            (Err(e), _) | (_, Err(e)) => silent.push(format!("{key}: {e}")),
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}

#[test]
fn every_key_of_the_reference_is_accounted_for() {
    let known: BTreeSet<String> =
        KEYS.iter().chain(INFINIBAND_KEYS).map(|k| k.0.to_owned()).chain(ELSEWHERE.iter().map(|k| k.0.to_owned())).collect();
    let keys: BTreeSet<String> = reference_keys().into_iter().filter(|k| !k.starts_with("traffic.flows.")).collect();
    let missing: Vec<_> = keys.difference(&known).collect();
    let unknown: Vec<_> = known.difference(&keys).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "not accounted for: {missing:?}; not in the reference: {unknown:?}");
}
