//! The first difference of two outcomes, in words.

use fabricsim::case::Case;
use fabricsim::outcome::Outcome;

/// Where two outcomes of a case differ first; `None` if nowhere.
pub fn first_difference(case: &Case, expected: &Outcome, found: &Outcome) -> Option<String> {
    if expected == found {
        return None;
    }
    for (i, (e, f)) in expected.flows.iter().zip(&found.flows).enumerate() {
        if e != f {
            return Some(format!("flow {i} (id {}):\n  expected {e:?}\n  found    {f:?}", case.flows[i].id));
        }
    }
    let stride = case.classes.len() + 1;
    for (i, (e, f)) in expected.queues.iter().zip(&found.queues).enumerate() {
        if e != f {
            let (port, class) = (i / stride, i % stride);
            let node = &case.nodes[case.ports[port].node as usize].name;
            return Some(format!("port {port} of {node}, outcome class {class}:\n  expected {e:?}\n  found    {f:?}"));
        }
    }
    for (port, (e, f)) in expected.lost_packets.iter().zip(&found.lost_packets).enumerate() {
        if e != f {
            return Some(format!("lost after port {port}: expected {e}, found {f}"));
        }
    }
    for (port, (e, f)) in expected.xmit_wait_ps.iter().zip(&found.xmit_wait_ps).enumerate() {
        if e != f {
            return Some(format!("xmit wait of port {port}: expected {e}, found {f}"));
        }
    }
    let end = |o: &Outcome| (o.end_ps, o.stopped, o.flows.len(), o.queues.len(), o.lost_packets.len());
    Some(format!("(end, stopped, flows, queues, ports): expected {:?}, found {:?}", end(expected), end(found)))
}
