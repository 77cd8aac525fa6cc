//! Folders of the HPCC ns-3 simulator.

use std::path::Path;

use crate::error::Error;

/// Turns the configuration `config` and the files beside it into the scenario file `scenario`.
///
/// # Errors
/// [`Error::Input`] for the first mistake found, [`Error::Io`] and [`Error::Create`] for files.
pub fn import(_config: &Path, _scenario: &Path) -> Result<(), Error> {
    Err(Error::Internal("in work".into()))
}
