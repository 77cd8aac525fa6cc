//! InfiniBand's link layer: credits, virtual output queues, arbitration of lanes, marking, head-of-queue lifetime.

use std::collections::{BTreeMap, VecDeque};

use fabricsim::case::Sl2Vl;

use super::{Frame, Kind, Oracle};

/// Blocks that a frame takes.
pub fn blocks(frame_bytes: u64) -> u64 {
    frame_bytes.div_ceil(64)
}

const MODULO: u64 = 4096;
const MOST: u64 = 2048;

/// One lane of one port: sender, receiver and the frames that wait to leave.
#[derive(Debug, Default, Clone)]
pub struct Lane {
    /// Blocks sent, 12 bit.
    pub fctbs: u64,
    fccl: u64,
    starved: bool,
    abr: u64,
    used: u64,
    owed: u64,
    due: Option<u64>,
    pending: bool,
    /// Frames by input port, none empty; all under port 0 if first come is first served.
    waiting: BTreeMap<usize, VecDeque<Frame>>,
    served_last: Option<usize>,
    since: u64,
}

/// Place in an arbitration table.
#[derive(Debug, Default, Clone, Copy)]
struct Turn {
    entry: usize,
    left: u64,
}

/// What a port has once for all lanes.
#[derive(Debug, Default, Clone)]
pub struct Output {
    /// Input port, lane there and blocks of the frame that is being sent.
    to_free: Option<(usize, usize, u64)>,
    high: Turn,
    low: Turn,
    sent: u64,
    eligible: u64,
    pub xmit_wait: u64,
    waited_until: u64,
}

impl Oracle<'_> {
    fn lane(&self, port: usize, lane: usize) -> usize {
        port * self.case.classes.len() + lane
    }

    fn buffer(&self, port: usize) -> u64 {
        u64::from(self.case.ports[port].lane.buffer_blocks)
    }

    /// Credits of all lanes before anything was sent.
    pub fn start_credits(&mut self) {
        let Some(credits) = &self.case.credits else { return };
        let first = |table: &[(u8, u8)]| Turn { entry: 0, left: table.first().map_or(0, |e| u64::from(e.1)) };
        for port in 0..self.ports.len() {
            self.outputs[port].high = first(&credits.high);
            self.outputs[port].low = first(&credits.low);
            let limit = self.buffer(self.case.ports[port].peer as usize).min(MOST);
            for lane in 0..self.case.classes.len() {
                let at = self.lane(port, lane);
                self.lanes[at].fccl = limit;
            }
        }
    }

    pub fn fits(&self, port: usize, lane: usize, blocks: u64) -> bool {
        let l = &self.lanes[self.lane(port, lane)];
        self.ports[port].down || (2 * MODULO + l.fccl - l.fctbs - blocks % MODULO) % MODULO <= MOST
    }

    /// Blocks of a frame that starts on a lane.
    pub fn take_credits(&mut self, port: usize, lane: usize, blocks: u64) {
        let at = self.lane(port, lane);
        self.lanes[at].fctbs = (self.lanes[at].fctbs + blocks) % MODULO;
    }

    fn free(&mut self, port: usize, lane: usize, blocks: u64) {
        let credits = self.case.credits.as_ref().expect("InfiniBand");
        let at = self.lane(port, lane);
        let l = &mut self.lanes[at];
        l.used -= blocks;
        l.owed += blocks;
        if l.owed >= u64::from(credits.fc_threshold_blocks) {
            l.pending = true;
            l.due = None;
            self.soon(port);
        } else if !l.pending && l.due.is_none() {
            let due = self.now + u64::from(credits.fc_interval_ps);
            l.due = Some(due);
            self.decide(due, port);
        }
    }

    /// A port event as soon as the port is free.
    pub fn soon(&mut self, port: usize) {
        self.decide(self.now.max(self.ports[port].busy.unwrap_or(0)), port);
    }

    /// A frame comes in from the link.
    pub fn credits_arrival(&mut self, port: usize, frame: Frame) {
        let (lane, size) = (frame.row - 1, blocks(frame.size));
        let (buffer, at, q) = (self.buffer(port), self.lane(port, lane), self.q(port, frame.row));
        let l = &mut self.lanes[at];
        l.abr = (l.abr + size) % MODULO;
        l.used += size;
        assert!(l.used <= buffer, "no lane holds more than its buffer: {} of {buffer} blocks", l.used);
        let held = u32::try_from(l.used).expect("fits");
        let out = &mut self.queues[q].out;
        out.max_blocks = out.max_blocks.max(held);
        if frame.corrupt {
            self.ports[self.case.ports[port].peer as usize].lost += 1;
            self.free(port, lane, size);
            return;
        }
        out.rx_packets += 1;
        out.rx_bytes += frame.size;
        if self.is_switch(self.node_of(port)) {
            self.forward(port, frame);
        } else {
            self.endpoint_arrival(port, frame);
            self.free(port, lane, size);
        }
    }

    fn lane_out(&self, node: usize, input: usize, output: usize, sl: u8) -> usize {
        let credits = self.case.credits.as_ref().expect("InfiniBand");
        let first = self.case.nodes[node].first_port as usize;
        let row = match &credits.sl2vl_of[node] {
            Sl2Vl::Uniform(row) => *row,
            Sl2Vl::ByPorts(rows) => rows[(input - first) * self.case.nodes[node].n_ports as usize + (output - first)],
        };
        usize::from(credits.sl2vl[row as usize][usize::from(sl)])
    }

    /// A switch puts a frame into its virtual output queue.
    fn forward(&mut self, port: usize, mut frame: Frame) {
        let (node, lane_in) = (self.node_of(port), frame.row - 1);
        let sl = self.case.flows[frame.flow].sl;
        let way = self.forwarded(node, &frame).map(|e| (e, self.lane_out(node, port, e, sl)));
        let Some((e, lane)) = way.filter(|(_, lane)| *lane < self.case.classes.len()) else {
            let q = self.q(port, frame.row);
            self.queues[q].out.drop_packets += 1;
            self.queues[q].out.drop_bytes += frame.size;
            self.free(port, lane_in, blocks(frame.size));
            return;
        };
        let idle = self.ports[e].busy.is_none_or(|busy| busy < self.now);
        frame.entered = port;
        frame.lane_in = lane_in;
        frame.row = lane + 1;
        frame.ready = self.now;
        if self.case.nodes[node].cut_through {
            let incoming = self.serialization(self.case.ports[port].peer as usize, frame.size);
            frame.ready += incoming.saturating_sub(self.serialization(e, frame.size));
        }
        self.count_wait(e);
        let q = self.q(e, frame.row);
        self.grow(q, frame.size);
        let at = self.lane(e, lane);
        let input = if self.case.credits.as_ref().is_some_and(|c| c.first_come) { 0 } else { port };
        let was_empty = self.lanes[at].waiting.is_empty();
        self.lanes[at].waiting.entry(input).or_default().push_back(frame);
        if was_empty {
            self.restart_lifetime(e, lane);
        }
        if self.case.rules.eager_start && idle {
            self.port_event(e);
        }
        self.decide(frame.ready.max(self.now).max(self.ports[e].busy.unwrap_or(0)), e);
    }

    fn candidate_input(&self, port: usize, lane: usize) -> Option<usize> {
        let l = &self.lanes[self.lane(port, lane)];
        let behind = l.served_last.and_then(|last| l.waiting.range(last + 1..).next());
        behind.or_else(|| l.waiting.iter().next()).map(|(input, _)| *input)
    }

    fn candidate(&self, port: usize, lane: usize) -> Option<Frame> {
        let input = self.candidate_input(port, lane)?;
        self.lanes[self.lane(port, lane)].waiting[&input].front().copied()
    }

    fn take_candidate(&mut self, port: usize, lane: usize) -> Frame {
        let input = self.candidate_input(port, lane).expect("a frame waits");
        self.count_wait(port);
        let at = self.lane(port, lane);
        let l = &mut self.lanes[at];
        let queue = l.waiting.get_mut(&input).expect("the candidate's queue");
        let frame = queue.pop_front().expect("a frame waits");
        if queue.is_empty() {
            l.waiting.remove(&input);
        }
        l.served_last = Some(input);
        let q = self.q(port, frame.row);
        self.shrink(q, frame.size);
        self.restart_lifetime(port, lane);
        frame
    }

    fn restart_lifetime(&mut self, port: usize, lane: usize) {
        let (at, hoq) = (self.lane(port, lane), self.case.ports[port].lane.hoq_ps);
        self.lanes[at].since = self.now;
        if hoq > 0 && !self.lanes[at].waiting.is_empty() {
            self.decide(self.now + hoq, port);
        }
    }

    /// Time with frames queued and nothing sent; call before either changes.
    pub fn count_wait(&mut self, port: usize) {
        if !self.is_switch(self.node_of(port)) {
            return;
        }
        let lanes = self.case.classes.len();
        let queued = (0..lanes).any(|lane| self.outputs_wait(port, lane));
        let output = &mut self.outputs[port];
        if queued {
            let from = output.waited_until.max(self.ports[port].busy.unwrap_or(0));
            output.xmit_wait += self.now.saturating_sub(from);
        }
        output.waited_until = self.now;
    }

    fn outputs_wait(&self, port: usize, lane: usize) -> bool {
        !self.lanes[self.lane(port, lane)].waiting.is_empty()
    }

    /// Everything a port does at an instant.
    pub fn port_event(&mut self, port: usize) {
        let (now, lanes) = (self.now, self.case.classes.len());
        let idle = self.ports[port].busy.is_none_or(|busy| busy <= now);
        if idle && let Some((input, lane, size)) = self.outputs[port].to_free.take() {
            self.free(input, lane, size);
        }
        for lane in 0..lanes {
            let at = self.lane(port, lane);
            if self.lanes[at].due.is_some_and(|due| due <= now) {
                self.lanes[at].pending = true;
                self.lanes[at].due = None;
            }
        }
        let switch = self.is_switch(self.node_of(port));
        if switch {
            (0..lanes).for_each(|lane| self.end_lifetime(port, lane));
        }
        if !idle {
            return;
        }
        let pending = (0..lanes).find(|lane| self.lanes[self.lane(port, *lane)].pending);
        let sent = if let Some(lane) = pending {
            self.advertise(port, lane);
            true
        } else if switch {
            self.serve_lanes(port)
        } else {
            self.serve_endpoint(port)
        };
        if sent {
            self.soon(port);
        }
    }

    fn end_lifetime(&mut self, port: usize, lane: usize) {
        let hoq = self.case.ports[port].lane.hoq_ps;
        if hoq == 0 || !self.outputs_wait(port, lane) || self.now < self.lanes[self.lane(port, lane)].since + hoq {
            return;
        }
        let frame = self.take_candidate(port, lane);
        let q = self.q(port, frame.row);
        let out = &mut self.queues[q].out;
        out.drop_packets += 1;
        out.drop_bytes += frame.size;
        out.hoq_drop_packets += 1;
        self.free(frame.entered, frame.lane_in, blocks(frame.size));
    }

    /// Sends the flow-control packet of a lane.
    fn advertise(&mut self, port: usize, lane: usize) {
        let (at, buffer) = (self.lane(port, lane), self.buffer(port));
        let l = &mut self.lanes[at];
        l.pending = false;
        l.owed = 0;
        l.due = None;
        let (fctbs, fccl) = (l.fctbs, (l.abr + (buffer - l.used).min(MOST)) % MODULO);
        let size = u64::from(self.case.rules.pfc_bytes);
        self.transmit(port, Frame { size, ..Frame::control(Kind::Credits { lane, fctbs, fccl }, port, self.now) }, 0);
    }

    /// A flow-control packet takes effect.
    pub fn credits_come(&mut self, port: usize, lane: usize, fctbs: u64, fccl: u64) {
        let q = self.q(port, lane + 1);
        self.queues[q].out.fc_received += 1;
        let starves = self.candidate(port, lane).is_some_and(|f| f.ready <= self.now && !self.fits(port, lane, blocks(f.size)));
        let at = self.lane(port, lane);
        let l = &mut self.lanes[at];
        l.abr = fctbs;
        l.starved |= starves;
        l.fccl = fccl;
        self.soon(port);
    }

    fn serve_lanes(&mut self, port: usize) -> bool {
        let heads: Vec<Option<Frame>> = (0..self.case.classes.len()).map(|lane| self.candidate(port, lane)).collect();
        let fitting = |(lane, head): (usize, &Option<Frame>)| head.filter(|f| self.fits(port, lane, blocks(f.size)));
        let fitting: Vec<Option<Frame>> = heads.iter().enumerate().map(fitting).collect();
        let eligible: Vec<Option<u64>> = fitting.iter().map(|f| f.filter(|f| f.ready <= self.now).map(|f| blocks(f.size))).collect();
        let Some(lane) = self.arbitrate(port, &eligible, &fitting) else {
            let later = fitting.iter().flatten().map(|f| f.ready).filter(|ready| *ready > self.now).min();
            if let Some(ready) = later {
                self.decide(ready, port);
            }
            return false;
        };
        let mut frame = self.take_candidate(port, lane);
        let (q, at) = (self.q(port, frame.row), self.lane(port, lane));
        let (spec, credits) = (&self.case.ports[port].lane, self.case.credits.as_ref().expect("InfiniBand"));
        let free_to_mark = !self.lanes[at].starved || spec.fecn_victims;
        let long = self.queues[q].bytes > u64::from(spec.fecn_bytes) && frame.size >= u64::from(credits.mark_size_bytes);
        if frame.kind == Kind::Data && !frame.ce && long && free_to_mark {
            let output = &mut self.outputs[port];
            output.eligible += 1;
            if output.eligible > u64::from(credits.marking_rate) {
                output.eligible = 0;
                frame.ce = true;
                self.queues[q].out.marked_packets += 1;
            }
        }
        self.lanes[at].starved = false;
        let ordinal = self.next_ordinal(port);
        self.transmit(port, frame, ordinal);
        self.outputs[port].to_free = Some((frame.entered, frame.lane_in, blocks(frame.size)));
        true
    }

    /// The lane to serve; `eligible` has the blocks of candidates that can go now.
    fn arbitrate(&mut self, port: usize, eligible: &[Option<u64>], heads: &[Option<Frame>]) -> Option<usize> {
        let credits = self.case.credits.as_ref().expect("InfiniBand");
        let size_of = |lane: u8| eligible.get(usize::from(lane)).copied().flatten();
        let able = |table: &[(u8, u8)]| table.iter().any(|(lane, weight)| *weight > 0 && size_of(*lane).is_some());
        let (high, low) = (able(&credits.high), able(&credits.low));
        let output = &mut self.outputs[port];
        let within = match credits.high_limit {
            255 => true,
            limit => output.sent == 0 || output.sent < u64::from(limit) * 4096,
        };
        let use_high = high && (!low || within);
        if !use_high && !low {
            return None;
        }
        let (table, turn) = if use_high { (&credits.high, &mut output.high) } else { (&credits.low, &mut output.low) };
        let lane = loop {
            let (lane, weight) = table[turn.entry];
            if let Some(size) = size_of(lane).filter(|_| weight > 0 && turn.left > 0) {
                turn.left = turn.left.saturating_sub(size);
                break usize::from(lane);
            }
            turn.entry = (turn.entry + 1) % table.len();
            turn.left = u64::from(table[turn.entry].1);
        };
        let bytes = heads[lane].expect("an eligible lane has a candidate").size;
        output.sent = if use_high && low { output.sent + bytes } else { 0 };
        Some(lane)
    }

    /// Step 3 of a port event at an endpoint, without flow control to send.
    fn serve_endpoint(&mut self, port: usize) -> bool {
        let first = (1..=self.case.classes.len()).find(|row| {
            let head = self.queues[self.q(port, *row)].frames.front();
            head.is_some_and(|f| self.fits(port, row - 1, blocks(f.size)))
        });
        if let Some(row) = first {
            let frame = self.dequeue(port, row);
            let ordinal = self.next_ordinal(port);
            self.transmit(port, frame, ordinal);
            return true;
        }
        let node = self.node_of(port);
        let sent = self.serve(node, port);
        if let Some(wake) = self.senders[node].wake.filter(|_| !sent) {
            self.decide(wake, port);
        }
        sent
    }

    /// True if an event at this port is sure to come though nothing is on its way.
    pub fn credits_left(&mut self, port: usize) -> bool {
        let lanes = 0..self.case.classes.len();
        let flow_control = lanes.clone().any(|lane| {
            let l = &self.lanes[self.lane(port, lane)];
            l.pending || l.due.is_some()
        });
        if flow_control || self.outputs[port].to_free.is_some() {
            return true;
        }
        if self.is_switch(self.node_of(port)) {
            let credits = self.case.credits.as_ref().expect("InfiniBand");
            let served = |lane: usize| credits.high.iter().chain(&credits.low).any(|(l, weight)| usize::from(*l) == lane && *weight > 0);
            let hoq = self.case.ports[port].lane.hoq_ps > 0;
            let mut heads = lanes.filter_map(|lane| Some((lane, self.candidate(port, lane)?)));
            return heads.any(|(lane, f)| hoq || served(lane) && self.fits(port, lane, blocks(f.size)));
        }
        let answers = lanes.clone().any(|lane| {
            let head = self.queues[self.q(port, lane + 1)].frames.front();
            head.is_some_and(|f| self.fits(port, lane, blocks(f.size)))
        });
        answers || self.flows_left(port)
    }
}
