//! A chunk of an Arrow column as numbers or words, read without a copy.

use std::sync::OnceLock;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, GenericStringArray, OffsetSizeTrait, PrimitiveArray,
    StringViewArray,
};
use arrow_schema::{DataType, TimeUnit};
use rarely_output::Ticks;
use rarely_policy::FieldValue;

/// A chunk of a column.
pub(super) trait Cells: Send + Sync {
    /// A value by its row in the chunk.
    fn value(&self, row: usize) -> FieldValue<'_>;
}

/// An array as numbers or words, or what it holds instead.
pub(super) fn cells(array: &ArrayRef) -> Result<Box<dyn Cells>, String> {
    Ok(match array.data_type() {
        DataType::Null => Box::new(Nothing),
        DataType::Boolean => Box::new(array.as_boolean().clone()),
        DataType::Int8 => numbers::<Int8Type>(array, f64::from),
        DataType::Int16 => numbers::<Int16Type>(array, f64::from),
        DataType::Int32 => numbers::<Int32Type>(array, f64::from),
        DataType::Int64 => numbers::<Int64Type>(array, |value| value as f64),
        DataType::UInt8 => numbers::<UInt8Type>(array, f64::from),
        DataType::UInt16 => numbers::<UInt16Type>(array, f64::from),
        DataType::UInt32 => numbers::<UInt32Type>(array, f64::from),
        DataType::UInt64 => numbers::<UInt64Type>(array, |value| value as f64),
        DataType::Float16 => numbers::<Float16Type>(array, f64::from),
        DataType::Float32 => numbers::<Float32Type>(array, f64::from),
        DataType::Float64 => numbers::<Float64Type>(array, |value| value),
        DataType::Decimal32(..) => decimals::<Decimal32Type>(array),
        DataType::Decimal64(..) => decimals::<Decimal64Type>(array),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(array),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(array),
        DataType::Utf8 => Box::new(array.as_string::<i32>().clone()),
        DataType::LargeUtf8 => Box::new(array.as_string::<i64>().clone()),
        DataType::Utf8View => Box::new(array.as_string_view().clone()),
        DataType::Date32 => times::<Date32Type>(array, Ticks::Days, i64::from),
        DataType::Date64 => times::<Date64Type>(array, Ticks::Days, |value| value.div_euclid(86_400_000)),
        DataType::Timestamp(unit, zone) => timestamps(array, *unit, zone.is_some()),
        DataType::Dictionary(key, _) => match key.as_ref() {
            DataType::Int8 => indexed::<Int8Type>(array)?,
            DataType::Int16 => indexed::<Int16Type>(array)?,
            DataType::Int32 => indexed::<Int32Type>(array)?,
            DataType::Int64 => indexed::<Int64Type>(array)?,
            DataType::UInt8 => indexed::<UInt8Type>(array)?,
            DataType::UInt16 => indexed::<UInt16Type>(array)?,
            DataType::UInt32 => indexed::<UInt32Type>(array)?,
            _ => indexed::<UInt64Type>(array)?,
        },
        other => return Err(format!("values of type {other}")),
    })
}

/// A column of nulls.
struct Nothing;

impl Cells for Nothing {
    fn value(&self, _row: usize) -> FieldValue<'_> {
        FieldValue::Missing
    }
}

impl Cells for BooleanArray {
    fn value(&self, row: usize) -> FieldValue<'_> {
        if self.is_null(row) {
            return FieldValue::Missing;
        }
        FieldValue::Text(if self.value(row) { "true" } else { "false" })
    }
}

impl<Offset: OffsetSizeTrait> Cells for GenericStringArray<Offset> {
    fn value(&self, row: usize) -> FieldValue<'_> {
        if self.is_null(row) { FieldValue::Missing } else { FieldValue::Text(self.value(row)) }
    }
}

impl Cells for StringViewArray {
    fn value(&self, row: usize) -> FieldValue<'_> {
        if self.is_null(row) { FieldValue::Missing } else { FieldValue::Text(self.value(row)) }
    }
}

/// Numbers of one width.
struct Numbers<T: ArrowPrimitiveType> {
    array: PrimitiveArray<T>,
    number: fn(T::Native) -> f64,
}

fn numbers<T: ArrowPrimitiveType>(array: &ArrayRef, number: fn(T::Native) -> f64) -> Box<dyn Cells> {
    Box::new(Numbers::<T> { array: array.as_primitive::<T>().clone(), number })
}

impl<T: ArrowPrimitiveType> Cells for Numbers<T> {
    fn value(&self, row: usize) -> FieldValue<'_> {
        if self.array.is_null(row) {
            FieldValue::Missing
        } else {
            FieldValue::Number((self.number)(self.array.value(row)))
        }
    }
}

/// Numbers with a fixed point.
struct Decimals<T: DecimalType>(PrimitiveArray<T>);

fn decimals<T: DecimalType>(array: &ArrayRef) -> Box<dyn Cells> {
    Box::new(Decimals(array.as_primitive::<T>().clone()))
}

impl<T: DecimalType> Cells for Decimals<T> {
    fn value(&self, row: usize) -> FieldValue<'_> {
        if self.0.is_null(row) {
            return FieldValue::Missing;
        }
        // Parsed from its digits, which gives the nearest number.
        FieldValue::Number(self.0.value_as_string(row).parse().unwrap_or(f64::NAN))
    }
}

/// Times, formatted when the first is read: few logs have one among their features.
struct Times {
    write: Box<dyn Fn() -> Words + Send + Sync>,
    words: OnceLock<Words>,
}

/// Concatenated words and the end of each; `None` if it is missing.
struct Words {
    text: String,
    ends: Vec<(usize, bool)>,
}

fn times<T: ArrowPrimitiveType>(array: &ArrayRef, ticks: Ticks, count: fn(T::Native) -> i64) -> Box<dyn Cells> {
    let array = array.as_primitive::<T>().clone();
    let write = move || {
        let mut words = Words { text: String::new(), ends: Vec::with_capacity(array.len()) };
        for value in &array {
            if let Some(value) = value {
                ticks.write(&mut words.text, count(value));
            }
            words.ends.push((words.text.len(), value.is_some()));
        }
        words
    };
    Box::new(Times { write: Box::new(write), words: OnceLock::new() })
}

fn timestamps(array: &ArrayRef, unit: TimeUnit, universal: bool) -> Box<dyn Cells> {
    let ticks = |digits| Ticks::Seconds { digits, universal };
    match unit {
        TimeUnit::Second => times::<TimestampSecondType>(array, ticks(3), |value| value.saturating_mul(1000)),
        TimeUnit::Millisecond => times::<TimestampMillisecondType>(array, ticks(3), |value| value),
        TimeUnit::Microsecond => times::<TimestampMicrosecondType>(array, ticks(6), |value| value),
        TimeUnit::Nanosecond => times::<TimestampNanosecondType>(array, ticks(9), |value| value),
    }
}

impl Cells for Times {
    fn value(&self, row: usize) -> FieldValue<'_> {
        let words = self.words.get_or_init(&self.write);
        match words.ends[row] {
            (_, false) => FieldValue::Missing,
            (end, true) => {
                let from = if row == 0 { 0 } else { words.ends[row - 1].0 };
                FieldValue::Text(&words.text[from..end])
            }
        }
    }
}

/// Distinct values, and the index of each row's value: pandas' categories.
struct Indexed<K: ArrowDictionaryKeyType> {
    keys: DictionaryArray<K>,
    values: Box<dyn Cells>,
}

fn indexed<K: ArrowDictionaryKeyType>(array: &ArrayRef) -> Result<Box<dyn Cells>, String> {
    let array = array.as_dictionary::<K>();
    let values = cells(array.values())?;
    Ok(Box::new(Indexed { keys: array.clone(), values }))
}

impl<K: ArrowDictionaryKeyType> Cells for Indexed<K> {
    fn value(&self, row: usize) -> FieldValue<'_> {
        self.keys.key(row).map_or(FieldValue::Missing, |key| self.values.value(key))
    }
}
