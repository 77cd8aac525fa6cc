//! The InfiniBand part of a batch: tables into `topo`, virtual output queues into `sync`, lanes and wires.

use std::collections::HashMap;

use crate::case::{Case, Credits, Reaction, Sl2Vl};
use crate::error::Error;
use crate::kernels::{self, Lane, Node, Params, Wire};
use crate::state::layout::{Layout, index, pair};

/// Fills in the rules of a case with credits; its tables go to `topo`.
pub(super) fn pack_rules(credits: &Credits, topo: &mut Vec<u32>, params: &mut Params) -> Result<(), Error> {
    let (a10, adaptive) = (&credits.a10, &credits.adaptive);
    let flag = |on: bool, bit: u32| if on { bit } else { 0 };
    params.flags |= kernels::CREDITS | flag(adaptive.graded, kernels::GRADED) | flag(credits.shield, kernels::SHIELD);
    params.fc_threshold = credits.fc_threshold_blocks;
    params.fc_interval = credits.fc_interval_ps;
    params.high_limit = u32::from(credits.high_limit);
    (params.high_off, params.n_high, params.high_classes) = pack_arbitration(&credits.high, topo)?;
    (params.low_off, params.n_low, params.low_classes) = pack_arbitration(&credits.low, topo)?;
    params.mark_size = credits.mark_size_bytes;
    params.marking_rate = credits.marking_rate;
    params.adaptive_sls = u32::from(adaptive.sls);
    [params.grade_0, params.grade_1, params.grade_2] = adaptive.grades_bytes;
    params.binding = pair(adaptive.binding_ps);
    params.ccti_timer = pair(a10.ccti_timer_ps);
    params.ccti_increase = u32::from(a10.ccti_increase);
    params.ccti_limit = u32::from(a10.ccti_limit);
    params.ccti_min = u32::from(a10.ccti_min);
    params.cct_off = index(topo.len(), "routing words")?;
    topo.extend(a10.cct.iter().map(|(shift, multiplier)| u32::from(*shift) << 16 | u32::from(*multiplier)));
    Ok(())
}

/// Offset, entries, and mask of the classes that have weight.
fn pack_arbitration(table: &[(u8, u8)], topo: &mut Vec<u32>) -> Result<(u32, u32, u32), Error> {
    let at = index(topo.len(), "routing words")?;
    let class = |lane: u8| u32::from(lane) + 1;
    topo.extend(table.iter().map(|(lane, weight)| u32::from(*weight) << 8 | class(*lane)));
    let served = table.iter().filter(|(_, weight)| *weight > 0).fold(0, |mask, (lane, _)| mask | 1 << class(*lane));
    Ok((at, index(table.len(), "arbitration entries")?, served))
}

/// Service level maps of a case, 2 words each; returns the offset of each.
pub(super) fn pack_maps(credits: &Credits, topo: &mut Vec<u32>) -> Result<Vec<u32>, Error> {
    let mut offsets = Vec::new();
    for map in &credits.sl2vl {
        offsets.push(index(topo.len(), "routing words")?);
        topo.extend(map.chunks(8).map(|half| half.iter().zip(0..).fold(0, |word, (lane, i)| word | u32::from(*lane & 15) << (4 * i))));
    }
    Ok(offsets)
}

/// The tables and queues of switch `n`; `sync_words` is the length of `sync` so far.
pub(super) fn pack_switch(
    case: &Case,
    n: usize,
    maps: &[u32],
    topo: &mut Vec<u32>,
    sync_words: &mut usize,
    node: &mut Node,
) -> Result<(), Error> {
    let Some(credits) = &case.credits else { return Ok(()) };
    node.lft_off = index(topo.len(), "routing words")?;
    topo.extend(lft_words(case, credits, n, &credits.lft));
    node.sl_off = index(topo.len(), "routing words")?;
    match &credits.sl2vl_of[n] {
        Sl2Vl::Uniform(row) => topo.push(maps[*row as usize]),
        Sl2Vl::ByPorts(rows) => {
            node.sl_ports = 1;
            topo.extend(rows.iter().map(|row| maps[*row as usize]));
        }
    }
    node.voq_inputs = if credits.first_come { 1 } else { node.n_ports };
    node.voq_off = index(*sync_words, "queue words")?;
    *sync_words += node.n_ports as usize * case.classes.len() * (node.voq_inputs + node.voq_inputs.div_ceil(32)) as usize;
    node.binding_off = kernels::NIL;
    if credits.adaptive.binding_ps > 0 {
        node.binding_off = index(*sync_words, "binding words")?;
        *sync_words += (kernels::BINDING_SLOTS * kernels::BINDING_WORDS) as usize;
    }
    Ok(())
}

/// Forwarding table of switch `n`, 4 cells a word.
pub(super) fn lft_words(case: &Case, credits: &Credits, n: usize, lft: &[u8]) -> Vec<u32> {
    let cells = credits.n_lids as usize;
    let first = case.routes.switch_row[n] as usize * cells;
    let word = |cells: &[u8]| cells.iter().zip(0..).fold(0, |word, (cell, i)| word | u32::from(*cell) << (8 * i));
    lft[first..first + cells].chunks(4).map(word).collect()
}

/// The flow whose CCTI each flow uses, and the CCTI all begin with.
pub(super) fn ccti_owners(case: &Case, first_flow: u32) -> (Vec<u32>, u32) {
    let numbers = first_flow..;
    let Some(a10) = case.credits.as_ref().map(|c| &c.a10).filter(|_| case.rules.reaction == Reaction::A10) else {
        return (case.flows.iter().zip(numbers).map(|(_, i)| i).collect(), 0);
    };
    let mut known = HashMap::new();
    let owner = |(f, i): (&crate::case::FlowSpec, u32)| if a10.by_sl { *known.entry((f.src, f.sl)).or_insert(i) } else { i };
    (case.flows.iter().zip(numbers).map(owner).collect(), u32::from(a10.ccti_min))
}

/// Lanes and wires of a batch; none if no case has credits.
pub(super) fn pack_links(cases: &[&Case], layout: &Layout) -> (Vec<Lane>, Vec<Wire>) {
    let (mut lanes, mut wires) = (Vec::new(), Vec::new());
    if cases.iter().all(|c| c.credits.is_none()) {
        return (lanes, wires);
    }
    let nothing = Lane { last_input: kernels::NIL, fc_due: kernels::INF, ..Lane::default() };
    for case in cases {
        let first = |table: &[(u8, u8)]| table.first().map_or(0, |entry| u32::from(entry.1));
        let (high, low) = case.credits.as_ref().map_or((0, 0), |c| (first(&c.high), first(&c.low)));
        for port in &case.ports {
            let fccl = case.ports[port.peer as usize].lane.buffer_blocks.min(kernels::MOST_CREDITS);
            lanes.extend((0..layout.queue_stride).map(|_| Lane { fccl, ..nothing }));
            wires.push(Wire {
                hoq: pair(port.lane.hoq_ps),
                buffer_blocks: port.lane.buffer_blocks,
                fecn_bytes: port.lane.fecn_bytes,
                fecn_victims: u32::from(port.lane.fecn_victims),
                free_port: kernels::NIL,
                high_left: high,
                low_left: low,
                ..Wire::default()
            });
        }
    }
    (lanes, wires)
}
