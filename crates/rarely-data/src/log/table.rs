//! A table in memory that the caller owns: columns of numbers and text, row by row.

use std::path::Path;
use std::sync::Arc;

use rarely_policy::{DataFormat, FieldValue};

use super::number_columns::NumberColumns;
use super::number_format::ColumnEvidence;
use super::{FileError, LogError, Rejection, Values, WantedColumn, find_columns, trimmed};
use crate::{DataError, Location, number};

/// Rows of a piece.
const PIECE: u64 = 2048;
/// Rows whose texts tell how numbers are written.
const FIRST_ROWS: u64 = 1000;

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

    /// The number of a row, from 1, where the table or the file that it comes from numbers its rows so.
    fn line(&self, _row: u64) -> Option<u64> {
        None
    }

    /// The location of a value.
    fn location(&self, row: u64, column: usize) -> Location {
        let (table, name) = (self.label().to_owned(), self.names()[column].clone());
        match self.line(row) {
            Some(row) => Location::NumberedRow { table, row, name },
            None => Location::Row { table, row, name },
        }
    }

    /// How it is read, if this is to be told.
    fn read_as(&self) -> Option<String> {
        None
    }
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
    numbers: NumberColumns,
    read_as: Option<String>,
}

/// The values of a row.
#[derive(Clone, Copy)]
pub(crate) struct TableFields<'a> {
    reader: &'a TableReader,
    row: u64,
}

impl TableReader {
    /// Finds the columns.
    pub(super) fn open(
        table: Arc<dyn MemoryTable>,
        wanted: &[WantedColumn],
        format: &DataFormat,
    ) -> Result<Self, DataError> {
        let names = wanted.iter().map(|column| column.name.as_str());
        let columns = find_columns(Path::new(table.label()), names, table.names()).map_err(of_table)?;
        for &column in &columns {
            table.check(column).map_err(|found| FileError::TableColumn {
                table: table.label().to_owned(),
                name: table.names()[column].clone(),
                found,
            })?;
        }
        let evidence = evidence(&*table, &columns);
        let location = |column: usize, row| table.location(row, column);
        let numbers = NumberColumns::find(evidence, (wanted, &columns), format.decimal, location)?;
        let parts: Vec<String> = table.read_as().into_iter().chain(numbers.stated(wanted)).collect();
        let read_as = (!parts.is_empty()).then(|| parts.join(", "));
        let end = table.rows();
        Ok(Self { table, columns, next: 0, end, numbers, read_as })
    }

    /// A reader for pieces of this table.
    pub(super) fn of_pieces(&self) -> Self {
        let (columns, numbers) = (self.columns.clone(), self.numbers.clone());
        Self { table: Arc::clone(&self.table), columns, next: 0, end: 0, numbers, read_as: None }
    }

    /// How the table is read, if this is to be told.
    pub(super) fn read_as(&self) -> Option<String> {
        self.read_as.clone()
    }

    /// Lines before a piece, to be added to those of its rows: none, where rows know their own.
    pub(super) fn lines(&self, rows: u64) -> u64 {
        if self.table.rows() > 0 && self.table.line(0).is_some() { 0 } else { rows }
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
    pub(super) fn next(&mut self) -> Result<Option<TableFields<'_>>, LogError> {
        let row = self.next;
        if row >= self.end {
            return Ok(None);
        }
        self.next += 1;
        for column in self.numbers.checked() {
            let at = self.columns[column.wanted];
            if let FieldValue::Text(text) = self.table.value(row, at)
                && let Err(problem) = column.read(text)
            {
                return Err(LogError::Row(Box::new(Rejection { location: self.table.location(row, at), problem })));
            }
        }
        Ok(Some(TableFields { reader: self, row }))
    }

    /// The number that a text of a wanted column spells.
    fn spelt(&self, wanted: usize, text: &str) -> Option<f64> {
        let column = self.numbers.checked().iter().find(|column| column.wanted == wanted);
        let formatted = column.and_then(|column| column.read(text).ok().flatten());
        formatted.or_else(|| number::finite(text.as_bytes()))
    }

    /// Rows read, and rows in all.
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.next, self.table.rows())
    }
}

/// What the texts of the first rows tell of each column.
fn evidence(table: &dyn MemoryTable, columns: &[usize]) -> Vec<ColumnEvidence> {
    let mut evidence: Vec<ColumnEvidence> = table.names().iter().map(|_| ColumnEvidence::default()).collect();
    for row in 0..table.rows().min(FIRST_ROWS) {
        for &column in columns {
            if let FieldValue::Text(text) = table.value(row, column)
                && !text.trim().is_empty()
            {
                evidence[column].add(text, row);
            }
        }
    }
    evidence
}

impl TableFields<'_> {
    /// The number of the row in its file.
    pub(super) fn line(&self) -> Option<u64> {
        self.reader.table.line(self.row)
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
            FieldValue::Text(text) if self.reader.numbers.is_number(wanted) => {
                self.reader.spelt(wanted, text).map_or_else(|| trimmed(text), FieldValue::Number)
            }
            FieldValue::Text(text) => trimmed(text),
            value => value,
        }
    }

    #[inline]
    fn number(&self, wanted: usize) -> Option<f64> {
        match self.reader.table.value(self.row, self.reader.columns[wanted]) {
            FieldValue::Number(number) => Some(number).filter(|number| number.is_finite()),
            FieldValue::Text(text) => self.reader.spelt(wanted, text),
            FieldValue::Missing => None,
        }
    }

    fn location(&self, wanted: usize) -> Location {
        self.reader.table.location(self.row, self.reader.columns[wanted])
    }
}
