//! Result tables, as CSV and Parquet.

use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Words.
    Text(Vec<String>),
    /// Whole numbers.
    Count(Vec<u64>),
    /// Numbers; some may be missing.
    Number(Vec<Option<f64>>),
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Count(values) => values.len(),
            Self::Number(values) => values.len(),
        }
    }

    fn cell(&self, row: usize) -> String {
        match self {
            Self::Text(values) => quoted(&values[row]),
            Self::Count(values) => values[row].to_string(),
            Self::Number(values) => values[row].map_or_else(String::new, |value| value.to_string()),
        }
    }
}

/// Named columns of one length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Frame {
    columns: Vec<(String, Column)>,
}

impl Frame {
    /// Adds a column.
    ///
    /// # Panics
    /// If its length differs from the others'.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, column: Column) -> Self {
        let name = name.into();
        assert!(self.columns.is_empty() || self.rows() == column.len(), "{name} has as many rows as the others");
        self.columns.push((name, column));
        self
    }

    /// The same with a first column that says one thing in every row.
    #[must_use]
    pub fn labelled(mut self, name: &str, value: &str) -> Self {
        let column = Column::Text(vec![value.to_owned(); self.rows()]);
        self.columns.insert(0, (name.to_owned(), column));
        self
    }

    /// Adds numbers.
    #[must_use]
    pub fn numbers(self, name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Self {
        let values = values.into_iter().map(|value| value.is_finite().then_some(value)).collect();
        self.with(name, Column::Number(values))
    }

    /// Adds numbers of which some may be missing.
    #[must_use]
    pub fn optional(self, name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let values = values.into_iter().map(|value| value.filter(|value| value.is_finite())).collect();
        self.with(name, Column::Number(values))
    }

    /// Adds whole numbers.
    #[must_use]
    pub fn counts(self, name: impl Into<String>, values: impl IntoIterator<Item = u64>) -> Self {
        self.with(name, Column::Count(values.into_iter().collect()))
    }

    /// Adds words.
    #[must_use]
    pub fn texts<T: Into<String>>(self, name: impl Into<String>, values: impl IntoIterator<Item = T>) -> Self {
        self.with(name, Column::Text(values.into_iter().map(Into::into).collect()))
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Names and columns.
    pub fn columns(&self) -> &[(String, Column)] {
        &self.columns
    }

    /// As CSV with a header; missing numbers are empty, all others have all their digits.
    pub fn to_csv(&self) -> String {
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let mut text = line(self.columns.iter().map(|(name, _)| quoted(name)).collect());
        for row in 0..self.rows() {
            text += &line(self.columns.iter().map(|(_, column)| column.cell(row)).collect());
        }
        text
    }

    /// As Parquet.
    ///
    /// # Errors
    /// If the columns make no schema.
    pub fn to_parquet(&self) -> Result<Vec<u8>, ParquetError> {
        let fields: Result<Vec<_>, ParquetError> =
            self.columns.iter().map(|(name, column)| Ok(Arc::new(field(name, column)?))).collect();
        let schema = Type::group_type_builder("results").with_fields(fields?).build()?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        let mut columns = self.columns.iter();
        while let (Some(mut writer), Some((_, column))) = (group.next_column()?, columns.next()) {
            write(&mut writer, column)?;
            writer.close()?;
        }
        group.close()?;
        writer.into_inner()
    }
}

fn field(name: &str, column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical, repetition) = match column {
        Column::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
        Column::Count(_) => (Physical::INT64, None, Repetition::REQUIRED),
        Column::Number(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
    };
    Type::primitive_type_builder(name, physical).with_logical_type(logical).with_repetition(repetition).build()
}

fn write(writer: &mut SerializedColumnWriter<'_>, column: &Column) -> Result<(), ParquetError> {
    match column {
        Column::Text(values) => {
            let values: Vec<ByteArray> = values.iter().map(|value| ByteArray::from(value.as_str())).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        }
        Column::Count(values) => {
            let values: Vec<i64> = values.iter().map(|&value| i64::try_from(value).unwrap_or(i64::MAX)).collect();
            writer.typed::<Int64Type>().write_batch(&values, None, None)?;
        }
        Column::Number(values) => {
            let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
            let present: Vec<f64> = values.iter().copied().flatten().collect();
            writer.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
        }
    }
    Ok(())
}

/// A CSV field, in quotes where it must be.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
