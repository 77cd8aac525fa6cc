//! `timeseries.csv`, written while the simulation runs.

use crate::engine::Sample;
use crate::error::Error;
use crate::output::columns::{SampleRow, Sampled, TIMESERIES};
use crate::output::table::{FileRecord, TableWriter};
use crate::output::{ResultFolder, TIMESERIES_CSV};
use crate::plan::Plan;

/// The time series of a run in progress.
pub struct TimeSeries {
    table: TableWriter<SampleRow>,
}

impl TimeSeries {
    /// Creates the file.
    ///
    /// # Errors
    /// [`Error::Create`] and [`Error::Io`].
    pub fn create(folder: &ResultFolder) -> Result<Self, Error> {
        Ok(Self { table: TableWriter::create(folder.path(), TIMESERIES_CSV, TIMESERIES)? })
    }

    /// Appends a sample.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn append(&mut self, plan: &Plan, sample: &Sample) -> Result<(), Error> {
        let queues = sample.queues.iter().map(|q| Sampled::Queue(*q));
        let flows = sample.flows.iter().map(|f| Sampled::Flow(*f));
        for of in queues.chain(flows) {
            self.table.row(plan, &SampleRow { time_ps: sample.time_ps, of })?;
        }
        Ok(())
    }

    /// Ends the file.
    pub(super) fn finish(self) -> Result<FileRecord, Error> {
        self.table.finish()
    }
}

impl std::fmt::Debug for TimeSeries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TimeSeries").finish_non_exhaustive()
    }
}
