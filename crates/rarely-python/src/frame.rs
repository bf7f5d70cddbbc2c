//! A data frame of Python as a table of `rarely-data`. Columns that come through Arrow's C interface are not copied.

mod cells;
mod objects;

use std::sync::Arc;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchReader as _};
use arrow_schema::ArrowError;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};
use rarely_data::MemoryTable;
use rarely_policy::FieldValue;

use self::cells::{Cells, cells};
use crate::error;

/// A table of columns, each in as many chunks as it came in.
pub(crate) struct PyFrame {
    label: &'static str,
    names: Vec<String>,
    /// The chunks of each wanted column, or what it holds instead of numbers and words.
    columns: Vec<Result<Vec<Box<dyn Cells>>, String>>,
    /// The first row of each chunk; none of them is empty.
    starts: Vec<u64>,
    rows: u64,
}

/// What a column holds that is not read.
const UNWANTED: &str = "something that was not read";

impl PyFrame {
    /// The wanted columns of any object that is a table. `label` is what messages call it.
    pub(crate) fn of(object: &Bound<'_, PyAny>, label: &'static str, wanted: &[String]) -> PyResult<Arc<Self>> {
        let py = object.py();
        let frame = match stream(object) {
            None => Self::of_objects(object, label, wanted)?,
            Some(Ok(stream)) => {
                let cannot = |error: ArrowError| unreadable(py, label, &error);
                let reader = RecordBatchStreamReader::try_new(stream).map_err(cannot)?;
                let names = reader.schema().fields().iter().map(|field| field.name().trim().to_owned()).collect();
                // The owner of the stream may need the interpreter on another thread.
                let batches: Result<Vec<RecordBatch>, ArrowError> = py.detach(|| reader.collect());
                Self::of_batches(label, names, &batches.map_err(cannot)?, wanted)
            }
            // Without pyarrow, or with a column that it does not take, pandas still has arrays.
            Some(Err(_)) if object.hasattr("columns")? => Self::of_objects(object, label, wanted)?,
            Some(Err(error)) => return Err(unreadable(py, label, &error)),
        };
        Ok(Arc::new(frame))
    }

    fn of_batches(label: &'static str, names: Vec<String>, batches: &[RecordBatch], wanted: &[String]) -> Self {
        let (mut starts, mut rows) = (Vec::new(), 0);
        let batches: Vec<&RecordBatch> = batches.iter().filter(|batch| batch.num_rows() > 0).collect();
        for batch in &batches {
            starts.push(rows);
            rows += batch.num_rows() as u64;
        }
        let chunks = |column: usize| batches.iter().map(|batch| checked(batch.column(column))).collect();
        let columns = names
            .iter()
            .enumerate()
            .map(|(column, name)| if wanted.contains(name) { chunks(column) } else { Err(UNWANTED.to_owned()) });
        let columns = columns.collect();
        Self { label, names, columns, starts, rows }
    }

    fn of_objects(object: &Bound<'_, PyAny>, label: &'static str, wanted: &[String]) -> PyResult<Self> {
        let found = if let Ok(columns) = object.cast::<PyDict>() {
            objects::of_dict(columns, wanted)?
        } else if object.hasattr("columns")? {
            objects::of_frame(object, wanted)?
        } else if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            objects::of_records(object, label, wanted)?
        } else {
            return Err(PyTypeError::new_err(format!(
                "{label} is of type {}, but must be a data frame (pandas, polars, pyarrow or anything with __arrow_c_stream__), a \
                 dict of columns, a list of dicts, or the path of a log",
                object.get_type().name()?
            )));
        };
        let (names, arrays): (Vec<String>, Vec<objects::ObjectColumn>) = found.into_iter().unzip();
        let lengths = names.iter().zip(&arrays).filter_map(|(name, array)| Some((name, array.as_ref().ok()?.len())));
        let lengths: Vec<(&String, usize)> = lengths.collect();
        if let Some(pair) = lengths.windows(2).find(|pair| pair[0].1 != pair[1].1) {
            let [(first, rows), (second, others)] = [pair[0], pair[1]];
            let message = format!("{label}: column `{first}` has {rows} values and column `{second}` {others}");
            return Err(error::DATA.with_help(object.py(), message, "give every column one value for each row"));
        }
        let rows = lengths.first().map_or(0, |(_, rows)| *rows as u64);
        let columns = arrays.iter().map(|array| match array {
            Ok(array) if rows > 0 => Ok(vec![cells(array)?]),
            Ok(_) => Ok(Vec::new()),
            Err(found) => Err(found.clone()),
        });
        Ok(Self { label, columns: columns.collect(), names, starts: vec![0; usize::from(rows > 0)], rows })
    }
}

impl MemoryTable for PyFrame {
    fn label(&self) -> &str {
        self.label
    }

    fn names(&self) -> &[String] {
        &self.names
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn check(&self, column: usize) -> Result<(), String> {
        self.columns[column].as_ref().map(|_| ()).map_err(Clone::clone)
    }

    fn value(&self, row: u64, column: usize) -> FieldValue<'_> {
        let Ok(chunks) = &self.columns[column] else { return FieldValue::Missing };
        let chunk = self.starts.partition_point(|start| *start <= row).saturating_sub(1);
        let within = usize::try_from(row - self.starts[chunk]).unwrap_or(usize::MAX);
        chunks[chunk].value(within)
    }
}

/// A stream that breaks off.
fn unreadable(py: Python<'_>, label: &str, error: &dyn std::fmt::Display) -> PyErr {
    error::DATA.with_help(py, format!("{label}: {error}"), "check how it is made")
}

/// A chunk of a column, with its offsets, keys and words checked: another library wrote them.
fn checked(array: &ArrayRef) -> Result<Box<dyn Cells>, String> {
    let cells = cells(array)?;
    array.to_data().validate_full().map_err(|error| format!("damaged data ({error})"))?;
    Ok(cells)
}

/// The stream of an object's record batches, if it has one.
fn stream(object: &Bound<'_, PyAny>) -> Option<PyResult<FFI_ArrowArrayStream>> {
    let method = object.getattr("__arrow_c_stream__").ok()?;
    let capsule = method.call0().and_then(|capsule| Ok(capsule.cast_into::<PyCapsule>()?));
    Some(capsule.and_then(|capsule| take(&capsule)))
}

/// Takes the stream out of its capsule.
#[allow(unsafe_code, reason = "the C interface of Arrow hands over a pointer")]
fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<FFI_ArrowArrayStream> {
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a valid `ArrowArrayStream` (Arrow's PyCapsule interface), of which FFI_ArrowArrayStream is
    // the layout. It is moved out, and one that is released already is left, so that the capsule's destructor does not release it
    // again. The interpreter is held, so that nobody else reads the capsule meanwhile.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) })
}
