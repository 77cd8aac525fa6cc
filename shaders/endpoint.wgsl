// One invocation per endpoint and window: pauses, arrivals, releases, timers and egress decisions in time order.

fn open_window(n: u32) -> Ctx {
  var c: Ctx;
  c.node = n;
  c.scenario = nodes[n].scenario;
  c.block = c.scenario * SCENARIO_WORDS;
  c.parity = turn.parity;
  c.base = vec2<u32>(atomicLoad(&sync[c.block + S_BASE]), atomicLoad(&sync[c.block + S_BASE + 1u]));
  c.end = window_end(c.block);
  let word = clock_word(INBOX + turn.parity, n);
  let inbox = atomicLoad(&sync[word]);
  c.next = atomicLoad(&sync[clock_word(NEXT, n)]);
  if (inbox != INF) {
    c.notified = 1u;
    atomicStore(&sync[word], INF);
    if (inbox < c.next) {
      c.next = inbox;
      atomicStore(&sync[clock_word(NEXT, n)], inbox);
    }
  }
  return c;
}

// Near end of the window of the scenario with this block.
fn window_end(block: u32) -> u32 {
  return min(atomicLoad(&sync[block + S_TIME + turn.parity]) + atomicLoad(&sync[block + S_WINDOW]), atomicLoad(&sync[block + S_LIMIT]));
}

// True if node n has nothing to do in this window, and nothing was sent to it.
fn is_quiet(n: u32) -> bool {
  let block = atomicLoad(&sync[clock_word(OWNER, n)]) * SCENARIO_WORDS;
  return atomicLoad(&sync[clock_word(INBOX + turn.parity, n)]) == INF && atomicLoad(&sync[clock_word(NEXT, n)]) >= window_end(block);
}

fn close_window(c: ptr<function, Ctx>) {
  if ((*c).last != 0u) {
    let at = far(c, (*c).last);
    if (lt64(nodes[(*c).node].last_event, at)) { nodes[(*c).node].last_event = at; }
  }
}

// First queue of answers that no pause holds back, 0 if none.
fn answer_class(c: ptr<function, Ctx>, port: u32) -> u32 {
  var mask = ports[port].nonempty;
  if ((params[(*c).scenario].flags & ACK_IGNORES_PAUSE) == 0u) { mask &= ~ports[port].paused; }
  if (mask == 0u) { return 0u; }
  return countTrailingZeros(mask);
}

// First queue of answers whose head has credits, 0 if none.
fn answer_lane(c: ptr<function, Ctx>, port: u32) -> u32 {
  var todo = ports[port].nonempty;
  while (todo != 0u) {
    let class_ix = countTrailingZeros(todo);
    todo &= todo - 1u;
    let size = head_packet((*c).scenario, (*c).node, port, class_ix).w & SIZE_MASK;
    if (fits(port, queue_of((*c).scenario, port, class_ix), blocks_of(size))) { return class_ix; }
  }
  return 0u;
}

// The egress decision at `now`. Returns false if nothing was sent.
fn decide(c: ptr<function, Ctx>, port: u32, now: u32) -> bool {
  var class_ix = 0u;
  if (has_credits((*c).scenario)) {
    pass_deadlines(c, port, now);
    if (wires[port].pending != 0u) {
      advertise(c, port, now);
      return true;
    }
    class_ix = answer_lane(c, port);
  } else {
    class_ix = answer_class(c, port);
  }
  if (class_ix == 0u) { return serve_flows(c, port, now); }
  let taken = dequeue(c, port, class_ix, now);
  let ordinal = ports[port].ordinal + 1u;
  ports[port].ordinal = ordinal;
  send_packet(c, port, taken.packet, ordinal, now);
  return true;
}

// Takes the next frame off the link. Returns true if an egress decision follows.
fn take_frame(c: ptr<function, Ctx>, port: u32, now: u32) -> bool {
  let n = (*c).node;
  let head = ports[port].in_head;
  let packet = rings[ports[port].in_off + (head & ports[port].in_mask)];
  ports[port].in_head = head + 1u;
  let class_ix = class_of(packet);
  let size = packet.w & SIZE_MASK;
  let credits = has_credits((*c).scenario);
  if (credits) { take_blocks(queue_of((*c).scenario, port, class_ix), blocks_of(size)); }
  let corrupt = (packet.w & CORRUPT_BIT) != 0u;
  let before_flows = nodes[n].n_sendable;
  var look = false;
  if (corrupt) {
    wires[port].corrupt += 1u;
  } else {
    count_received(c, port, class_ix, size);
    if (((packet.w >> KIND_SHIFT) & 7u) == KIND_DATA) {
      take_data(c, port, packet, now);
      look = ports[port].nonempty != 0u || nodes[n].n_sendable != before_flows;
    } else {
      look = take_answer(c, port, packet, now);
    }
  }
  if (!credits) { return look; }
  free_blocks(c, port, class_ix, blocks_of(size), now);
  return look || wires[port].pending != 0u;
}

@compute @workgroup_size(64)
fn step_endpoints(@builtin(global_invocation_id) gid: vec3<u32>) {
  let n = gid.x;
  if (n >= turn.n_endpoints) { return; }
  if (n < turn.n_scenarios) { open_next(n); }
  if (is_quiet(n)) { return; }
  var c = open_window(n);
  if (c.next >= c.end) { return; }
  atomicStore(&sync[clock_word(ACTIVE, n)], 1u);
  nodes[n].unfinished = 1u;
  let port = nodes[n].first_port;
  let always = (params[c.scenario].flags & (VARIABLE_WINDOW | HPCC_WAKEUP)) != 0u;
  let credits = has_credits(c.scenario);
  var pause_at = pfc_time(port);
  var arrive_at = arrival_time(port);
  var tx_at = near(c.base, nodes[n].tx_at);
  var release = next_release(&c);
  var release_at = near(c.base, release_time(release));
  var timer_at = near(c.base, nodes[n].timer_next);
  loop {
    let now = min(min(pause_at, arrive_at), min(min(release_at, timer_at), tx_at));
    if (now >= c.end) {
      nodes[n].unfinished = 0u;
      atomicStore(&sync[clock_word(NEXT, n)], now);
      break;
    }
    if (c.work > turn.budget) { break; }
    c.work += 4u;
    // True: an egress decision follows as soon as the port is free.
    var look = false;
    if (now == pause_at) {
      take_control(&c, port, now);
      pause_at = pfc_time(port);
      look = true;
    } else if (now == arrive_at) {
      if (!has_room(&c, 2u)) { break; }
      look = take_frame(&c, port, now) || always;
      if (credits) {
        let due = max(next_due(&c, port), ports[port].busy);
        if (due < tx_at) {
          tx_at = due;
          nodes[n].tx_at = far(&c, due);
        }
      }
      arrive_at = arrival_time(port);
      release = next_release(&c);
      release_at = near(c.base, release_time(release));
      timer_at = near(c.base, nodes[n].timer_next);
    } else if (now == release_at) {
      release_flow(&c, release);
      release = next_release(&c);
      release_at = near(c.base, release_time(release));
      look = true;
    } else if (now == timer_at) {
      look = expire_timers(&c, far(&c, now));
      timer_at = near(c.base, nodes[n].timer_next);
      if (!look) { continue; }
    } else {
      if (!can_send(&c, port, 1u) || (credits && !can_send(&c, port, 0u))) { break; }
      if (decide(&c, port, now)) {
        c.last = max(c.last, now);
        tx_at = ports[port].busy;
        nodes[n].tx_at = far(&c, tx_at);
        timer_at = near(c.base, nodes[n].timer_next);
      } else {
        nodes[n].tx_at = nodes[n].wake;
        tx_at = near(c.base, nodes[n].wake);
        if (credits && wires[port].due != 0u && next_due(&c, port) < tx_at) {
          tx_at = next_due(&c, port);
          nodes[n].tx_at = far(&c, tx_at);
        }
      }
      continue;
    }
    c.last = max(c.last, now);
    if (look) {
      let at = max(now, ports[port].busy);
      if (at < tx_at) {
        tx_at = at;
        nodes[n].tx_at = far(&c, at);
      }
    }
  }
  close_window(&c);
}
