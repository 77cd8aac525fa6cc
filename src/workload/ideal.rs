//! Completion time of a flow alone in the empty fabric.
//!
//! The same arithmetic as the model's: every packet's start at every hop, with stretches of equal packets taken in one
//! step. Windows, marks and loss are left out, so it is the time at line rate, last acknowledgement included.

use crate::case::{FlowSpec, NodeSpec, PortSpec, Reaction, Rules};

/// A hop of a path.
#[derive(Debug, Clone, Copy)]
struct Hop {
    byte_time_q16: u64,
    delay_ps: u64,
    into_cut_through: bool,
}

fn serialization(wire_bytes: u64, byte_time_q16: u64, grain_ps: u64) -> u64 {
    let ps = (wire_bytes * byte_time_q16) >> 16;
    ps / grain_ps.max(1) * grain_ps.max(1)
}

/// FIFO state along a path.
struct Chain<'a> {
    hops: &'a [Hop],
    grain_ps: u64,
    /// Start of the latest packet at each hop.
    start: Vec<u64>,
    /// When the latest packet could have started there.
    ready: Vec<u64>,
    busy: Vec<u64>,
}

impl<'a> Chain<'a> {
    fn new(hops: &'a [Hop], grain_ps: u64) -> Self {
        Self { hops, grain_ps, start: vec![0; hops.len()], ready: vec![0; hops.len()], busy: vec![0; hops.len()] }
    }

    fn ser(&self, hop: usize, wire: u64) -> u64 {
        serialization(wire, self.hops[hop].byte_time_q16, self.grain_ps)
    }

    /// Sends a packet that is ready at `ready`; returns when it is received.
    fn send(&mut self, mut ready: u64, wire: u64) -> u64 {
        for h in 0..self.hops.len() {
            let ser = self.ser(h, wire);
            let start = ready.max(self.busy[h]);
            self.ready[h] = ready;
            self.start[h] = start;
            self.busy[h] = start + ser;
            let hop = self.hops[h];
            ready = if hop.into_cut_through && h + 1 < self.hops.len() {
                start + hop.delay_ps + ser.saturating_sub(self.ser(h + 1, wire))
            } else {
                start + ser + hop.delay_ps
            };
        }
        ready
    }

    /// Repeats the latest packet up to `limit` times, `gap` apart at the source, as far as nothing changes but the clock.
    /// Returns how many were taken.
    fn repeat(&mut self, limit: u64, gap: u64, wire: u64) -> u64 {
        let mut steps = limit;
        let mut increments = Vec::with_capacity(self.hops.len());
        let mut before = gap;
        for h in 0..self.hops.len() {
            let ser = self.ser(h, wire);
            if h == 0 {
                before = gap.max(ser);
            } else {
                let (by_ready, by_busy) = (self.ready[h] + before, self.start[h] + ser);
                if by_busy > by_ready {
                    if before > ser {
                        steps = steps.min((by_busy - by_ready).div_ceil(before - ser));
                    }
                    // `ready` moves by `before`, `start` by `ser`.
                    self.ready[h] = by_ready - before;
                    increments.push((before, ser));
                    before = ser;
                    continue;
                }
                if self.start[h] != self.ready[h] {
                    return 0;
                }
            }
            increments.push((before, before));
        }
        for (h, (ready, start)) in increments.into_iter().enumerate() {
            self.ready[h] += steps * ready;
            self.start[h] += steps * start;
            self.busy[h] = self.start[h] + self.ser(h, wire);
        }
        steps
    }
}

fn hops(nodes: &[NodeSpec], ports: &[PortSpec], path: &[u32]) -> Vec<Hop> {
    let hop = |p: &u32| {
        let port = &ports[*p as usize];
        Hop {
            byte_time_q16: u64::from(port.byte_time_q16),
            delay_ps: u64::from(port.delay_ps),
            into_cut_through: nodes[ports[port.peer as usize].node as usize].cut_through,
        }
    };
    path.iter().map(hop).collect()
}

/// Completion time (ps) of `flow` over the given egress ports (the endpoints' own included).
#[must_use]
pub fn completion_ps(nodes: &[NodeSpec], ports: &[PortSpec], rules: &Rules, flow: &FlowSpec, path: &[u32], path_ack: &[u32]) -> u64 {
    let (forward, back) = (hops(nodes, ports, path), hops(nodes, ports, path_ack));
    if forward.is_empty() || back.is_empty() {
        return 0;
    }
    let grain = u64::from(rules.grain_ps);
    let extra = u64::from(rules.data_header_bytes) + u64::from(rules.gap_bytes);
    let (mtu, tail) = (u64::from(rules.mtu_bytes) + extra, u64::from(flow.last_payload_bytes) + extra);
    let byte_gap = byte_gap_q16(ports[path[0] as usize].byte_time_q16, rules);
    let n = u64::from(flow.n_packets);
    let mut chain = Chain::new(&forward, grain);
    let mut next = 0;
    let mut received = [0, 0];
    let mut at = 0;
    while at < n {
        let wire = if at + 1 == n { tail } else { mtu } + if at == 0 { u64::from(rules.first_extra_bytes) } else { 0 };
        received = [received[1], chain.send(next, wire)];
        let gap = serialization(wire, byte_gap, grain);
        next = chain.start[0] + gap;
        at += 1;
        if at > 1 && at + 1 < n {
            let steps = chain.repeat(n - 1 - at, gap, wire);
            if steps > 0 {
                let last = forward.len() - 1;
                received[1] = chain.busy[last] + forward[last].delay_ps;
                next = chain.start[0] + gap;
                at += steps;
            }
        }
    }
    let ack_wire = u64::from(rules.ack_bytes) + u64::from(rules.gap_bytes);
    let mut acks = Chain::new(&back, grain);
    if n > 1 && (n - 1).is_multiple_of(u64::from(rules.ack_every.max(1))) {
        acks.send(received[0], ack_wire);
    }
    acks.send(received[1], ack_wire)
}

/// Pacing gap of one byte at the initial rate of a flow (2^-16 ps).
fn byte_gap_q16(byte_time_q16: u32, rules: &Rules) -> u64 {
    let line = LINE / u64::from(byte_time_q16.max(1));
    let cap = u64::from(rules.dcqcn.rate_max_kbps);
    if rules.reaction != Reaction::None && cap > 0 && cap < line { LINE / cap } else { u64::from(byte_time_q16) }
}

const LINE: u64 = 8 * 65_536 * 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::NodeKind;
    use crate::scenario;
    use proptest::prelude::*;

    /// A case with a line of switches between two endpoints; rates in kb/s, delays in ps.
    fn line(rates: &[u64], delays: &[u64], cut_through: bool, mtu: u64, size: u64, ack_every: u64) -> crate::case::Case {
        let mut topology = format!("{} {} {}\n", rates.len() + 1, rates.len() - 1, rates.len());
        (1..rates.len()).for_each(|s| topology += &format!("{s} "));
        for (i, (rate, delay)) in rates.iter().zip(delays).enumerate() {
            topology += &format!("\n{i} {} {rate}Kbps {delay}ps 0", i + 1);
        }
        let dir = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(dir.path().join("t"), topology).expect("writes");
        let text = format!(
            "[fabric]\nkind = \"graph\"\ntopology = \"t\"\nphy_latency = \"1 ns\"\n[switch]\ncut_through = {cut_through}\nlatency = \"3 ns\"\n[transport]\nmtu = \"{mtu} B\"\nack_every = {ack_every}\n[[traffic]]\nkind = \"flows\"\nflows = [{{ src = 0, dst = 1, size = \"{size} B\" }}]\n"
        );
        scenario::load_text(&dir.path().join("s.toml"), &text, &[]).unwrap_or_else(|e| panic!("{e}")).case
    }

    /// Packet by packet.
    fn slowly(case: &crate::case::Case, path: &[u32], path_ack: &[u32]) -> u64 {
        let (rules, flow) = (&case.rules, &case.flows[0]);
        let (forward, back) = (hops(&case.nodes, &case.ports, path), hops(&case.nodes, &case.ports, path_ack));
        let (mut chain, mut acks) = (Chain::new(&forward, 1), Chain::new(&back, 1));
        let (mut next, mut finish) = (0, 0);
        for k in 0..flow.n_packets {
            let payload = if k + 1 == flow.n_packets { flow.last_payload_bytes } else { rules.mtu_bytes };
            let wire = u64::from(payload + rules.data_header_bytes + rules.gap_bytes + if k == 0 { rules.first_extra_bytes } else { 0 });
            let received = chain.send(next, wire);
            next = chain.busy[0];
            if k + 1 == flow.n_packets || (k + 1) % rules.ack_every == 0 {
                finish = acks.send(received, u64::from(rules.ack_bytes + rules.gap_bytes));
            }
        }
        finish
    }

    fn both(case: &crate::case::Case) -> (u64, u64) {
        let end = case.nodes.iter().rposition(|n| n.kind == NodeKind::Endpoint).and_then(|n| u32::try_from(n).ok()).expect("is there");
        let path = |a, b| crate::fabric::route::path(&case.nodes, &case.ports, &case.routes, a, b, 0, &[]).expect("is connected");
        let (there, back) = (path(0, end), path(end, 0));
        (completion_ps(&case.nodes, &case.ports, &case.rules, &case.flows[0], &there, &back), slowly(case, &there, &back))
    }

    #[test]
    fn one_packet_by_hand() {
        // 1000 B payload, 98 B around the first packet, ACK 86 B, 100 Gb/s (80 ps a byte), 2 links of 1 us + 1 ns PHY,
        // 3 ns switch, 500 ns NIC.
        let case = line(&[100_000_000, 100_000_000], &[1_000_000, 1_000_000], false, 4096, 1000, 1);
        assert_eq!(both(&case).0, 2 * (1098 * 80) + 2 * (86 * 80) + 4 * 1_001_000 + 2 * 3000 + 2 * 500_000);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn stretches_equal_packet_by_packet(
            rates in prop::collection::vec(prop_oneof![Just(100_000_000_u64), Just(400_000_000), 90_000_000..110_000_000_u64, 300_000..1_000_000_u64], 2..6),
            delay in 1..2_000_000_u64, cut_through: bool, mtu in prop_oneof![Just(4096_u64), 64..5000_u64], size in 1..600_000_u64, ack_every in 1..20_u64,
        ) {
            let delays: Vec<u64> = (0..rates.len()).map(|i| delay + 7 * u64::try_from(i).unwrap_or(0)).collect();
            let (fast, slow) = both(&line(&rates, &delays, cut_through, mtu, size, ack_every));
            prop_assert_eq!(fast, slow);
        }
    }
}
