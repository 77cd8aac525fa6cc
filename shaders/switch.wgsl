// One invocation per switch and window: takes the arrivals of the window in time order and sends what can start in it.
//
// Two ways, one result. Calm: no threshold, pause, resume or drop can happen in this window, so egress ports do not affect each other:
// each one sends what is due only when a packet arrives for it, and at the end. Ordered: departures are events of the heap like arrivals.

// Near time at which `port` can start its next frame; INF if none.
fn next_start(c: ptr<function, Ctx>, port: u32) -> u32 {
  var todo = ports[port].nonempty & ~ports[port].paused;
  if (todo == 0u) { return INF; }
  var ready = INF;
  loop {
    let class_ix = countTrailingZeros(todo);
    ready = min(ready, head_packet((*c).scenario, (*c).node, port, class_ix).x);
    todo &= todo - 1u;
    if (todo == 0u) { break; }
  }
  return max(ready, max(ports[port].busy, ports[port].gate));
}

// Device class that `port` serves at `now`; some class is eligible.
fn choose(c: ptr<function, Ctx>, port: u32, now: u32) -> u32 {
  let s = (*c).scenario;
  let candidates = ports[port].nonempty & ~ports[port].paused;
  if ((candidates & (candidates - 1u)) == 0u && (candidates & (params[s].strict_classes | 1u)) != 0u) {
    return countTrailingZeros(candidates);
  }
  var eligible = 0u;
  var todo = candidates;
  while (todo != 0u) {
    let class_ix = countTrailingZeros(todo);
    todo &= todo - 1u;
    if (head_packet(s, (*c).node, port, class_ix).x <= now) { eligible |= 1u << class_ix; }
  }
  let first = eligible & (params[s].strict_classes | 1u);
  if (first != 0u) { return countTrailingZeros(first); }
  var class_ix = ports[port].weighted;
  loop {
    (*c).work += 1u;
    let q = queue_of(s, port, class_ix);
    if (((eligible >> class_ix) & 1u) != 0u) {
      let size = head_packet(s, (*c).node, port, class_ix).w & SIZE_MASK;
      if (queues[q].deficit >= size) {
        queues[q].deficit -= size;
        break;
      }
    }
    class_ix += 1u;
    if (class_ix >= params[s].n_queues) { class_ix = params[s].first_weighted; }
    let following = queue_of(s, port, class_ix);
    if (((eligible >> class_ix) & 1u) != 0u) {
      queues[following].deficit += params[s].quantum[class_ix];
    } else {
      queues[following].deficit = 0u;
    }
  }
  ports[port].weighted = class_ix;
  return class_ix;
}

// Starts the next frame of `port` at `now`. Returns false (stalled) if its ring is full.
fn transmit(c: ptr<function, Ctx>, port: u32, now: u32) -> bool {
  // A PFC frame that waits is served first.
  if (!can_send(c, port, select(1u, 0u, (ports[port].nonempty & 1u) != 0u))) { return false; }
  let class_ix = choose(c, port, now);
  let taken = dequeue(c, port, class_ix, now);
  (*c).last = max((*c).last, now);
  (*c).work += 2u;
  if (class_ix == 0u) {
    let pfc = queue_of((*c).scenario, port, taken.packet.z);
    if (((taken.packet.w >> KIND_SHIFT) & 7u) == KIND_XOFF) { queues[pfc].xoff_sent += 1u; } else { queues[pfc].xon_sent += 1u; }
    send_control(c, port, taken.packet, now);
    return true;
  }
  let ordinal = ports[port].ordinal + 1u;
  ports[port].ordinal = ordinal;
  var packet = taken.packet;
  let s = (*c).scenario;
  if (((params[s].ecn >> class_ix) & 1u) != 0u && (packet.w & CE_BIT) == 0u) {
    let q = queue_of(s, port, class_ix);
    if (marks(c, port, queues[q].bytes, ordinal)) {
      packet.w |= CE_BIT;
      queues[q].marked += 1u;
    }
  }
  send_packet(c, port, packet, ordinal, now);
  release_buffer(c, taken.ingress, class_ix, packet.w & SIZE_MASK, now);
  if (nodes[(*c).node].ordered != 0u) { reschedule(c, taken.ingress); }
  return true;
}

// Ordered: keeps one valid egress event a port in the heap.
fn reschedule(c: ptr<function, Ctx>, port: u32) {
  schedule_port(c, port, next_start(c, port));
}

// Sends what `port` starts before `until`. Returns false if it had to stop.
fn advance(c: ptr<function, Ctx>, port: u32, until: u32) -> bool {
  var start = next_start(c, port);
  while (start < until) {
    if (!transmit(c, port, start)) { return false; }
    start = next_start(c, port);
    (*c).work += 1u;
  }
  return true;
}

// Egress port of a packet at this switch, NIL if it has none. Flow row in topo: destination leaf and port, source leaf and port, hashes, path, id.
fn route(c: ptr<function, Ctx>, packet: vec4<u32>) -> u32 {
  let n = (*c).node;
  let back = ((packet.w >> KIND_SHIFT) & 7u) != KIND_DATA;
  let row = topo[(*c).scenario] + 8u * packet.y;
  let side = select(0u, 2u, back);
  let leaf = topo[row + side];
  if (leaf == NIL) { return NIL; }
  if (leaf == nodes[n].leaf) { return topo[row + side + 1u]; }
  let path = topo[row + 6u];
  if (path != NIL) {
    // Pinned: (count data, count ack, data ports, ack ports); the one that belongs to this switch.
    var at = path + 2u;
    var count = topo[path];
    if (back) {
      at += count;
      count = topo[path + 1u];
    }
    for (var i = 0u; i < count; i++) {
      let port = topo[at + i];
      if (ports[port].node == n) { return port; }
    }
  }
  let group = topo[nodes[n].route_row + leaf];
  if (group == NIL) { return NIL; }
  let size = topo[group];
  if (size == 0u) { return NIL; }
  let hash = topo[row + select(4u, 5u, back)];
  return topo[group + 1u + fmix(hash ^ nodes[n].hash_seed) % size];
}

// Handles the next arrival on `port`, due at `now`. Returns false if it had to stop before it.
fn arrive(c: ptr<function, Ctx>, port: u32, now: u32) -> bool {
  if (!has_room(c, 2u)) { return false; }
  let head = ports[port].in_head;
  var packet = rings[ports[port].in_off + (head & ports[port].in_mask)];
  let egress = route(c, packet);
  let ordered = nodes[(*c).node].ordered != 0u;
  let known = egress != NIL;
  if (known && !ordered && !advance(c, egress, now)) { return false; }
  if (!has_room(c, 2u)) { return false; }
  let s = (*c).scenario;
  let eager = known && (params[s].flags & EAGER_START) != 0u && ports[egress].busy < now;
  if (eager && !(can_send(c, egress, 0u) && can_send(c, egress, 1u))) { return false; }
  if (head == ports[port].in_head_pub) { touch(c, port); }
  ports[port].in_head = head + 1u;
  (*c).last = max((*c).last, now);
  let size = packet.w & SIZE_MASK;
  let class_ix = class_of(packet);
  count_received(c, port, class_ix, size);
  if (!known) {
    drop_at(queue_of(s, port, class_ix), size);
    return true;
  }
  if (!admit(c, port, egress, class_ix, size)) { return true; }
  packet.x = now + cut_through_wait(c, port, egress, size);
  enqueue_egress(c, egress, class_ix, packet, port, now);
  check_xoff(c, port, class_ix, now);
  if (eager && next_start(c, egress) <= now) { transmit(c, egress, now); }
  if (ordered) {
    reschedule(c, egress);
    reschedule(c, port);
  }
  return true;
}

// From the arrival of a frame to when its transmission can start: with cut-through the slower link sets the pace.
fn cut_through_wait(c: ptr<function, Ctx>, port: u32, egress: u32, size: u32) -> u32 {
  if (nodes[(*c).node].cut_through == 0u) { return 0u; }
  let s = (*c).scenario;
  let wire_bytes = size + params[s].gap_bytes;
  let in_time = duration(ports[port].in_byte_time, wire_bytes, params[s].grain);
  return in_time - min(in_time, duration(ports[egress].byte_time, wire_bytes, params[s].grain));
}

fn arrival_key(c: ptr<function, Ctx>, port: u32) -> u32 {
  if ((params[(*c).scenario].flags & TIE_BY_FLOW) == 0u) { return EVENT_ARRIVAL | port; }
  let flow = rings[ports[port].in_off + (ports[port].in_head & ports[port].in_mask)].y;
  return EVENT_ARRIVAL | topo[topo[(*c).scenario] + 8u * flow + 7u];
}

// Most bytes that the channel into `port` can still deliver in this window.
fn inflow(c: ptr<function, Ctx>, port: u32) -> u32 {
  let waiting = ports[port].in_tail_seen - ports[port].in_head;
  let p = (*c).scenario;
  let frame = params[p].mtu + params[p].data_header + params[p].first_extra;
  return min(waiting * frame, ports[port].window_bytes);
}

// Merges the ports notified in the window before into the ingress mask.
fn merge_inbox(c: ptr<function, Ctx>) {
  let n = (*c).node;
  let words = nodes[n].mask_words;
  let inbox = nodes[n].mask_off + (*c).parity * words;
  let kept = nodes[n].mask_off + KEPT * words;
  for (var w = 0u; w < words; w++) {
    let fresh = atomicLoad(&sync[inbox + w]);
    if (fresh != 0u) {
      atomicStore(&sync[inbox + w], 0u);
      atomicOr(&sync[kept + w], fresh);
    }
  }
}

// Takes in what was notified. Returns false if nothing is due in this window.
fn open_switch(c: ptr<function, Ctx>) -> bool {
  if ((*c).notified != 0u) { merge_inbox(c); }
  if ((*c).next >= (*c).end) { return false; }
  atomicStore(&sync[clock_word(ACTIVE, (*c).node)], 1u);
  return true;
}

// Fills the heap with the first PFC effect and arrival of every port in the ingress mask. Returns the most bytes that can arrive.
fn gather(c: ptr<function, Ctx>) -> u32 {
  let n = (*c).node;
  let words = nodes[n].mask_words;
  let kept = nodes[n].mask_off + KEPT * words;
  var total = 0u;
  for (var w = 0u; w < words; w++) {
    var mask = atomicLoad(&sync[kept + w]);
    while (mask != 0u) {
      (*c).work += 1u;
      let port = nodes[n].first_port + 32u * w + countTrailingZeros(mask);
      mask &= mask - 1u;
      let pause = pfc_time(port);
      if (pause < (*c).end) { heap_push(c, vec4<u32>(pause, EVENT_PFC | port, port, 0u)); }
      let at = arrival_time(port);
      if (at < (*c).end) {
        heap_push(c, vec4<u32>(at, arrival_key(c, port), port, 0u));
        total += inflow(c, port);
      }
    }
  }
  return total;
}

// True if no threshold can be crossed in this window, whatever the order of arrivals and departures.
fn is_calm(c: ptr<function, Ctx>, incoming: u32) -> bool {
  let n = (*c).node;
  if (nodes[n].n_xoff != 0u) { return false; }
  let p = (*c).scenario;
  let taken = nodes[n].shared_bytes + incoming;
  if (taken >= nodes[n].pool_bytes) { return false; }
  let free = nodes[n].pool_bytes - taken;
  let all = (2u << (params[p].n_queues - 1u)) - 2u;
  if ((params[p].lossless & all) != all && nodes[n].used_bytes + incoming > share(nodes[n].alpha_min, free)) { return false; }
  let words = nodes[n].mask_words;
  let kept = nodes[n].mask_off + KEPT * words;
  for (var w = 0u; w < words; w++) {
    var mask = atomicLoad(&sync[kept + w]);
    while (mask != 0u) {
      (*c).work += 1u;
      let port = nodes[n].first_port + 32u * w + countTrailingZeros(mask);
      mask &= mask - 1u;
      if (ports[port].ingress_bytes + inflow(c, port) >= share(ports[port].alpha, free)) { return false; }
    }
  }
  return true;
}

fn schedule_egress(c: ptr<function, Ctx>) {
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
      reschedule(c, port);
    }
  }
}

// Handles the smallest event of the heap.
fn handle_event(c: ptr<function, Ctx>) {
  let event = pool[nodes[(*c).node].heap_off];
  let now = event.x;
  let port = event.z;
  let kind = event.y & EVENT_KIND;
  if (kind == EVENT_EGRESS) {
    heap_pop(c);
    if (ports[port].sched != now) { return; }
    ports[port].sched = INF;
    if (next_start(c, port) <= now && !transmit(c, port, now)) { return; }
    reschedule(c, port);
    return;
  }
  if (kind == EVENT_PFC) {
    if (nodes[(*c).node].ordered == 0u && !advance(c, port, now)) { return; }
    take_control(c, port, now);
    (*c).last = max((*c).last, now);
    replace_event(c, pfc_time(port), EVENT_PFC | port, port);
    if (nodes[(*c).node].ordered != 0u) { reschedule(c, port); }
    return;
  }
  if (!arrive(c, port, now)) { return; }
  // Events that the arrival added are egress decisions, which order behind it: it is still the smallest entry.
  replace_event(c, arrival_time(port), arrival_key(c, port), port);
}

// Earliest arrival on the ports in a word of the ingress mask, which start at `first`; takes out those that expect nothing.
fn next_arrivals(c: ptr<function, Ctx>, word: u32, first: u32) -> u32 {
  let known = atomicLoad(&sync[word]);
  var still = known;
  var mask = known;
  var next = INF;
  while (mask != 0u) {
    (*c).work += 1u;
    let i = countTrailingZeros(mask);
    mask &= mask - 1u;
    let at = min(arrival_time(first + i), pfc_time(first + i));
    if (at == INF) { still &= ~(1u << i); }
    next = min(next, at);
  }
  if (still != known) { atomicStore(&sync[word], still); }
  return next;
}

// Sends what is left to send in the window, clears masks of idle ports, finds the next event.
fn finish_window(c: ptr<function, Ctx>) {
  let n = (*c).node;
  let words = nodes[n].mask_words;
  let kept = nodes[n].mask_off + KEPT * words;
  let egress = nodes[n].mask_off + EGRESS * words;
  var next = INF;
  for (var w = 0u; w < words; w++) {
    let waiting = atomicLoad(&sync[egress + w]);
    var still = waiting;
    var mask = waiting;
    while (mask != 0u) {
      (*c).work += 1u;
      let i = countTrailingZeros(mask);
      mask &= mask - 1u;
      let port = nodes[n].first_port + 32u * w + i;
      if ((*c).work > turn.budget || (nodes[n].ordered == 0u && !advance(c, port, (*c).end))) { return; }
      let start = next_start(c, port);
      if (start == INF && ports[port].nonempty == 0u) {
        still &= ~(1u << i);
        ports[port].sched = INF;
      }
      next = min(next, start);
    }
    if (still != waiting) { atomicStore(&sync[egress + w], still); }
    next = min(next, next_arrivals(c, kept + w, nodes[n].first_port + 32u * w));
  }
  atomicStore(&sync[clock_word(NEXT, n)], next);
  nodes[n].unfinished = 0u;
}

@compute @workgroup_size(64)
fn step_switches(@builtin(global_invocation_id) gid: vec3<u32>) {
  let n = gid.x + turn.n_endpoints;
  if (n >= turn.n_nodes) { return; }
  if (is_quiet(n) || has_credits(nodes[n].scenario)) { return; }
  var c = open_window(n);
  if (!open_switch(&c)) { return; }
  let incoming = gather(&c);
  if (nodes[n].unfinished == 0u) { nodes[n].ordered = select(1u, 0u, is_calm(&c, incoming)); }
  nodes[n].unfinished = 1u;
  if (nodes[n].ordered != 0u) { schedule_egress(&c); }
  // The set-up above is bounded by the number of ports; from here on the budget counts, so that every dispatch gets on.
  c.work = 0u;
  while (c.heap > 0u && c.stalled == 0u) {
    if (c.work > turn.budget) { c.stalled = 1u; }
    else {
      c.work += 2u;
      handle_event(&c);
    }
  }
  if (c.stalled == 0u) { finish_window(&c); }
  close_window(&c);
}
