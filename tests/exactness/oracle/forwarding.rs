//! InfiniBand's forwarding tables, adaptive routing and local rerouting.

use super::{Frame, Kind, Oracle, draw, fmix};

/// What a slot of bounded adaptive routing holds: destination, port, instant.
pub type Binding = (u32, usize, u64);

impl Oracle<'_> {
    /// The route group of a switch towards an endpoint's leaf.
    pub fn group(&self, node: usize, endpoint: usize) -> Option<&[u32]> {
        let routes = &self.routes;
        let leaf = routes.endpoint_leaf[endpoint];
        if leaf == u32::MAX {
            return None;
        }
        let group = routes.table[(routes.switch_row[node] * routes.n_leaves + leaf) as usize];
        if group == u32::MAX {
            return None;
        }
        let start = &routes.group_start[group as usize..];
        Some(&routes.members[start[0] as usize..start[1] as usize])
    }

    /// The egress of a frame at a switch, if it has one.
    pub fn forwarded(&mut self, node: usize, frame: &Frame) -> Option<usize> {
        let credits = self.case.credits.as_ref().expect("InfiniBand");
        let (spec, data) = (&self.case.flows[frame.flow], frame.kind == Kind::Data);
        let (dlid, to) = if data { (spec.dlids[0], spec.dst) } else { (spec.dlids[1], spec.src) };
        let first = self.case.nodes[node].first_port as usize;
        let cell = self.lft[(self.routes.switch_row[node] * credits.n_lids + dlid) as usize];
        let fixed = (cell != 255).then_some(first + usize::from(cell));
        let adaptive = data && credits.adaptive.sls >> spec.sl & 1 == 1;
        let Some(group) = self.group(node, to as usize).map(<[u32]>::to_vec).filter(|g| !g.is_empty()) else { return fixed };
        let group: Vec<usize> = group.into_iter().map(|p| p as usize).collect();
        let off_group = fixed.is_none_or(|p| !group.contains(&p));
        if adaptive || (credits.shield && off_group) { Some(self.adapt(node, frame, dlid, &group)) } else { fixed }
    }

    fn load(&self, port: usize) -> u64 {
        let adaptive = &self.case.credits.as_ref().expect("InfiniBand").adaptive;
        let bytes: u64 = (1..=self.case.classes.len()).map(|row| self.queues[self.q(port, row)].bytes).sum();
        if !adaptive.graded {
            return bytes;
        }
        adaptive.grades_bytes.iter().map(|limit| u64::from(u64::from(*limit) <= bytes)).sum()
    }

    fn adapt(&mut self, node: usize, frame: &Frame, dlid: u32, group: &[usize]) -> usize {
        let binding = self.case.credits.as_ref().expect("InfiniBand").adaptive.binding_ps;
        let slot = (node, fmix(dlid ^ self.case.nodes[node].hash_seed) % 1024);
        let bound = self
            .bindings
            .get(&slot)
            .filter(|(lid, port, at)| binding > 0 && *lid == dlid && group.contains(port) && self.now - at < binding);
        let port = bound.map_or_else(|| self.least_loaded(node, frame, group), |(_, port, _)| *port);
        self.bindings.insert(slot, (dlid, port, self.now));
        port
    }

    fn least_loaded(&self, node: usize, frame: &Frame, group: &[usize]) -> usize {
        let least = group.iter().map(|p| self.load(*p)).min().expect("a group has ports");
        let mut ports: Vec<usize> = group.iter().copied().filter(|p| self.load(*p) == least).collect();
        ports.sort_unstable();
        let key = self.case.flows[frame.flow].id.wrapping_mul(0x9E37_79B1).wrapping_add(frame.psn);
        let drawn = draw(self.case.seed, self.case.nodes[node].first_port as usize, key, 2);
        ports[drawn as usize % ports.len()]
    }
}
