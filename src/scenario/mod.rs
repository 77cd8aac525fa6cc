//! Scenario files.

use std::path::Path;

use crate::error::Error;
use crate::plan::Plan;

/// Reads a scenario file; `overrides` are dotted keys and values that replace or add to what the file says.
///
/// # Errors
/// [`Error::Input`] for the first mistake found, [`Error::Io`] if a file cannot be read.
pub fn load(_path: &Path, _overrides: &[(String, String)]) -> Result<Plan, Error> {
    Err(Error::Internal("in work".into()))
}

/// The reference page of every key, default, unit and source.
#[must_use]
pub fn reference_markdown() -> String {
    String::new()
}

/// Names and one-line descriptions of the presets.
#[must_use]
pub fn presets() -> Vec<(String, String)> {
    Vec::new()
}

/// The settings that a preset stands for, as TOML text with sources as comments.
#[must_use]
pub fn preset_toml(_name: &str) -> Option<String> {
    None
}
