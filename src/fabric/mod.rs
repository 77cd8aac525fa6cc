//! From a fabric's shape to nodes, ports and routes of a case.

pub mod buffer;
pub mod build;
pub mod route;
pub mod size;
pub mod subnet;

use std::collections::BTreeMap;

use crate::case::{EcnSpec, LaneSpec, NodeKind, NodeSpec, PortSpec};
use crate::units;

/// A fabric as nodes and links, before ports are numbered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// Nodes; the position is the node index of the case.
    pub nodes: Vec<GraphNode>,
    /// Links; a node's ports are numbered in the order of its links here.
    pub links: Vec<Link>,
}

/// A node of a [`Graph`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphNode {
    /// Name for reports, e.g. `gpu3` or `leaf0`.
    pub name: String,
    /// Endpoint or switch.
    pub kind: NodeKind,
}

/// A full-duplex link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The two nodes.
    pub ends: [u32; 2],
    /// The channel that leaves each of them.
    pub channels: [Channel; 2],
}

/// One direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// Rate (kb/s).
    pub rate_kbps: u64,
    /// Propagation delay (ps).
    pub propagation_ps: u64,
    /// Probability that a frame is lost (2^-32).
    pub loss_q32: u32,
    /// Every n-th frame is lost; 0 = off.
    pub drop_every: u32,
}

/// What the ports of a fabric have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortRules {
    /// PHY and FEC latency of a link (ps).
    pub phy_ps: u64,
    /// Pipeline latency of a switch, from arrival to queueing (ps).
    pub switch_latency_ps: u64,
    /// Latency of a NIC on receiving (ps).
    pub nic_latency_ps: u64,
    /// From the reception of a PFC frame to its effect (ps); `None` = by the rate of the port, see [`buffer::pfc_response_ps`].
    pub pfc_response_ps: Option<u64>,
    /// Largest data frame (bytes).
    pub frame_bytes: u64,
    /// Wire bytes around every frame.
    pub gap_bytes: u64,
    /// Frame bytes of a PFC frame.
    pub pfc_bytes: u64,
    /// Reserve of each class (bytes).
    pub reserve_bytes: u64,
    /// Headroom of each lossless class.
    pub headroom: Headroom,
    /// XON distance below the threshold (bytes).
    pub xon_gap_bytes: u64,
    /// Dynamic threshold factor of lossless ingress (1/128).
    pub alpha_q7: u32,
    /// Dynamic threshold factor of lossy egress (1/128).
    pub alpha_lossy_q7: u32,
    /// Alpha doubles for each doubling of a port's rate over that of the first endpoint, up to 1.
    pub alpha_by_rate: bool,
    /// Marking by port rate: the first entry whose rate is that of the port; then `ecn`.
    pub ecn_by_rate: Vec<(u64, EcnSpec)>,
    /// Marking, and the rate it is meant for (kb/s) if it scales with that of the port.
    pub ecn: buffer::Marking,
    /// Buffer of a switch (bytes).
    pub buffer_bytes: u64,
    /// Number of classes.
    pub n_classes: u64,
    /// Number of lossless classes.
    pub n_lossless: u64,
    /// Cut-through switches.
    pub cut_through: bool,
    /// Seed of the switches' hash seeds.
    pub hash_seed: u64,
}

impl PortRules {
    /// Rules of switches whose buffers are not of this kind: nothing set aside, no thresholds, no marks.
    #[must_use]
    pub fn without_buffers() -> Self {
        Self {
            phy_ps: 0,
            switch_latency_ps: 0,
            nic_latency_ps: 0,
            pfc_response_ps: Some(0),
            frame_bytes: 0,
            gap_bytes: 0,
            pfc_bytes: 0,
            reserve_bytes: 0,
            headroom: Headroom::Bytes(0),
            xon_gap_bytes: 0,
            alpha_q7: 1,
            alpha_lossy_q7: 1,
            alpha_by_rate: false,
            ecn_by_rate: Vec::new(),
            ecn: buffer::Marking { kmin_bytes: 0, kmax_bytes: 0, pmax: 0, at_rate_kbps: None },
            buffer_bytes: 1,
            n_classes: 0,
            n_lossless: 0,
            cut_through: false,
            hash_seed: 0,
        }
    }
}

/// How the headroom of a lossless class is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headroom {
    /// By [`buffer::headroom_bytes`].
    Auto,
    /// Three times what the link holds one way, as HPCC ns-3 does.
    ThreeDelays,
    /// A given size (bytes).
    Bytes(u64),
}

/// A fabric with its ports numbered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wiring {
    /// Nodes of the case.
    pub nodes: Vec<NodeSpec>,
    /// Ports of the case.
    pub ports: Vec<PortSpec>,
    /// Name of each port, `node/pN`.
    pub port_names: Vec<String>,
}

/// Why a fabric cannot be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Scenario key to look at.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
}

impl From<String> for Misfit {
    fn from(message: String) -> Self {
        Self { key: "fabric", message }
    }
}

/// Numbers the ports of a graph and works out their delays, buffers and thresholds.
///
/// # Errors
/// What does not fit: a value out of range, an endpoint without exactly one link, a buffer too small.
pub fn wire(graph: &Graph, rules: &PortRules) -> Result<Wiring, Misfit> {
    let (mut nodes, mut ports) = number(graph)?;
    let first_rate = first_endpoint_rate(&nodes, &ports);
    let propagation: Vec<u64> = ports.iter().map(|p| u64::from(p.delay_ps)).collect();
    for i in 0..ports.len() {
        let receiver_is_switch = nodes[ports[ports[i].peer as usize].node as usize].kind == NodeKind::Switch;
        let back = ports[ports[i].peer as usize];
        fill(&mut ports[i], &back, propagation[i], receiver_is_switch, first_rate, rules)?;
    }
    // Headroom holds what comes in, so it follows from both directions of the link, once all delays are known.
    let known = ports.clone();
    for (i, port) in ports.iter_mut().enumerate() {
        let incoming = &known[port.peer as usize];
        let bytes = match rules.headroom {
            _ if nodes[port.node as usize].kind == NodeKind::Endpoint => 0,
            Headroom::Bytes(b) => b,
            Headroom::ThreeDelays => buffer::three_delays_bytes(port.rate_kbps, propagation[i]),
            Headroom::Auto => buffer::headroom_bytes(&known[i], incoming, rules),
        };
        port.headroom_bytes = narrow(bytes, "headroom [bytes]")?;
    }
    for (n, node) in nodes.iter_mut().enumerate() {
        if node.kind == NodeKind::Switch {
            node.hash_seed = buffer::hash_seed(rules.hash_seed, n);
            node.cut_through = rules.cut_through;
            let own = &ports[node.first_port as usize..(node.first_port + node.n_ports) as usize];
            node.pool_bytes = pool_bytes(&node.name, own, rules).map_err(|message| Misfit { key: "switch.buffer", message })?;
        }
    }
    let port_names = ports.iter().enumerate().map(|(i, p)| port_name(&nodes[p.node as usize], i)).collect();
    Ok(Wiring { nodes, ports, port_names })
}

/// Rate of the first endpoint (kb/s); 0 if there is none.
#[must_use]
pub fn first_endpoint_rate(nodes: &[NodeSpec], ports: &[PortSpec]) -> u64 {
    ports.iter().find(|p| nodes[p.node as usize].kind == NodeKind::Endpoint).map_or(0, |p| p.rate_kbps)
}

fn port_name(node: &NodeSpec, port: usize) -> String {
    format!("{}/p{}", node.name, port - node.first_port as usize)
}

fn narrow(value: u64, what: &str) -> Result<u32, String> {
    u32::try_from(value).map_err(|_| format!("{what}: {value} does not fit 32 bits"))
}

/// Nodes with port ranges, and ports with peer, rate, loss, and (for now) the propagation as delay.
fn number(graph: &Graph) -> Result<(Vec<NodeSpec>, Vec<PortSpec>), String> {
    let mut degree = vec![0_u32; graph.nodes.len()];
    for link in &graph.links {
        for end in link.ends {
            *degree.get_mut(end as usize).ok_or("a link ends at a node that does not exist")? += 1;
        }
    }
    let mut next = Vec::with_capacity(degree.len());
    let mut nodes = Vec::with_capacity(degree.len());
    let mut first_port = 0;
    for (node, &n_ports) in graph.nodes.iter().zip(&degree) {
        if node.kind == NodeKind::Endpoint && n_ports != 1 {
            return Err(format!("endpoint `{}` has {n_ports} links; an endpoint has exactly one", node.name));
        }
        next.push(first_port);
        nodes.push(NodeSpec {
            name: node.name.clone(),
            kind: node.kind,
            first_port,
            n_ports,
            hash_seed: 0,
            pool_bytes: 0,
            cut_through: false,
        });
        first_port = first_port.checked_add(n_ports).ok_or("too many ports")?;
    }
    let blank = PortSpec {
        node: 0,
        peer: 0,
        rate_kbps: 0,
        byte_time_q16: 0,
        delay_ps: 0,
        pfc_delay_ps: 0,
        reserve_bytes: 0,
        headroom_bytes: 0,
        xon_gap_bytes: 0,
        alpha_q7: 0,
        alpha_lossy_q7: 0,
        ecn: EcnSpec { kmin_bytes: 0, kmax_bytes: 0, slope: 0, slope_shift: 0 },
        loss_q32: 0,
        drop_every: 0,
        lane: LaneSpec::default(),
    };
    let mut ports = vec![blank; first_port as usize];
    for link in &graph.links {
        let at = link.ends.map(|end| {
            let port = next[end as usize];
            next[end as usize] += 1;
            port
        });
        for (side, channel) in link.channels.iter().enumerate() {
            let port = &mut ports[at[side] as usize];
            port.node = link.ends[side];
            port.peer = at[1 - side];
            port.rate_kbps = channel.rate_kbps;
            port.delay_ps = narrow(channel.propagation_ps, "propagation delay [ps]")?;
            port.loss_q32 = channel.loss_q32;
            port.drop_every = channel.drop_every;
        }
    }
    Ok((nodes, ports))
}

fn fill(port: &mut PortSpec, back: &PortSpec, propagation: u64, to_switch: bool, first_rate: u64, rules: &PortRules) -> Result<(), String> {
    let receiver = if to_switch { rules.switch_latency_ps } else { rules.nic_latency_ps };
    let response = rules.pfc_response_ps.unwrap_or_else(|| buffer::pfc_response_ps(back.rate_kbps));
    let wire = propagation.saturating_add(rules.phy_ps);
    port.byte_time_q16 =
        units::byte_time_q16(port.rate_kbps).ok_or_else(|| format!("a rate of {} is too low", units::Unit::Rate.format(port.rate_kbps)))?;
    port.delay_ps = narrow(wire.saturating_add(receiver), "link delay [ps]")?;
    port.pfc_delay_ps = narrow(wire.saturating_add(response), "PFC delay [ps]")?;
    port.reserve_bytes = narrow(rules.reserve_bytes, "reserve [bytes]")?;
    port.xon_gap_bytes = narrow(rules.xon_gap_bytes, "XON gap [bytes]")?;
    port.alpha_q7 = if rules.alpha_by_rate { buffer::alpha_by_rate(rules.alpha_q7, port.rate_kbps, first_rate) } else { rules.alpha_q7 };
    port.alpha_lossy_q7 = rules.alpha_lossy_q7;
    let given = rules.ecn_by_rate.iter().find(|(rate, _)| *rate == port.rate_kbps);
    port.ecn = given.map_or_else(|| rules.ecn.at(port.rate_kbps), |(_, ecn)| Ok(*ecn))?;
    Ok(())
}

fn pool_bytes(name: &str, ports: &[PortSpec], rules: &PortRules) -> Result<u32, String> {
    let set_aside: u64 =
        ports.iter().map(|p| u64::from(p.reserve_bytes) * rules.n_classes + u64::from(p.headroom_bytes) * rules.n_lossless).sum();
    let pool = rules.buffer_bytes.checked_sub(set_aside).filter(|p| *p > 0).ok_or_else(|| {
        format!(
            "switch `{name}` has a buffer of {} bytes, but reserves and headroom of its {} ports take {set_aside} bytes; nothing is left to share",
            rules.buffer_bytes,
            ports.len()
        )
    })?;
    narrow(pool, "shared pool [bytes]")
}

/// Node index by name.
#[must_use]
pub fn names(graph: &Graph) -> BTreeMap<&str, u32> {
    (0_u32..).zip(&graph.nodes).map(|(i, n)| (n.name.as_str(), i)).collect()
}
