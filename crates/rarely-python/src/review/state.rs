//! `rarely.State`: the statistics of a log, gathered in parts wherever its rows are, or summed by the engine that has them.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use rarely_core::ErrorSums;
use rarely_data::Columns;
use rarely_report::ReviewSources;
use rarely_review::{Dialect, EvidenceBase, LogTable, SecondReading, SummedLog, SumsError, SumsRow, Tally};

use super::result::PyReview;
use super::{LogSource, call, read, read_again, read_population, refuse_groups, reviewing, wanted};
use crate::document::PyDocument;
use crate::error;

/// The statistics of a log. States of parts of a log add up to the state of the whole.
#[pyclass(name = "State", module = "rarely")]
pub(crate) struct PyState {
    document: PyDocument,
    tally: Tally,
    rejected: Vec<String>,
}

/// A row of a result, its cells as text.
type Cells = (String, i64, i64, i64, String);

/// What rows that confirm add to the errors of the candidates' gains: how many there were, and a sum for each candidate.
type Confirmed = (u64, Vec<Option<i128>>);

#[pymethods]
impl PyState {
    #[new]
    #[pyo3(signature = (document, /))]
    fn new(document: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (py, document) = (document.py(), PyDocument::of(document)?);
        refuse_groups(py, &document)?;
        let tally = Tally::keeping_rows(&document.checked);
        Ok(Self { document, tally, rejected: Vec::new() })
    }

    /// Adds the rows of a frame or a file. Returns the state itself.
    #[pyo3(signature = (frame, /, *, reject_limit = 0))]
    fn update<'py>(slf: &Bound<'py, Self>, frame: &Bound<'py, PyAny>, reject_limit: u64) -> PyResult<Bound<'py, Self>> {
        let document = slf.borrow().document.clone();
        let columns = Columns::of(&document.checked);
        let log = LogSource::of(frame, "the frame", &wanted(&document, columns.time.as_ref()))?;
        // Read apart, so that a bad row leaves the state as it was.
        let mut part = Tally::keeping_rows(&document.checked);
        let cases = read(slf.py(), &document, (log, &columns), reject_limit, &mut part)?;
        let state = &mut *slf.borrow_mut();
        state.tally.absorb(part).map_err(|error| error::REVIEW.explain(slf.py(), &error))?;
        state.rejected.extend(cases.rejected().iter().map(ToString::to_string));
        Ok(slf.clone())
    }

    /// The rows in it.
    #[getter]
    fn rows(&self) -> u64 {
        self.tally.rows()
    }

    /// The document.
    #[getter]
    fn document(&self) -> PyDocument {
        self.document.clone()
    }

    /// The state of both logs.
    fn __add__(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let mut tally = self.tally.clone();
        tally.merge(&other.tally).map_err(|error| error::REVIEW.explain(py, &error))?;
        let rejected = self.rejected.iter().chain(&other.rejected).cloned().collect();
        Ok(Self { document: self.document.clone(), tally, rejected })
    }

    /// The state as bytes, which `from_bytes` and `rarely.review(state=…)` read.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let text = self.tally.to_text_with_rows().map_err(|error| error::REVIEW.explain(py, &error))?;
        Ok(PyBytes::new(py, text.as_bytes()))
    }

    /// The state that `to_bytes` wrote.
    #[staticmethod]
    #[pyo3(signature = (document, data, /))]
    fn from_bytes(py: Python<'_>, document: &Bound<'_, PyAny>, data: &[u8]) -> PyResult<Self> {
        let document = PyDocument::of(document)?;
        refuse_groups(py, &document)?;
        let text = String::from_utf8_lossy(data);
        // Into an empty one, so that rows which are added later are divided like the others.
        let mut tally = Tally::keeping_rows(&document.checked);
        let saved = Tally::from_text(&text).and_then(|saved| saved.revive(&document.checked));
        let read = saved.and_then(|saved| if saved.rows() == 0 { Ok(()) } else { tally.merge(&saved) });
        read.map_err(|error| error::REVIEW.explain(py, &error))?;
        Ok(Self { document, tally, rejected: Vec::new() })
    }

    /// The state in the result of `first_scan`.
    #[staticmethod]
    #[pyo3(signature = (document, rows, /, *, reject_limit = 0))]
    fn from_sums(py: Python<'_>, document: &Bound<'_, PyAny>, rows: Vec<Cells>, reject_limit: u64) -> PyResult<Self> {
        let document = PyDocument::of(document)?;
        let read = py.detach(|| SummedLog::read(&document.checked, rows.into_iter().map(sums_row)));
        let log = read.map_err(|error| error::REVIEW.explain(py, &error))?;
        log.check_rejected(reject_limit).map_err(|error| error::REVIEW.explain(py, &error))?;
        let rejected = log.rejected.iter().map(ToString::to_string).collect();
        Ok(Self { document, tally: log.tally, rejected })
    }

    /// The statement by which an engine computes what `review(confirmed_sums=…)` takes; `None` if there is nothing to read again.
    #[pyo3(signature = (dialect, table, /, *, r#where = None, latest_by = None, population = None))]
    fn second_scan(
        &self,
        py: Python<'_>,
        dialect: &str,
        table: &str,
        r#where: Option<&str>,
        latest_by: Option<&str>,
        population: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<String>> {
        let people = population.map(|people| read_population(py, &self.document, people)).transpose()?;
        let base = self.base(py, people.map(|(people, _)| people))?;
        let log = LogTable { filter: r#where, latest_by, ..LogTable::new(dialect_of(py, dialect)?, table) };
        log.second_scan(&base).map_err(|error| error::REVIEW.explain(py, &error))
    }

    /// What a frame's rows add to the errors of the gains that this state proposes: the number of rows that confirm, and a sum for each
    /// candidate. Needs the state of the whole log; `review(confirmed=…)` takes the parts' sums.
    #[pyo3(signature = (frame, /, *, reject_limit = 0))]
    fn confirm(&self, py: Python<'_>, frame: &Bound<'_, PyAny>, reject_limit: u64) -> PyResult<Confirmed> {
        let base = self.base(py, None)?;
        let second = Self::second_reading(py, &base)?;
        let columns = Columns::of(&self.document.checked);
        let log = LogSource::of(frame, "the frame", &wanted(&self.document, columns.time.as_ref()))?;
        let second = read_again(py, &self.document, log, reject_limit, second)?;
        let sums = second.errors().map(rarely_core::StreamedErrors::sums);
        let ErrorSums { rows, sums } = sums.ok_or_else(|| only_sums(py))?;
        Ok((rows, sums))
    }

    /// Reviews the document against the state. Errors are robust with the sums of `confirm` over all parts of the log, or with the result of
    /// `second_scan`.
    #[pyo3(signature = (*, population = None, confirmed = None, confirmed_sums = None))]
    fn review(
        &self,
        py: Python<'_>,
        population: Option<&Bound<'_, PyAny>>,
        confirmed: Option<Vec<Confirmed>>,
        confirmed_sums: Option<Vec<Cells>>,
    ) -> PyResult<PyReview> {
        let people = population.map(|people| read_population(py, &self.document, people)).transpose()?;
        let mut sources = ReviewSources { command: call(&self.document, population), ..ReviewSources::default() };
        sources.data = vec!["the state".to_owned()];
        sources.population = people.as_ref().map(|(_, names)| names.join(", "));
        let people = people.map(|(people, _)| people);
        let mut tally = self.tally.clone();
        tally.look(&self.document.checked).map_err(|error| error::REVIEW.explain(py, &error))?;
        let mut base = self.base(py, people.clone())?;
        if let Some(parts) = confirmed {
            let mut second = Self::second_reading(py, &base)?;
            for (rows, sums) in parts {
                let added = second.add_sums(&ErrorSums { rows, sums });
                added.map_err(|error| error::REVIEW.explain(py, &error))?;
            }
            base = base.with_second_reading(second);
        }
        if let Some(rows) = confirmed_sums {
            let read = base.with_second_scan(rows.into_iter().map(sums_row));
            base = read.map_err(|error| error::REVIEW.explain(py, &error))?;
        }
        let found = py.detach(|| rarely_review::review(&base, &tally)).map_err(|error| reviewing(py, &error))?;
        Ok(PyReview::new(self.document.clone(), tally, people, found, self.rejected.clone(), sources))
    }

    fn __repr__(&self) -> String {
        format!("State({:?}, rows={})", self.document.checked.policy(), self.tally.rows())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let state = slf.borrow();
        let parts = (state.document.clone(), state.to_bytes(py)?).into_pyobject(py)?;
        Ok((slf.get_type().getattr("from_bytes")?, parts))
    }
}

impl PyState {
    fn base(&self, py: Python<'_>, people: Option<Vec<f64>>) -> PyResult<EvidenceBase<'_>> {
        py.detach(|| EvidenceBase::of(&self.document.checked, &self.tally, people))
            .map_err(|error| reviewing(py, &error))
    }

    fn second_reading(py: Python<'_>, base: &EvidenceBase<'_>) -> PyResult<SecondReading> {
        base.second_reading().filter(|second| second.errors().is_some()).ok_or_else(|| only_sums(py))
    }
}

/// The statement by which an engine computes the sums of a log, for `State.from_sums`.
#[pyfunction]
#[pyo3(signature = (document, dialect, table, /, *, r#where = None, latest_by = None))]
pub(crate) fn first_scan(
    py: Python<'_>,
    document: &Bound<'_, PyAny>,
    dialect: &str,
    table: &str,
    r#where: Option<&str>,
    latest_by: Option<&str>,
) -> PyResult<String> {
    let document = PyDocument::of(document)?;
    let log = LogTable { filter: r#where, latest_by, ..LogTable::new(dialect_of(py, dialect)?, table) };
    log.first_scan(&document.checked).map_err(|error| error::REVIEW.explain(py, &error))
}

fn dialect_of(py: Python<'_>, name: &str) -> PyResult<Dialect> {
    name.parse().map_err(|error: SumsError| error::REVIEW.explain(py, &error))
}

fn sums_row((kind, option, part, position, numbers): Cells) -> SumsRow {
    SumsRow { kind, option, part, position, numbers }
}

fn only_sums(py: Python<'_>) -> PyErr {
    error::REVIEW.with_help(
        py,
        "the errors of this document's gains are not sums: it declares clusters, weights, propensities, guard-rails, fairness columns or an adaptive design",
        "review the log as a whole, with rarely.review",
    )
}
