// Shared buffer of a switch: admission, thresholds, PFC, marking.

// floor(factor * free / 128) without overflow, for up to 256 MiB and a factor up to 1024.
fn share(factor: u32, free: u32) -> u32 {
  return (free >> 7u) * factor + (((free & 127u) * factor) >> 7u);
}

fn free_pool(n: u32) -> u32 {
  let shared_bytes = nodes[n].shared_bytes;
  return nodes[n].pool_bytes - min(nodes[n].pool_bytes, shared_bytes);
}

fn pfc_frame(c: ptr<function, Ctx>, port: u32, class_ix: u32, kind: u32, now: u32) {
  let w = params[(*c).scenario].pfc_bytes | (kind << KIND_SHIFT);
  enqueue_egress(c, port, 0u, vec4<u32>(now, 0u, class_ix, w), port, now);
}

// Keeps the mask of the ports of a switch that have something to do.
fn mark_busy(c: ptr<function, Ctx>, port: u32) {
  let n = (*c).node;
  let local = ports[port].local;
  atomicOr(&sync[nodes[n].mask_off + EGRESS * nodes[n].mask_words + (local >> 5u)], 1u << (local & 31u));
}

// Joins an egress queue of a switch.
fn enqueue_egress(c: ptr<function, Ctx>, port: u32, class_ix: u32, packet: vec4<u32>, ingress: u32, now: u32) {
  if (ports[port].nonempty == 0u) { mark_busy(c, port); }
  enqueue(c, port, class_ix, packet, ingress, now);
}

fn drop_at(q: u32, size: u32) {
  queues[q].drops += 1u;
  queues[q].drop_bytes = add64u(queues[q].drop_bytes, size);
}

// Admission of a frame of `size` bytes by `port` for `egress`. Returns false if it is dropped.
fn admit(c: ptr<function, Ctx>, port: u32, egress: u32, class_ix: u32, size: u32) -> bool {
  let n = (*c).node;
  let q = queue_of((*c).scenario, port, class_ix);
  let lossless = ((params[(*c).scenario].lossless >> class_ix) & 1u) != 0u;
  let ingress = queues[q].ingress;
  let reserve = ports[port].reserve;
  let shared_of = ingress - min(ingress, reserve);
  let free = free_pool(n);
  if (lossless) {
    let limit = share(ports[port].alpha, free);
    if (queues[q].headroom + size > ports[port].headroom && shared_of + size > limit) {
      drop_at(q, size);
      return false;
    }
    let now_in = ingress + size;
    if (now_in > reserve && now_in - reserve > limit) {
      let headroom = queues[q].headroom + size;
      queues[q].headroom = headroom;
      queues[q].max_headroom = max(queues[q].max_headroom, headroom);
    } else {
      queues[q].ingress = now_in;
      if (now_in > reserve) { nodes[n].shared_bytes += min(size, now_in - reserve); }
    }
  } else {
    let e = queue_of((*c).scenario, egress, class_ix);
    if (queues[e].bytes + size > share(ports[egress].alpha_lossy, free)) {
      drop_at(e, size);
      return false;
    }
    let now_in = ingress + size;
    queues[q].ingress = now_in;
    if (now_in > reserve) { nodes[n].shared_bytes += min(size, now_in - reserve); }
  }
  nodes[n].used_bytes += size;
  ports[port].ingress_bytes += size;
  return true;
}

// XOFF after an admitted arrival.
fn check_xoff(c: ptr<function, Ctx>, port: u32, class_ix: u32, now: u32) {
  if (((params[(*c).scenario].lossless >> class_ix) & 1u) == 0u) { return; }
  let q = queue_of((*c).scenario, port, class_ix);
  if (queues[q].xoff != 0u) { return; }
  let shared_of = queues[q].ingress - min(queues[q].ingress, ports[port].reserve);
  let n = (*c).node;
  if (queues[q].headroom > 0u || shared_of >= share(ports[port].alpha, free_pool(n))) {
    queues[q].xoff = 1u;
    nodes[n].n_xoff += 1u;
    pfc_frame(c, port, class_ix, KIND_XOFF, now);
  }
}

// Gives back the buffer of a frame that entered by `port` and starts to leave; may send XON.
fn release_buffer(c: ptr<function, Ctx>, port: u32, class_ix: u32, size: u32, now: u32) {
  let n = (*c).node;
  let q = queue_of((*c).scenario, port, class_ix);
  let ingress = queues[q].ingress;
  let reserve = ports[port].reserve;
  let from_headroom = min(queues[q].headroom, size);
  let from_shared = min(size - from_headroom, ingress - min(ingress, reserve));
  let left = ingress - (size - from_headroom);
  let headroom = queues[q].headroom - from_headroom;
  queues[q].headroom = headroom;
  queues[q].ingress = left;
  nodes[n].shared_bytes -= from_shared;
  nodes[n].used_bytes -= size;
  ports[port].ingress_bytes -= size;
  if (queues[q].xoff != 0u && headroom == 0u) {
    let shared_of = left - min(left, reserve);
    if (shared_of == 0u || shared_of + ports[port].xon_gap <= share(ports[port].alpha, free_pool(n))) {
      queues[q].xoff = 0u;
      nodes[n].n_xoff -= 1u;
      pfc_frame(c, port, class_ix, KIND_XON, now);
    }
  }
}

// True if a frame that leaves as number `ordinal` is to be marked CE, at queue length `bytes` without it.
fn marks(c: ptr<function, Ctx>, port: u32, bytes: u32, ordinal: u32) -> bool {
  let kmin = ports[port].kmin;
  if (bytes <= kmin) { return false; }
  if (bytes > ports[port].kmax) { return true; }
  let p = shr64_saturated(mul64(bytes - kmin, ports[port].slope), ports[port].slope_shift);
  return draw(params[(*c).scenario].seed, ports[port].draw_id, ordinal, 0u) < p;
}
