// InfiniBand's reaction point (model text, "Reaction point `A10`"). The state is that of the owner: the flow itself, or the first flow of
// its endpoint and service level.

// Processes the expiries of the CCTI timer due at or before `now`.
fn expire_ccti(c: ptr<function, Ctx>, owner: u32, now: vec2<u32>) {
  if (flows[owner].cc_on == 0u || lt64(now, flows[owner].cc_next)) { return; }
  let p = (*c).scenario;
  let j = jump(flows[owner].cc_next, params[p].ccti_timer, now);
  let above = flows[owner].ccti - params[p].ccti_min;
  flows[owner].ccti -= min(above, j.ticks);
  flows[owner].cc_next = j.next;
  if (j.ticks >= above) { flows[owner].cc_on = 0u; }
}

// A BECN.
fn raise_ccti(c: ptr<function, Ctx>, owner: u32, now: vec2<u32>) {
  let p = (*c).scenario;
  expire_ccti(c, owner, now);
  let ccti = min(flows[owner].ccti + params[p].ccti_increase, params[p].ccti_limit);
  flows[owner].ccti = ccti;
  flows[owner].ccti_max = max(flows[owner].ccti_max, ccti);
  if (flows[owner].cc_on == 0u && ccti > params[p].ccti_min) {
    flows[owner].cc_on = CC_ACTIVE;
    flows[owner].cc_next = add64(now, params[p].ccti_timer);
  }
}

// From the start of a frame that takes `wire` to the earliest start of the next one.
fn injection_gap(c: ptr<function, Ctx>, f: u32, wire: u32, now: vec2<u32>) -> vec2<u32> {
  let owner = flows[f].cc_owner;
  expire_ccti(c, owner, now);
  let entry = topo[params[(*c).scenario].cct_off + flows[owner].ccti];
  return add64u(mul64(wire >> (entry >> 16u), entry & 0xffffu), wire);
}
