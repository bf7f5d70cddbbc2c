//! A change that is proposed.

use pyo3::prelude::*;
use rarely_policy::difference;
use rarely_policy::number::short;
use rarely_review::words::{self, percent};

use crate::document::PyDocument;
use crate::error;

/// A number with the range that the data allow.
#[pyclass(module = "rarely", frozen, get_all, eq)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    estimate: f64,
    lower: f64,
    upper: f64,
}

#[pymethods]
impl Interval {
    fn __repr__(&self) -> String {
        format!("Interval(estimate={:?}, lower={:?}, upper={:?})", self.estimate, self.lower, self.upper)
    }
}

impl From<rarely_core::Interval> for Interval {
    fn from(interval: rarely_core::Interval) -> Self {
        let rarely_core::Interval { estimate, lower, upper } = interval;
        Self { estimate, lower, upper }
    }
}

/// A change that is proposed.
#[pyclass(module = "rarely", frozen)]
pub(crate) struct Proposal {
    document: PyDocument,
    found: rarely_review::Proposal,
}

impl Proposal {
    pub(super) fn new(document: &PyDocument, found: &rarely_review::Proposal) -> Self {
        Self { document: document.clone(), found: found.clone() }
    }
}

#[pymethods]
impl Proposal {
    /// The proposed rule, in words.
    #[getter]
    fn rule(&self) -> Vec<String> {
        self.found.rule.words(&self.document.checked)
    }

    /// What changes, in words.
    #[getter]
    fn changes(&self) -> Vec<String> {
        let document = &self.document.checked;
        difference((document, document.rule()), (document, &self.found.rule))
    }

    /// The text of the policy document with the proposed rule in it.
    #[getter]
    fn document(&self, py: Python<'_>) -> PyResult<String> {
        let applied = rarely_policy::apply(self.document.text(), &self.found.rule);
        applied.map_err(|error| error::DOCUMENT.of(py, &error))
    }

    /// Why the rule in force cannot stay.
    #[getter]
    fn cause(&self) -> &str {
        &self.found.cause
    }

    /// Why it is of another form than the rule in force, if it is.
    #[getter]
    fn note(&self) -> Option<&str> {
        self.found.note.as_deref()
    }

    /// What a case is expected to gain.
    #[getter]
    fn gain(&self) -> Interval {
        self.found.certificate.gain.interval.into()
    }

    /// Share of the people who get another option.
    #[getter]
    fn changed_share(&self) -> f64 {
        self.found.certificate.gain.changed_share
    }

    /// Share of the people who would be given an option that the data rule out.
    #[getter]
    fn excluded_share_after(&self) -> f64 {
        self.found.certificate.excluded_after
    }

    /// By what the change is certified: `plausible`, `gain`, `theorem-3`.
    #[getter]
    fn certified_by(&self) -> Vec<&'static str> {
        self.found.certified_by()
    }

    /// How sure that is, in words, on what assumptions, and the fingerprint of the statistics.
    #[getter]
    fn certificate(&self) -> String {
        let (document, certificate) = (&self.document.checked, &self.found.certificate);
        let surety = format!("{} %", short(100.0 * (1.0 - document.evidence().error_probability)));
        let values = [
            format!("{} {}", words::range(certificate.gain.interval), words::gain_unit(document)),
            percent(certificate.gain.changed_share),
            format!("{} now, {} then", percent(certificate.excluded_before), percent(certificate.excluded_after)),
            words::certified(self.found.certified_by()),
        ];
        let lines = words::certificate(&surety)
            .into_iter()
            .zip(values)
            .map(|((name, meaning), value)| format!("{name}: {value}\n  {meaning}\n"));
        let assumptions = words::assumptions(document);
        let assumptions = assumptions.iter().map(|(name, value, _)| format!("assumed: {name} {value}\n"));
        let digest = [format!("digest of the statistics: {}\n", certificate.digest)];
        lines.chain(assumptions).chain(digest).collect()
    }

    /// What speaks against the change.
    #[getter]
    fn against(&self) -> Vec<String> {
        words::against(&self.document.checked, &self.found)
    }

    fn __repr__(&self) -> String {
        format!("Proposal({:?}, gain={})", self.rule().join("; "), words::range(self.found.certificate.gain.interval))
    }
}
