//! Device buffers by name, as words.

use crate::kernels::{Cx, Slots, Turn};

/// The storage buffers of `shaders/types.wgsl`, in binding order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Buffers {
    /// Rules of each case.
    pub params: Vec<u32>,
    /// Routing and the fixed part of flows.
    pub topo: Vec<u32>,
    /// Endpoints, then switches.
    pub nodes: Vec<u32>,
    /// Ports of all cases.
    pub ports: Vec<u32>,
    /// Queues, a stride a port.
    pub queues: Vec<u32>,
    /// Frames on links.
    pub rings: Vec<u32>,
    /// Frames in queues, then the event heaps.
    pub pool: Vec<u32>,
    /// Flows of all cases.
    pub flows: Vec<u32>,
    /// Clock blocks, inbox times, port masks, virtual output queues.
    pub sync: Vec<u32>,
    /// InfiniBand lanes, a stride a port; empty without.
    pub lanes: Vec<u32>,
    /// InfiniBand wires, one a port; empty without.
    pub wires: Vec<u32>,
}

impl Buffers {
    /// Names, in binding order.
    pub const NAMES: [&'static str; 11] =
        ["params", "topo", "nodes", "ports", "queues", "rings", "pool", "flows", "sync", "lanes", "wires"];

    /// All buffers, in binding order.
    #[must_use]
    pub fn all(&self) -> [&Vec<u32>; 11] {
        let b = self;
        [&b.params, &b.topo, &b.nodes, &b.ports, &b.queues, &b.rings, &b.pool, &b.flows, &b.sync, &b.lanes, &b.wires]
    }

    /// All buffers, in binding order.
    pub fn all_mut(&mut self) -> [&mut Vec<u32>; 11] {
        let b = self;
        [
            &mut b.params,
            &mut b.topo,
            &mut b.nodes,
            &mut b.ports,
            &mut b.queues,
            &mut b.rings,
            &mut b.pool,
            &mut b.flows,
            &mut b.sync,
            &mut b.lanes,
            &mut b.wires,
        ]
    }

    /// What the native kernels run on; valid while nothing moves.
    pub(crate) fn context(&mut self, turn: Turn) -> Cx {
        let b = self;
        Cx {
            params: Slots::new(&mut b.params),
            topo: Slots::new(&mut b.topo),
            nodes: Slots::new(&mut b.nodes),
            ports: Slots::new(&mut b.ports),
            queues: Slots::new(&mut b.queues),
            rings: Slots::new(&mut b.rings),
            pool: Slots::new(&mut b.pool),
            flows: Slots::new(&mut b.flows),
            sync: Slots::new(&mut b.sync),
            lanes: Slots::new(&mut b.lanes),
            wires: Slots::new(&mut b.wires),
            turn,
        }
    }

    /// Bytes of all buffers.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.all().iter().map(|b| 4 * b.len() as u64).sum()
    }
}
