//! Data sets that are part of the program, as arrays.

use numpy::{IntoPyArray as _, PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyInt;
use rarely_data::{Counterfactuals, ihdp as children};

use crate::error;

/// Covariates, treatment, factual and counterfactual outcome, the expected outcomes, and the names of the covariates.
type Realisation<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Vec<String>,
);

/// A realisation of IHDP.
#[pyfunction]
pub(crate) fn ihdp<'py>(py: Python<'py>, realisation: &Bound<'py, PyInt>) -> PyResult<Realisation<'py>> {
    let number = realisation.extract().map_err(|_| {
        let message = format!("IHDP has no realisation {realisation}");
        error::DATA.with_help(py, message, "give a number from 1 to 1,000")
    })?;
    let drawn = py.detach(|| children::realisation(number)).map_err(|error| error::DATA.explain(py, &error))?;
    let treated = children::treated();
    let outcomes = |factual: bool| {
        let of = |(child, &treated): (usize, &bool)| drawn.outcomes_of(child)[usize::from(treated == factual)];
        PyArray1::from_iter(py, treated.iter().enumerate().map(of))
    };
    let means = |arm: usize| PyArray1::from_iter(py, (0..drawn.people()).map(|child| drawn.means_of(child)[arm]));
    let treatment = PyArray1::from_iter(py, treated.iter().map(|&treated| i64::from(treated)));
    let (factual, counterfactual, mu0, mu1) = (outcomes(true), outcomes(false), means(0), means(1));
    let Counterfactuals { contexts, columns, .. } = drawn;
    let covariates = contexts.into_pyarray(py).reshape([children::CHILDREN, children::COVARIATES])?;
    Ok((covariates, treatment, factual, counterfactual, mu0, mu1, columns))
}
