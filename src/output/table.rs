//! CSV tables whose header, cells and schema come from one list of columns.

use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::plan::Plan;

/// How a cell is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Text.
    String,
    /// A whole number, without exponent or separators.
    Integer,
    /// A number with a fixed count of decimals.
    Decimal,
    /// `true` or `false`.
    Boolean,
}

/// A column: its name, what it means, and how to get its cell. An empty cell is a missing value.
#[derive(Debug, Clone, Copy)]
pub struct Column<R> {
    /// Name in the header, in snake case.
    pub name: &'static str,
    /// How cells are written.
    pub kind: Kind,
    /// Unit; `1` for counts, ratios and text.
    pub unit: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Writes the cell of a row.
    pub cell: fn(&Plan, &R, &mut String),
}

/// Makes a column of integers.
pub(super) const fn integer<R>(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    cell: fn(&Plan, &R, &mut String),
) -> Column<R> {
    Column { name, kind: Kind::Integer, unit, meaning, cell }
}

/// Makes a column of decimal numbers.
pub(super) const fn decimal<R>(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    cell: fn(&Plan, &R, &mut String),
) -> Column<R> {
    Column { name, kind: Kind::Decimal, unit, meaning, cell }
}

/// Makes a column of text.
pub(super) const fn text<R>(name: &'static str, meaning: &'static str, cell: fn(&Plan, &R, &mut String)) -> Column<R> {
    Column { name, kind: Kind::String, unit: "1", meaning, cell }
}

/// Makes a column of truth values.
pub(super) const fn boolean<R>(name: &'static str, meaning: &'static str, cell: fn(&Plan, &R, &mut String)) -> Column<R> {
    Column { name, kind: Kind::Boolean, unit: "1", meaning, cell }
}

/// Writes a value into a cell.
pub(super) fn put(out: &mut String, value: impl Display) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{value}");
}

/// Writes a value into a cell, nothing if there is none.
pub(super) fn put_some(out: &mut String, value: Option<impl Display>) {
    if let Some(value) = value {
        put(out, value);
    }
}

/// Writes an integer that counts `10^-digits` as a number with that many decimals.
pub(super) fn put_fixed(out: &mut String, value: u64, digits: u32) {
    let scale = 10_u64.pow(digits);
    let width = usize::try_from(digits).unwrap_or(0);
    let _ = write!(out, "{}.{:0width$}", value / scale, value % scale);
}

/// The same for a value that may be missing.
pub(super) fn put_some_fixed(out: &mut String, value: Option<u64>, digits: u32) {
    if let Some(value) = value {
        put_fixed(out, value, digits);
    }
}

/// A file as it was written.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct FileRecord {
    /// Name within the folder.
    pub name: String,
    /// Size (bytes).
    pub bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

/// A file that is hashed while it is written.
pub(super) struct HashedFile {
    path: PathBuf,
    file: BufWriter<File>,
    hash: Sha256,
    bytes: u64,
}

impl HashedFile {
    /// Creates a file in a folder.
    pub(super) fn create(folder: &Path, name: &str) -> Result<Self, Error> {
        let path = folder.join(name);
        let file = File::create_new(&path).map_err(|e| Error::Create(path.clone(), e))?;
        Ok(Self { path, file: BufWriter::with_capacity(1 << 16, file), hash: Sha256::new(), bytes: 0 })
    }

    /// Flushes and tells what was written.
    pub(super) fn finish(mut self) -> Result<FileRecord, Error> {
        self.file.flush().map_err(|e| Error::Io(self.path.clone(), e))?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(FileRecord { name, bytes: self.bytes, sha256: hex(&self.hash.finalize()) })
    }
}

impl Write for HashedFile {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let n = self.file.write(data)?;
        self.hash.update(&data[..n]);
        self.bytes += u64::try_from(n).unwrap_or(0);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a whole text file.
pub(super) fn write_text(folder: &Path, name: &str, text: &str) -> Result<FileRecord, Error> {
    let mut file = HashedFile::create(folder, name)?;
    file.write_all(text.as_bytes()).map_err(|e| Error::Io(folder.join(name), e))?;
    file.finish()
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}

/// A CSV writer for one kind of row.
pub(super) struct TableWriter<R: 'static> {
    columns: &'static [Column<R>],
    path: PathBuf,
    csv: csv::Writer<HashedFile>,
    cell: String,
}

impl<R> TableWriter<R> {
    /// Creates the file and writes the header.
    pub(super) fn create(folder: &Path, name: &str, columns: &'static [Column<R>]) -> Result<Self, Error> {
        let csv = csv::Writer::from_writer(HashedFile::create(folder, name)?);
        let mut table = Self { columns, path: folder.join(name), csv, cell: String::new() };
        let header = table.csv.write_record(columns.iter().map(|c| c.name));
        table.check(header)?;
        Ok(table)
    }

    /// Writes a row.
    pub(super) fn row(&mut self, plan: &Plan, row: &R) -> Result<(), Error> {
        for column in self.columns {
            self.cell.clear();
            (column.cell)(plan, row, &mut self.cell);
            let written = self.csv.write_field(&self.cell);
            self.check(written)?;
        }
        let written = self.csv.write_record(None::<&[u8]>);
        self.check(written)
    }

    /// Flushes and tells what was written.
    pub(super) fn finish(self) -> Result<FileRecord, Error> {
        let path = self.path;
        let file = self.csv.into_inner().map_err(|e| Error::Io(path, io::Error::other(e.to_string())))?;
        file.finish()
    }

    fn check(&self, written: csv::Result<()>) -> Result<(), Error> {
        written.map_err(|e| Error::Io(self.path.clone(), io::Error::from(e)))
    }
}

/// Writes a whole table.
pub(super) fn write_table<R>(
    folder: &Path,
    name: &str,
    columns: &'static [Column<R>],
    plan: &Plan,
    rows: &[R],
) -> Result<FileRecord, Error> {
    let mut table = TableWriter::create(folder, name, columns)?;
    for row in rows {
        table.row(plan, row)?;
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_decimals_keep_their_zeros() {
        let fixed = |value, digits| {
            let mut out = String::new();
            put_fixed(&mut out, value, digits);
            out
        };
        assert_eq!(fixed(0, 6), "0.000000");
        assert_eq!(fixed(1_000_001, 6), "1.000001");
        assert_eq!(fixed(123, 3), "0.123");
        assert_eq!(fixed(u64::MAX, 6), "18446744073709.551615");
    }

    #[test]
    fn a_hashed_file_knows_the_sum_of_its_bytes() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let record = write_text(dir.path(), "a.txt", "abc").expect("written");
        assert_eq!(record.bytes, 3);
        assert_eq!(record.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(record.name, "a.txt");
    }
}
