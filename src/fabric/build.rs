//! Generators of regular fabrics.

use crate::case::NodeKind;
use crate::fabric::size::ThreeTier;
use crate::fabric::{Channel, Graph, GraphNode, Link};

/// Channels by tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiers {
    /// Endpoint to leaf.
    pub host: Channel,
    /// Leaf to spine.
    pub up: Channel,
    /// Spine to core.
    pub core: Channel,
}

/// Shape of a two-tier fabric with rails; one rail makes an ordinary leaf-spine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TwoTierShape {
    /// Endpoints in all.
    pub endpoints: u64,
    /// Endpoints of a server, each on a rail of its own; 1 = no rails.
    pub rails: u64,
    /// Leaves in all, a multiple of `rails`.
    pub leaves: u64,
    /// Endpoints of a leaf, at most.
    pub down: u64,
    /// Spines in all; with `rail_only` a multiple of `rails`.
    pub spines: u64,
    /// Links between a leaf and each of its spines.
    pub parallel: u64,
    /// Every rail is a fabric of its own.
    pub rail_only: bool,
}

fn small(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl Graph {
    fn add(&mut self, prefix: &str, count: u64, kind: NodeKind) -> u32 {
        let first = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.extend((0..count).map(|i| GraphNode { name: format!("{prefix}{i}"), kind }));
        first
    }

    fn join(&mut self, a: u32, b: u32, channel: Channel) {
        self.links.push(Link { ends: [a, b], channels: [channel; 2] });
    }
}

/// `endpoints` on one switch.
#[must_use]
pub fn single(endpoints: u64, tiers: &Tiers) -> Graph {
    let mut graph = Graph::default();
    let first = graph.add("gpu", endpoints, NodeKind::Endpoint);
    let switch = graph.add("switch", 1, NodeKind::Switch);
    for e in 0..small(endpoints) {
        graph.join(first + e, switch, tiers.host);
    }
    graph
}

/// Leaves and spines. With rails, endpoint `e` is on rail `e mod rails`; servers fill the leaf groups in order.
#[must_use]
pub fn two_tier(shape: &TwoTierShape, tiers: &Tiers) -> Graph {
    let mut graph = Graph::default();
    let first = graph.add("gpu", shape.endpoints, NodeKind::Endpoint);
    let leaf = graph.add("leaf", shape.leaves, NodeKind::Switch);
    let spine = graph.add("spine", shape.spines, NodeKind::Switch);
    let rails = shape.rails.max(1);
    for e in 0..shape.endpoints {
        let (server, rail) = (e / rails, e % rails);
        let number = server / shape.down.max(1) * rails + rail;
        graph.join(first + small(e), leaf + small(number), tiers.host);
    }
    let per_rail = if shape.rail_only { shape.spines / rails } else { shape.spines };
    for l in 0..shape.leaves {
        let base = if shape.rail_only { l % rails * per_rail } else { 0 };
        for s in base..base + per_rail {
            for _ in 0..shape.parallel {
                graph.join(leaf + small(l), spine + small(s), tiers.up);
            }
        }
    }
    graph
}

/// Pods of leaves and spines under cores. Spine `j` of every pod connects to the cores of group `j`.
#[must_use]
pub fn three_tier(endpoints: u64, radix: u64, size: &ThreeTier, tiers: &Tiers) -> Graph {
    let half = radix / 2;
    let mut graph = Graph::default();
    let first = graph.add("gpu", endpoints, NodeKind::Endpoint);
    let leaf = graph.add("leaf", size.leaves, NodeKind::Switch);
    let spine = graph.add("spine", size.spines, NodeKind::Switch);
    let core = graph.add("core", size.cores, NodeKind::Switch);
    for e in 0..endpoints {
        graph.join(first + small(e), leaf + small(e / half), tiers.host);
    }
    for l in 0..size.leaves {
        for s in l / half * half..(l / half + 1) * half {
            graph.join(leaf + small(l), spine + small(s), tiers.up);
        }
    }
    for s in 0..size.spines {
        for c in 0..size.cores_per_spine {
            for _ in 0..size.parallel {
                graph.join(spine + small(s), core + small(s % half * size.cores_per_spine + c), tiers.core);
            }
        }
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::size;

    fn tiers() -> Tiers {
        let channel = Channel { rate_kbps: 400_000_000, propagation_ps: 25_000, loss_q32: 0, drop_every: 0 };
        Tiers { host: channel, up: channel, core: channel }
    }

    fn degrees(graph: &Graph, prefix: &str) -> Vec<usize> {
        let nodes = (0_u32..).zip(&graph.nodes).filter(|(_, n)| n.name.starts_with(prefix));
        nodes.map(|(i, _)| graph.links.iter().filter(|l| l.ends.contains(&i)).count()).collect()
    }

    #[test]
    fn fat_trees_use_every_port() {
        for (n, radix) in [(16, 4), (128, 8), (64, 8), (54, 6)] {
            let size = size::three_tier(n, radix).expect("fits");
            let graph = three_tier(n, radix, &size, &tiers());
            let full = usize::try_from(radix).expect("small");
            assert!(degrees(&graph, "leaf").iter().all(|d| *d == full));
            assert!(degrees(&graph, "spine").iter().all(|d| *d == full));
            assert!(degrees(&graph, "core").iter().all(|d| *d <= full));
            assert!(degrees(&graph, "gpu").iter().all(|d| *d == 1));
        }
    }

    #[test]
    fn rails_keep_a_server_apart() {
        let shape = TwoTierShape { endpoints: 64, rails: 8, leaves: 16, down: 4, spines: 4, parallel: 1, rail_only: false };
        let graph = two_tier(&shape, &tiers());
        let leaf_of = |e: u32| graph.links.iter().find(|l| l.ends[0] == e).map(|l| l.ends[1]);
        let first: Vec<_> = (0..8).map(leaf_of).collect();
        assert_eq!(first, (64..72).map(Some).collect::<Vec<_>>());
        assert_eq!(leaf_of(8), leaf_of(0));
        assert_eq!(leaf_of(32), Some(72));
    }
}
