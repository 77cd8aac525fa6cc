//! A small plan with an outcome made by hand, shared by unit tests.

use crate::case::{Case, ClassSpec, CnpMode, Dcqcn, EcnSpec, FlowSpec, NodeKind, NodeSpec, PortSpec, Reaction, Recovery, Routes, Rules};
use crate::outcome::{FlowOutcome, FlowStatus, Outcome, QueueOutcome};
use crate::plan::{InputFile, Plan};

/// Two endpoints `h0`, `h1` at one switch `sw0` with 100 Gb/s links and one lossless class of priority 3.
///
/// Ports: 0 = h0, 1 = h1, 2 = sw0 to h0, 3 = sw0 to h1.
pub(crate) fn plan() -> Plan {
    let mut settings = serde_json::Map::new();
    settings.insert("network.rate".into(), "100 Gb/s".into());
    let flow = |id, src, start_ps, n_packets| FlowSpec {
        id,
        src,
        dst: 1 - src,
        class: 0,
        size_bytes: u64::from(n_packets) * 1000,
        n_packets,
        last_payload_bytes: 1000,
        start_ps,
        after: None,
        hash_data: 0,
        hash_ack: 0,
        path_data: Vec::new(),
        path_ack: Vec::new(),
        sl: 0,
        dlids: [0; 2],
        window_bytes: 0,
    };
    let case = Case {
        seed: 42,
        classes: vec![ClassSpec { priority: 3, lossless: true, ecn: true, quantum_bytes: 0 }],
        nodes: vec![node("h0", NodeKind::Endpoint, 0, 1), node("h1", NodeKind::Endpoint, 1, 1), node("sw0", NodeKind::Switch, 2, 2)],
        ports: vec![port(0, 2), port(1, 3), port(2, 0), port(2, 1)],
        routes: Routes {
            n_leaves: 1,
            switch_row: vec![u32::MAX, u32::MAX, 0],
            endpoint_leaf: vec![0, 0, u32::MAX],
            table: vec![u32::MAX],
            group_start: vec![0],
            members: Vec::new(),
        },
        credits: None,
        changes: Vec::new(),
        flows: vec![flow(7, 0, 0, 10), flow(3, 0, 1, 5), flow(8, 0, 1, 10), flow(9, 1, 0, 10)],
        rules: rules(),
        stop_ps: Some(2_000_000),
    };
    Plan {
        name: "pair".into(),
        case,
        settings,
        port_names: ["h0/p0", "h1/p0", "sw0/p0", "sw0/p1"].map(String::from).to_vec(),
        groups: vec!["web, fast".into(), "bulk".into()],
        group_of_flow: vec![0, 1, 1, 0],
        ideal_fct_ps: vec![800_000, 1_000_000, 800_000, 800_000],
        sampling: None,
        inputs: vec![InputFile { path: "pair.toml".into(), sha256: "00ff".into() }],
        notes: vec!["the switch buffer is assumed".into()],
    }
}

/// The plan, and an outcome in which each kind of trouble happens once.
pub(crate) fn pair() -> (Plan, Outcome) {
    let plan = plan();
    let mut outcome = idle(&plan);
    outcome.end_ps = 2_000_000;
    outcome.stopped = true;
    outcome.flows = vec![
        FlowOutcome { finish_ps: Some(1_000_000), receive_ps: Some(990_000), ..flow(FlowStatus::Done) },
        FlowOutcome { finish_ps: Some(2_000_000), receive_ps: Some(1_990_000), retx_packets: 3, ..flow(FlowStatus::Done) },
        flow(FlowStatus::Running),
        FlowOutcome { finish_ps: Some(1_500_000), timeouts: 7, ..flow(FlowStatus::Failed) },
    ];
    let queue = |o: &mut Outcome, port: usize, class_ix: usize, q| o.queues[port * 2 + class_ix] = q;
    queue(&mut outcome, 0, 0, QueueOutcome { tx_packets: 1, tx_bytes: 64, ..QueueOutcome::default() });
    queue(
        &mut outcome,
        0,
        1,
        QueueOutcome { tx_packets: 10, tx_bytes: 10_000, xoff_received: 2, xon_received: 1, paused_ps: 300_000, ..QueueOutcome::default() },
    );
    queue(
        &mut outcome,
        2,
        1,
        QueueOutcome {
            rx_packets: 10,
            rx_bytes: 10_000,
            xoff_sent: 2,
            xon_sent: 1,
            max_headroom_bytes: 900,
            drop_packets: 1,
            drop_bytes: 1_000,
            ..QueueOutcome::default()
        },
    );
    queue(
        &mut outcome,
        3,
        1,
        QueueOutcome {
            tx_packets: 10,
            tx_bytes: 10_000,
            marked_packets: 5,
            max_queue_bytes: 4_000,
            queue_byte_ps: 3_001_000_000,
            ..QueueOutcome::default()
        },
    );
    queue(&mut outcome, 1, 1, QueueOutcome { rx_packets: 10, rx_bytes: 10_000, ..QueueOutcome::default() });
    outcome.lost_packets[0] = 1;
    (plan, outcome)
}

/// An outcome in which nothing happened.
pub(crate) fn idle(plan: &Plan) -> Outcome {
    Outcome {
        flows: vec![FlowOutcome::default(); plan.case.flows.len()],
        queues: vec![QueueOutcome::default(); plan.case.ports.len() * (plan.case.classes.len() + 1)],
        lost_packets: vec![0; plan.case.ports.len()],
        ..Outcome::default()
    }
}

fn flow(status: FlowStatus) -> FlowOutcome {
    FlowOutcome {
        status,
        tx_packets: 10,
        cnps_sent: 2,
        cnps_handled: 1,
        ecn_marked: 2,
        received_packets: 10,
        rate_kbps: 100_000_000,
        alpha_q32: 1 << 31,
        ..FlowOutcome::default()
    }
}

fn node(name: &str, kind: NodeKind, first_port: u32, n_ports: u32) -> NodeSpec {
    let pool_bytes = if kind == NodeKind::Switch { 1 << 20 } else { 0 };
    NodeSpec { name: name.into(), kind, first_port, n_ports, hash_seed: 0, pool_bytes, cut_through: false }
}

fn port(node: u32, peer: u32) -> PortSpec {
    PortSpec {
        node,
        peer,
        rate_kbps: 100_000_000,
        byte_time_q16: 80 << 16,
        delay_ps: 500_000,
        pfc_delay_ps: 500_000,
        reserve_bytes: 0,
        headroom_bytes: 100_000,
        xon_gap_bytes: 0,
        alpha_q7: 128,
        alpha_lossy_q7: 128,
        ecn: EcnSpec { kmin_bytes: 1_000, kmax_bytes: 4_000, slope: 0, slope_shift: 0 },
        loss_q32: 0,
        drop_every: 0,
        lane: crate::case::LaneSpec::default(),
    }
}

fn rules() -> Rules {
    Rules {
        mtu_bytes: 1000,
        data_header_bytes: 66,
        first_extra_bytes: 16,
        ack_bytes: 64,
        cnp_bytes: 64,
        pfc_bytes: 64,
        gap_bytes: 20,
        grain_ps: 1,
        ack_class: None,
        cnp_class: None,
        ack_ignores_pause: false,
        eager_start: false,
        tie_by_flow: false,
        hpcc_wakeup: false,
        ack_every: 1,
        nak_interval_ps: 0,
        recovery: Recovery::GoBackN,
        rto_ps: 1_000_000,
        retry_limit: 7,
        variable_window: false,
        cnp_mode: CnpMode::Packet,
        cnp_interval_ps: 0,
        reaction: Reaction::None,
        dcqcn: Dcqcn::default(),
    }
}
