//! A change that is proposed.

use pyo3::prelude::*;
use rarely_review::findings::{AssumptionFinding, ProposalFinding, numbers};

use crate::document::PyDocument;
use crate::error;

/// A number with the range that the data allow.
#[pyclass(name = "Interval", module = "rarely", frozen, get_all, eq)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PyInterval {
    estimate: f64,
    lower: f64,
    upper: f64,
}

#[pymethods]
impl PyInterval {
    fn __repr__(&self) -> String {
        format!("Interval(estimate={:?}, lower={:?}, upper={:?})", self.estimate, self.lower, self.upper)
    }
}

impl From<rarely_core::Interval> for PyInterval {
    fn from(interval: rarely_core::Interval) -> Self {
        let rarely_core::Interval { estimate, lower, upper } = interval;
        Self { estimate, lower, upper }
    }
}

/// A change that is proposed.
#[pyclass(name = "Proposal", module = "rarely", frozen)]
pub(crate) struct PyProposal {
    document: PyDocument,
    found: ProposalFinding,
    assumptions: Vec<AssumptionFinding>,
}

impl PyProposal {
    pub(super) fn new(document: &PyDocument, found: &ProposalFinding, assumptions: &[AssumptionFinding]) -> Self {
        Self { document: document.clone(), found: found.clone(), assumptions: assumptions.to_vec() }
    }
}

#[pymethods]
impl PyProposal {
    /// The proposed rule, in words.
    #[getter]
    fn rule(&self) -> Vec<String> {
        self.found.rule.lines.clone()
    }

    /// What changes, in words.
    #[getter]
    fn changes(&self) -> Vec<String> {
        self.found.changes.clone()
    }

    /// The text of the policy document with the proposed rule in it.
    #[getter]
    fn document(&self, py: Python<'_>) -> PyResult<String> {
        let applied = rarely_policy::apply(self.document.text(), &self.found.rule.rule);
        applied.map_err(|error| error::DOCUMENT.explain(py, &error))
    }

    /// Why the rule in force has to change.
    #[getter]
    fn cause(&self) -> &str {
        &self.found.cause_clause
    }

    /// Why the proposed rule has another form than the rule in force, if it has.
    #[getter]
    fn note(&self) -> Option<&str> {
        self.found.form_sentence.as_deref()
    }

    /// The expected gain per case.
    #[getter]
    fn gain(&self) -> PyInterval {
        self.found.certificate.gain.into()
    }

    /// Share of the people who get another option.
    #[getter]
    fn changed_share(&self) -> f64 {
        self.found.certificate.changed_share
    }

    /// Share of the people who would get an option that the data rule out.
    #[getter]
    fn excluded_share_after(&self) -> f64 {
        self.found.certificate.excluded_after
    }

    /// What certifies the change: `plausible`, `gain`, `theorem-3`.
    #[getter]
    fn certified_by(&self) -> Vec<&'static str> {
        self.found.certificate.certified_by.iter().map(|by| by.name()).collect()
    }

    /// The certificate in words, with the assumptions and the digest of the statistics.
    #[getter]
    fn certificate(&self) -> String {
        let lines = self.found.certificate.lines.iter();
        let lines = lines.map(|line| format!("{}: {}\n  {}\n", line.name, line.value, line.meaning));
        let assumptions = self.assumptions.iter().map(|assumption| format!("assumed: {}\n", assumption.line()));
        let digest = [format!("digest of the statistics: {}\n", self.found.certificate.digest)];
        lines.chain(assumptions).chain(digest).collect()
    }

    /// What speaks against the change.
    #[getter]
    fn against(&self) -> Vec<String> {
        self.found.against.sentences()
    }

    fn __repr__(&self) -> String {
        format!("Proposal({:?}, gain={})", self.rule().join("; "), numbers::interval(self.found.certificate.gain))
    }
}
