//! A table in memory that the caller owns: columns of numbers and text, row by row.

use std::path::Path;
use std::sync::Arc;

use rarely_policy::FieldValue;

use super::{FileError, Values, find_columns, trimmed};
use crate::{DataError, Location, number};

/// Rows of a piece.
const PIECE: u64 = 2048;

/// A table in memory, such as a data frame.
pub trait MemoryTable: Send + Sync {
    /// Its name in messages, such as `the frame`.
    fn label(&self) -> &str;

    /// The names of its columns, in their order.
    fn names(&self) -> &[String];

    /// How many rows it has.
    fn rows(&self) -> u64;

    /// Checks that a column holds numbers or text. Called for every wanted column before the first row is read.
    ///
    /// # Errors
    /// What it holds instead.
    fn check(&self, column: usize) -> Result<(), String>;

    /// A value of a column that was checked.
    fn value(&self, row: u64, column: usize) -> FieldValue<'_>;
}

/// A table being read.
pub(super) struct TableReader {
    table: Arc<dyn MemoryTable>,
    /// The column of each wanted name, from 0.
    columns: Vec<usize>,
    /// The row that is read next.
    next: u64,
    /// Where the rows to read end.
    end: u64,
}

/// The values of a row.
#[derive(Clone, Copy)]
pub(crate) struct TableFields<'a> {
    reader: &'a TableReader,
    row: u64,
}

impl TableReader {
    /// Finds the columns.
    pub(super) fn open(table: Arc<dyn MemoryTable>, wanted: &[String]) -> Result<Self, DataError> {
        let columns = find_columns(Path::new(table.label()), wanted, table.names()).map_err(of_table)?;
        for &column in &columns {
            table.check(column).map_err(|found| FileError::TableColumn {
                table: table.label().to_owned(),
                name: table.names()[column].clone(),
                found,
            })?;
        }
        let end = table.rows();
        Ok(Self { table, columns, next: 0, end })
    }

    /// A reader for pieces of this table.
    pub(super) fn of_pieces(&self) -> Self {
        Self { table: Arc::clone(&self.table), columns: self.columns.clone(), next: 0, end: 0 }
    }

    /// Takes the next rows out of another reader; false if there are none.
    pub(super) fn take_piece(&mut self, from: &mut Self) -> bool {
        self.next = from.next;
        self.end = from.end.min(from.next + PIECE);
        from.next = self.end;
        self.next < self.end
    }

    /// All columns, in their order.
    pub(super) fn names(&self) -> &[String] {
        self.table.names()
    }

    /// The columns that hold numbers or text.
    pub(super) fn readable_names(&self) -> Vec<String> {
        let names = self.names().iter().enumerate();
        names.filter(|(column, _)| self.table.check(*column).is_ok()).map(|(_, name)| name.clone()).collect()
    }

    /// The next row, if there is one.
    pub(super) fn next(&mut self) -> Option<TableFields<'_>> {
        let row = self.next;
        if row >= self.end {
            return None;
        }
        self.next += 1;
        Some(TableFields { reader: self, row })
    }

    /// Rows read, and rows in all.
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.next, self.table.rows())
    }
}

/// The error of a file as that of a table.
fn of_table(error: DataError) -> DataError {
    match error {
        DataError::File(FileError::NoSuchColumn { file, name, suggestion, present }) => {
            FileError::NoTableColumn { table: file.display().to_string(), name, suggestion, present }.into()
        }
        error => error,
    }
}

impl Values for TableFields<'_> {
    #[inline]
    fn value(&self, wanted: usize) -> FieldValue<'_> {
        match self.reader.table.value(self.row, self.reader.columns[wanted]) {
            FieldValue::Text(text) => trimmed(text),
            value => value,
        }
    }

    #[inline]
    fn number(&self, wanted: usize) -> Option<f64> {
        match self.reader.table.value(self.row, self.reader.columns[wanted]) {
            FieldValue::Number(number) => Some(number).filter(|number| number.is_finite()),
            FieldValue::Text(text) => number::finite(text.as_bytes()),
            FieldValue::Missing => None,
        }
    }

    fn location(&self, wanted: usize) -> Location {
        let table = &self.reader.table;
        let name = table.names()[self.reader.columns[wanted]].clone();
        Location::Row { table: table.label().to_owned(), row: self.row, name }
    }
}
