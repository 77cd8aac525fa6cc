//! Whole scenarios: examples, mistakes, every key, and noise.

use std::path::Path;

use proptest::prelude::*;

use super::keys::{INNER, Kind, SECTIONS};
use super::*;
use crate::case::NodeKind;
use crate::plan::Plan;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/scenarios")
}

fn read(text: &str, overrides: &[(&str, &str)]) -> Result<Plan, Error> {
    let overrides: Vec<(String, String)> = overrides.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    load_text(&root().join("test.toml"), text, &overrides)
}

fn mistake(text: &str, overrides: &[(&str, &str)]) -> InputError {
    match read(text, overrides) {
        Err(Error::Input(e)) => e,
        other => panic!("{text:?} {overrides:?}: {other:?}"),
    }
}

const SMALL: &str = "[fabric]\nkind = \"single\"\nendpoints = 4\n[[traffic]]\nkind = \"incast\"\nsenders = 2\n";

#[test]
fn examples_load_without_notes() {
    let mut seen = 0;
    for entry in std::fs::read_dir(root()).expect("the folder is there") {
        let path = entry.expect("is readable").path();
        if path.extension().is_some_and(|e| e == "toml") {
            let plan = load(&path, &[]).unwrap_or_else(|e| panic!("{e}"));
            assert!(plan.notes.iter().all(|n| n.starts_with("assumed")), "{}: {:?}", path.display(), plan.notes);
            assert_eq!(plan.case.flows.len(), plan.ideal_fct_ps.len());
            assert!(plan.case.flows.iter().all(|f| f.after.is_none()) || path.ends_with("ring-all-reduce.toml"));
            assert!(plan.ideal_fct_ps.iter().all(|t| *t > 0));
            seen += 1;
        }
    }
    assert!(seen >= 8);
}

#[test]
fn the_quickstart_is_of_moderate_size() {
    let plan = load(&root().join("quickstart.toml"), &[]).expect("loads");
    let case = &plan.case;
    let hops = |f: &crate::case::FlowSpec| {
        let path = route::path(&case.nodes, &case.ports, &case.routes, f.src, f.dst, f.hash_data, &[]).expect("is reachable");
        u64::from(f.n_packets) * u64::try_from(path.len()).expect("is short")
    };
    let total: u64 = case.flows.iter().map(hops).sum();
    assert!((1_000_000..5_000_000).contains(&total), "{total} data packet-hops");
    assert_eq!(plan.groups, ["background", "incast"]);
}

#[test]
fn an_empty_scenario_is_a_plan() {
    let plan = read("", &[]).expect("has defaults for everything");
    assert_eq!(plan.case.nodes.iter().filter(|n| n.kind == NodeKind::Endpoint).count(), 64);
    assert!(plan.case.flows.is_empty());
    assert_eq!(plan.settings["switch.buffer"], "114 MB");
}

#[test]
fn mistakes_say_where_and_what() {
    for (text, line, key, part) in [
        ("[switch]\nbufer = \"1 MB\"\n", 2, "switch.bufer", "did you mean `buffer`"),
        ("[swich]\n", 1, "swich", "did you mean `switch`"),
        ("[switch]\nbuffer = 5\n", 2, "switch.buffer", "needs a unit, e.g. \"32 MiB\""),
        ("[switch]\nbuffer = \"5 Gbps\"\n", 2, "switch.buffer", "not a unit"),
        ("[switch]\n\nalpha = 100\n", 3, "switch.alpha", "out of range"),
        ("[switch]\ncut_through = 1\n", 2, "switch.cut_through", "true or false"),
        ("[fabric]\nkind = \"leafspine\"\n", 2, "fabric.kind", "did you mean \"leaf-spine\""),
        ("[fabric]\nkind = \"single\"\nspines = 4\n", 3, "fabric.spines", "has no effect"),
        ("[fabric]\nendpoints = 3000\n", 2, "fabric.endpoints", "exceed the 2048"),
        ("[scenario]\nprofile = \"roce-400\"\n", 2, "scenario.profile", "did you mean \"roce-400g\""),
        ("[cc]\nprofile = \"mellanox\"\n", 2, "cc.profile", "connectx"),
        ("[ecn]\nprofile = \"cisco\"\n", 2, "ecn.profile", "did you mean \"cisco-n9k\""),
        ("[[traffic]]\nkind = \"incast\"\nclass = \"bulk\"\n", 3, "traffic.0.class", "classes are"),
        ("[[traffic]]\nkind = \"incast\"\nload = 0.5\n", 3, "traffic.0.load", "has no effect"),
        ("[[traffic]]\nname = \"x\"\n", 2, "traffic.0.kind", "is missing"),
        ("[[traffic]]\nkind = \"flows\"\nflows = [\n{ src = 0, dst = 99, size = \"1 B\" }]\n", 4, "traffic.0.dst", "numbered 0 to 63"),
        ("[[traffic]]\nkind = \"flows\"\nflows = [\n{ src = 0, dst = 1, size = 1 }]\n", 4, "traffic.0.flows.0.size", "needs a unit"),
        ("[[traffic]]\nkind = \"csv\"\nfile = \"absent.csv\"\n", 3, "traffic.0.file", "cannot read"),
        ("[switch]\nbuffer = 1\nbuffer = 2\n", 3, "", "not valid TOML"),
        ("traffic = 5\n", 1, "traffic", "list of sections"),
        ("[output]\ninterval = \"1 us\"\nports = [\"leaf9\"]\n", 3, "output.ports", "neither a port"),
    ] {
        let error = mistake(text, &[]);
        assert!(error.line == Some(line) && error.key == key && error.message.contains(part), "{text:?}: {error:?}");
        assert_eq!(error.file, root().join("test.toml"));
    }
}

#[test]
fn overrides_are_checked_alike() {
    for (key, value, part) in [
        ("switch.bufer", "1 MB", "did you mean `buffer`"),
        ("switch.buffer", "5", "needs a unit"),
        ("switch", "5", "must be a section"),
        ("class.bulk.ecn", "true", "no `bulk`"),
        ("traffic.5.size", "1 MB", "no `5`"),
        ("fabric.spines", "2", "has no effect"),
        ("", "1", "not a dotted key"),
    ] {
        let error = mistake(SMALL, &[(key, value)]);
        assert!(error.file.as_os_str().is_empty() && error.key == key && error.message.contains(part), "{key}: {error:?}");
    }
    let plan =
        read(SMALL, &[("cc.kind", "none"), ("class.data.ecn", "false"), ("traffic.0.size", "2MB"), ("fabric.loss", "1e-3")]).expect("fits");
    assert_eq!(plan.case.flows[0].size_bytes, 2_000_000);
    assert!(!plan.case.classes.iter().any(|c| c.ecn));
    let relaxed = read(&format!("[cc]\nkind = \"dcqcn\"\ng = 0.1\n{SMALL}"), &[("cc.kind", "none")])
        .expect("keys that lose their meaning are only noted");
    assert!(relaxed.notes.iter().any(|n| n.contains("cc.g")), "{:?}", relaxed.notes);
}

#[test]
fn presets_and_profiles_load() {
    for (name, description) in presets() {
        assert!(description.len() > 20 && preset_toml(&name).is_some(), "{name}");
        let text = match name.split_once('/') {
            Some((section, preset)) => format!("[{section}]\nprofile = \"{preset}\"\n"),
            None => format!("[scenario]\nprofile = \"{name}\"\n"),
        };
        let plan = read(&text, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_ne!(plan.case, read("", &[("scenario.seed", "2")]).expect("loads").case);
    }
    let ns3 = read("[scenario]\nprofile = \"hpcc-ns3\"\n", &[("fabric.kind", "single"), ("fabric.endpoints", "2")]).expect("loads").case;
    assert_eq!((ns3.rules.grain_ps, ns3.classes.len(), ns3.ports[0].delay_ps, ns3.ports[0].pfc_delay_ps), (1000, 1, 1_000_000, 1_000_000));
    assert_eq!((ns3.ports[3].ecn.kmin_bytes, ns3.rules.dcqcn.rate_ai_kbps), (400_000, 20_000));
}

#[test]
fn presets_of_sections_beat_the_profile() {
    let kmin = |text: &str, overrides: &[(&str, &str)]| read(text, overrides).expect("loads").case.ports[0].ecn.kmin_bytes;
    let text = "[scenario]\nprofile = \"roce-100g\"\n";
    assert_eq!(kmin(text, &[]), 150_000);
    assert_eq!(kmin(text, &[("ecn.profile", "sonic")]), 1_048_576);
    assert_eq!(kmin(text, &[("ecn.profile", "sonic"), ("ecn.kmin", "1 KB")]), 1000);
    assert_eq!(kmin(&format!("{text}[ecn]\nprofile = \"paper\"\n"), &[]), 5000);
    let small = mistake("[switch]\nbuffer = \"64 KB\"\n", &[]);
    assert!(small.key == "switch.buffer" && small.message.contains("nothing is left"), "{small}");
}

#[test]
fn dependent_flows_must_be_seen_by_their_source() {
    let flows = |list: &str| format!("[fabric]\nkind = \"single\"\nendpoints = 4\n[[traffic]]\nkind = \"flows\"\nflows = [{list}]\n");
    let good = read(
        &flows("{src=0,dst=1,size=\"1 KB\",id=9},{src=1,dst=2,size=\"1 KB\",after=9,start=\"5 ns\"},{src=0,dst=3,size=\"1 KB\",after=9}"),
        &[],
    )
    .expect("is fine");
    let after = |id: u32| {
        good.case.flows.iter().find(|f| f.id == id).and_then(|f| f.after).map(|a| (good.case.flows[a.flow as usize].id, a.received))
    };
    assert_eq!((after(0), after(1)), (Some((9, true)), Some((9, false))));
    for (list, part) in [
        ("{src=0,dst=1,size=\"1 KB\",id=9},{src=2,dst=3,size=\"1 KB\",after=9}", "does not see"),
        ("{src=0,dst=1,size=\"1 KB\",id=9},{src=0,dst=3,size=\"1 KB\",after=9,on=\"received\"}", "does not see"),
        ("{src=0,dst=1,size=\"1 KB\",id=9,after=8},{src=1,dst=0,size=\"1 KB\",id=8,after=9}", "wait for each other"),
        ("{src=0,dst=1,size=\"1 KB\",after=7}", "does not exist"),
        ("{src=0,dst=1,size=\"1 KB\",id=7},{src=0,dst=1,size=\"1 KB\",id=7}", "used twice"),
        ("{src=0,dst=0,size=\"1 KB\"}", "is the source too"),
        ("{src=0,dst=1,size=\"1 KB\",path=\"switch1\"}", "no node"),
    ] {
        let error = mistake(&flows(list), &[]);
        assert!(error.message.contains(part), "{list}: {error}");
    }
}

#[test]
fn flow_lists_in_csv() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(dir.path().join("f.csv"), "src,dst,size,after,id\ngpu0,gpu1,1 KB,,4\n1,0,2 KB,4,\n").expect("writes");
    let text = "[fabric]\nkind = \"single\"\nendpoints = 2\n[[traffic]]\nkind = \"csv\"\nfile = \"f.csv\"\n";
    let plan = load_text(&dir.path().join("s.toml"), text, &[]).expect("loads");
    assert_eq!(plan.case.flows[1].after, Some(crate::case::After { flow: 0, received: true }));
    assert_eq!(plan.inputs.len(), 2);
    assert_eq!(plan.inputs[1].sha256.len(), 64);
    std::fs::write(dir.path().join("f.csv"), "src,dst,size\ngpu0,gpu7,1 KB\n").expect("writes");
    match load_text(&dir.path().join("s.toml"), text, &[]) {
        Err(Error::Input(e)) => assert_eq!((e.file, e.line, e.key.as_str()), (dir.path().join("f.csv"), Some(2), "dst")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_large_fabric_is_quick() {
    let begin = std::time::Instant::now();
    let plan = read("[fabric]\nkind = \"fat-tree\"\nendpoints = 24576\n[[traffic]]\nkind = \"permutation\"\n", &[]).expect("fits");
    assert_eq!(plan.case.flows.len(), 24_576);
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

#[test]
fn ring_routes_take_the_shorter_way() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let topology = "8 4 8\n4 5 6 7\n0 4 1Gbps 1us 0\n1 5 1Gbps 1us 0\n2 6 1Gbps 1us 0\n3 7 1Gbps 1us 0\n4 5 1Gbps 1us 0\n5 6 1Gbps 1us 0\n6 7 1Gbps 1us 0\n7 4 1Gbps 1us 0\n";
    std::fs::write(dir.path().join("t"), topology).expect("writes");
    let text = "[fabric]\nkind = \"graph\"\ntopology = \"t\"\n";
    let case = load_text(&dir.path().join("s.toml"), text, &[]).expect("loads").case;
    let group = |switch: usize, leaf: u32| {
        let g = case.routes.table[case.routes.switch_row[switch] as usize * 4 + leaf as usize] as usize;
        (case.routes.group_start[g + 1] - case.routes.group_start[g]) as usize
    };
    assert_eq!((group(4, 1), group(4, 2), group(4, 3)), (1, 2, 1));
}

/// For every key, a scenario in which another value changes the plan.
fn settings_that_matter() -> Vec<(&'static str, &'static str, &'static str)> {
    const INCAST: &str = SMALL;
    const LEAF: &str = "[fabric]\nendpoints = 16\n[[traffic]]\nkind = \"permutation\"\n";
    const RAIL: &str = "[fabric]\nkind = \"rail\"\nendpoints = 32\n";
    const TREE: &str = "[fabric]\nkind = \"fat-tree\"\nendpoints = 16\nradix = 4\n";
    const PAPER: &str = "[cc]\nprofile = \"paper\"\n";
    const LINK: &str = "[fabric]\nleaves = 2\nspines = 2\n[[link]]\nfrom = \"leaf0\"\nto = \"spine0\"\nrate = \"100 Gbps\"\n";
    const RATES: &str = "[ecn]\nby_rate = [{ rate = \"400 Gbps\", kmin = \"1 KB\", kmax = \"2 KB\", pmax = 0.5 }]\n";
    const FLOWS: &str = "[fabric]\nendpoints = 8\nleaves = 2\nspines = 2\n[[traffic]]\nkind = \"flows\"\nflows = [{ src = 0, dst = 4, size = \"1 MB\", id = 1 }, { src = 4, dst = 0, size = \"1 MB\" }, { src = 4, dst = 0, size = \"1 MB\", id = 7, after = 1 }]\n";
    const BOTH: &str = "[fabric]\nkind = \"single\"\nendpoints = 4\n[[traffic]]\nkind = \"flows\"\nflows = [{ src = 0, dst = 0, size = \"1 KB\", id = 1 }, { src = 0, dst = 1, size = \"1 KB\", after = 1 }]\n";
    const A2A: &str = "[fabric]\nendpoints = 8\n[[traffic]]\nkind = \"all-to-all\"\ngroup = 4\n";
    const POISSON: &str = "[fabric]\nendpoints = 8\n[[traffic]]\nkind = \"poisson\"\n";
    const REPEAT: &str = "[fabric]\nendpoints = 8\n[[traffic]]\nkind = \"permutation\"\nrepeat = 2\n";
    const SAMPLE: &str = "[fabric]\nkind = \"single\"\nendpoints = 4\n[[traffic]]\nkind = \"incast\"\nsenders = 2\n[output]\ninterval = \"1 us\"\nports = [\"all\"]\n";
    const WEIGHTED: &str = "[[class]]\nname = \"data\"\npriority = 3\n[[class]]\nname = \"control\"\npriority = 6\n";
    let _ = BOTH;
    vec![
        ("scenario.name", "\"other\"", INCAST),
        ("scenario.seed", "5", INCAST),
        ("scenario.stop", "1 ms", INCAST),
        ("scenario.profile", "roce-100g", INCAST),
        ("fabric.kind", "leaf-spine", INCAST),
        ("fabric.endpoints", "5", INCAST),
        ("fabric.radix", "16", LEAF),
        ("fabric.oversubscription", "3", LEAF),
        ("fabric.leaves", "4", LEAF),
        ("fabric.spines", "4", LEAF),
        ("fabric.endpoints_per_leaf", "4", LEAF),
        ("fabric.parallel_links", "3", LEAF),
        ("fabric.rails", "4", RAIL),
        ("fabric.rail_only", "true", RAIL),
        ("fabric.link_rate", "200 Gbps", INCAST),
        ("fabric.uplink_rate", "800 Gbps", LEAF),
        ("fabric.core_rate", "800 Gbps", TREE),
        ("fabric.link_length", "9 m", INCAST),
        ("fabric.uplink_length", "9 m", LEAF),
        ("fabric.core_length", "9 m", TREE),
        ("fabric.phy_latency", "1 ns", INCAST),
        ("fabric.hash_seed", "9", INCAST),
        ("fabric.loss", "0.1", INCAST),
        ("fabric.drop_every", "9", INCAST),
        ("link.0.from", "\"leaf1\"", LINK),
        ("link.0.to", "\"spine1\"", LINK),
        ("link.0.both", "false", LINK),
        ("link.0.rate", "50 Gbps", LINK),
        ("link.0.length", "1 m", LINK),
        ("link.0.loss", "0.1", LINK),
        ("link.0.drop_every", "5", LINK),
        ("switch.buffer", "50 MB", INCAST),
        ("switch.reserve", "8 KB", INCAST),
        ("switch.headroom", "90 KB", INCAST),
        ("switch.xon_gap", "1 KB", INCAST),
        ("switch.alpha", "1", INCAST),
        ("switch.alpha_lossy", "2", INCAST),
        ("switch.alpha_scaling", "rate", LINK_FAST),
        ("switch.latency", "1 ns", INCAST),
        ("switch.cut_through", "true", INCAST),
        ("switch.pfc_response", "5 ns", INCAST),
        ("ecn.profile", "sonic", INCAST),
        ("ecn.kmin", "9 KB", INCAST),
        ("ecn.kmax", "999 KB", INCAST),
        ("ecn.pmax", "0.7", INCAST),
        ("ecn.at_rate", "100 Gbps", INCAST),
        ("ecn.by_rate", "[{ rate = \"400 Gbps\", kmin = \"1 KB\", kmax = \"9 KB\", pmax = 0.5 }]", INCAST),
        ("ecn.by_rate.0.rate", "100 Gbps", RATES),
        ("ecn.by_rate.0.kmin", "2 KB", RATES),
        ("ecn.by_rate.0.kmax", "3 KB", RATES),
        ("ecn.by_rate.0.pmax", "0.6", RATES),
        ("class.1.name", "\"x\"", "[transport]\ncnp_class = \"flow\"\n"),
        ("class.data.priority", "5", INCAST),
        ("class.data.lossless", "false", INCAST),
        ("class.data.ecn", "false", INCAST),
        ("class.data.service", "strict", INCAST),
        ("class.data.weight", "2", WEIGHTED),
        ("nic.latency", "1 ns", INCAST),
        ("transport.mtu", "1024 B", INCAST),
        ("transport.data_header", "66 B", INCAST),
        ("transport.first_header", "0 B", INCAST),
        ("transport.ack_frame", "70 B", INCAST),
        ("transport.cnp_frame", "70 B", INCAST),
        ("transport.pfc_frame", "70 B", INCAST),
        ("transport.gap", "0 B", INCAST),
        ("transport.ack_every", "2", INCAST),
        ("transport.ack_class", "control", INCAST),
        ("transport.cnp_class", "data", INCAST),
        ("transport.recovery", "go-back-0", INCAST),
        ("transport.rto", "1 ms", INCAST),
        ("transport.retry_limit", "3", INCAST),
        ("transport.nak_interval", "1 us", INCAST),
        ("transport.window", "bdp", INCAST),
        ("transport.variable_window", "true", INCAST),
        ("cc.kind", "none", INCAST),
        ("cc.profile", "paper", INCAST),
        ("cc.variant", "paper", INCAST),
        ("cc.cnp_mode", "ack-flag", INCAST),
        ("cc.cnp_interval", "9 us", INCAST),
        ("cc.g", "0.1", INCAST),
        ("cc.alpha_init", "0.5", INCAST),
        ("cc.alpha_period", "9 us", INCAST),
        ("cc.cut_period", "9 us", INCAST),
        ("cc.first_cut_delay", "9 us", INCAST),
        ("cc.increase_period", "9 us", INCAST),
        ("cc.byte_counter", "1 MB", PAPER),
        ("cc.fast_recovery", "3", INCAST),
        ("cc.rate_ai", "9 Mbps", INCAST),
        ("cc.rate_hai", "9 Mbps", INCAST),
        ("cc.at_rate", "25 Gbps", INCAST),
        ("cc.rate_min", "9 Mbps", INCAST),
        ("cc.rate_max", "9 Gbps", INCAST),
        ("cc.rate_first_cnp", "9 Gbps", INCAST),
        ("cc.cut_shift", "2", INCAST),
        ("cc.min_keep", "0.1", INCAST),
        ("cc.clamp_target", "true", INCAST),
        ("cc.clamp_after_increase", "false", INCAST),
        ("compat.grain", "1 ns", INCAST),
        ("compat.ack_ignores_pause", "true", INCAST),
        ("compat.eager_start", "true", INCAST),
        ("compat.tie_by_flow", "true", INCAST),
        ("compat.hpcc_wakeup", "true", INCAST),
        ("traffic.0.kind", "permutation", "[[traffic]]\nkind = \"all-to-all\"\n"),
        ("traffic.0.name", "\"x\"", INCAST),
        ("traffic.0.class", "control", INCAST),
        ("traffic.0.seed", "9", INCAST),
        ("traffic.0.start", "1 us", INCAST),
        ("traffic.0.size", "9 KB", INCAST),
        ("traffic.0.repeat", "2", INCAST),
        ("traffic.0.interval", "1 us", REPEAT),
        ("traffic.0.receiver", "2", INCAST),
        ("traffic.0.senders", "3", INCAST),
        ("traffic.0.stride", "1", "[fabric]\nendpoints = 32\n[[traffic]]\nkind = \"incast\"\n"),
        ("traffic.0.shift", "1", LEAF),
        ("traffic.0.group", "8", A2A),
        ("traffic.0.stride", "2", A2A),
        ("traffic.0.load", "0.9", POISSON),
        ("traffic.0.duration", "1 us", POISSON),
        ("traffic.0.cdf", "\"../cdf/websearch-like.cdf\"", POISSON),
        ("traffic.0.flows", "[{ src = 1, dst = 2, size = \"1 B\" }]", FLOWS),
        ("traffic.0.flows.0.src", "1", FLOWS_FREE),
        ("traffic.0.flows.0.dst", "5", FLOWS_FREE),
        ("traffic.0.flows.0.size", "9 B", FLOWS),
        ("traffic.0.flows.0.start", "1 ns", FLOWS),
        ("traffic.0.flows.1.id", "5", FLOWS),
        ("traffic.0.flows.1.after", "1", FLOWS),
        ("traffic.0.flows.2.on", "received", FLOWS_ON),
        ("traffic.0.flows.0.path", "\"leaf0 spine1 leaf1\"", FLOWS),
        ("traffic.0.flows.0.ack_path", "\"leaf1 spine1 leaf0\"", FLOWS),
        ("fabric.technology", "infiniband", INCAST),
        ("infiniband.lanes", "2", IB),
        ("infiniband.buffer", "64 KiB", IB),
        ("infiniband.fc_threshold", "64 B", IB),
        ("infiniband.fc_interval", "1 us", IB),
        ("infiniband.sl2vl", "\"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,15\"", IB),
        ("infiniband.vlarb_high", "\"0:9\"", IB),
        ("infiniband.vlarb_low", "\"0:9\"", IB),
        ("infiniband.high_limit", "3", IB),
        ("infiniband.input_arbitration", "first-come", IB),
        ("infiniband.hoq_lifetime", "1 ms", IB_LEAF),
        ("infiniband.leaf_hoq_lifetime", "1 ms", IB),
        ("infiniband.routing", "ftree", IB_LEAF),
        ("infiniband.adaptive", "free", IB),
        ("infiniband.adaptive_sls", "1", IB_ADAPTIVE),
        ("infiniband.adaptive_grades", "\"1 KB, 2 KB, 3 KB\"", IB_ADAPTIVE),
        ("infiniband.binding", "3 us", IB_ADAPTIVE),
        ("infiniband.shield", "true", IB),
        ("failure.0.at", "2 us", FAILING),
        ("failure.0.from", "leaf1", FAILING),
        ("failure.0.to", "spine1", FAILING),
        ("failure.0.links", "1", FAILING),
        ("failure.0.recovery", "1 ms", FAILING),
        ("traffic.0.sl", "1", IB),
        ("cc.threshold", "3", IB_A10),
        ("cc.marking_rate", "3", IB_A10),
        ("cc.packet_size", "3 B", IB_A10),
        ("cc.victim_mask", "none", IB_A10),
        ("cc.ccti_by", "sl", IB_A10),
        ("cc.ccti_increase", "3", IB_A10),
        ("cc.ccti_limit", "3", IB_A10),
        ("cc.ccti_min", "3", IB_A10),
        ("cc.ccti_timer", "3 us", IB_A10),
        ("cc.cct", "simula", IB_A10),
        ("output.interval", "2 us", SAMPLE),
        ("output.ports", "[\"switch0\"]", SAMPLE),
        ("output.flows", "[\"all\"]", SAMPLE),
    ]
}

const IB: &str = "[fabric]\ntechnology = \"infiniband\"\nkind = \"single\"\nendpoints = 8\n[[traffic]]\nkind = \"incast\"\nsenders = 4\n";
const IB_LEAF: &str = "[fabric]\ntechnology = \"infiniband\"\nendpoints = 15\nleaves = 5\nspines = 2\nparallel_links = 1\n[[traffic]]\nkind = \"permutation\"\n";
const IB_ADAPTIVE: &str = "[fabric]\ntechnology = \"infiniband\"\nkind = \"single\"\nendpoints = 8\n[infiniband]\nadaptive = \"bounded\"\n[[traffic]]\nkind = \"incast\"\nsenders = 4\n";
const IB_A10: &str = "[fabric]\ntechnology = \"infiniband\"\nkind = \"single\"\nendpoints = 8\n[cc]\nkind = \"a10\"\n[[traffic]]\nkind = \"incast\"\nsenders = 4\n";
const FAILING: &str = "[fabric]\nendpoints = 8\nleaves = 2\nspines = 2\nparallel_links = 2\n[[failure]]\nat = \"1 us\"\nfrom = \"leaf0\"\nto = \"spine0\"\n[[traffic]]\nkind = \"permutation\"\n";
const LINK_FAST: &str = "[fabric]\nleaves = 2\nspines = 2\nparallel_links = 1\nendpoints = 8\nuplink_rate = \"800 Gbps\"\n";
const FLOWS_FREE: &str =
    "[fabric]\nendpoints = 8\nleaves = 2\nspines = 2\n[[traffic]]\nkind = \"flows\"\nflows = [{ src = 0, dst = 4, size = \"1 MB\" }]\n";
/// Flow 1 from 0 to 4 and flow 3 from 4 to 0: the third, from 4, may wait for either end of flow 3's.
const FLOWS_ON: &str = "[fabric]\nendpoints = 8\nleaves = 2\nspines = 2\n[[traffic]]\nkind = \"flows\"\nflows = [{ src = 0, dst = 4, size = \"1 MB\", id = 1 }, { src = 4, dst = 0, size = \"1 MB\", id = 3 }, { src = 4, dst = 0, size = \"1 MB\", after = 1, on = \"received\" }]\n";

/// Keys that only files can show: tested beside their readers.
const ELSEWHERE: [&str; 4] = ["fabric.topology", "traffic.file", "traffic.paths", "traffic.time_zero"];
/// Keys of which another value must be refused where they stand.
const REFUSED: [&str; 1] = ["traffic.flows.on"];

#[test]
fn every_key_changes_the_plan() {
    let show = |p: &Plan| format!("{:?} {:?} {:?} {:?} {:?}", p.case, p.name, p.groups, p.sampling, p.ideal_fct_ps);
    let mut covered: Vec<String> = ELSEWHERE.iter().chain(&REFUSED).map(|k| (*k).to_owned()).collect();
    for (key, value, text) in settings_that_matter() {
        let plain: String = key.split('.').filter(|p| p.parse::<u32>().is_err() && *p != "data").collect::<Vec<_>>().join(".");
        covered.push(plain.clone());
        let before = read(text, &[]).unwrap_or_else(|e| panic!("{key}: {e}"));
        if REFUSED.contains(&plain.as_str()) {
            continue;
        }
        let after = read(text, &[(key, value)]).unwrap_or_else(|e| panic!("{key} = {value}: {e}"));
        let same = show(&before) == show(&after);
        // A class's name shows in settings only.
        assert!(!same || plain == "class.name" && before.settings != after.settings, "{key} = {value} changes nothing");
    }
    for section in SECTIONS.iter().chain(INNER) {
        for key in section.keys {
            let name = format!("{}.{}", section.name, key.name);
            assert!(covered.contains(&name) || matches!(key.kind, Kind::Tables(_)), "{name} is not covered");
        }
    }
}

#[test]
fn equal_inputs_give_equal_plans() {
    let plan = || load(&root().join("poisson-websearch.toml"), &[]).expect("loads");
    let (a, b) = (plan(), plan());
    assert_eq!(a.case, b.case);
    assert_eq!(a.settings, b.settings);
}

fn sample_texts() -> Vec<String> {
    let mut texts: Vec<String> = std::fs::read_dir(root())
        .expect("the folder is there")
        .filter_map(|e| std::fs::read_to_string(e.expect("is readable").path()).ok())
        .collect();
    texts.sort();
    texts.push(SMALL.to_owned());
    texts.push(FLOWS_ON.to_owned());
    texts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn noise_never_panics(text in "\\PC{0,200}") {
        let _ = read(&text, &[]);
    }

    #[test]
    fn mutated_scenarios_never_panic(which in 0..10_usize, at in any::<prop::sample::Index>(), cut in 0..12_usize, paste in "(\\PC{0,6}|[0-9]{1,20}|\"[0-9]{1,12} (B|KB|us|s|Gbps|m)\"|\\n[a-z.]{1,8} = |0|-1|1e9)") {
        let texts = sample_texts();
        let text = &texts[which % texts.len()];
        let chars: Vec<char> = text.chars().collect();
        let start = at.index(chars.len());
        let end = (start + cut).min(chars.len());
        let mutated: String = chars[..start].iter().copied().chain(paste.chars()).chain(chars[end..].iter().copied()).collect();
        match read(&mutated, &[]) {
            Ok(plan) => prop_assert_eq!(validate(&plan.case), Ok(())),
            Err(Error::Input(_)) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn any_override_is_a_plan_or_a_mistake(which in any::<prop::sample::Index>(), value in "([0-9]{1,20}|[0-9.]{1,6} ?(B|KB|MiB|us|ms|Gbps|Mbps|m|%)|true|auto|none|\\PC{0,8}|\\[\\]|\\{\\})") {
        let keys = settings_that_matter();
        let (key, _, text) = keys[which.index(keys.len())];
        match read(text, &[(key, &value)]) {
            Ok(_) | Err(Error::Input(_)) => {}
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
