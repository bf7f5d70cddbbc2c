//! The native half of the Python package `rarely`; the typed half is in `python/rarely`.

mod array;
mod confirm;
mod datasets;
mod document;
mod error;
mod evaluate;
mod evidence;
mod figure;
mod frame;
mod lab;
mod outcome_queue;
mod policy;
mod review;

use pyo3::prelude::*;

#[pymodule]
mod _rarely {
    use pyo3::prelude::*;
    use rarely_core::Algorithm;
    use rarely_lab::environment::REGISTRY;

    #[pymodule_export]
    use crate::confirm::{PyConfirmed, confirm};
    #[pymodule_export]
    use crate::datasets::ihdp;
    #[pymodule_export]
    use crate::document::PyDocument;
    #[pymodule_export]
    use crate::evaluate::evaluate;
    #[pymodule_export]
    use crate::evidence::{PyBoundary, PyCertificate, PyChange, PyGain};
    #[pymodule_export]
    use crate::figure::PyFigure;
    #[pymodule_export]
    use crate::lab::{frontier, reproduce, run_sweep, simulate};
    #[pymodule_export]
    use crate::outcome_queue::PyOutcomeQueue;
    #[pymodule_export]
    use crate::policy::PyPolicy;
    #[pymodule_export]
    use crate::review::{PyGroupReview, PyInterval, PyProposal, PyReview, PyState, first_scan, review, review_groups};
    #[pymodule_export]
    use crate::review::{document_arms, document_log, replay};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let names = |names: Vec<&'static str>| pyo3::types::PyTuple::new(module.py(), names);
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("ALGORITHMS", names(Algorithm::all().map(Algorithm::name).collect())?)?;
        module.add("ENVIRONMENTS", names(REGISTRY.iter().map(|entry| entry.name).collect())?)
    }
}
