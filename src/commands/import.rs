//! `import`.

use std::io;

use crate::cli::{ImportArgs, ImportFormat};
use crate::commands::terminal;
use crate::error::Error;

/// Turns files of another simulator into a scenario.
pub(super) fn import(args: &ImportArgs) -> Result<(), Error> {
    let ImportFormat::Hpcc { config, output, force } = &args.format;
    if output.exists() && !force {
        let e = io::Error::new(io::ErrorKind::AlreadyExists, "it exists already (--force replaces it)");
        return Err(Error::Create(output.clone(), e));
    }
    crate::import::hpcc::import(config, output)?;
    terminal::tell(&format!("wrote `{}`", output.display()));
    Ok(())
}
