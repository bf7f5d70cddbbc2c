//! The native half of the Python package `rarely`.

mod document;
mod error;
mod figure;
mod frame;
mod review;

use pyo3::prelude::*;

#[pymodule]
mod _rarely {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::document::Document;
    #[pymodule_export]
    use crate::figure::Figure;
    #[pymodule_export]
    use crate::review::{Interval, Proposal, Review, review};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
