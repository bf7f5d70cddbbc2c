//! Fields between separators, one row a line, names in the first. A byte order mark, empty lines, any kind of line end and blanks
//! around values are accepted.

mod cuts;
mod quoted;
mod regular;
mod slots;

use std::path::{Path, PathBuf};
use std::str;

use rarely_policy::FieldValue;

use self::cuts::Cuts;
use self::quoted::{End, Unquoted};
use self::slots::{Slot, place};
use super::input::Input;
use super::{FileError, LogError, Problem, Rejection, Values, find_columns, trimmed};
use crate::{DataError, Place, number};

/// A file being read.
pub(super) struct Reader {
    file: PathBuf,
    input: Input,
    separator: u8,
    names: Vec<String>,
    /// The column of each wanted name, from 0.
    columns: Vec<usize>,
    /// The wanted fields of the present row.
    slots: Vec<Slot>,
    /// The line that the present row starts on, and the next one.
    line: u64,
    next_line: u64,
    cuts: Cuts,
    /// The present row, if it is not regular.
    unquoted: Unquoted,
}

/// The fields of a row.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a> {
    /// The row, and perhaps what stands behind it.
    bytes: &'a [u8],
    reader: &'a Reader,
}

impl Reader {
    /// Opens a file and finds the columns.
    pub(super) fn open(path: &Path, separator: u8, wanted: &[String]) -> Result<Self, DataError> {
        let mut reader = Self {
            file: path.to_owned(),
            input: Input::open(path)?,
            separator,
            names: Vec::new(),
            columns: Vec::new(),
            slots: Vec::new(),
            line: 1,
            next_line: 1,
            cuts: Cuts::default(),
            unquoted: Unquoted::default(),
        };
        if !reader.find()? {
            return Err(FileError::NoHeader { file: reader.file }.into());
        }
        for index in 0..reader.unquoted.ends.len() {
            let (from, to) = reader.unquoted.bounds(index);
            let name = &reader.unquoted.bytes[from..to];
            let Ok(name) = str::from_utf8(name) else {
                let (line, column, found) = (reader.line, index + 1, number::shown(name));
                return Err(FileError::HeaderNotUtf8 { file: reader.file, line, column, found }.into());
            };
            reader.names.push(name.trim().to_owned());
        }
        reader.columns = find_columns(path, wanted, &reader.names)?;
        reader.slots = vec![Slot::EMPTY; reader.columns.len()];
        Ok(reader)
    }

    /// All columns, in their order.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// The next row that is not blank, if there is one.
    pub(super) fn next(&mut self) -> Result<Option<Fields<'_>>, LogError> {
        while !self.input.has_line() && self.input.more(self.next_line)? {}
        let (rest, columns) = (self.input.rest(), (self.columns.as_slice(), self.names.len()));
        if let Some(taken) = regular::read(rest, self.separator, columns, &mut self.cuts, &mut self.slots) {
            self.input.take(taken);
            self.line = self.next_line;
            self.next_line += 1;
            return Ok(Some(Fields { bytes: self.input.last(taken), reader: self }));
        }
        if !self.find()? {
            return Ok(None);
        }
        self.check()?;
        Ok(Some(Fields { bytes: &self.unquoted.bytes, reader: self }))
    }

    /// Bytes read, and bytes in all.
    pub(super) fn progress(&self) -> (u64, u64) {
        self.input.progress()
    }

    /// Takes the next row apart that is not blank; false at the end of the file.
    fn find(&mut self) -> Result<bool, DataError> {
        loop {
            self.line = self.next_line;
            match self.unquoted.read(self.input.rest(), self.separator) {
                End::Line { taken, lines } => {
                    self.input.take(taken);
                    self.next_line += lines;
                    if !self.unquoted.is_blank() {
                        return Ok(true);
                    }
                }
                End::Text { .. } if self.input.more(self.line)? => {}
                End::Text { in_quotes: true } => {
                    let (line, column) = (self.line, self.unquoted.ends.len());
                    return Err(FileError::UnclosedQuote { file: self.file.clone(), line, column }.into());
                }
                // The last line of the file need not have an end.
                End::Text { in_quotes: false } => {
                    self.input.take(self.input.rest().len());
                    return Ok(!self.unquoted.is_blank());
                }
            }
        }
    }

    /// Checks the row that was taken apart, and finds the wanted fields.
    fn check(&mut self) -> Result<(), LogError> {
        let (found, expected) = (self.unquoted.ends.len(), self.names.len());
        if found != expected {
            let problem = if found < expected {
                Problem::TooShort { found, expected }
            } else {
                Problem::TooLong { found, expected }
            };
            return Err(self.rejection(found.min(expected), problem));
        }
        for wanted in 0..self.columns.len() {
            let column = self.columns[wanted];
            let (from, to) = self.unquoted.bounds(column);
            let field = &self.unquoted.bytes[from..to];
            if str::from_utf8(field).is_err() {
                return Err(self.rejection(column, Problem::NotUtf8 { found: number::shown(field) }));
            }
            self.slots[wanted] = Slot { from: place(from), to: place(to), ..Slot::EMPTY };
        }
        Ok(())
    }

    fn rejection(&self, column: usize, problem: Problem) -> LogError {
        LogError::Row(Box::new(Rejection { place: self.place(column), problem }))
    }

    fn place(&self, column: usize) -> Place {
        let name = self.names.get(column).map_or("no name", String::as_str).to_owned();
        Place::Cell { file: self.file.clone(), line: self.line, column: column + 1, name }
    }
}

impl Fields<'_> {
    /// The line the row starts on.
    pub(super) fn line(&self) -> u64 {
        self.reader.line
    }

    #[inline(never)]
    fn spelt(&self, wanted: usize) -> Option<f64> {
        number::finite(self.reader.slots[wanted].field(self.bytes))
    }
}

impl Values for Fields<'_> {
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

    fn place(&self, wanted: usize) -> Place {
        self.reader.place(self.reader.columns[wanted])
    }
}
