// DCQCN reaction point (model text, "Reaction point"). Timers are not events: they are brought up to date when a flow is touched.
const CC_ACTIVE: u32 = 1u;
const CC_ALPHA: u32 = 2u;     // firmware: a CNP came in this alpha period
const CC_CUT: u32 = 4u;       // firmware: a CNP came in this cut period
const CC_INCREASE: u32 = 8u;  // the increase timer runs
const STAGE_MAX: u32 = 0x100000u;

// floor(8 * 65536 * 10^9 / rate): byte time [2^-16 ps] of a rate [kb/s] from 1,000 to 2^31 - 1; more than 32 bits below 122 Mb/s.
fn byte_time_of(rate: u32) -> vec2<u32> {
  let half = 4000000000u;
  let doubled = 2u * (half % rate);
  let whole = 2u * (half / rate) + doubled / rate;
  var rest = doubled % rate;
  var part = 0u;
  for (var i = 0u; i < 16u; i++) {
    rest = 2u * rest;
    part = 2u * part;
    if (rest >= rate) {
      rest -= rate;
      part += 1u;
    }
  }
  return vec2<u32>((whole << 16u) | part, whole >> 16u);
}

// floor(a * 65536 / b) for a < b < 2^31.
fn ratio_q16(a: u32, b: u32) -> u32 {
  var rest = a;
  var value = 0u;
  for (var i = 0u; i < 16u; i++) {
    rest = 2u * rest;
    value = 2u * value;
    if (rest >= b) {
      rest -= b;
      value += 1u;
    }
  }
  return value;
}

// What follows from the rate: pacing and window.
fn apply_rate(c: ptr<function, Ctx>, f: u32, port: u32) {
  let rate = flows[f].rate;
  let line = ports[port].line_kbps;
  if (rate == line) { flows[f].byte_gap = vec2<u32>(ports[port].byte_time, 0u); } else { flows[f].byte_gap = byte_time_of(rate); }
  if ((params[(*c).scenario].flags & VARIABLE_WINDOW) == 0u || flows[f].window == 0u) { return; }
  if (rate >= flows[f].line) {
    flows[f].window_now = flows[f].window;
  } else {
    let share_q16 = ratio_q16(rate, flows[f].line);
    let w = (flows[f].window >> 16u) * share_q16 + (((flows[f].window & 0xffffu) * share_q16) >> 16u);
    flows[f].window_now = max(1u, w);
  }
}

fn increase(c: ptr<function, Ctx>, f: u32, step_kbps: u32, times: u32) {
  let line = flows[f].line;
  let room = line - flows[f].goal;
  let add = mul64(step_kbps, times);
  var goal = line;
  if (add.y == 0u && add.x < room) { goal = flows[f].goal + add.x; }
  flows[f].goal = goal;
  let rate = flows[f].rate;
  flows[f].rate = min(line, (rate >> 1u) + (goal >> 1u) + ((rate | goal) & 1u));
}

fn increase_paper(c: ptr<function, Ctx>, f: u32) {
  let p = (*c).scenario;
  let high = max(flows[f].time_stage, flows[f].byte_stage);
  let low = min(flows[f].time_stage, flows[f].byte_stage);
  let fast = params[p].fast_recovery;
  if (high < fast) { increase(c, f, 0u, 0u); }
  else if (low >= fast) { increase(c, f, params[p].rate_hai, low - fast + 1u); }
  else { increase(c, f, params[p].rate_ai, 1u); }
}

fn increase_firmware(c: ptr<function, Ctx>, f: u32) {
  let p = (*c).scenario;
  let stage = flows[f].time_stage;
  let fast = params[p].fast_recovery;
  if (stage < fast) { increase(c, f, 0u, 0u); }
  else if (stage == fast) { increase(c, f, params[p].rate_ai, 1u); }
  else { increase(c, f, params[p].rate_hai, 1u); }
  flows[f].time_stage = min(STAGE_MAX, stage + 1u);
}

fn cut(c: ptr<function, Ctx>, f: u32) {
  let p = (*c).scenario;
  let rate = flows[f].rate;
  var keep = rate - mulhi(rate, flows[f].alpha >> params[p].cut_shift);
  if (params[p].min_keep != 0u) { keep = max(keep, mulhi(rate, params[p].min_keep)); }
  flows[f].rate = min(rate, max(keep, params[p].rate_min));
}

fn alpha_step(c: ptr<function, Ctx>, f: u32, with_cnp: bool) {
  let g = params[(*c).scenario].g;
  let alpha = flows[f].alpha;
  let low = alpha - mulhi(alpha, g);
  if (!with_cnp) {
    flows[f].alpha = low;
  } else {
    flows[f].alpha = low + min(g, 0xffffffffu - low);
  }
}

// The first instant of a clock behind `now`, and the ticks passed over (saturated), all of them without effect.
struct Jump { next: vec2<u32>, ticks: u32 }

fn jump(next: vec2<u32>, period: vec2<u32>, now: vec2<u32>) -> Jump {
  var at = next;
  var ticks = 0u;
  while (!lt64(now, at)) {
    let gap = sub64(now, at);
    var k = 1u;
    if (period.y == 0u) {
      var d = gap.x;
      if (gap.y != 0u) { d = 0xffffffffu; }
      k = max(1u, d / period.x);
      at = add64(at, mul64(k, period.x));
    } else {
      at = add64(at, period);
    }
    ticks += min(k, 0xffffffffu - ticks);
  }
  return Jump(at, ticks);
}

fn set_cc_next(f: u32) {
  var next = min64(flows[f].alpha_next, flows[f].cut_next);
  if ((flows[f].cc_on & CC_INCREASE) != 0u) { next = min64(next, flows[f].increase_next); }
  flows[f].cc_next = next;
}

// Processes every timer of a flow due at or before `now`. The flow has had a CNP.
fn run_timers(c: ptr<function, Ctx>, f: u32, port: u32, now: vec2<u32>) {
  if (lt64(now, flows[f].cc_next)) { return; }
  let p = (*c).scenario;
  if (params[p].reaction == REACTION_A10) {
    expire_ccti(c, f, now);
    return;
  }
  let firmware = params[p].reaction == REACTION_FIRMWARE;
  let before_rate = flows[f].rate;
  loop {
    (*c).work += 1u;
    let at = flows[f].cc_next;
    if (lt64(now, at)) { break; }
    let on = flows[f].cc_on;
    if (!lt64(at, flows[f].alpha_next)) {
      let flag = (on & CC_ALPHA) != 0u;
      if (!flag && mulhi(flows[f].alpha, params[p].g) == 0u) {
        flows[f].alpha_next = jump(at, params[p].alpha_period, now).next;
      } else {
        alpha_step(c, f, flag);
        flows[f].cc_on = on & ~CC_ALPHA;
        flows[f].alpha_next = add64(at, params[p].alpha_period);
      }
    } else if (!lt64(at, flows[f].cut_next)) {
      if ((on & CC_CUT) == 0u) {
        flows[f].cut_next = jump(at, params[p].cut_period, now).next;
      } else {
        let flags = params[p].flags;
        if ((flags & CLAMP_TARGET) != 0u || ((flags & CLAMP_AFTER_TIME) != 0u && flows[f].time_stage != 0u)) {
          flows[f].goal = flows[f].rate;
        }
        cut(c, f);
        flows[f].time_stage = 0u;
        flows[f].cc_on = (on & ~CC_CUT) | CC_INCREASE;
        flows[f].increase_next = add64(at, params[p].increase_period);
        flows[f].cut_next = add64(at, params[p].cut_period);
      }
    } else if (flows[f].rate == flows[f].line && flows[f].goal == flows[f].line) {
      // At line rate only the stage counts. A pending cut restarts this timer: go to just before it.
      var until = now;
      if ((on & CC_CUT) != 0u && !lt64(now, flows[f].cut_next)) { until = sub64(flows[f].cut_next, vec2<u32>(1u, 0u)); }
      let j = jump(at, params[p].increase_period, until);
      flows[f].increase_next = j.next;
      flows[f].time_stage += min(j.ticks, STAGE_MAX - flows[f].time_stage);
    } else {
      if (firmware) {
        increase_firmware(c, f);
      } else {
        flows[f].time_stage = min(STAGE_MAX, flows[f].time_stage + 1u);
        increase_paper(c, f);
      }
      flows[f].increase_next = add64(at, params[p].increase_period);
    }
    set_cc_next(f);
  }
  if (flows[f].rate != before_rate) { apply_rate(c, f, port); }
}

fn handle_cnp(c: ptr<function, Ctx>, f: u32, port: u32, now: vec2<u32>) {
  let p = (*c).scenario;
  flows[f].cnps_handled += 1u;
  if (params[p].reaction == REACTION_NONE) { return; }
  if (params[p].reaction == REACTION_A10) {
    raise_ccti(c, flows[f].cc_owner, now);
    return;
  }
  let first = flows[f].cc_on == 0u;
  if (!first) { run_timers(c, f, port, now); }
  let before_rate = flows[f].rate;
  if (first) {
    flows[f].alpha = params[p].alpha_init;
    flows[f].goal = flows[f].rate;
    flows[f].cut_next = NEVER;
  }
  if (params[p].reaction == REACTION_PAPER) {
    let flags = params[p].flags;
    if ((flags & CLAMP_TARGET) != 0u || flows[f].byte_stage != 0u || ((flags & CLAMP_AFTER_TIME) != 0u && flows[f].time_stage != 0u)) {
      flows[f].goal = flows[f].rate;
    }
    cut(c, f);
    alpha_step(c, f, true);
    flows[f].time_stage = 0u;
    flows[f].byte_stage = 0u;
    flows[f].bytes = 0u;
    flows[f].cc_on = CC_ACTIVE | CC_INCREASE;
    flows[f].alpha_next = add64(now, params[p].alpha_period);
    flows[f].increase_next = add64(now, params[p].increase_period);
  } else if (first) {
    let start = params[p].rate_first_cnp;
    if (start != 0u) {
      let rate = max(params[p].rate_min, min(flows[f].rate, start));
      flows[f].rate = min(rate, flows[f].line);
      flows[f].goal = flows[f].rate;
    }
    flows[f].cc_on = CC_ACTIVE | CC_CUT;
    flows[f].alpha_next = add64(now, params[p].alpha_period);
    flows[f].cut_next = add64(now, params[p].first_cut);
  } else {
    flows[f].cc_on |= CC_ALPHA | CC_CUT;
  }
  set_cc_next(f);
  if (flows[f].rate != before_rate) { apply_rate(c, f, port); }
}

// Byte counter of the paper's reaction point, after a data packet of `size` frame bytes.
fn count_bytes(c: ptr<function, Ctx>, f: u32, port: u32, size: u32) {
  let limit = params[(*c).scenario].byte_counter;
  if (limit == 0u || params[(*c).scenario].reaction != REACTION_PAPER) { return; }
  let bytes = flows[f].bytes + size;
  if (bytes < limit) {
    flows[f].bytes = bytes;
    return;
  }
  flows[f].bytes = bytes - limit;
  flows[f].byte_stage = min(STAGE_MAX, flows[f].byte_stage + 1u);
  let before_rate = flows[f].rate;
  increase_paper(c, f);
  if (flows[f].rate != before_rate) { apply_rate(c, f, port); }
}
