//! `schema.json`: what every column of every table means.

use serde_json::{Value, json};

use crate::output::columns::{FLOWS, LINKS, PORTS, TIMESERIES};
use crate::output::summary_table::SUMMARY;
use crate::output::table::Column;
use crate::output::{FLOWS_CSV, LINKS_CSV, PORTS_CSV, SUMMARY_CSV, TIMESERIES_CSV};

/// The schema of the result tables; of the time series only if it is written.
#[must_use]
pub fn schema(with_timeseries: bool) -> Value {
    let mut tables = vec![
        table(FLOWS_CSV, "One row a flow, by flow id.", FLOWS),
        table(PORTS_CSV, "One row a port and queue, in the order of the fabric.", PORTS),
        table(LINKS_CSV, "One row a port, that is one direction of a link, in the order of the fabric.", LINKS),
        table(SUMMARY_CSV, "One row for all flows and the fabric, then one a traffic group.", SUMMARY),
    ];
    if with_timeseries {
        tables.push(table(TIMESERIES_CSV, "One row an instant and sampled queue or flow, in time order.", TIMESERIES));
    }
    json!({
        "format": "fabricsim-schema",
        "rules": "UTF-8, comma, quotes as in RFC 4180, one header; an empty cell is a missing value; 1 KB = 1000 bytes",
        "tables": tables,
    })
}

fn table<R>(file: &str, rows: &str, columns: &[Column<R>]) -> Value {
    let columns: Vec<Value> =
        columns.iter().map(|c| json!({ "name": c.name, "type": c.kind, "unit": c.unit, "meaning": c.meaning })).collect();
    json!({ "file": file, "rows": rows, "columns": columns })
}
