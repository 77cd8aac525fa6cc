//! Credit loops: channels between switches that wait for each other in a circle (Dally and Seitz, channel dependency graph).

use std::collections::BTreeSet;

use crate::subnet::{Tables, Wires};

/// The ports of a circle of dependencies, if the tables have one: frames of one lane that fill them all can wait for each other for ever.
/// Every endpoint may send to every other one.
#[must_use]
pub fn credit_loop(wires: &Wires<'_>, tables: &Tables, switch_row: &[u32]) -> Option<Vec<u32>> {
    let follows = dependencies(wires, tables, switch_row);
    // 0 = not seen, 1 = on the way, 2 = leads to no circle.
    let mut state = vec![0_u8; wires.ports.len()];
    for first in 0..follows.len() {
        if state[first] != 0 {
            continue;
        }
        let mut way: Vec<(u32, usize)> = vec![(u32::try_from(first).ok()?, 0)];
        state[first] = 1;
        while let Some((port, tried)) = way.last_mut() {
            let Some(next) = follows[*port as usize].get(*tried).copied() else {
                state[*port as usize] = 2;
                way.pop();
                continue;
            };
            *tried += 1;
            if state[next as usize] == 1 {
                let start = way.iter().position(|(p, _)| *p == next)?;
                return Some(way[start..].iter().map(|(p, _)| *p).collect());
            }
            if state[next as usize] == 0 {
                state[next as usize] = 1;
                way.push((next, 0));
            }
        }
    }
    None
}

/// For each port between switches, the ports that frames go on by behind it.
fn dependencies(wires: &Wires<'_>, tables: &Tables, switch_row: &[u32]) -> Vec<Vec<u32>> {
    let mut follows: Vec<Vec<u32>> = vec![Vec::new(); wires.ports.len()];
    // Destination for which a port was passed last.
    let mut passed = vec![usize::MAX; wires.ports.len()];
    let leaves: BTreeSet<usize> =
        wires.endpoints().into_iter().map(|e| wires.beyond(wires.nodes[e].first_port)).filter(|n| wires.is_switch(*n)).collect();
    let out = |node: usize, cell: usize| {
        let local = tables.lft[switch_row[node] as usize * tables.n_lids as usize + cell];
        (local != 255).then(|| wires.nodes[node].first_port + u32::from(local)).filter(|p| wires.is_switch(wires.beyond(*p)))
    };
    for cell in 0..tables.n_lids as usize {
        for leaf in &leaves {
            let mut at = *leaf;
            let mut before = None;
            while let Some(port) = out(at, cell) {
                if let Some(before) = before {
                    let known: &mut Vec<u32> = &mut follows[before as usize];
                    if !known.contains(&port) {
                        known.push(port);
                    }
                }
                if std::mem::replace(&mut passed[port as usize], cell) == cell {
                    break;
                }
                before = Some(port);
                at = wires.beyond(port);
            }
        }
    }
    follows
}
