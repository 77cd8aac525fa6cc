//! Progress on standard error: a bar for people, lines of JSON for programs.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use serde_json::json;

use crate::cli::ProgressMode;
use crate::commands::terminal;
use crate::engine::{Progress, Report};
use crate::metrics::{MILLION, expected_data_hops, scaled_ratio};
use crate::output::per_second;
use crate::output::units::{count, time};
use crate::plan::Plan;

/// How far a run is, from what it has to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate {
    stop_ps: Option<u64>,
    data_hops: u64,
    flows: u64,
}

impl Estimate {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            stop_ps: plan.case.stop_ps,
            data_hops: expected_data_hops(&plan.case),
            flows: u64::try_from(plan.case.flows.len()).unwrap_or(u64::MAX),
        }
    }

    /// Share done \[millionths\]: of the simulated time or of the traffic, whichever is nearer to its end.
    pub(super) fn share(&self, progress: &Progress) -> u64 {
        let share = |n: u64, of: u64| scaled_ratio(u128::from(n), u128::from(of), MILLION).unwrap_or(0).min(MILLION);
        let by_time = self.stop_ps.map_or(0, |stop| share(progress.now_ps, stop));
        // Retransmissions count too; a run that is not over is never all done.
        let by_traffic = share(progress.data_hops, self.data_hops).min(MILLION - 1);
        let by_flows = share(progress.flows_ended, self.flows);
        by_time.max(by_traffic).max(by_flows)
    }

    /// Wall-clock time that the rest takes at the pace so far; `None` while nobody can tell.
    pub(super) fn remaining(&self, progress: &Progress) -> Option<Duration> {
        let share = self.share(progress);
        let millis = u64::try_from(progress.wall.as_millis()).ok()?;
        let left = scaled_ratio(u128::from(millis), u128::from(share), MILLION - share)?;
        Some(Duration::from_millis(left))
    }
}

/// Shortest time between two reports.
const PAUSE: Duration = Duration::from_millis(200);

/// Tells about progress, not more often than anybody reads.
#[derive(Debug)]
pub(super) struct Reporter {
    voice: Voice,
    last: Option<Duration>,
}

/// Who tells.
#[derive(Debug)]
enum Voice {
    Nobody,
    Bar(ProgressBar, Estimate),
    JsonLines(Estimate),
}

impl Reporter {
    pub(super) fn new(mode: ProgressMode, quiet: bool, plan: &Plan) -> Self {
        let voice = match mode {
            ProgressMode::Jsonl => Voice::JsonLines(Estimate::new(plan)),
            ProgressMode::Auto if !quiet && std::io::stderr().is_terminal() => Voice::Bar(bar(), Estimate::new(plan)),
            ProgressMode::Auto | ProgressMode::None => Voice::Nobody,
        };
        if let Voice::JsonLines(estimate) = &voice {
            terminal::tell(&started_line(estimate, plan));
        }
        Self { voice, last: None }
    }

    pub(super) fn update(&mut self, progress: &Progress) {
        if !self.is_due(progress.wall) {
            return;
        }
        match &self.voice {
            Voice::Nobody => {}
            Voice::Bar(bar, estimate) => {
                bar.set_position(estimate.share(progress));
                bar.set_message(message(estimate, progress));
            }
            Voice::JsonLines(estimate) => terminal::tell(&progress_line(estimate, progress)),
        }
    }

    fn is_due(&mut self, now: Duration) -> bool {
        let due = self.last.is_none_or(|last| now >= last + PAUSE);
        if due {
            self.last = Some(now);
        }
        due
    }

    /// Clears the bar; says how the run ended, at which simulated time.
    pub(super) fn finish(&self, report: &Report) {
        match &self.voice {
            Voice::Nobody => {}
            Voice::Bar(bar, _) => bar.finish_and_clear(),
            Voice::JsonLines(_) => terminal::tell(&ended_line(report)),
        }
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {percent:>3} %  {msg}").expect("the template is valid");
    ProgressBar::with_draw_target(Some(MILLION), ProgressDrawTarget::stderr()).with_style(style).with_finish(ProgressFinish::AndClear)
}

fn message(estimate: &Estimate, progress: &Progress) -> String {
    let pace = per_second(progress.packet_hops, progress.wall).unwrap_or(0);
    let mut text = format!("simulated {}, {} packet-hops/s", time(progress.now_ps), count(pace));
    if let Some(left) = estimate.remaining(progress) {
        text.push_str(", ");
        text.push_str(&clock(left));
        text.push_str(" left");
    }
    text
}

fn progress_line(estimate: &Estimate, progress: &Progress) -> String {
    json!({
        "event": "progress",
        "time_ps": progress.now_ps,
        "packet_hops": progress.packet_hops,
        "data_hops": progress.data_hops,
        "flows_ended": progress.flows_ended,
        "flows": estimate.flows,
        "packet_hops_per_s": per_second(progress.packet_hops, progress.wall),
        "done_millionths": estimate.share(progress),
        "wall_s": wall_s(progress),
        "eta_s": estimate.remaining(progress).map(|d| d.as_secs_f64()),
    })
    .to_string()
}

fn started_line(estimate: &Estimate, plan: &Plan) -> String {
    let (flows, stop_ps) = (estimate.flows, estimate.stop_ps);
    json!({ "event": "started", "scenario": plan.name, "flows": flows, "stop_ps": stop_ps }).to_string()
}

fn ended_line(report: &Report) -> String {
    let progress = &report.progress;
    json!({
        "event": if report.interrupted { "interrupted" } else { "finished" },
        "time_ps": report.outcome.end_ps,
        "packet_hops": progress.packet_hops,
        "flows_ended": progress.flows_ended,
        "wall_s": wall_s(progress),
    })
    .to_string()
}

/// Wall-clock time in seconds, to the millisecond.
fn wall_s(progress: &Progress) -> f64 {
    Duration::from_millis(u64::try_from(progress.wall.as_millis()).unwrap_or(u64::MAX)).as_secs_f64()
}

/// A duration as `12 s`, `3:05` or `1:02:03`.
fn clock(d: Duration) -> String {
    let s = d.as_secs();
    match s {
        0..60 => format!("{s} s"),
        60..3600 => format!("{}:{:02}", s / 60, s % 60),
        _ => format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing;

    fn at(now_ps: u64, data_hops: u64, seconds: u64) -> Progress {
        Progress { now_ps, data_hops, packet_hops: 2 * data_hops, flows_ended: 0, wall: Duration::from_secs(seconds) }
    }

    #[test]
    fn the_share_follows_time_or_traffic() {
        let estimate = Estimate::new(&testing::plan());
        assert_eq!(estimate.share(&at(1_000_000, 0, 1)), 500_000);
        assert_eq!(estimate.share(&at(0, 56, 1)), 800_000);
        assert_eq!(estimate.share(&at(0, 1_000, 1)), 999_999);
    }

    #[test]
    fn without_progress_there_is_no_estimate() {
        let estimate = Estimate::new(&testing::plan());
        assert_eq!(estimate.remaining(&at(0, 0, 5)), None);
        assert_eq!(estimate.remaining(&at(0, 14, 5)), Some(Duration::from_secs(20)));
    }

    #[test]
    fn a_line_of_json_is_one_object() {
        let estimate = Estimate::new(&testing::plan());
        let line = progress_line(&estimate, &at(1_000_000, 35, 2));
        assert!(!line.contains('\n'));
        let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!((&value["event"], &value["packet_hops_per_s"]), (&json!("progress"), &json!(35)));
        assert_eq!((&value["done_millionths"], &value["eta_s"]), (&json!(500_000), &json!(2.0)));
    }

    #[test]
    fn reports_keep_their_distance() {
        let mut reporter = Reporter { voice: Voice::Nobody, last: None };
        let due = [0, 1, 199, 200, 399, 400].map(|ms| reporter.is_due(Duration::from_millis(ms)));
        assert_eq!(due, [true, false, false, true, false, true]);
    }

    #[test]
    fn the_message_is_short() {
        let estimate = Estimate::new(&testing::plan());
        assert_eq!(message(&estimate, &at(1_000_000, 14, 90)), "simulated 1.000 us, 0 packet-hops/s, 1:30 left");
        assert_eq!(clock(Duration::from_secs(3_723)), "1:02:03");
    }
}
