//! The InfiniBand side of a scenario: link layer, forwarding, annex A10.

use crate::case::{A10, Adaptive, Case, Credits, LaneSpec, NodeKind, NodeSpec, PortSpec, Reaction, Sl2Vl};
use crate::error::InputError;
use crate::fabric::Wiring;
use crate::scenario::read::{Reader, Sec};
use crate::subnet::{Engine, Tables, Wires, credit_loop, forwarding};
use crate::units::Unit;

const BLOCK: u64 = 64;

/// True if the fabric is InfiniBand.
pub(crate) fn is_on<'a>(reader: &'a Reader<'a>) -> Result<bool, InputError> {
    Ok(reader.section("fabric").word("technology")? == "infiniband")
}

/// Lane of each service level at every port.
pub(crate) fn lanes_of_levels<'a>(reader: &'a Reader<'a>) -> Result<[u8; 16], InputError> {
    let sec = reader.section("infiniband");
    let lanes = sec.short("lanes")?;
    let text = sec.text("sl2vl")?;
    if text == "auto" {
        return Ok(std::array::from_fn(|sl| u8::try_from(sl).unwrap_or(0) % u8::try_from(lanes).unwrap_or(1)));
    }
    let parsed: Vec<u8> = numbers(&sec, "sl2vl", &text)?;
    let allowed = parsed.iter().all(|l| *l == 15 || u32::from(*l) < lanes);
    let map = <[u8; 16]>::try_from(parsed).ok().filter(|_| allowed);
    map.ok_or_else(|| sec.error("sl2vl", format!("must be 16 numbers from 0 to {} or 15, or \"auto\"", lanes - 1)))
}

fn numbers(sec: &Sec<'_>, key: &'static str, text: &str) -> Result<Vec<u8>, InputError> {
    let parse = |item: &str| item.trim().parse().map_err(|_| sec.error(key, format!("`{}` is not a number from 0 to 255", item.trim())));
    text.split(',').map(parse).collect()
}

/// `lane:weight` entries.
fn arbitration(sec: &Sec<'_>, key: &'static str, lanes: u8) -> Result<Vec<(u8, u8)>, InputError> {
    let text = sec.text(key)?;
    match text.as_str() {
        "none" => return Ok(Vec::new()),
        "auto" => return Ok((1..lanes).map(|lane| (lane, 4)).collect()),
        _ => {}
    }
    let parse = |item: &str| {
        let (lane, weight) = item.trim().split_once(':')?;
        Some((lane.trim().parse().ok()?, weight.trim().parse().ok()?))
    };
    let wrong = |item: &str| sec.error(key, format!("`{}` is not lane:weight, lane 0 to {}, weight 0 to 255", item.trim(), lanes - 1));
    let table: Result<Vec<(u8, u8)>, InputError> =
        text.split(',').map(|item| parse(item).filter(|(lane, _)| *lane < lanes).ok_or_else(|| wrong(item))).collect();
    table.and_then(|t| if t.len() <= 64 { Ok(t) } else { Err(sec.error(key, "has more than 64 entries")) })
}

/// Buffers, lifetimes and marking of all ports; flow control acts when it arrives.
pub(crate) fn lane_specs<'a>(reader: &'a Reader<'a>, reaction: Reaction, frame: u32, wiring: &mut Wiring) -> Result<(), InputError> {
    let (sec, cc) = (reader.section("infiniband"), reader.section("cc"));
    let buffer = sec.num("buffer")?;
    let least = u64::from(frame).div_ceil(BLOCK) * BLOCK;
    if buffer < least {
        return Err(
            sec.error("buffer", format!("does not hold the largest frame, {frame} bytes in blocks of 64; allowed is {least} B or more"))
        );
    }
    let buffer_blocks = u32::try_from(buffer / BLOCK).map_err(|_| sec.error("buffer", "is too large"))?;
    let lifetimes = [sec.num_or_word("hoq_lifetime")?.unwrap_or(0), sec.num_or_word("leaf_hoq_lifetime")?.unwrap_or(0)];
    let marking = if reaction == Reaction::A10 { Some((cc.num("threshold")?, cc.word("victim_mask")?)) } else { None };
    let is_switch: Vec<bool> = wiring.nodes.iter().map(|n| n.kind == NodeKind::Switch).collect();
    let to_host: Vec<bool> = wiring.ports.iter().map(|p| !is_switch[wiring.ports[p.peer as usize].node as usize]).collect();
    for (port, to_host) in wiring.ports.iter_mut().zip(to_host) {
        port.pfc_delay_ps = port.delay_ps;
        port.lane = LaneSpec { buffer_blocks, hoq_ps: 0, fecn_bytes: u32::MAX, fecn_victims: false };
        if is_switch[port.node as usize] {
            port.lane.hoq_ps = lifetimes[usize::from(to_host)];
            if let Some((threshold, mask)) = marking.filter(|(t, _)| *t > 0) {
                port.lane.fecn_bytes = u32::try_from(buffer * (16 - threshold) / 16).unwrap_or(u32::MAX);
                port.lane.fecn_victims = mask == "all" || (mask == "hosts" && to_host);
            }
        }
    }
    Ok(())
}

/// The link layer and forwarding tables of a case that is otherwise complete, but for its flows.
pub(crate) fn credits<'a>(reader: &'a Reader<'a>, case: &Case, frame: u32) -> Result<Credits, InputError> {
    let sec = reader.section("infiniband");
    let lanes = u8::try_from(sec.num("lanes")?).unwrap_or(1);
    let threshold = sec.num_or_word("fc_threshold")?.unwrap_or(u64::from(frame)).div_ceil(BLOCK);
    let tables = tables(&sec, &case.nodes, &case.ports)?;
    let mut fc_threshold_blocks = u32::try_from(threshold).unwrap_or(u32::MAX);
    if let Some(port) = case.ports.first() {
        fc_threshold_blocks = fc_threshold_blocks.min(port.lane.buffer_blocks);
    }
    Ok(Credits {
        fc_threshold_blocks,
        fc_interval_ps: sec.short("fc_interval")?,
        first_come: sec.word("input_arbitration")? == "first-come",
        high: arbitration(&sec, "vlarb_high", lanes)?,
        low: arbitration(&sec, "vlarb_low", lanes)?,
        high_limit: u8::try_from(sec.num("high_limit")?).unwrap_or(u8::MAX),
        sl2vl: vec![lanes_of_levels(reader)?],
        sl2vl_of: vec![Sl2Vl::Uniform(0); case.nodes.len()],
        n_lids: tables.n_lids,
        lft: tables.lft,
        adaptive: adaptive(&sec)?,
        shield: sec.flag("shield")?,
        mark_size_bytes: if case.rules.reaction == Reaction::A10 { reader.section("cc").short("packet_size")? } else { 0 },
        marking_rate: if case.rules.reaction == Reaction::A10 { reader.section("cc").short("marking_rate")? } else { 0 },
        a10: a10(reader, case.rules.reaction)?,
    })
}

/// Gives every flow the table cells of its ends.
pub(crate) fn address(case: &mut Case) {
    let mut cells = vec![0; case.nodes.len()];
    let ends = case.nodes.iter().enumerate().filter(|(_, n)| n.kind == NodeKind::Endpoint);
    for ((n, _), cell) in ends.zip(0..) {
        cells[n] = cell;
    }
    for flow in &mut case.flows {
        flow.dlids = [cells[flow.dst as usize], cells[flow.src as usize]];
    }
}

/// Forwarding tables of the fabric as wired.
pub(crate) fn tables(sec: &Sec<'_>, nodes: &[NodeSpec], ports: &[PortSpec]) -> Result<Tables, InputError> {
    let engine = match sec.word("routing")? {
        "updn" => Engine::UpDown,
        "ftree" => Engine::FatTree,
        _ => Engine::MinHop,
    };
    forwarding(&Wires { nodes, ports }, engine).map_err(|m| sec.error("routing", m))
}

fn adaptive(sec: &Sec<'_>) -> Result<Adaptive, InputError> {
    let kind = sec.word("adaptive")?;
    if kind == "off" {
        // Rerouting keeps a destination on its new port, so that its packets stay in order.
        let binding_ps = if sec.flag("shield")? { sec.num("binding")? } else { 0 };
        return Ok(Adaptive { binding_ps, ..Adaptive::default() });
    }
    let text = sec.text("adaptive_sls")?;
    let sls = if text == "all" {
        u16::MAX
    } else {
        let levels = numbers(sec, "adaptive_sls", &text)?;
        if levels.iter().any(|sl| *sl > 15) {
            return Err(sec.error("adaptive_sls", "service levels are 0 to 15"));
        }
        levels.iter().fold(0, |mask, sl| mask | 1 << sl)
    };
    let text = sec.text("adaptive_grades")?;
    let graded = text != "none";
    let mut grades_bytes = [0; 3];
    if graded {
        let parse = |item: &str| Unit::Bytes.parse(item.trim()).ok().and_then(|b| u32::try_from(b).ok());
        let grades: Option<Vec<u32>> = text.split(',').map(parse).collect();
        grades_bytes = grades
            .and_then(|g| <[u32; 3]>::try_from(g).ok())
            .filter(|g| g[0] <= g[1] && g[1] <= g[2])
            .ok_or_else(|| sec.error("adaptive_grades", "must be three ascending sizes, e.g. \"1280 B, 2560 B, 5120 B\", or \"none\""))?;
    }
    let binding_ps = if kind == "bounded" { sec.num("binding")? } else { 0 };
    Ok(Adaptive { sls, graded, grades_bytes, binding_ps })
}

/// Published congestion control tables: (divisor of the index, packet time in us, shift), from LLNL's study of InfiniBand
/// congestion control.
fn table(name: &str) -> (f64, f64, u8) {
    match name {
        "mellanox-llnl" => (95.0, 0.408, 0),
        "simula" => (106.0, 0.218, 3),
        "simula-llnl" => (106.0, 0.408, 3),
        _ => (95.0, 0.218, 0),
    }
}

fn a10<'a>(reader: &'a Reader<'a>, reaction: Reaction) -> Result<A10, InputError> {
    if reaction != Reaction::A10 {
        return Ok(A10::default());
    }
    let cc = reader.section("cc");
    let narrow = |key| -> Result<u16, InputError> { Ok(u16::try_from(cc.num(key)?).unwrap_or(u16::MAX)) };
    let limit = narrow("ccti_limit")?;
    let (divisor, packet_us, shift) = table(cc.word("cct")?);
    // Small whole numbers in floating point: the same everywhere.
    let entry = |i: u16| {
        let multiplier = 7.0 * (f64::from(i) / divisor).powi(2) / packet_us;
        (shift, (0..1_u16 << 14).rev().find(|m| f64::from(*m) <= multiplier).unwrap_or(0))
    };
    let ccti_min = narrow("ccti_min")?;
    if ccti_min > limit {
        return Err(cc.error("ccti_min", format!("must not be above `ccti_limit`, {limit}")));
    }
    Ok(A10 {
        by_sl: cc.word("ccti_by")? == "sl",
        ccti_increase: narrow("ccti_increase")?,
        ccti_limit: limit,
        ccti_min,
        ccti_timer_ps: cc.num("ccti_timer")?,
        cct: (0..=limit).map(entry).collect(),
    })
}

/// What users of an InfiniBand fabric should know.
pub(crate) fn notes(case: &Case, port_names: &[String]) -> Vec<String> {
    let Some(credits) = &case.credits else { return Vec::new() };
    let mut notes = Vec::new();
    let wires = Wires { nodes: &case.nodes, ports: &case.ports };
    let tables = Tables { n_lids: credits.n_lids, lft: credits.lft.clone() };
    if let Some(ring) = credit_loop(&wires, &tables, &case.routes.switch_row) {
        let names: Vec<&str> = ring.iter().filter_map(|p| port_names.get(*p as usize)).map(String::as_str).collect();
        notes.push(format!("the forwarding tables have a credit loop and may deadlock: {} and round again", names.join(" -> ")));
    }
    let served = |lane: u32| credits.high.iter().chain(&credits.low).any(|(l, weight)| u32::from(*l) == lane && *weight > 0);
    let starving: Vec<String> = (0..case.classes.len() as u64)
        .filter(|lane| case.flows.iter().any(|f| u64::from(f.class) == *lane) && !served(u32::try_from(*lane).unwrap_or(0)))
        .map(|lane| lane.to_string())
        .collect();
    if !starving.is_empty() {
        notes.push(format!("no arbitration table serves lane {}: switches send nothing on it", starving.join(", ")));
    }
    notes
}
