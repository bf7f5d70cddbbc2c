//! `rarely.review_groups`: one document in many groups at once.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rarely_data::{Columns, LoggedCase};
use rarely_policy::{PolicyDocument, apply_groups};
use rarely_report::{ReviewSources, groups_page, groups_text, page};
use rarely_review::{GroupEvidence, GroupTallies, GroupsFinding, GroupsJson, UnusedRows};

use super::{LogSource, walk, wanted};
use crate::document::PyDocument;
use crate::error;

/// Reviews a policy document in every group of past cases at once; all groups share the error probability.
#[pyfunction]
#[pyo3(signature = (document, frame, *, by = None, option_column = None, reject_limit = 0, time_column = None))]
pub(crate) fn review_groups(
    py: Python<'_>,
    document: &Bound<'_, PyAny>,
    frame: &Bound<'_, PyAny>,
    by: Option<&str>,
    option_column: Option<String>,
    reject_limit: u64,
    time_column: Option<String>,
) -> PyResult<PyGroupReview> {
    let mut document = PyDocument::of(document)?.with_option_column(option_column);
    let named = document.checked.groups().map(|groups| groups.column.clone());
    let Some(column) = by.map(str::to_owned).or(named) else {
        let message = "the document has no groups";
        return Err(error::REVIEW.with_help(py, message, "name the column of the groups with by"));
    };
    let grouped = document.checked.grouped_by(&column);
    document.checked = grouped.map_err(|error| error::REVIEW.explain(py, &error))?;
    let columns = Columns::of(&document.checked);
    let columns = Columns { time: time_column.or(columns.time.clone()), group: Some(column.clone()), ..columns };
    let mut names = wanted(&document, columns.time.as_ref());
    names.push(column);
    let log = LogSource::of(frame, "the frame", &names)?;
    let sources = ReviewSources { command: call(&document), data: log.names(), population: None };
    let again = Some(log.clone()).filter(LogSource::can_be_read_again);
    let mut shares = GroupTallies::shared(&document.checked);
    let cases = walk(py, &document, (log, &columns), reject_limit, |cases, interrupted| {
        let add = |tallies: &mut GroupTallies, case: &LoggedCase| tallies.add_row(&case.group, &case.row());
        cases.share(&mut shares, add, |_| interrupted())
    })?;
    let unused = UnusedRows { rejected: cases.rejected_count(), dropped: cases.missing().dropped_rows() };
    let tallies = GroupTallies::joined(shares, unused);
    let tallies = tallies.map_err(|error| error::REVIEW.explain(py, &error))?;
    let mut evidence = GroupEvidence::new(tallies).map_err(|error| super::reviewing(py, &error))?;
    if let Some(log) = again {
        let mut second = evidence.second_reading().map_err(|error| super::reviewing(py, &error))?;
        walk(py, &document, (log, &columns), reject_limit, |cases, interrupted| {
            cases.read_ahead(|case| second.add_row(&case.group, &case.row()), |_| interrupted())
        })?;
        evidence = evidence.with_second_reading(second);
    }
    let found = py.detach(|| evidence.review()).map_err(|error| super::reviewing(py, &error))?;
    let rejected = cases.rejected().iter().map(ToString::to_string).collect();
    Ok(PyGroupReview { findings: GroupsFinding::new(&found), document, rejected, sources })
}

/// The result of a review of many groups.
#[pyclass(name = "GroupReview", module = "rarely", frozen)]
pub(crate) struct PyGroupReview {
    document: PyDocument,
    findings: GroupsFinding,
    rejected: Vec<String>,
    sources: ReviewSources,
}

#[pymethods]
impl PyGroupReview {
    /// `change` if any group is to change, `keep` if all keep their rules, `cannot tell` otherwise.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.findings.verdict.name()
    }

    /// The verdict of every group.
    #[getter]
    fn verdicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let verdicts = PyDict::new(py);
        for group in &self.findings.groups {
            verdicts.set_item(&group.group, group.findings.verdict.verdict.name())?;
        }
        Ok(verdicts)
    }

    /// What was wrong with the rows that could not be used, the first thousand of them.
    #[getter]
    fn rejected(&self) -> Vec<String> {
        self.rejected.clone()
    }

    /// The text of the document with the proposed rules of the groups; None if no group is to change.
    fn apply(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let (rules, checked): (_, &PolicyDocument) = (self.findings.proposed_rules(), &self.document.checked);
        let (Some(groups), false) = (checked.groups(), rules.is_empty()) else { return Ok(None) };
        let text = apply_groups(self.document.text(), &groups.column, &rules);
        text.map(Some).map_err(|error| error::REVIEW.explain(py, &error))
    }

    /// The answer as JSON: what `rarely review --by … --format json` prints.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let text = serde_json::to_string_pretty(&GroupsJson::new(&self.findings));
        Ok(text.map_err(|error| error::REVIEW.says(py, error.to_string()))? + "\n")
    }

    /// The same as Python objects.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.to_json(py)?,))
    }

    /// One page with the table of all groups.
    fn to_html(&self) -> String {
        groups_page(&self.findings, &[], &self.sources)
    }

    /// The page of every group, without pictures.
    #[getter]
    fn pages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let pages = PyDict::new(py);
        for group in &self.findings.groups {
            pages.set_item(&group.group, page(&group.findings, &[], &self.sources))?;
        }
        Ok(pages)
    }

    fn __str__(&self) -> String {
        groups_text(&self.findings, None)
    }

    fn __repr__(&self) -> String {
        let (policy, groups) = (&self.findings.policy, self.findings.groups.len());
        format!("GroupReview({policy:?}: {}, {groups} groups)", self.verdict())
    }

    fn _repr_html_(&self) -> String {
        self.to_html()
    }
}

/// The call, so that it can be made again.
fn call(document: &PyDocument) -> String {
    let column = document.checked.groups().map_or("", |groups| &groups.column);
    format!("rarely.review_groups({:?}, frame, by={column:?})", document.source)
}
