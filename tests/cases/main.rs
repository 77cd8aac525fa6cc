//! Hand-made cases, independent of scenario files: every way of running them on the built-in adapter gives what the oracle gives.

mod build;
mod diff;
mod exercised;
mod infiniband;
mod named;
mod named_rules;
#[path = "../exactness/oracle/mod.rs"]
mod oracle;
mod random;
mod random_ib;

use diff::first_difference;
use fabricsim::case::Case;
use fabricsim::engine::{AdapterChoice, Options, Report, Silent, run, run_batch};
use fabricsim::outcome::Outcome;
use fabricsim::scenario::validate;
use std::sync::OnceLock;

/// One thread of the built-in adapter, the reference.
pub fn built_in() -> Options {
    Options { adapter: AdapterChoice::BuiltIn, threads: 1, ..Options::default() }
}

/// The longest window of a case [ps].
pub fn lookahead(case: &Case) -> u32 {
    case.ports.iter().map(|p| p.delay_ps.min(p.pfc_delay_ps)).min().expect("ports")
}

/// Runs a case unwatched.
///
/// # Errors
/// What stopped it, in words.
pub fn go(case: &Case, options: &Options) -> Result<Report, String> {
    run(case, options, &mut Silent).map_err(|e| format!("does not run: {e:?}"))
}

/// Two cases to run beside another: different in fabric, classes, rules and length.
fn neighbours() -> &'static [(Case, Outcome)] {
    static MADE: OnceLock<Vec<(Case, Outcome)>> = OnceLock::new();
    MADE.get_or_init(|| {
        let cases = named::named().into_iter().filter(|(name, _)| ["pfc_incast", "seven_classes"].contains(name));
        cases.map(|(_, case)| (case.clone(), go(&case, &built_in()).expect("runs").outcome)).collect()
    })
}

fn equal(name: &str, variant: &str, case: &Case, expected: &Outcome, found: &Outcome) -> Result<(), String> {
    match first_difference(case, expected, found) {
        Some(difference) => Err(format!("`{name}`, {variant}: {difference}")),
        None => Ok(()),
    }
}

fn check_batch(name: &str, case: &Case, reference: &Outcome) -> Result<(), String> {
    let [(first, first_alone), (second, second_alone)] = neighbours() else { return Err("two neighbours are missing".into()) };
    let reports =
        run_batch(&[first, case, second], &built_in(), &mut Silent).map_err(|e| format!("`{name}` in a batch does not run: {e:?}"))?;
    for (case, alone, report) in [(first, first_alone, &reports[0]), (case, reference, &reports[1]), (second, second_alone, &reports[2])] {
        equal(name, "in a batch", case, alone, &report.outcome)?;
    }
    Ok(())
}

/// Runs a case in every way; the first difference from one thread of the built-in adapter, if any.
///
/// # Errors
/// That difference, or what stopped a run.
pub fn differences(name: &str, case: &Case) -> Result<Report, String> {
    validate(case).map_err(|e| format!("`{name}` is not valid: {e:?}"))?;
    let reference = go(case, &built_in()).map_err(|e| format!("`{name}` {e}"))?;
    equal(name, "oracle", case, &oracle::simulate(case), &reference.outcome)?;
    let whole = lookahead(case);
    let mut ways = vec![("two threads".to_owned(), Options { threads: 2, ..built_in() })];
    for parts in [2, 7] {
        let window_ps = (whole / parts).max(1);
        ways.push((format!("window of {window_ps} ps"), Options { window_ps: Some(window_ps), ..built_in() }));
    }
    for (variant, options) in ways {
        let report = go(case, &options).map_err(|e| format!("`{name}`, {variant}: {e}"))?;
        equal(name, &variant, case, &reference.outcome, &report.outcome)?;
    }
    check_batch(name, case, &reference.outcome)?;
    Ok(reference)
}

/// Checks every `step`-th named case from `first` on, and reports all that differ.
fn check_named(first: usize, step: usize) {
    let mut failures = Vec::new();
    for (name, case) in named::named().into_iter().skip(first).step_by(step) {
        let started = std::time::Instant::now();
        match differences(name, &case) {
            Ok(report) => {
                let hops = report.progress.packet_hops;
                println!("{name}: {hops} hops, {} windows, {:.1?}", report.windows, started.elapsed());
                if hops > 20_000 {
                    failures.push(format!("`{name}` is too large: {hops} packet-hops"));
                }
            }
            Err(difference) => failures.push(difference),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn named_cases_are_exact() {
    check_named(0, 2);
}

#[test]
fn other_named_cases_are_exact() {
    check_named(1, 2);
}
