//! The result of a review.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rarely_report::{Picture, ReviewSources, page, pictures, text};
use rarely_review::{EvidenceBase, Findings, ReviewJson, Tally};

use super::notebook;
use super::proposal::PyProposal;
use super::reviewing;
use crate::document::PyDocument;
use crate::error;
use crate::figure::PyFigure;

/// The result of a review: the verdict, its reasons, and the proposal, if there is one.
#[pyclass(name = "Review", module = "rarely", frozen)]
pub(crate) struct PyReview {
    document: PyDocument,
    tally: Tally,
    people: Option<Vec<f64>>,
    found: rarely_review::Review,
    findings: Findings,
    rejected: Vec<String>,
    sources: ReviewSources,
    pictures: OnceLock<Vec<Picture>>,
}

impl PyReview {
    pub(super) fn new(
        document: PyDocument,
        tally: Tally,
        people: Option<Vec<f64>>,
        found: rarely_review::Review,
        rejected: Vec<String>,
        sources: ReviewSources,
    ) -> Self {
        let findings = Findings::new(&document.checked, &found);
        Self { document, tally, people, found, findings, rejected, sources, pictures: OnceLock::new() }
    }

    fn evidence_base(&self, py: Python<'_>) -> PyResult<EvidenceBase<'_>> {
        let base = EvidenceBase::of(&self.document.checked, &self.tally, self.people.clone());
        base.map_err(|error| reviewing(py, &error))
    }

    /// The pictures, drawn once.
    fn pictures(&self, py: Python<'_>) -> PyResult<&[Picture]> {
        if let Some(pictures) = self.pictures.get() {
            return Ok(pictures);
        }
        let base = self.evidence_base(py)?;
        let drawn = py.detach(|| pictures(&base, &self.found));
        Ok(self.pictures.get_or_init(|| drawn))
    }
}

#[pymethods]
impl PyReview {
    /// `keep`, `change` or `cannot tell`.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.findings.verdict.verdict.name()
    }

    /// Why it cannot be told, or why a change is not proposed after all.
    #[getter]
    fn reasons(&self) -> Vec<String> {
        self.findings.verdict.reason_sentences()
    }

    /// The rules that were tried, the simplest first, with their gains: as in `to_dict()`.
    #[getter]
    fn candidates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.get_item("candidates")
    }

    /// What the rule in force and the best other rule are worth by the propensities of the log, as in `to_dict()`; empty if the document
    /// declares none.
    #[getter]
    fn off_policy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = self.to_dict(py)?.cast_into::<PyDict>()?.get_item("off_policy")?;
        Ok(found.unwrap_or_else(|| PyList::empty(py).into_any()))
    }

    /// The most that keeping the rule can cost per case, against the rules that were tried; None if nothing bounds it.
    #[getter]
    fn keeping_costs_at_most(&self) -> Option<f64> {
        self.findings.verdict.keeping_costs_at_most
    }

    /// What to change to, if the verdict is `change`.
    #[getter]
    fn proposal(&self) -> Option<PyProposal> {
        let Findings { proposal, assumptions, .. } = &self.findings;
        proposal.as_ref().map(|proposal| PyProposal::new(&self.document, proposal, assumptions))
    }

    /// The document that was reviewed.
    #[getter]
    fn document(&self) -> PyDocument {
        self.document.clone()
    }

    /// Rows that could be used.
    #[getter]
    fn rows(&self) -> u64 {
        self.findings.cases.rows
    }

    /// What was wrong with the rows that could not be used, the first thousand of them.
    #[getter]
    fn rejected(&self) -> Vec<String> {
        self.rejected.clone()
    }

    /// How many rows could not be used, those of saved statistics among them.
    #[getter]
    fn rejected_count(&self) -> u64 {
        self.findings.cases.rejected
    }

    /// The statistics, to continue from with next month's log.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let text = self.tally.to_text().map_err(|error| error::REVIEW.explain(py, &error))?;
        Ok(PyBytes::new(py, text.as_bytes()))
    }

    /// The pictures, by name.
    #[getter]
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let figures = PyDict::new(py);
        for picture in self.pictures(py)? {
            figures.set_item(picture.name, PyFigure::new(picture.name, &picture.caption, picture.figure.clone()))?;
        }
        Ok(figures)
    }

    /// The answer as JSON: what `rarely review --format json` prints.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let text = serde_json::to_string_pretty(&ReviewJson::new(&self.findings));
        Ok(text.map_err(|error| error::REVIEW.says(py, error.to_string()))? + "\n")
    }

    /// The same as Python objects.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.to_json(py)?,))
    }

    /// One self-contained page: what `rarely review --out` writes as `review.html`.
    fn to_html(&self, py: Python<'_>) -> PyResult<String> {
        Ok(page(&self.findings, self.pictures(py)?, &self.sources))
    }

    fn __str__(&self) -> String {
        text(&self.findings, None)
    }

    fn __repr__(&self) -> String {
        format!("Review({:?}: {}, {} rows)", self.document.checked.policy(), self.verdict(), self.rows())
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        Ok(notebook::html(&self.findings, self.pictures(py)?.first()))
    }
}
