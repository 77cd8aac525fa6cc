// The sending side of an endpoint: the list of running flows, releases, the retransmission timer, the egress decision.

// True if the flow has a next packet (model text, "Next packet of a flow"). Brings `resend` up to date.
fn has_next(c: ptr<function, Ctx>, f: u32) -> bool {
  let una = flows[f].una;
  let nxt = flows[f].nxt;
  let recovery = params[(*c).scenario].recovery;
  if (recovery == OUT_OF_ORDER) { return nxt < flows[f].n_packets && nxt - una < 128u; }
  if (recovery != SELECTIVE_REPEAT) { return nxt < flows[f].n_packets; }
  var resend = max(flows[f].resend, una);
  let high = flows[f].high;
  let held = flows[f].held;
  while (resend < high && resend > una && bit_in(held, resend - una - 1u)) {
    resend += 1u;
    (*c).work += 1u;
  }
  flows[f].resend = resend;
  return resend < high || (nxt < flows[f].n_packets && nxt - una < 128u);
}

// Keeps the endpoint's count of flows with a next packet.
fn update_sendable(c: ptr<function, Ctx>, f: u32) {
  let is = select(0u, 1u, has_next(c, f));
  nodes[(*c).node].n_sendable += is - flows[f].sendable;
  flows[f].sendable = is;
}

fn set_deadline(c: ptr<function, Ctx>, f: u32, now: vec2<u32>, wanted: bool) {
  let rto = params[(*c).scenario].rto;
  if (all(rto == vec2<u32>())) { return; }
  flows[f].has_deadline = select(0u, 1u, wanted);
  if (wanted) {
    let at = add64(now, rto);
    flows[f].deadline = at;
    let n = (*c).node;
    nodes[n].timer_next = min64(nodes[n].timer_next, at);
  }
}

// Releases flow `f` at `now`.
fn start_flow(c: ptr<function, Ctx>, f: u32, now: vec2<u32>) {
  let n = (*c).node;
  let port = nodes[n].first_port;
  let p = (*c).scenario;
  flows[f].status = RUNNING;
  flows[f].released = now;
  flows[f].next_avail = now;
  var line = ports[port].line_kbps;
  if (params[p].reaction != REACTION_NONE && params[p].rate_max != 0u) { line = min(line, params[p].rate_max); }
  flows[f].line = line;
  flows[f].rate = line;
  flows[f].goal = line;
  flows[f].window_now = flows[f].window;
  apply_rate(c, f, port);
  let tail = nodes[n].list_tail;
  flows[f].list_next = NIL;
  flows[f].list_prev = tail;
  if (tail == NIL) { nodes[n].list_head = f; } else { flows[tail].list_next = f; }
  nodes[n].list_tail = f;
  update_sendable(c, f);
}

fn end_flow(c: ptr<function, Ctx>, f: u32, status: u32, now: vec2<u32>) {
  let n = (*c).node;
  if (flows[f].cc_on != 0u) { run_timers(c, f, nodes[n].first_port, now); }
  flows[f].status = status;
  flows[f].finish = now;
  flows[f].has_deadline = 0u;
  nodes[n].n_sendable -= flows[f].sendable;
  flows[f].sendable = 0u;
  nodes[n].ended += 1u;
  let next = flows[f].list_next;
  let prev = flows[f].list_prev;
  if (prev == NIL) { nodes[n].list_head = next; } else { flows[prev].list_next = next; }
  if (next == NIL) { nodes[n].list_tail = prev; } else { flows[next].list_prev = prev; }
  if (nodes[n].list_head == NIL) { nodes[n].timer_next = NEVER; }
  if (nodes[n].list_last == f) { nodes[n].list_last = select(prev, NIL, next == NIL); }
}

// Releases the flows that waited for an event at `now`, or puts them on the list of delayed ones.
fn release_children(c: ptr<function, Ctx>, first: u32, now: vec2<u32>) {
  let n = (*c).node;
  var f = first;
  while (f != NIL) {
    (*c).work += 1u;
    if (all(flows[f].start == vec2<u32>())) {
      start_flow(c, f, now);
    } else {
      flows[f].released = add64(now, flows[f].start);
      flows[f].list_next = nodes[n].pending_head;
      nodes[n].pending_head = f;
    }
    f = flows[f].sibling;
  }
}

// The next flow to be released: by time, or from the list of delayed ones; the earliest, then the lowest index.
fn next_release(c: ptr<function, Ctx>) -> u32 {
  let n = (*c).node;
  var best = NIL;
  var cursor = nodes[n].flow_cursor;
  while (cursor < nodes[n].flow_end && flows[cursor].dependent != 0u) {
    cursor += 1u;
    (*c).work += 1u;
  }
  nodes[n].flow_cursor = cursor;
  var at = NEVER;
  if (cursor < nodes[n].flow_end) {
    best = cursor;
    at = flows[cursor].start;
  }
  var f = nodes[n].pending_head;
  while (f != NIL) {
    (*c).work += 1u;
    let t = flows[f].released;
    if (lt64(t, at) || (all(t == at) && f < best)) {
      best = f;
      at = t;
    }
    f = flows[f].list_next;
  }
  return best;
}

fn release_time(f: u32) -> vec2<u32> {
  if (f == NIL) { return NEVER; }
  if (flows[f].dependent != 0u) { return flows[f].released; }
  return flows[f].start;
}

fn release_flow(c: ptr<function, Ctx>, f: u32) {
  let n = (*c).node;
  let at = release_time(f);
  if (flows[f].dependent == 0u) {
    nodes[n].flow_cursor = f + 1u;
  } else {
    var g = nodes[n].pending_head;
    if (g == f) {
      nodes[n].pending_head = flows[f].list_next;
    } else {
      while (flows[g].list_next != f) {
        g = flows[g].list_next;
        (*c).work += 1u;
      }
      flows[g].list_next = flows[f].list_next;
    }
  }
  start_flow(c, f, at);
}

// Handles the retransmission timers due at or before `now`; returns true if one expired.
fn expire_timers(c: ptr<function, Ctx>, now: vec2<u32>) -> bool {
  let n = (*c).node;
  let p = (*c).scenario;
  var expired = false;
  var next = NEVER;
  var f = nodes[n].list_head;
  while (f != NIL) {
    (*c).work += 1u;
    let following = flows[f].list_next;
    if (flows[f].has_deadline != 0u) {
      if (!lt64(now, flows[f].deadline)) {
        expired = true;
        flows[f].timeouts += 1u;
        let retries = flows[f].retries + 1u;
        flows[f].retries = retries;
        if (retries > params[p].retry_limit) {
          end_flow(c, f, FAILED, now);
        } else {
          let una = flows[f].una;
          if (params[p].recovery == SELECTIVE_REPEAT) {
            flows[f].resend = una;
            flows[f].high = max(flows[f].high, una + 1u);
          } else if (params[p].recovery == GO_BACK_ZERO) {
            flows[f].una = 0u;
            flows[f].nxt = 0u;
          } else {
            flows[f].nxt = una;
          }
          flows[f].deadline = add64(now, params[p].rto);
          next = min64(next, flows[f].deadline);
          update_sendable(c, f);
        }
      } else {
        next = min64(next, flows[f].deadline);
      }
    }
    f = following;
  }
  nodes[n].timer_next = next;
  return expired;
}

// True if the window of flow `f` lets its next packet go.
fn in_window(c: ptr<function, Ctx>, f: u32, port: u32, now: vec2<u32>) -> bool {
  if (flows[f].window == 0u) { return true; }
  if (params[(*c).scenario].recovery == SELECTIVE_REPEAT && flows[f].resend < flows[f].high) { return true; }
  var window = flows[f].window;
  if ((params[(*c).scenario].flags & VARIABLE_WINDOW) != 0u) {
    if (flows[f].cc_on != 0u) { run_timers(c, f, port, now); }
    window = flows[f].window_now;
  }
  let packets = flows[f].nxt - flows[f].una;
  let mtu = params[(*c).scenario].mtu;
  if (packets > 0xffffffffu / mtu) { return false; }
  return packets * mtu < window;
}

// Frame bytes of a data packet.
fn data_size(c: ptr<function, Ctx>, f: u32, psn: u32) -> u32 {
  let p = (*c).scenario;
  let last = psn + 1u == flows[f].n_packets;
  let size = select(params[p].mtu, flows[f].last_payload, last) + params[p].data_header;
  return size + select(0u, params[p].first_extra, psn == 0u);
}

// True if the link does not take the next packet of the flow: its class is paused, or it lacks credits.
fn held_back(c: ptr<function, Ctx>, f: u32, port: u32) -> bool {
  let p = (*c).scenario;
  let class_ix = flows[f].class_ix;
  if (!has_credits(p)) { return ((ports[port].paused >> class_ix) & 1u) != 0u; }
  var psn = flows[f].nxt;
  if (params[p].recovery == SELECTIVE_REPEAT && flows[f].resend < flows[f].high) { psn = flows[f].resend; }
  return !fits(port, queue_of(p, port, class_ix), blocks_of(data_size(c, f, psn)));
}

fn send_data(c: ptr<function, Ctx>, f: u32, port: u32, now: u32) {
  let p = (*c).scenario;
  let at = far(c, now);
  if (flows[f].cc_on != 0u) { run_timers(c, f, port, at); }
  var psn = flows[f].nxt;
  if (params[p].recovery == SELECTIVE_REPEAT && flows[f].resend < flows[f].high) {
    psn = flows[f].resend;
    flows[f].resend = psn + 1u;
  } else {
    flows[f].nxt = psn + 1u;
  }
  let size = data_size(c, f, psn);
  flows[f].tx_packets = add64u(flows[f].tx_packets, 1u);
  if (psn < flows[f].sent_max) {
    flows[f].retx_packets = add64u(flows[f].retx_packets, 1u);
  } else {
    flows[f].sent_max = psn + 1u;
  }
  var gap = duration_wide(flows[f].byte_gap, size + params[p].gap_bytes, params[p].grain);
  if (params[p].reaction == REACTION_A10) { gap = injection_gap(c, f, duration(ports[port].byte_time, size + params[p].gap_bytes, params[p].grain), at); }
  flows[f].next_avail = add64(at, gap);
  if (flows[f].has_deadline == 0u) { set_deadline(c, f, at, true); }
  if (flows[f].cc_on != 0u) { count_bytes(c, f, port, size); }
  let class_ix = flows[f].class_ix;
  let ordinal = ports[port].ordinal + 1u;
  ports[port].ordinal = ordinal;
  send_packet(c, port, vec4<u32>(now, f, psn, size | (class_ix << CLASS_SHIFT)), ordinal, now);
  update_sendable(c, f);
}

// Like `duration`, for byte times of slow flows: up to 2^40.
fn duration_wide(byte_time: vec2<u32>, n: u32, grain: u32) -> vec2<u32> {
  let low = mul64(n, byte_time.x);
  let high = n * byte_time.y;
  let d = add64(vec2<u32>((low.x >> 16u) | (low.y << 16u), low.y >> 16u), vec2<u32>(high << 16u, high >> 16u));
  if (grain <= 1u) { return d; }
  // The part above 2^32 ps is taken modulo the grain first; grain is at most 1000, so this stays in 32 bits.
  let above = (d.y % grain) * (0xffffffffu % grain + 1u);
  return sub64(d, vec2<u32>((above + d.x % grain) % grain, 0u));
}

// Round robin over the running flows. Sends one packet and returns true, or sets the wake-up and returns false.
fn serve_flows(c: ptr<function, Ctx>, port: u32, now: u32) -> bool {
  let n = (*c).node;
  let at = far(c, now);
  let hpcc = (params[(*c).scenario].flags & HPCC_WAKEUP) != 0u;
  let last = nodes[n].list_last;
  var soonest = NEVER;
  var f = NIL;
  if (nodes[n].n_sendable != 0u) {
    f = nodes[n].list_head;
    if (last != NIL && flows[last].list_next != NIL) { f = flows[last].list_next; }
  }
  let first = f;
  while (f != NIL) {
    (*c).work += 1u;
    if (flows[f].sendable != 0u) {
      let avail = flows[f].next_avail;
      let ready = !lt64(at, avail);
      if (hpcc) { soonest = min64(soonest, avail); }
      if (!held_back(c, f, port) && (ready || !hpcc) && in_window(c, f, port, at)) {
        if (ready) {
          nodes[n].list_last = f;
          send_data(c, f, port, now);
          return true;
        }
        soonest = min64(soonest, avail);
      }
    }
    f = flows[f].list_next;
    if (f == NIL) { f = nodes[n].list_head; }
    if (f == first) { break; }
  }
  if (!hpcc) {
    nodes[n].wake = soonest;
  } else if (all(nodes[n].wake == NEVER) || !lt64(at, nodes[n].wake)) {
    nodes[n].wake = soonest;
    if (!lt64(at, soonest)) { nodes[n].wake = NEVER; }
  }
  return false;
}
