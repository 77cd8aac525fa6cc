//! Presets: partial scenarios that fill in what a file leaves out.

/// A preset.
struct Preset {
    name: &'static str,
    text: &'static str,
}

const SCENARIOS: [Preset; 5] = [
    Preset { name: "roce-400g", text: include_str!("../../data/presets/roce-400g.toml") },
    Preset { name: "roce-100g", text: include_str!("../../data/presets/roce-100g.toml") },
    Preset { name: "roce-800g", text: include_str!("../../data/presets/roce-800g.toml") },
    Preset { name: "lossy-irn", text: include_str!("../../data/presets/lossy-irn.toml") },
    Preset { name: "hpcc-ns3", text: include_str!("../../data/presets/hpcc-ns3.toml") },
];

const CONTROLS: [Preset; 3] = [
    Preset { name: "paper", text: include_str!("../../data/presets/cc-paper.toml") },
    Preset { name: "connectx", text: include_str!("../../data/presets/cc-connectx.toml") },
    Preset { name: "hpcc", text: include_str!("../../data/presets/cc-hpcc.toml") },
];

/// The classes of a scenario that states none.
pub(crate) const CLASSES: &str = r#"[[class]]
name = "data"
priority = 3
lossless = true
ecn = true

[[class]]
name = "control"
priority = 6
service = "strict"
"#;

/// Text of a `scenario.profile`.
pub(crate) fn scenario(name: &str) -> Option<&'static str> {
    SCENARIOS.iter().find(|p| p.name == name).map(|p| p.text)
}

/// Text of a `cc.profile`.
pub(crate) fn control(name: &str) -> Option<&'static str> {
    CONTROLS.iter().find(|p| p.name == name).map(|p| p.text)
}

/// Names of the scenario profiles.
pub(crate) fn scenario_names() -> impl Iterator<Item = &'static str> {
    SCENARIOS.iter().map(|p| p.name)
}

/// Names of the congestion control profiles.
pub(crate) fn control_names() -> impl Iterator<Item = &'static str> {
    CONTROLS.iter().map(|p| p.name)
}

/// Names (`cc/` before those of `cc.profile`) and first comment lines.
pub(crate) fn all() -> Vec<(String, String)> {
    let describe = |text: &str| text.lines().take_while(|l| l.starts_with('#')).map(|l| l.trim_start_matches(['#', ' '])).collect::<Vec<_>>().join(" ");
    let scenarios = SCENARIOS.iter().map(|p| (p.name.to_owned(), describe(p.text)));
    scenarios.chain(CONTROLS.iter().map(|p| (format!("cc/{}", p.name), describe(p.text)))).collect()
}

/// Text of any preset by its name in [`all`].
pub(crate) fn text(name: &str) -> Option<&'static str> {
    name.strip_prefix("cc/").map_or_else(|| scenario(name), control)
}
