//! Oracles from the literature: the fixed point of DCQCN's fluid model, headroom, dynamic thresholds.

use std::path::Path;

use fabricsim::engine::{AdapterChoice, Options, Silent, run};
use fabricsim::outcome::Outcome;
use fabricsim::plan::Plan;
use fabricsim::scenario::load_text;

fn simulate(text: &str) -> (Plan, Outcome) {
    let plan = load_text(Path::new("physics.toml"), text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { adapter: AdapterChoice::BuiltIn, ..Options::default() };
    let outcome = run(&plan.case, &options, &mut Silent).expect("the case runs").outcome;
    (plan, outcome)
}

/// N endless senders to one receiver on one switch, as the fluid model assumes: 1000-byte packets, no other delays of note.
fn greedy(settings: &str, n: u32, stop: &str) -> (Plan, Outcome) {
    simulate(&format!(
        "[scenario]\nprofile = \"roce-100g\"\nstop = \"{stop}\"\n{settings}\n[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsenders = {n}\nstride = 1\nsize = \"50 GB\"\n\
         [fabric]\nkind = \"single\"\nendpoints = {}\n{}",
        n + 1,
        if settings.contains("5 KB") { "link_rate = \"40 Gbps\"" } else { "link_rate = \"100 Gbps\"" }
    ))
}

const PAPER_40G: &str = r#"
[ecn]
kmin = "5 KB"
kmax = "200 KB"
pmax = "1 %"
[transport]
mtu = "1000 B"
data_header = "0 B"
first_header = "0 B"
gap = "0 B"
[cc]
profile = "paper"
cnp_interval = "50 us"
alpha_period = "55 us"
increase_period = "55 us"
byte_counter = "10 MB"
rate_ai = "40 Mbps"
rate_hai = "400 Mbps"
rate_min = "40 Mbps"
fast_recovery = 5
at_rate = "any"
"#;

const TIMER_100G: &str = r#"
[ecn]
kmin = "400 KB"
kmax = "1600 KB"
pmax = "20 %"
[transport]
mtu = "1000 B"
data_header = "0 B"
first_header = "0 B"
gap = "0 B"
[cc]
profile = "paper"
cnp_interval = "50 us"
alpha_period = "50 us"
increase_period = "55 us"
byte_counter = "off"
rate_ai = "20 Mbps"
rate_hai = "200 Mbps"
rate_min = "100 Mbps"
fast_recovery = 5
at_rate = "any"
"#;

/// Mean queue of the second half of 0.4 s and mean alpha at its end, against the fixed point: `q - kmin` within -10 % and +45 %, alpha within
/// -5 % and +40 %, fairness above 0.99, utilization above 0.99.
fn check_fixed_point(settings: &str, n: u32, kmin: f64, queue: f64, alpha: f64) {
    let (plan, early) = greedy(settings, n, "200 ms");
    let (_, late) = greedy(settings, n, "400 ms");
    let port = plan.port_names.iter().position(|p| p == "switch0/p0").expect("the receiver's port");
    let row = port * (plan.case.classes.len() + 1) + 1 + plan.case.flows[0].class as usize;
    let span_ps = late.end_ps - early.end_ps;
    let area = u64::try_from((late.queues[row].queue_byte_ps - early.queues[row].queue_byte_ps) / u128::from(span_ps)).expect("bytes");
    let mean_queue = f64::from(u32::try_from(area).expect("bytes"));
    let flows = f64::from(n);
    let mean_alpha = late.flows.iter().map(|f| f64::from(f.alpha_q32)).sum::<f64>() / flows / 4_294_967_296.0;
    let sent: Vec<f64> =
        late.flows.iter().zip(&early.flows).map(|(a, b)| f64::from(u32::try_from(a.tx_packets - b.tx_packets).expect("packets"))).collect();
    let jain = sent.iter().sum::<f64>().powi(2) / (flows * sent.iter().map(|x| x * x).sum::<f64>());
    let tx = late.queues[row].tx_packets - early.queues[row].tx_packets;
    let wire = u64::from(plan.case.rules.mtu_bytes + plan.case.rules.data_header_bytes + plan.case.rules.gap_bytes);
    let busy = f64::from(
        u32::try_from(tx * wire * u64::from(plan.case.ports[port].byte_time_q16) / 65_536 * 1_000_000 / span_ps).expect("a share"),
    );
    let utilization = busy / 1e6;
    println!("N {n}: queue {mean_queue:.0} ({queue:.0}), alpha {mean_alpha:.3} ({alpha:.3}), Jain {jain:.4}, utilization {utilization:.4}");
    let excess = (mean_queue - kmin) / (queue - kmin);
    assert!((0.9..=1.45).contains(&excess), "N {n}: queue {mean_queue}, fixed point {queue}");
    assert!((0.95..=1.4).contains(&(mean_alpha / alpha)), "N {n}: alpha {mean_alpha}, fixed point {alpha}");
    assert!(jain > 0.99, "N {n}: Jain {jain}");
    assert!(utilization > 0.99, "N {n}: utilization {utilization}");
}

#[test]
fn dcqcn_settles_at_the_fixed_point_40g() {
    check_fixed_point(PAPER_40G, 8, 5e3, 93.8e3, 0.145);
}

#[test]
#[ignore = "takes a minute"]
fn dcqcn_settles_at_the_fixed_point_40g_all_rows() {
    for (n, queue, alpha) in [(2, 20.2e3, 0.101), (4, 41.8e3, 0.122), (10, 122.6e3, 0.153)] {
        check_fixed_point(PAPER_40G, n, 5e3, queue, alpha);
    }
}

/// Two and four flows are left out: their fixed point lies 1 and 3 KB above `kmin`, less than one packet a flow, and the queue swings below it.
#[test]
#[ignore = "takes minutes"]
fn dcqcn_settles_at_the_fixed_point_100g() {
    for (n, queue, alpha) in [(8, 407.2e3, 0.089), (16, 417.4e3, 0.108), (32, 442.1e3, 0.128)] {
        check_fixed_point(TIMER_100G, n, 400e3, queue, alpha);
    }
}

fn stressed(headroom: &str) -> Outcome {
    simulate(&format!(
        "[scenario]\nprofile = \"roce-400g\"\n[fabric]\nkind = \"single\"\nendpoints = 9\nlink_length = \"300 m\"\n[switch]\nbuffer = \"8 MB\"\nheadroom = {headroom}\n\
         [cc]\nkind = \"none\"\n[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsenders = 8\nstride = 1\nsize = \"4 MB\"\n"
    ))
    .1
}

#[test]
fn computed_headroom_is_enough_and_is_used() {
    let outcome = stressed("\"auto\"");
    assert!(outcome.queues.iter().all(|q| q.drop_packets == 0));
    assert!(outcome.queues.iter().any(|q| q.xoff_sent > 0), "the stress reaches the threshold");
    let used = outcome.queues.iter().map(|q| q.max_headroom_bytes).max().expect("queues");
    assert!(used > 0, "headroom is used");
    let short = stressed(&format!("\"{} B\"", used / 2));
    assert!(short.queues.iter().any(|q| q.drop_packets > 0), "half of what was used is too little");
}

/// k ports of one switch that pause share the pool: each stops at `alpha / (1 + k alpha)` of it.
#[test]
fn the_dynamic_threshold_settles_where_theory_says() {
    let (plan, outcome) = simulate(
        "[scenario]\nprofile = \"roce-100g\"\n[fabric]\nkind = \"single\"\nendpoints = 5\n[switch]\nbuffer = \"4 MB\"\nreserve = \"0 B\"\nalpha = \"1/4\"\nheadroom = \"100 KB\"\n\
         [cc]\nkind = \"none\"\n[[traffic]]\nkind = \"incast\"\nreceiver = 0\nsenders = 4\nstride = 1\nsize = \"20 MB\"\n",
    );
    let pool = f64::from(plan.case.nodes.iter().map(|n| n.pool_bytes).max().expect("a switch"));
    let class = plan.case.flows[0].class as usize + 1;
    let port = plan.port_names.iter().position(|p| p == "switch0/p0").expect("the receiver's port");
    let largest = f64::from(outcome.queues[port * (plan.case.classes.len() + 1) + class].max_queue_bytes);
    let headroom: f64 =
        (0..plan.case.ports.len()).map(|p| f64::from(outcome.queues[p * (plan.case.classes.len() + 1) + class].max_headroom_bytes)).sum();
    // Four ports at alpha 1/4 take half of the pool; what arrives after the pauses lies in headroom.
    let expected = pool * (4.0 * 0.25) / (1.0 + 4.0 * 0.25);
    assert!(
        largest >= 0.98 * expected && largest <= 1.02 * (expected + headroom),
        "{largest} bytes, theory {expected}, headroom {headroom}"
    );
}
