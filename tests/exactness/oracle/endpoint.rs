//! Endpoint: releases, receiving, acknowledging, recovery, round robin.

use fabricsim::case::{CnpMode, Reaction, Recovery};
use fabricsim::outcome::FlowStatus;

use super::credits::blocks;
use super::reaction::ReactionPoint;
use super::{Frame, Kind, Oracle};

const RATE_OF_BYTE_TIME: u64 = 8 * 65_536 * 1_000_000_000;
/// Window of selective repeat (packets).
const AHEAD: u32 = 128;

impl Oracle<'_> {
    fn port_of(&self, node: usize) -> usize {
        self.case.nodes[node].first_port as usize
    }

    /// A decision follows, as soon as the port is free.
    pub fn look(&mut self, node: usize) {
        let port = self.port_of(node);
        if self.case.credits.is_some() {
            self.soon(port);
            return;
        }
        let at = self.now.max(self.ports[port].busy.unwrap_or(0));
        if self.ports[port].decide_at.is_none_or(|t| at < t) {
            self.ports[port].decide_at = Some(at);
            self.decide(at, port);
        }
    }

    fn line_of(&self, port: usize) -> u64 {
        RATE_OF_BYTE_TIME / u64::from(self.case.ports[port].byte_time_q16)
    }

    pub fn start_flow(&mut self, f: usize) {
        let node = self.case.flows[f].src as usize;
        let rules = &self.case.rules;
        let mut line = self.line_of(self.port_of(node));
        if rules.reaction != Reaction::None && rules.dcqcn.rate_max_kbps > 0 {
            line = line.min(u64::from(rules.dcqcn.rate_max_kbps));
        }
        let now = self.now;
        let flow = &mut self.flows[f];
        flow.out.status = FlowStatus::Running;
        flow.out.start_ps = now;
        flow.next_avail = now;
        flow.line = line;
        flow.cc = ReactionPoint::start(line);
        self.senders[node].list.push(f);
    }

    fn end_flow(&mut self, f: usize, status: FlowStatus) {
        self.run_timers(f);
        let flow = &mut self.flows[f];
        flow.out.status = status;
        flow.out.finish_ps = Some(self.now);
        flow.deadline = None;
        let sender = &mut self.senders[self.case.flows[f].src as usize];
        let at = sender.list.iter().position(|x| *x == f).expect("a running flow is listed");
        sender.list.remove(at);
        let follower = sender.list.get(at).copied();
        if sender.last == Some(f) {
            sender.last = None;
            sender.begin = follower;
        } else if sender.begin == Some(f) {
            sender.begin = follower;
        }
    }

    fn answer(&mut self, port: usize, f: usize, kind: Kind, psn: u32, held: u32, flag: bool) {
        let rules = &self.case.rules;
        let (class, bytes) = if kind == Kind::Cnp { (rules.cnp_class, rules.cnp_bytes) } else { (rules.ack_class, rules.ack_bytes) };
        let row = class.unwrap_or(self.case.flows[f].class) as usize + 1;
        if flag {
            self.flows[f].out.cnps_sent += 1;
        }
        self.enqueue(port, Frame { kind, flow: f, psn, held, size: u64::from(bytes), row, flag, ..Frame::control(kind, port, self.now) });
    }

    pub fn endpoint_arrival(&mut self, port: usize, frame: Frame) {
        match frame.kind {
            Kind::Data => self.data_arrival(port, &frame),
            _ if self.flows[frame.flow].out.status == FlowStatus::Running => self.answer_arrival(&frame),
            _ => {}
        }
        self.look(self.node_of(port));
    }

    fn data_arrival(&mut self, port: usize, frame: &Frame) {
        let (f, k, now, rules) = (frame.flow, frame.psn, self.now, &self.case.rules);
        let flag = frame.ce && rules.cnp_mode == CnpMode::AckFlag;
        if frame.ce {
            self.flows[f].out.ecn_marked += 1;
            if rules.cnp_mode == CnpMode::Packet && self.flows[f].cnp_at.is_none_or(|last| now >= last + rules.cnp_interval_ps) {
                self.flows[f].cnp_at = Some(now);
                self.flows[f].out.cnps_sent += 1;
                self.answer(port, f, Kind::Cnp, 0, 0, false);
            }
        }
        let selective = rules.recovery == Recovery::SelectiveRepeat;
        let expected = self.flows[f].rcv_nxt;
        if k == expected {
            let flow = &mut self.flows[f];
            let had_held = !flow.rcv_held.is_empty();
            flow.rcv_nxt += 1;
            while flow.rcv_held.remove(&flow.rcv_nxt) {
                flow.rcv_nxt += 1;
            }
            flow.nak = None;
            flow.since_ack += flow.rcv_nxt - k;
            let whole = flow.rcv_nxt == self.case.flows[f].n_packets;
            if whole && flow.out.receive_ps.is_none() {
                flow.out.receive_ps = Some(now);
                self.release_children(f, true);
            }
            let flow = &mut self.flows[f];
            if whole || flag || (selective && had_held) || flow.since_ack >= rules.ack_every {
                flow.since_ack = 0;
                let next = flow.rcv_nxt;
                self.answer(port, f, Kind::Ack, next, 0, flag);
            }
        } else if k < expected {
            self.flows[f].out.duplicates += 1;
            self.flows[f].since_ack = 0;
            self.answer(port, f, Kind::Ack, expected, 0, flag);
        } else {
            self.flows[f].out.out_of_sequence += 1;
            if matches!(rules.recovery, Recovery::SelectiveRepeat | Recovery::OutOfOrder) {
                self.hold(port, f, k, flag);
            } else {
                self.refuse(port, f, flag);
            }
        }
    }

    fn hold(&mut self, port: usize, f: usize, k: u32, flag: bool) {
        let expected = self.flows[f].rcv_nxt;
        if k - expected >= AHEAD {
            return;
        }
        if !self.flows[f].rcv_held.insert(k) {
            self.flows[f].out.duplicates += 1;
        }
        if self.case.rules.recovery == Recovery::SelectiveRepeat {
            self.answer(port, f, Kind::Sack, expected, k, flag);
        }
    }

    fn refuse(&mut self, port: usize, f: usize, flag: bool) {
        let (now, rules) = (self.now, &self.case.rules);
        let flow = &mut self.flows[f];
        if let Some((psn, at)) = flow.nak
            && psn == flow.rcv_nxt
            && (rules.nak_interval_ps == 0 || now < at + rules.nak_interval_ps)
        {
            return;
        }
        if rules.recovery == Recovery::GoBackZero {
            flow.rcv_nxt = 0;
            flow.since_ack = 0;
        }
        let psn = flow.rcv_nxt;
        flow.nak = Some((psn, now));
        self.answer(port, f, Kind::Nak, psn, 0, flag);
    }

    fn answer_arrival(&mut self, frame: &Frame) {
        let (f, now, rules) = (frame.flow, self.now, &self.case.rules);
        if frame.kind == Kind::Cnp {
            self.react(f);
            return;
        }
        let flow = &mut self.flows[f];
        if frame.psn > flow.una {
            flow.una = frame.psn;
            flow.retries = 0;
            flow.nxt = flow.nxt.max(flow.una);
            flow.deadline = None;
            if rules.rto_ps > 0 && flow.una < flow.nxt {
                flow.deadline = Some(now + rules.rto_ps);
                self.set_timer(now + rules.rto_ps, f);
            }
        }
        let flow = &mut self.flows[f];
        if frame.kind != Kind::Ack {
            flow.out.naks += 1;
        }
        if flow.una == self.case.flows[f].n_packets {
            self.end_flow(f, FlowStatus::Done);
            self.release_children(f, false);
            return;
        }
        match frame.kind {
            Kind::Nak if rules.recovery == Recovery::GoBackZero => {
                (flow.una, flow.nxt, flow.deadline) = (0, 0, None);
            }
            Kind::Nak if frame.psn >= flow.una => flow.nxt = flow.una,
            Kind::Sack if frame.held >= flow.una => {
                flow.held.insert(frame.held);
                flow.high = flow.high.max(frame.held + 1);
            }
            _ => {}
        }
        if frame.flag {
            self.react(f);
        }
    }

    pub fn expire(&mut self, f: usize) {
        let rules = &self.case.rules;
        let deadline = self.now + rules.rto_ps;
        let flow = &mut self.flows[f];
        flow.out.timeouts += 1;
        flow.retries += 1;
        if flow.retries > rules.retry_limit {
            self.end_flow(f, FlowStatus::Failed);
            return;
        }
        match rules.recovery {
            Recovery::GoBackN | Recovery::OutOfOrder => flow.nxt = flow.una,
            Recovery::GoBackZero => (flow.una, flow.nxt) = (0, 0),
            Recovery::SelectiveRepeat => {
                flow.resend = flow.una;
                flow.high = flow.high.max(flow.una + 1);
            }
        }
        flow.deadline = Some(deadline);
        self.set_timer(deadline, f);
    }

    /// The PSN to send next, and whether it is a resend of selective repeat.
    pub fn next_packet(&mut self, f: usize) -> Option<(u32, bool)> {
        let n = self.case.flows[f].n_packets;
        let selective = self.case.rules.recovery == Recovery::SelectiveRepeat;
        let flow = &mut self.flows[f];
        if selective {
            flow.resend = flow.resend.max(flow.una);
            while flow.resend < flow.high && flow.held.contains(&flow.resend) {
                flow.resend += 1;
            }
            if flow.resend < flow.high {
                return Some((flow.resend, true));
            }
        }
        let bounded = selective || self.case.rules.recovery == Recovery::OutOfOrder;
        (flow.nxt < n && (!bounded || flow.nxt - flow.una < AHEAD)).then_some((flow.nxt, false))
    }

    pub fn in_window(&mut self, f: usize) -> bool {
        let mut window = u64::from(self.case.flows[f].window_bytes);
        if window == 0 || self.next_packet(f).is_some_and(|(_, resend)| resend) {
            return true;
        }
        if self.case.rules.variable_window {
            self.run_timers(f);
            let (rate, line) = (self.flows[f].cc.rate, self.flows[f].line);
            if rate < line {
                window = (window * (rate * 65_536 / line) / 65_536).max(1);
            }
        }
        u64::from(self.flows[f].nxt - self.flows[f].una) * u64::from(self.case.rules.mtu_bytes) < window
    }

    pub fn endpoint_decision(&mut self, port: usize) {
        let node = self.node_of(port);
        let ignores = self.case.rules.ack_ignores_pause;
        let row = (1..=self.case.classes.len()).find(|row| {
            let q = &self.queues[self.q(port, *row)];
            !q.frames.is_empty() && (ignores || !q.paused)
        });
        let sent = if let Some(row) = row {
            let frame = self.dequeue(port, row);
            let ordinal = self.next_ordinal(port);
            self.transmit(port, frame, ordinal);
            true
        } else {
            self.serve(node, port)
        };
        let at = if sent { self.ports[port].busy } else { self.senders[node].wake };
        self.ports[port].decide_at = at;
        if let Some(at) = at {
            self.decide(at, port);
        }
    }

    /// Flows in the order of the round robin.
    fn turn_order(&self, node: usize) -> Vec<usize> {
        let sender = &self.senders[node];
        let position = |f: usize| sender.list.iter().position(|x| *x == f);
        let first = match (sender.last.and_then(position), sender.begin.and_then(position)) {
            (Some(last), _) => (last + 1) % sender.list.len(),
            (None, begin) => begin.unwrap_or(0),
        };
        sender.list[first..].iter().chain(&sender.list[..first]).copied().collect()
    }

    /// Frame bytes of a data packet.
    fn data_size(&self, f: usize, psn: u32) -> u64 {
        let (rules, spec) = (&self.case.rules, &self.case.flows[f]);
        let payload = if psn + 1 == spec.n_packets { spec.last_payload_bytes } else { rules.mtu_bytes };
        let first = if psn == 0 { rules.first_extra_bytes } else { 0 };
        u64::from(payload + rules.data_header_bytes + first)
    }

    /// True if the link forbids to send a packet: its class is paused, or it lacks credits.
    pub fn held_back(&self, port: usize, f: usize, psn: u32) -> bool {
        let class = self.case.flows[f].class as usize;
        if self.case.credits.is_some() {
            return !self.fits(port, class, blocks(self.data_size(f, psn)));
        }
        self.queues[self.q(port, class + 1)].paused
    }

    pub fn serve(&mut self, node: usize, port: usize) -> bool {
        let now = self.now;
        let mut soonest: Option<u64> = None;
        let mut of_all: Option<u64> = None;
        for f in self.turn_order(node) {
            let Some((psn, resend)) = self.next_packet(f) else { continue };
            let avail = self.flows[f].next_avail;
            of_all = Some(of_all.map_or(avail, |t| t.min(avail)));
            if self.held_back(port, f, psn) || !self.in_window(f) {
                continue;
            }
            if avail <= now {
                self.send_data(f, port, psn, resend);
                self.senders[node].last = Some(f);
                self.senders[node].begin = None;
                return true;
            }
            soonest = Some(soonest.map_or(avail, |t| t.min(avail)));
        }
        let sender = &mut self.senders[node];
        if !self.case.rules.hpcc_wakeup {
            sender.wake = soonest;
        } else if sender.wake.is_none_or(|wake| wake <= now) {
            sender.wake = of_all.filter(|t| *t > now);
        }
        false
    }

    fn send_data(&mut self, f: usize, port: usize, psn: u32, resend: bool) {
        self.run_timers(f);
        let (now, rules, spec) = (self.now, &self.case.rules, &self.case.flows[f]);
        let line = self.line_of(port);
        let size = self.data_size(f, psn);
        let rate = self.flows[f].cc.rate;
        let byte_gap = if rate == line { u64::from(self.case.ports[port].byte_time_q16) } else { RATE_OF_BYTE_TIME / rate };
        let mut gap = self.grained(((size + u64::from(rules.gap_bytes)) * byte_gap) >> 16);
        if rules.reaction == Reaction::A10 {
            gap = self.injection_gap(f, self.serialization(port, size));
        }
        let flow = &mut self.flows[f];
        if resend {
            flow.resend = psn + 1
        } else {
            flow.nxt = psn + 1
        }
        flow.out.tx_packets += 1;
        if psn < flow.sent_max {
            flow.out.retx_packets += 1
        } else {
            flow.sent_max = psn + 1
        }
        flow.next_avail = now + gap;
        if rules.rto_ps > 0 && flow.deadline.is_none() {
            flow.deadline = Some(now + rules.rto_ps);
            self.set_timer(now + rules.rto_ps, f);
        }
        self.count_bytes(f, size);
        let row = spec.class as usize + 1;
        let ordinal = self.next_ordinal(port);
        let frame = Frame { flow: f, psn, size, row, ..Frame::control(Kind::Data, port, now) };
        self.transmit(port, frame, ordinal);
    }
}
