//! Errors as exceptions of `rarely.errors`, with the messages of the command line.

use std::error::Error;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// An exception of the class of this name in `rarely.errors`.
pub(crate) fn raise(py: Python<'_>, class: &str, message: impl Into<String>) -> PyErr {
    let module = ERRORS.get_or_try_init(py, || Ok(py.import("rarely.errors")?.unbind()));
    let built = module.and_then(|module| module.bind(py).getattr(class)?.call1((message.into(),)));
    built.map_or_else(|error| error, PyErr::from_value)
}

/// The message of an error and of those behind it, unless it repeats them itself.
pub(crate) fn message(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut behind = error.source();
    while let Some(source) = behind {
        let words = source.to_string();
        if !text.contains(&words) {
            text = format!("{text} ({words})");
        }
        behind = source.source();
    }
    text
}
