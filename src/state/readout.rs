//! Buffers into outcomes, and the conservation check.

use crate::case::Case;
use crate::error::Error;
use crate::kernels::{self, Ctx, Cx, Flow, Lane, Node, Params, Port, Queue, Turn, Wire};
use crate::outcome::{FlowOutcome, FlowStatus, Outcome, QueueOutcome};
use crate::state::buffers::Buffers;
use crate::state::layout::{Layout, Part, join};

/// Typed view of the buffers.
struct View<'a> {
    params: &'a [Params],
    nodes: &'a [Node],
    ports: &'a [Port],
    queues: &'a [Queue],
    flows: &'a [Flow],
    lanes: &'a [Lane],
    wires: &'a [Wire],
    stride: usize,
}

impl<'a> View<'a> {
    fn new(buffers: &'a Buffers, layout: &Layout) -> Self {
        Self {
            params: bytemuck::cast_slice(&buffers.params),
            nodes: bytemuck::cast_slice(&buffers.nodes),
            ports: bytemuck::cast_slice(&buffers.ports),
            queues: bytemuck::cast_slice(&buffers.queues),
            flows: bytemuck::cast_slice(&buffers.flows),
            lanes: bytemuck::cast_slice(&buffers.lanes),
            wires: bytemuck::cast_slice(&buffers.wires),
            stride: layout.queue_stride as usize,
        }
    }

    fn queue(&self, port: u32, class_ix: u32) -> &Queue {
        &self.queues[port as usize * self.stride + class_ix as usize]
    }

    fn has_credits(&self, scenario: u32) -> bool {
        self.params[scenario as usize].flags & kernels::CREDITS != 0
    }
}

/// Time of the last event of a case (ps).
#[must_use]
pub fn last_event_ps(buffers: &Buffers, part: &Part) -> u64 {
    let nodes: &[Node] = bytemuck::cast_slice(&buffers.nodes);
    part.node_of.iter().map(|n| join(nodes[*n as usize].last_event)).max().unwrap_or(0)
}

/// True if an event of the model is still to come (see "End" in [`crate::model`]), judged from the state between two windows.
#[must_use]
pub fn events_left(buffers: &mut Buffers, layout: &Layout, part: &Part) -> bool {
    let cx = buffers.context(Turn::default());
    let view = View::new(buffers, layout);
    let ports = (part.first_port..part.first_port + part.n_ports).map(|p| &view.ports[p as usize]);
    let in_flight = |p: &Port| p.out_tail != p.in_head_of(&view) || p.pfc_out_tail != view.ports[p.peer as usize].pfc_in_head;
    let can_leave = |p: &Port| {
        let node = &view.nodes[p.node as usize];
        if view.has_credits(node.scenario) {
            return port_event_left(&cx, node, p, node.first_port + p.local);
        }
        let ignores = node.mask_off == kernels::NIL && view.params[node.scenario as usize].flags & kernels::ACK_IGNORES_PAUSE != 0;
        p.nonempty & !(if ignores { 0 } else { p.paused }) != 0
    };
    if ports.clone().any(|p| in_flight(p) || can_leave(p)) {
        return true;
    }
    let flows = &view.flows[part.first_flow as usize..(part.first_flow + part.n_flows) as usize];
    let pending: std::collections::BTreeSet<u32> =
        part.node_of.iter().flat_map(|n| Pending { view: &view, next: view.nodes[*n as usize].pending_head }).collect();
    flows.iter().zip(part.first_flow..).any(|(f, i)| match f.status {
        kernels::WAITING => f.dependent == 0 || pending.contains(&i),
        kernels::RUNNING => f.has_deadline != 0 || sends(&cx, &view, i),
        _ => false,
    })
}

/// True if a port of InfiniBand has flow control to send, buffer to free, or a frame that can leave.
fn port_event_left(cx: &Cx, node: &Node, port: &Port, p: u32) -> bool {
    let mut c = Ctx { node: port.node, scenario: node.scenario, ..Ctx::default() };
    // SAFETY: the buffers of `cx` are those of a batch, no kernel runs, and these functions only read.
    unsafe {
        if node.mask_off != kernels::NIL {
            return kernels::next_port_event(cx, &mut c, p) != kernels::INF;
        }
        let wire = cx.wires.get(p);
        wire.pending | wire.due != 0 || kernels::answer_lane(cx, &mut c, p) != 0
    }
}

/// True if a running flow has a packet that neither the link nor its window holds back.
fn sends(cx: &Cx, view: &View, f: u32) -> bool {
    let flow = &view.flows[f as usize];
    let node = &view.nodes[flow.src as usize];
    let params = &view.params[node.scenario as usize];
    let mut c = Ctx { node: flow.src, scenario: node.scenario, ..Ctx::default() };
    // SAFETY: as above.
    if flow.sendable == 0 || unsafe { kernels::held_back(cx, &mut c, f, node.first_port) } {
        return false;
    }
    let resends = params.recovery == kernels::SELECTIVE_REPEAT && flow.resend < flow.high;
    let window = if params.flags & kernels::VARIABLE_WINDOW == 0 { flow.window } else { flow.window_now };
    flow.window == 0 || resends || u64::from(flow.nxt - flow.una) * u64::from(params.mtu) < u64::from(window)
}

struct Pending<'a> {
    view: &'a View<'a>,
    next: u32,
}

impl Iterator for Pending<'_> {
    type Item = u32;
    fn next(&mut self) -> Option<u32> {
        let f = self.next;
        if f == kernels::NIL {
            return None;
        }
        self.next = self.view.flows[f as usize].list_next;
        Some(f)
    }
}

impl Port {
    /// The head of the ring out of this port, as its receiver has it.
    fn in_head_of(&self, view: &View) -> u32 {
        view.ports[self.peer as usize].in_head
    }
}

/// Reads the outcome of one case of a batch, whose epoch starts at `base_ps`, at `end_ps`.
#[must_use]
pub fn outcome(case: &Case, buffers: &Buffers, layout: &Layout, part: &Part, base_ps: u64, end_ps: u64, stopped: bool) -> Outcome {
    let view = View::new(buffers, layout);
    let flows = &view.flows[part.first_flow as usize..(part.first_flow + part.n_flows) as usize];
    let mut out = Outcome { end_ps, stopped, ..Outcome::default() };
    out.flows = flows.iter().map(|f| flow_outcome(f, &view.flows[f.cc_owner as usize])).collect();
    for p in part.first_port..part.first_port + part.n_ports {
        let port = &view.ports[p as usize];
        out.lost_packets.push(lost(&view, p));
        for class_ix in 0..=u32::try_from(case.classes.len()).unwrap_or(0) {
            let paused = port.paused >> class_ix & 1 != 0;
            let mut queue = queue_outcome(view.queue(p, class_ix), class_ix == 0, paused, base_ps, end_ps);
            if case.credits.is_some() {
                count_lane(&view.lanes[p as usize * view.stride + class_ix as usize], &mut queue);
            }
            out.queues.push(queue);
        }
        if case.credits.is_some() {
            out.xmit_wait_ps.push(xmit_wait_ps(&view, p, end_ps));
        }
    }
    out
}

/// Frames lost on the link behind a port: those that its peer found corrupt, too.
fn lost(view: &View, p: u32) -> u64 {
    let port = &view.ports[p as usize];
    let corrupt = view.wires.get(port.peer as usize).map_or(0, |w| w.corrupt);
    u64::from(port.lost) + u64::from(corrupt)
}

fn count_lane(lane: &Lane, queue: &mut QueueOutcome) {
    queue.fc_sent = u64::from(lane.fc_sent);
    queue.fc_received = u64::from(lane.fc_received);
    queue.max_blocks = lane.max_blocks;
    queue.hoq_drop_packets = u64::from(lane.hoq_drops);
}

/// Time with frames queued and nothing sent, up to the end.
fn xmit_wait_ps(view: &View, p: u32, end_ps: u64) -> u64 {
    let (port, wire) = (&view.ports[p as usize], &view.wires[p as usize]);
    let waits = port.nonempty != 0 && view.nodes[port.node as usize].mask_off != kernels::NIL;
    join(wire.wait) + if waits { end_ps.saturating_sub(join(wire.wait_from)) } else { 0 }
}

fn flow_outcome(f: &Flow, owner: &Flow) -> FlowOutcome {
    let status = match f.status {
        kernels::RUNNING => FlowStatus::Running,
        kernels::DONE => FlowStatus::Done,
        kernels::FAILED => FlowStatus::Failed,
        _ => FlowStatus::Waiting,
    };
    let ended = matches!(status, FlowStatus::Done | FlowStatus::Failed);
    FlowOutcome {
        status,
        start_ps: if status == FlowStatus::Waiting { 0 } else { join(f.released) },
        finish_ps: ended.then(|| join(f.finish)),
        receive_ps: (f.received != 0).then(|| join(f.receive)),
        tx_packets: join(f.tx_packets),
        retx_packets: join(f.retx_packets),
        timeouts: f.timeouts,
        naks: f.naks,
        cnps_sent: f.cnps_sent,
        cnps_handled: f.cnps_handled,
        ecn_marked: f.marked,
        out_of_sequence: f.out_of_sequence,
        duplicates: f.duplicates,
        received_packets: f.rcv_nxt,
        rate_kbps: f.rate,
        alpha_q32: f.alpha,
        ccti: owner.ccti,
        ccti_max: owner.ccti_max,
    }
}

/// What a total that was brought up to near time `since` and grows by `rate` a picosecond is at the end. The epoch may have been moved
/// past the end, while nothing happened any more; what was counted beyond it is taken off.
fn at_end(total: u128, rate: u32, base_ps: u64, end_ps: u64, since: u32) -> u128 {
    let since_ps = base_ps + u64::from(since);
    let missing = u128::from(rate) * u128::from(end_ps.saturating_sub(since_ps));
    total + missing - u128::from(rate) * u128::from(since_ps.saturating_sub(end_ps))
}

fn queue_outcome(q: &Queue, control: bool, paused: bool, base_ps: u64, end_ps: u64) -> QueueOutcome {
    let area = u128::from(q.area[0]) | u128::from(q.area[1]) << 32 | u128::from(q.area[2]) << 64;
    let paused_ps = at_end(join(q.paused_ps).into(), u32::from(paused), base_ps, end_ps, q.paused_since);
    QueueOutcome {
        tx_packets: join(q.tx_packets),
        tx_bytes: join(q.tx_bytes),
        rx_packets: join(q.rx_packets),
        rx_bytes: join(q.rx_bytes),
        marked_packets: u64::from(q.marked),
        drop_packets: u64::from(q.drops),
        drop_bytes: join(q.drop_bytes),
        max_queue_bytes: if control { 0 } else { q.max_bytes },
        queue_byte_ps: if control { 0 } else { at_end(area, q.bytes, base_ps, end_ps, q.since) },
        max_headroom_bytes: q.max_headroom,
        xoff_sent: u64::from(q.xoff_sent),
        xon_sent: u64::from(q.xon_sent),
        xoff_received: u64::from(q.xoff_received),
        xon_received: u64::from(q.xon_received),
        paused_ps: u64::try_from(paused_ps).unwrap_or(u64::MAX),
        fc_sent: 0,
        fc_received: 0,
        max_blocks: 0,
        hoq_drop_packets: 0,
    }
}

/// Checks that no lane ever held more than its buffer.
fn check_blocks(view: &View, part: &Part, p: u32) -> Result<(), Error> {
    let Some(wire) = view.wires.get(p as usize) else { return Ok(()) };
    for class_ix in 1..part.n_queues {
        let held = view.lanes[p as usize * view.stride + class_ix as usize].max_blocks;
        if held > wire.buffer_blocks {
            let (port, lane) = (p - part.first_port, class_ix - 1);
            return Err(Error::Internal(format!("port {port}: lane {lane} held {held} blocks of {}", wire.buffer_blocks)));
        }
    }
    Ok(())
}

/// Checks that no frame or byte appeared or vanished: on every link, in every switch, between windows.
///
/// # Errors
/// [`Error::Internal`] naming the port or node and the counts.
pub fn check_conservation(case: &Case, buffers: &Buffers, layout: &Layout, part: &Part) -> Result<(), Error> {
    let view = View::new(buffers, layout);
    let classes = 1..part.n_queues;
    let total = |p: u32, f: &dyn Fn(&Queue) -> u64| classes.clone().map(|c| f(view.queue(p, c))).sum::<u64>();
    for p in part.first_port..part.first_port + part.n_ports {
        let port = &view.ports[p as usize];
        let flying = u64::from(port.out_tail.wrapping_sub(port.in_head_of(&view)));
        let (sent, received) = (total(p, &|q| join(q.tx_packets)), total(port.peer, &|q| join(q.rx_packets)));
        let lost = lost(&view, p);
        if sent != received + flying + lost {
            return Err(Error::Internal(format!(
                "port {}: {sent} frames sent are not {received} received + {flying} in flight + {lost} lost",
                p - part.first_port,
            )));
        }
        check_blocks(&view, part, p)?;
    }
    for (n, spec) in case.nodes.iter().enumerate() {
        if spec.kind == crate::case::NodeKind::Endpoint {
            continue;
        }
        let node = &view.nodes[part.node_of[n] as usize];
        let ports = node.first_port..node.first_port + node.n_ports;
        let (mut inside, mut control, mut entered, mut left) = (0_u64, 0_u64, 0_u64, 0_u64);
        for p in ports {
            entered += total(p, &|q| join(q.rx_bytes));
            left += total(p, &|q| join(q.tx_bytes)) + total(p, &|q| join(q.drop_bytes));
            inside += total(p, &|q| u64::from(q.bytes));
            control += u64::from(view.queue(p, 0).bytes);
        }
        if entered != left + inside || (case.credits.is_none() && inside != u64::from(node.used_bytes)) {
            return Err(Error::Internal(format!(
                "switch `{}`: {entered} bytes entered are not {left} sent or dropped + {inside} queued ({} accounted, {control} of control frames)",
                spec.name, node.used_bytes
            )));
        }
    }
    Ok(())
}
