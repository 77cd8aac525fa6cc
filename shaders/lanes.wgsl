// InfiniBand's switch: virtual output queues, arbitration of lanes, marking, head-of-queue lifetime (model text, "Switch").
//
// A virtual output queue is a circular list in the node's pool. `sync` holds, for each egress port and lane, a mask of the inputs with
// frames queued and one word an input: the last entry of its list.

fn voq_of(c: ptr<function, Ctx>, port: u32, class_ix: u32) -> u32 {
  let n = (*c).node;
  let inputs = nodes[n].voq_inputs;
  let lane = ports[port].local * (params[(*c).scenario].n_queues - 1u) + class_ix - 1u;
  return nodes[n].voq_off + lane * (inputs + mask_words_of(inputs));
}

fn mask_words_of(inputs: u32) -> u32 {
  return (inputs + 31u) >> 5u;
}

// The input that a lane serves next: in cyclic order behind the one it served last. The lane has frames.
fn candidate_input(c: ptr<function, Ctx>, port: u32, class_ix: u32) -> u32 {
  let voq = voq_of(c, port, class_ix);
  let words = mask_words_of(nodes[(*c).node].voq_inputs);
  let begin = lanes[queue_of((*c).scenario, port, class_ix)].last_input + 1u;
  let first = begin >> 5u;
  for (var i = 0u; i <= words; i++) {
    let w = (first + i) % words;
    var mask = atomicLoad(&sync[voq + w]);
    if (i == 0u && first < words) { mask &= NIL << (begin & 31u); }
    if (mask != 0u) { return 32u * w + countTrailingZeros(mask); }
  }
  return NIL;
}

fn tail_word(c: ptr<function, Ctx>, port: u32, class_ix: u32, input: u32) -> u32 {
  return voq_of(c, port, class_ix) + mask_words_of(nodes[(*c).node].voq_inputs) + input;
}

// The frame that leaves a lane next; the lane has frames.
fn candidate(c: ptr<function, Ctx>, port: u32, class_ix: u32) -> vec4<u32> {
  let off = nodes[(*c).node].pool_off;
  let tail = atomicLoad(&sync[tail_word(c, port, class_ix, candidate_input(c, port, class_ix))]);
  return pool[off + 2u * pool[off + 2u * tail + 1u].x];
}

fn join_lane(c: ptr<function, Ctx>, port: u32, class_ix: u32, packet: vec4<u32>, ingress: u32, class_in: u32, now: u32) {
  let n = (*c).node;
  let off = nodes[n].pool_off;
  count_wait(c, port, now);
  mark_busy(c, port);
  let i = new_entry(c, packet, ingress, class_in);
  var input = 0u;
  if (nodes[n].voq_inputs > 1u) { input = ports[ingress].local; }
  let mask = voq_of(c, port, class_ix) + (input >> 5u);
  let word = tail_word(c, port, class_ix, input);
  let known = atomicLoad(&sync[mask]);
  var next = i;
  if (((known >> (input & 31u)) & 1u) != 0u) {
    let tail = atomicLoad(&sync[word]);
    next = pool[off + 2u * tail + 1u].x;
    pool[off + 2u * tail + 1u].x = i;
  } else {
    atomicStore(&sync[mask], known | (1u << (input & 31u)));
  }
  pool[off + 2u * i + 1u].x = next;
  atomicStore(&sync[word], i);
  let q = queue_of((*c).scenario, port, class_ix);
  if (queues[q].bytes == 0u) {
    ports[port].nonempty |= 1u << class_ix;
    lanes[q].hoq_since = far(c, now);
  }
  grow_queue(q, packet.w & SIZE_MASK, now);
  wires[port].queued += packet.w & SIZE_MASK;
}

fn leave_lane(c: ptr<function, Ctx>, port: u32, class_ix: u32, now: u32) -> Taken {
  count_wait(c, port, now);
  let off = nodes[(*c).node].pool_off;
  let q = queue_of((*c).scenario, port, class_ix);
  let input = candidate_input(c, port, class_ix);
  let word = tail_word(c, port, class_ix, input);
  let tail = atomicLoad(&sync[word]);
  let i = pool[off + 2u * tail + 1u].x;
  let taken = free_entry(c, i);
  if (i == tail) {
    let mask = voq_of(c, port, class_ix) + (input >> 5u);
    atomicStore(&sync[mask], atomicLoad(&sync[mask]) & ~(1u << (input & 31u)));
  } else {
    pool[off + 2u * tail + 1u].x = taken.next;
  }
  lanes[q].last_input = input;
  lanes[q].hoq_since = far(c, now);
  let size = taken.packet.w & SIZE_MASK;
  integrate(q, now);
  queues[q].bytes -= size;
  wires[port].queued -= size;
  if (queues[q].bytes == 0u) { ports[port].nonempty &= ~(1u << class_ix); }
  return taken;
}

// Time with frames queued and nothing sent; call before either changes.
fn count_wait(c: ptr<function, Ctx>, port: u32, now: u32) {
  if (nodes[(*c).node].mask_off == NIL) { return; }
  let at = far(c, now);
  let counted = wires[port].wait_from;
  if (!lt64(counted, at)) { return; }
  if (ports[port].nonempty != 0u) { wires[port].wait = add64(wires[port].wait, sub64(at, counted)); }
  wires[port].wait_from = at;
}

fn served_lanes(c: ptr<function, Ctx>, port: u32) -> u32 {
  return ports[port].nonempty & (params[(*c).scenario].high_classes | params[(*c).scenario].low_classes);
}

// Near time of the next port event that does something, INF if nothing known leads to one.
fn next_port_event(c: ptr<function, Ctx>, port: u32) -> u32 {
  let s = (*c).scenario;
  let busy = ports[port].busy;
  var at = INF;
  if (wires[port].free_port != NIL || wires[port].pending != 0u) { at = busy; }
  if (wires[port].due != 0u) { at = min(at, max(next_due(c, port), busy)); }
  var todo = ports[port].nonempty;
  let hoq = wires[port].hoq;
  if (all(hoq == vec2<u32>())) { todo = 0u; }
  while (todo != 0u) {
    let q = queue_of(s, port, countTrailingZeros(todo));
    todo &= todo - 1u;
    at = min(at, near((*c).base, add64(lanes[q].hoq_since, hoq)));
  }
  if (at > busy) {
    todo = served_lanes(c, port);
    while (todo != 0u) {
      let class_ix = countTrailingZeros(todo);
      todo &= todo - 1u;
      let head = candidate(c, port, class_ix);
      if (fits(port, queue_of(s, port, class_ix), blocks_of(head.w & SIZE_MASK))) { at = min(at, max(head.x, busy)); }
    }
  }
  return max(at, ports[port].gate);
}

// Everything a port does at an instant. Returns false (stalled) before anything is done if a ring is full.
fn port_event(c: ptr<function, Ctx>, port: u32, now: u32) -> bool {
  if (!(can_send(c, port, 0u) && can_send(c, port, 1u))) { return false; }
  (*c).work += 2u;
  let idle = ports[port].busy <= now;
  let input = wires[port].free_port;
  if (idle && input != NIL) {
    wires[port].free_port = NIL;
    free_blocks(c, input, wires[port].free_class, wires[port].free_blocks, now);
  }
  if (wires[port].due != 0u) { pass_deadlines(c, port, now); }
  if (any(wires[port].hoq != vec2<u32>())) { end_lifetimes(c, port, now); }
  if (!idle) { return true; }
  if (wires[port].pending != 0u) { advertise(c, port, now); } else { serve_lanes(c, port, now); }
  return true;
}

fn end_lifetimes(c: ptr<function, Ctx>, port: u32, now: u32) {
  var todo = ports[port].nonempty;
  while (todo != 0u) {
    let class_ix = countTrailingZeros(todo);
    todo &= todo - 1u;
    (*c).work += 1u;
    let q = queue_of((*c).scenario, port, class_ix);
    if (lt64(far(c, now), add64(lanes[q].hoq_since, wires[port].hoq))) { continue; }
    let taken = leave_lane(c, port, class_ix, now);
    let size = taken.packet.w & SIZE_MASK;
    drop_at(q, size);
    lanes[q].hoq_drops += 1u;
    ports[port].gate = now;
    free_blocks(c, taken.ingress, taken.class_in, blocks_of(size), now);
  }
}

// Sends a data or answer frame if one can leave.
fn serve_lanes(c: ptr<function, Ctx>, port: u32, now: u32) {
  let s = (*c).scenario;
  var eligible = 0u;
  var todo = served_lanes(c, port);
  while (todo != 0u) {
    let class_ix = countTrailingZeros(todo);
    todo &= todo - 1u;
    let head = candidate(c, port, class_ix);
    if (head.x <= now && fits(port, queue_of(s, port, class_ix), blocks_of(head.w & SIZE_MASK))) { eligible |= 1u << class_ix; }
  }
  if (eligible == 0u) { return; }
  let class_ix = arbitrate(c, port, eligible);
  let taken = leave_lane(c, port, class_ix, now);
  var packet = taken.packet;
  if (marks_fecn(c, port, queue_of(s, port, class_ix), packet)) { packet.w |= CE_BIT; }
  lanes[queue_of(s, port, class_ix)].starved = 0u;
  let ordinal = ports[port].ordinal + 1u;
  ports[port].ordinal = ordinal;
  (*c).last = max((*c).last, now);
  packet.w = (packet.w & ~(15u << CLASS_SHIFT)) | (class_ix << CLASS_SHIFT);
  send_packet(c, port, packet, ordinal, now);
  wires[port].free_port = taken.ingress;
  wires[port].free_class = taken.class_in;
  wires[port].free_blocks = blocks_of(packet.w & SIZE_MASK);
}

// The lane that the arbitration tables serve next.
fn arbitrate(c: ptr<function, Ctx>, port: u32, eligible: u32) -> u32 {
  let s = (*c).scenario;
  let low = (eligible & params[s].low_classes) != 0u;
  let limit = params[s].high_limit;
  let sent = wires[port].sent;
  let within = limit == 255u || sent == 0u || sent < limit * 4096u;
  let high = (eligible & params[s].high_classes) != 0u && (!low || within);
  var table = params[s].low_off;
  var count = params[s].n_low;
  var at = wires[port].low_at;
  var left = wires[port].low_left;
  if (high) {
    table = params[s].high_off;
    count = params[s].n_high;
    at = wires[port].high_at;
    left = wires[port].high_left;
  }
  var class_ix = 0u;
  loop {
    (*c).work += 1u;
    let entry = topo[table + at];
    class_ix = entry & 255u;
    if ((entry >> 8u) != 0u && left != 0u && ((eligible >> class_ix) & 1u) != 0u) { break; }
    at += 1u;
    if (at >= count) { at = 0u; }
    left = topo[table + at] >> 8u;
  }
  let size = candidate(c, port, class_ix).w & SIZE_MASK;
  left -= min(left, blocks_of(size));
  if (high) {
    wires[port].high_at = at;
    wires[port].high_left = left;
  } else {
    wires[port].low_at = at;
    wires[port].low_left = left;
  }
  wires[port].sent = select(0u, sent + size, high && low);
  return class_ix;
}

// FECN of a frame that has just left the lane of queue q.
fn marks_fecn(c: ptr<function, Ctx>, port: u32, q: u32, packet: vec4<u32>) -> bool {
  let s = (*c).scenario;
  if (((packet.w >> KIND_SHIFT) & 7u) != KIND_DATA || (packet.w & CE_BIT) != 0u) { return false; }
  if (queues[q].bytes <= wires[port].fecn_bytes || (packet.w & SIZE_MASK) < params[s].mark_size) { return false; }
  if (lanes[q].starved != 0u && wires[port].fecn_victims == 0u) { return false; }
  let eligible = wires[port].eligible + 1u;
  if (eligible <= params[s].marking_rate) {
    wires[port].eligible = eligible;
    return false;
  }
  wires[port].eligible = 0u;
  queues[q].marked += 1u;
  return true;
}

// Device class that a frame leaves on, 16 if none: service level to virtual lane, by input and output port.
fn lane_out(c: ptr<function, Ctx>, ingress: u32, egress: u32, sl: u32) -> u32 {
  let n = (*c).node;
  var map = nodes[n].sl_off;
  if (nodes[n].sl_ports != 0u) { map += ports[ingress].local * nodes[n].n_ports + ports[egress].local; }
  let lane = (topo[topo[map] + (sl >> 3u)] >> (4u * (sl & 7u))) & 15u;
  return select(lane + 1u, 16u, lane == 15u || lane + 1u >= params[(*c).scenario].n_queues);
}

// Handles the next arrival on `port` of an InfiniBand switch, due at `now`. Returns false if it had to stop before it.
fn arrive_lane(c: ptr<function, Ctx>, port: u32, now: u32) -> bool {
  if (!has_room(c, 2u)) { return false; }
  let s = (*c).scenario;
  let head = ports[port].in_head;
  var packet = rings[ports[port].in_off + (head & ports[port].in_mask)];
  let corrupt = (packet.w & CORRUPT_BIT) != 0u;
  var way = Way(NIL, NIL);
  if (!corrupt) { way = route_lid(c, packet, now); }
  let eager = way.port != NIL && (params[s].flags & EAGER_START) != 0u && ports[way.port].busy < now;
  if (eager && !(can_send(c, way.port, 0u) && can_send(c, way.port, 1u))) { return false; }
  if (head == ports[port].in_head_pub) { touch(c, port); }
  ports[port].in_head = head + 1u;
  (*c).last = max((*c).last, now);
  let size = packet.w & SIZE_MASK;
  let class_in = class_of(packet);
  let q = queue_of(s, port, class_in);
  take_blocks(q, blocks_of(size));
  if (corrupt) {
    wires[port].corrupt += 1u;
    free_blocks(c, port, class_in, blocks_of(size), now);
    return true;
  }
  count_received(c, port, class_in, size);
  bind(c, way, packet, now);
  var class_ix = 16u;
  if (way.port != NIL) { class_ix = lane_out(c, port, way.port, topo[topo[s] + 8u * packet.y + 6u]); }
  if (class_ix == 16u) {
    drop_at(q, size);
    free_blocks(c, port, class_in, blocks_of(size), now);
    return true;
  }
  packet.x = now + cut_through_wait(c, port, way.port, size);
  join_lane(c, way.port, class_ix, packet, port, class_in, now);
  // It may start at once, before later events of this instant: the next thing to be done.
  if (eager) { (*c).eager = way.port; }
  wake_port(c, way.port, packet.x);
  let hoq = wires[way.port].hoq;
  if (any(hoq != vec2<u32>())) { schedule_port(c, way.port, near((*c).base, add64(far(c, now), hoq))); }
  return true;
}

// The ports whose masks say that they have something to do.
fn schedule_lanes(c: ptr<function, Ctx>) {
  let n = (*c).node;
  let words = nodes[n].mask_words;
  let egress = nodes[n].mask_off + EGRESS * words;
  for (var w = 0u; w < words; w++) {
    var mask = atomicLoad(&sync[egress + w]);
    while (mask != 0u) {
      (*c).work += 1u;
      let port = nodes[n].first_port + 32u * w + countTrailingZeros(mask);
      mask &= mask - 1u;
      ports[port].sched = INF;
      schedule_port(c, port, next_port_event(c, port));
    }
  }
}

// Handles the smallest event of the heap.
fn handle_lane_event(c: ptr<function, Ctx>) {
  let event = pool[nodes[(*c).node].heap_off];
  let now = event.x;
  let port = event.z;
  let kind = event.y & EVENT_KIND;
  (*c).eager = NIL;
  var due = NIL;
  if (kind == EVENT_EGRESS) {
    heap_pop(c);
    if (ports[port].sched != now) { return; }
    due = port;
  } else if (kind == EVENT_PFC) {
    take_control(c, port, now);
    (*c).last = max((*c).last, now);
    replace_event(c, pfc_time(port), EVENT_PFC | port, port);
    wake_port(c, port, now);
  } else {
    if (!arrive_lane(c, port, now)) { return; }
    // What the arrival added orders behind it: it is still the smallest entry.
    replace_event(c, arrival_time(port), arrival_key(c, port), port);
    due = (*c).eager;
  }
  if (due == NIL) { return; }
  ports[due].sched = INF;
  var start = next_port_event(c, due);
  if (start <= now || kind != EVENT_EGRESS) {
    if (!port_event(c, due, now)) { return; }
    start = next_port_event(c, due);
  }
  schedule_port(c, due, start);
}

// Clears masks of idle ports and finds the next event.
fn finish_lanes(c: ptr<function, Ctx>) {
  let n = (*c).node;
  let words = nodes[n].mask_words;
  let kept = nodes[n].mask_off + KEPT * words;
  let egress = nodes[n].mask_off + EGRESS * words;
  var next = INF;
  for (var w = 0u; w < words; w++) {
    var mask = atomicLoad(&sync[egress + w]);
    while (mask != 0u) {
      (*c).work += 1u;
      let i = countTrailingZeros(mask);
      mask &= mask - 1u;
      let port = nodes[n].first_port + 32u * w + i;
      if ((*c).work > turn.budget) { return; }
      let start = next_port_event(c, port);
      if (start == INF && ports[port].nonempty == 0u) {
        atomicStore(&sync[egress + w], atomicLoad(&sync[egress + w]) & ~(1u << i));
        ports[port].sched = INF;
      }
      next = min(next, start);
    }
    next = min(next, next_arrivals(c, kept + w, nodes[n].first_port + 32u * w));
  }
  atomicStore(&sync[clock_word(NEXT, n)], next);
  nodes[n].unfinished = 0u;
}

// One invocation per switch and window, for those of InfiniBand: all events are in the heap.
@compute @workgroup_size(64)
fn step_lanes(@builtin(global_invocation_id) gid: vec3<u32>) {
  let n = gid.x + turn.n_endpoints;
  if (n >= turn.n_nodes) { return; }
  if (is_quiet(n) || !has_credits(nodes[n].scenario)) { return; }
  var c = open_window(n);
  if (!open_switch(&c)) { return; }
  gather(&c);
  nodes[n].unfinished = 1u;
  schedule_lanes(&c);
  // As in `step_switches`.
  c.work = 0u;
  while (c.heap > 0u && c.stalled == 0u) {
    if (c.work > turn.budget) { c.stalled = 1u; }
    else {
      c.work += 2u;
      handle_lane_event(&c);
    }
  }
  if (c.stalled == 0u) { finish_lanes(&c); }
  close_window(&c);
}
