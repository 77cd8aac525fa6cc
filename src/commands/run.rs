//! `run`: from a scenario file to a result folder.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Instant, SystemTime};

use crate::case::Case;
use crate::cli::RunArgs;
use crate::commands::observe::Watch;
use crate::commands::progress::Reporter;
use crate::commands::{signals, terminal};
use crate::engine::{self, Observer, Options, Report};
use crate::error::Error;
use crate::output::units::count;
use crate::output::{self, ResultFolder, RunRecord, TimeSeries, Written};
use crate::plan::Plan;

/// Runs a scenario; the value is the exit code.
pub(super) fn run(args: &RunArgs) -> Result<u8, Error> {
    let started = (SystemTime::now(), Instant::now());
    let plan = crate::scenario::load(&args.scenario.scenario, &args.scenario.overrides)?;
    let stop = signals::listen();
    simulate(&plan, args, started, stop, &engine::run, &mut std::io::stdout().lock())
}

/// What [`engine::run`] looks like; tests have their own.
type Engine<'a> = &'a dyn Fn(&Case, &Options, &mut dyn Observer) -> Result<Report, Error>;

/// Runs a plan on an engine and writes the results; the summary goes to `stdout`.
fn simulate(
    plan: &Plan,
    args: &RunArgs,
    (started, clock): (SystemTime, Instant),
    stop: &AtomicBool,
    engine: Engine,
    stdout: &mut dyn Write,
) -> Result<u8, Error> {
    let target = args.output.clone().unwrap_or_else(|| default_folder(&plan.name));
    let folder = ResultFolder::begin(&target, args.force)?;
    if !args.quiet {
        plan.notes.iter().for_each(|note| terminal::tell(&format!("note: {note}")));
    }
    let series = plan.sampling.as_ref().map(|_| TimeSeries::create(&folder)).transpose()?;
    let reporter = Reporter::new(args.progress, args.quiet, plan);
    let mut watch = Watch { plan, series, reporter, stop };
    let report = engine(&plan.case, &options(plan, args), &mut watch)?;
    watch.reporter.finish(&report);
    let record = RunRecord { started, total_wall: clock.elapsed(), overrides: args.scenario.overrides.clone() };
    let written = output::write(folder, plan, &report, watch.series, &record)?;
    if !args.quiet {
        terminal::print_to(stdout, &written.summary)?;
        terminal::tell(&farewell(&written));
    }
    Ok(if report.interrupted { signals::INTERRUPTED } else { 0 })
}

fn options(plan: &Plan, args: &RunArgs) -> Options {
    Options { adapter: args.adapter.clone(), threads: args.threads, window_ps: args.window, sampling: plan.sampling.clone() }
}

/// What depends on the machine, in one line.
fn farewell(written: &Written) -> String {
    let m = &written.manifest;
    let pace = m.packet_hops_per_s.map(|n| format!(", {} packet-hops/s", count(n))).unwrap_or_default();
    let partial = if m.partial { "partial results" } else { "results" };
    format!("{partial} in `{}` ({}, {:.2} s{pace})", written.folder.display(), m.adapter.name, m.wall_s)
}

/// `results/NAME`, without characters that mean something to shells or paths.
fn default_folder(name: &str) -> PathBuf {
    let plain = |c: char| {
        if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' }
    };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_matches(['.', '-']);
    Path::new("results").join(if name.is_empty() { "scenario" } else { name })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::*;
    use crate::cli::{ProgressMode, ScenarioArgs};
    use crate::commands::terminal::tests::Failing;
    use crate::engine::{AdapterChoice, AdapterInfo, Progress, Sample, Sampling};
    use crate::metrics::testing;

    fn args(output: &Path) -> RunArgs {
        RunArgs {
            scenario: ScenarioArgs { scenario: "pair.toml".into(), overrides: Vec::new() },
            output: Some(output.to_path_buf()),
            force: false,
            adapter: AdapterChoice::Auto,
            threads: 0,
            window: Some(1_000),
            progress: ProgressMode::None,
            quiet: false,
        }
    }

    /// An engine that knows the outcome already: two samples, then progress.
    fn engine(_: &Case, options: &Options, observer: &mut dyn Observer) -> Result<Report, Error> {
        assert_eq!(options.window_ps, Some(1_000));
        if options.sampling.is_some() {
            for time_ps in [0, 1_000] {
                let queues = vec![engine::QueueSample { port: 3, ..engine::QueueSample::default() }];
                observer.sample(&Sample { time_ps, queues, flows: Vec::new() })?;
            }
        }
        let progress = Progress { wall: Duration::from_millis(10), ..Progress::default() };
        let interrupted = observer.progress(&progress).is_break();
        let outcome = testing::pair().1;
        let adapter = AdapterInfo { name: "fixed".into(), ..AdapterInfo::default() };
        Ok(Report { outcome, adapter, window_ps: 1_000, windows: 1, state_bytes: 0, progress, interrupted })
    }

    fn go(plan: &Plan, args: &RunArgs, stop: bool, stdout: &mut dyn Write) -> Result<u8, Error> {
        let started = (SystemTime::now(), Instant::now());
        simulate(plan, args, started, &AtomicBool::new(stop), &engine, stdout)
    }

    #[test]
    fn a_run_prints_the_summary_it_writes() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let out = dir.path().join("out");
        let mut stdout = Vec::new();
        assert_eq!(go(&testing::plan(), &args(&out), false, &mut stdout).expect("ran"), 0);
        let text = fs::read_to_string(out.join("summary.txt")).expect("written");
        assert_eq!(String::from_utf8(stdout).expect("text"), text);
        assert!(!out.join("timeseries.csv").exists());
    }

    #[test]
    fn samples_are_streamed_into_the_folder() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let out = dir.path().join("out");
        let mut plan = testing::plan();
        plan.sampling = Some(Sampling { interval_ps: 1_000, ports: vec![3], flows: Vec::new() });
        go(&plan, &args(&out), false, &mut Vec::new()).expect("ran");
        let text = fs::read_to_string(out.join("timeseries.csv")).expect("written");
        assert_eq!(text.lines().count(), 3, "{text}");
    }

    #[test]
    fn an_interrupted_run_is_written_and_marked() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let out = dir.path().join("out");
        let mut stdout = Vec::new();
        assert_eq!(go(&testing::plan(), &args(&out), true, &mut stdout).expect("ran"), 130);
        assert!(String::from_utf8(stdout).expect("text").contains("PARTIAL"));
        let manifest = fs::read_to_string(out.join("manifest.json")).expect("written");
        assert!(manifest.contains("\"partial\": true"), "{manifest}");
    }

    #[test]
    fn results_are_written_even_if_nobody_reads_the_summary() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let out = dir.path().join("out");
        let code = go(&testing::plan(), &args(&out), false, &mut Failing(ErrorKind::BrokenPipe));
        assert_eq!(code.expect("no error"), 0);
        assert!(out.join("manifest.json").exists());
    }

    #[test]
    fn quiet_is_quiet() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let mut stdout = Vec::new();
        let args = RunArgs { quiet: true, ..args(&dir.path().join("out")) };
        go(&testing::plan(), &args, false, &mut stdout).expect("ran");
        assert!(stdout.is_empty());
    }

    #[test]
    fn a_folder_that_cannot_be_created_stops_the_run_before_it_starts() {
        let dir = tempfile::tempdir().expect("temporary folder");
        fs::write(dir.path().join("file"), "x").expect("written");
        let ran = AtomicBool::new(false);
        let never = |_: &Case, _: &Options, _: &mut dyn Observer| {
            ran.store(true, Ordering::SeqCst);
            Err(Error::Internal("not to be run".into()))
        };
        let args = args(&dir.path().join("file/out"));
        let started = (SystemTime::now(), Instant::now());
        let result = simulate(&testing::plan(), &args, started, &AtomicBool::new(false), &never, &mut Vec::new());
        assert_eq!(result.expect_err("no place").exit_code(), 73);
        assert!(!ran.load(Ordering::SeqCst));
    }

    #[test]
    fn a_failed_run_leaves_nothing() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let broken = |_: &Case, _: &Options, _: &mut dyn Observer| Err(Error::Capacity("too small".into()));
        let args = args(&dir.path().join("out"));
        let started = (SystemTime::now(), Instant::now());
        let result = simulate(&testing::plan(), &args, started, &AtomicBool::new(false), &broken, &mut Vec::new());
        assert_eq!(result.expect_err("broken").exit_code(), 69);
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 0);
    }

    #[test]
    fn the_built_in_adapter_gives_whole_results() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let out = dir.path().join("out");
        let mut plan = testing::plan();
        plan.case.stop_ps = None;
        plan.sampling = Some(Sampling { interval_ps: 500_000, ports: vec![3], flows: vec![0] });
        let args = RunArgs { adapter: AdapterChoice::BuiltIn, threads: 1, window: None, ..args(&out) };
        let started = (SystemTime::now(), Instant::now());
        let stop = AtomicBool::new(false);
        let mut stdout = Vec::new();
        let code = simulate(&plan, &args, started, &stop, &engine::run, &mut stdout);
        assert_eq!(code.expect("ran"), 0);
        let text = String::from_utf8(stdout).expect("text");
        assert!(text.contains("nothing was left to do"), "{text}");
        let flows = fs::read_to_string(out.join("flows.csv")).expect("written");
        assert_eq!(flows.matches(",done,").count(), 4, "{flows}");
        let series = fs::read_to_string(out.join("timeseries.csv")).expect("written");
        assert!(series.lines().count() > 4, "{series}");
    }

    #[test]
    fn default_folders_are_plain_names() {
        assert_eq!(default_folder("incast-8"), Path::new("results/incast-8"));
        assert_eq!(default_folder("../a b/c"), Path::new("results/a-b-c"));
        assert_eq!(default_folder(".."), Path::new("results/scenario"));
        assert_eq!(default_folder(""), Path::new("results/scenario"));
    }
}
