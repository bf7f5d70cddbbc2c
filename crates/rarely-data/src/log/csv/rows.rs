//! The rows of a CSV file, one at a time, each with the line it starts on.

use std::path::{Path, PathBuf};

use rarely_policy::TextEncoding;

use super::super::FileError;
use super::super::input::Input;
use super::quoted::{RowEnd, Unquoted};
use crate::{CounterfactualFormat, DataError, Location};

/// A CSV file and its current row. Blank lines are skipped; a byte order mark and any kind of line end are accepted.
pub(crate) struct CsvRows {
    pub(super) file: PathBuf,
    pub(super) input: Input,
    pub(super) separator: u8,
    /// The line that the current row starts on, and the next one.
    pub(super) line: u64,
    pub(super) next_line: u64,
    pub(super) unquoted: Unquoted,
}

impl CsvRows {
    pub(crate) fn open(path: &Path, separator: u8) -> Result<Self, DataError> {
        Ok(Self::of(path, Input::open(path, Some(TextEncoding::Utf8))?.0, separator))
    }

    /// The rows of a file that is open, or of a piece.
    pub(super) fn of(path: &Path, input: Input, separator: u8) -> Self {
        Self { file: path.to_owned(), input, separator, line: 1, next_line: 1, unquoted: Unquoted::default() }
    }

    /// Moves to the next row that is not blank; false at the end of the file.
    pub(crate) fn advance(&mut self) -> Result<bool, DataError> {
        loop {
            self.line = self.next_line;
            match self.unquoted.read(self.input.rest(), self.separator) {
                RowEnd::Line { taken, lines } => {
                    self.input.take(taken);
                    self.next_line += lines;
                    if !self.unquoted.is_blank() {
                        return Ok(true);
                    }
                }
                RowEnd::Text { .. } if self.input.more(self.line)? => {}
                RowEnd::Text { in_quotes: true, .. } => {
                    let (line, column) = (self.line, self.unquoted.ends.len());
                    return Err(FileError::UnclosedQuote { file: self.file.clone(), line, column }.into());
                }
                // The last line of the file need not have an end.
                RowEnd::Text { in_quotes: false, lines } => {
                    self.next_line += if self.input.rest().is_empty() { 0 } else { lines };
                    self.input.take(self.input.rest().len());
                    return Ok(!self.unquoted.is_blank());
                }
            }
        }
    }

    /// The number of fields in the current row.
    pub(crate) fn width(&self) -> usize {
        self.unquoted.ends.len()
    }

    /// A field of the current row, unquoted.
    pub(crate) fn field(&self, index: usize) -> &[u8] {
        let (from, to) = self.unquoted.bounds(index);
        &self.unquoted.bytes[from..to]
    }

    /// The fields of the current row, unquoted.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.width()).map(|index| self.field(index))
    }

    /// The location of a field of the current row, by its column from 0.
    pub(crate) fn location<Name: AsRef<str>>(&self, names: &[Name], column: usize) -> Location {
        let name = names.get(column).map_or("no name", AsRef::as_ref).to_owned();
        Location::Cell { file: self.file.clone(), line: self.line, column: column + 1, name }
    }

    /// Checks that the current row has a field for every name.
    pub(crate) fn check_width<Name: AsRef<str>>(
        &self,
        names: &[Name],
        format: CounterfactualFormat,
    ) -> Result<(), DataError> {
        let (found, expected) = (self.width(), names.len());
        let location = || self.location(names, found.min(expected));
        match found.cmp(&expected) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => Err(DataError::MissingColumn { location: location(), found, expected, format }),
            std::cmp::Ordering::Greater => {
                Err(DataError::ExtraColumn { location: location(), found, expected, format })
            }
        }
    }
}
