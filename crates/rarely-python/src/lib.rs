//! The native half of the Python package `rarely`.

use pyo3::prelude::*;

#[pymodule]
mod _rarely {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
