//! `manifest.json`: how the results came about.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::engine::{AdapterInfo, Report};
use crate::metrics::Metrics;
use crate::output::FORMAT;
use crate::output::table::FileRecord;
use crate::plan::{InputFile, Plan};

/// What only the caller of a run knows.
#[derive(Debug, Clone)]
pub struct RunRecord {
    /// When it started.
    pub started: SystemTime,
    /// From start to writing the manifest.
    pub total_wall: Duration,
    /// Settings given on the command line, dotted key and value.
    pub overrides: Vec<(String, String)>,
}

/// The manifest of a result folder.
#[derive(Debug, Clone, Serialize)]
pub struct Manifest {
    /// Always [`FORMAT`].
    pub format: &'static str,
    /// Version of the program.
    pub fabricsim_version: &'static str,
    /// Name of the scenario.
    pub scenario: String,
    /// True if the run was interrupted: the results end before the scenario does.
    pub partial: bool,
    /// Seed of every random draw.
    pub seed: u32,
    /// Files read, the scenario first.
    pub inputs: Vec<InputFile>,
    /// Settings given on the command line.
    pub overrides: Vec<(String, String)>,
    /// Every setting as resolved.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// Assumptions and risky settings.
    pub notes: Vec<String>,
    /// What to know before trusting the results.
    pub warnings: Vec<String>,
    /// Where it ran.
    pub adapter: AdapterInfo,
    /// Window (ps).
    pub window_ps: u32,
    /// Windows taken.
    pub windows: u64,
    /// Device state (bytes).
    pub state_bytes: u64,
    /// Start, as ISO 8601 in UTC.
    pub started_utc: String,
    /// Wall-clock time of the simulation \[s\].
    pub wall_s: f64,
    /// Wall-clock time from reading the scenario to writing this \[s\].
    pub total_wall_s: f64,
    /// Simulated time (ps).
    pub end_ps: u64,
    /// True if events were left at the end.
    pub stopped: bool,
    /// Frames of any kind that arrived over a link.
    pub packet_hops: u64,
    /// The same over `wall_s` \[1/s\].
    pub packet_hops_per_s: Option<u64>,
    /// The other files; each is the same on every engine.
    pub files: Vec<FileRecord>,
}

impl Manifest {
    /// Puts a manifest together.
    pub(super) fn new(
        plan: &Plan,
        report: &Report,
        metrics: &Metrics,
        warnings: Vec<String>,
        files: Vec<FileRecord>,
        record: &RunRecord,
    ) -> Self {
        let wall = report.progress.wall;
        Self {
            format: FORMAT,
            fabricsim_version: env!("CARGO_PKG_VERSION"),
            scenario: plan.name.clone(),
            partial: report.interrupted,
            seed: plan.case.seed,
            inputs: plan.inputs.clone(),
            overrides: record.overrides.clone(),
            settings: plan.settings.clone(),
            notes: plan.notes.clone(),
            warnings,
            adapter: report.adapter.clone(),
            window_ps: report.window_ps,
            windows: report.windows,
            state_bytes: report.state_bytes,
            started_utc: iso_8601(record.started),
            wall_s: seconds(wall),
            total_wall_s: seconds(record.total_wall),
            end_ps: metrics.fabric.end_ps,
            stopped: metrics.fabric.stopped,
            packet_hops: metrics.fabric.packet_hops,
            packet_hops_per_s: per_second(metrics.fabric.packet_hops, wall),
            files,
        }
    }
}

/// Events over a time \[1/s\]; `None` of no time at all.
#[must_use]
pub(crate) fn per_second(events: u64, wall: Duration) -> Option<u64> {
    crate::metrics::scaled_ratio(u128::from(events), wall.as_nanos(), 1_000_000_000)
}

/// Whole microseconds, as seconds.
fn seconds(wall: Duration) -> f64 {
    Duration::from_micros(u64::try_from(wall.as_micros()).unwrap_or(u64::MAX)).as_secs_f64()
}

/// An instant as `2026-01-31T23:59:59Z`.
fn iso_8601(instant: SystemTime) -> String {
    let s = instant.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (year, month, day) = civil(s / 86_400);
    let (hour, minute, second) = (s / 3600 % 24, s / 60 % 60, s % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a number of days since 1970-01-01, in the Gregorian calendar.
fn civil(days: u64) -> (u64, u64, u64) {
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let (mut year, mut left) = (1970, days);
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    (year, month, left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_in_utc() {
        let at = |s| iso_8601(UNIX_EPOCH + Duration::from_secs(s));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(at(1_767_225_600), "2026-01-01T00:00:00Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn no_time_has_no_rate() {
        assert_eq!(per_second(5, Duration::ZERO), None);
        assert_eq!(per_second(5, Duration::from_millis(500)), Some(10));
    }
}
