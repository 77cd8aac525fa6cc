// Channels: a ring of packets in flight a direction, and one of PFC frames. The sender owns the tail, the receiver the head; what
// the other side may see of both is published between windows by `clock`.

fn clock_word(kind: u32, node: u32) -> u32 {
  return turn.clock_off + kind * turn.n_nodes + node;
}

// Remembers a port whose rings changed in this window.
fn touch(c: ptr<function, Ctx>, port: u32) {
  let n = (*c).node;
  if (nodes[n].mask_off == NIL) { return; }
  let local = ports[port].local;
  atomicOr(&sync[nodes[n].mask_off + TO_PUBLISH * nodes[n].mask_words + (local >> 5u)], 1u << (local & 31u));
}

// Tells the receiver that something arrives at `at`; once a window and ring is enough, the first arrival is the earliest.
fn notify(c: ptr<function, Ctx>, port: u32, at: u32) {
  let other = 1u - (*c).parity;
  let w = clock_word(INBOX + other, ports[port].peer_node);
  if (at < atomicLoad(&sync[w])) { atomicMin(&sync[w], at); }
  let m = ports[port].peer_mask_word;
  if (m != NIL) { atomicOr(&sync[m + other * ports[port].peer_mask_stride], ports[port].peer_mask_bit); }
}

// True if the ring that class 0 (PFC) or any other class uses has room for a frame; if not, asks the host to grow it.
fn can_send(c: ptr<function, Ctx>, port: u32, class_ix: u32) -> bool {
  if (class_ix == 0u) {
    if (ports[port].pfc_out_tail - ports[port].pfc_out_head_seen <= ports[port].pfc_out_mask) { return true; }
    ports[port].need |= 2u;
  } else {
    if (ports[port].out_tail - ports[port].out_head_seen <= ports[port].out_mask) { return true; }
    ports[port].need |= 1u;
  }
  (*c).stalled = 1u;
  atomicOr(&sync[(*c).block + S_NEED], 1u);
  return false;
}

fn count_sent(c: ptr<function, Ctx>, port: u32, class_ix: u32, size: u32) {
  let q = queue_of((*c).scenario, port, class_ix);
  queues[q].tx_packets = add64u(queues[q].tx_packets, 1u);
  queues[q].tx_bytes = add64u(queues[q].tx_bytes, size);
  nodes[(*c).node].hops += 1u;
}

fn count_received(c: ptr<function, Ctx>, port: u32, class_ix: u32, size: u32) {
  let q = queue_of((*c).scenario, port, class_ix);
  queues[q].rx_packets = add64u(queues[q].rx_packets, 1u);
  queues[q].rx_bytes = add64u(queues[q].rx_bytes, size);
}

// Puts a frame of class 0 on the wire at `now`: PFC, or flow control by credits.
fn send_control(c: ptr<function, Ctx>, port: u32, packet: vec4<u32>, now: u32) {
  let size = packet.w & SIZE_MASK;
  let p = (*c).scenario;
  let wire = duration(ports[port].byte_time, size + params[p].gap_bytes, params[p].grain);
  if (has_credits(p)) {
    count_wait(c, port, now);
    wires[port].wait_from = far(c, now + wire);
  }
  ports[port].busy = now + wire;
  count_sent(c, port, 0u, size);
  if (ports[port].down != 0u) { return; }
  let at = now + wire + ports[port].pfc_delay;
  let tail = ports[port].pfc_out_tail;
  rings[ports[port].pfc_out_off + (tail & ports[port].pfc_out_mask)] = vec4<u32>(at, packet.y, packet.z, packet.w);
  if (tail == ports[port].pfc_out_tail_pub) {
    touch(c, port);
    notify(c, port, at);
  }
  ports[port].pfc_out_tail = tail + 1u;
}

// Puts any other frame on the wire at `now`; `ordinal` counts them at this port.
fn send_packet(c: ptr<function, Ctx>, port: u32, packet: vec4<u32>, ordinal: u32, now: u32) {
  let size = packet.w & SIZE_MASK;
  let p = (*c).scenario;
  let wire = duration(ports[port].byte_time, size + params[p].gap_bytes, params[p].grain);
  let class_ix = class_of(packet);
  let credits = has_credits(p);
  if (credits) {
    count_wait(c, port, now);
    wires[port].wait_from = far(c, now + wire);
    let q = queue_of(p, port, class_ix);
    lanes[q].fctbs = (lanes[q].fctbs + blocks_of(size)) & CREDIT_MASK;
  }
  ports[port].busy = now + wire;
  count_sent(c, port, class_ix, size);
  if (((packet.w >> KIND_SHIFT) & 7u) == KIND_DATA) { nodes[(*c).node].data_hops += 1u; }
  let every = ports[port].drop_every;
  let loss = ports[port].loss;
  var flags = packet.w;
  if ((every | loss | ports[port].down) != 0u) {
    if (ports[port].down != 0u) {
      ports[port].lost += 1u;
      return;
    }
    var lost = loss != 0u && draw(params[p].seed, ports[port].draw_id, ordinal, 1u) < loss;
    if (every != 0u && ordinal % every == 0u) { lost = true; }
    if (lost && !credits) {
      ports[port].lost += 1u;
      return;
    }
    if (lost) { flags |= CORRUPT_BIT; }
  }
  let at = now + select(wire, 0u, ports[port].peer_cuts != 0u) + ports[port].delay;
  let tail = ports[port].out_tail;
  rings[ports[port].out_off + (tail & ports[port].out_mask)] = vec4<u32>(at, packet.y, packet.z, flags);
  if (tail == ports[port].out_tail_pub) {
    touch(c, port);
    notify(c, port, at);
  }
  ports[port].out_tail = tail + 1u;
}

// Near time of the next arrival on a port, INF if none is known.
fn arrival_time(port: u32) -> u32 {
  let head = ports[port].in_head;
  if (head == ports[port].in_tail_seen) { return INF; }
  return rings[ports[port].in_off + (head & ports[port].in_mask)].x;
}

fn pfc_time(port: u32) -> u32 {
  let head = ports[port].pfc_in_head;
  if (head == ports[port].pfc_in_tail_seen) { return INF; }
  return rings[ports[port].pfc_in_off + (head & ports[port].pfc_in_mask)].x;
}

// Takes the next frame of class 0 off the wire and lets it act.
fn take_control(c: ptr<function, Ctx>, port: u32, now: u32) {
  let head = ports[port].pfc_in_head;
  let packet = rings[ports[port].pfc_in_off + (head & ports[port].pfc_in_mask)];
  if (head == ports[port].pfc_in_head_pub) { touch(c, port); }
  ports[port].pfc_in_head = head + 1u;
  count_received(c, port, 0u, packet.w & SIZE_MASK);
  if (has_credits((*c).scenario)) { take_credits(c, port, packet, now); } else { take_pfc(c, port, packet, now); }
}

fn take_pfc(c: ptr<function, Ctx>, port: u32, packet: vec4<u32>, now: u32) {
  let q = queue_of((*c).scenario, port, packet.z);
  let bit = 1u << packet.z;
  let was = (ports[port].paused & bit) != 0u;
  if (((packet.w >> KIND_SHIFT) & 7u) == KIND_XOFF) {
    queues[q].xoff_received += 1u;
    if (!was) {
      ports[port].paused |= bit;
      queues[q].paused_since = now;
    }
  } else {
    queues[q].xon_received += 1u;
    if (was) {
      ports[port].paused &= ~bit;
      ports[port].gate = now;
      queues[q].paused_ps = add64u(queues[q].paused_ps, now - queues[q].paused_since);
    }
  }
}
