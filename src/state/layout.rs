//! Cases into device buffers: the one place that packs.
//!
//! A batch is the disjoint union of its cases. Device nodes are all endpoints (by case), then all switches; ports, queues and flows
//! follow case order with an offset a case. See `shaders/types.wgsl` for what each field means.

use crate::case::{Case, FlowSpec, NodeKind, PortSpec, Reaction, Recovery, Routes, Rules};
use crate::error::Error;
use crate::kernels::{self, Flow, Node, Params, Port, Queue};
use crate::state::buffers::Buffers;
use crate::state::lanes;

/// Largest near time a window may start at (ps); beyond, the epoch is moved.
pub const EPOCH_LIMIT_PS: u32 = 1 << 31;
const NIL: u32 = kernels::NIL;
const NEVER: [u32; 2] = [NIL, NIL];

/// Where the parts of a batch lie in the buffers.
#[derive(Debug, Clone)]
pub struct Layout {
    /// One entry a case.
    pub parts: Vec<Part>,
    /// Endpoints of all cases.
    pub n_endpoints: u32,
    /// Endpoints and switches of all cases.
    pub n_nodes: u32,
    /// Ports of all cases.
    pub n_ports: u32,
    /// Flows of all cases.
    pub n_flows: u32,
    /// Some case is Ethernet.
    pub ethernet: bool,
    /// Some case is InfiniBand.
    pub infiniband: bool,
    /// Queues a port.
    pub queue_stride: u32,
    /// First clock word in `sync`.
    pub clock_off: u32,
    /// Pool slot of the first entry; the event heaps come before.
    pub first_entry: u32,
    /// Pool entries of all nodes.
    pub n_entries: u32,
}

impl Layout {
    /// Number of cases.
    #[must_use]
    pub fn n_cases(&self) -> u32 {
        u32::try_from(self.parts.len()).unwrap_or(u32::MAX)
    }
}

/// Offsets of one case.
#[derive(Debug, Clone)]
pub struct Part {
    /// Device node of each case node.
    pub node_of: Vec<u32>,
    /// First device port.
    pub first_port: u32,
    /// Number of ports.
    pub n_ports: u32,
    /// First device flow.
    pub first_flow: u32,
    /// Number of flows.
    pub n_flows: u32,
    /// Queues in use a port (classes and the control queue).
    pub n_queues: u32,
    /// Window (ps).
    pub window_ps: u32,
}

/// The lookahead of a case (ps): nothing sent takes effect elsewhere sooner.
#[must_use]
pub fn lookahead_ps(case: &Case) -> u32 {
    case.ports.iter().map(|p| p.delay_ps.min(p.pfc_delay_ps)).min().unwrap_or(1)
}

/// Packs a batch. `window_ps` bounds the window of every case further.
///
/// # Errors
/// [`Error::Capacity`] if an index would not fit 32 bits, [`Error::Usage`] for a window of 0 or beyond the lookahead.
pub fn pack(cases: &[&Case], window_ps: Option<u32>) -> Result<(Layout, Buffers), Error> {
    let mut layout = number(cases, window_ps)?;
    let mut buffers = Buffers::default();
    let mut packer = Packer { layout: &mut layout, buffers: &mut buffers, rings: 0, masks: 0, ready: Vec::new() };
    packer.pack(cases)?;
    Ok((layout, buffers))
}

pub(super) fn index(value: usize, what: &str) -> Result<u32, Error> {
    match u32::try_from(value) {
        Ok(v) if v < kernels::FAR => Ok(v),
        _ => Err(Error::Capacity(format!("{value} {what} do not fit a 32-bit index; simulate a smaller fabric or fewer flows"))),
    }
}

fn number(cases: &[&Case], window_ps: Option<u32>) -> Result<Layout, Error> {
    let count = |f: &dyn Fn(&Case) -> usize| cases.iter().map(|c| f(c)).sum::<usize>();
    let endpoints = |c: &Case| c.nodes.iter().filter(|n| n.kind == NodeKind::Endpoint).count();
    let n_endpoints = index(count(&endpoints), "endpoints")?;
    let n_nodes = index(count(&|c| c.nodes.len()), "nodes")?;
    let n_ports = index(count(&|c| c.ports.len()), "ports")?;
    let n_flows = index(count(&|c| c.flows.len()), "flows")?;
    let queue_stride = index(cases.iter().map(|c| c.classes.len() + 1).max().unwrap_or(1), "classes")?;
    let (mut endpoint, mut switch, mut port, mut flow) = (0, n_endpoints, 0, 0);
    let mut parts = Vec::new();
    for case in cases {
        let lookahead = lookahead_ps(case);
        let window = window_ps.unwrap_or(lookahead);
        if window == 0 || window > lookahead {
            return Err(Error::Usage(format!(
                "the window is {window} ps; allowed are 1 ps to the lookahead of the fabric, {lookahead} ps"
            )));
        }
        let mut node_of = Vec::with_capacity(case.nodes.len());
        for node in &case.nodes {
            let next = if node.kind == NodeKind::Endpoint { &mut endpoint } else { &mut switch };
            node_of.push(*next);
            *next += 1;
        }
        let (ports, flows) = (index(case.ports.len(), "ports")?, index(case.flows.len(), "flows")?);
        parts.push(Part {
            node_of,
            first_port: port,
            n_ports: ports,
            first_flow: flow,
            n_flows: flows,
            n_queues: index(case.classes.len() + 1, "classes")?,
            window_ps: window,
        });
        port += ports;
        flow += flows;
    }
    let infiniband = cases.iter().any(|c| c.credits.is_some());
    let ethernet = cases.iter().any(|c| c.credits.is_none());
    Ok(Layout {
        parts,
        n_endpoints,
        n_nodes,
        n_ports,
        n_flows,
        ethernet,
        infiniband,
        queue_stride,
        clock_off: 0,
        first_entry: 0,
        n_entries: 0,
    })
}

/// Low and high word.
pub(crate) fn pair(v: u64) -> [u32; 2] {
    let b = v.to_le_bytes();
    [u32::from_le_bytes([b[0], b[1], b[2], b[3]]), u32::from_le_bytes([b[4], b[5], b[6], b[7]])]
}

/// The number of which [`pair`] gives the words.
pub(crate) fn join(p: [u32; 2]) -> u64 {
    u64::from(p[0]) | (u64::from(p[1]) << 32)
}

struct Packer<'a> {
    layout: &'a mut Layout,
    buffers: &'a mut Buffers,
    rings: usize,
    masks: usize,
    /// Endpoints with flows.
    ready: Vec<u32>,
}

impl Packer<'_> {
    fn pack(&mut self, cases: &[&Case]) -> Result<(), Error> {
        let mut nodes = vec![Node::default(); self.layout.n_nodes as usize];
        let mut ports = Vec::with_capacity(self.layout.n_ports as usize);
        let mut params = Vec::new();
        let mut flows = Vec::with_capacity(self.layout.n_flows as usize);
        let block_words = kernels::SCENARIO_WORDS as usize * cases.len();
        self.layout.clock_off = index(block_words, "cases")?;
        let n_nodes = self.layout.n_nodes as usize;
        self.masks = block_words + kernels::CLOCK_WORDS as usize * n_nodes;
        let mut topo = vec![0; cases.len()];
        for (s, case) in cases.iter().enumerate() {
            let mut rules = pack_params(case, self.layout.queue_stride);
            if let Some(credits) = &case.credits {
                lanes::pack_rules(credits, &mut topo, &mut rules)?;
            }
            params.push(rules);
            topo[s] = index(topo.len(), "routing words")?;
            self.pack_flows(s, case, &mut topo, &mut flows)?;
            self.pack_ports(s, case, &mut ports)?;
            self.pack_nodes(s, case, &mut topo, &mut nodes)?;
        }
        self.link_ports(&nodes, &mut ports);
        let slots = self.place_pools(&mut nodes)?;
        let mut sync = vec![0_u32; self.masks];
        for (s, part) in self.layout.parts.iter().enumerate() {
            let block = &mut sync[s * kernels::SCENARIO_WORDS as usize..];
            block[kernels::S_WINDOW as usize] = part.window_ps;
            block[kernels::S_LIMIT as usize] = EPOCH_LIMIT_PS;
        }
        let next = block_words + kernels::NEXT as usize * n_nodes;
        sync[block_words..next + n_nodes].fill(kernels::INF);
        for (n, node) in nodes.iter().enumerate() {
            sync[block_words + kernels::OWNER as usize * n_nodes + n] = node.scenario;
        }
        for node in &self.ready {
            sync[next + *node as usize] = 0;
        }
        let b = &mut self.buffers;
        b.params = bytemuck::cast_slice(&params).to_vec();
        b.topo = topo;
        b.nodes = bytemuck::cast_slice(&nodes).to_vec();
        b.ports = bytemuck::cast_slice(&ports).to_vec();
        let queue = Queue { head: NIL, tail: NIL, ..Queue::default() };
        b.queues = bytemuck::cast_slice(&vec![queue; ports.len() * self.layout.queue_stride as usize]).to_vec();
        b.rings = vec![0; 4 * self.rings];
        b.pool = vec![0; 4 * slots];
        b.flows = bytemuck::cast_slice(&flows).to_vec();
        b.sync = sync;
        let (lanes, wires) = lanes::pack_links(cases, self.layout);
        b.lanes = bytemuck::cast_slice(&lanes).to_vec();
        b.wires = bytemuck::cast_slice(&wires).to_vec();
        Ok(())
    }

    fn pack_nodes(&mut self, s: usize, case: &Case, topo: &mut Vec<u32>, nodes: &mut [Node]) -> Result<(), Error> {
        let part = self.layout.parts[s].clone();
        let maps = match &case.credits {
            Some(credits) => lanes::pack_maps(credits, topo)?,
            None => Vec::new(),
        };
        let mut cursor = 0;
        for (n, spec) in case.nodes.iter().enumerate() {
            let d = part.node_of[n];
            let case_ports = &case.ports[spec.first_port as usize..(spec.first_port + spec.n_ports) as usize];
            let mut node = Node {
                scenario: index(s, "cases")?,
                first_port: part.first_port + spec.first_port,
                n_ports: spec.n_ports,
                hash_seed: spec.hash_seed,
                pool_bytes: spec.pool_bytes,
                cut_through: u32::from(spec.cut_through),
                leaf: NIL,
                free_head: NIL,
                mask_off: NIL,
                list_head: NIL,
                list_tail: NIL,
                list_last: NIL,
                pending_head: NIL,
                alpha_min: case_ports.iter().map(|p| p.alpha_lossy_q7).min().unwrap_or(0),
                tx_at: NEVER,
                wake: NEVER,
                timer_next: NEVER,
                ..Node::default()
            };
            if spec.kind == NodeKind::Endpoint {
                node.pool_cap = 32;
                node.flow_first = part.first_flow + cursor;
                while (cursor as usize) < case.flows.len() && case.flows[cursor as usize].src as usize == n {
                    cursor += 1;
                }
                node.flow_cursor = node.flow_first;
                node.flow_end = part.first_flow + cursor;
                if node.flow_end > node.flow_first {
                    self.ready.push(d);
                }
            } else {
                node.pool_cap = 64.max(8 * spec.n_ports);
                node.heap_cap = 4 * spec.n_ports + 16;
                node.mask_words = spec.n_ports.div_ceil(32);
                node.mask_off = index(self.masks, "port masks")?;
                self.masks += (kernels::PORT_MASKS * node.mask_words) as usize;
                lanes::pack_switch(case, n, &maps, topo, &mut self.masks, &mut node)?;
            }
            nodes[d as usize] = node;
        }
        pack_routes(case, &case.routes, &part, topo, nodes)?;
        if cursor as usize != case.flows.len() {
            return Err(Error::Internal("flows are not sorted by source node".into()));
        }
        Ok(())
    }

    fn pack_ports(&mut self, s: usize, case: &Case, ports: &mut Vec<Port>) -> Result<(), Error> {
        let part = &self.layout.parts[s];
        let frame = largest_frame(&case.rules);
        for (i, spec) in case.ports.iter().enumerate() {
            let node = &case.nodes[spec.node as usize];
            let peer = &case.ports[spec.peer as usize];
            let (out_off, out_cap) = (self.rings, ring_capacity(spec, frame, part.window_ps));
            self.rings += out_cap as usize;
            let pfc_off = self.rings;
            self.rings += FIRST_PFC_RING as usize;
            let i = index(i, "ports")?;
            ports.push(Port {
                node: part.node_of[spec.node as usize],
                peer: part.first_port + spec.peer,
                peer_node: part.node_of[peer.node as usize],
                draw_id: i,
                local: i - node.first_port,
                byte_time: spec.byte_time_q16,
                in_byte_time: peer.byte_time_q16,
                delay: spec.delay_ps,
                pfc_delay: spec.pfc_delay_ps,
                reserve: spec.reserve_bytes,
                headroom: spec.headroom_bytes,
                xon_gap: spec.xon_gap_bytes,
                alpha: spec.alpha_q7,
                alpha_lossy: spec.alpha_lossy_q7,
                kmin: spec.ecn.kmin_bytes,
                kmax: spec.ecn.kmax_bytes,
                slope: spec.ecn.slope,
                slope_shift: spec.ecn.slope_shift,
                loss: spec.loss_q32,
                drop_every: spec.drop_every,
                line_kbps: line_kbps(spec.byte_time_q16),
                peer_cuts: u32::from(case.nodes[peer.node as usize].cut_through),
                window_bytes: bytes_in(part.window_ps, peer.byte_time_q16, frame),
                out_off: index(out_off, "ring slots")?,
                out_mask: out_cap - 1,
                pfc_out_off: index(pfc_off, "ring slots")?,
                pfc_out_mask: FIRST_PFC_RING - 1,
                weighted: first_weighted(case),
                sched: kernels::INF,
                ..Port::default()
            });
        }
        Ok(())
    }

    /// What a port must know of its peer.
    fn link_ports(&self, nodes: &[Node], ports: &mut [Port]) {
        for i in 0..ports.len() {
            let peer = ports[ports[i].peer as usize];
            let node = nodes[peer.node as usize];
            let port = &mut ports[i];
            port.in_off = peer.out_off;
            port.in_mask = peer.out_mask;
            port.pfc_in_off = peer.pfc_out_off;
            port.pfc_in_mask = peer.pfc_out_mask;
            port.peer_mask_word = NIL;
            if node.mask_off != NIL {
                port.peer_mask_word = node.mask_off + peer.local / 32;
                port.peer_mask_stride = node.mask_words;
                port.peer_mask_bit = 1 << (peer.local % 32);
            }
        }
    }

    /// Gives every node its pool and, behind all pools, every switch its event heap. Returns the slots in all.
    fn place_pools(&mut self, nodes: &mut [Node]) -> Result<usize, Error> {
        let mut slots = 0_usize;
        for node in nodes.iter_mut() {
            node.heap_off = index(slots, "pool slots")?;
            slots += node.heap_cap as usize;
        }
        self.layout.first_entry = index(slots, "pool slots")?;
        for node in nodes.iter_mut() {
            node.pool_off = index(slots, "pool slots")?;
            slots += 2 * node.pool_cap as usize;
        }
        self.layout.n_entries = (index(slots, "pool slots")? - self.layout.first_entry) / 2;
        Ok(slots)
    }

    fn pack_flows(&mut self, s: usize, case: &Case, topo: &mut Vec<u32>, flows: &mut Vec<Flow>) -> Result<(), Error> {
        let part = &self.layout.parts[s];
        let rows = topo.len();
        // Rows are indexed with device flow numbers; the shader's 32-bit arithmetic wraps back.
        topo[s] = index(rows, "routing words")?.wrapping_sub(8_u32.wrapping_mul(part.first_flow));
        topo.resize(rows + 8 * case.flows.len(), NIL);
        let mut last_child: Vec<[u32; 2]> = vec![[NIL; 2]; case.flows.len()];
        let first = flows.len();
        let (owners, ccti) = lanes::ccti_owners(case, part.first_flow);
        for (i, spec) in case.flows.iter().enumerate() {
            let mut row = [0; 8];
            for (k, node) in [(0, spec.dst), (2, spec.src)] {
                let endpoint = &case.nodes[node as usize];
                row[k] = case.routes.endpoint_leaf[node as usize];
                row[k + 1] = part.first_port + case.ports[endpoint.first_port as usize].peer;
            }
            row[4] = spec.hash_data;
            row[5] = spec.hash_ack;
            row[6] = pack_path(spec, part.first_port, topo)?;
            if case.credits.is_some() {
                [row[4], row[5]] = spec.dlids;
                row[6] = u32::from(spec.sl);
            }
            row[7] = spec.id;
            topo[rows + 8 * i..rows + 8 * i + 8].copy_from_slice(&row);
            flows.push(Flow {
                start: pair(spec.start_ps),
                src: part.node_of[spec.src as usize],
                dst: part.node_of[spec.dst as usize],
                class_ix: spec.class + 1,
                n_packets: spec.n_packets,
                last_payload: spec.last_payload_bytes,
                window: spec.window_bytes,
                dependent: u32::from(spec.after.is_some()),
                child_sent: NIL,
                child_received: NIL,
                sibling: NIL,
                nak_for: NIL,
                list_next: NIL,
                list_prev: NIL,
                cc_owner: owners[i],
                ccti,
                ccti_max: ccti,
                ..Flow::default()
            });
        }
        for (i, spec) in case.flows.iter().enumerate() {
            let Some(after) = spec.after else { continue };
            let device = part.first_flow + index(i, "flows")?;
            let list = usize::from(after.received);
            let last = std::mem::replace(&mut last_child[after.flow as usize][list], device);
            if last != NIL {
                flows[last as usize].sibling = device;
                continue;
            }
            let parent = &mut flows[first + after.flow as usize];
            if after.received { parent.child_received = device } else { parent.child_sent = device }
        }
        Ok(())
    }
}

const FIRST_PFC_RING: u32 = 8;

/// Largest data frame (bytes).
pub(crate) fn largest_frame(rules: &Rules) -> u32 {
    rules.mtu_bytes + rules.data_header_bytes + rules.first_extra_bytes
}

/// Bytes a channel delivers in one window, and two frames more.
fn bytes_in(window_ps: u32, byte_time_q16: u32, frame: u32) -> u32 {
    let bytes = (u64::from(window_ps) << 16) / u64::from(byte_time_q16.max(1)) + 2 * u64::from(frame);
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// First size of a ring: what full-size frames need, twice; it grows when small ones need more.
fn ring_capacity(port: &PortSpec, frame: u32, window_ps: u32) -> u32 {
    let flight = u64::from(port.delay_ps) + 2 * u64::from(window_ps);
    let frames = 2 * ((flight << 16) / (u64::from(port.byte_time_q16.max(1)) * u64::from(frame))) + 4;
    u32::try_from(frames.clamp(8, 512)).unwrap_or(512).next_power_of_two()
}

/// Line rate by the model's rule (kb/s).
pub(crate) fn line_kbps(byte_time_q16: u32) -> u32 {
    u32::try_from(8 * 65_536 * 1_000_000_000_u64 / u64::from(byte_time_q16.max(1))).unwrap_or(u32::MAX)
}

fn first_weighted(case: &Case) -> u32 {
    case.classes.iter().position(|c| c.quantum_bytes > 0).map_or(0, |i| u32::try_from(i + 1).unwrap_or(0))
}

fn pack_path(flow: &FlowSpec, first_port: u32, topo: &mut Vec<u32>) -> Result<u32, Error> {
    if flow.path_data.is_empty() && flow.path_ack.is_empty() {
        return Ok(NIL);
    }
    let at = index(topo.len(), "routing words")?;
    topo.push(index(flow.path_data.len(), "path ports")?);
    topo.push(index(flow.path_ack.len(), "path ports")?);
    topo.extend(flow.path_data.iter().chain(&flow.path_ack).map(|p| first_port + p));
    Ok(at)
}

/// Writes route groups and rows to the end of `topo` and lets the switches of the case use them.
pub(super) fn pack_routes(case: &Case, routes: &Routes, part: &Part, topo: &mut Vec<u32>, nodes: &mut [Node]) -> Result<(), Error> {
    let groups = pack_groups(routes, part.first_port, topo)?;
    for (n, spec) in case.nodes.iter().enumerate() {
        if spec.kind == NodeKind::Switch {
            let node = &mut nodes[part.node_of[n] as usize];
            node.route_row = pack_row(routes, n, &groups, topo)?;
            node.leaf = NIL;
        }
    }
    for (n, spec) in case.nodes.iter().enumerate() {
        if spec.kind == NodeKind::Endpoint && routes.endpoint_leaf[n] != u32::MAX {
            let peer = case.ports[spec.first_port as usize].peer;
            let switch = case.ports[peer as usize].node;
            nodes[part.node_of[switch as usize] as usize].leaf = routes.endpoint_leaf[n];
        }
    }
    Ok(())
}

/// Route groups as (size, members) in `topo`; returns the offset of each.
fn pack_groups(routes: &Routes, first_port: u32, topo: &mut Vec<u32>) -> Result<Vec<u32>, Error> {
    let starts = &routes.group_start;
    let mut offsets = Vec::with_capacity(starts.len());
    for w in starts.windows(2) {
        offsets.push(index(topo.len(), "routing words")?);
        topo.push(w[1] - w[0]);
        topo.extend(routes.members[w[0] as usize..w[1] as usize].iter().map(|p| first_port + p));
    }
    Ok(offsets)
}

fn pack_row(routes: &Routes, node: usize, groups: &[u32], topo: &mut Vec<u32>) -> Result<u32, Error> {
    let at = index(topo.len(), "routing words")?;
    let row = routes.switch_row[node] as usize * routes.n_leaves as usize;
    for group in &routes.table[row..row + routes.n_leaves as usize] {
        topo.push(if *group == u32::MAX { NIL } else { groups[*group as usize] });
    }
    Ok(at)
}

fn pack_params(case: &Case, queue_stride: u32) -> Params {
    let r = &case.rules;
    let d = &r.dcqcn;
    let class = |c: Option<u32>| c.map_or(NIL, |c| c + 1);
    let mask = |f: &dyn Fn(usize) -> bool| (0..case.classes.len()).filter(|i| f(*i)).fold(0, |m, i| m | 1 << (i + 1));
    let mut quantum = [0; 8];
    // Lanes of InfiniBand have no quantum, and may be eight.
    for (quantum, class) in quantum[1..].iter_mut().zip(&case.classes).take_while(|_| case.credits.is_none()) {
        *quantum = class.quantum_bytes;
    }
    let flag = |on: bool, bit: u32| if on { bit } else { 0 };
    Params {
        seed: case.seed,
        n_queues: case.classes.len().try_into().map_or(0, |n: u32| n + 1),
        queue_stride,
        mtu: r.mtu_bytes,
        data_header: r.data_header_bytes,
        first_extra: r.first_extra_bytes,
        ack_bytes: r.ack_bytes,
        cnp_bytes: r.cnp_bytes,
        pfc_bytes: r.pfc_bytes,
        gap_bytes: r.gap_bytes,
        grain: r.grain_ps,
        ack_class: class(r.ack_class),
        cnp_class: class(r.cnp_class),
        flags: flag(r.ack_ignores_pause, kernels::ACK_IGNORES_PAUSE)
            | flag(r.eager_start, kernels::EAGER_START)
            | flag(r.tie_by_flow, kernels::TIE_BY_FLOW)
            | flag(r.hpcc_wakeup, kernels::HPCC_WAKEUP)
            | flag(r.variable_window, kernels::VARIABLE_WINDOW)
            | flag(r.cnp_mode == crate::case::CnpMode::AckFlag, kernels::ACK_FLAG)
            | flag(d.clamp_target, kernels::CLAMP_TARGET)
            | flag(d.clamp_after_time_increase, kernels::CLAMP_AFTER_TIME),
        ack_every: r.ack_every,
        nak_interval: pair(r.nak_interval_ps),
        recovery: match r.recovery {
            Recovery::GoBackN => kernels::GO_BACK_N,
            Recovery::GoBackZero => kernels::GO_BACK_ZERO,
            Recovery::SelectiveRepeat => kernels::SELECTIVE_REPEAT,
            Recovery::OutOfOrder => kernels::OUT_OF_ORDER,
        },
        rto: pair(r.rto_ps),
        retry_limit: r.retry_limit,
        cnp_interval: pair(r.cnp_interval_ps),
        reaction: match r.reaction {
            Reaction::None => kernels::REACTION_NONE,
            Reaction::DcqcnPaper => kernels::REACTION_PAPER,
            Reaction::DcqcnFirmware => kernels::REACTION_FIRMWARE,
            Reaction::A10 => kernels::REACTION_A10,
        },
        g: d.g_q32,
        alpha_init: d.alpha_init_q32,
        alpha_period: pair(d.alpha_period_ps),
        cut_period: pair(d.cut_period_ps),
        first_cut: pair(d.cut_period_ps + d.first_cut_extra_ps),
        increase_period: pair(d.increase_period_ps),
        byte_counter: d.byte_counter_bytes,
        fast_recovery: d.fast_recovery,
        rate_ai: d.rate_ai_kbps,
        rate_hai: d.rate_hai_kbps,
        rate_min: d.rate_min_kbps,
        rate_max: d.rate_max_kbps,
        rate_first_cnp: d.rate_first_cnp_kbps,
        cut_shift: d.cut_shift,
        min_keep: d.min_keep_q32,
        lossless: mask(&|i| case.classes[i].lossless),
        ecn: mask(&|i| case.classes[i].ecn),
        strict_classes: mask(&|i| case.classes[i].quantum_bytes == 0),
        first_weighted: first_weighted(case),
        quantum,
        ..Params::default()
    }
}
