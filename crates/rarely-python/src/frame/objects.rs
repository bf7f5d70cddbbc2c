//! Tables of Python's own: columns that are arrays or lists, and lists of records.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, NullArray, StringArray, TimestampMicrosecondArray};
use numpy::{PyArray1, PyArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use super::UNWANTED;
use crate::error;

/// The values of a column, or what it holds instead of numbers and words.
pub(super) type ObjectColumn = Result<ArrayRef, String>;

/// The columns of a dict.
pub(super) fn of_dict(columns: &Bound<'_, PyDict>, wanted: &[String]) -> PyResult<Vec<(String, ObjectColumn)>> {
    let read = |(name, values): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name = named(&name)?;
        let column = if wanted.contains(&name) { column(&values)? } else { Err(UNWANTED.to_owned()) };
        Ok((name, column))
    };
    columns.iter().map(read).collect()
}

/// The columns of a frame that has `columns` and gives one by its name.
pub(super) fn of_frame(frame: &Bound<'_, PyAny>, wanted: &[String]) -> PyResult<Vec<(String, ObjectColumn)>> {
    let keys: Vec<Bound<'_, PyAny>> = frame.getattr("columns")?.try_iter()?.collect::<PyResult<_>>()?;
    let names: Vec<String> = keys.iter().map(named).collect::<PyResult<_>>()?;
    let mut columns = Vec::with_capacity(keys.len());
    for (key, name) in keys.iter().zip(&names) {
        // Two columns of one name are an error, which is reported later; `get_item` would return both.
        let once = names.iter().filter(|other| *other == name).count() == 1;
        let column =
            if once && wanted.contains(name) { column(&frame.get_item(key)?)? } else { Err(UNWANTED.to_owned()) };
        columns.push((name.clone(), column));
    }
    Ok(columns)
}

/// The columns of a list of dicts, one for each row.
pub(super) fn of_records(
    records: &Bound<'_, PyAny>,
    label: &str,
    wanted: &[String],
) -> PyResult<Vec<(String, ObjectColumn)>> {
    let mut rows = Vec::new();
    let names = PyDict::new(records.py());
    for (row, record) in records.try_iter()?.enumerate() {
        let record = record?;
        let Ok(record) = record.cast_into::<PyDict>().map_err(pyo3::CastIntoError::into_inner) else {
            let message = format!("{label}, row {row} (from 0): it is not a dict");
            return Err(error::DATA.with_help(records.py(), message, "give a dict of the columns for each row"));
        };
        for key in record.keys() {
            names.set_item(key, ())?;
        }
        rows.push(record);
    }
    let mut columns = Vec::new();
    for key in names.keys() {
        let name = named(&key)?;
        let column = if wanted.contains(&name) {
            listed(rows.iter().map(|record| record.get_item(&key)))?
        } else {
            Err(UNWANTED.to_owned())
        };
        columns.push((name, column));
    }
    Ok(columns)
}

/// The name of a column, without the blanks around it.
fn named(key: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(key.str()?.to_string().trim().to_owned())
}

/// A column from an array, a series, a list, or any other iterable.
fn column(values: &Bound<'_, PyAny>) -> PyResult<ObjectColumn> {
    if values.is_instance_of::<PyString>() {
        return Ok(Err("one text".to_owned()));
    }
    if values.hasattr("dtype")? {
        return array(&values.py().import("numpy")?.call_method1("asarray", (values,))?);
    }
    match values.try_iter() {
        Ok(values) => listed(values.map(|value| value.map(Some))),
        Err(_) => Ok(Err(format!("one value of type {}", values.get_type().name()?))),
    }
}

/// A column from an array of numpy.
fn array(values: &Bound<'_, PyAny>) -> PyResult<ObjectColumn> {
    let dimensions: usize = values.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        return Ok(Err(format!("an array of {dimensions} dimensions")));
    }
    let dtype = values.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    Ok(match kind.as_str() {
        "f" | "i" | "u" => {
            let numbers = values.call_method1("astype", ("float64",))?;
            let numbers = numbers.cast_into::<PyArray1<f64>>().map_err(PyErr::from)?.to_vec()?;
            let numbers = numbers.into_iter().map(|number| Some(number).filter(|number| !number.is_nan()));
            Ok(Arc::new(numbers.collect::<Float64Array>()))
        }
        "M" => {
            /// How numpy stores a missing time.
            const MISSING: i64 = i64::MIN;
            let ticks = values.call_method1("astype", ("datetime64[us]",))?.call_method1("astype", ("int64",))?;
            let ticks = ticks.cast_into::<PyArray1<i64>>().map_err(PyErr::from)?.to_vec()?;
            let ticks = ticks.into_iter().map(|tick| Some(tick).filter(|tick| *tick != MISSING));
            Ok(Arc::new(ticks.collect::<TimestampMicrosecondArray>()))
        }
        "b" | "U" | "O" | "T" => listed(values.call_method0("tolist")?.try_iter()?.map(|value| value.map(Some)))?,
        _ => Err(format!("values of type {}", dtype.str()?)),
    })
}

/// What a value of a list is.
enum Kind {
    Missing,
    Truth(bool),
    Number(f64),
    Words(String),
}

impl Kind {
    fn of(value: &Bound<'_, PyAny>) -> PyResult<Result<Self, String>> {
        let name = value.get_type().name()?.to_string();
        Ok(Ok(if value.is_none() || name == "NAType" || name == "NaTType" {
            Self::Missing
        } else if let Ok(words) = value.cast::<PyString>() {
            Self::Words(words.to_string())
        } else if value.is_instance_of::<PyBool>() || name == "bool_" || name == "bool" {
            Self::Truth(value.is_truthy()?)
        } else if let Ok(number) = value.extract::<f64>() {
            if number.is_nan() { Self::Missing } else { Self::Number(number) }
        } else if value.hasattr("isoformat")? {
            Self::Words(value.call_method0("isoformat")?.extract()?)
        } else {
            return Ok(Err(format!("objects of type {name}")));
        }))
    }

    fn name(&self) -> Option<&'static str> {
        match self {
            Self::Missing => None,
            Self::Truth(_) => Some("booleans"),
            Self::Number(_) => Some("numbers"),
            Self::Words(_) => Some("strings"),
        }
    }
}

/// A column from values, one after the other; `None` is a missing value.
fn listed<'py>(values: impl Iterator<Item = PyResult<Option<Bound<'py, PyAny>>>>) -> PyResult<ObjectColumn> {
    let mut kinds = Vec::new();
    let mut first = None;
    for value in values {
        let kind = match value? {
            None => Kind::Missing,
            Some(value) => match Kind::of(&value)? {
                Ok(kind) => kind,
                Err(found) => return Ok(Err(found)),
            },
        };
        match (first, kind.name()) {
            (Some(first), Some(name)) if first != name => {
                let row = kinds.len();
                return Ok(Err(format!("a mix: {first}, and from row {row} (from 0) also {name}")));
            }
            (None, name) => first = name,
            _ => {}
        }
        kinds.push(kind);
    }
    let rows = kinds.len();
    let kinds = kinds.into_iter();
    Ok(Ok(match first {
        None => Arc::new(NullArray::new(rows)),
        Some("numbers") => Arc::new(
            kinds
                .map(|kind| if let Kind::Number(number) = kind { Some(number) } else { None })
                .collect::<Float64Array>(),
        ),
        Some("booleans") => Arc::new(
            kinds.map(|kind| if let Kind::Truth(truth) = kind { Some(truth) } else { None }).collect::<BooleanArray>(),
        ),
        Some(_) => Arc::new(
            kinds.map(|kind| if let Kind::Words(words) = kind { Some(words) } else { None }).collect::<StringArray>(),
        ),
    }))
}
