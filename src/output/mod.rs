//! Result folders: what is in them, and how they are written.
//!
//! Every file except [`MANIFEST_JSON`] depends on the scenario and the seed alone: not on the engine, the window, the
//! machine or the time of day. The manifest holds the rest, and the SHA-256 of the others.

mod columns;
mod folder;
mod manifest;
mod schema;
mod summary_table;
mod summary_text;
mod table;
mod timeseries;
pub mod units;

use std::path::PathBuf;

pub use columns::{FLOWS, LINKS, PORTS, SampleRow, Sampled, TIMESERIES};
pub use folder::ResultFolder;
pub(crate) use manifest::per_second;
pub use manifest::{Manifest, RunRecord};
pub use schema::schema;
pub use summary_table::{SUMMARY, SummaryRow};
pub(crate) use summary_text::align;
pub use summary_text::{plan_text, summary_text};
pub use table::{Column, FileRecord, Kind};
pub use timeseries::TimeSeries;

use crate::engine::Report;
use crate::error::Error;
use crate::metrics::Metrics;
use crate::plan::Plan;

/// Value of `format` in the manifest, by which a result folder is known.
pub const FORMAT: &str = "fabricsim-result";
/// One row a flow.
pub const FLOWS_CSV: &str = "flows.csv";
/// One row a port and queue.
pub const PORTS_CSV: &str = "ports.csv";
/// One row a direction of a link.
pub const LINKS_CSV: &str = "links.csv";
/// Time series, if asked for.
pub const TIMESERIES_CSV: &str = "timeseries.csv";
/// One row for the whole run, and one a traffic group.
pub const SUMMARY_CSV: &str = "summary.csv";
/// The summary for people.
pub const SUMMARY_TXT: &str = "summary.txt";
/// What the columns mean.
pub const SCHEMA_JSON: &str = "schema.json";
/// How the results came about.
pub const MANIFEST_JSON: &str = "manifest.json";

/// What [`write()`] made.
#[derive(Debug, Clone)]
pub struct Written {
    /// The folder.
    pub folder: PathBuf,
    /// The text of `summary.txt`.
    pub summary: String,
    /// The manifest.
    pub manifest: Manifest,
}

/// Writes the results of a run into a prepared folder and puts it in its place.
///
/// `timeseries` is the series streamed into the same folder during the run.
///
/// # Errors
/// [`Error::Create`] and [`Error::Io`] for files, [`Error::Internal`] if the report is not of this plan.
pub fn write(
    folder: ResultFolder,
    plan: &Plan,
    report: &Report,
    timeseries: Option<TimeSeries>,
    record: &RunRecord,
) -> Result<Written, Error> {
    let metrics = Metrics::new(plan, &report.outcome)?;
    let findings = crate::metrics::findings(plan, &metrics);
    let path = folder.path();
    let mut files = vec![
        table::write_table(path, FLOWS_CSV, FLOWS, plan, &metrics.flows)?,
        table::write_table(path, PORTS_CSV, PORTS, plan, &metrics.queues)?,
        table::write_table(path, LINKS_CSV, LINKS, plan, &metrics.links)?,
        table::write_table(path, SUMMARY_CSV, SUMMARY, plan, &SummaryRow::rows(&metrics))?,
    ];
    let schema = schema(timeseries.is_some());
    if let Some(series) = timeseries {
        files.push(series.finish()?);
    }
    let summary = summary_text(plan, &metrics, &findings, report.interrupted);
    files.push(table::write_text(path, SUMMARY_TXT, &summary)?);
    files.push(table::write_text(path, SCHEMA_JSON, &pretty(&schema))?);
    let manifest = Manifest::new(plan, report, &metrics, findings, files, record);
    table::write_text(path, MANIFEST_JSON, &pretty(&manifest))?;
    let folder = folder.commit()?;
    Ok(Written { folder, summary, manifest })
}

/// Indented JSON that ends with a line feed.
fn pretty(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("maps with text keys can be written");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
