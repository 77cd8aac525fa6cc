// 64-bit arithmetic on (lo, hi) pairs, fixed-point products, the counter-based generator.

fn add64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let lo = a.x + b.x;
  return vec2<u32>(lo, a.y + b.y + select(0u, 1u, lo < a.x));
}

fn add64u(a: vec2<u32>, b: u32) -> vec2<u32> {
  let lo = a.x + b;
  return vec2<u32>(lo, a.y + select(0u, 1u, lo < a.x));
}

fn sub64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn lt64(a: vec2<u32>, b: vec2<u32>) -> bool {
  return a.y < b.y || (a.y == b.y && a.x < b.x);
}

fn min64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  if (lt64(a, b)) { return a; }
  return b;
}

fn mul64(a: u32, b: u32) -> vec2<u32> {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let ll = al * bl;
  let mid = al * bh + (ll >> 16u);
  let mid2 = ah * bl + (mid & 0xffffu);
  return vec2<u32>((mid2 << 16u) | (ll & 0xffffu), ah * bh + (mid >> 16u) + (mid2 >> 16u));
}

fn mulhi(a: u32, b: u32) -> u32 {
  return mul64(a, b).y;
}

// Low word of (a >> s), saturated; s below 64.
fn shr64_saturated(a: vec2<u32>, s: u32) -> u32 {
  if (s >= 32u) { return a.y >> (s - 32u); }
  if (s == 0u) { return select(a.x, INF, a.y != 0u); }
  if ((a.y >> s) != 0u) { return INF; }
  return (a.x >> s) | (a.y << (32u - s));
}

// Near time of a far one: past gives 0, beyond the epoch gives FAR.
fn near(base: vec2<u32>, t: vec2<u32>) -> u32 {
  if (t.y == NIL) { return INF; }
  if (lt64(t, base)) { return 0u; }
  let d = sub64(t, base);
  if (d.y != 0u) { return FAR; }
  return min(d.x, FAR);
}

const NEVER: vec2<u32> = vec2<u32>(0xffffffffu, 0xffffffffu);

fn fmix(h0: u32) -> u32 {
  var h = h0;
  h ^= h >> 16u;
  h *= 0x85ebca6bu;
  h ^= h >> 13u;
  h *= 0xc2b2ae35u;
  h ^= h >> 16u;
  return h;
}

fn draw(seed: u32, place: u32, ordinal: u32, purpose: u32) -> u32 {
  var x = fmix((seed * 0x9e3779b1u) ^ place);
  x = fmix(x ^ (ordinal * 0x85ebca6bu));
  return fmix(x ^ (purpose * 0xc2b2ae35u));
}

// Time of n bytes (below 16,384) at a byte time [2^-16 ps], rounded down to the grain.
fn duration(byte_time: u32, n: u32, grain: u32) -> u32 {
  let d = n * (byte_time >> 16u) + ((n * (byte_time & 0xffffu)) >> 16u);
  if (grain <= 1u) { return d; }
  return d - d % grain;
}

fn bit_in(v: vec4<u32>, i: u32) -> bool {
  return ((v[i >> 5u] >> (i & 31u)) & 1u) != 0u;
}

// A 128-bit set moved down by n places.
fn shift_down(v: vec4<u32>, n: u32) -> vec4<u32> {
  if (n >= 128u) { return vec4<u32>(); }
  var r = v;
  let words = n >> 5u;
  if ((words & 1u) != 0u) { r = vec4<u32>(r.y, r.z, r.w, 0u); }
  if ((words & 2u) != 0u) { r = vec4<u32>(r.z, r.w, 0u, 0u); }
  let s = n & 31u;
  if (s == 0u) { return r; }
  let u = 32u - s;
  return vec4<u32>((r.x >> s) | (r.y << u), (r.y >> s) | (r.z << u), (r.z >> s) | (r.w << u), r.w >> s);
}

fn set_bit(v: vec4<u32>, i: u32) -> vec4<u32> {
  var r = v;
  r[i >> 5u] |= 1u << (i & 31u);
  return r;
}
