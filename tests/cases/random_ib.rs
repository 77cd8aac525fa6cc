//! Random InfiniBand subnets, and random failures of links in both fabrics.

use crate::build::{NS, US, index};
use crate::infiniband::{sent, subnet};
use crate::random::{arbitrary, check_random};
use fabricsim::case::{A10, Adaptive, Case, Change, Credits, NodeKind, Reaction, Recovery, Routes, Sl2Vl};
use proptest::collection::vec;
use proptest::prelude::*;

/// A failure in numbers of any size: when, which port, whether management answers with new tables.
type Failure = (u64, u32, bool);

fn failures() -> impl Strategy<Value = Vec<Failure>> {
    vec((prop_oneof![0..40 * US, 0..400 * US], any::<u32>(), any::<bool>()), 0..3)
}

/// Route groups without the ports that are down.
pub fn pruned(routes: &Routes, down: &[u32]) -> Routes {
    let mut left = Routes { members: Vec::new(), group_start: vec![0], ..routes.clone() };
    for w in routes.group_start.windows(2) {
        left.members.extend(routes.members[w[0] as usize..w[1] as usize].iter().filter(|p| !down.contains(p)));
        left.group_start.push(index(left.members.len()));
    }
    left
}

fn failing(mut case: Case, mut failures: Vec<Failure>) -> Case {
    failures.sort_unstable();
    let (mut routes, mut dead) = (case.routes.clone(), Vec::new());
    for (at_ps, port, answered) in failures {
        let port = port % index(case.ports.len());
        let down = vec![port, case.ports[port as usize].peer];
        if dead.contains(&port) {
            continue;
        }
        dead.extend(&down);
        routes = pruned(&routes, &down);
        let without = |credits: &Credits| {
            let mut lft = credits.lft.clone();
            let switches = (0..case.nodes.len()).filter(|n| case.nodes[*n].kind == NodeKind::Switch);
            for n in switches {
                let cells = case.routes.switch_row[n] as usize * credits.n_lids as usize;
                for cell in &mut lft[cells..cells + credits.n_lids as usize] {
                    if dead.contains(&(case.nodes[n].first_port + u32::from(*cell))) {
                        *cell = 255;
                    }
                }
            }
            lft
        };
        let lft = case.credits.as_ref().filter(|_| answered).map(without);
        case.changes.push(Change { at_ps, down, lft, routes: answered.then(|| routes.clone()) });
    }
    case
}

fn table() -> impl Strategy<Value = Vec<(u8, u8)>> {
    vec((0_u8..8, prop_oneof![Just(0_u8), 1_u8..80, any::<u8>()]), 0..6)
}

fn a10() -> impl Strategy<Value = A10> {
    let cct = vec((0_u8..4, prop_oneof![0_u16..40, 0_u16..16_384]), 1..80);
    (any::<bool>(), 0_u16..9, any::<u16>(), any::<u16>(), 1..50 * US, cct).prop_map(
        |(by_sl, ccti_increase, limit, min, ccti_timer_ps, cct)| {
            let ccti_limit = limit % u16::try_from(cct.len()).expect("short");
            A10 { by_sl, ccti_increase, ccti_limit, ccti_min: min % (ccti_limit + 1), ccti_timer_ps, cct }
        },
    )
}

fn adaptive() -> impl Strategy<Value = Adaptive> {
    let sls = prop_oneof![Just(0_u16), Just(u16::MAX), any::<u16>()];
    (sls, any::<bool>(), [0_u32..9000, 9000_u32..30_000, 30_000_u32..90_000], prop_oneof![Just(0_u64), 0..20 * US])
        .prop_map(|(sls, graded, grades_bytes, binding_ps)| Adaptive { sls, graded, grades_bytes, binding_ps })
}

/// The link layer in numbers of any size.
type Links = (u8, (u32, u32), (u64, u32, bool), (u32, u32), bool);

fn links() -> impl Strategy<Value = Links> {
    let buffer = (1_u32..12, 0_u32..70);
    let hoq = prop_oneof![2 => Just(0_u64), 1 => US..60 * US];
    let flow_control = (prop_oneof![Just(1_u32), 1_u32..300], 1_u32..5000);
    (1_u8..=8, buffer, (hoq, 0_u32..60_000, any::<bool>()), flow_control, any::<bool>())
}

fn maps() -> impl Strategy<Value = (Vec<[u8; 16]>, bool, u32)> {
    (vec(proptest::array::uniform16(prop_oneof![9 => 0_u8..8, 1 => Just(15_u8)]), 1..4), any::<bool>(), any::<u32>())
}

/// Any small subnet: an Ethernet case taken as InfiniBand.
fn arbitrary_subnet() -> impl Strategy<Value = Case> {
    let marking = (0_u32..3000, 0_u32..4, any::<bool>());
    let more = (any::<bool>(), any::<bool>(), any::<u8>(), vec((0_u8..16, 0_u32..8), 1..8), any::<bool>());
    (arbitrary(), links(), (table(), table(), maps()), (a10(), adaptive(), marking), (more, failures())).prop_map(
        |(ethernet, links, (high, low, maps), (a10, adaptive, marking), (more, failures))| {
            let lanes = links.0;
            let rules = ethernet.rules.clone();
            let frame = (rules.mtu_bytes + rules.data_header_bytes + rules.first_extra_bytes).max(rules.ack_bytes).max(rules.cnp_bytes);
            let mut case = subnet(ethernet, lanes, frame.div_ceil(64) * links.1.0 + links.1.1);
            case.rules = rules;
            (case.rules.hpcc_wakeup, case.rules.ack_ignores_pause) = (false, false);
            for class in [&mut case.rules.ack_class, &mut case.rules.cnp_class] {
                *class = class.map(|c| c % u32::from(lanes));
            }
            if more.0 {
                case.rules.recovery = Recovery::OutOfOrder;
            }
            if marking.2 {
                case.rules.reaction = Reaction::A10;
            }
            for (i, port) in case.ports.iter_mut().enumerate() {
                if case.nodes[port.node as usize].kind == NodeKind::Switch {
                    (port.lane.hoq_ps, port.lane.fecn_bytes, port.lane.fecn_victims) = (links.2.0, links.2.1, links.2.2 ^ (i % 2 == 0));
                }
            }
            let by_ports = |n: u32| (0..n * n).map(|i| i.wrapping_mul(maps.2) % index(maps.0.len())).collect();
            let map_of = |n: &fabricsim::case::NodeSpec| if maps.1 { Sl2Vl::ByPorts(by_ports(n.n_ports)) } else { Sl2Vl::Uniform(0) };
            let sl2vl_of = case.nodes.iter().map(map_of).collect();
            let old = case.credits.take().expect("InfiniBand");
            let served = if low.is_empty() && high.is_empty() { old.low.clone() } else { low };
            case.credits = Some(Credits {
                fc_threshold_blocks: links.3.0,
                fc_interval_ps: links.3.1 * NS,
                first_come: links.4,
                high,
                low: served,
                high_limit: more.2,
                sl2vl: maps.0,
                sl2vl_of,
                adaptive,
                shield: more.1,
                mark_size_bytes: marking.0,
                marking_rate: marking.1,
                a10,
                ..old
            });
            let flows = std::mem::take(&mut case.flows);
            let drawn = flows.into_iter().zip(more.3.iter().cycle());
            let flows = drawn.map(|(f, (sl, lane))| fabricsim::case::FlowSpec { sl: *sl, class: lane % u32::from(lanes), ..f }).collect();
            failing(sent(case, flows), failures)
        },
    )
}

#[test]
fn random_subnets_are_exact() {
    check_random("InfiniBand", &arbitrary_subnet(), 200, 2);
}

#[test]
fn random_failures_of_ethernet_links_are_exact() {
    let failing = (arbitrary(), failures()).prop_map(|(case, failures)| failing(case, failures));
    check_random("failing Ethernet", &failing, 100, 3);
}
