// Packet queues: linked lists through the node's pool. An entry is two slots: the packet, and (next, ingress port, node, class there).

fn queue_of(scenario: u32, port: u32, class_ix: u32) -> u32 {
  return port * params[scenario].queue_stride + class_ix;
}

fn class_of(packet: vec4<u32>) -> u32 {
  return (packet.w >> CLASS_SHIFT) & 15u;
}

// Brings the queue integral to `now`; call before every change of `bytes`.
fn integrate(q: u32, now: u32) {
  let bytes = queues[q].bytes;
  if (bytes != 0u) {
    let m = mul64(bytes, now - queues[q].since);
    var area = queues[q].area;
    area.x += m.x;
    var carry = select(0u, 1u, area.x < m.x);
    let mid = area.y + m.y;
    let over = select(0u, 1u, mid < m.y);
    area.y = mid + carry;
    carry = over + select(0u, 1u, area.y < carry);
    area.z += carry;
    queues[q].area = area;
  }
  queues[q].since = now;
}

// True if the node's pool has room for k more packets; if not, asks the host to grow it.
fn has_room(c: ptr<function, Ctx>, k: u32) -> bool {
  let n = (*c).node;
  if (nodes[n].pool_used + k <= nodes[n].pool_cap) { return true; }
  (*c).stalled = 1u;
  atomicOr(&sync[(*c).block + S_NEED], 2u);
  return false;
}

fn new_entry(c: ptr<function, Ctx>, packet: vec4<u32>, ingress: u32, class_in: u32) -> u32 {
  let n = (*c).node;
  let off = nodes[n].pool_off;
  var i = nodes[n].free_head;
  if (i == NIL) {
    i = nodes[n].fresh;
    nodes[n].fresh = i + 1u;
  } else {
    nodes[n].free_head = pool[off + 2u * i + 1u].x;
  }
  nodes[n].pool_used += 1u;
  pool[off + 2u * i] = packet;
  pool[off + 2u * i + 1u] = vec4<u32>(NIL, ingress, n, class_in);
  return i;
}

struct Taken { packet: vec4<u32>, next: u32, ingress: u32, class_in: u32 }

fn free_entry(c: ptr<function, Ctx>, i: u32) -> Taken {
  let n = (*c).node;
  let off = nodes[n].pool_off;
  let packet = pool[off + 2u * i];
  let entry = pool[off + 2u * i + 1u];
  pool[off + 2u * i + 1u].x = nodes[n].free_head;
  nodes[n].free_head = i;
  nodes[n].pool_used -= 1u;
  return Taken(packet, entry.x, entry.y, entry.w);
}

fn grow_queue(q: u32, size: u32, now: u32) {
  integrate(q, now);
  let bytes = queues[q].bytes + size;
  queues[q].bytes = bytes;
  queues[q].max_bytes = max(queues[q].max_bytes, bytes);
}

fn enqueue(c: ptr<function, Ctx>, port: u32, class_ix: u32, packet: vec4<u32>, ingress: u32, now: u32) {
  let off = nodes[(*c).node].pool_off;
  let i = new_entry(c, packet, ingress, class_ix);
  let q = queue_of((*c).scenario, port, class_ix);
  if (queues[q].head == NIL) {
    queues[q].head = i;
    ports[port].nonempty |= 1u << class_ix;
  } else {
    pool[off + 2u * queues[q].tail + 1u].x = i;
  }
  queues[q].tail = i;
  grow_queue(q, packet.w & SIZE_MASK, now);
}

fn dequeue(c: ptr<function, Ctx>, port: u32, class_ix: u32, now: u32) -> Taken {
  let q = queue_of((*c).scenario, port, class_ix);
  let taken = free_entry(c, queues[q].head);
  queues[q].head = taken.next;
  if (taken.next == NIL) { ports[port].nonempty &= ~(1u << class_ix); }
  integrate(q, now);
  queues[q].bytes -= taken.packet.w & SIZE_MASK;
  return taken;
}

fn head_packet(scenario: u32, node: u32, port: u32, class_ix: u32) -> vec4<u32> {
  return pool[nodes[node].pool_off + 2u * queues[queue_of(scenario, port, class_ix)].head];
}
