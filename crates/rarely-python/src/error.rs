//! Errors as Python knows them: classes of `rarely.errors`, messages of ours.

use std::error::Error;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// A family of errors: a class of `rarely.errors`.
pub(crate) struct Family {
    name: &'static str,
    class: PyOnceLock<Py<PyType>>,
}

impl Family {
    const fn named(name: &'static str) -> Self {
        Self { name, class: PyOnceLock::new() }
    }

    /// The exception with a message.
    pub(crate) fn says(&self, py: Python<'_>, message: impl Into<String>) -> PyErr {
        match self.class.import(py, "rarely.errors", self.name) {
            Ok(class) => PyErr::from_type(class.clone(), message.into()),
            Err(error) => error,
        }
    }

    /// The exception that says what an error and its causes say.
    pub(crate) fn of(&self, py: Python<'_>, error: &dyn Error) -> PyErr {
        self.says(py, chain(error))
    }
}

/// An error and its causes, each once.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

pub(crate) static SETTINGS: Family = Family::named("SettingsError");
pub(crate) static CONTEXT: Family = Family::named("ContextError");
pub(crate) static OBSERVE: Family = Family::named("ObserveError");
pub(crate) static MERGE: Family = Family::named("MergeError");
pub(crate) static RESTORE: Family = Family::named("RestoreError");
pub(crate) static DOCUMENT: Family = Family::named("DocumentError");
pub(crate) static DATA: Family = Family::named("DataError");
pub(crate) static REVIEW: Family = Family::named("ReviewError");
pub(crate) static TASK: Family = Family::named("TaskError");
