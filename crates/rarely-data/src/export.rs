//! Rows written as a Parquet file, a group of them at a time, so that memory does not grow with their number.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

/// Rows of a group.
const GROUP: usize = 1 << 16;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Words.
    Text,
    /// Numbers.
    Number,
    /// Whole numbers.
    Whole,
}

/// A value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Nothing.
    Missing,
    /// Words.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(u64),
}

/// Writes rows as a Parquet file that [`Cases`](crate::Cases) reads.
///
/// ```
/// use rarely_data::{Cell, ColumnKind, ParquetRows};
/// let columns = vec![("age".to_owned(), ColumnKind::Number), ("given".to_owned(), ColumnKind::Text)];
/// let mut rows = ParquetRows::new(Vec::new(), columns)?;
/// rows.push(&[Cell::Number(61.0), Cell::Text("invite")])?;
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
    pub fn new(out: W, columns: Vec<(String, ColumnKind)>) -> io::Result<Self> {
        let fields: Result<Vec<_>, ParquetError> =
            columns.iter().map(|(name, kind)| Ok(Arc::new(field(name, *kind)?))).collect();
        let schema = fields.and_then(|fields| Type::group_type_builder("cases").with_fields(fields).build());
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
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
    pub fn push(&mut self, row: &[Cell<'_>]) -> io::Result<()> {
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

/// A time as `2026-11-16T08:30:00.125Z`.
///
/// ```
/// assert_eq!(rarely_data::utc(951_782_399_999), "2000-02-28T23:59:59.999Z");
/// assert_eq!(rarely_data::utc(951_782_400_000), "2000-02-29T00:00:00.000Z");
/// ```
pub fn utc(time_ms: u64) -> String {
    let (days, within) = (time_ms / 86_400_000, time_ms % 86_400_000);
    // The civil calendar repeats every 400 years of 146,097 days; years are counted from March, so that leap days come last.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let march = (5 * day + 2) / 153;
    let day = day - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = 400 * era + year + u64::from(month <= 2);
    let (hours, minutes) = (within / 3_600_000, within / 60_000 % 60);
    let (seconds, thousandths) = (within / 1000 % 60, within % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{thousandths:03}Z")
}

fn field(name: &str, kind: ColumnKind) -> Result<Type, ParquetError> {
    let (physical, logical) = match kind {
        ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnKind::Number => (Physical::DOUBLE, None),
        ColumnKind::Whole => (Physical::INT64, None),
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
    fn new(kind: ColumnKind) -> Self {
        let present = match kind {
            ColumnKind::Text => Present::Text(Vec::new()),
            ColumnKind::Number => Present::Number(Vec::new()),
            ColumnKind::Whole => Present::Whole(Vec::new()),
        };
        Self { levels: Vec::new(), present }
    }

    fn push(&mut self, cell: Cell<'_>) {
        let there = match (&mut self.present, cell) {
            (Present::Text(values), Cell::Text(text)) => {
                values.push(ByteArray::from(text));
                true
            }
            (Present::Number(values), Cell::Number(number)) => {
                values.push(number);
                true
            }
            (Present::Whole(values), Cell::Whole(number)) => {
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
