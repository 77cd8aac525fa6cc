//! Growing rings and pools that were full.
//!
//! A node that finds no room stops before the event that needs it, so the state is consistent and no packet is lost: the
//! run goes on from where it stopped, in larger buffers. Nothing has to be replayed.

use crate::error::Error;
use crate::kernels::{self, Node, Port};
use crate::state::buffers::Buffers;
use crate::state::layout::Layout;

/// Doubles every ring and pool whose owner asked for more, and moves their contents.
///
/// # Errors
/// [`Error::Capacity`] if a buffer would leave the range of 32-bit indices.
pub fn grow(buffers: &mut Buffers, layout: &mut Layout) -> Result<(), Error> {
    grow_rings(buffers)?;
    grow_pools(buffers, layout)?;
    for s in 0..layout.parts.len() {
        buffers.sync[s * kernels::SCENARIO_WORDS as usize + kernels::S_NEED as usize] = 0;
    }
    Ok(())
}

fn index(value: usize, what: &str) -> Result<u32, Error> {
    u32::try_from(value)
        .ok()
        .filter(|v| *v < kernels::FAR)
        .ok_or_else(|| Error::Capacity(format!("{what} would need {value} slots, more than a 32-bit index reaches")))
}

fn grow_rings(buffers: &mut Buffers) -> Result<(), Error> {
    let mut ports: Vec<Port> = bytemuck::cast_slice(&buffers.ports).to_vec();
    if ports.iter().all(|p| p.need == 0) {
        return Ok(());
    }
    let old: &[[u32; 4]] = bytemuck::cast_slice(&buffers.rings);
    let mut rings: Vec<[u32; 4]> = Vec::with_capacity(old.len() * 2);
    let mut move_ring = |off: u32, mask: u32, head: u32, tail: u32, double: bool| -> Result<(u32, u32), Error> {
        let capacity = if double { 2 * (mask + 1) } else { mask + 1 };
        let at = rings.len();
        rings.resize(at + capacity as usize, [0; 4]);
        let mut i = head;
        while i != tail {
            rings[at + (i & (capacity - 1)) as usize] = old[(off + (i & mask)) as usize];
            i = i.wrapping_add(1);
        }
        Ok((index(at, "packets in flight")?, capacity - 1))
    };
    for p in 0..ports.len() {
        let (port, peer) = (ports[p], ports[p].peer as usize);
        let (off, mask) = move_ring(port.out_off, port.out_mask, ports[peer].in_head, port.out_tail, port.need & 1 != 0)?;
        let (pfc_off, pfc_mask) =
            move_ring(port.pfc_out_off, port.pfc_out_mask, ports[peer].pfc_in_head, port.pfc_out_tail, port.need & 2 != 0)?;
        (ports[p].out_off, ports[p].out_mask, ports[p].pfc_out_off, ports[p].pfc_out_mask) = (off, mask, pfc_off, pfc_mask);
        (ports[peer].in_off, ports[peer].in_mask, ports[peer].pfc_in_off, ports[peer].pfc_in_mask) = (off, mask, pfc_off, pfc_mask);
        ports[p].need = 0;
    }
    buffers.rings = bytemuck::cast_slice(&rings).to_vec();
    buffers.ports = bytemuck::cast_slice(&ports).to_vec();
    Ok(())
}

fn grow_pools(buffers: &mut Buffers, layout: &mut Layout) -> Result<(), Error> {
    let mut nodes: Vec<Node> = bytemuck::cast_slice(&buffers.nodes).to_vec();
    // A node asks by standing still with fewer than two free entries.
    let full = |n: &Node| n.unfinished != 0 && n.pool_used + 2 > n.pool_cap;
    if !nodes.iter().any(full) {
        return Ok(());
    }
    let old: &[[u32; 4]] = bytemuck::cast_slice(&buffers.pool);
    let mut pool: Vec<[u32; 4]> = Vec::with_capacity(old.len() * 2);
    for node in &mut nodes {
        let (off, cap) = (node.pool_off as usize, node.pool_cap);
        if full(node) {
            node.pool_cap = cap.checked_mul(2).ok_or_else(|| Error::Capacity("a packet pool cannot double again".into()))?;
        }
        node.pool_off = index(pool.len(), "queued packets")?;
        pool.extend_from_slice(&old[off..off + 2 * cap as usize]);
        pool.resize(node.pool_off as usize + 2 * node.pool_cap as usize, [0; 4]);
    }
    layout.n_entries = index(pool.len() / 2, "queued packets")?;
    for node in &mut nodes {
        node.heap_off = index(pool.len(), "events")?;
        pool.resize(pool.len() + node.heap_cap as usize, [0; 4]);
    }
    buffers.pool = bytemuck::cast_slice(&pool).to_vec();
    buffers.nodes = bytemuck::cast_slice(&nodes).to_vec();
    Ok(())
}
