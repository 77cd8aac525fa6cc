//! What each subcommand does.

mod bench;
mod import;
mod info;
mod observe;
mod progress;
mod run;
mod signals;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::error::Error;

/// Exit code of a command line that makes no sense.
const USAGE: u8 = 2;

/// Runs the program with these arguments, its own name first; mistakes are told on standard error.
#[must_use]
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(e) => {
            // A reader of the help may have gone; there is nobody left to tell.
            let _ = e.print();
            return ExitCode::from(if e.use_stderr() { USAGE } else { 0 });
        }
    };
    match execute(&cli) {
        Ok(code) => ExitCode::from(code),
        Err(e) => {
            terminal::tell(&format!("error: {e}"));
            ExitCode::from(e.exit_code())
        }
    }
}

/// Runs a parsed command; the value is the exit code.
///
/// # Errors
/// Whatever the command meets.
pub fn execute(cli: &Cli) -> Result<u8, Error> {
    match &cli.command {
        Command::Run(args) => return run::run(args),
        Command::Check(args) => info::check(args)?,
        Command::Topo(args) => info::topo(args)?,
        Command::Adapters(args) => info::adapters(args)?,
        Command::Presets(args) => info::presets(args)?,
        Command::Reference => terminal::print(&crate::scenario::reference_markdown())?,
        Command::Import(args) => import::import(args)?,
        Command::Bench(args) => bench::bench(args)?,
    }
    Ok(0)
}
