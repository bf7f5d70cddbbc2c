//! The rows of a CSV file, one at a time, each with its true line number.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::{DataError, Place};

/// A row: its line and its fields.
pub(crate) struct Row<'a> {
    /// The line the row starts on, from 1.
    pub(crate) line: u64,
    /// The fields, unquoted.
    pub(crate) fields: &'a csv::ByteRecord,
}

/// A CSV file being read. Empty lines are passed over; a byte order mark, and any kind of line end, are accepted.
pub(crate) struct Rows {
    file: PathBuf,
    reader: csv::Reader<Lines<File>>,
    record: csv::ByteRecord,
}

impl Rows {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        let file = File::open(path).map_err(|source| DataError::Io { file: path.to_owned(), source })?;
        let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(Lines::new(file));
        Ok(Self { file: path.to_owned(), reader, record: csv::ByteRecord::new() })
    }

    /// The next row, if there is one.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>, DataError> {
        loop {
            let found = self.reader.read_byte_record(&mut self.record);
            let found = found.map_err(|error| DataError::Io { file: self.file.clone(), source: error.into() })?;
            if !found {
                return Ok(None);
            }
            let blank = self.record.len() == 1 && self.record[0].trim_ascii().is_empty();
            if !blank {
                break;
            }
        }
        // The reader notes where it began to look for a row, before any empty lines; where it stands after the row is exact,
        // since every line is made to end in one `\n`. A quoted field may hold lines of its own.
        let within = self.record.as_slice().iter().fold(0, |count, &byte| count + u64::from(byte == b'\n'));
        Ok(Some(Row { line: self.reader.position().line() - 1 - within, fields: &self.record }))
    }
}

/// Checks that a row has a field for every name. `Place` of the first that is missing or too many.
pub(crate) fn check_width<Name: AsRef<str>>(
    row: &Row<'_>,
    file: &Path,
    names: &[Name],
    remedy: &'static str,
) -> Result<(), DataError> {
    let (found, expected) = (row.fields.len(), names.len());
    if found == expected {
        return Ok(());
    }
    let first = found.min(expected);
    let name = names.get(first).map_or("no name", AsRef::as_ref).to_owned();
    let place = Place::Cell { file: file.to_owned(), line: row.line, column: first + 1, name };
    Err(if found < expected {
        DataError::MissingColumn { place, found, expected, remedy }
    } else {
        DataError::ExtraColumn { place, found, expected, remedy }
    })
}

/// Bytes in which every line, also the last, ends in a single `\n`.
struct Lines<R> {
    inner: R,
    after_return: bool,
    last: u8,
}

impl<R> Lines<R> {
    fn new(inner: R) -> Self {
        Self { inner, after_return: false, last: b'\n' }
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = self.inner.read(buffer)?;
            if read == 0 {
                let unfinished = self.last != b'\n';
                if unfinished {
                    buffer[0] = b'\n';
                    self.last = b'\n';
                }
                return Ok(usize::from(unfinished));
            }
            let mut kept = 0;
            for at in 0..read {
                let byte = buffer[at];
                let second_half = byte == b'\n' && self.after_return;
                self.after_return = byte == b'\r';
                if !second_half {
                    buffer[kept] = if byte == b'\r' { b'\n' } else { byte };
                    kept += 1;
                }
            }
            if kept > 0 {
                self.last = buffer[kept - 1];
                return Ok(kept);
            }
        }
    }
}
