// InfiniBand's forwarding: tables by DLID, adaptive routing, rerouting around failed links (model text, "Routing").

// Egress port, NIL if none; and the binding of adaptive routing that the frame renews, NIL if none.
struct Way { port: u32, binding: u32 }

fn dlid_of(c: ptr<function, Ctx>, packet: vec4<u32>) -> u32 {
  let back = ((packet.w >> KIND_SHIFT) & 7u) != KIND_DATA;
  return topo[topo[(*c).scenario] + 8u * packet.y + select(4u, 5u, back)];
}

fn route_lid(c: ptr<function, Ctx>, packet: vec4<u32>, now: u32) -> Way {
  let s = (*c).scenario;
  let n = (*c).node;
  let back = ((packet.w >> KIND_SHIFT) & 7u) != KIND_DATA;
  let row = topo[s] + 8u * packet.y;
  let dlid = dlid_of(c, packet);
  let cell = (topo[nodes[n].lft_off + (dlid >> 2u)] >> (8u * (dlid & 3u))) & 255u;
  var fixed = NIL;
  if (cell != 255u) { fixed = nodes[n].first_port + cell; }
  let adaptive = !back && ((params[s].adaptive_sls >> topo[row + 6u]) & 1u) != 0u;
  if (!adaptive && (params[s].flags & SHIELD) == 0u) { return Way(fixed, NIL); }
  let leaf = topo[row + select(0u, 2u, back)];
  if (leaf == NIL) { return Way(fixed, NIL); }
  let group = topo[nodes[n].route_row + leaf];
  if (group == NIL) { return Way(fixed, NIL); }
  if (topo[group] == 0u || (!adaptive && in_group(group, fixed))) { return Way(fixed, NIL); }
  return adapt(c, packet, dlid, group, now);
}

fn in_group(group: u32, port: u32) -> bool {
  let size = topo[group];
  for (var i = 0u; i < size; i++) {
    if (topo[group + 1u + i] == port) { return true; }
  }
  return false;
}

fn adapt(c: ptr<function, Ctx>, packet: vec4<u32>, dlid: u32, group: u32, now: u32) -> Way {
  let n = (*c).node;
  let lasts = params[(*c).scenario].binding;
  if (all(lasts == vec2<u32>())) { return Way(least_loaded(c, packet, group), NIL); }
  let word = nodes[n].binding_off + BINDING_WORDS * (fmix(dlid ^ nodes[n].hash_seed) % BINDING_SLOTS);
  let bound = atomicLoad(&sync[word + 1u]);
  if (bound != 0u && atomicLoad(&sync[word]) == dlid && in_group(group, bound - 1u)) {
    let since = vec2<u32>(atomicLoad(&sync[word + 2u]), atomicLoad(&sync[word + 3u]));
    if (lt64(sub64(far(c, now), since), lasts)) { return Way(bound - 1u, word); }
  }
  return Way(least_loaded(c, packet, group), word);
}

fn bind(c: ptr<function, Ctx>, way: Way, packet: vec4<u32>, now: u32) {
  if (way.binding == NIL) { return; }
  let at = far(c, now);
  atomicStore(&sync[way.binding], dlid_of(c, packet));
  atomicStore(&sync[way.binding + 1u], way.port + 1u);
  atomicStore(&sync[way.binding + 2u], at.x);
  atomicStore(&sync[way.binding + 3u], at.y);
}

fn load_of(s: u32, port: u32) -> u32 {
  let bytes = wires[port].queued;
  if ((params[s].flags & GRADED) == 0u) { return bytes; }
  return select(0u, 1u, params[s].grade_0 <= bytes) + select(0u, 1u, params[s].grade_1 <= bytes) + select(0u, 1u, params[s].grade_2 <= bytes);
}

// The port of least load; of several, one drawn by flow and PSN.
fn least_loaded(c: ptr<function, Ctx>, packet: vec4<u32>, group: u32) -> u32 {
  let s = (*c).scenario;
  let size = topo[group];
  var least = INF;
  var count = 0u;
  for (var i = 0u; i < size; i++) {
    (*c).work += 1u;
    let load = load_of(s, topo[group + 1u + i]);
    if (load < least || count == 0u) {
      least = load;
      count = 0u;
    }
    if (load == least) { count += 1u; }
  }
  let key = topo[topo[s] + 8u * packet.y + 7u] * 0x9e3779b1u + packet.z;
  var skip = draw(params[s].seed, ports[nodes[(*c).node].first_port].draw_id, key, 2u) % count;
  for (var i = 0u; i < size; i++) {
    let port = topo[group + 1u + i];
    if (load_of(s, port) != least) { continue; }
    if (skip == 0u) { return port; }
    skip -= 1u;
  }
  return NIL;
}
