// The receiving side of an endpoint: data into acknowledgements and CNPs, acknowledgements into sender state.

fn far(c: ptr<function, Ctx>, now: u32) -> vec2<u32> {
  return add64u((*c).base, now);
}

// Queues a control packet of flow `f` at this endpoint.
fn answer(c: ptr<function, Ctx>, port: u32, f: u32, kind: u32, psn: u32, extra: u32, now: u32) {
  let p = (*c).scenario;
  var class_ix = params[p].ack_class;
  var size = params[p].ack_bytes;
  if (kind == KIND_CNP) {
    class_ix = params[p].cnp_class;
    size = params[p].cnp_bytes;
  }
  if (class_ix == NIL) { class_ix = flows[f].class_ix; }
  let w = size | (kind << KIND_SHIFT) | (class_ix << CLASS_SHIFT) | extra;
  enqueue(c, port, class_ix, vec4<u32>(now, f, psn, w), port, now);
}

fn finish_receiving(c: ptr<function, Ctx>, f: u32, now: vec2<u32>) {
  flows[f].received = 1u;
  flows[f].receive = now;
  release_children(c, flows[f].child_received, now);
}

fn take_data(c: ptr<function, Ctx>, port: u32, packet: vec4<u32>, now: u32) {
  let p = (*c).scenario;
  let f = packet.y;
  let psn = packet.z;
  let at = far(c, now);
  var flag = 0u;
  if ((packet.w & CE_BIT) != 0u) {
    flows[f].marked += 1u;
    if ((params[p].flags & ACK_FLAG) != 0u) {
      flag = ECHO_BIT;
    } else if (flows[f].cnp_sent == 0u || !lt64(at, add64(flows[f].cnp_time, params[p].cnp_interval))) {
      flows[f].cnp_sent = 1u;
      flows[f].cnp_time = at;
      flows[f].cnps_sent += 1u;
      answer(c, port, f, KIND_CNP, 0u, 0u, now);
    }
  }
  let expected = flows[f].rcv_nxt;
  let selective = params[p].recovery == SELECTIVE_REPEAT;
  let holds = selective || params[p].recovery == OUT_OF_ORDER;
  if (psn == expected) {
    var next = expected + 1u;
    var prompt = flag != 0u;
    if (holds) {
      var held = flows[f].rheld;
      prompt = prompt || (selective && any(held != vec4<u32>()));
      while ((held.x & 1u) != 0u) {
        held = shift_down(held, 1u);
        next += 1u;
        (*c).work += 1u;
      }
      flows[f].rheld = shift_down(held, 1u);
    }
    flows[f].rcv_nxt = next;
    flows[f].nak_for = NIL;
    let since = flows[f].since_ack + next - expected;
    flows[f].since_ack = since;
    let whole = next == flows[f].n_packets;
    if (whole && flows[f].received == 0u) { finish_receiving(c, f, at); }
    if (whole || prompt || since >= params[p].ack_every) {
      flows[f].since_ack = 0u;
      answer_flagged(c, port, f, KIND_ACK, next, flag, now);
    }
    return;
  }
  if (psn < expected) {
    flows[f].duplicates += 1u;
    flows[f].since_ack = 0u;
    answer_flagged(c, port, f, KIND_ACK, expected, flag, now);
    return;
  }
  flows[f].out_of_sequence += 1u;
  if (holds) {
    let ahead = psn - expected;
    if (ahead >= 128u) { return; }
    if (bit_in(flows[f].rheld, ahead - 1u)) { flows[f].duplicates += 1u; }
    flows[f].rheld = set_bit(flows[f].rheld, ahead - 1u);
    if (selective) { answer_flagged(c, port, f, KIND_SACK, expected, flag | (ahead << HELD_SHIFT), now); }
    return;
  }
  let interval = params[p].nak_interval;
  if (flows[f].nak_for == expected && (all(interval == vec2<u32>()) || lt64(at, add64(flows[f].nak_time, interval)))) { return; }
  var resume = expected;
  if (params[p].recovery == GO_BACK_ZERO) {
    resume = 0u;
    flows[f].rcv_nxt = 0u;
    flows[f].since_ack = 0u;
  }
  flows[f].nak_for = resume;
  flows[f].nak_time = at;
  answer_flagged(c, port, f, KIND_NAK, resume, flag, now);
}

fn answer_flagged(c: ptr<function, Ctx>, port: u32, f: u32, kind: u32, psn: u32, extra: u32, now: u32) {
  if ((extra & ECHO_BIT) != 0u) { flows[f].cnps_sent += 1u; }
  answer(c, port, f, kind, psn, extra, now);
}

// ACK, NAK, SACK or CNP at the sender of flow `f`. Returns true if it may let the endpoint send something.
fn take_answer(c: ptr<function, Ctx>, port: u32, packet: vec4<u32>, now: u32) -> bool {
  let p = (*c).scenario;
  let f = packet.y;
  if (flows[f].status != RUNNING) { return false; }
  let at = far(c, now);
  let kind = (packet.w >> KIND_SHIFT) & 7u;
  if (kind == KIND_CNP) {
    handle_cnp(c, f, port, at);
    return false;
  }
  let cumulative = packet.z;
  let recovery = params[p].recovery;
  if (cumulative > flows[f].una) {
    if (recovery == SELECTIVE_REPEAT) { flows[f].held = shift_down(flows[f].held, cumulative - flows[f].una); }
    flows[f].una = cumulative;
    flows[f].retries = 0u;
    flows[f].nxt = max(flows[f].nxt, cumulative);
    set_deadline(c, f, at, cumulative < flows[f].nxt);
  }
  if (kind != KIND_ACK) { flows[f].naks += 1u; }
  let una = flows[f].una;
  if (una == flows[f].n_packets) {
    end_flow(c, f, DONE, at);
    release_children(c, flows[f].child_sent, at);
    return true;
  }
  if (kind == KIND_NAK) {
    if (recovery == GO_BACK_ZERO) {
      flows[f].una = 0u;
      flows[f].nxt = 0u;
      flows[f].has_deadline = 0u;
    } else if (cumulative == una) {
      flows[f].nxt = una;
    }
  } else if (kind == KIND_SACK) {
    let psn = cumulative + ((packet.w >> HELD_SHIFT) & 127u);
    if (psn > una) { flows[f].held = set_bit(flows[f].held, psn - una - 1u); }
    if (psn >= una) { flows[f].high = max(flows[f].high, psn + 1u); }
  }
  if ((packet.w & ECHO_BIT) != 0u) { handle_cnp(c, f, port, at); }
  update_sendable(c, f);
  return flows[f].window != 0u || kind != KIND_ACK || recovery == SELECTIVE_REPEAT || recovery == OUT_OF_ORDER;
}
