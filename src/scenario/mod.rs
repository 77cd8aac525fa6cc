//! Scenario files: what users write, checked and made into a [`Plan`].
//!
//! A scenario is TOML. Every key, with unit, range, default and source, is in one table (`keys`), by which files are
//! read, mistakes are explained and the reference page is written. What a file leaves out comes from its `cc.profile` and
//! `ecn.profile`, then from its `scenario.profile`, then from the defaults.

mod doc;
mod failure;
mod files;
mod finish;
mod infiniband;
mod keys;
mod keys_infiniband;
mod keys_traffic;
mod presets;
mod read;
mod reference;
mod rules;
mod shape;
#[cfg(test)]
mod tests;
mod traffic;
mod validate;
mod validate_credits;

use std::path::Path;

use crate::case::Case;
use crate::error::{Error, InputError};
use crate::fabric::{self, route};
use crate::plan::Plan;
use crate::scenario::doc::{Doc, Layer, Value};
use crate::scenario::files::Files;
use crate::scenario::read::Reader;

pub(crate) use doc::did_you_mean;
pub use validate::validate;

/// Reads a scenario file; `overrides` are dotted keys and values that replace or add to what the file says.
///
/// Entries of lists are named by position or name: `traffic.0.size`, `class.data.ecn`.
///
/// # Errors
/// [`Error::Input`] for the first mistake found, a file that is not there included; [`Error::Io`] if reading fails half-way.
pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<Plan, Error> {
    let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound
        | std::io::ErrorKind::IsADirectory
        | std::io::ErrorKind::InvalidData
        | std::io::ErrorKind::InvalidInput => {
            Error::Input(InputError { file: path.to_owned(), message: format!("cannot be read: {e}"), ..InputError::default() })
        }
        _ => Error::Io(path.to_owned(), e),
    })?;
    load_text(path, &text, overrides)
}

/// The same for the text of a scenario; `path` says what relative paths are relative to.
///
/// # Errors
/// As [`load`].
pub fn load_text(path: &Path, text: &str, overrides: &[(String, String)]) -> Result<Plan, Error> {
    let mut doc = Doc::parse(path, text)?;
    for (key, value) in
        overrides.iter().filter(|(k, _)| matches!(k.trim(), "scenario.profile" | "cc.profile" | "ecn.profile" | "fabric.technology"))
    {
        doc.set(key.trim(), value)?;
    }
    underlay_presets(&mut doc)?;
    for (key, value) in overrides {
        doc.set(key.trim(), value)?;
    }
    let reader = Reader::new(&doc)?;
    let mut files = Files::new(path, text);
    let mut plan = resolve(&reader, path, &mut files)?;
    for (layer, error) in reader.unused() {
        match layer {
            Layer::File(line) if !overrides.is_empty() => {
                plan.notes.push(format!("`{}` in line {line} has no effect with the values given on the command line", error.key));
            }
            _ => return Err(error.into()),
        }
    }
    let assumed = reader.assumed();
    if !assumed.is_empty() {
        plan.notes.push(format!("assumed, as no public document fixes them: {}", assumed.join(", ")));
    }
    plan.settings = reader.settings();
    plan.inputs = files.read;
    Ok(plan)
}

/// Puts presets under what the file and the command line say. A preset of a section that they name beats the scenario's profile,
/// which beats a preset of a section that it names itself.
fn underlay_presets(doc: &mut Doc) -> Result<(), InputError> {
    underlay_sections(doc, "none")?;
    let names: Vec<&str> = presets::scenario_names().collect();
    underlay(doc, "scenario", "none", &names, presets::scenario)?;
    if is_infiniband(doc) {
        return doc.underlay(presets::INFINIBAND);
    }
    underlay_sections(doc, "connectx")?;
    if !doc.root.contains_key("class") {
        doc.underlay(presets::CLASSES)?;
    }
    Ok(())
}

fn is_infiniband(doc: &Doc) -> bool {
    let Some(Value::Table(fabric)) = doc.root.get("fabric").map(|n| &n.value) else { return false };
    matches!(fabric.get("technology").map(|n| &n.value), Some(Value::Text(name)) if name == "infiniband")
}

fn underlay_sections(doc: &mut Doc, control: &str) -> Result<(), InputError> {
    let names: Vec<&str> = presets::control_names().collect();
    underlay(doc, "cc", control, &names, presets::control)?;
    let names: Vec<&str> = presets::marking_names().collect();
    underlay(doc, "ecn", "none", &names, presets::marking)
}

fn underlay(
    doc: &mut Doc,
    section: &str,
    default: &str,
    names: &[&str],
    text: impl Fn(&str) -> Option<&'static str>,
) -> Result<(), InputError> {
    let node = match doc.root.get(section).map(|n| &n.value) {
        Some(Value::Table(table)) => table.get("profile"),
        _ => None,
    };
    let key = format!("{section}.profile");
    let name = match node.map(|n| &n.value) {
        None => default,
        Some(Value::Text(name)) => name,
        Some(_) => return Err(doc.error(&key, node, "must be the name of a preset")),
    };
    if name == "none" && (section != "cc" || node.is_none()) {
        return Ok(());
    }
    let Some(text) = text(name) else {
        let near = did_you_mean(name, names.iter().copied()).map_or(String::new(), |n| format!("; did you mean \"{n}\"?"));
        return Err(doc.error(&key, node, format!("is not a preset; there are {}{near}", names.join(", "))));
    };
    doc.underlay(text)
}

fn resolve<'a>(reader: &'a Reader<'a>, path: &Path, files: &mut Files) -> Result<Plan, Error> {
    let scenario = reader.section("scenario");
    let stem = path.file_stem().map_or_else(|| "scenario".to_owned(), |s| s.to_string_lossy().into_owned());
    let name = scenario.text_if_set("name")?.unwrap_or(stem);
    let seed = scenario.short("seed")?;
    let stop_ps = scenario.num_or_word("stop")?;
    scenario.text("profile")?;
    let infiniband = infiniband::is_on(reader)?;
    if !infiniband {
        reader.section("cc").text("profile")?;
        reader.section("ecn").text("profile")?;
    }
    let frame = rules::frame_bytes(reader)?;
    let classes = if infiniband {
        rules::Classes::lanes(u8::try_from(reader.section("infiniband").num("lanes")?).unwrap_or(1))
    } else {
        rules::classes(reader, frame)?
    };
    let lanes = if infiniband { Some(infiniband::lanes_of_levels(reader)?) } else { None };
    let graph = shape::graph(reader, files)?;
    let port_rules = shape::port_rules(reader, &classes, frame, &graph)?;
    let at = |key: &str| {
        let key = key.to_owned();
        move |message: String| InputError { file: path.to_owned(), key, message, ..InputError::default() }
    };
    let mut wiring = fabric::wire(&graph, &port_rules).map_err(|m| at(m.key)(m.message))?;
    let first_rate = fabric::first_endpoint_rate(&wiring.nodes, &wiring.ports);
    let cc = reader.section("cc");
    match (infiniband, cc.word("kind")?) {
        (true, "dcqcn") => return Err(cc.error("kind", "must be \"none\" or \"a10\" on InfiniBand").into()),
        (false, "a10") => return Err(cc.error("kind", "must be \"none\" or \"dcqcn\" on Ethernet").into()),
        _ => {}
    }
    let rules = rules::rules(reader, &classes, first_rate)?;
    if infiniband {
        infiniband::lane_specs(reader, rules.reaction, frame, &mut wiring)?;
    }
    let routes = route::shortest_paths(&wiring.nodes, &wiring.ports);
    let place =
        traffic::Place { graph: &graph, nodes: &wiring.nodes, ports: &wiring.ports, classes: &classes, lanes, seed: u64::from(seed) };
    let traffic = traffic::traffic(reader, &place, files)?;
    let mut case = Case {
        seed,
        classes: classes.specs,
        nodes: wiring.nodes,
        ports: wiring.ports,
        routes,
        credits: None,
        changes: Vec::new(),
        flows: Vec::new(),
        rules,
        stop_ps,
    };
    let (flows, group_of_flow) = finish::flows(traffic.flows, &case).map_err(at("traffic"))?;
    case.flows = flows;
    if infiniband {
        let credits = infiniband::credits(reader, &case, frame)?;
        case.credits = Some(credits);
        infiniband::address(&mut case);
    }
    case.changes = failure::changes(reader, &case)?;
    finish::windows(reader, &mut case)?;
    validate(&case).map_err(|mut e| {
        e.file = path.to_owned();
        e
    })?;
    let ideal_fct_ps = finish::ideal(&case).map_err(at("traffic"))?;
    let sampling = finish::sampling(reader, &case, &wiring.port_names, &traffic.groups, &group_of_flow)?;
    let mut notes = finish::notes(&case, &port_rules);
    notes.extend(infiniband::notes(&case, &wiring.port_names));
    Ok(Plan {
        name,
        case,
        settings: serde_json::Map::new(),
        port_names: wiring.port_names,
        groups: traffic.groups,
        group_of_flow,
        ideal_fct_ps,
        sampling,
        inputs: Vec::new(),
        notes,
    })
}

/// The reference page of every key, default, unit and source.
#[must_use]
pub fn reference_markdown() -> String {
    reference::markdown()
}

/// Names and one-line descriptions of the presets; those of `cc.profile` and `ecn.profile` have `cc/` and `ecn/` before their
/// names.
#[must_use]
pub fn presets() -> Vec<(String, String)> {
    presets::all()
}

/// The settings that a preset stands for, as TOML text with sources as comments.
#[must_use]
pub fn preset_toml(name: &str) -> Option<String> {
    presets::text(name).map(str::to_owned)
}
