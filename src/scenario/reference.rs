//! The reference page, written from the key tables and the presets.

use std::fmt::Write as _;

use crate::scenario::keys::{INNER, Key, Kind, SECTIONS, Section};
use crate::scenario::presets;
use crate::units::Unit;
use crate::workload::lists::CSV_COLUMNS;

const HEAD: &str = "# Scenario reference

Written by `fabricsim reference` from the tables that scenarios are read by; do not edit.

A scenario is a TOML file of the sections below. What it leaves out comes from its `cc.profile` and `ecn.profile`, then from its
`scenario.profile`, then from the defaults. Unknown keys, values without a unit, and keys that would have no effect are errors. On the command line,
`--set section.key=value` replaces a value; entries of lists are named by number or name: `--set traffic.0.size=2MB`,
`--set class.data.ecn=false`.

Units: times `ps ns us ms s`; sizes `B KB MB GB TB` (powers of 1000) and `KiB MiB GiB TiB` (powers of 1024); rates
`bps Kbps Mbps Gbps Tbps` (also `Mb/s`); lengths `mm cm m km`. Quantities are read as exact decimals. Fractions are written
`0.25`, `25 %` or `1/4`.

Marks in sources: `[M 60 %]` = from memory, not found in print, with how sure; `[A]` = an assumption of this project, as no
public document fixes the value. Sources without a mark were found in print.
";

/// The whole page.
pub(crate) fn markdown() -> String {
    let mut out = HEAD.to_owned();
    for section in SECTIONS {
        write_section(&mut out, section);
        for inner in INNER.iter().filter(|i| i.name.split('.').next() == Some(section.name)) {
            write_section(&mut out, inner);
        }
        if section.name == "class" {
            let _ = write!(out, "\nA scenario (and preset) without classes has these:\n\n```toml\n{}```\n", presets::CLASSES);
        }
        if section.name == "traffic" {
            csv_columns(&mut out);
        }
    }
    out.push_str(
        "\n## Presets\n\nNames with `cc/` are for `cc.profile`, those with `ecn/` for `ecn.profile`, others for `scenario.profile`.\n",
    );
    for (name, _) in presets::all() {
        let _ = write!(out, "\n### `{name}`\n\n```toml\n{}```\n", presets::text(&name).unwrap_or_default());
    }
    out
}

fn write_section(out: &mut String, section: &Section) {
    let level = if section.name.contains('.') { "###" } else { "##" };
    let title = match (section.name.contains('.'), section.list) {
        (true, _) => format!("Entries of `{}`", section.name),
        (false, true) => format!("`[[{}]]`", section.name),
        (false, false) => format!("`[{}]`", section.name),
    };
    let _ = write!(out, "\n{level} {title}\n\n{}\n\n| key | takes | default | meaning | source |\n|---|---|---|---|---|\n", section.doc);
    for key in section.keys {
        let default = if key.default.is_empty() { String::new() } else { format!("`{}`", key.default) };
        let _ = writeln!(out, "| `{}` | {} | {default} | {} | {} |", key.name, takes(key), key.doc, key.source);
    }
}

fn takes(key: &Key) -> String {
    let words = |words: &[&str]| words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ");
    match key.kind {
        Kind::Quantity { unit, min, max, words: w } => {
            let name = match unit {
                Unit::Time => "time",
                Unit::Bytes => "size",
                Unit::Rate => "rate",
                Unit::Length => "length",
                Unit::Share => "fraction",
                Unit::Count => "number",
            };
            let or = if w.is_empty() { String::new() } else { format!(", or {}", words(w)) };
            format!("{name}, {} to {}{or}", unit.format(min), unit.format(max))
        }
        Kind::Flag => "`true`, `false`".to_owned(),
        Kind::Word(w) => words(w),
        Kind::Text => "text".to_owned(),
        Kind::Texts => "list of texts".to_owned(),
        Kind::Tables(_) => "list of tables".to_owned(),
    }
}

fn csv_columns(out: &mut String) {
    out.push_str("\n### Columns of a `csv` flow list\n\nA header line, then one flow a line; `#` starts a comment line. Columns may stand in any order.\n\n| column | meaning |\n|---|---|\n");
    for (name, meaning) in CSV_COLUMNS {
        let _ = writeln!(out, "| `{name}` | {meaning} |");
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Set `FABRICSIM_BLESS` to write the page anew.
    #[test]
    fn the_page_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/REFERENCE.md");
        let page = super::markdown();
        if std::env::var_os("FABRICSIM_BLESS").is_some() {
            std::fs::write(&path, &page).expect("the page can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(found == page, "data/REFERENCE.md is out of date; run the tests with FABRICSIM_BLESS=1");
    }
}
