//! The command line, as data.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::engine::AdapterChoice;

/// Packet-level simulator of AI-cluster networks on compute shaders.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(name = "fabricsim", version, max_term_width = 110, arg_required_else_help = true, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Data goes to standard output; progress, notes and errors go to standard error.
Exit codes: 0 done, 2 wrong command line, 65 wrong input, 69 no such adapter or not enough memory,
70 internal error, 73 cannot create a result, 74 reading or writing failed, 130 interrupted (results are partial).";

/// A subcommand.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Simulate a scenario and write a result folder
    Run(RunArgs),
    /// Resolve a scenario without running it; print its size and what to know about it
    Check(CheckArgs),
    /// Print the fabric of a scenario as CSV, one row a port
    Topo(TopoArgs),
    /// List what a simulation can run on
    Adapters(AdaptersArgs),
    /// List the presets, or print the settings of one
    Presets(PresetsArgs),
    /// Print the reference of every scenario key, as Markdown
    Reference,
    /// Turn the files of another simulator into a scenario
    Import(ImportArgs),
    /// Measure the speed of this machine; CSV
    Bench(BenchArgs),
}

/// Arguments of `bench`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct BenchArgs {
    /// Fabric sizes
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = crate::bench::SIZES)]
    pub endpoints: Vec<u32>,
    /// One technology instead of both
    #[arg(long, value_name = "TECHNOLOGY", value_enum)]
    pub technology: Option<crate::bench::Technology>,
    /// One pattern instead of all
    #[arg(long, value_name = "PATTERN", value_enum)]
    pub pattern: Option<crate::bench::Pattern>,
    /// Payload of each load, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 4000)]
    pub megabytes: u64,
    /// auto, gpu, vulkan-cpu, builtin, or part of an adapter's name
    #[arg(long, value_name = "ADAPTER", default_value = "builtin", value_parser = parse_adapter)]
    pub adapter: AdapterChoice,
    /// Threads of the built-in adapter; 0 is one a core
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub threads: usize,
}

/// A scenario file and changes to it.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ScenarioArgs {
    /// Scenario file (TOML)
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Replace or add a setting, such as `--set seed=7`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_override)]
    pub overrides: Vec<(String, String)>,
}

/// Arguments of `run`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct RunArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Result folder [default: results/NAME, by the name of the scenario]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Replace results that are there already
    #[arg(long)]
    pub force: bool,
    /// auto, gpu, vulkan-cpu, builtin, or part of an adapter's name
    #[arg(long, value_name = "ADAPTER", default_value = "auto", value_parser = parse_adapter)]
    pub adapter: AdapterChoice,
    /// Threads of the built-in adapter; 0 is one a core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// Time window, such as 500ns; smaller than the default only, and without effect on results
    #[arg(long, value_name = "TIME", value_parser = parse_window)]
    pub window: Option<u32>,
    /// How to report progress on standard error
    #[arg(long, value_name = "MODE", value_enum, default_value_t = ProgressMode::Auto)]
    pub progress: ProgressMode,
    /// No summary, notes or progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

/// How to report progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ProgressMode {
    /// A bar, if standard error is a terminal
    #[default]
    Auto,
    /// Nothing
    None,
    /// One JSON object a line
    Jsonl,
}

/// Arguments of `check`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct CheckArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Print every setting as resolved, defaults included
    #[arg(long)]
    pub settings: bool,
}

/// Arguments of `topo`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct TopoArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
}

/// Arguments of `adapters`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct AdaptersArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `presets`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct PresetsArgs {
    /// Preset to print, as TOML
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// Arguments of `import`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct ImportArgs {
    /// Whose files.
    #[command(subcommand)]
    pub format: ImportFormat,
}

/// Formats of other simulators.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum ImportFormat {
    /// The HPCC ns-3 simulator: a configuration and the files it names
    Hpcc {
        /// Configuration file
        #[arg(value_name = "CONFIG")]
        config: PathBuf,
        /// Scenario file to write
        #[arg(short, long, value_name = "SCENARIO")]
        output: PathBuf,
        /// Replace the scenario file if it exists
        #[arg(long)]
        force: bool,
    },
}

fn parse_override(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_string(), value.trim().to_string())),
        _ => Err("expected KEY=VALUE, such as `seed=7`".into()),
    }
}

fn parse_adapter(text: &str) -> Result<AdapterChoice, String> {
    Ok(match text {
        "" => return Err("expected auto, gpu, vulkan-cpu, builtin, or part of a name".into()),
        "auto" => AdapterChoice::Auto,
        "gpu" => AdapterChoice::Gpu,
        "vulkan-cpu" => AdapterChoice::VulkanCpu,
        "builtin" => AdapterChoice::BuiltIn,
        name => AdapterChoice::Named(name.into()),
    })
}

/// A time with unit, in picoseconds; decimals only as far as they are whole picoseconds.
fn parse_window(text: &str) -> Result<u32, String> {
    let expected = || "expected a time from 1ps to 4ms, such as `500ns`".to_string();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(expected)?;
    let (number, unit) = (text[..split].trim(), &text[split..]);
    let places = match unit {
        "ps" => 0,
        "ns" => 3,
        "us" => 6,
        "ms" => 9,
        _ => return Err(expected()),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction:0<places$}");
    if whole.is_empty() || fraction.len() > places || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(expected());
    }
    digits.parse().ok().filter(|ps| *ps > 0).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    use super::*;

    fn parse(line: &str) -> Result<Cli, ErrorKind> {
        Cli::try_parse_from(std::iter::once("fabricsim").chain(line.split_whitespace())).map_err(|e| e.kind())
    }

    fn run_args(line: &str) -> RunArgs {
        match parse(line) {
            Ok(Cli { command: Command::Run(args) }) => args,
            other => panic!("`{line}` gave {other:?}"),
        }
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn run_takes_its_defaults() {
        let args = run_args("run a.toml");
        assert_eq!(args.scenario.scenario, PathBuf::from("a.toml"));
        assert_eq!((args.adapter, args.threads, args.window), (AdapterChoice::Auto, 0, None));
        assert_eq!((args.output, args.progress), (None, ProgressMode::Auto));
        assert!(!args.force && !args.quiet && args.scenario.overrides.is_empty());
    }

    #[test]
    fn run_takes_every_option() {
        let args =
            run_args("run a.toml -o out --set seed=7 --set x.y=a=b --adapter llvm --threads 2 --window 1.5us --progress jsonl --force -q");
        let pair = |k: &str, v: &str| (k.to_string(), v.to_string());
        assert_eq!(args.scenario.overrides, [pair("seed", "7"), pair("x.y", "a=b")]);
        assert_eq!(args.adapter, AdapterChoice::Named("llvm".into()));
        assert_eq!((args.threads, args.window), (2, Some(1_500_000)));
        assert_eq!((args.output, args.progress), (Some("out".into()), ProgressMode::Jsonl));
        assert!(args.force && args.quiet);
    }

    #[test]
    fn adapters_are_known_by_kind_or_name() {
        let adapter = |name: &str| run_args(&format!("run a.toml --adapter {name}")).adapter;
        assert_eq!(adapter("gpu"), AdapterChoice::Gpu);
        assert_eq!(adapter("vulkan-cpu"), AdapterChoice::VulkanCpu);
        assert_eq!(adapter("builtin"), AdapterChoice::BuiltIn);
        assert_eq!(adapter("GPU"), AdapterChoice::Named("GPU".into()));
    }

    #[test]
    fn windows_are_whole_picoseconds() {
        let good = [("1ps", 1), ("500ns", 500_000), ("0.5ns", 500), ("1.250us", 1_250_000), ("4ms", 4_000_000_000)];
        for (text, ps) in good {
            assert_eq!(parse_window(text), Ok(ps), "{text}");
        }
        for text in ["", "5", "ns", "0ns", "0.5ps", "-1ns", "1.2.3ns", "5ms", "1 s", "1e3ns", ".5ns", "+1ns"] {
            assert!(parse_window(text).is_err(), "{text}");
        }
    }

    #[test]
    fn mistakes_are_usage_errors() {
        let expected = [
            ("run", ErrorKind::MissingRequiredArgument),
            ("run a.toml --nonsense", ErrorKind::UnknownArgument),
            ("run a.toml --set seed", ErrorKind::ValueValidation),
            ("run a.toml --set =7", ErrorKind::ValueValidation),
            ("run a.toml --window 5", ErrorKind::ValueValidation),
            ("run a.toml --threads many", ErrorKind::ValueValidation),
            ("run a.toml --progress loud", ErrorKind::InvalidValue),
            ("sprint", ErrorKind::InvalidSubcommand),
            ("import hpcc config.txt", ErrorKind::MissingRequiredArgument),
            ("", ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand),
        ];
        for (line, kind) in expected {
            assert_eq!(parse(line), Err(kind), "`{line}`");
        }
    }

    #[test]
    fn the_other_commands_parse() {
        for line in [
            "check a.toml --settings --set seed=1",
            "topo a.toml",
            "adapters --json",
            "presets",
            "presets cisco-n9k",
            "reference",
            "import hpcc config.txt -o a.toml --force",
        ] {
            assert!(parse(line).is_ok(), "`{line}`");
        }
    }
}
