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

const MARKINGS: [Preset; 7] = [
    Preset { name: "cisco-n9k", text: include_str!("../../data/presets/ecn-cisco-n9k.toml") },
    Preset { name: "nvidia", text: include_str!("../../data/presets/ecn-nvidia.toml") },
    Preset { name: "arista", text: include_str!("../../data/presets/ecn-arista.toml") },
    Preset { name: "dell-z9664f", text: include_str!("../../data/presets/ecn-dell-z9664f.toml") },
    Preset { name: "sonic", text: include_str!("../../data/presets/ecn-sonic.toml") },
    Preset { name: "hpcc", text: include_str!("../../data/presets/ecn-hpcc.toml") },
    Preset { name: "paper", text: include_str!("../../data/presets/ecn-paper.toml") },
];

/// What lies under every InfiniBand scenario.
pub(crate) const INFINIBAND: &str = include_str!("../../data/presets/infiniband.toml");

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

/// Text of an `ecn.profile`.
pub(crate) fn marking(name: &str) -> Option<&'static str> {
    MARKINGS.iter().find(|p| p.name == name).map(|p| p.text)
}

/// Names of the marking profiles.
pub(crate) fn marking_names() -> impl Iterator<Item = &'static str> {
    MARKINGS.iter().map(|p| p.name)
}

/// Names of the scenario profiles.
pub(crate) fn scenario_names() -> impl Iterator<Item = &'static str> {
    SCENARIOS.iter().map(|p| p.name)
}

/// Names of the congestion control profiles.
pub(crate) fn control_names() -> impl Iterator<Item = &'static str> {
    CONTROLS.iter().map(|p| p.name)
}

/// Names (`cc/` and `ecn/` before those of `cc.profile` and `ecn.profile`) and first comment lines.
pub(crate) fn all() -> Vec<(String, String)> {
    let describe = |text: &str| {
        text.lines().take_while(|l| l.starts_with('#')).map(|l| l.trim_start_matches(['#', ' '])).collect::<Vec<_>>().join(" ")
    };
    let scenarios = SCENARIOS.iter().map(|p| (p.name.to_owned(), describe(p.text)));
    let controls = CONTROLS.iter().map(|p| (format!("cc/{}", p.name), describe(p.text)));
    let markings = MARKINGS.iter().map(|p| (format!("ecn/{}", p.name), describe(p.text)));
    scenarios.chain(controls).chain(markings).collect()
}

/// Text of any preset by its name in [`all`].
pub(crate) fn text(name: &str) -> Option<&'static str> {
    match name.split_once('/') {
        Some(("cc", name)) => control(name),
        Some(("ecn", name)) => marking(name),
        _ => scenario(name),
    }
}
