// Device state: constants, structs, bindings. The Rust twins of constants and structs are generated from this file.
// Near times are u32 picoseconds since the scenario's epoch base; far times are (lo, hi) pairs since time zero.

const NIL: u32 = 0xffffffffu;
const INF: u32 = 0xffffffffu;     // near time: never
const FAR: u32 = 0xf0000000u;     // near time: beyond the epoch, look again after the next rebase

// Packet word 3: size, kind, class, flags.
const SIZE_MASK: u32 = 0x3fffu;
const KIND_SHIFT: u32 = 14u;      // 3 bits
const CLASS_SHIFT: u32 = 17u;     // 4 bits
const CE_BIT: u32 = 0x200000u;
const ECHO_BIT: u32 = 0x400000u;
const HELD_SHIFT: u32 = 23u;      // 7 bits: SACK, held PSN minus cumulative PSN
const CORRUPT_BIT: u32 = 0x80000000u;  // InfiniBand: lost on the link, found so by the receiver
const KIND_DATA: u32 = 0u;
const KIND_ACK: u32 = 1u;
const KIND_NAK: u32 = 2u;
const KIND_SACK: u32 = 3u;
const KIND_CNP: u32 = 4u;
const KIND_XOFF: u32 = 5u;
const KIND_XON: u32 = 6u;
const KIND_CREDITS: u32 = 7u;     // word 1: FCTBS, FCCL << 16

// Params.flags
const ACK_IGNORES_PAUSE: u32 = 1u;
const EAGER_START: u32 = 2u;
const TIE_BY_FLOW: u32 = 4u;
const HPCC_WAKEUP: u32 = 8u;
const VARIABLE_WINDOW: u32 = 16u;
const ACK_FLAG: u32 = 32u;
const CLAMP_TARGET: u32 = 64u;
const CLAMP_AFTER_TIME: u32 = 128u;
const CREDITS: u32 = 256u;        // InfiniBand
const GRADED: u32 = 512u;
const SHIELD: u32 = 1024u;

// Slots of bounded adaptive routing a switch has, in `sync`, and the words of one: (DLID, port + 1 or 0, instant lo, hi).
const BINDING_SLOTS: u32 = 1024u;
const BINDING_WORDS: u32 = 4u;

const GO_BACK_N: u32 = 0u;
const GO_BACK_ZERO: u32 = 1u;
const SELECTIVE_REPEAT: u32 = 2u;
const OUT_OF_ORDER: u32 = 3u;

const REACTION_NONE: u32 = 0u;
const REACTION_PAPER: u32 = 1u;
const REACTION_FIRMWARE: u32 = 2u;
const REACTION_A10: u32 = 3u;

const WAITING: u32 = 0u;
const RUNNING: u32 = 1u;
const DONE: u32 = 2u;
const FAILED: u32 = 3u;

// `sync` holds a block of SCENARIO_WORDS words a scenario, then the clock words of nodes, then the port masks of switches.
const SCENARIO_WORDS: u32 = 20u;
const S_TIME: u32 = 0u;           // 2: window start, by parity
const S_NEXT: u32 = 2u;           // 2: earliest event left, by parity
const S_WINDOW: u32 = 4u;
const S_LIMIT: u32 = 5u;          // near time no window may pass
const S_BASE: u32 = 6u;           // 2: epoch base, lo hi
const S_NEED: u32 = 8u;           // a ring or pool was full: the host must grow it
const S_WRAP: u32 = 9u;           // a 32-bit counter came close to its end
const S_HOPS: u32 = 10u;          // 2: frames sent, lo hi
const S_DATA_HOPS: u32 = 12u;     // 2: data frames sent, lo hi
const S_ENDED: u32 = 14u;         // flows done or failed
const S_UNFINISHED: u32 = 15u;    // 2: nodes that stopped inside the window, by parity
const S_SETTLE: u32 = 17u;        // 2: far time to which `settle` brings reaction points, lo hi

// Clock words: `n_nodes` words of each kind, so that quiet nodes cost little.
const INBOX: u32 = 0u;            // and 1: near time of the first arrival sent in the window before, by parity
const NEXT: u32 = 2u;             // near time of the next event known here
const ACTIVE: u32 = 3u;           // 1: did something in this window
const OWNER: u32 = 4u;            // scenario of the node
const CLOCK_WORDS: u32 = 5u;

// Port masks of a switch, `mask_words` words each: ingress by parity, ingress kept, egress with work, rings to publish.
const KEPT: u32 = 2u;
const EGRESS: u32 = 3u;
const TO_PUBLISH: u32 = 4u;
const PORT_MASKS: u32 = 5u;

// Uniform of a dispatch. `budget` bounds the loop iterations of an invocation (software adapters end loops silently).
struct Turn {
  parity: u32,
  n_endpoints: u32,
  n_nodes: u32,
  n_scenarios: u32,
  budget: u32,
  n_entries: u32,     // pool entries
  first_entry: u32,   // pool slot of the first one; the event heaps come before
  clock_off: u32,     // sync word of the first clock word
}

struct Params {
  nak_interval: vec2<u32>,
  rto: vec2<u32>,
  cnp_interval: vec2<u32>,
  alpha_period: vec2<u32>,
  cut_period: vec2<u32>,
  first_cut: vec2<u32>,
  increase_period: vec2<u32>,
  ccti_timer: vec2<u32>,
  binding: vec2<u32>,      // time that a binding lasts, 0 = no bindings
  seed: u32,
  n_queues: u32,           // classes + 1
  queue_stride: u32,       // queues a port, the same in a whole batch
  mtu: u32,
  data_header: u32,
  first_extra: u32,
  ack_bytes: u32,
  cnp_bytes: u32,
  pfc_bytes: u32,
  gap_bytes: u32,
  grain: u32,
  ack_class: u32,          // device class, NIL = the flow's
  cnp_class: u32,
  flags: u32,
  ack_every: u32,
  recovery: u32,
  retry_limit: u32,
  reaction: u32,
  g: u32,
  alpha_init: u32,
  byte_counter: u32,
  fast_recovery: u32,
  rate_ai: u32,
  rate_hai: u32,
  rate_min: u32,
  rate_max: u32,           // 0 = line
  rate_first_cnp: u32,
  cut_shift: u32,
  min_keep: u32,
  lossless: u32,           // class masks, bit c = device class c
  ecn: u32,
  strict_classes: u32,
  first_weighted: u32,     // device class, 0 = none
  quantum: array<u32, 8>,
  // InfiniBand
  fc_threshold: u32,
  fc_interval: u32,
  high_off: u32,           // topo: weight << 8 | device class, by entry
  n_high: u32,
  high_classes: u32,       // mask of classes that the table serves
  high_limit: u32,
  low_off: u32,
  n_low: u32,
  low_classes: u32,
  mark_size: u32,
  marking_rate: u32,
  adaptive_sls: u32,
  grade_0: u32,
  grade_1: u32,
  grade_2: u32,
  ccti_increase: u32,
  ccti_limit: u32,
  ccti_min: u32,
  cct_off: u32,            // topo: shift << 16 | multiplier, by CCTI
  unused_0: u32,
}

struct Node {
  last_event: vec2<u32>,
  scenario: u32,           // as its clock word OWNER
  first_port: u32,
  n_ports: u32,
  hash_seed: u32,
  pool_bytes: u32,
  cut_through: u32,
  route_row: u32,          // topo offset of this switch's groups, by leaf
  leaf: u32,               // leaf number of a switch with endpoints, NIL = none
  heap_off: u32,           // pool slot
  heap_cap: u32,
  pool_off: u32,           // pool slot; an entry takes two slots
  pool_cap: u32,           // entries
  free_head: u32,
  fresh: u32,
  pool_used: u32,
  mask_off: u32,           // sync word: ingress by parity 0, parity 1, ingress kept, egress, to publish; NIL for endpoints
  mask_words: u32,
  unfinished: u32,
  ordered: u32,
  shared_bytes: u32,
  used_bytes: u32,
  n_xoff: u32,
  hops: u32,
  data_hops: u32,
  ended: u32,
  flow_first: u32,
  flow_end: u32,
  flow_cursor: u32,        // next flow released by time
  list_head: u32,          // running flows
  list_tail: u32,
  list_last: u32,          // flow served last, NIL = begin at the head
  pending_head: u32,       // dependent flows waiting for their delay
  n_sendable: u32,         // running flows that have a next packet
  alpha_min: u32,
  tx_at: vec2<u32>,        // next egress decision of an endpoint
  wake: vec2<u32>,
  timer_next: vec2<u32>,   // no retransmission timer expires before
  // InfiniBand switches
  lft_off: u32,            // topo: 4 cells a word
  sl_off: u32,             // topo: offset of the map of (input, output), or of all
  sl_ports: u32,           // 1: by input and output
  voq_off: u32,            // sync
  voq_inputs: u32,         // inputs that have queues of their own; 1 = first come first served
  binding_off: u32,        // sync, NIL = none
}

struct Port {
  // what sending touches
  byte_time: u32,
  delay: u32,
  peer_cuts: u32,          // 1: the peer is a cut-through switch
  loss: u32,
  drop_every: u32,
  down: u32,               // 1: the link failed
  out_off: u32,            // ring towards the peer
  out_mask: u32,
  out_tail: u32,
  out_tail_pub: u32,
  out_head_seen: u32,
  busy: u32,
  nonempty: u32,           // masks by device class
  paused: u32,
  gate: u32,               // nothing starts before: when a pause ended
  ordinal: u32,
  sched: u32,
  // what marking and notifying touch
  kmin: u32,
  kmax: u32,
  slope: u32,
  slope_shift: u32,
  draw_id: u32,
  peer_node: u32,
  peer_mask_word: u32,     // NIL for endpoints
  peer_mask_stride: u32,
  peer_mask_bit: u32,
  weighted: u32,           // current class of the deficit round robin
  alpha_lossy: u32,
  line_kbps: u32,
  local: u32,              // index within the node
  peer: u32,
  lost: u32,
  need: u32,               // bit 0: ring full, bit 1: PFC ring full
  // what receiving touches
  in_off: u32,             // ring from the peer
  in_mask: u32,
  in_head: u32,
  in_head_pub: u32,
  in_tail_seen: u32,
  ingress_bytes: u32,      // of all classes, headroom included
  reserve: u32,
  headroom: u32,
  alpha: u32,
  xon_gap: u32,
  in_byte_time: u32,
  window_bytes: u32,       // most bytes that can arrive here in one window
  node: u32,
  pfc_in_head: u32,
  pfc_in_head_pub: u32,
  pfc_in_tail_seen: u32,
  // the rest: rings of PFC frames
  pfc_delay: u32,
  pfc_out_off: u32,        // the same two for PFC frames
  pfc_out_mask: u32,
  pfc_out_tail: u32,
  pfc_out_tail_pub: u32,
  pfc_out_head_seen: u32,
  pfc_in_off: u32,
  pfc_in_mask: u32,
}

struct Queue {
  // egress
  area: vec3<u32>,         // queue integral, 96 bits [byte ps]
  bytes: u32,
  since: u32,
  head: u32,
  tail: u32,
  max_bytes: u32,
  marked: u32,
  deficit: u32,
  tx_packets: vec2<u32>,
  tx_bytes: vec2<u32>,
  // ingress
  ingress: u32,
  headroom: u32,
  xoff: u32,
  max_headroom: u32,
  rx_packets: vec2<u32>,
  rx_bytes: vec2<u32>,
  // PFC and drops
  paused_since: u32,
  paused_ps: vec2<u32>,
  drop_bytes: vec2<u32>,
  drops: u32,
  xoff_sent: u32,
  xon_sent: u32,
  xoff_received: u32,
  xon_received: u32,
}

struct Flow {
  // fixed
  start: vec2<u32>,
  src: u32,
  dst: u32,
  class_ix: u32,
  n_packets: u32,
  last_payload: u32,
  window: u32,
  dependent: u32,          // 1: released by another flow
  child_sent: u32,         // first flow released when this one is acknowledged
  child_received: u32,     // first flow released when this one is received
  sibling: u32,            // next flow released by the same event
  // sender
  next_avail: vec2<u32>,
  deadline: vec2<u32>,
  released: vec2<u32>,
  finish: vec2<u32>,
  alpha_next: vec2<u32>,
  cut_next: vec2<u32>,
  increase_next: vec2<u32>,
  cc_next: vec2<u32>,
  byte_gap: vec2<u32>,     // pacing: time of a wire byte [2^-16 ps]
  tx_packets: vec2<u32>,
  retx_packets: vec2<u32>,
  status: u32,
  una: u32,
  nxt: u32,
  sent_max: u32,
  retries: u32,
  has_deadline: u32,
  rate: u32,
  goal: u32,               // DCQCN target rate
  line: u32,
  alpha: u32,
  time_stage: u32,
  byte_stage: u32,
  bytes: u32,
  cc_on: u32,              // bit 0: CNP received, 1: alpha flag, 2: cut flag, 3: increase timer runs
  window_now: u32,
  resend: u32,
  high: u32,
  held: vec4<u32>,         // PSN una + 1 + bit, selective repeat
  list_next: u32,
  list_prev: u32,
  timeouts: u32,
  naks: u32,
  cnps_handled: u32,
  sendable: u32,
  // receiver
  receive: vec2<u32>,
  nak_time: vec2<u32>,
  cnp_time: vec2<u32>,
  rcv_nxt: u32,
  since_ack: u32,
  nak_for: u32,            // PSN of the remembered NAK, NIL = none
  cnp_sent: u32,           // 1: cnp_time holds
  rheld: vec4<u32>,        // PSN rcv_nxt + 1 + bit
  received: u32,
  cnps_sent: u32,
  marked: u32,
  out_of_sequence: u32,
  duplicates: u32,
  // InfiniBand
  cc_owner: u32,           // flow whose CCTI this one uses
  ccti: u32,
  ccti_max: u32,
  unused_0: u32,
}

// InfiniBand: a virtual lane of a port, by queue index.
struct Lane {
  hoq_since: vec2<u32>,    // start of the head-of-queue lifetime
  // sender
  fctbs: u32,              // 12 bit
  fccl: u32,
  starved: u32,
  last_input: u32,         // input port served last, by local number, NIL = none
  // receiver
  abr: u32,
  used: u32,               // blocks held
  owed: u32,
  fc_due: u32,             // near time, INF = none
  // counters
  max_blocks: u32,
  fc_sent: u32,
  fc_received: u32,
  hoq_drops: u32,
}

// InfiniBand: what a port has once for all lanes.
struct Wire {
  hoq: vec2<u32>,          // lifetime, 0 = none
  wait: vec2<u32>,         // time with frames queued and nothing sent
  wait_from: vec2<u32>,    // up to here it is counted, or the end of a transmission
  queued: u32,             // bytes of all lanes
  buffer_blocks: u32,
  fecn_bytes: u32,
  fecn_victims: u32,
  pending: u32,            // mask of lanes that must advertise credits
  due: u32,                // mask of lanes with a deadline for that
  free_port: u32,          // where the buffer of the frame that is being sent is freed at its end, NIL = none
  free_class: u32,
  free_blocks: u32,
  sent: u32,               // bytes of high priority since low priority was served
  high_at: u32,            // entries of the arbitration tables, and what is left of their weights
  high_left: u32,
  low_at: u32,
  low_left: u32,
  eligible: u32,           // frames that could have been marked since one was
  corrupt: u32,            // frames found corrupt here
}

@group(0) @binding(0) var<storage, read> params: array<Params>;
@group(0) @binding(1) var<storage, read> topo: array<u32>;
@group(0) @binding(2) var<storage, read_write> nodes: array<Node>;
@group(0) @binding(3) var<storage, read_write> ports: array<Port>;
@group(0) @binding(4) var<storage, read_write> queues: array<Queue>;
@group(0) @binding(5) var<storage, read_write> rings: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> pool: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> flows: array<Flow>;
@group(0) @binding(8) var<storage, read_write> sync: array<atomic<u32>>;
@group(0) @binding(9) var<storage, read_write> lanes: array<Lane>;
@group(0) @binding(10) var<storage, read_write> wires: array<Wire>;
@group(0) @binding(11) var<uniform> turn: Turn;

// What an invocation carries through its calls.
struct Ctx {
  base: vec2<u32>,
  node: u32,
  scenario: u32,
  block: u32,       // sync word of the scenario block
  parity: u32,
  end: u32,         // near end of the window
  work: u32,        // loop iterations so far
  stalled: u32,     // 1: stop here, go on in the next dispatch
  heap: u32,        // entries in the event heap
  last: u32,        // near time of the last event handled
  next: u32,        // near time of the node's next event, as the window opens
  notified: u32,    // 1: something was sent here in the window before
  eager: u32,       // InfiniBand: port that acts next, at the instant of the event before; NIL = none
}
