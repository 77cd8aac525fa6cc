//! Links that fail while the simulation runs, and the routes that follow.

use std::collections::BTreeSet;

use crate::case::{Case, Change, NodeSpec, PortSpec, Routes};
use crate::error::InputError;
use crate::fabric::route;
use crate::scenario::infiniband;
use crate::scenario::read::{Reader, Sec};

/// Reads `[[failure]]` into changes by ascending time.
pub(crate) fn changes<'a>(reader: &'a Reader<'a>, case: &Case) -> Result<Vec<Change>, InputError> {
    let mut events: Vec<(u64, Vec<u32>, bool)> = Vec::new();
    for sec in reader.list("failure") {
        let at_ps = sec.num("at")?;
        let down = ports(&sec, case)?;
        if let Some(recovery) = sec.num_or_word("recovery")? {
            events.push((at_ps.saturating_add(recovery), Vec::new(), true));
        }
        events.push((at_ps, down, false));
    }
    events.sort_by_key(|(at_ps, _, recovers)| (*at_ps, *recovers));
    let mut dead = BTreeSet::new();
    let mut routes = case.routes.clone();
    let mut changes: Vec<Change> = Vec::new();
    // Adaptive routing and rerouting by the switches themselves know at once which of their own ports are down.
    let locally = case.credits.as_ref().is_some_and(|c| c.shield || c.adaptive.sls != 0);
    for (at_ps, down, recovers) in events {
        // A link can be named twice; it fails once.
        let down: Vec<u32> = down.into_iter().filter(|p| dead.insert(*p)).collect();
        let mut change = Change { at_ps, down, lft: None, routes: None };
        if recovers {
            let ports = without(&case.ports, &dead);
            routes = route::shortest_paths(&case.nodes, &ports);
            if case.credits.is_some() {
                change.lft = Some(infiniband::tables(&reader.section("infiniband"), &case.nodes, &ports)?.lft);
            }
            change.routes = Some(routes.clone());
        } else if locally {
            routes = pruned(&routes, &dead);
            change.routes = Some(routes.clone());
        }
        changes.push(change);
    }
    Ok(changes)
}

/// Ports whose dead links lead back to themselves, so that no way goes by them.
fn without(ports: &[PortSpec], dead: &BTreeSet<u32>) -> Vec<PortSpec> {
    let kept = |(i, p): (u32, &PortSpec)| if dead.contains(&i) { PortSpec { peer: i, ..*p } } else { *p };
    (0..).zip(ports).map(kept).collect()
}

/// Route groups without the ports that are down.
fn pruned(routes: &Routes, dead: &BTreeSet<u32>) -> Routes {
    let mut left = Routes { members: Vec::new(), group_start: vec![0], ..routes.clone() };
    for w in routes.group_start.windows(2) {
        left.members.extend(routes.members[w[0] as usize..w[1] as usize].iter().filter(|p| !dead.contains(p)));
        left.group_start.push(u32::try_from(left.members.len()).unwrap_or(u32::MAX));
    }
    left
}

/// Ports of both ends of the links that a failure names.
fn ports(sec: &Sec<'_>, case: &Case) -> Result<Vec<u32>, InputError> {
    let node = |key: &'static str| -> Result<&NodeSpec, InputError> {
        let name = sec.text(key)?;
        case.nodes.iter().find(|n| n.name == name).ok_or_else(|| sec.error(key, "there is no node of that name"))
    };
    let (a, b) = (node("from")?, node("to")?);
    let own = |n: &NodeSpec| n.first_port..n.first_port + n.n_ports;
    let links: Vec<u32> = own(a).filter(|p| own(b).contains(&case.ports[*p as usize].peer)).collect();
    if links.is_empty() {
        return Err(sec.error("to", "there is no link between these nodes"));
    }
    let wanted = sec.num_or_word("links")?.map_or(links.len(), |n| usize::try_from(n).unwrap_or(usize::MAX));
    if wanted > links.len() {
        return Err(sec.error("links", format!("there are only {}", links.len())));
    }
    Ok(links.into_iter().take(wanted).flat_map(|p| [p, case.ports[p as usize].peer]).collect())
}
