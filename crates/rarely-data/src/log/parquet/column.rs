//! A batch of rows of a column, unpacked.

use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::schema::types::Type;
use rarely_policy::FieldValue;

use super::super::trimmed;
use rarely_output::Ticks;

use crate::number;

/// What a column holds, as far as it is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ParquetType {
    Numbers,
    /// Whole numbers whose sign bit counts as a digit.
    Unsigned,
    /// Words, or `true` and `false`.
    Words,
    /// Days or ticks since 1970, given as words: `2026-11-16`, `2026-11-16T08:30:00.000Z`.
    Time(Ticks),
}

impl ParquetType {
    /// The kind of a field, or the name of a type that is not read.
    pub(super) fn of(field: &Type) -> Result<Self, String> {
        if field.is_group() {
            return Err("nested".to_owned());
        }
        let info = field.get_basic_info();
        if info.has_repetition() && info.repetition() == Repetition::REPEATED {
            return Err("repeated".to_owned());
        }
        let (physical, logical, converted) =
            (field.get_physical_type(), info.logical_type_ref(), info.converted_type());
        let named = || match (logical, converted) {
            (Some(LogicalType::Decimal(kind)), _) => format!("DECIMAL({}, {})", kind.precision, kind.scale),
            (Some(logical), _) => format!("{physical} ({logical:?})"),
            (None, ConvertedType::NONE) => physical.to_string(),
            (None, converted) => format!("{physical} ({converted})"),
        };
        if let Some(ticks) = ticks(physical, logical, converted) {
            return Ok(Self::Time(ticks));
        }
        match (physical, logical, converted) {
            (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(kind)), _) => {
                Ok(if kind.is_signed { Self::Numbers } else { Self::Unsigned })
            }
            (
                Physical::INT32 | Physical::INT64,
                None,
                ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
            ) => Ok(Self::Unsigned),
            (Physical::DOUBLE | Physical::FLOAT, None, _)
            | (
                Physical::INT32 | Physical::INT64,
                None,
                ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64,
            ) => Ok(Self::Numbers),
            (Physical::BOOLEAN, None, _)
            | (Physical::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), _)
            | (
                Physical::BYTE_ARRAY,
                None,
                ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON,
            ) => Ok(Self::Words),
            // An empty column that some writers call by this name.
            (_, Some(LogicalType::Unknown), _) if physical == Physical::INT32 => Ok(Self::Numbers),
            _ => Err(named()),
        }
    }
}

/// What a column counts, if it counts time.
fn ticks(physical: Physical, logical: Option<&LogicalType>, converted: ConvertedType) -> Option<Ticks> {
    match (physical, logical, converted) {
        (Physical::INT32, Some(LogicalType::Date), _) | (Physical::INT32, None, ConvertedType::DATE) => {
            Some(Ticks::Days)
        }
        (Physical::INT64, Some(LogicalType::Timestamp(kind)), _) => {
            let digits = match kind.unit {
                TimeUnit::MILLIS => 3,
                TimeUnit::MICROS => 6,
                TimeUnit::NANOS => 9,
            };
            Some(Ticks::Seconds { digits, universal: kind.is_adjusted_to_u_t_c })
        }
        (Physical::INT64, None, ConvertedType::TIMESTAMP_MILLIS) => Some(Ticks::Seconds { digits: 3, universal: true }),
        (Physical::INT64, None, ConvertedType::TIMESTAMP_MICROS) => Some(Ticks::Seconds { digits: 6, universal: true }),
        _ => None,
    }
}

/// A wanted column.
pub(super) struct ParquetColumn {
    /// Among the columns of values.
    pub(super) leaf: usize,
    /// Among the fields of the schema.
    pub(super) field: usize,
    kind: ParquetType,
    /// For every row 1 if it has a value; empty where all have.
    levels: Vec<i16>,
    numbers: Vec<f64>,
    text: String,
    /// Where each row's words end.
    ends: Vec<usize>,
    /// Rows whose words are not UTF-8, and what they look like.
    not_text: Vec<(usize, String)>,
}

impl ParquetColumn {
    pub(super) fn new(leaf: usize, field: usize, kind: ParquetType) -> Self {
        Self {
            leaf,
            field,
            kind,
            levels: Vec::new(),
            numbers: Vec::new(),
            text: String::new(),
            ends: Vec::new(),
            not_text: Vec::new(),
        }
    }

    /// The same column, with nothing unpacked.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.leaf, self.field, self.kind)
    }

    /// The value of an unpacked row.
    #[inline]
    pub(super) fn value(&self, row: usize) -> FieldValue<'_> {
        if self.levels.get(row) == Some(&0) {
            return FieldValue::Missing;
        }
        match self.kind {
            ParquetType::Numbers | ParquetType::Unsigned => FieldValue::Number(self.numbers[row]),
            ParquetType::Words | ParquetType::Time(_) => {
                let from = if row == 0 { 0 } else { self.ends[row - 1] };
                trimmed(&self.text[from..self.ends[row]])
            }
        }
    }

    /// The finite number that the value of an unpacked row is or spells.
    #[inline]
    pub(super) fn number(&self, row: usize) -> Option<f64> {
        match self.numbers.get(row) {
            // What is missing is NaN.
            Some(number) => Some(*number).filter(|number| number.is_finite()),
            None => self.spelt(row),
        }
    }

    #[inline(never)]
    fn spelt(&self, row: usize) -> Option<f64> {
        match self.value(row) {
            FieldValue::Text(text) => number::finite(text.as_bytes()),
            FieldValue::Number(_) | FieldValue::Missing => None,
        }
    }

    /// Whether an unpacked row holds bytes that are not UTF-8.
    pub(super) fn has_wrong_words(&self) -> bool {
        !self.not_text.is_empty()
    }

    /// The bytes of an unpacked row that are not UTF-8, as messages show them.
    pub(super) fn not_text(&self, row: usize) -> Option<&str> {
        let found = self.not_text.iter().find(|(wrong, _)| *wrong == row)?;
        Some(&found.1)
    }

    /// Unpacks the next rows of a reader of this column. Returns how many there were.
    pub(super) fn unpack(&mut self, reader: &mut ColumnReader, rows: usize) -> Result<usize, ParquetError> {
        self.levels.clear();
        self.numbers.clear();
        self.text.clear();
        self.ends.clear();
        self.not_text.clear();
        let found = match reader {
            ColumnReader::DoubleColumnReader(reader) => {
                let found = records(reader, rows, &mut self.levels, &mut self.numbers)?;
                spread(&mut self.numbers, &self.levels);
                found
            }
            ColumnReader::FloatColumnReader(reader) => self.read_numbers(reader, rows, |value| f64::from(*value))?,
            ColumnReader::Int32ColumnReader(reader) => match self.kind {
                ParquetType::Unsigned => self.read_numbers(reader, rows, |value| f64::from(value.cast_unsigned()))?,
                ParquetType::Time(ticks) => self.read_words(reader, rows, |value, text| {
                    ticks.write(text, i64::from(*value));
                    Ok(())
                })?,
                ParquetType::Numbers | ParquetType::Words => {
                    self.read_numbers(reader, rows, |value| f64::from(*value))?
                }
            },
            ColumnReader::Int64ColumnReader(reader) => match self.kind {
                ParquetType::Unsigned => self.read_numbers(reader, rows, |value| value.cast_unsigned() as f64)?,
                ParquetType::Time(ticks) => self.read_words(reader, rows, |value, text| {
                    ticks.write(text, *value);
                    Ok(())
                })?,
                ParquetType::Numbers | ParquetType::Words => self.read_numbers(reader, rows, |value| *value as f64)?,
            },
            ColumnReader::BoolColumnReader(reader) => self.read_words(reader, rows, |value, text| {
                text.push_str(if *value { "true" } else { "false" });
                Ok(())
            })?,
            ColumnReader::ByteArrayColumnReader(reader) => {
                self.read_words(reader, rows, |value: &ByteArray, text| match std::str::from_utf8(value.data()) {
                    Ok(words) => {
                        text.push_str(words);
                        Ok(())
                    }
                    Err(_) => Err(number::shown(value.data())),
                })?
            }
            ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => 0,
        };
        Ok(found)
    }

    fn read_numbers<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        rows: usize,
        number: impl Fn(&T::T) -> f64,
    ) -> Result<usize, ParquetError> {
        let mut values = Vec::with_capacity(rows);
        let found = records(reader, rows, &mut self.levels, &mut values)?;
        self.numbers.extend(values.iter().map(number));
        spread(&mut self.numbers, &self.levels);
        Ok(found)
    }

    fn read_words<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        rows: usize,
        write: impl Fn(&T::T, &mut String) -> Result<(), String>,
    ) -> Result<usize, ParquetError> {
        let mut values = Vec::with_capacity(rows);
        let found = records(reader, rows, &mut self.levels, &mut values)?;
        let mut values = values.iter();
        for row in 0..found {
            let value = if self.levels.get(row) == Some(&0) { None } else { values.next() };
            if let Some(Err(shown)) = value.map(|value| write(value, &mut self.text)) {
                self.not_text.push((row, shown));
            }
            self.ends.push(self.text.len());
        }
        Ok(found)
    }
}

/// Reads rows: the values that are there, one after the other, and for every row whether it has one, unless all have.
fn records<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> Result<usize, ParquetError> {
    let (records, found, _) = reader.read_records(rows, Some(levels), None, values)?;
    if found == records {
        levels.clear();
    }
    Ok(records)
}

/// Moves values to the rows that they belong to, and NaN to the others.
fn spread(numbers: &mut Vec<f64>, levels: &[i16]) {
    if levels.is_empty() {
        return;
    }
    let mut from = numbers.len();
    numbers.resize(levels.len(), f64::NAN);
    for row in (0..levels.len()).rev() {
        if levels[row] != 0 && from > 0 {
            from -= 1;
            numbers[row] = numbers[from];
        } else {
            numbers[row] = f64::NAN;
        }
    }
}
