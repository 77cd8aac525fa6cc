//! Routing engines: rules by which forwarding tables are filled.

use std::collections::VecDeque;

use crate::subnet::{Tables, Wires};

/// A rule for forwarding tables, by the name it has in `opensm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Shortest paths; of several ports the one that the fewest destinations go by. May deadlock on fabrics with cycles.
    MinHop,
    /// Never up after down, by ranks from the switches farthest from the endpoints; shortest such paths, balanced like `MinHop`.
    UpDown,
    /// Fat trees: up by destination number modulo the uplinks, which lets shift patterns through without contention.
    FatTree,
}

const FAR: u32 = u32::MAX;

/// Fills the tables of all switches.
///
/// # Errors
/// A switch with more ports than a table cell can name.
pub fn forwarding(wires: &Wires<'_>, engine: Engine) -> Result<Tables, String> {
    let mut fill = Fill::new(wires, engine)?;
    for cell in 0..fill.ends.len() {
        fill.destination(cell);
    }
    let n_lids = u32::try_from(fill.ends.len()).map_err(|_| "too many endpoints".to_owned())?;
    Ok(Tables { n_lids, lft: fill.lft })
}

struct Fill<'a> {
    wires: &'a Wires<'a>,
    engine: Engine,
    ends: Vec<usize>,
    switches: Vec<usize>,
    /// Distance of a switch from the nearest endpoint.
    rank: Vec<u32>,
    /// What the number of a destination is divided by before it chooses among uplinks, by rank.
    divisor: Vec<usize>,
    /// Destinations that go by a port so far.
    load: Vec<u32>,
    /// The leaf of the current destination, and the ports towards it by row of the switch.
    towards: Option<(usize, Vec<Vec<u32>>)>,
    lft: Vec<u8>,
}

impl<'a> Fill<'a> {
    fn new(wires: &'a Wires<'a>, engine: Engine) -> Result<Self, String> {
        let switches: Vec<usize> = (0..wires.nodes.len()).filter(|n| wires.is_switch(*n)).collect();
        if let Some(n) = switches.iter().find(|n| wires.nodes[**n].n_ports > 254) {
            return Err(format!(
                "switch `{}` has {} ports; InfiniBand switches have at most 254",
                wires.nodes[*n].name, wires.nodes[*n].n_ports
            ));
        }
        let ends = wires.endpoints();
        let rank = distances(wires, &ends);
        let mut fill = Self {
            wires,
            engine,
            divisor: Vec::new(),
            load: vec![0; wires.ports.len()],
            towards: None,
            lft: vec![255; switches.len() * ends.len()],
            ends,
            switches,
            rank,
        };
        fill.divisor = fill.divisors();
        Ok(fill)
    }

    /// Products of the numbers of uplinks below a rank.
    fn divisors(&self) -> Vec<usize> {
        let highest = self.switches.iter().map(|n| self.rank[*n]).filter(|r| *r != FAR).max().unwrap_or(0);
        let mut divisors = vec![1; highest as usize + 1];
        for rank in 1..highest {
            let uplinks = |n: &usize| self.wires.own(*n).filter(|p| self.rank[self.wires.beyond(*p)] > rank).count();
            let most = self.switches.iter().filter(|n| self.rank[**n] == rank).map(uplinks).max().unwrap_or(1);
            divisors[rank as usize + 1] = divisors[rank as usize] * most.max(1);
        }
        divisors
    }

    /// Fills one cell of all switches.
    fn destination(&mut self, cell: usize) {
        let end = self.ends[cell];
        let leaf = self.wires.beyond(self.wires.nodes[end].first_port);
        if !self.wires.is_switch(leaf) {
            return;
        }
        let (_, ports) = match self.towards.take().filter(|(known, _)| *known == leaf) {
            Some(known) => known,
            None => (leaf, self.ports_towards(leaf)),
        };
        for (row, towards) in ports.iter().enumerate() {
            let node = self.switches[row];
            let port =
                if node == leaf { self.wires.own(node).find(|p| self.wires.beyond(*p) == end) } else { self.choose(node, towards, cell) };
            if let Some(port) = port {
                self.load[port as usize] += 1;
                let local = u8::try_from(port - self.wires.nodes[node].first_port).unwrap_or(255);
                self.lft[row * self.ends.len() + cell] = local;
            }
        }
        self.towards = Some((leaf, ports));
    }

    /// Ports that the engine may use towards a leaf, by row of the switch.
    fn ports_towards(&self, leaf: usize) -> Vec<Vec<u32>> {
        let (down, any) = match self.engine {
            Engine::UpDown => self.legal_distances(leaf),
            _ => (Vec::new(), distances(self.wires, &[leaf])),
        };
        let of_switch = |node: &usize| {
            let node = *node;
            // On the way down only the distance by ways down counts.
            let goes_down = self.engine == Engine::UpDown && down[node] != FAR;
            let by = if goes_down { &down } else { &any };
            let legal = |port: &u32| {
                let next = self.wires.beyond(*port);
                let fits = self.engine != Engine::UpDown || self.is_up(node, next) != goes_down;
                self.wires.is_switch(next) && fits && by[next] != FAR && by[next] + 1 == by[node]
            };
            if by[node] == FAR { Vec::new() } else { self.wires.own(node).filter(legal).collect() }
        };
        self.switches.iter().map(of_switch).collect()
    }

    /// One of these ports of a switch for a destination.
    fn choose(&self, node: usize, ports: &[u32], cell: usize) -> Option<u32> {
        let first = *ports.first()?;
        if self.engine == Engine::FatTree && self.rank[self.wires.beyond(first)] > self.rank[node] {
            return Some(ports[cell / self.divisor[self.rank[node] as usize] % ports.len()]);
        }
        ports.iter().copied().min_by_key(|p| (self.load[*p as usize], *p))
    }

    /// True if the way from a switch to its neighbour goes up: farther from the endpoints, or at the same rank to the lower number.
    fn is_up(&self, node: usize, next: usize) -> bool {
        (self.rank[next], std::cmp::Reverse(next)) > (self.rank[node], std::cmp::Reverse(node))
    }

    /// Distances of switches to a leaf: by ways that only go down, and by legal ones (up, then down).
    fn legal_distances(&self, leaf: usize) -> (Vec<u32>, Vec<u32>) {
        let mut down = vec![FAR; self.wires.nodes.len()];
        down[leaf] = 0;
        let mut queue = VecDeque::from([leaf]);
        while let Some(at) = queue.pop_front() {
            for above in self.wires.own(at).map(|p| self.wires.beyond(p)).filter(|n| self.wires.is_switch(*n)) {
                if self.is_up(at, above) && down[above] == FAR {
                    down[above] = down[at] + 1;
                    queue.push_back(above);
                }
            }
        }
        let mut any = down.clone();
        // From the top down: a switch that cannot go down takes the best of those above it.
        let mut order = self.switches.clone();
        order.sort_by_key(|n| std::cmp::Reverse((self.rank[*n], std::cmp::Reverse(*n))));
        for node in order {
            if any[node] == FAR {
                let above = self.wires.own(node).map(|p| self.wires.beyond(p)).filter(|n| self.wires.is_switch(*n) && self.is_up(node, *n));
                any[node] = above.map(|n| any[n]).min().map_or(FAR, |best| best.saturating_add(1));
            }
        }
        (down, any)
    }
}

/// Hops from the nearest of some nodes; endpoints pass nothing on.
fn distances(wires: &Wires<'_>, from: &[usize]) -> Vec<u32> {
    let mut far = vec![FAR; wires.nodes.len()];
    let mut queue: VecDeque<usize> = from.iter().copied().collect();
    from.iter().for_each(|n| far[*n] = 0);
    while let Some(at) = queue.pop_front() {
        for next in wires.own(at).map(|p| wires.beyond(p)) {
            if far[next] == FAR && wires.is_switch(next) {
                far[next] = far[at] + 1;
                queue.push_back(next);
            }
        }
    }
    far
}
