//! A log as a document encodes it, as arrays for `rarely.evaluate`.

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use rarely_core::{Arm, Contexts, Rule};
use rarely_data::{Columns, LoggedCase};
use rarely_review::reward_range;

use super::{LogSource, refuse_groups, walk, wanted};
use crate::array::matrix;
use crate::document::PyDocument;
use crate::error;

/// Contexts, arms, rewards, propensities, the number of arms, the range of rewards, the declared minimum of propensities.
type DocumentLog<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Option<Bound<'py, PyAny>>,
    usize,
    Option<(f64, f64)>,
    Option<f64>,
);

/// The rows of a log as a document encodes them. Rewards are outcomes in their good direction, less the options' costs.
#[pyfunction]
#[pyo3(signature = (document, log))]
pub(crate) fn document_log<'py>(document: &Bound<'py, PyAny>, log: &Bound<'py, PyAny>) -> PyResult<DocumentLog<'py>> {
    let py = document.py();
    let document = PyDocument::of(document)?;
    let rows = LoggedRows::read(py, &document, log)?;
    let checked = &document.checked;
    let options = checked.options().len();
    let columns = checked.log_columns();
    let every = !rows.propensities.is_empty();
    let propensities = if every {
        Some(matrix(py, options, rows.propensities)?.into_any())
    } else if columns.has_propensities() {
        Some(PyArray1::from_vec(py, rows.given).into_any())
    } else {
        None
    };
    Ok((
        matrix(py, rows.dimension, rows.contexts)?,
        numbered(py, &rows.arms),
        PyArray1::from_vec(py, rows.rewards),
        propensities,
        options,
        reward_range(checked),
        columns.minimum_propensity,
    ))
}

/// The arm that a document's rule gives at every row of a log.
#[pyfunction]
#[pyo3(signature = (document, log))]
pub(crate) fn document_arms<'py>(
    document: &Bound<'py, PyAny>,
    log: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let py = document.py();
    let document = PyDocument::of(document)?;
    let rows = LoggedRows::read(py, &document, log)?;
    let rule = Rule::new(document.checked.rule().parameters(&document.checked));
    let chosen = Contexts::new(&rows.contexts, rows.dimension).and_then(|contexts| rule.choose_many(contexts));
    Ok(numbered(py, &chosen.map_err(|error| error::CONTEXT.explain(py, &error))?))
}

/// The rows of a log, column by column.
struct LoggedRows {
    dimension: usize,
    contexts: Vec<f64>,
    arms: Vec<Arm>,
    rewards: Vec<f64>,
    /// Of the option that was given; NaN where it is not known.
    given: Vec<f64>,
    /// Of every option, if it is known at every row.
    propensities: Vec<f64>,
}

impl LoggedRows {
    fn read(py: Python<'_>, document: &PyDocument, log: &Bound<'_, PyAny>) -> PyResult<Self> {
        refuse_groups(py, document)?;
        let columns = Columns::of(&document.checked);
        let source = LogSource::of(log, "the log", &wanted(document, columns.time.as_ref()))?;
        let mut rows = Self {
            dimension: document.checked.rule().parameters(&document.checked).shape().dimension(),
            contexts: Vec::new(),
            arms: Vec::new(),
            rewards: Vec::new(),
            given: Vec::new(),
            propensities: Vec::new(),
        };
        walk(py, document, (source, &columns), 0, |cases, interrupted| {
            let mut case = LoggedCase::new(&document.checked);
            while cases.next(&mut case)? {
                rows.add(&case);
                interrupted()?;
            }
            Ok(())
        })?;
        if rows.propensities.len() != rows.arms.len() * document.checked.options().len() {
            rows.propensities.clear();
        }
        Ok(rows)
    }

    fn add(&mut self, case: &LoggedCase) {
        self.contexts.extend_from_slice(&case.context);
        self.arms.push(case.arm);
        self.rewards.push(case.reward);
        let every = case.propensities.get(case.arm.index()).copied();
        self.given.push(case.propensity.or(every).unwrap_or(f64::NAN));
        self.propensities.extend_from_slice(&case.propensities);
    }
}

fn numbered<'py>(py: Python<'py>, arms: &[Arm]) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, arms.iter().map(|arm| i64::try_from(arm.index()).unwrap_or(i64::MAX)))
}
