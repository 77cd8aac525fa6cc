//! Switch: admission, thresholds, service, departure.

use super::{Frame, Kind, Oracle, fmix};

impl Oracle<'_> {
    /// The dynamic threshold of lossless ingress at a port.
    fn threshold(&self, port: usize) -> u64 {
        self.share(port, self.case.ports[port].alpha_q7)
    }

    fn share(&self, port: usize, alpha_q7: u32) -> u64 {
        let node = self.node_of(port);
        u64::from(alpha_q7) * u64::from(self.case.nodes[node].pool_bytes).saturating_sub(self.shared[node]) / 128
    }

    fn shared_of(&self, q: usize, port: usize) -> u64 {
        self.queues[q].ingress.saturating_sub(u64::from(self.case.ports[port].reserve_bytes))
    }

    fn egress_of(&self, node: usize, frame: &Frame) -> Option<usize> {
        let spec = &self.case.flows[frame.flow];
        let forward = frame.kind == Kind::Data;
        let to = if forward { spec.dst } else { spec.src } as usize;
        let last = self.case.ports[self.case.nodes[to].first_port as usize].peer as usize;
        if self.node_of(last) == node {
            return Some(last);
        }
        let (path, hash) = if forward { (&spec.path_data, spec.hash_data) } else { (&spec.path_ack, spec.hash_ack) };
        if let Some(port) = path.iter().find(|p| self.node_of(**p as usize) == node) {
            return Some(*port as usize);
        }
        let members = self.group(node, to).filter(|members| !members.is_empty())?;
        let n = u32::try_from(members.len()).expect("few members");
        Some(members[(fmix(hash ^ self.case.nodes[node].hash_seed) % n) as usize] as usize)
    }

    pub fn switch_arrival(&mut self, port: usize, mut frame: Frame) {
        let node = self.node_of(port);
        let Some(e) = self.egress_of(node, &frame) else {
            let q = self.q(port, frame.row);
            self.queues[q].out.drop_packets += 1;
            self.queues[q].out.drop_bytes += frame.size;
            return;
        };
        let (size, spec) = (frame.size, self.case.ports[port]);
        let class = self.case.classes[frame.row - 1];
        let (q, qe) = (self.q(port, frame.row), self.q(e, frame.row));
        let limit = self.threshold(port);
        let over_headroom = self.queues[q].headroom + size > u64::from(spec.headroom_bytes);
        let (dropped, at) = if class.lossless {
            (over_headroom && self.shared_of(q, port) + size > limit, q)
        } else {
            (self.queues[qe].bytes + size > self.share(e, self.case.ports[e].alpha_lossy_q7), qe)
        };
        if dropped {
            self.queues[at].out.drop_packets += 1;
            self.queues[at].out.drop_bytes += size;
            return;
        }
        let reserve = u64::from(spec.reserve_bytes);
        let new = self.queues[q].ingress + size;
        if new <= reserve {
            self.queues[q].ingress = new;
        } else if class.lossless && new - reserve > limit {
            let queue = &mut self.queues[q];
            queue.headroom += size;
            queue.out.max_headroom_bytes = queue.out.max_headroom_bytes.max(u32::try_from(queue.headroom).expect("fits"));
        } else {
            self.queues[q].ingress = new;
            self.shared[node] += size.min(new - reserve);
        }
        let idle = self.ports[e].busy.is_none_or(|busy| busy < self.now);
        frame.entered = port;
        frame.ready = self.now;
        if self.case.nodes[node].cut_through {
            let incoming = self.serialization(spec.peer as usize, size);
            frame.ready += incoming.saturating_sub(self.serialization(e, size));
        }
        self.enqueue(e, frame);
        if class.lossless && !self.queues[q].xoff && (self.queues[q].headroom > 0 || self.shared_of(q, port) >= self.threshold(port)) {
            self.queues[q].xoff = true;
            self.ask(port, frame.row - 1, true);
        }
        if self.case.rules.eager_start && idle {
            self.switch_decision(e);
        }
        self.schedule(e);
    }

    /// Queues a PFC frame at a port.
    fn ask(&mut self, port: usize, class: usize, xoff: bool) {
        let size = u64::from(self.case.rules.pfc_bytes);
        let frame = Frame { size, ..Frame::control(Kind::Pfc { class, xoff }, port, self.now) };
        self.enqueue(port, frame);
        self.schedule(port);
    }

    /// Sees to it that a decision comes when the port can send next.
    pub fn schedule(&mut self, port: usize) {
        let heads = (0..=self.case.classes.len()).map(|row| &self.queues[self.q(port, row)]);
        let ready = heads.filter(|q| !q.paused).filter_map(|q| q.frames.front()).map(|f| f.ready).min();
        if let Some(ready) = ready {
            self.decide(ready.max(self.now).max(self.ports[port].busy.unwrap_or(0)), port);
        }
    }

    fn choose(&mut self, port: usize) -> Option<usize> {
        let rows = self.case.classes.len() + 1;
        let eligible: Vec<bool> = (0..rows)
            .map(|row| {
                let q = &self.queues[self.q(port, row)];
                !q.paused && q.frames.front().is_some_and(|f| f.ready <= self.now)
            })
            .collect();
        let strict = |row: usize| row == 0 || self.case.classes[row - 1].quantum_bytes == 0;
        if let Some(row) = (0..rows).find(|r| eligible[*r] && strict(*r)) {
            return Some(row);
        }
        let weighted: Vec<usize> = (0..rows).filter(|r| !strict(*r)).collect();
        if !weighted.iter().any(|r| eligible[*r]) {
            return None;
        }
        let mut at = weighted.iter().position(|r| *r == self.ports[port].weighted).expect("the current class is weighted");
        loop {
            let row = weighted[at];
            let q = self.q(port, row);
            if eligible[row] {
                let size = self.queues[q].frames[0].size;
                if self.queues[q].deficit >= size {
                    self.queues[q].deficit -= size;
                    self.ports[port].weighted = row;
                    return Some(row);
                }
            }
            at = (at + 1) % weighted.len();
            let next = self.q(port, weighted[at]);
            if eligible[weighted[at]] {
                self.queues[next].deficit += u64::from(self.case.classes[weighted[at] - 1].quantum_bytes);
            } else {
                self.queues[next].deficit = 0;
            }
        }
    }

    pub fn switch_decision(&mut self, port: usize) {
        if self.ports[port].busy.is_some_and(|busy| busy > self.now) {
            return;
        }
        let Some(row) = self.choose(port) else { return };
        let mut frame = self.dequeue(port, row);
        if row == 0 {
            self.transmit(port, frame, 0);
        } else {
            let ordinal = self.next_ordinal(port);
            let q = self.q(port, row);
            if self.case.classes[row - 1].ecn && !frame.ce && self.marks(port, self.queues[q].bytes, ordinal) {
                frame.ce = true;
                self.queues[q].out.marked_packets += 1;
            }
            self.transmit(port, frame, ordinal);
            self.give_back(&frame);
        }
        self.schedule(port);
    }

    /// Departure: the buffer of a frame, and XON.
    fn give_back(&mut self, frame: &Frame) {
        let port = frame.entered;
        let q = self.q(port, frame.row);
        let node = self.node_of(port);
        let from_headroom = self.queues[q].headroom.min(frame.size);
        let from_shared = (frame.size - from_headroom).min(self.shared_of(q, port));
        self.queues[q].headroom -= from_headroom;
        self.queues[q].ingress -= frame.size - from_headroom;
        self.shared[node] -= from_shared;
        if self.queues[q].xoff && self.queues[q].headroom == 0 {
            let used = self.shared_of(q, port);
            if used == 0 || used + u64::from(self.case.ports[port].xon_gap_bytes) <= self.threshold(port) {
                self.queues[q].xoff = false;
                self.ask(port, frame.row - 1, false);
            }
        }
    }
}
