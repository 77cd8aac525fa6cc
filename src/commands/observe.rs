//! What `run` does while the engine works: progress, time series, and the end by signal.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::commands::progress::Reporter;
use crate::engine::{Observer, Progress, Sample};
use crate::error::Error;
use crate::output::TimeSeries;
use crate::plan::Plan;

/// The observer of a run.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    /// What is run.
    pub(super) plan: &'a Plan,
    /// The time series being written.
    pub(super) series: Option<TimeSeries>,
    /// Who tells about progress.
    pub(super) reporter: Reporter,
    /// True once the user wants an end.
    pub(super) stop: &'a AtomicBool,
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.reporter.update(progress);
        if self.stop.load(Ordering::SeqCst) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn sample(&mut self, sample: &Sample) -> Result<(), Error> {
        match &mut self.series {
            Some(series) => series.append(self.plan, sample),
            None => Ok(()),
        }
    }
}
