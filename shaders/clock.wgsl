// Between windows: publish rings, find the next window, and between submissions: move the epoch, settle reaction points.

// Clears what the coming window will collect; run by the step before.
fn open_next(scenario: u32) {
  let block = scenario * SCENARIO_WORDS;
  let other = 1u - turn.parity;
  atomicStore(&sync[block + S_TIME + other], atomicLoad(&sync[block + S_LIMIT]));
  atomicStore(&sync[block + S_NEXT + other], INF);
  atomicStore(&sync[block + S_UNFINISHED + other], 0u);
}

fn count64(word: u32, add: u32) {
  let old = atomicAdd(&sync[word], add);
  if (old + add < old) { atomicAdd(&sync[word + 1u], 1u); }
}

// Lets the other end of a link see what this port pushed and popped.
fn publish(port: u32) {
  let peer = ports[port].peer;
  let tail = ports[port].out_tail;
  if (tail != ports[port].out_tail_pub) {
    ports[port].out_tail_pub = tail;
    ports[peer].in_tail_seen = tail;
  }
  let head = ports[port].in_head;
  if (head != ports[port].in_head_pub) {
    ports[port].in_head_pub = head;
    ports[peer].out_head_seen = head;
  }
  let pfc_tail = ports[port].pfc_out_tail;
  if (pfc_tail != ports[port].pfc_out_tail_pub) {
    ports[port].pfc_out_tail_pub = pfc_tail;
    ports[peer].pfc_in_tail_seen = pfc_tail;
  }
  let pfc_head = ports[port].pfc_in_head;
  if (pfc_head != ports[port].pfc_in_head_pub) {
    ports[port].pfc_in_head_pub = pfc_head;
    ports[peer].pfc_out_head_seen = pfc_head;
  }
}

fn publish_node(n: u32) {
  let first = nodes[n].first_port;
  if (nodes[n].mask_off == NIL) {
    publish(first);
    return;
  }
  let masks = nodes[n].mask_off + TO_PUBLISH * nodes[n].mask_words;
  for (var w = 0u; w < nodes[n].mask_words; w++) {
    var mask = atomicLoad(&sync[masks + w]);
    if (mask == 0u) { continue; }
    atomicStore(&sync[masks + w], 0u);
    while (mask != 0u) {
      publish(first + 32u * w + countTrailingZeros(mask));
      mask &= mask - 1u;
    }
  }
}

// The next window of a scenario begins no later than an event at `next` needs.
fn offer(scenario: u32, next: u32) {
  let block = scenario * SCENARIO_WORDS;
  let other = 1u - turn.parity;
  let time = max(window_end(block), next);
  if (time < atomicLoad(&sync[block + S_TIME + other])) { atomicMin(&sync[block + S_TIME + other], time); }
  if (next < atomicLoad(&sync[block + S_NEXT + other])) { atomicMin(&sync[block + S_NEXT + other], next); }
}

// One invocation per node.
@compute @workgroup_size(64)
fn advance_clock(@builtin(global_invocation_id) gid: vec3<u32>) {
  let n = gid.x;
  if (n >= turn.n_nodes) { return; }
  let other = 1u - turn.parity;
  let ran = atomicLoad(&sync[clock_word(ACTIVE, n)]);
  let known = min(atomicLoad(&sync[clock_word(NEXT, n)]), atomicLoad(&sync[clock_word(INBOX + other, n)]));
  let scenario = atomicLoad(&sync[clock_word(OWNER, n)]);
  if (ran == 0u) {
    if (known != INF) { offer(scenario, known); }
    return;
  }
  let block = scenario * SCENARIO_WORDS;
  atomicStore(&sync[clock_word(ACTIVE, n)], 0u);
  publish_node(n);
  if (nodes[n].hops != 0u) {
    count64(block + S_HOPS, nodes[n].hops);
    count64(block + S_DATA_HOPS, nodes[n].data_hops);
    nodes[n].hops = 0u;
    nodes[n].data_hops = 0u;
  }
  if (nodes[n].ended != 0u) {
    atomicAdd(&sync[block + S_ENDED], nodes[n].ended);
    nodes[n].ended = 0u;
  }
  if (nodes[n].unfinished != 0u) {
    // The window is run again, for this node.
    let start = atomicLoad(&sync[block + S_TIME + turn.parity]);
    atomicAdd(&sync[block + S_UNFINISHED + other], 1u);
    atomicMin(&sync[block + S_TIME + other], start);
    atomicMin(&sync[block + S_NEXT + other], start);
  } else if (known != INF) {
    offer(scenario, known);
  }
}

// Moving the epoch: every near time goes down by the window start, less a margin that keeps "past" below every later instant.
const EPOCH_MARGIN: u32 = 1024u;

// A scenario that has nothing left to do keeps its epoch: its end is known, and integrals must not run past it.
fn epoch_step(scenario: u32) -> u32 {
  if (atomicLoad(&sync[scenario * SCENARIO_WORDS + S_NEXT + turn.parity]) == INF) { return 0u; }
  let start = atomicLoad(&sync[scenario * SCENARIO_WORDS + S_TIME + turn.parity]);
  return start - min(start, EPOCH_MARGIN);
}

fn moved(t: u32, by: u32) -> u32 {
  if (t == INF) { return INF; }
  return t - min(t, by);
}

fn rebase_wire(port: u32, scenario: u32, by: u32) {
  var counts = wires[port].corrupt;
  for (var class_ix = 1u; class_ix < params[scenario].n_queues; class_ix++) {
    let q = queue_of(scenario, port, class_ix);
    lanes[q].fc_due = moved(lanes[q].fc_due, by);
    counts |= lanes[q].fc_sent | lanes[q].fc_received | lanes[q].hoq_drops;
  }
  if ((counts >> 31u) != 0u) { atomicStore(&sync[scenario * SCENARIO_WORDS + S_WRAP], 1u); }
}

// One invocation per port: rings, queues, port times.
@compute @workgroup_size(64)
fn rebase_ports(@builtin(global_invocation_id) gid: vec3<u32>) {
  let port = gid.x;
  if (port >= arrayLength(&ports)) { return; }
  let s = nodes[ports[port].node].scenario;
  let by = epoch_step(s);
  if (by == 0u) { return; }
  let start = atomicLoad(&sync[s * SCENARIO_WORDS + S_TIME + turn.parity]);
  for (var i = ports[port].out_head_seen; i != ports[port].out_tail; i++) {
    let slot = ports[port].out_off + (i & ports[port].out_mask);
    rings[slot].x = moved(rings[slot].x, by);
  }
  for (var i = ports[port].pfc_out_head_seen; i != ports[port].pfc_out_tail; i++) {
    let slot = ports[port].pfc_out_off + (i & ports[port].pfc_out_mask);
    rings[slot].x = moved(rings[slot].x, by);
  }
  if (has_credits(s)) { rebase_wire(port, s, by); }
  ports[port].busy = moved(ports[port].busy, by);
  ports[port].gate = moved(ports[port].gate, by);
  for (var class_ix = 0u; class_ix < params[s].n_queues; class_ix++) {
    let q = queue_of(s, port, class_ix);
    integrate(q, start);
    queues[q].since = moved(start, by);
    if (((ports[port].paused >> class_ix) & 1u) != 0u) {
      queues[q].paused_ps = add64u(queues[q].paused_ps, start - queues[q].paused_since);
      queues[q].paused_since = moved(start, by);
    }
    if (((queues[q].marked | queues[q].drops | queues[q].xoff_sent | queues[q].xoff_received | ports[port].lost) >> 31u) != 0u) {
      atomicStore(&sync[s * SCENARIO_WORDS + S_WRAP], 1u);
    }
  }
}

// One invocation per pool entry; those of free entries are moved too, which does no harm.
@compute @workgroup_size(64)
fn rebase_pool(@builtin(global_invocation_id) gid: vec3<u32>) {
  if (gid.x >= turn.n_entries) { return; }
  let slot = turn.first_entry + 2u * gid.x;
  pool[slot].x = moved(pool[slot].x, epoch_step(nodes[pool[slot + 1u].z].scenario));
}

// One invocation per node, after the two above.
@compute @workgroup_size(64)
fn rebase_nodes(@builtin(global_invocation_id) gid: vec3<u32>) {
  let n = gid.x;
  if (n >= turn.n_nodes) { return; }
  let by = epoch_step(nodes[n].scenario);
  // Times beyond the epoch are looked up again.
  let next = atomicLoad(&sync[clock_word(NEXT, n)]);
  if (next >= FAR && next != INF) { atomicStore(&sync[clock_word(NEXT, n)], 0u); }
  for (var kind = INBOX; kind <= NEXT; kind++) {
    let word = clock_word(kind, n);
    atomicStore(&sync[word], moved(atomicLoad(&sync[word]), by));
  }
}

// One invocation per scenario, last: the epoch itself.
@compute @workgroup_size(64)
fn rebase_clock(@builtin(global_invocation_id) gid: vec3<u32>) {
  let s = gid.x;
  if (s >= turn.n_scenarios) { return; }
  let block = s * SCENARIO_WORDS;
  let by = epoch_step(s);
  let base = add64u(vec2<u32>(atomicLoad(&sync[block + S_BASE]), atomicLoad(&sync[block + S_BASE + 1u])), by);
  atomicStore(&sync[block + S_BASE], base.x);
  atomicStore(&sync[block + S_BASE + 1u], base.y);
  let word = block + S_TIME + turn.parity;
  atomicStore(&sync[word], atomicLoad(&sync[word]) - by);
}

// One invocation per flow: brings the reaction point of a running flow to the settle time.
@compute @workgroup_size(64)
fn settle_flows(@builtin(global_invocation_id) gid: vec3<u32>) {
  let f = gid.x;
  if (f >= arrayLength(&flows)) { return; }
  if (flows[f].cc_on == 0u) { return; }
  var c: Ctx;
  c.node = flows[f].src;
  c.scenario = nodes[c.node].scenario;
  // The state of annex A10 does not end with the flow.
  if (flows[f].status != RUNNING && params[c.scenario].reaction != REACTION_A10) { return; }
  let block = c.scenario * SCENARIO_WORDS + S_SETTLE;
  run_timers(&c, f, nodes[c.node].first_port, vec2<u32>(atomicLoad(&sync[block]), atomicLoad(&sync[block + 1u])));
}
