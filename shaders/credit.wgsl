// InfiniBand's flow control (model text, "Flow control"): credits by virtual lane, in blocks of 64 bytes.
const CREDIT_MASK: u32 = 4095u;
const MOST_CREDITS: u32 = 2048u;

fn has_credits(scenario: u32) -> bool {
  return (params[scenario].flags & CREDITS) != 0u;
}

fn blocks_of(bytes: u32) -> u32 {
  return (bytes + 63u) >> 6u;
}

// True if the peer has room for a frame on the lane of queue q.
fn fits(port: u32, q: u32, blocks: u32) -> bool {
  if (ports[port].down != 0u) { return true; }
  return ((2u * (CREDIT_MASK + 1u) + lanes[q].fccl - lanes[q].fctbs - blocks) & CREDIT_MASK) <= MOST_CREDITS;
}

fn take_blocks(q: u32, blocks: u32) {
  lanes[q].abr = (lanes[q].abr + blocks) & CREDIT_MASK;
  let used = lanes[q].used + blocks;
  lanes[q].used = used;
  lanes[q].max_blocks = max(lanes[q].max_blocks, used);
}

// Frees receive buffer; the sender is told at once or at a deadline.
fn free_blocks(c: ptr<function, Ctx>, port: u32, class_ix: u32, blocks: u32, now: u32) {
  let s = (*c).scenario;
  let q = queue_of(s, port, class_ix);
  let bit = 1u << class_ix;
  lanes[q].used -= blocks;
  let owed = lanes[q].owed + blocks;
  lanes[q].owed = owed;
  var at = now;
  if (owed >= params[s].fc_threshold) {
    wires[port].pending |= bit;
    wires[port].due &= ~bit;
  } else if (((wires[port].pending | wires[port].due) & bit) == 0u) {
    wires[port].due |= bit;
    at = now + params[s].fc_interval;
    lanes[q].fc_due = at;
  }
  if (nodes[(*c).node].mask_off != NIL) {
    ports[port].gate = now;
    wake_port(c, port, at);
  }
}

// Looks at a port of a switch once it is free, at `at` or later.
fn wake_port(c: ptr<function, Ctx>, port: u32, at: u32) {
  mark_busy(c, port);
  schedule_port(c, port, max(at, ports[port].busy));
}

// Earliest deadline of a port, INF if none.
fn next_due(c: ptr<function, Ctx>, port: u32) -> u32 {
  var at = INF;
  var todo = wires[port].due;
  while (todo != 0u) {
    at = min(at, lanes[queue_of((*c).scenario, port, countTrailingZeros(todo))].fc_due);
    todo &= todo - 1u;
  }
  return at;
}

// Lanes whose deadline has come must advertise their credits.
fn pass_deadlines(c: ptr<function, Ctx>, port: u32, now: u32) {
  var todo = wires[port].due;
  while (todo != 0u) {
    let class_ix = countTrailingZeros(todo);
    todo &= todo - 1u;
    if (lanes[queue_of((*c).scenario, port, class_ix)].fc_due <= now) {
      wires[port].due &= ~(1u << class_ix);
      wires[port].pending |= 1u << class_ix;
    }
  }
}

// Sends the flow-control packet of the lowest lane that must.
fn advertise(c: ptr<function, Ctx>, port: u32, now: u32) {
  let s = (*c).scenario;
  let class_ix = countTrailingZeros(wires[port].pending);
  let q = queue_of(s, port, class_ix);
  wires[port].pending &= ~(1u << class_ix);
  wires[port].due &= ~(1u << class_ix);
  lanes[q].owed = 0u;
  lanes[q].fc_sent += 1u;
  let fccl = (lanes[q].abr + min(wires[port].buffer_blocks - lanes[q].used, MOST_CREDITS)) & CREDIT_MASK;
  (*c).last = max((*c).last, now);
  send_control(c, port, vec4<u32>(now, lanes[q].fctbs | (fccl << 16u), class_ix, params[s].pfc_bytes | (KIND_CREDITS << KIND_SHIFT)), now);
}

// A flow-control packet takes effect.
fn take_credits(c: ptr<function, Ctx>, port: u32, packet: vec4<u32>, now: u32) {
  let q = queue_of((*c).scenario, port, packet.z);
  lanes[q].fc_received += 1u;
  if (nodes[(*c).node].mask_off != NIL && ((ports[port].nonempty >> packet.z) & 1u) != 0u) {
    let head = candidate(c, port, packet.z);
    if (head.x <= now && !fits(port, q, blocks_of(head.w & SIZE_MASK))) { lanes[q].starved = 1u; }
  }
  lanes[q].abr = packet.y & 0xffffu;
  lanes[q].fccl = packet.y >> 16u;
  ports[port].gate = now;
}
