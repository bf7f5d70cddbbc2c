//! Tables by columns, as CSV and Parquet.

use std::borrow::Cow;
use std::io;

use crate::parquet_rows::{ParquetRows, RowCell, RowColumn};
use crate::provenance::Provenance;

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub enum TableColumn {
    /// Words.
    Text(Vec<String>),
    /// Whole numbers.
    Count(Vec<u64>),
    /// Numbers; some may be missing.
    Number(Vec<Option<f64>>),
}

impl TableColumn {
    fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Count(values) => values.len(),
            Self::Number(values) => values.len(),
        }
    }

    fn cell(&self, row: usize) -> String {
        match self {
            Self::Text(values) => quoted(&formula_safe(&values[row])),
            Self::Count(values) => values[row].to_string(),
            Self::Number(values) => values[row].map_or_else(String::new, |value| value.to_string()),
        }
    }

    fn kind(&self) -> RowColumn {
        match self {
            Self::Text(_) => RowColumn::Text,
            Self::Count(_) => RowColumn::Whole,
            Self::Number(_) => RowColumn::Number,
        }
    }

    fn row_cell(&self, row: usize) -> RowCell<'_> {
        match self {
            Self::Text(values) => RowCell::Text(&values[row]),
            Self::Count(values) => RowCell::Whole(values[row]),
            Self::Number(values) => values[row].map_or(RowCell::Missing, RowCell::Number),
        }
    }
}

/// Named columns of one length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnTable {
    columns: Vec<(String, TableColumn)>,
}

impl ColumnTable {
    /// Adds a column.
    ///
    /// # Panics
    /// If its length differs from the others'.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, column: TableColumn) -> Self {
        let name = name.into();
        assert!(self.columns.is_empty() || self.rows() == column.len(), "{name} has as many rows as the others");
        self.columns.push((name, column));
        self
    }

    /// The same with a first column that says one thing in every row.
    #[must_use]
    pub fn labelled(mut self, name: &str, value: &str) -> Self {
        let column = TableColumn::Text(vec![value.to_owned(); self.rows()]);
        self.columns.insert(0, (name.to_owned(), column));
        self
    }

    /// The same with columns that say in every row what made it, unless it has columns of these names.
    #[must_use]
    pub fn made_by(mut self, made_by: &Provenance) -> Self {
        let rows = self.rows();
        for (name, value) in made_by.parts() {
            if !self.columns.iter().any(|(own, _)| own == name) {
                self = self.texts(name, vec![value; rows]);
            }
        }
        self
    }

    /// Adds numbers.
    #[must_use]
    pub fn numbers(self, name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let values = values.into_iter().map(|value| value.is_finite().then_some(value)).collect();
        self.with(name, TableColumn::Number(values))
    }

    /// Adds numbers of which some may be missing.
    #[must_use]
    pub fn optional(self, name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let values = values.into_iter().map(|value| value.filter(|value| value.is_finite())).collect();
        self.with(name, TableColumn::Number(values))
    }

    /// Adds whole numbers.
    #[must_use]
    pub fn counts(self, name: impl Into<String>, values: impl IntoIterator<Item = u64>) -> Self {
        self.with(name, TableColumn::Count(values.into_iter().collect()))
    }

    /// Adds words.
    #[must_use]
    pub fn texts<T: Into<String>>(self, name: impl Into<String>, values: impl IntoIterator<Item = T>) -> Self {
        self.with(name, TableColumn::Text(values.into_iter().map(Into::into).collect()))
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Names and columns.
    pub fn columns(&self) -> &[(String, TableColumn)] {
        &self.columns
    }

    /// As CSV with a header; missing numbers are empty, all others have all their digits. No text begins like a formula of a spreadsheet.
    pub fn to_csv(&self) -> String {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let mut text = line(self.columns.iter().map(|(name, _)| quoted(&formula_safe(name))).collect());
        for row in 0..self.rows() {
            text += &line(self.columns.iter().map(|(_, column)| column.cell(row)).collect());
        }
        text
    }

    /// As Parquet.
    ///
    /// # Errors
    /// If two columns have one name.
    pub fn to_parquet(&self) -> io::Result<Vec<u8>> {
        self.parquet(None)
    }

    /// [`ColumnTable::to_parquet`], with what made it in the file's metadata.
    pub(crate) fn parquet(&self, made_by: Option<&Provenance>) -> io::Result<Vec<u8>> {
        let columns = self.columns.iter().map(|(name, column)| (name.clone(), column.kind())).collect();
        let mut rows = ParquetRows::made_by(Vec::new(), columns, made_by)?;
        let mut cells = Vec::with_capacity(self.columns.len());
        for row in 0..self.rows() {
            cells.clear();
            cells.extend(self.columns.iter().map(|(_, column)| column.row_cell(row)));
            rows.push(&cells)?;
        }
        rows.finish()
    }
}

/// A text that no spreadsheet takes for a formula: one that begins like a formula, and is no number, gets an apostrophe.
fn formula_safe(text: &str) -> Cow<'_, str> {
    let begins_like_one = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if begins_like_one && text.trim().parse::<f64>().is_err() { format!("'{text}").into() } else { text.into() }
}

/// A CSV field, in quotes where it must be.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
