//! A policy document, from its file or its text.

use std::fs;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use rarely_policy::DocumentError;

use crate::error;

/// What messages call a document that is not a file.
const UNNAMED: &str = "the document";

/// A policy document that has been checked.
#[pyclass(name = "Document", module = "rarely", frozen)]
#[derive(Clone)]
pub(crate) struct PyDocument {
    pub(crate) checked: rarely_policy::PolicyDocument,
    text: String,
    /// Its file, or what messages call it.
    pub(crate) source: String,
}

#[pymethods]
impl PyDocument {
    #[new]
    #[pyo3(signature = (path_or_text, option_column = None, /))]
    fn new(path_or_text: &Bound<'_, PyAny>, option_column: Option<String>) -> PyResult<Self> {
        Ok(Self::of(path_or_text)?.with_option_column(option_column))
    }

    /// The policy's name.
    #[getter]
    fn name(&self) -> &str {
        self.checked.policy()
    }

    /// The options: option `i` is arm `i`.
    #[getter]
    fn options(&self) -> Vec<String> {
        self.checked.options().to_vec()
    }

    /// The columns of the features.
    #[getter]
    fn features(&self) -> Vec<String> {
        self.checked.feature_columns().iter().map(|feature| feature.column.clone()).collect()
    }

    /// The column of the outcome.
    #[getter]
    fn outcome(&self) -> &str {
        &self.checked.outcome().column
    }

    /// The column with the option that was given.
    #[getter]
    fn option_column(&self) -> &str {
        self.checked.option_column()
    }

    /// The rule in force, in words.
    #[getter]
    fn rule(&self) -> Vec<String> {
        self.checked.rule().words(&self.checked)
    }

    /// The text, as it was written.
    #[getter]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!(
            "Document({:?}, options=[{}], features=[{}])",
            self.name(),
            self.options().join(", "),
            self.features().join(", ")
        )
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().text == self.text)
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        self.text.hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (String, String)) {
        let document = slf.get();
        (slf.get_type().into_any(), (document.text.clone(), document.option_column().to_owned()))
    }
}

impl PyDocument {
    /// A document from another one, from its path, or from its text, which must have more than one line.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(document) = object.cast::<Self>() {
            return Ok(document.get().clone());
        }
        let read = match (object.cast::<PyString>(), object.extract::<PathBuf>()) {
            (Ok(text), _) if text.to_cow()?.contains('\n') => Self::parse(text.to_cow()?.into_owned(), UNNAMED),
            (_, Ok(path)) => Self::read(&path),
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "a policy document is of type {}, but must be a path, the text, or a rarely.Document",
                    object.get_type().name()?
                )));
            }
        };
        read.map_err(|error| error::DOCUMENT.explain(object.py(), &error))
    }

    /// The same, with the log's own name of the option column.
    pub(crate) fn with_option_column(self, column: Option<String>) -> Self {
        match column {
            Some(column) => Self { checked: self.checked.with_option_column(column), ..self },
            None => self,
        }
    }

    fn read(path: &Path) -> Result<Self, DocumentError> {
        let checked = rarely_policy::PolicyDocument::read(path)?;
        let text = fs::read_to_string(path).map_err(|source| DocumentError::Io { file: path.to_owned(), source })?;
        Ok(Self { checked, text, source: path.display().to_string() })
    }

    fn parse(text: String, name: &str) -> Result<Self, DocumentError> {
        let checked = rarely_policy::PolicyDocument::parse(&text, name)?;
        Ok(Self { checked, text, source: name.to_owned() })
    }
}
