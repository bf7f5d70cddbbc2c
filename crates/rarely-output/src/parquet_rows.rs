//! Rows written as a Parquet file, a group of them at a time, so that memory does not grow with their number.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use crate::provenance::Provenance;

/// Rows per group.
const GROUP: usize = 1 << 16;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowColumn {
    /// Words.
    Text,
    /// Numbers.
    Number,
    /// Whole numbers.
    Whole,
}

/// A value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowCell<'a> {
    /// Nothing.
    Missing,
    /// Words.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(u64),
}

/// Writes rows as a Parquet file, a group of them at a time.
///
/// ```
/// use rarely_output::{RowCell, RowColumn, ParquetRows};
/// let columns = vec![("age".to_owned(), RowColumn::Number), ("given".to_owned(), RowColumn::Text)];
/// let mut rows = ParquetRows::new(Vec::new(), columns)?;
/// rows.push(&[RowCell::Number(61.0), RowCell::Text("invite")])?;
/// assert_eq!(&rows.finish()?[..4], b"PAR1");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct ParquetRows<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Values>,
    rows: usize,
}

impl<W: Write + Send> ParquetRows<W> {
    /// A file with these columns.
    ///
    /// # Errors
    /// If it cannot be written to, or two columns have one name.
    pub fn new(out: W, columns: Vec<(String, RowColumn)>) -> io::Result<Self> {
        Self::made_by(out, columns, None)
    }

    /// [`ParquetRows::new`] with what made it, as `rarely.version`, `rarely.seed` and `rarely.command` in the file's metadata.
    ///
    /// # Errors
    /// As [`ParquetRows::new`].
    pub fn made_by(out: W, columns: Vec<(String, RowColumn)>, made_by: Option<&Provenance>) -> io::Result<Self> {
        let parts = made_by.into_iter().flat_map(Provenance::parts);
        let about: Vec<KeyValue> =
            parts.map(|(name, value)| KeyValue::new(format!("rarely.{name}"), Some(value))).collect();
        let fields: Result<Vec<_>, ParquetError> =
            columns.iter().map(|(name, kind)| Ok(Arc::new(field(name, *kind)?))).collect();
        let schema = fields.and_then(|fields| Type::group_type_builder("rows").with_fields(fields).build());
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let properties = properties.set_key_value_metadata((!about.is_empty()).then_some(about)).build();
        let writer = schema.and_then(|schema| SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)));
        let columns = columns.into_iter().map(|(_, kind)| Values::new(kind)).collect();
        Ok(Self { writer: writer.map_err(io::Error::other)?, columns, rows: 0 })
    }

    /// Adds a row; a value of another kind than its column's is left out.
    ///
    /// # Errors
    /// If it cannot be written.
    ///
    /// # Panics
    /// If it has not a value for each column.
    pub fn push(&mut self, row: &[RowCell<'_>]) -> io::Result<()> {
        assert_eq!(row.len(), self.columns.len(), "one value for each column");
        for (values, cell) in self.columns.iter_mut().zip(row) {
            values.push(*cell);
        }
        self.rows += 1;
        if self.rows == GROUP { self.write_group() } else { Ok(()) }
    }

    /// Ends the file and gives back what it was written to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.into_inner().map_err(io::Error::other)
    }

    fn write_group(&mut self) -> io::Result<()> {
        self.rows = 0;
        let mut write = || -> Result<(), ParquetError> {
            let mut group = self.writer.next_row_group()?;
            let mut columns = self.columns.iter_mut();
            while let (Some(mut writer), Some(values)) = (group.next_column()?, columns.next()) {
                values.write(&mut writer)?;
                writer.close()?;
            }
            group.close()?;
            Ok(())
        };
        write().map_err(io::Error::other)
    }
}

fn field(name: &str, kind: RowColumn) -> Result<Type, ParquetError> {
    let (physical, logical) = match kind {
        RowColumn::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        RowColumn::Number => (Physical::DOUBLE, None),
        RowColumn::Whole => (Physical::INT64, None),
    };
    let builder = Type::primitive_type_builder(name, physical).with_logical_type(logical);
    builder.with_repetition(Repetition::OPTIONAL).build()
}

/// The values of a column in the group that is being filled.
struct Values {
    levels: Vec<i16>,
    present: Present,
}

enum Present {
    Text(Vec<ByteArray>),
    Number(Vec<f64>),
    Whole(Vec<i64>),
}

impl Values {
    fn new(kind: RowColumn) -> Self {
        let present = match kind {
            RowColumn::Text => Present::Text(Vec::new()),
            RowColumn::Number => Present::Number(Vec::new()),
            RowColumn::Whole => Present::Whole(Vec::new()),
        };
        Self { levels: Vec::new(), present }
    }

    fn push(&mut self, cell: RowCell<'_>) {
        let there = match (&mut self.present, cell) {
            (Present::Text(values), RowCell::Text(text)) => {
                values.push(ByteArray::from(text));
                true
            }
            (Present::Number(values), RowCell::Number(number)) => {
                values.push(number);
                true
            }
            (Present::Whole(values), RowCell::Whole(number)) => {
                values.push(i64::try_from(number).unwrap_or(i64::MAX));
                true
            }
            _ => false,
        };
        self.levels.push(i16::from(there));
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = Some(self.levels.as_slice());
        match &mut self.present {
            Present::Text(values) => {
                writer.typed::<ByteArrayType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Present::Number(values) => {
                writer.typed::<DoubleType>().write_batch(values, levels, None)?;
                values.clear();
            }
            Present::Whole(values) => {
                writer.typed::<Int64Type>().write_batch(values, levels, None)?;
                values.clear();
            }
        }
        self.levels.clear();
        Ok(())
    }
}
