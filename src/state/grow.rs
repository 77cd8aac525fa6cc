//! Growing rings and pools that were full.
//!
//! A node that finds no room stops before the event that needs it, so the state is consistent and no packet is lost: the
//! run goes on from where it stopped, in larger buffers. Nothing has to be replayed. What grows moves to the end of its buffer and
//! leaves a gap, which costs memory once and no time.

use crate::error::Error;
use crate::kernels::{self, Node, Port};
use crate::state::buffers::Buffers;
use crate::state::layout::Layout;

/// A ring or pool that grows does so by this.
const FACTOR: u32 = 4;

/// Enlarges every ring and pool whose owner asked for more, and moves their contents.
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

/// A larger copy of the ring at `off` at the end of `rings`: its place and mask.
fn move_ring(rings: &mut Vec<u32>, off: u32, mask: u32, head: u32, tail: u32) -> Result<(u32, u32), Error> {
    let at = index(rings.len() / 4, "packets in flight")?;
    let capacity = FACTOR * (mask + 1);
    rings.resize(rings.len() + 4 * capacity as usize, 0);
    let mut i = head;
    while i != tail {
        let (from, to) = (4 * (off + (i & mask)) as usize, 4 * (at + (i & (capacity - 1))) as usize);
        rings.copy_within(from..from + 4, to);
        i = i.wrapping_add(1);
    }
    Ok((at, capacity - 1))
}

fn grow_rings(buffers: &mut Buffers) -> Result<(), Error> {
    let ports: &mut [Port] = bytemuck::cast_slice_mut(&mut buffers.ports);
    for p in 0..ports.len() {
        let (port, peer) = (ports[p], ports[p].peer as usize);
        if port.need & 1 != 0 {
            let place = move_ring(&mut buffers.rings, port.out_off, port.out_mask, ports[peer].in_head, port.out_tail)?;
            (ports[p].out_off, ports[p].out_mask) = place;
            (ports[peer].in_off, ports[peer].in_mask) = place;
        }
        if port.need & 2 != 0 {
            let place = move_ring(&mut buffers.rings, port.pfc_out_off, port.pfc_out_mask, ports[peer].pfc_in_head, port.pfc_out_tail)?;
            (ports[p].pfc_out_off, ports[p].pfc_out_mask) = place;
            (ports[peer].pfc_in_off, ports[peer].pfc_in_mask) = place;
        }
        ports[p].need = 0;
    }
    Ok(())
}

fn grow_pools(buffers: &mut Buffers, layout: &mut Layout) -> Result<(), Error> {
    let nodes: &mut [Node] = bytemuck::cast_slice_mut(&mut buffers.nodes);
    // A node asks by standing still with fewer than two free entries.
    for node in nodes.iter_mut().filter(|n| n.unfinished != 0 && n.pool_used + 2 > n.pool_cap) {
        let (from, words) = (4 * node.pool_off as usize, 8 * node.pool_cap as usize);
        node.pool_off = index(buffers.pool.len() / 4, "queued packets")?;
        node.pool_cap = node.pool_cap.checked_mul(FACTOR).ok_or_else(|| Error::Capacity("a packet pool cannot grow further".into()))?;
        buffers.pool.extend_from_within(from..from + words);
        buffers.pool.resize((node.pool_off as usize + 2 * node.pool_cap as usize) * 4, 0);
    }
    layout.n_entries = (index(buffers.pool.len() / 4, "queued packets")? - layout.first_entry) / 2;
    Ok(())
}
