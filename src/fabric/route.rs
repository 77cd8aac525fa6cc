//! Shortest-path routes with equal-cost choices.

use std::collections::HashMap;

use crate::case::{NodeKind, NodeSpec, PortSpec, Routes};

/// Next hops from every switch to every leaf along all shortest paths (in hops).
///
/// Endpoints never forward. Memory grows with switches times leaves.
#[must_use]
pub fn shortest_paths(nodes: &[NodeSpec], ports: &[PortSpec]) -> Routes {
    let mut routes = Routes { switch_row: vec![u32::MAX; nodes.len()], endpoint_leaf: vec![u32::MAX; nodes.len()], ..Routes::default() };
    let mut leaf_number = vec![u32::MAX; nodes.len()];
    let mut leaves = Vec::new();
    let mut rows = Vec::new();
    for (n, node) in nodes.iter().enumerate() {
        if node.kind == NodeKind::Switch {
            routes.switch_row[n] = short(rows.len());
            rows.push(n);
            if own_ports(node).any(|p| peer_kind(nodes, ports, p) == NodeKind::Endpoint) {
                leaf_number[n] = short(leaves.len());
                leaves.push(n);
            }
        }
    }
    for (n, node) in nodes.iter().enumerate() {
        if node.kind == NodeKind::Endpoint && node.n_ports == 1 {
            let peer = ports[ports[node.first_port as usize].peer as usize].node as usize;
            routes.endpoint_leaf[n] = leaf_number[peer];
        }
    }
    routes.n_leaves = short(leaves.len());
    routes.table = vec![u32::MAX; rows.len() * leaves.len()];
    routes.group_start.push(0);
    let mut known: Vec<HashMap<Vec<u32>, u32>> = vec![HashMap::new(); rows.len()];
    let mut distance = Vec::new();
    let mut queue = Vec::new();
    for (l, &leaf) in leaves.iter().enumerate() {
        distances(nodes, ports, leaf, &mut distance, &mut queue);
        for (r, &switch) in rows.iter().enumerate() {
            if switch == leaf || distance[switch] == u32::MAX {
                continue;
            }
            let nearer = |p: &u32| {
                let peer = ports[ports[*p as usize].peer as usize].node as usize;
                nodes[peer].kind == NodeKind::Switch && distance[peer] + 1 == distance[switch]
            };
            let group: Vec<u32> = own_ports(&nodes[switch]).filter(nearer).collect();
            let number = match known[r].get(&group) {
                Some(number) => *number,
                None => {
                    let number = short(routes.group_start.len() - 1);
                    routes.members.extend_from_slice(&group);
                    routes.group_start.push(short(routes.members.len()));
                    known[r].insert(group, number);
                    number
                }
            };
            routes.table[r * leaves.len() + l] = number;
        }
    }
    routes
}

/// Hops from every switch to `leaf`; `u32::MAX` = unreachable (and one less than that never occurs).
fn distances(nodes: &[NodeSpec], ports: &[PortSpec], leaf: usize, distance: &mut Vec<u32>, queue: &mut Vec<usize>) {
    distance.clear();
    distance.resize(nodes.len(), u32::MAX);
    distance[leaf] = 0;
    queue.clear();
    queue.push(leaf);
    let mut head = 0;
    while head < queue.len() {
        let at = queue[head];
        head += 1;
        for p in own_ports(&nodes[at]) {
            let peer = ports[ports[p as usize].peer as usize].node as usize;
            if nodes[peer].kind == NodeKind::Switch && distance[peer] == u32::MAX {
                distance[peer] = distance[at] + 1;
                queue.push(peer);
            }
        }
    }
}

fn own_ports(node: &NodeSpec) -> std::ops::Range<u32> {
    node.first_port..node.first_port + node.n_ports
}

fn peer_kind(nodes: &[NodeSpec], ports: &[PortSpec], port: u32) -> NodeKind {
    nodes[ports[ports[port as usize].peer as usize].node as usize].kind
}

fn short(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// `fmix` of the model text: the hash that picks a member of a group.
#[must_use]
pub fn fmix(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85EB_CA6B);
    h ^= h >> 13;
    h = h.wrapping_mul(0xC2B2_AE35);
    h ^ (h >> 16)
}

/// Ports that a packet leaves by from `src` to `dst`, the endpoint's own first; `None` if there is no way.
///
/// `pinned` ports win over the hash at the switches they belong to, as in the model text.
#[must_use]
pub fn path(nodes: &[NodeSpec], ports: &[PortSpec], routes: &Routes, src: u32, dst: u32, hash: u32, pinned: &[u32]) -> Option<Vec<u32>> {
    let mut port = nodes[src as usize].first_port;
    let goal = nodes[dst as usize].first_port;
    let mut path = vec![port];
    // A shortest path visits no node twice; a pinned one that does would never end.
    while path.len() <= nodes.len() {
        let at = ports[ports[port as usize].peer as usize].node;
        if at == dst {
            return Some(path);
        }
        let row = routes.switch_row[at as usize];
        if row == u32::MAX {
            return None;
        }
        let last = ports[goal as usize].peer;
        port = if ports[last as usize].node == at {
            last
        } else if let Some(pin) = pinned.iter().find(|p| ports[**p as usize].node == at) {
            *pin
        } else {
            let leaf = routes.endpoint_leaf[dst as usize];
            if leaf == u32::MAX {
                return None;
            }
            let group = routes.table[row as usize * routes.n_leaves as usize + leaf as usize];
            if group == u32::MAX {
                return None;
            }
            let start = routes.group_start[group as usize];
            let n = routes.group_start[group as usize + 1] - start;
            routes.members[(start + fmix(hash ^ nodes[at as usize].hash_seed) % n) as usize]
        };
        path.push(port);
    }
    None
}
