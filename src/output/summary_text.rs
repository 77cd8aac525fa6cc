//! `summary.txt`: what a run says to people, the same on every engine.

use std::fmt::Write as _;

use crate::case::NodeKind;
use crate::metrics::{Distribution, FabricSummary, GroupSummary, MILLION, Metrics, Place, scaled_ratio};
use crate::output::columns::{group_name, port_name, put_queue};
use crate::output::units::{count, counted, factor, grouped, percent, rate, size, time};
use crate::plan::Plan;

/// The summary of a run; `partial` if it was interrupted.
#[must_use]
pub fn summary_text(plan: &Plan, metrics: &Metrics, findings: &[String], partial: bool) -> String {
    let mut out = head(plan, metrics, partial);
    out.push('\n');
    out.push_str(&flow_table(plan, metrics));
    out.push('\n');
    for (label, text) in fabric_lines(plan, metrics) {
        line(&mut out, &format!("{label:<6} {text}"));
    }
    if !findings.is_empty() {
        out.push('\n');
    }
    for finding in findings {
        line(&mut out, &format!("warning: {finding}"));
    }
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

fn head(plan: &Plan, metrics: &Metrics, partial: bool) -> String {
    let endpoints = plan.case.nodes.iter().filter(|n| n.kind == NodeKind::Endpoint).count();
    let counted = |n: usize, noun| counted(u64::try_from(n).unwrap_or(u64::MAX), noun);
    let mut out = format!(
        "{}: {}, {}, {}, seed {}\n",
        plan.name,
        counted(endpoints, "endpoint"),
        counted(plan.case.nodes.len() - endpoints, "switch"),
        counted(plan.case.flows.len(), "flow"),
        plan.case.seed
    );
    let end = match (partial, metrics.fabric.stopped) {
        (true, _) => "PARTIAL: the run was interrupted",
        (false, true) => "events were left at the stop time",
        (false, false) => "nothing was left to do",
    };
    let hops = grouped(metrics.fabric.packet_hops);
    let _ = writeln!(out, "simulated {} ({end}), {hops} packet-hops", time(metrics.fabric.end_ps));
    out
}

/// One line a traffic group, columns aligned.
fn flow_table(plan: &Plan, metrics: &Metrics) -> String {
    let header = [
        "flows",
        "all",
        "done",
        "failed",
        "open",
        "fct p50",
        "p95",
        "p99",
        "p99.9",
        "max",
        "slowdown p50",
        "p99",
        "max",
        "goodput p50",
        "p1",
    ];
    let mut rows: Vec<Vec<String>> = vec![header.map(String::from).to_vec()];
    rows.push(flow_cells("all", &metrics.all));
    // A single group is all there is.
    if metrics.groups.len() > 1 {
        rows.extend(metrics.groups.iter().map(|g| flow_cells(group_name(plan, g.group), g)));
    }
    align(&rows, 1)
}

fn flow_cells(name: &str, g: &GroupSummary) -> Vec<String> {
    let of = |d: &Option<Distribution>, show: fn(u64) -> String, pick: &[fn(&Distribution) -> u64]| -> Vec<String> {
        pick.iter().map(|f| d.as_ref().map_or_else(|| "-".into(), |d| show(f(d)))).collect()
    };
    let counts = [g.flows, g.done, g.failed, g.running + g.waiting].map(grouped);
    let mut cells = vec![name.to_string()];
    cells.extend(counts);
    cells.extend(of(&g.fct_ps, time, &[|d| d.p50, |d| d.p95, |d| d.p99, |d| d.p999, |d| d.max]));
    cells.extend(of(&g.slowdown_millionths, factor, &[|d| d.p50, |d| d.p99, |d| d.max]));
    cells.extend(of(&g.goodput_kbps, rate, &[|d| d.p50, |d| d.p01]));
    cells
}

/// Columns side by side: the first `n_text` to the left, the others to the right.
pub(crate) fn align(rows: &[Vec<String>], n_text: usize) -> String {
    let n = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut text = String::new();
        for (c, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = if c == 0 { "" } else { "  " };
            let _ = if c < n_text { write!(text, "{gap}{cell:<width$}") } else { write!(text, "{gap}{cell:>width$}") };
        }
        line(&mut out, &text);
    }
    out
}

fn fabric_lines(plan: &Plan, metrics: &Metrics) -> Vec<(&'static str, String)> {
    let f = &metrics.fabric;
    vec![
        ("total", total_line(&metrics.all)),
        if plan.case.credits.is_some() { ("waits", waits_line(plan, metrics)) } else { ("PFC", pfc_line(plan, f)) },
        ("ECN", ecn_line(metrics)),
        ("loss", loss_line(metrics)),
        ("queues", queue_line(plan, f)),
        ("links", link_line(plan, f)),
    ]
}

fn total_line(all: &GroupSummary) -> String {
    let moved = size(all.done_bytes);
    match (all.makespan_ps, all.aggregate_goodput_kbps, all.jain_millionths) {
        (Some(makespan), Some(goodput), Some(jain)) => {
            format!("{moved} done in {}, {}, Jain index {}", time(makespan), rate(goodput), factor(jain))
        }
        _ => format!("{moved} done"),
    }
}

/// Ports of InfiniBand that had frames queued and sent nothing: for want of credits, or because the frame was not all there yet.
fn waits_line(plan: &Plan, metrics: &Metrics) -> String {
    let updates: u64 = metrics.queues.iter().map(|q| q.outcome.fc_sent).sum();
    let waits = metrics.links.iter().filter_map(|l| Some((l.infiniband?.xmit_wait_ps, l.port)));
    let total: u64 = waits.clone().map(|(wait_ps, _)| wait_ps).sum();
    let worst = waits.filter(|(wait_ps, _)| *wait_ps > 0).max_by_key(|(wait_ps, port)| (*wait_ps, std::cmp::Reverse(*port)));
    let sent = format!("{} sent", counted(updates, "flow-control packet"));
    match worst {
        None => format!("{sent}; no switch port waited with frames queued"),
        Some((wait_ps, port)) => format!(
            "{sent}; switch ports waited {} in total with frames queued, {} at {}",
            time(total),
            time(wait_ps),
            plan.port_names.get(port).map_or("", String::as_str)
        ),
    }
}

fn pfc_line(plan: &Plan, f: &FabricSummary) -> String {
    if f.lossless_queues == 0 {
        return "no lossless class".into();
    }
    let sent = format!("{} and {} sent", counted(f.xoff_sent, "pause"), counted(f.xon_sent, "resume"));
    let Some(worst) = f.most_paused else {
        return format!("{sent}; no queue was paused");
    };
    format!(
        "{sent}; {} of {} queues paused, {} in total, {} at {}",
        grouped(f.paused_queues),
        grouped(f.lossless_queues),
        time(f.paused_ps),
        time(worst.value),
        place(plan, worst)
    )
}

fn ecn_line(metrics: &Metrics) -> String {
    let all = &metrics.all;
    let share = scaled_ratio(u128::from(all.ecn_marked_received), u128::from(all.tx_packets), MILLION).unwrap_or(0);
    format!(
        "{} marked ({} of those sent), {} sent, {} handled",
        counted(metrics.fabric.ecn_marked_packets, "packet"),
        percent(share),
        counted(all.cnps_sent, "CNP"),
        grouped(all.cnps_handled)
    )
}

fn loss_line(metrics: &Metrics) -> String {
    let (all, f) = (&metrics.all, &metrics.fabric);
    format!(
        "{} dropped in switches, {} lost on links; {} retransmitted, {}",
        counted(f.discard_packets, "packet"),
        grouped(f.lost_packets),
        grouped(all.retx_packets),
        counted(all.timeouts, "timeout")
    )
}

fn queue_line(plan: &Plan, f: &FabricSummary) -> String {
    let Some(largest) = f.largest_queue else {
        return "no switch queued a packet".into();
    };
    let mut out = format!("largest {} at {}", size(largest.value), place(plan, largest));
    if let Some(headroom) = f.largest_headroom {
        let _ = write!(out, "; headroom use up to {} at {}", size(headroom.value), place(plan, headroom));
    }
    out
}

fn link_line(plan: &Plan, f: &FabricSummary) -> String {
    let mean = percent(f.mean_utilization_millionths);
    match f.busiest_link {
        Some(busiest) => format!("mean utilization {mean}, busiest {} at {}", percent(busiest.value), place(plan, busiest)),
        None => "idle".into(),
    }
}

fn place(plan: &Plan, place: Place) -> String {
    let mut out = port_name(plan, place.port).to_string();
    if place.class.is_some() {
        out.push(' ');
        put_queue(&mut out, plan, place.class);
    }
    out
}

/// The size of a plan for people, before it is run.
#[must_use]
pub fn plan_text(plan: &Plan, data_hops: u64) -> String {
    let case = &plan.case;
    let total = |f: fn(&crate::case::FlowSpec) -> u64| case.flows.iter().map(f).sum::<u64>();
    let endpoints = case.nodes.iter().filter(|n| n.kind == NodeKind::Endpoint).count();
    let lookahead = case.ports.iter().map(|p| p.delay_ps.min(p.pfc_delay_ps)).min().unwrap_or(0);
    let lossless = case.classes.iter().filter(|c| c.lossless).count();
    let n = |n: usize| grouped(u64::try_from(n).unwrap_or(u64::MAX));
    let rows = [
        ("scenario", plan.name.clone()),
        ("endpoints", n(endpoints)),
        ("switches", n(case.nodes.len() - endpoints)),
        ("links", n(case.ports.len() / 2)),
        ("classes", format!("{} ({lossless} lossless)", case.classes.len())),
        ("traffic groups", n(plan.groups.len())),
        ("flows", n(case.flows.len())),
        ("bytes", size(total(|f| f.size_bytes))),
        ("data packets", grouped(total(|f| u64::from(f.n_packets)))),
        ("data packet-hops", format!("{} (without acknowledgements)", count(data_hops))),
        ("lookahead", time(u64::from(lookahead))),
        ("stop time", case.stop_ps.map_or_else(|| "when nothing is left to do".into(), time)),
        ("seed", case.seed.to_string()),
    ];
    rows.iter().fold(String::new(), |mut out, (label, value)| {
        line(&mut out, &format!("{label:<16}  {value}"));
        out
    })
}
