//! A second implementation of the model text, event by event with a heap, written for plainness: the oracle of the exactness tests.

mod a10;
mod changes;
mod credits;
mod endpoint;
mod forwarding;
mod reaction;
mod switch;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use a10::Cct;
use credits::{Lane, Output, blocks};
use fabricsim::case::{Case, NodeKind, Routes};
use fabricsim::outcome::{FlowOutcome, FlowStatus, Outcome, QueueOutcome};
use forwarding::Binding;
use reaction::ReactionPoint;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Data,
    Ack,
    Nak,
    Sack,
    Cnp,
    Pfc { class: usize, xoff: bool },
    Credits { lane: usize, fctbs: u64, fccl: u64 },
}

#[derive(Debug, Clone, Copy)]
pub struct Frame {
    pub kind: Kind,
    pub flow: usize,
    pub psn: u32,
    /// SACK: the held PSN.
    pub held: u32,
    pub size: u64,
    /// Queue: 0 for PFC and flow control, else case class + 1.
    pub row: usize,
    pub ce: bool,
    pub flag: bool,
    pub entered: usize,
    /// InfiniBand: the lane it entered by.
    pub lane_in: usize,
    /// InfiniBand: its receiver will find it corrupt.
    pub corrupt: bool,
    pub ready: u64,
}

impl Frame {
    /// A frame of the control queue, without its size.
    pub fn control(kind: Kind, port: usize, ready: u64) -> Self {
        Self { kind, flow: 0, psn: 0, held: 0, size: 0, row: 0, ce: false, flag: false, entered: port, lane_in: 0, corrupt: false, ready }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Pfc,
    Arrival,
    Release,
    Timer,
    Decision,
}

/// Time, node, kind, tie key, place, order of creation.
type Event = (u64, usize, What, u64, usize, u64);

#[derive(Debug, Default, Clone)]
pub struct Queue {
    pub frames: VecDeque<Frame>,
    pub bytes: u64,
    since: u64,
    pub ingress: u64,
    pub headroom: u64,
    pub xoff: bool,
    pub deficit: u64,
    pub paused: bool,
    paused_since: u64,
    pub out: QueueOutcome,
}

#[derive(Debug, Default, Clone)]
pub struct Port {
    pub busy: Option<u64>,
    ordinal: u32,
    pub weighted: usize,
    /// Endpoints: when the next decision is.
    pub decide_at: Option<u64>,
    pub lost: u64,
    pub down: bool,
    frames: VecDeque<Frame>,
    pfc_frames: VecDeque<Frame>,
}

#[derive(Debug, Default, Clone)]
pub struct Flow {
    pub out: FlowOutcome,
    pub una: u32,
    pub nxt: u32,
    pub sent_max: u32,
    pub retries: u32,
    pub deadline: Option<u64>,
    pub next_avail: u64,
    pub held: BTreeSet<u32>,
    pub resend: u32,
    pub high: u32,
    pub line: u64,
    pub cc: ReactionPoint,
    pub rcv_nxt: u32,
    pub since_ack: u32,
    pub nak: Option<(u32, u64)>,
    pub cnp_at: Option<u64>,
    pub rcv_held: BTreeSet<u32>,
}

/// State of an endpoint (unused for switches).
#[derive(Debug, Default, Clone)]
pub struct Sender {
    pub list: Vec<usize>,
    pub last: Option<usize>,
    pub begin: Option<usize>,
    pub wake: Option<u64>,
}

pub struct Oracle<'a> {
    pub case: &'a Case,
    pub now: u64,
    events: BinaryHeap<Reverse<Event>>,
    created: u64,
    pub ports: Vec<Port>,
    pub queues: Vec<Queue>,
    pub flows: Vec<Flow>,
    pub senders: Vec<Sender>,
    pub shared: Vec<u64>,
    pub routes: Routes,
    pub lft: Vec<u8>,
    pub bindings: BTreeMap<(usize, u32), Binding>,
    pub lanes: Vec<Lane>,
    pub outputs: Vec<Output>,
    pub ccts: Vec<Cct>,
    pub cct_of: Vec<usize>,
    children: Vec<Vec<usize>>,
    last_event: u64,
}

pub fn fmix(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85EB_CA6B);
    h ^= h >> 13;
    h = h.wrapping_mul(0xC2B2_AE35);
    h ^ (h >> 16)
}

fn draw(seed: u32, port: usize, n: u32, k: u32) -> u32 {
    let mut x = fmix(seed.wrapping_mul(0x9E37_79B1) ^ u32::try_from(port).expect("few ports"));
    x = fmix(x ^ n.wrapping_mul(0x85EB_CA6B));
    fmix(x ^ k.wrapping_mul(0xC2B2_AE35))
}

/// Simulates a case.
pub fn simulate(case: &Case) -> Outcome {
    let mut o = Oracle::new(case);
    for (i, f) in case.flows.iter().enumerate() {
        if f.after.is_none() {
            o.push(f.start_ps, f.src as usize, What::Release, i as u64, i);
        }
    }
    let mut changes = case.changes.iter().peekable();
    while let Some(Reverse(event)) = o.events.peek().copied() {
        let before_stop = |at: u64| case.stop_ps.is_none_or(|stop| at < stop);
        if let Some(change) = changes.next_if(|c| c.at_ps <= event.0 && before_stop(c.at_ps)) {
            if !o.events_left() {
                break;
            }
            o.apply(change);
            continue;
        }
        if case.stop_ps.is_some_and(|stop| event.0 >= stop) {
            break;
        }
        o.events.pop();
        o.now = event.0;
        o.handle(event);
    }
    o.finish()
}

impl<'a> Oracle<'a> {
    fn new(case: &'a Case) -> Self {
        let mut children = vec![Vec::new(); case.flows.len()];
        for (i, f) in case.flows.iter().enumerate() {
            if let Some(after) = f.after {
                children[after.flow as usize].push(i);
            }
        }
        let (cct_of, ccts) = a10::indices(case);
        let first_weighted = case.classes.iter().position(|c| c.quantum_bytes > 0).map_or(0, |c| c + 1);
        let mut o = Self {
            case,
            now: 0,
            events: BinaryHeap::new(),
            created: 0,
            ports: vec![Port { weighted: first_weighted, ..Port::default() }; case.ports.len()],
            queues: vec![Queue::default(); case.ports.len() * (case.classes.len() + 1)],
            flows: vec![Flow::default(); case.flows.len()],
            senders: vec![Sender::default(); case.nodes.len()],
            shared: vec![0; case.nodes.len()],
            routes: case.routes.clone(),
            lft: case.credits.as_ref().map_or_else(Vec::new, |c| c.lft.clone()),
            bindings: BTreeMap::new(),
            lanes: vec![Lane::default(); case.ports.len() * case.classes.len()],
            outputs: vec![Output::default(); case.ports.len()],
            ccts,
            cct_of,
            children,
            last_event: 0,
        };
        o.start_credits();
        o
    }

    fn push(&mut self, at: u64, node: usize, what: What, key: u64, place: usize) {
        self.created += 1;
        self.events.push(Reverse((at, node, what, key, place, self.created)));
    }

    pub fn node_of(&self, port: usize) -> usize {
        self.case.ports[port].node as usize
    }

    pub fn is_switch(&self, node: usize) -> bool {
        self.case.nodes[node].kind == NodeKind::Switch
    }

    pub fn q(&self, port: usize, row: usize) -> usize {
        port * (self.case.classes.len() + 1) + row
    }

    pub fn serialization(&self, port: usize, frame_bytes: u64) -> u64 {
        let wire = frame_bytes + u64::from(self.case.rules.gap_bytes);
        self.grained((wire * u64::from(self.case.ports[port].byte_time_q16)) >> 16)
    }

    pub fn grained(&self, t: u64) -> u64 {
        t - t % u64::from(self.case.rules.grain_ps.max(1))
    }

    fn handle(&mut self, event: Event) {
        let (_, node, what, _, place, _) = event;
        match what {
            What::Pfc => {
                self.last_event = self.now;
                self.take_control(place);
            }
            What::Arrival => {
                self.last_event = self.now;
                let frame = self.ports[place].frames.pop_front().expect("a frame is under way");
                self.expect_arrival(place);
                if self.case.credits.is_some() {
                    self.credits_arrival(place, frame);
                    return;
                }
                let q = self.q(place, frame.row);
                self.queues[q].out.rx_packets += 1;
                self.queues[q].out.rx_bytes += frame.size;
                if self.is_switch(node) { self.switch_arrival(place, frame) } else { self.endpoint_arrival(place, frame) }
            }
            What::Release => {
                self.last_event = self.now;
                self.start_flow(place);
                self.look(node);
            }
            What::Timer => {
                if self.flows[place].deadline == Some(self.now) && self.flows[place].out.status == FlowStatus::Running {
                    self.last_event = self.now;
                    self.expire(place);
                    self.look(node);
                }
            }
            What::Decision if self.case.credits.is_some() => self.port_event(place),
            What::Decision if self.is_switch(node) => self.switch_decision(place),
            What::Decision => {
                if self.ports[place].decide_at == Some(self.now) {
                    self.ports[place].decide_at = None;
                    self.endpoint_decision(place);
                }
            }
        }
    }

    pub fn decide(&mut self, at: u64, port: usize) {
        self.push(at, self.node_of(port), What::Decision, port as u64, port);
    }

    pub fn set_timer(&mut self, at: u64, flow: usize) {
        self.push(at, self.case.flows[flow].src as usize, What::Timer, flow as u64, flow);
    }

    fn take_control(&mut self, port: usize) {
        let frame = self.ports[port].pfc_frames.pop_front().expect("a PFC frame is under way");
        let control = self.q(port, 0);
        self.queues[control].out.rx_packets += 1;
        self.queues[control].out.rx_bytes += frame.size;
        match frame.kind {
            Kind::Pfc { class, xoff } => self.take_pfc(port, class, xoff),
            Kind::Credits { lane, fctbs, fccl } => self.credits_come(port, lane, fctbs, fccl),
            kind => panic!("{kind:?} in the control queue"),
        }
    }

    fn take_pfc(&mut self, port: usize, class: usize, xoff: bool) {
        let q = self.q(port, class + 1);
        let now = self.now;
        let queue = &mut self.queues[q];
        if xoff {
            queue.out.xoff_received += 1;
            if !queue.paused {
                queue.paused = true;
                queue.paused_since = now;
            }
        } else {
            queue.out.xon_received += 1;
            self.resume(q);
        }
        let node = self.node_of(port);
        if self.is_switch(node) { self.schedule(port) } else { self.look(node) }
    }

    /// Ends a pause, if there is one.
    pub fn resume(&mut self, q: usize) {
        let queue = &mut self.queues[q];
        if queue.paused {
            queue.paused = false;
            queue.out.paused_ps += self.now - queue.paused_since;
        }
    }

    /// Keeps the queue integral; call before every change of its bytes.
    fn integrate(&mut self, q: usize) {
        let now = self.now;
        let queue = &mut self.queues[q];
        queue.out.queue_byte_ps += u128::from(queue.bytes) * u128::from(now - queue.since);
        queue.since = now;
    }

    pub fn grow(&mut self, q: usize, bytes: u64) {
        self.integrate(q);
        let queue = &mut self.queues[q];
        queue.bytes += bytes;
        queue.out.max_queue_bytes = queue.out.max_queue_bytes.max(u32::try_from(queue.bytes).expect("fits"));
    }

    pub fn shrink(&mut self, q: usize, bytes: u64) {
        self.integrate(q);
        self.queues[q].bytes -= bytes;
    }

    pub fn enqueue(&mut self, port: usize, frame: Frame) {
        let q = self.q(port, frame.row);
        self.grow(q, frame.size);
        self.queues[q].frames.push_back(frame);
    }

    pub fn dequeue(&mut self, port: usize, row: usize) -> Frame {
        let q = self.q(port, row);
        let frame = self.queues[q].frames.pop_front().expect("the queue is not empty");
        self.shrink(q, frame.size);
        frame
    }

    /// The number that the next frame sent on a port gets.
    pub fn next_ordinal(&mut self, port: usize) -> u32 {
        self.ports[port].ordinal += 1;
        self.ports[port].ordinal
    }

    pub fn marks(&self, port: usize, bytes: u64, ordinal: u32) -> bool {
        let ecn = &self.case.ports[port].ecn;
        if bytes > u64::from(ecn.kmax_bytes) {
            return true;
        }
        if bytes <= u64::from(ecn.kmin_bytes) {
            return false;
        }
        let limit = ((bytes - u64::from(ecn.kmin_bytes)) * u64::from(ecn.slope)) >> ecn.slope_shift;
        u64::from(draw(self.case.seed, port, ordinal, 0)) < limit
    }

    /// Starts a frame on the wire now.
    pub fn transmit(&mut self, port: usize, mut frame: Frame, ordinal: u32) {
        self.last_event = self.now;
        self.count_wait(port);
        let end = self.now + self.serialization(port, frame.size);
        self.ports[port].busy = Some(end);
        let q = self.q(port, frame.row);
        self.queues[q].out.tx_packets += 1;
        self.queues[q].out.tx_bytes += frame.size;
        let spec = &self.case.ports[port];
        let peer = spec.peer as usize;
        let node = self.node_of(peer);
        if let Kind::Pfc { class, xoff } = frame.kind {
            let q = self.q(port, class + 1);
            if xoff { self.queues[q].out.xoff_sent += 1 } else { self.queues[q].out.xon_sent += 1 }
        }
        if let Kind::Credits { lane, .. } = frame.kind {
            let q = self.q(port, lane + 1);
            self.queues[q].out.fc_sent += 1;
        }
        if frame.row == 0 {
            if self.ports[port].down {
                return;
            }
            self.ports[peer].pfc_frames.push_back(frame);
            self.push(end + u64::from(spec.pfc_delay_ps), node, What::Pfc, peer as u64, peer);
            return;
        }
        if self.case.credits.is_some() {
            self.take_credits(port, frame.row - 1, blocks(frame.size));
        }
        if self.ports[port].down {
            self.ports[port].lost += 1;
            return;
        }
        let lost =
            (spec.drop_every > 0 && ordinal.is_multiple_of(spec.drop_every)) || draw(self.case.seed, port, ordinal, 1) < spec.loss_q32;
        frame.corrupt = lost;
        if lost && self.case.credits.is_none() {
            self.ports[port].lost += 1;
            return;
        }
        let from = if self.case.nodes[node].cut_through { self.now } else { end };
        frame.ready = from + u64::from(spec.delay_ps);
        self.ports[peer].frames.push_back(frame);
        if self.ports[peer].frames.len() == 1 {
            self.expect_arrival(peer);
        }
    }

    /// The first frame on the link to a port arrives when it is there; those behind it have to wait for it.
    fn expect_arrival(&mut self, port: usize) {
        let Some(frame) = self.ports[port].frames.front().copied() else { return };
        let node = self.node_of(port);
        let by_flow = self.case.rules.tie_by_flow && self.is_switch(node);
        let key = if by_flow { u64::from(self.case.flows[frame.flow].id) } else { port as u64 };
        self.push(frame.ready, node, What::Arrival, key, port);
    }

    /// Loses what is on its way from a port to the other end of its link.
    pub fn lose_on_the_way(&mut self, port: usize) {
        let peer = self.case.ports[port].peer as usize;
        self.ports[port].lost += self.ports[peer].frames.len() as u64;
        self.ports[peer].frames.clear();
        self.ports[peer].pfc_frames.clear();
        self.events.retain(|Reverse((_, _, what, _, place, _))| !(matches!(what, What::Pfc | What::Arrival) && *place == peer));
    }

    /// Releases what waits for a completion of `flow`, now or after its delay.
    pub fn release_children(&mut self, flow: usize, received: bool) {
        for child in self.children[flow].clone() {
            let spec = &self.case.flows[child];
            if spec.after.expect("a child waits").received != received {
                continue;
            }
            if spec.start_ps == 0 {
                self.start_flow(child);
            } else {
                self.push(self.now + spec.start_ps, spec.src as usize, What::Release, child as u64, child);
            }
        }
    }

    /// True if an event of the model is still to come.
    fn events_left(&mut self) -> bool {
        let pending: Vec<Event> = self.events.iter().map(|e| e.0).collect();
        let timer = |f: &Flow, at: u64| f.out.status == FlowStatus::Running && f.deadline == Some(at);
        let waiting = pending.iter().any(|(at, _, what, _, place, _)| match what {
            What::Pfc | What::Arrival | What::Release => true,
            What::Timer => timer(&self.flows[*place], *at),
            What::Decision => false,
        });
        waiting || (0..self.ports.len()).any(|p| self.can_ever_send(p))
    }

    fn can_ever_send(&mut self, port: usize) -> bool {
        if self.case.credits.is_some() {
            return self.credits_left(port);
        }
        let rows = self.case.classes.len() + 1;
        let node = self.node_of(port);
        let ignores = !self.is_switch(node) && self.case.rules.ack_ignores_pause;
        if (0..rows).any(|r| {
            let q = &self.queues[self.q(port, r)];
            !q.frames.is_empty() && (ignores || !q.paused)
        }) {
            return true;
        }
        if self.is_switch(node) {
            return false;
        }
        self.flows_left(port)
    }

    /// True if a flow of this endpoint can send, now or later.
    pub fn flows_left(&mut self, port: usize) -> bool {
        let list = self.senders[self.node_of(port)].list.clone();
        list.into_iter().any(|f| self.next_packet(f).is_some_and(|(psn, _)| !self.held_back(port, f, psn) && self.in_window(f)))
    }

    fn finish(mut self) -> Outcome {
        let stopped = self.case.stop_ps.is_some() && !self.events.is_empty() && self.events_left();
        let end = if stopped { self.case.stop_ps.expect("a stopped case has a stop time") } else { self.last_event };
        self.now = end;
        let mut out = Outcome { end_ps: end, stopped, ..Outcome::default() };
        for f in 0..self.flows.len() {
            if self.flows[f].out.status == FlowStatus::Running {
                self.run_timers(f);
            }
            self.run_ccti(f);
            let cct = &self.ccts[self.cct_of[f]];
            (self.flows[f].out.ccti, self.flows[f].out.ccti_max) = (cct.ccti, cct.ccti_max);
            let flow = &mut self.flows[f];
            flow.out.received_packets = flow.rcv_nxt;
            flow.out.rate_kbps = u32::try_from(flow.cc.rate).expect("fits");
            flow.out.alpha_q32 = u32::try_from(flow.cc.alpha).expect("fits");
            out.flows.push(flow.out);
        }
        let rows = self.case.classes.len() + 1;
        for q in 0..self.queues.len() {
            self.integrate(q);
            let queue = &mut self.queues[q];
            if queue.paused {
                queue.out.paused_ps += end - queue.paused_since;
            }
            if q % rows == 0 {
                queue.out.max_queue_bytes = 0;
                queue.out.queue_byte_ps = 0;
            }
            out.queues.push(queue.out);
        }
        (0..self.ports.len()).for_each(|port| self.count_wait(port));
        if self.case.credits.is_some() {
            out.xmit_wait_ps = self.outputs.iter().map(|o| o.xmit_wait).collect();
        }
        out.lost_packets = self.ports.iter().map(|p| p.lost).collect();
        out
    }
}
