//! The subnet manager's part before a run: which port of which switch each destination is reached by, and whether that can deadlock.
//!
//! Destinations are numbered by *cell*: endpoint `e`, in the order of the nodes, has cell `e` of every forwarding table.

mod engine;
mod loops;

pub use engine::{Engine, forwarding};
pub use loops::credit_loop;

use crate::case::{NodeKind, NodeSpec, PortSpec};

/// What routing works on: nodes and ports of a case.
#[derive(Debug, Clone, Copy)]
pub struct Wires<'a> {
    /// Nodes.
    pub nodes: &'a [NodeSpec],
    /// Ports.
    pub ports: &'a [PortSpec],
}

/// Linear forwarding tables of all switches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tables {
    /// Cells a switch.
    pub n_lids: u32,
    /// `lft[switch_row * n_lids + cell]`: port counted from the first one of the switch; 255 = none. Switch rows are in node order.
    pub lft: Vec<u8>,
}

impl Wires<'_> {
    /// Ports of a node.
    fn own(&self, node: usize) -> std::ops::Range<u32> {
        self.nodes[node].first_port..self.nodes[node].first_port + self.nodes[node].n_ports
    }

    /// The node at the other end of a port's link.
    fn beyond(&self, port: u32) -> usize {
        self.ports[self.ports[port as usize].peer as usize].node as usize
    }

    fn is_switch(&self, node: usize) -> bool {
        self.nodes[node].kind == NodeKind::Switch
    }

    /// Endpoints by cell.
    fn endpoints(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|n| !self.is_switch(*n)).collect()
    }

    /// Ports that frames leave by on their way between two endpoints, the source's own first; `None` if a table has no port for it or
    /// it goes round in a circle.
    #[must_use]
    pub fn path(&self, tables: &Tables, switch_row: &[u32], src: u32, dst: u32, cell: u32) -> Option<Vec<u32>> {
        let mut path = vec![self.nodes[src as usize].first_port];
        while path.len() <= self.nodes.len() {
            let at = self.beyond(*path.last()?);
            if at == dst as usize {
                return Some(path);
            }
            let row = switch_row[at] as usize;
            let port = *tables.lft.get(row * tables.n_lids as usize + cell as usize)?;
            if port == 255 {
                return None;
            }
            path.push(self.nodes[at].first_port + u32::from(port));
        }
        None
    }
}
