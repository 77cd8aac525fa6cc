//! Changes of the fabric between two windows: links that go down, new tables.

use crate::case::{Case, Change};
use crate::error::Error;
use crate::kernels::{self, Node, Port, Queue};
use crate::state::buffers::Buffers;
use crate::state::lanes::lft_words;
use crate::state::layout::{Layout, join, pack_routes, pair};

/// Applies a change of case `s` at the start of its window, near time `now`, before any event of that instant.
///
/// # Errors
/// [`Error::Capacity`] if the new routes do not fit.
pub fn apply(case: &Case, s: usize, change: &Change, buffers: &mut Buffers, layout: &Layout, now: u32) -> Result<(), Error> {
    let part = &layout.parts[s];
    for port in &change.down {
        take_down(part.first_port + port, s, buffers, layout, now);
    }
    if let (Some(lft), Some(credits)) = (&change.lft, &case.credits) {
        let nodes: &[Node] = bytemuck::cast_slice(&buffers.nodes);
        for (n, device) in part.node_of.iter().enumerate() {
            let node = &nodes[*device as usize];
            if node.mask_off != kernels::NIL {
                let words = lft_words(case, credits, n, lft);
                buffers.topo[node.lft_off as usize..][..words.len()].copy_from_slice(&words);
            }
        }
    }
    if let Some(routes) = &change.routes {
        pack_routes(case, routes, part, &mut buffers.topo, bytemuck::cast_slice_mut(&mut buffers.nodes))?;
        for (i, flow) in case.flows.iter().enumerate() {
            let first = buffers.topo[s].wrapping_add(8_u32.wrapping_mul(part.first_flow)) as usize + 8 * i;
            buffers.topo[first] = routes.endpoint_leaf[flow.dst as usize];
            buffers.topo[first + 2] = routes.endpoint_leaf[flow.src as usize];
        }
    }
    Ok(())
}

fn take_down(p: u32, s: usize, buffers: &mut Buffers, layout: &Layout, now: u32) {
    let ports: &mut [Port] = bytemuck::cast_slice_mut(&mut buffers.ports);
    let peer = ports[p as usize].peer as usize;
    let (tail, pfc_tail) = (ports[p as usize].out_tail, ports[p as usize].pfc_out_tail);
    let on_the_way = tail.wrapping_sub(ports[peer].in_head);
    (ports[peer].in_head, ports[peer].in_head_pub, ports[peer].in_tail_seen) = (tail, tail, tail);
    (ports[peer].pfc_in_head, ports[peer].pfc_in_head_pub, ports[peer].pfc_in_tail_seen) = (pfc_tail, pfc_tail, pfc_tail);
    let port = &mut ports[p as usize];
    (port.out_tail_pub, port.out_head_seen) = (tail, tail);
    (port.pfc_out_tail_pub, port.pfc_out_head_seen) = (pfc_tail, pfc_tail);
    port.down = 1;
    port.lost += on_the_way;
    port.gate = now;
    let queues: &mut [Queue] = bytemuck::cast_slice_mut(&mut buffers.queues);
    for class_ix in 0..layout.queue_stride {
        if port.paused >> class_ix & 1 != 0 {
            let q = &mut queues[(p * layout.queue_stride + class_ix) as usize];
            q.paused_ps = pair(join(q.paused_ps) + u64::from(now - q.paused_since));
        }
    }
    port.paused = 0;
    let block = s * kernels::SCENARIO_WORDS as usize;
    let nodes: &mut [Node] = bytemuck::cast_slice_mut(&mut buffers.nodes);
    let node = &mut nodes[port.node as usize];
    if node.mask_off == kernels::NIL {
        let base = join([buffers.sync[block + kernels::S_BASE as usize], buffers.sync[block + kernels::S_BASE as usize + 1]]);
        let at = base + u64::from(now.max(port.busy));
        node.tx_at = pair(join(node.tx_at).min(at));
    }
    let clock = (layout.clock_off + kernels::NEXT * layout.n_nodes + port.node) as usize;
    for word in [clock, block + kernels::S_NEXT as usize] {
        buffers.sync[word] = buffers.sync[word].min(now);
    }
}
