//! Commands that only print: `check`, `topo`, `adapters`, `presets`.

use std::fmt::Write as _;

use crate::case::NodeKind;
use crate::cli::{AdaptersArgs, CheckArgs, PresetsArgs, TopoArgs};
use crate::commands::terminal;
use crate::engine::AdapterInfo;
use crate::error::{Error, InputError};
use crate::metrics::expected_data_hops;
use crate::output::units::size;
use crate::output::{align, plan_text};
use crate::plan::Plan;

/// Resolves a scenario and prints its size, the notes, and the settings if asked for.
pub(super) fn check(args: &CheckArgs) -> Result<(), Error> {
    let plan = crate::scenario::load(&args.scenario.scenario, &args.scenario.overrides)?;
    terminal::print(&check_text(&plan, args.settings))
}

fn check_text(plan: &Plan, settings: bool) -> String {
    let mut out = plan_text(plan, expected_data_hops(&plan.case));
    if settings {
        out.push('\n');
        for (key, value) in &plan.settings {
            let _ = writeln!(out, "{key} = {value}");
        }
    }
    if !plan.notes.is_empty() {
        out.push('\n');
    }
    for note in &plan.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

/// Prints the fabric of a scenario.
pub(super) fn topo(args: &TopoArgs) -> Result<(), Error> {
    let plan = crate::scenario::load(&args.scenario.scenario, &args.scenario.overrides)?;
    terminal::print(&topo_csv(&plan)?)
}

/// One row a port, in case order.
fn topo_csv(plan: &Plan) -> Result<String, Error> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let failed = |e: csv::Error| Error::Internal(format!("cannot write to memory: {e}"));
    csv.write_record(["node", "node_kind", "port", "peer_node", "peer_port", "rate_kbps", "delay_ps"]).map_err(failed)?;
    for (port, spec) in plan.case.ports.iter().enumerate() {
        let peer = usize::try_from(spec.peer).unwrap_or(usize::MAX);
        let node = node(plan, port);
        let kind = node.map_or("", |n| if n.kind == NodeKind::Endpoint { "endpoint" } else { "switch" });
        let name = |p: usize| plan.port_names.get(p).map_or("", String::as_str);
        csv.write_record([
            node.map_or("", |n| &n.name),
            kind,
            name(port),
            self::node(plan, peer).map_or("", |n| &n.name),
            name(peer),
            &spec.rate_kbps.to_string(),
            &spec.delay_ps.to_string(),
        ])
        .map_err(failed)?;
    }
    let bytes = csv.into_inner().map_err(|e| Error::Internal(e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| Error::Internal(e.to_string()))
}

fn node(plan: &Plan, port: usize) -> Option<&crate::case::NodeSpec> {
    let node = plan.case.ports.get(port)?.node;
    plan.case.nodes.get(usize::try_from(node).ok()?)
}

/// Lists the adapters of this machine.
pub(super) fn adapters(args: &AdaptersArgs) -> Result<(), Error> {
    let found = crate::engine::adapters();
    if args.json {
        let mut text = serde_json::to_string_pretty(&found).map_err(|e| Error::Internal(e.to_string()))?;
        text.push('\n');
        return terminal::print(&text);
    }
    terminal::print(&adapters_text(&found))
}

fn adapters_text(found: &[AdapterInfo]) -> String {
    let limit = |bytes| {
        if bytes == 0 { "main memory".into() } else { size(bytes) }
    };
    let header = ["name", "kind", "backend", "driver", "largest binding", "largest buffer"];
    let mut rows = vec![header.map(String::from).to_vec()];
    rows.extend(found.iter().map(|a| {
        let limits = [limit(a.max_binding_bytes), limit(a.max_buffer_bytes)];
        [a.name.clone(), a.kind.clone(), a.backend.clone(), a.driver.clone()].into_iter().chain(limits).collect()
    }));
    align(&rows, 4)
}

/// Lists the presets, or prints one.
pub(super) fn presets(args: &PresetsArgs) -> Result<(), Error> {
    let known = crate::scenario::presets();
    let Some(name) = &args.name else {
        let width = known.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let lines: Vec<String> = known.iter().map(|(name, about)| format!("{name:<width$}  {about}\n")).collect();
        return terminal::print(&lines.concat());
    };
    match crate::scenario::preset_toml(name) {
        Some(mut toml) => {
            if !toml.ends_with('\n') {
                toml.push('\n');
            }
            terminal::print(&toml)
        }
        None => {
            let names: Vec<String> = known.into_iter().map(|(name, _)| name).collect();
            Err(Error::Input(InputError {
                key: "preset".into(),
                found: name.clone(),
                message: format!("no such preset; known are {}", names.join(", ")),
                ..InputError::default()
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing;

    #[test]
    fn check_prints_size_settings_and_notes() {
        let expected = "\
scenario          pair
endpoints         2
switches          1
links             2
classes           1 (1 lossless)
traffic groups    2
flows             4
bytes             35.00 KB
data packets      35
data packet-hops  70 (without acknowledgements)
lookahead         500.0 ns
stop time         2.000 us
seed              42

network.rate = \"100 Gb/s\"

note: the switch buffer is assumed
";
        assert_eq!(check_text(&testing::plan(), true), expected);
        assert!(!check_text(&testing::plan(), false).contains("network.rate"));
    }

    #[test]
    fn topo_has_one_row_a_port() {
        let expected = "\
node,node_kind,port,peer_node,peer_port,rate_kbps,delay_ps
h0,endpoint,h0/p0,sw0,sw0/p0,100000000,500000
h1,endpoint,h1/p0,sw0,sw0/p1,100000000,500000
sw0,switch,sw0/p0,h0,h0/p0,100000000,500000
sw0,switch,sw0/p1,h1,h1/p0,100000000,500000
";
        assert_eq!(topo_csv(&testing::plan()).expect("written"), expected);
    }

    #[test]
    fn adapters_are_listed_with_their_limits() {
        let adapter = AdapterInfo {
            name: "built-in (2 threads)".into(),
            kind: "builtin".into(),
            backend: "native".into(),
            driver: "1.0".into(),
            ..AdapterInfo::default()
        };
        let text = adapters_text(&[adapter]);
        let last = text.lines().last().expect("a line");
        assert!(last.starts_with("built-in (2 threads)  builtin"), "{last}");
        assert!(last.ends_with("main memory"), "{last}");
    }

    #[test]
    fn an_unknown_preset_is_an_input_error() {
        let args = PresetsArgs { name: Some("no-such-preset".into()) };
        let error = presets(&args).expect_err("unknown");
        assert_eq!(error.exit_code(), 65);
        assert!(error.to_string().starts_with("`preset` is `no-such-preset`: no such preset"), "{error}");
    }
}
