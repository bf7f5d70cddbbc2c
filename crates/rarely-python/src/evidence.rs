//! Changes of policy and their certificates, as Python sees them.

use std::sync::Arc;

use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rarely_core::{Evidence, Parameters};

use crate::array::matrix;
use crate::error;

/// A change of policy: why it happened, what was in force before and after, and what it gains.
///
/// `print(change)` says it in one line, `print(change.certificate)` the whole certificate.
#[pyclass(name = "Change", frozen, eq, module = "rarely")]
#[derive(Clone, PartialEq)]
pub(crate) struct PyChange(pub(crate) Arc<Evidence>);

#[pymethods]
impl PyChange {
    /// Outcomes observed when it happened.
    #[getter]
    fn round(&self) -> u64 {
        self.0.round
    }

    /// Its number: the first change is 1.
    #[getter]
    fn version(&self) -> u64 {
        self.0.version
    }

    /// Why the trigger fired, in words.
    #[getter]
    fn cause(&self) -> String {
        self.0.cause.to_string()
    }

    /// The parameters in force before, a row for each arm.
    #[getter]
    fn before<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        parameters(py, &self.0.from)
    }

    /// The parameters in force from then on, a row for each arm.
    #[getter]
    fn after<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        parameters(py, &self.0.to)
    }

    /// The certificate; `None` if certificates were turned off, and for `rs-linucb`, whose policy is not a linear rule.
    #[getter]
    fn certificate(&self) -> Option<PyCertificate> {
        self.0.certificate.as_ref().map(|_| PyCertificate(self.0.clone()))
    }

    /// Everything as plain Python objects.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        plain(py, &*self.0)?.cast_into().map_err(Into::into)
    }

    /// A change from its bytes.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        let read: Result<Evidence, _> = serde_json::from_slice(data);
        let damaged = |error| error::RESTORE.says(py, format!("the bytes of the change are damaged: {error}"));
        read.map(|evidence| Self(Arc::new(evidence))).map_err(damaged)
    }

    /// The whole change as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = serde_json::to_vec(&*self.0).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    fn _repr_html_(&self) -> String {
        let certificate = self.0.certificate.as_ref().map(|certificate| format!("{certificate:#}"));
        maud::html! {
            p { b { "Change " (self.0.version) } " after " (self.0.round) " outcomes: " (self.0.cause.to_string()) }
            @if let Some(certificate) = certificate { pre { (certificate) } }
        }
        .into_string()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<rarely.Change: {}>", self.0)
    }

    fn __hash__(&self) -> u64 {
        self.0.round ^ self.0.version.rotate_left(32)
    }
}

/// What a change gains, for whom, and how sure that is.
///
/// With probability at least 1 − δ, for all rounds and changes of one policy together, the mean outcome over the people it was judged on
/// changes by a number in the gain's interval, if mean outcomes are linear in the context, parameters are constant, and the noise and
/// a norm bound are as declared (Gaussian, if the noise is not). Nothing is claimed for other people, for subgroups, or for the
/// randomisation around the rule.
#[pyclass(name = "Certificate", frozen, eq, module = "rarely")]
#[derive(Clone)]
pub(crate) struct PyCertificate(Arc<Evidence>);

impl PartialEq for PyCertificate {
    fn eq(&self, other: &Self) -> bool {
        self.0.certificate == other.0.certificate
    }
}

impl PyCertificate {
    fn get(&self) -> &rarely_core::Certificate {
        self.0.certificate.as_ref().expect("made only where there is one")
    }
}

#[pymethods]
impl PyCertificate {
    /// The gain on the sample.
    #[getter]
    fn gain(&self) -> PyGain {
        self.get().gain.into()
    }

    /// Contexts in the sample on which it was judged.
    #[getter]
    fn sample(&self) -> usize {
        self.get().sample
    }

    /// Share of the sample that was given an excluded arm before.
    #[getter]
    fn excluded_before(&self) -> f64 {
        self.get().excluded_before
    }

    /// Share of the sample that is given an excluded arm now.
    #[getter]
    fn excluded_after(&self) -> f64 {
        self.get().excluded_after
    }

    /// Every pair's boundary: before, after, and the angle in degrees by which it moved.
    #[getter]
    fn boundaries(&self) -> Vec<(PyBoundary, PyBoundary, f64)> {
        let moves = self.get().boundaries.iter();
        moves.map(|moved| (moved.before.into(), moved.after.into(), moved.moved_degrees)).collect()
    }

    /// Whether Theorem 3 says that the change cannot raise expected regret, whatever the people; `None` unless there are two
    /// context variables.
    #[getter]
    fn theorem_three(&self) -> Option<bool> {
        self.get().theorem_three.map(|conditions| conditions.certifies())
    }

    /// The radius of the confidence set.
    #[getter]
    fn radius(&self) -> Option<f64> {
        self.get().radius
    }

    /// SHA-256 of the statistics on which the change is based, in hexadecimal digits.
    #[getter]
    fn digest(&self) -> String {
        self.get().digest.to_string()
    }

    /// Everything as plain Python objects.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        plain(py, self.get())?.cast_into().map_err(Into::into)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (PyChange, &'static str))> {
        Ok((py.import("builtins")?.getattr("getattr")?, (PyChange(self.0.clone()), "certificate")))
    }

    fn _repr_html_(&self) -> String {
        maud::html! { pre { (format!("{:#}", self.get())) } }.into_string()
    }

    fn __str__(&self) -> String {
        format!("{:#}", self.get())
    }

    fn __repr__(&self) -> String {
        format!("<rarely.Certificate: {}>", self.get())
    }
}

/// What the gain of a linear rule assumes.
const LINEAR: &str = "mean outcomes are linear in the context, and noise, penalty and norm bound are as declared";

/// The gain of one policy over another on a sample: an interval that contains the true mean gain per decision, if what it assumes holds.
///
/// It is the gain in the policy's linear model of the outcomes. Where outcomes are not linear in the context, and above all for a rule that is no
/// linear one, such as a forest's, the interval can miss the truth by any amount: `rarely.evaluate` has intervals that need no model.
#[pyclass(name = "Gain", frozen, eq, get_all, module = "rarely")]
#[derive(Clone)]
pub(crate) struct PyGain {
    /// The middle.
    estimate: f64,
    /// The lower end: a change is certain to gain if this is above 0, and if what is assumed holds.
    lower: f64,
    /// The upper end.
    upper: f64,
    /// Share of the sample whose arm changes.
    changed_share: f64,
    /// What the interval assumes, in words.
    assumes: String,
}

impl PartialEq for PyGain {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |gain: &Self| [gain.estimate, gain.lower, gain.upper, gain.changed_share];
        numbers(self) == numbers(other)
    }
}

impl PyGain {
    /// The same, of a rule that was given as an arm for each row and may be of any form.
    pub(crate) fn of_any_rule(self) -> Self {
        let assumes =
            format!("{LINEAR}; the other rule may be of any form, so that rarely.evaluate is the safer judge");
        Self { assumes, ..self }
    }
}

#[pymethods]
impl PyGain {
    #[new]
    #[pyo3(signature = (estimate, lower, upper, changed_share, assumes = None))]
    fn new(estimate: f64, lower: f64, upper: f64, changed_share: f64, assumes: Option<String>) -> Self {
        Self { estimate, lower, upper, changed_share, assumes: assumes.unwrap_or_else(|| LINEAR.to_owned()) }
    }

    fn __repr__(&self) -> String {
        let Self { estimate, lower, upper, changed_share, assumes } = self;
        format!(
            "Gain(estimate={estimate:?}, lower={lower:?}, upper={upper:?}, changed_share={changed_share:?}, assumes={assumes:?})"
        )
    }

    fn _repr_html_(&self) -> String {
        let Self { estimate, lower, upper, changed_share, assumes } = self;
        let percent = 100.0 * changed_share;
        maud::html! {
            p { "Gain per decision " b { (format!("{estimate:.4}")) } (format!(" ({lower:.4} to {upper:.4}); {percent:.1} % of the sample change.")) }
            p { "If " (assumes) "." }
        }
        .into_string()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (f64, f64, f64, f64, String)) {
        let Self { estimate, lower, upper, changed_share, assumes } = slf.get();
        (slf.get_type().into_any(), (*estimate, *lower, *upper, *changed_share, assumes.clone()))
    }
}

impl From<rarely_core::Gain> for PyGain {
    fn from(gain: rarely_core::Gain) -> Self {
        let rarely_core::Interval { estimate, lower, upper } = gain.interval;
        Self { estimate, lower, upper, changed_share: gain.changed_share, assumes: LINEAR.to_owned() }
    }
}

/// What the data say about the boundary between two arms.
#[pyclass(name = "Boundary", frozen, eq, get_all, module = "rarely")]
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct PyBoundary {
    /// The two arms.
    arms: (usize, usize),
    /// Whether the data allow it.
    plausible: bool,
    /// Distance of the nearest parameters that have it: plausible if at most the radius.
    distance: f64,
    /// Angle to the nearest plausible boundary, in degrees; 0 if it is plausible itself.
    angle_degrees: f64,
}

#[pymethods]
impl PyBoundary {
    fn __repr__(&self) -> String {
        let Self { arms: (i, j), plausible, distance, angle_degrees } = self;
        let plausible = if *plausible { "True" } else { "False" };
        format!(
            "Boundary(arms=({i}, {j}), plausible={plausible}, distance={distance:?}, angle_degrees={angle_degrees:?})"
        )
    }
}

impl From<rarely_core::Boundary> for PyBoundary {
    fn from(boundary: rarely_core::Boundary) -> Self {
        let rarely_core::Boundary { arms, plausible, distance, angle_degrees, .. } = boundary;
        Self { arms, plausible, distance, angle_degrees }
    }
}

/// Parameters as a matrix with a row for each arm.
pub(crate) fn parameters<'py>(py: Python<'py>, parameters: &Parameters) -> PyResult<Bound<'py, PyArray2<f64>>> {
    matrix(py, parameters.shape().dimension(), parameters.values().to_vec())
}

/// Anything that can be serialised, as dictionaries, lists and numbers.
pub(crate) fn plain<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}
