//! Closed forms for fabrics under load: ECMP collisions, the parking lot behind a paused port, transport alone and in an incast.

use std::fmt::Write;
use std::path::Path;

use fabricsim::engine::{AdapterChoice, Options, Silent, run};
use fabricsim::outcome::{FlowStatus, Outcome};
use fabricsim::plan::Plan;
use fabricsim::scenario::load_text;

fn simulate(text: &str, settings: &[(&str, String)]) -> (Plan, Outcome) {
    let settings: Vec<(String, String)> = settings.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
    let plan = load_text(Path::new("fabrics.toml"), text, &settings).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { adapter: AdapterChoice::BuiltIn, ..Options::default() };
    let outcome = run(&plan.case, &options, &mut Silent).expect("the case runs").outcome;
    (plan, outcome)
}

fn float(n: u64) -> f64 {
    f64::from(u32::try_from(n).expect("a small number"))
}

/// Sixteen senders a leaf, one flow each, on sixteen uplinks: the share of uplinks in use is `1 - (1 - 1/L)^N` = 0.644, the fullest one carries 3.09
/// flows on average. 160 samples: three standard errors are 0.015 and 0.2.
#[test]
fn ecmp_collides_as_often_as_chance_says() {
    const SIZE: u64 = 40_960;
    let text = format!(
        "[scenario]\nprofile = \"roce-100g\"\n[fabric]\nkind = \"leaf-spine\"\nendpoints = 128\nleaves = 8\nspines = 16\nendpoints_per_leaf = 16\nparallel_links = 1\n\
         link_rate = \"100 Gbps\"\n[cc]\nkind = \"none\"\n[[traffic]]\nkind = \"permutation\"\nshift = 16\nsize = \"{SIZE} B\"\n"
    );
    let (mut used, mut fullest, mut leaves) = (0, 0.0, 0);
    for seed in 1..=20 {
        let (plan, outcome) = simulate(&text, &[("scenario.seed", format!("{seed}")), ("fabric.hash_seed", format!("{seed}"))]);
        let rows = plan.case.classes.len() + 1;
        let class = plan.case.flows[0].class as usize + 1;
        for leaf in plan.case.nodes.iter().filter(|n| n.name.starts_with("leaf")) {
            let uplinks = leaf.first_port + 16..leaf.first_port + leaf.n_ports;
            let flows: Vec<u64> = uplinks.map(|p| outcome.queues[p as usize * rows + class].tx_bytes / SIZE).collect();
            assert_eq!(flows.iter().sum::<u64>(), 16, "every flow of the leaf goes up");
            used += flows.iter().filter(|n| **n > 0).count();
            fullest += float(*flows.iter().max().expect("uplinks"));
            leaves += 1;
        }
    }
    let leaves = f64::from(leaves);
    let (share, max) = (float(used as u64) / leaves / 16.0, fullest / leaves);
    assert!((share - 0.644).abs() < 0.015, "{share}");
    assert!((max - 3.09).abs() < 0.2, "{max}");
}

/// Two leaves joined by one path of rate C: k remote senders and a victim use it, m local senders share the hot port. Under PFC alone the hot
/// port serves its m + 1 inputs alike, so victim and remote senders get `C / (k (1 + m))`. Returns the shares of victim, a remote and a local sender.
fn parking_lot(k: u32, m: u32) -> [f64; 3] {
    let mut flows = String::new();
    for i in 0..k {
        writeln!(flows, "  {{ src = {i}, dst = 8, size = \"1 GB\" }},").expect("writes");
    }
    writeln!(flows, "  {{ src = {k}, dst = 9, size = \"1 GB\" }},").expect("writes");
    for i in 0..m {
        writeln!(flows, "  {{ src = {}, dst = 8, size = \"1 GB\" }},", 10 + i).expect("writes");
    }
    let text = format!(
        "[scenario]\nprofile = \"roce-100g\"\n[fabric]\nkind = \"leaf-spine\"\nendpoints = 16\nleaves = 2\nspines = 1\nendpoints_per_leaf = 8\nparallel_links = 1\n\
         link_rate = \"100 Gbps\"\n[switch]\nbuffer = \"4 MB\"\n[cc]\nkind = \"none\"\n[[traffic]]\nkind = \"flows\"\nflows = [\n{flows}]\n"
    );
    let (_, early) = simulate(&text, &[("scenario.stop", "4 ms".into())]);
    let (plan, late) = simulate(&text, &[("scenario.stop", "16 ms".into())]);
    let rules = &plan.case.rules;
    let wire = u64::from(rules.mtu_bytes + rules.data_header_bytes + rules.gap_bytes);
    let rate = |from: u32| {
        let of = |f: &&fabricsim::case::FlowSpec| f.src == from;
        let i = plan.case.flows.iter().position(|f| of(&f)).expect("a flow");
        let packets = late.flows[i].received_packets - early.flows[i].received_packets;
        float(u64::from(packets) * wire * 8 / 1000) / (12.0 * 100_000.0)
    };
    [rate(k), rate(0), rate(10)]
}

#[test]
fn a_victim_gets_what_the_parking_lot_leaves() {
    for (k, m) in [(1, 1), (1, 2), (2, 1), (3, 1), (3, 2), (3, 3)] {
        let [victim, remote, local] = parking_lot(k, m);
        let (slow, fast) = (1.0 / f64::from(k * (1 + m)), 1.0 / f64::from(1 + m));
        println!("k {k} m {m}: {victim:.3} {remote:.3} ({slow:.3}), {local:.3} ({fast:.3})");
        for (found, expected) in [(victim, slow), (remote, slow), (local, fast)] {
            assert!((found / expected - 1.0).abs() < 0.1, "k {k}, m {m}: {found}, expected {expected}");
        }
    }
}

const ONE_SWITCH: &str = "[scenario]\nprofile = \"roce-100g\"\n[fabric]\nkind = \"single\"\nendpoints = 9\nlink_rate = \"100 Gbps\"\n[cc]\nkind = \"none\"\n\
                          [[traffic]]\nkind = \"incast\"\nreceiver = 0\nstride = 1\nsenders = 8\nsize = \"4096000 B\"\n";

#[test]
fn one_flow_takes_its_ideal_time_and_an_incast_eight_times_the_wire_time() {
    let (plan, outcome) = simulate(ONE_SWITCH, &[("traffic.0.senders", "1".into())]);
    let alone = outcome.flows[0].finish_ps.expect("done");
    assert_eq!(alone, plan.ideal_fct_ps[0]);
    let (plan, outcome) = simulate(ONE_SWITCH, &[]);
    let rules = &plan.case.rules;
    let spec = &plan.case.flows[0];
    let byte_time = u64::from(plan.case.ports[0].byte_time_q16);
    let packet = (u64::from(rules.mtu_bytes + rules.data_header_bytes + rules.gap_bytes) * byte_time) >> 16;
    let first_extra = (u64::from(rules.first_extra_bytes) * byte_time) >> 16;
    let last = outcome.flows.iter().map(|f| f.finish_ps.expect("done")).max().expect("flows");
    let expected = alone + 7 * (u64::from(spec.n_packets) * packet + first_extra);
    assert!(last.abs_diff(expected) <= packet, "{last} ps, expected {expected} within {packet}");
}

/// Messages of 4,096 packets with every 256th frame lost: go-back-0 never gets a message through, go-back-N does.
#[test]
fn go_back_0_moves_nothing_where_go_back_n_does() {
    let lossy = |recovery: &str| {
        let settings = [
            ("traffic.0.senders", "1".to_owned()),
            ("traffic.0.size", "4 MiB".to_owned()),
            ("transport.mtu", "1024 B".to_owned()),
            ("transport.rto", "1 ms".to_owned()),
            ("transport.retry_limit", "1000000".to_owned()),
            ("fabric.drop_every", "256".to_owned()),
            ("transport.recovery", recovery.to_owned()),
            ("scenario.stop", "40 ms".to_owned()),
        ];
        simulate(ONE_SWITCH, &settings).1.flows[0]
    };
    let zero = lossy("go-back-0");
    assert_eq!((zero.status, zero.receive_ps), (FlowStatus::Running, None));
    assert!(zero.tx_packets > 20_000, "it does send: {}", zero.tx_packets);
    assert_eq!(lossy("go-back-n").status, FlowStatus::Done);
}
