//! Numbers from Python: borrowed where they are row-major float64, otherwise converted by `rarely._arrays`.

use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArray,
    PyUntypedArrayMethods as _,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;
use rarely_core::{Context, ContextError, Contexts};

use crate::error;

/// A one-dimensional array.
pub(crate) enum NumberLine<'py, T: Element> {
    Borrowed(PyReadonlyArray1<'py, T>),
    Owned(Vec<T>),
}

impl<T: Element> NumberLine<'_, T> {
    pub(crate) fn values(&self) -> &[T] {
        match self {
            // Only contiguous arrays are kept.
            Self::Borrowed(array) => array.as_slice().unwrap_or(&[]),
            Self::Owned(values) => values,
        }
    }
}

/// One context, or a block of them.
pub(crate) enum GivenContexts<'py> {
    One(NumberLine<'py, f64>),
    Many(PyReadonlyArray2<'py, f64>),
}

impl<'py> GivenContexts<'py> {
    /// Takes what is given for `X`.
    pub(crate) fn take(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        static CONVERT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if let Some(people) = Self::borrow(given) {
            return Ok(people);
        }
        if let Ok(values) = given.extract::<Vec<f64>>()
            && !values.is_empty()
        {
            return Ok(Self::One(NumberLine::Owned(values)));
        }
        let converted = CONVERT.import(given.py(), "rarely._arrays", "contexts")?.call1((given,))?;
        Self::borrow(&converted)
            .ok_or_else(|| error::CONTEXT.says(given.py(), "X is neither one row of numbers nor rows of numbers"))
    }

    /// Only plain arrays: in a subclass the numbers may mean something else, as in masked arrays.
    fn borrow(given: &Bound<'py, PyAny>) -> Option<Self> {
        if !given.is_exact_instance_of::<PyUntypedArray>() {
            return None;
        }
        if let Ok(array) = given.cast::<PyArray1<f64>>() {
            return borrowed(array).map(Self::One);
        }
        let array = given.cast::<PyArray2<f64>>().ok()?.try_readonly().ok()?;
        // Column-major arrays are contiguous too, but their rows are not.
        (array.is_c_contiguous() && array.as_slice().is_ok()).then_some(Self::Many(array))
    }

    /// Numbers in a row.
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::One(line) => line.values().len(),
            Self::Many(array) => array.shape()[1],
        }
    }

    /// The rows as a block. A single row is a block of one.
    pub(crate) fn block(&self, py: Python<'_>, dimension: usize) -> PyResult<Contexts<'_>> {
        let rows = self.rows(py, dimension)?;
        py.detach(|| Contexts::new(rows.values, dimension)).map_err(|error| error::CONTEXT.explain(py, &error))
    }

    /// The same, unchecked: to be checked part by part.
    pub(crate) fn rows(&self, py: Python<'_>, dimension: usize) -> PyResult<ContextRows<'_>> {
        let width = self.width();
        let values = match self {
            Self::One(line) => line.values(),
            Self::Many(array) => array.as_slice().unwrap_or(&[]),
        };
        let mismatch = ContextError::DimensionMismatch { expected: dimension, found: width };
        if width != dimension {
            return Err(error::CONTEXT.explain(py, &mismatch));
        }
        Ok(ContextRows { values, dimension })
    }
}

/// Rows of contexts that are not checked yet: a long block is checked while it is used, so that it is read once.
#[derive(Clone, Copy)]
pub(crate) struct ContextRows<'a> {
    values: &'a [f64],
    dimension: usize,
}

/// Some rows of a block, and the number of the first.
#[derive(Clone, Copy)]
pub(crate) struct RowRange<'a> {
    rows: ContextRows<'a>,
    start: usize,
}

impl<'a> ContextRows<'a> {
    /// The numbers, row by row.
    pub(crate) fn values(self) -> &'a [f64] {
        self.values
    }

    pub(crate) fn len(self) -> usize {
        self.values.len() / self.dimension
    }

    /// Ranges of `length` rows; the last may be shorter.
    pub(crate) fn stretches(self, length: usize) -> impl Iterator<Item = RowRange<'a>> {
        let Self { values, dimension } = self;
        let stretch =
            move |(number, values)| RowRange { rows: ContextRows { values, dimension }, start: number * length };
        values.chunks(length * dimension).enumerate().map(stretch)
    }
}

impl<'a> RowRange<'a> {
    pub(crate) fn start(self) -> usize {
        self.start
    }

    /// The same in shorter ranges.
    pub(crate) fn pieces(self, length: usize) -> impl Iterator<Item = Self> {
        self.rows.stretches(length).map(move |piece| Self { start: self.start + piece.start, ..piece })
    }

    /// The contexts, checked; an error counts rows from the start of the block.
    pub(crate) fn contexts(self) -> Result<Contexts<'a>, ContextError> {
        Contexts::new(self.rows.values, self.rows.dimension).map_err(|error| match error {
            ContextError::BlockEntry { row, index, value } => {
                ContextError::BlockEntry { row: self.start + row, index, value }
            }
            other => other,
        })
    }
}

/// One context, checked.
pub(crate) fn one<'a>(py: Python<'_>, line: &'a NumberLine<'_, f64>) -> PyResult<Context<'a>> {
    Context::new(line.values()).map_err(|error| error::CONTEXT.explain(py, &error))
}

/// Whether something is a frame.
pub(crate) fn has_columns(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let plain = given.is_exact_instance_of::<PyUntypedArray>() || given.is_exact_instance_of::<PyList>();
    Ok(!plain && given.hasattr("columns")?)
}

/// A frame with its columns in the order of `known`, if both have names, and its names in that order.
pub(crate) fn by_name<'py>(
    given: &Bound<'py, PyAny>,
    known: Option<Vec<String>>,
) -> PyResult<(Bound<'py, PyAny>, Option<Vec<String>>)> {
    static CONVERT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CONVERT.import(given.py(), "rarely._arrays", "by_name")?.call1((given, known))?.extract()
}

/// A line of whole numbers, for arms.
pub(crate) fn arms<'py>(given: &Bound<'py, PyAny>) -> PyResult<NumberLine<'py, i64>> {
    static CONVERT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    line(given, &CONVERT, "arms")
}

/// A line of whole numbers that name clusters.
pub(crate) fn clusters<'py>(given: &Bound<'py, PyAny>) -> PyResult<NumberLine<'py, i64>> {
    static CONVERT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    line(given, &CONVERT, "clusters")
}

/// A line of numbers, for rewards.
pub(crate) fn rewards<'py>(given: &Bound<'py, PyAny>) -> PyResult<NumberLine<'py, f64>> {
    static CONVERT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    line(given, &CONVERT, "rewards")
}

fn line<'py, T: Element>(
    given: &Bound<'py, PyAny>,
    convert: &PyOnceLock<Py<PyAny>>,
    name: &str,
) -> PyResult<NumberLine<'py, T>> {
    if given.is_exact_instance_of::<PyUntypedArray>()
        && let Some(line) = given.cast::<PyArray1<T>>().ok().and_then(borrowed)
    {
        return Ok(line);
    }
    let converted = convert.import(given.py(), "rarely._arrays", name)?.call1((given,))?;
    let found = converted.cast::<PyArray1<T>>().ok().and_then(borrowed);
    found.ok_or_else(|| error::OBSERVE.says(given.py(), format!("{name} must be one-dimensional")))
}

fn borrowed<'py, T: Element>(array: &Bound<'py, PyArray1<T>>) -> Option<NumberLine<'py, T>> {
    let array = array.try_readonly().ok()?;
    array.as_slice().is_ok().then_some(NumberLine::Borrowed(array))
}

/// Rows of numbers for a setting, such as a prior mean, flat: rows of `dimension`, all numbers in a line, or one number.
pub(crate) fn flat(given: &Bound<'_, PyAny>, name: &str, dimension: usize) -> PyResult<Vec<f64>> {
    let py = given.py();
    if let Ok(value) = given.extract::<f64>() {
        return Ok(vec![value]);
    }
    let people =
        GivenContexts::take(given).map_err(|error| error::SETTINGS.says(py, format!("{name}: {}", error.value(py))))?;
    match &people {
        GivenContexts::One(line) => Ok(line.values().to_vec()),
        GivenContexts::Many(array) if array.shape()[1] == dimension => Ok(array.as_slice().unwrap_or(&[]).to_vec()),
        GivenContexts::Many(array) => {
            let [rows, width] = [array.shape()[0], array.shape()[1]];
            let message = format!(
                "{name} has the shape ({rows}, {width}), but its rows must have {dimension} numbers, one for each context variable"
            );
            Err(error::SETTINGS.says(py, message))
        }
    }
}

/// A matrix of numbers, for Python.
pub(crate) fn matrix(py: Python<'_>, columns: usize, values: Vec<f64>) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let rows = values.len() / columns.max(1);
    PyArray1::from_vec(py, values).reshape([rows, columns])
}
