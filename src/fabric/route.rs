//! Shortest-path routes with equal-cost choices.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::case::{NodeKind, NodeSpec, PortSpec, Routes};

/// A switch's links to other switches: (own port, row of the peer).
type Neighbours = Vec<(u32, u32)>;

/// Next hops from every switch to every leaf along all shortest paths (in hops).
///
/// Endpoints never forward. Memory grows with switches times leaves.
#[must_use]
pub fn shortest_paths(nodes: &[NodeSpec], ports: &[PortSpec]) -> Routes {
    let mut routes = Routes { switch_row: vec![u32::MAX; nodes.len()], endpoint_leaf: vec![u32::MAX; nodes.len()], ..Routes::default() };
    let mut leaf_number = vec![u32::MAX; nodes.len()];
    let (mut rows, mut leaves) = (Vec::new(), Vec::new());
    for (n, node) in nodes.iter().enumerate() {
        if node.kind == NodeKind::Switch {
            routes.switch_row[n] = short(rows.len());
            if own_ports(node).any(|p| nodes[peer_node(ports, p)].kind == NodeKind::Endpoint) {
                leaf_number[n] = short(leaves.len());
                leaves.push(rows.len());
            }
            rows.push(n);
        }
    }
    for (n, node) in nodes.iter().enumerate() {
        if node.kind == NodeKind::Endpoint && node.n_ports == 1 {
            routes.endpoint_leaf[n] = leaf_number[peer_node(ports, node.first_port)];
        }
    }
    let neighbours: Vec<Neighbours> = rows
        .iter()
        .map(|n| own_ports(&nodes[*n]).map(|p| (p, routes.switch_row[peer_node(ports, p)])).filter(|(_, row)| *row != u32::MAX).collect())
        .collect();
    let distances: Vec<Vec<u32>> = leaves.par_iter().map(|leaf| distances(&neighbours, *leaf)).collect();
    let tables: Vec<RowTable> = (0..rows.len()).into_par_iter().map(|row| RowTable::new(row, &neighbours[row], &distances)).collect();
    routes.n_leaves = short(leaves.len());
    routes.group_start.push(0);
    for row in tables {
        let base = short(routes.group_start.len() - 1);
        routes.table.extend(row.group_of_leaf.iter().map(|g| if *g == u32::MAX { *g } else { base + g }));
        for group in row.groups {
            routes.members.extend(group);
            routes.group_start.push(short(routes.members.len()));
        }
    }
    routes
}

/// Groups of one switch.
struct RowTable {
    group_of_leaf: Vec<u32>,
    groups: Vec<Vec<u32>>,
}

impl RowTable {
    fn new(row: usize, neighbours: &Neighbours, distances: &[Vec<u32>]) -> Self {
        let mut table = Self { group_of_leaf: Vec::with_capacity(distances.len()), groups: Vec::new() };
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        for distance in distances {
            let here = distance[row];
            if here == 0 || here == u32::MAX {
                table.group_of_leaf.push(u32::MAX);
                continue;
            }
            // Whoever is reachable has only reachable neighbours, so nothing overflows.
            let group: Vec<u32> =
                neighbours.iter().filter(|(_, peer)| distance[*peer as usize] + 1 == here).map(|(port, _)| *port).collect();
            let next = short(table.groups.len());
            let number = *known.entry(group).or_insert_with_key(|group| {
                table.groups.push(group.clone());
                next
            });
            table.group_of_leaf.push(number);
        }
        table
    }
}

/// Hops from every switch to one, by row; `u32::MAX` = unreachable.
fn distances(neighbours: &[Neighbours], leaf: usize) -> Vec<u32> {
    let mut distance = vec![u32::MAX; neighbours.len()];
    distance[leaf] = 0;
    let mut queue = vec![leaf];
    let mut head = 0;
    while head < queue.len() {
        let at = queue[head];
        head += 1;
        for (_, peer) in &neighbours[at] {
            let peer = *peer as usize;
            if distance[peer] == u32::MAX {
                distance[peer] = distance[at] + 1;
                queue.push(peer);
            }
        }
    }
    distance
}

fn peer_node(ports: &[PortSpec], port: u32) -> usize {
    ports[ports[port as usize].peer as usize].node as usize
}

fn own_ports(node: &NodeSpec) -> std::ops::Range<u32> {
    node.first_port..node.first_port + node.n_ports
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
