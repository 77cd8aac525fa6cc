//! How far the packets of a case have to go.

use std::collections::BTreeMap;

use crate::case::{Case, FlowSpec, NodeKind};

/// Links that the data packets of all flows cross if none is lost: packets times path length, summed.
///
/// Path lengths are those of the first next hop of each group; all members of a group are equally far.
#[must_use]
pub fn expected_data_hops(case: &Case) -> u64 {
    let mut known = BTreeMap::new();
    let hops = case.flows.iter().map(|flow| {
        let length = if flow.path_data.is_empty() {
            *known.entry(ends(case, flow)).or_insert_with(|| path_length(case, flow))
        } else {
            1 + u64::try_from(flow.path_data.len()).unwrap_or(0)
        };
        u64::from(flow.n_packets) * length
    });
    hops.sum()
}

/// First node on the way and leaf of the destination: all that decides the length of a path.
fn ends(case: &Case, flow: &FlowSpec) -> (Option<usize>, Option<u32>) {
    (first_node(case, flow), case.routes.endpoint_leaf.get(ix(flow.dst)).copied())
}

fn first_node(case: &Case, flow: &FlowSpec) -> Option<usize> {
    let port = case.nodes.get(ix(flow.src))?.first_port;
    behind(case, port)
}

/// The node at the other end of a port's link.
fn behind(case: &Case, port: u32) -> Option<usize> {
    let peer = case.ports.get(ix(port))?.peer;
    Some(ix(case.ports.get(ix(peer))?.node))
}

fn path_length(case: &Case, flow: &FlowSpec) -> u64 {
    let mut node = first_node(case, flow);
    let mut length = 1;
    // A path visits no node twice.
    for _ in 0..case.nodes.len() {
        let Some(at) = node.filter(|n| case.nodes.get(*n).is_some_and(|n| n.kind == NodeKind::Switch)) else {
            break;
        };
        length += 1;
        node = next_hop(case, at, flow.dst).and_then(|port| behind(case, port));
    }
    length
}

/// The first egress port towards an endpoint behind another leaf; `None` if it is behind this one.
fn next_hop(case: &Case, node: usize, dst: u32) -> Option<u32> {
    let routes = &case.routes;
    let row = ix(*routes.switch_row.get(node)?);
    let leaf = ix(*routes.endpoint_leaf.get(ix(dst))?);
    let group = *routes.table.get(row.checked_mul(ix(routes.n_leaves))?.checked_add(leaf)?)?;
    let start = *routes.group_start.get(ix(group))?;
    routes.members.get(ix(start)).copied()
}

fn ix(i: u32) -> usize {
    usize::try_from(i).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing;

    #[test]
    fn behind_one_switch_a_packet_crosses_two_links() {
        let plan = testing::plan();
        assert_eq!(expected_data_hops(&plan.case), 35 * 2);
    }

    #[test]
    fn pinned_paths_count_their_switches() {
        let mut plan = testing::plan();
        plan.case.flows.truncate(1);
        plan.case.flows[0].path_data = vec![3, 3, 3];
        assert_eq!(expected_data_hops(&plan.case), 10 * 4);
    }

    #[test]
    fn routes_are_followed_over_switches() {
        // h0 - sw0 - sw2 - sw1 - h1, as ports 0..=7.
        let mut case = testing::plan().case;
        case.flows.truncate(1);
        let switch = case.nodes[2].clone();
        case.nodes = vec![case.nodes[0].clone(), case.nodes[1].clone(), switch.clone(), switch.clone(), switch];
        let template = case.ports[0];
        let wires = [(0, 2), (1, 4), (2, 0), (2, 6), (3, 1), (3, 7), (4, 3), (4, 5)];
        case.ports = wires.map(|(node, peer)| crate::case::PortSpec { node, peer, ..template }).to_vec();
        case.routes = crate::case::Routes {
            n_leaves: 2,
            switch_row: vec![u32::MAX, u32::MAX, 0, 1, 2],
            endpoint_leaf: vec![0, 1, u32::MAX, u32::MAX, u32::MAX],
            table: vec![u32::MAX, 0, 1, u32::MAX, 2, 3],
            group_start: vec![0, 1, 2, 3, 4],
            members: vec![3, 5, 6, 7],
        };
        assert_eq!(expected_data_hops(&case), 10 * 4);
    }
}
