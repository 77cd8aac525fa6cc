// Event heap of a switch, rebuilt at every window from rings and ports. Entry: (near time, kind and tie key, port, -), smallest first.
const EVENT_PFC: u32 = 0u;
const EVENT_ARRIVAL: u32 = 0x40000000u;
const EVENT_EGRESS: u32 = 0x80000000u;
const EVENT_KIND: u32 = 0xc0000000u;

fn before(a: vec4<u32>, b: vec4<u32>) -> bool {
  if (a.x != b.x) { return a.x < b.x; }
  if (a.y != b.y) { return a.y < b.y; }
  return a.z < b.z;
}

fn heap_push(c: ptr<function, Ctx>, entry: vec4<u32>) {
  let off = nodes[(*c).node].heap_off;
  var i = (*c).heap;
  if (i >= nodes[(*c).node].heap_cap) {
    // Superseded egress events fill it: go on in the next dispatch, which builds it anew.
    (*c).stalled = 1u;
    return;
  }
  (*c).heap = i + 1u;
  while (i > 0u) {
    let up = (i - 1u) >> 1u;
    let other = pool[off + up];
    if (!before(entry, other)) { break; }
    pool[off + i] = other;
    i = up;
    (*c).work += 1u;
  }
  pool[off + i] = entry;
}

// Puts `entry` in place of the smallest one.
fn heap_replace(c: ptr<function, Ctx>, entry: vec4<u32>) {
  let off = nodes[(*c).node].heap_off;
  let count = (*c).heap;
  var i = 0u;
  loop {
    var down = 2u * i + 1u;
    if (down >= count) { break; }
    var least = pool[off + down];
    if (down + 1u < count) {
      let right = pool[off + down + 1u];
      if (before(right, least)) {
        least = right;
        down += 1u;
      }
    }
    if (!before(least, entry)) { break; }
    pool[off + i] = least;
    i = down;
    (*c).work += 1u;
  }
  pool[off + i] = entry;
}

fn heap_pop(c: ptr<function, Ctx>) {
  let count = (*c).heap - 1u;
  (*c).heap = count;
  if (count > 0u) { heap_replace(c, pool[nodes[(*c).node].heap_off + count]); }
}

// Puts the next event of the same kind in place of the smallest one, if it comes in this window.
fn replace_event(c: ptr<function, Ctx>, at: u32, key: u32, port: u32) {
  if (at < (*c).end) { heap_replace(c, vec4<u32>(at, key, port, 0u)); } else { heap_pop(c); }
}

// Looks at the egress of a port at `at`, unless it is to be looked at sooner: one valid egress event a port is in the heap.
fn schedule_port(c: ptr<function, Ctx>, port: u32, at: u32) {
  if (at >= ports[port].sched) { return; }
  ports[port].sched = at;
  if (at < (*c).end) { heap_push(c, vec4<u32>(at, EVENT_EGRESS | port, port, 0u)); }
}
