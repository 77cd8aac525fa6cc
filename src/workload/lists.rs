//! Flow lists and size distributions in files.

use std::path::Path;

use crate::error::InputError;
use crate::units::Unit;
use crate::workload::generate::Sizes;

/// A flow as a list states it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// Line in its file; 0 if there is none.
    pub line: usize,
    /// Id, if stated.
    pub id: Option<u32>,
    /// Source: name of an endpoint, or its number among the endpoints.
    pub src: String,
    /// Destination.
    pub dst: String,
    /// Message size (bytes).
    pub size_bytes: u64,
    /// Start, or delay after `after` (ps).
    pub start_ps: u64,
    /// Id of the flow that releases this one.
    pub after: Option<u32>,
    /// The same by position in the list; its reception releases this one.
    pub after_record: Option<usize>,
    /// Released when that flow is received (true) or acknowledged (false); `None` = whichever this flow's source sees.
    pub on_received: Option<bool>,
    /// Nodes of the data path between source and destination, if pinned.
    pub path: Vec<String>,
    /// Nodes of the acknowledgement path.
    pub ack_path: Vec<String>,
}

/// An error in a file.
pub(crate) fn mistake(file: &Path, line: usize, key: &str, found: &str, message: impl Into<String>) -> InputError {
    InputError {
        file: file.to_owned(),
        line: (line > 0).then_some(line),
        key: key.to_owned(),
        found: found.to_owned(),
        message: message.into(),
    }
}

/// Columns of a flow list in CSV, for the reference page: (name, meaning).
pub const CSV_COLUMNS: [(&str, &str); 10] = [
    ("src", "source endpoint: its name or its number, counted from 0"),
    ("dst", "destination endpoint"),
    ("size", "message size with a unit, e.g. `1 MB`; or use the column `size_bytes` with plain numbers"),
    ("start", "start with a unit, e.g. `5 us` (default 0; with `after`, a delay); or use the column `start_ns` with plain numbers"),
    ("size_bytes", "message size [bytes]"),
    ("start_ns", "start [ns]"),
    ("id", "flow id, unique in the scenario (default: the next free one)"),
    ("after", "id of the flow whose completion releases this one"),
    ("on", "`received` or `sent`: which completion of that flow (default: the one that this flow's source sees)"),
    ("path", "nodes of the data path between source and destination, separated by blanks; `ack_path` likewise"),
];

/// Reads a flow list in CSV with a header; see [`CSV_COLUMNS`].
///
/// # Errors
/// The first mistake.
pub fn csv(file: &Path, text: &str) -> Result<Vec<Record>, InputError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(false).comment(Some(b'#')).from_reader(text.as_bytes());
    let broken = |e: &csv::Error| {
        let line = e.position().map_or(0, |p| usize::try_from(p.line()).unwrap_or(0));
        mistake(file, line, "", "", format!("is not well-formed CSV: {e}"))
    };
    let header: Vec<String> = reader.headers().map_err(|e| broken(&e))?.iter().map(str::to_owned).collect();
    let known: Vec<&str> = CSV_COLUMNS.iter().map(|c| c.0).chain(["ack_path"]).collect();
    if let Some(name) = header.iter().find(|h| !known.contains(&h.as_str())) {
        return Err(mistake(file, 1, name, "", format!("is not a column of a flow list; columns are {}", known.join(", "))));
    }
    let have = |name: &str| header.iter().any(|h| h == name);
    for (need, or) in [("src", "src"), ("dst", "dst"), ("size", "size_bytes")] {
        if !have(need) && !have(or) {
            return Err(mistake(file, 1, need, "", "is a column that a flow list must have"));
        }
    }
    let mut records = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|e| broken(&e))?;
        let line = row.position().map_or(0, |p| usize::try_from(p.line()).unwrap_or(0));
        let mut record = Record { line, ..Record::default() };
        for (name, cell) in header.iter().zip(row.iter()).filter(|(_, cell)| !cell.is_empty()) {
            set(&mut record, name, cell).map_err(|message| mistake(file, line, name, cell, message))?;
        }
        for (name, cell) in [("src", &record.src), ("dst", &record.dst)] {
            if cell.is_empty() {
                return Err(mistake(file, line, name, "", "is missing"));
            }
        }
        records.push(record);
    }
    Ok(records)
}

/// Sets one field from text.
///
/// # Errors
/// What is allowed.
pub fn set(record: &mut Record, name: &str, text: &str) -> Result<(), String> {
    let id = |text: &str| Unit::Count.parse(text).and_then(|v| u32::try_from(v).map_err(|_| "is too large".to_owned()));
    match name {
        "src" => text.clone_into(&mut record.src),
        "dst" => text.clone_into(&mut record.dst),
        "size" => record.size_bytes = Unit::Bytes.parse(text)?,
        "size_bytes" => record.size_bytes = Unit::Count.parse(text)?,
        "start" => record.start_ps = Unit::Time.parse(text)?,
        "start_ns" => record.start_ps = Unit::Time.parse(&format!("{text} ns"))?,
        "id" => record.id = Some(id(text)?),
        "after" => record.after = Some(id(text)?),
        "on" => {
            record.on_received = Some(match text {
                "received" => true,
                "sent" => false,
                _ => return Err("must be \"received\" or \"sent\"".to_owned()),
            });
        }
        "path" => record.path = text.split_whitespace().map(str::to_owned).collect(),
        _ => record.ack_path = text.split_whitespace().map(str::to_owned).collect(),
    }
    Ok(())
}

/// Reads a size distribution: lines of a size in bytes and a cumulative percentage, as in HPCC's traffic generator;
/// `#` starts a comment.
///
/// # Errors
/// The first mistake.
pub fn cdf(file: &Path, text: &str) -> Result<Sizes, InputError> {
    let mut points = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or("").trim();
        if content.is_empty() {
            continue;
        }
        let wrong = |m: String| mistake(file, i + 1, "", content, m);
        let mut words = content.split_whitespace();
        let (Some(size), Some(percent), None) = (words.next(), words.next(), words.next()) else {
            return Err(wrong("a line has a size in bytes and a cumulative percentage".to_owned()));
        };
        let size = Unit::Count.parse(size).map_err(|m| wrong(format!("the size {m}")))?;
        let share = Unit::Share.parse(&format!("{percent} %")).map_err(|m| wrong(format!("the percentage {m}")))?;
        points.push((size, share));
    }
    Sizes::new(points).map_err(|m| mistake(file, 0, "", "", m))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_csv() {
        let text = "id, src, dst, size, start, after, on, path\n7,gpu0,3,1 MB,5 us,,,leaf0 spine1 leaf1\n8,3,0,10 B,0 ns,7,received,\n";
        let list = csv(Path::new("f.csv"), text).expect("is well-formed");
        assert_eq!(list.len(), 2);
        assert_eq!((list[0].id, list[0].size_bytes, list[0].start_ps, list[0].path.len()), (Some(7), 1_000_000, 5_000_000, 3));
        assert_eq!((list[1].after, list[1].on_received, list[1].line), (Some(7), Some(true), 3));
        let plain = csv(Path::new("f.csv"), "src,dst,size_bytes,start_ns\n0,1,10,1.5\n").expect("is well-formed");
        assert_eq!((plain[0].size_bytes, plain[0].start_ps), (10, 1500));
    }

    #[test]
    fn names_the_cell_that_is_wrong() {
        let error = csv(Path::new("f.csv"), "src,dst,size\n0,1,5\n").expect_err("no unit");
        assert_eq!((error.line, error.key.as_str(), error.found.as_str()), (Some(2), "size", "5"));
        assert!(csv(Path::new("f.csv"), "src,dst\n").is_err());
        assert!(csv(Path::new("f.csv"), "src,dst,size,colour\n").expect_err("unknown").message.contains("columns are"));
        assert!(csv(Path::new("f.csv"), "src,dst,size\n0,1\n").is_err());
    }

    #[test]
    fn reads_cdf() {
        let sizes = cdf(Path::new("c"), "# comment\n1000 0\n2000 50 # half\n10000 100\n").expect("ascends");
        assert_eq!(sizes.mean(), 3750);
        assert!(cdf(Path::new("c"), "1000 0\n").is_err());
        assert!(cdf(Path::new("c"), "1000\n").is_err());
    }
}
