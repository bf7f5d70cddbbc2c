//! Errors as Python knows them: classes of `rarely.errors`, the libraries' messages, and what to do as a note.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict as _, PyType};
use rarely_error::{Action, Explain, Remedy, Topic, with_causes};

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

    /// The exception with a message, and what to do about it.
    pub(crate) fn with_help(&self, py: Python<'_>, message: impl Into<String>, help: impl Into<String>) -> PyErr {
        self.raise(py, message.into(), help.into(), None)
    }

    /// With what to do, and the page that explains it.
    pub(crate) fn raise(&self, py: Python<'_>, message: String, help: String, topic: Option<Topic>) -> PyErr {
        let raised = || -> PyResult<Bound<'_, PyAny>> {
            let class = self.class.import(py, "rarely.errors", self.name)?;
            let notes = [("help", Some(help)), ("see", topic.map(|topic| topic.page().to_owned()))];
            class.call((message,), Some(&notes.into_py_dict(py)?))
        };
        raised().map_or_else(|error| error, PyErr::from_value)
    }

    /// The exception that says what an error and its causes say, and what to do about it.
    pub(crate) fn explain(&self, py: Python<'_>, error: &impl Explain) -> PyErr {
        self.explain_at(py, "", error)
    }

    /// The same, with the place before the message.
    pub(crate) fn explain_at(&self, py: Python<'_>, place: &str, error: &impl Explain) -> PyErr {
        let message = format!("{place}{}", with_causes(error));
        match error.remedy() {
            Some(remedy) => self.raise(py, message, worded(&remedy), remedy.topic()),
            None => self.says(py, message),
        }
    }
}

/// What to do, in this package's words.
pub(crate) fn worded(remedy: &Remedy) -> String {
    remedy.worded(named)
}

/// What this package calls an action.
fn named(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::RaiseRejectLimit => "raise `reject_limit`",
        Action::GiveSavedStatistics => "give the bytes of Review.state",
        Action::ChooseOutputDirectory => "give another directory as `out`",
        Action::UseEmbeddedRealisations => "leave out `data` and unset RARELY_IHDP to use the embedded realisations",
        Action::NamePropensityColumn => "write propensity = \"COLUMN\" under [evidence] in the document",
        Action::PrintStatement => "compute the sums again with rarely.engines",
        Action::UseLinearEnvironment => "leave out `environment`",
        Action::DeclareNoise => "declare the standard deviation of the noise with `declared_noise`",
        _ => return None,
    })
}

/// Warns that a linear model judges a rule that may be of any form.
pub(crate) fn warn_linear_model(py: Python<'_>) -> PyResult<()> {
    let class = py.import("rarely.errors")?.getattr("LinearModelWarning")?;
    let message = c"the gain of arms given row by row is that of a linear model of the outcomes: if outcomes are not linear in the context, \
        the interval may miss the truth. rarely.evaluate(log, arms, against=...) needs no model";
    PyErr::warn(py, &class, message, 1)
}

pub(crate) static SETTINGS: Family = Family::named("SettingsError");
pub(crate) static CONTEXT: Family = Family::named("ContextError");
pub(crate) static OBSERVE: Family = Family::named("ObserveError");
pub(crate) static MERGE: Family = Family::named("MergeError");
pub(crate) static RESTORE: Family = Family::named("RestoreError");
pub(crate) static DOCUMENT: Family = Family::named("DocumentError");
pub(crate) static DATA: Family = Family::named("DataError");
pub(crate) static REVIEW: Family = Family::named("ReviewError");
pub(crate) static EXPERIMENT: Family = Family::named("ExperimentError");
pub(crate) static FIGURE: Family = Family::named("FigureError");
pub(crate) static CONFIRM: Family = Family::named("ConfirmError");
pub(crate) static EVALUATE: Family = Family::named("EvaluateError");
