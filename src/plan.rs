//! A scenario made ready to run: the integer case, and what reports need beside it.

use std::path::PathBuf;

use crate::case::Case;
use crate::engine::Sampling;

/// What [`crate::scenario::load`] gives and the reports are made from.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Name of the scenario.
    pub name: String,
    /// What the engines run.
    pub case: Case,
    /// Every setting as resolved, defaults included, by dotted key; quantities as text with their unit.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// Name of each port, `node/index`, e.g. `leaf0/p3`.
    pub port_names: Vec<String>,
    /// Names of traffic groups, in file order.
    pub groups: Vec<String>,
    /// Traffic group of each flow, an index into `groups`.
    pub group_of_flow: Vec<u32>,
    /// Completion time of each flow alone in the empty fabric, last acknowledgement included (ps).
    pub ideal_fct_ps: Vec<u64>,
    /// Time series asked for.
    pub sampling: Option<Sampling>,
    /// Files read, the scenario itself first.
    pub inputs: Vec<InputFile>,
    /// What the user should know: assumptions in use, risky settings.
    pub notes: Vec<String>,
}

/// A file that a plan was made from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct InputFile {
    /// Path as given.
    pub path: PathBuf,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}
