//! `rarely.review`: a policy document against a frame or a log.

mod groups;
mod logged;
mod notebook;
mod proposal;
mod replayed;
mod result;
mod state;

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use rarely_data::{Cases, CasesError, Columns, DataError, LoggedCase, people_of_table, read_people};
use rarely_error::{Explain as _, Topic, with_causes};
use rarely_report::ReviewSources;
use rarely_review::{EvidenceBase, ReviewError, SAMPLE_SIZE, SecondReading, Tally};

use crate::document::PyDocument;
use crate::error;
use crate::frame::PyFrame;

pub(crate) use groups::{PyGroupReview, review_groups};
pub(crate) use logged::{document_arms, document_log};
pub(crate) use proposal::{PyInterval, PyProposal};
pub(crate) use replayed::replay;
pub(crate) use result::PyReview;
pub(crate) use state::{PyState, first_scan};

/// Blocks of cases between two checks for Ctrl-C.
const STRIDE: u64 = 16;

/// Reviews a policy document against past cases: keep the rule or change it, to what, and on what evidence.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
#[pyo3(signature = (document, frame, *, population = None, option_column = None, reject_limit = 0, state = None, time_column = None))]
pub(crate) fn review(
    py: Python<'_>,
    document: &Bound<'_, PyAny>,
    frame: &Bound<'_, PyAny>,
    population: Option<&Bound<'_, PyAny>>,
    option_column: Option<String>,
    reject_limit: u64,
    state: Option<&Bound<'_, PyAny>>,
    time_column: Option<String>,
) -> PyResult<PyReview> {
    let document = PyDocument::of(document)?.with_option_column(option_column);
    refuse_groups(py, &document)?;
    let mut tally = Tally::keeping_rows(&document.checked);
    for text in states(state)? {
        let saved = Tally::from_text(&text).and_then(|saved| saved.revive(&document.checked));
        let merged = saved.and_then(|saved| tally.merge(&saved));
        merged.map_err(|error| error::REVIEW.explain_at(py, "state: ", &error))?;
    }
    if frame.is_none() && state.is_none() {
        return Err(error::REVIEW.with_help(
            py,
            "there is nothing to review",
            "give a frame, or saved statistics as state",
        ));
    }
    let (mut rejected, mut rows) = (Vec::new(), None);
    let mut sources = ReviewSources { command: call(&document, population), ..ReviewSources::default() };
    if !frame.is_none() {
        let columns = Columns::of(&document.checked);
        let columns = Columns { time: time_column.or(columns.time.clone()), ..columns };
        let log = LogSource::of(frame, "the frame", &wanted(&document, columns.time.as_ref()))?;
        sources.data = log.names();
        let cases = read(py, &document, (log.clone(), &columns), reject_limit, &mut tally)?;
        rejected = cases.rejected().iter().map(ToString::to_string).collect();
        for (file, way) in cases.read_as() {
            let name = file.display().to_string();
            for known in sources.data.iter_mut().filter(|known| **known == name) {
                *known = format!("{name}, read as: {way}");
            }
        }
        rows = Some(log).filter(|log| state.is_none() && log.can_be_read_again());
    }
    tally.look(&document.checked).map_err(|error| error::REVIEW.explain(py, &error))?;
    sources.data.extend(state.map(|_| "saved statistics".to_owned()));
    let people = population.map(|people| read_population(py, &document, people)).transpose()?;
    sources.population = people.as_ref().map(|(_, names)| names.join(", "));
    let people = people.map(|(people, _)| people);
    let base = py.detach(|| EvidenceBase::of(&document.checked, &tally, people.clone()));
    let mut base = base.map_err(|error| reviewing(py, &error))?;
    if let (Some(rows), Some(second)) = (rows, base.second_reading()) {
        base = base.with_second_reading(read_again(py, &document, rows, reject_limit, second)?);
    }
    let found = py.detach(|| rarely_review::review(&base, &tally)).map_err(|error| reviewing(py, &error))?;
    Ok(PyReview::new(document, tally, people, found, rejected, sources))
}

/// A document with rules by group is not reviewed as if all had one rule.
fn refuse_groups(py: Python<'_>, document: &PyDocument) -> PyResult<()> {
    match document.checked.groups() {
        Some(_) => Err(error::REVIEW.with_help(
            py,
            "the document has rules by group",
            "review its groups at once, with rarely.review_groups",
        )),
        None => Ok(()),
    }
}

/// A log or people: files, or a table in memory.
#[derive(Clone)]
enum LogSource {
    Files(Vec<PathBuf>),
    Frame(Arc<PyFrame>, &'static str),
}

impl LogSource {
    fn of(object: &Bound<'_, PyAny>, label: &'static str, wanted: &[String]) -> PyResult<Self> {
        if let Some(path) = path(object)? {
            return Ok(Self::Files(vec![path]));
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            let items: Vec<Bound<'_, PyAny>> = object.try_iter()?.collect::<PyResult<_>>()?;
            let paths: Vec<Option<PathBuf>> = items.iter().map(path).collect::<PyResult<_>>()?;
            match paths.into_iter().collect::<Option<Vec<PathBuf>>>() {
                Some(paths) if !paths.is_empty() => return Ok(Self::Files(paths)),
                _ => {}
            }
        }
        Ok(Self::Frame(PyFrame::of(object, label, wanted)?, label))
    }

    /// A pipe cannot.
    fn can_be_read_again(&self) -> bool {
        match self {
            Self::Files(paths) => paths.iter().all(|path| path.is_file()),
            Self::Frame(..) => true,
        }
    }

    fn names(&self) -> Vec<String> {
        match self {
            Self::Files(paths) => paths.iter().map(|path| path.display().to_string()).collect(),
            Self::Frame(_, label) => vec![(*label).to_owned()],
        }
    }
}

/// The path that an object is, if it is one.
fn path(object: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    let is_path = object.is_instance_of::<PyString>() || object.hasattr("__fspath__")?;
    is_path.then(|| object.extract()).transpose()
}

/// The columns that a log needs.
fn wanted(document: &PyDocument, time: Option<&String>) -> Vec<String> {
    let document = &document.checked;
    let features = document.feature_columns().iter().map(|feature| feature.column.clone());
    let log = document.log_columns();
    let named = [&log.key, &log.cluster, &log.weight, &log.propensity]
        .into_iter()
        .flatten()
        .chain(&log.propensities)
        .chain(&log.fairness)
        .chain(document.guardrails().iter().map(|guardrail| &guardrail.column))
        .chain(time)
        .cloned();
    features.chain([document.outcome().column.clone(), document.option_column().to_owned()]).chain(named).collect()
}

/// Adds a log to the sums. Returns it, read to its end.
fn read(
    py: Python<'_>,
    document: &PyDocument,
    (log, columns): (LogSource, &Columns),
    reject_limit: u64,
    tally: &mut Tally,
) -> PyResult<Cases> {
    let mut shares = Tally::shared(&document.checked);
    let cases = walk(py, document, (log, columns), reject_limit, |cases, interrupted| {
        cases.share(&mut shares, |tally, case: &LoggedCase| tally.add_row(&case.row()), |_| interrupted())
    })?;
    let read = Tally::joined(shares, cases.rejected_count()).and_then(|mut read| {
        read.add_missing(cases.missing());
        tally.absorb(read)
    });
    read.map_err(|error| error::REVIEW.explain(py, &error))?;
    Ok(cases)
}

/// Reads a log again, for the errors of the candidates' gains.
fn read_again(
    py: Python<'_>,
    document: &PyDocument,
    log: LogSource,
    reject_limit: u64,
    mut second: SecondReading,
) -> PyResult<SecondReading> {
    walk(py, document, (log, &Columns::of(&document.checked)), reject_limit, |cases, interrupted| {
        cases.read_ahead(|case| second.add_row(&case.row()), |_| interrupted())
    })?;
    Ok(second)
}

/// Opens a log and reads it by `walk`, which is given what to call now and then, so that Ctrl-C stops it.
fn walk(
    py: Python<'_>,
    document: &PyDocument,
    (log, columns): (LogSource, &Columns),
    reject_limit: u64,
    walk: impl FnOnce(&mut Cases, &mut (dyn FnMut() -> Result<(), WalkError> + Send)) -> Result<(), WalkError> + Send,
) -> PyResult<Cases> {
    let checked = &document.checked;
    let cases = match log {
        LogSource::Files(paths) => Cases::open(checked, columns, &paths, reject_limit),
        LogSource::Frame(frame, _) => Cases::of_table(checked, columns, frame, reject_limit),
    };
    let mut cases = cases.map_err(|error| reading(py, &error, reject_limit))?;
    let mut calls = 0_u64;
    let mut interrupted = || {
        calls += 1;
        if calls.is_multiple_of(STRIDE) {
            Python::attach(|py| py.check_signals().map_err(WalkError::Stopped))
        } else {
            Ok(())
        }
    };
    let walked = py.detach(|| walk(&mut cases, &mut interrupted));
    match walked {
        Ok(()) => Ok(cases),
        Err(WalkError::Data(error)) => Err(reading(py, &error, reject_limit)),
        Err(WalkError::Stopped(error)) => Err(error),
    }
}

/// Why a log was not read to its end.
enum WalkError {
    Data(DataError),
    /// By Ctrl-C.
    Stopped(PyErr),
}

impl From<DataError> for WalkError {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

/// The contexts of the people whom the rule is for, and the names of their files.
fn read_population(
    py: Python<'_>,
    document: &PyDocument,
    people: &Bound<'_, PyAny>,
) -> PyResult<(Vec<f64>, Vec<String>)> {
    let people = LogSource::of(people, "the population", &wanted(document, None))?;
    let names = people.names();
    let read = py.detach(|| match people {
        LogSource::Files(paths) => read_people(&document.checked, &paths, 0, SAMPLE_SIZE),
        LogSource::Frame(frame, _) => people_of_table(&document.checked, frame, 0, SAMPLE_SIZE),
    });
    let people = read.map_err(|error| error::DATA.explain(py, &error))?;
    Ok((people.contexts, names))
}

/// The texts of saved statistics: one, or several in a list.
fn states(state: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(state) = state else { return Ok(Vec::new()) };
    if let Ok(bytes) = state.cast::<PyBytes>() {
        let text = String::from_utf8(bytes.as_bytes().to_vec());
        let not_text = |_| {
            let message = "state: the bytes are not saved statistics";
            error::REVIEW.with_help(state.py(), message, "give those of Review.state")
        };
        return Ok(vec![text.map_err(not_text)?]);
    }
    if !(state.is_instance_of::<PyList>() || state.is_instance_of::<PyTuple>()) {
        let name = state.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "state is of type {name}, but must be the bytes of Review.state, or a list of them"
        )));
    }
    let mut texts = Vec::new();
    for item in state.try_iter()? {
        texts.extend(states(Some(&item?))?);
    }
    Ok(texts)
}

/// An error of a log; where it is about one row, with the way to tolerate it.
fn reading(py: Python<'_>, error: &DataError, reject_limit: u64) -> PyErr {
    if reject_limit == 0 && matches!(error, DataError::Cases(CasesError::Rejected(_))) {
        let tolerate = "to leave bad rows out, and have them listed and counted, give reject_limit";
        let help = error.remedy().map_or_else(String::new, |remedy| format!("{remedy}\nhelp: "));
        return error::DATA.raise(py, with_causes(error), format!("{help}{tolerate}"), Some(Topic::BadRows));
    }
    error::DATA.explain(py, error)
}

fn reviewing(py: Python<'_>, error: &ReviewError) -> PyErr {
    error::REVIEW.explain(py, error)
}

/// The call, so that it can be made again.
fn call(document: &PyDocument, population: Option<&Bound<'_, PyAny>>) -> String {
    let population = population.map_or("", |_| ", population=population");
    format!("rarely.review({:?}, frame{population})", document.source)
}
