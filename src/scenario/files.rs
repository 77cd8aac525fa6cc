//! Files that a scenario refers to.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::plan::InputFile;
use crate::scenario::read::Sec;
use crate::scenario::shape::beside;

/// Reads files and remembers their checksums.
pub(crate) struct Files {
    scenario: PathBuf,
    pub(crate) read: Vec<InputFile>,
}

impl Files {
    /// Starts with the scenario itself.
    pub(crate) fn new(scenario: &Path, text: &str) -> Self {
        let mut files = Self { scenario: scenario.to_owned(), read: Vec::new() };
        files.remember(scenario.to_owned(), text);
        files
    }

    fn remember(&mut self, path: PathBuf, text: &str) {
        if self.read.iter().all(|f| f.path != path) {
            let digest = Sha256::digest(text.as_bytes());
            let sha256 = digest.iter().map(|b| format!("{b:02x}")).collect();
            self.read.push(InputFile { path, sha256 });
        }
    }

    /// Reads the file that a key names.
    pub(crate) fn read(&mut self, sec: &Sec<'_>, key: &'static str, name: &str) -> Result<(PathBuf, String), Error> {
        let path = beside(&self.scenario, name);
        let text = std::fs::read_to_string(&path).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound
            | std::io::ErrorKind::IsADirectory
            | std::io::ErrorKind::InvalidData
            | std::io::ErrorKind::InvalidInput => Error::Input(sec.error(key, format!("cannot read `{}`: {e}", path.display()))),
            _ => Error::Io(path.clone(), e),
        })?;
        self.remember(path.clone(), &text);
        Ok((path, text))
    }
}
