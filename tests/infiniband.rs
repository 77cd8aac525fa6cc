//! What InfiniBand fabrics must show, from scenarios: routing engines, adaptive routing, failing links.

use std::path::Path;

use fabricsim::engine::{AdapterChoice, Options, Silent, run};
use fabricsim::outcome::{FlowStatus, Outcome};
use fabricsim::plan::Plan;
use fabricsim::scenario::load_text;

fn plan(text: &str, settings: &[(&str, &str)]) -> Plan {
    let settings: Vec<(String, String)> = settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    load_text(Path::new("infiniband.toml"), text, &settings).unwrap_or_else(|e| panic!("{settings:?}: {e}"))
}

fn simulate(plan: &Plan) -> Outcome {
    let options = Options { adapter: AdapterChoice::BuiltIn, threads: 1, ..Options::default() };
    run(&plan.case, &options, &mut Silent).expect("runs").outcome
}

/// A full bisection of 128 endpoints under a random permutation that does not end.
const SATURATED: &str = r#"
[scenario]
stop = "1 ms"
[fabric]
technology = "infiniband"
kind = "leaf-spine"
endpoints = 128
leaves = 8
spines = 16
parallel_links = 1
[[traffic]]
kind = "permutation"
size = "100 MB"
"#;

/// Payload received, as a share of what the links of the endpoints carry.
fn share(settings: &[(&str, &str)]) -> f64 {
    let plan = plan(SATURATED, settings);
    let o = simulate(&plan);
    let rules = &plan.case.rules;
    let packets: u32 = o.flows.iter().map(|f| f.received_packets).sum();
    let wire = f64::from(rules.mtu_bytes + rules.data_header_bytes + rules.gap_bytes);
    // 400 Gb/s: 20 ps a byte.
    f64::from(packets) * wire * 20.0 / (o.end_ps as f64 * plan.case.flows.len() as f64)
}

#[test]
fn least_loaded_adaptive_routing_fills_what_hashed_paths_leave_empty() {
    let adaptive = share(&[("infiniband.adaptive", "free"), ("transport.recovery", "out-of-order")]);
    assert!(adaptive > 0.95, "{adaptive}");
    let hashed = share(&[("fabric.technology", "ethernet"), ("cc.kind", "none")]);
    assert!((0.60..0.66).contains(&hashed), "{hashed}");
    let fixed = share(&[]);
    assert!(fixed > hashed && fixed < 0.9, "{fixed}");
}

#[test]
fn destination_modulo_uplinks_lets_shift_patterns_through() {
    for shift in ["1", "7", "8", "9", "31", "63"] {
        let text = r#"
            [fabric]
            technology = "infiniband"
            kind = "leaf-spine"
            endpoints = 64
            leaves = 8
            spines = 8
            parallel_links = 1
            [infiniband]
            routing = "ftree"
            [transport]
            ack_every = 65535
            [[traffic]]
            kind = "permutation"
            size = "4 MB"
        "#;
        let plan = plan(text, &[("traffic.0.shift", shift)]);
        let o = simulate(&plan);
        for (f, ideal_ps) in o.flows.iter().zip(&plan.ideal_fct_ps) {
            let fct_ps = f.finish_ps.expect("ends") - f.start_ps;
            // Flow control takes 8 bytes a frame, 0.2 % of the wire, which the time alone leaves out. Any contention would cost 50 %.
            assert!(fct_ps * 1000 <= ideal_ps * 1004, "shift {shift}: {fct_ps} ps, alone {ideal_ps} ps");
        }
    }
}

const FAILING: &str = r#"
[fabric]
technology = "infiniband"
kind = "leaf-spine"
endpoints = 16
leaves = 2
spines = 4
parallel_links = 2
[transport]
rto = "200 us"
retry_limit = 7
[[failure]]
at = "50 us"
from = "leaf0"
to = "spine1"
[[traffic]]
kind = "permutation"
shift = 8
size = "8 MB"
"#;

#[test]
fn switches_or_the_subnet_manager_route_around_failed_links() {
    let whole = simulate(&plan(FAILING, &[("failure.0.at", "1 s")]));
    assert!(whole.flows.iter().all(|f| f.status == FlowStatus::Done && f.retx_packets == 0));
    let left = simulate(&plan(FAILING, &[]));
    let failed = left.flows.iter().filter(|f| f.status == FlowStatus::Failed).count();
    assert!(failed >= 2, "{failed} flows fail without new routes");
    let swept = simulate(&plan(FAILING, &[("failure.0.recovery", "500 us")]));
    assert!(swept.flows.iter().all(|f| f.status == FlowStatus::Done) && swept.flows.iter().any(|f| f.timeouts > 0));
    assert!(swept.end_ps > 500_000_000 && swept.end_ps > whole.end_ps);
    // SHIELD covers the switches that have another port; from the spine down only the parallel link is left, and it failed too.
    let one = [("failure.0.links", "1"), ("infiniband.shield", "true")];
    let shielded = simulate(&plan(FAILING, &one));
    assert!(shielded.flows.iter().all(|f| f.status == FlowStatus::Done), "{:?}", shielded.flows);
    assert!(shielded.end_ps < swept.end_ps, "{} and {}", shielded.end_ps, swept.end_ps);
}
