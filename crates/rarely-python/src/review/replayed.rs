//! `rarely.replay`: a log in time order, and when the rule would have changed.

use std::cmp::Ordering;

use pyo3::prelude::*;
use rarely_data::{Columns, LoggedCase};
use rarely_error::Explain as _;
use rarely_review::{NotWeightable, Replay};

use super::{LogSource, refuse_groups, walk, wanted};
use crate::document::PyDocument;
use crate::error;
use crate::evidence::plain;

/// Replays a log by a document, reviewing its rule after every so many rows. Rows with times are put into their order.
#[pyfunction]
#[pyo3(signature = (document, log, *, every, propensity, time))]
pub(crate) fn replay<'py>(
    document: &Bound<'py, PyAny>,
    log: &Bound<'py, PyAny>,
    every: u64,
    propensity: Option<String>,
    time: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = document.py();
    let document = PyDocument::of(document)?;
    refuse_groups(py, &document)?;
    let mut columns = Columns::of(&document.checked);
    columns.propensity = propensity.or(columns.propensity);
    columns.time = time.or(columns.time);
    columns.any_order = true;
    let mut names = wanted(&document, columns.time.as_ref());
    names.extend(columns.propensity.clone());
    let source = LogSource::of(log, "the log", &names)?;
    let mut rows: Vec<LoggedCase> = Vec::new();
    walk(py, &document, (source, &columns), 0, |cases, interrupted| {
        let mut case = LoggedCase::new(&document.checked);
        while cases.next(&mut case)? {
            rows.push(case.clone());
            interrupted()?;
        }
        Ok(())
    })?;
    rows.sort_by(|one, other| match (&one.log_time, &other.log_time) {
        (Some(one), Some(other)) => one.order(other),
        _ => Ordering::Equal,
    });
    let mut replay = Replay::new(&document.checked, every.max(1)).map_err(|error| error::REVIEW.explain(py, &error))?;
    for case in &rows {
        let step = replay.step(&case.context, case.arm, case.reward, case.propensity, case.time.as_deref());
        step.map_err(|error| error::REVIEW.explain(py, &error))?;
        py.check_signals()?;
    }
    let last = rows.last().and_then(|case| case.time.as_deref());
    let found = replay.finish(last).map_err(|error| error::REVIEW.explain(py, &error))?;
    plain(py, &found.object(&document.checked, said))
}

/// Why outcomes are not weighted, and what to do about it.
fn said(reason: &NotWeightable) -> String {
    let help = reason.remedy().map_or_else(String::new, |remedy| format!("; {}", error::worded(&remedy)));
    format!("{reason}{help}")
}
