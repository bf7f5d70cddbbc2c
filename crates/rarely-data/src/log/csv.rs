//! CSV and TSV files: names in the first line, one row per line. A byte order mark, empty lines, any kind of line end and blanks
//! around values are accepted.

mod cuts;
mod quoted;
mod regular;
mod rows;
mod slots;

use std::path::Path;
use std::str;

use rarely_policy::FieldValue;

use self::cuts::Cuts;
use self::quoted::last_row_end;
use self::slots::{FieldSlot, offset};
use super::{FileError, LogError, Rejection, RowProblem, Values, find_columns, trimmed};
use crate::{DataError, Location, number};

pub(crate) use self::rows::CsvRows;

/// A file being read.
pub(super) struct CsvReader {
    rows: CsvRows,
    names: Vec<String>,
    /// The column of each wanted name, from 0.
    columns: Vec<usize>,
    /// The wanted fields of the current row.
    slots: Vec<FieldSlot>,
    cuts: Cuts,
}

/// The fields of a row.
#[derive(Clone, Copy)]
pub(crate) struct CsvFields<'a> {
    /// The row, and possibly what follows it.
    bytes: &'a [u8],
    reader: &'a CsvReader,
}

impl CsvReader {
    /// Opens a file and finds the columns.
    pub(super) fn open(path: &Path, separator: u8, wanted: &[String]) -> Result<Self, DataError> {
        let mut rows = CsvRows::open(path, separator)?;
        if !rows.advance()? {
            return Err(FileError::NoHeader { file: rows.file }.into());
        }
        let mut names = Vec::with_capacity(rows.width());
        for (index, name) in rows.fields().enumerate() {
            let Ok(name) = str::from_utf8(name) else {
                let (line, column, found) = (rows.line, index + 1, number::shown(name));
                return Err(FileError::HeaderNotUtf8 { file: path.to_owned(), line, column, found }.into());
            };
            names.push(name.trim().to_owned());
        }
        let columns = find_columns(path, wanted, &names)?;
        let slots = vec![FieldSlot::EMPTY; columns.len()];
        Ok(Self { rows, names, columns, slots, cuts: Cuts::default() })
    }

    /// A reader for pieces of the rest of this file.
    pub(super) fn of_pieces(&self) -> Self {
        let rows = CsvRows::of(&self.rows.file, self.rows.input.piece(), self.rows.separator);
        let (names, columns, slots) = (self.names.clone(), self.columns.clone(), self.slots.clone());
        Self { rows, names, columns, slots, cuts: Cuts::default() }
    }

    /// Takes the next rows of the file out of its reader; false if there are none.
    pub(super) fn take_piece(&mut self, from: &mut Self) -> Result<bool, DataError> {
        self.rows.next_line = 1;
        let separator = self.rows.separator;
        from.rows.input.move_rows(&mut self.rows.input, |text| last_row_end(text, separator))
    }

    /// Lines so far.
    pub(super) fn lines(&self) -> u64 {
        self.rows.next_line - 1
    }

    /// All columns, in their order.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The next row that is not blank, if there is one.
    pub(super) fn next(&mut self) -> Result<Option<CsvFields<'_>>, LogError> {
        let rows = &mut self.rows;
        while !rows.input.has_line() && rows.input.more(rows.next_line)? {}
        let (rest, columns) = (rows.input.rest(), (self.columns.as_slice(), self.names.len()));
        if let Some(taken) = regular::read(rest, rows.separator, columns, &mut self.cuts, &mut self.slots) {
            rows.input.take(taken);
            rows.line = rows.next_line;
            rows.next_line += 1;
            return Ok(Some(CsvFields { bytes: self.rows.input.last(taken), reader: self }));
        }
        if !rows.advance()? {
            return Ok(None);
        }
        self.check()?;
        Ok(Some(CsvFields { bytes: &self.rows.unquoted.bytes, reader: self }))
    }

    /// Bytes read, and bytes in all.
    pub(super) fn progress(&self) -> (u64, u64) {
        self.rows.input.progress()
    }

    /// Checks the width of the current row, and finds the wanted fields.
    fn check(&mut self) -> Result<(), LogError> {
        let (found, expected) = (self.rows.width(), self.names.len());
        if found != expected {
            let problem = if found < expected {
                RowProblem::TooShort { found, expected }
            } else {
                RowProblem::TooLong { found, expected }
            };
            return Err(self.rejection(found.min(expected), problem));
        }
        for wanted in 0..self.columns.len() {
            let column = self.columns[wanted];
            let (from, to) = self.rows.unquoted.bounds(column);
            let field = self.rows.field(column);
            if str::from_utf8(field).is_err() {
                return Err(self.rejection(column, RowProblem::NotUtf8 { found: number::shown(field) }));
            }
            self.slots[wanted] = FieldSlot { from: offset(from), to: offset(to), ..FieldSlot::EMPTY };
        }
        Ok(())
    }

    fn rejection(&self, column: usize, problem: RowProblem) -> LogError {
        LogError::Row(Box::new(Rejection { location: self.rows.location(&self.names, column), problem }))
    }
}

impl CsvFields<'_> {
    /// The line the row starts on.
    pub(super) fn line(&self) -> u64 {
        self.reader.rows.line
    }

    #[inline(never)]
    fn spelt(&self, wanted: usize) -> Option<f64> {
        number::finite(self.reader.slots[wanted].field(self.bytes))
    }
}

impl Values for CsvFields<'_> {
    #[inline]
    fn value(&self, wanted: usize) -> FieldValue<'_> {
        // Wanted fields were checked.
        trimmed(str::from_utf8(self.reader.slots[wanted].field(self.bytes)).unwrap_or_default())
    }

    #[inline]
    fn number(&self, wanted: usize) -> Option<f64> {
        let number = self.reader.slots[wanted].number;
        if number.is_nan() { self.spelt(wanted) } else { Some(number) }
    }

    fn location(&self, wanted: usize) -> Location {
        self.reader.rows.location(&self.reader.names, self.reader.columns[wanted])
    }
}
