//! CSV and TSV files: names in the first line, one row per line. A byte order mark, empty lines, any kind of line end and blanks
//! around values are accepted. Encoding, separator and the format of numbers are found at the beginning of the file; what contradicts them
//! later is an error with its line.

mod beginning;
mod cuts;
mod quoted;
mod regular;
mod rows;
mod separator;
mod slots;

use std::path::Path;
use std::str;

use rarely_policy::{DataFormat, FieldSeparator, FieldValue, TextEncoding};

use self::cuts::Cuts;
use self::quoted::last_row_end;
use self::slots::{FieldSlot, offset};
use super::input::Input;
use super::number_columns::NumberColumns;
use super::{FileError, LogError, Rejection, RowProblem, Values, WantedColumn, find_columns, trimmed};
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
    numbers: NumberColumns,
    /// How the file is written, if it is not as programs write it.
    read_as: Option<String>,
}

/// The fields of a row.
#[derive(Clone, Copy)]
pub(crate) struct CsvFields<'a> {
    /// The row, and possibly what follows it.
    bytes: &'a [u8],
    reader: &'a CsvReader,
}

impl CsvReader {
    /// Opens a file and finds the columns. The usual separator is that of its name.
    pub(super) fn open(
        path: &Path,
        usual: FieldSeparator,
        wanted: &[WantedColumn],
        format: &DataFormat,
    ) -> Result<Self, DataError> {
        let (mut input, encoding) = Input::open(path, format.encoding)?;
        let beginning = input.beginning()?;
        let written = separator::written(beginning);
        let found = written.map(|(separator, _)| separator);
        let separator = format.separator.or(found);
        let taken = written.map_or(0, |(_, length)| length);
        input.take(taken);
        let separator = if let Some(separator) = separator {
            separator
        } else {
            input.beginning()?;
            separator::find(input.buffered_beginning(), input.is_at_end(), usual)
        };
        let mut rows = CsvRows::of(path, input, separator.byte());
        rows.next_line += u64::from(taken > 0);
        let names = read_names(&mut rows)?;
        let columns = find_columns(path, wanted.iter().map(|column| column.name.as_str()), &names)?;
        let evidence = beginning::evidence(&rows, names.len());
        let location = |column: usize, line| Location::Cell {
            file: path.to_owned(),
            line,
            column: column + 1,
            name: names[column].clone(),
        };
        let numbers = NumberColumns::find(evidence, (wanted, &columns), format.decimal, location)?;
        let mut parts = numbers.stated(wanted);
        if encoding != TextEncoding::Utf8 {
            parts.insert(0, encoding.to_string());
        }
        if separator != usual {
            parts.insert(0, separator.to_string());
        }
        let read_as = (!parts.is_empty()).then(|| parts.join(", "));
        let slots = vec![FieldSlot::EMPTY; columns.len()];
        Ok(Self { rows, names, columns, slots, cuts: Cuts::default(), numbers, read_as })
    }

    /// A reader for pieces of the rest of this file.
    pub(super) fn of_pieces(&self) -> Self {
        let rows = CsvRows::of(&self.rows.file, self.rows.input.piece(), self.rows.separator);
        let (names, columns, slots) = (self.names.clone(), self.columns.clone(), self.slots.clone());
        let (numbers, read_as) = (self.numbers.clone(), self.read_as.clone());
        Self { rows, names, columns, slots, cuts: Cuts::default(), numbers, read_as }
    }

    /// How the file is written, if it is not as programs write it.
    pub(super) fn read_as(&self) -> Option<&str> {
        self.read_as.as_deref()
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
            if !self.numbers.is_empty() {
                self.read_numbers(Some(taken))?;
            }
            return Ok(Some(CsvFields { bytes: self.rows.input.last(taken), reader: self }));
        }
        if !rows.advance()? {
            return Ok(None);
        }
        self.check()?;
        self.read_numbers(None)?;
        Ok(Some(CsvFields { bytes: &self.rows.unquoted.bytes, reader: self }))
    }

    /// Bytes read, and bytes in all.
    pub(super) fn progress(&self) -> (u64, u64) {
        self.rows.input.progress()
    }

    /// Checks the width of the current row, and finds the wanted fields.
    fn check(&mut self) -> Result<(), LogError> {
        let (found, expected) = (self.rows.width(), self.names.len());
        if found != expected && !self.differs_by_blanks() {
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
                return Err(self.rejection(column, RowProblem::DamagedText { found: number::shown(field) }));
            }
            self.slots[wanted] = FieldSlot { from: offset(from), to: offset(to), ..FieldSlot::EMPTY };
        }
        Ok(())
    }

    /// Reads numbers that are not written as programs do. The row is in the last bytes that were taken, or without its quotation marks.
    fn read_numbers(&mut self, taken: Option<usize>) -> Result<(), LogError> {
        let row = taken.map_or(self.rows.unquoted.bytes.as_slice(), |taken| self.rows.input.last(taken));
        for column in self.numbers.checked() {
            let slot = &mut self.slots[column.wanted];
            match column.read(str::from_utf8(slot.field(row)).unwrap_or_default()) {
                Ok(None) => {}
                Ok(Some(number)) => slot.number = number,
                Err(problem) => return Err(self.rejection(self.columns[column.wanted], problem)),
            }
        }
        Ok(())
    }

    /// Whether only columns without a name are missing, or the fields that are too many are blank.
    fn differs_by_blanks(&self) -> bool {
        let (found, expected) = (self.rows.width(), self.names.len());
        if found < expected {
            return self.names[found..].iter().all(String::is_empty);
        }
        (expected..found).all(|column| self.rows.field(column).trim_ascii().is_empty())
    }

    fn rejection(&self, column: usize, problem: RowProblem) -> LogError {
        LogError::Row(Box::new(Rejection { location: self.rows.location(&self.names, column), problem }))
    }
}

/// The names of the columns, in the first row.
fn read_names(rows: &mut CsvRows) -> Result<Vec<String>, DataError> {
    if !rows.advance()? {
        return Err(FileError::NoHeader { file: rows.file.clone() }.into());
    }
    let mut names = Vec::with_capacity(rows.width());
    for (index, name) in rows.fields().enumerate() {
        let Ok(name) = str::from_utf8(name) else {
            let (line, column, found) = (rows.line, index + 1, number::shown(name));
            return Err(FileError::HeaderNotUtf8 { file: rows.file.clone(), line, column, found }.into());
        };
        names.push(name.trim().to_owned());
    }
    Ok(names)
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
        let numbers = &self.reader.numbers;
        if !numbers.is_empty() && numbers.is_number(wanted) && !self.reader.slots[wanted].number.is_nan() {
            return FieldValue::Number(self.reader.slots[wanted].number);
        }
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
