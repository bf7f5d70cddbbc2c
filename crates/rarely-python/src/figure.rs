//! A picture, for a notebook or a file.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error;

/// A picture, as SVG, PNG and PDF.
#[pyclass(name = "Figure", module = "rarely", frozen)]
pub(crate) struct PyFigure {
    name: String,
    caption: String,
    drawn: rarely_plot::Figure,
    /// What made it, in the metadata of its files; empty if nothing says so.
    made_by: String,
}

impl PyFigure {
    /// A picture with the name of its file; `caption` says how to read it.
    pub(crate) fn new(name: impl Into<String>, caption: impl Into<String>, drawn: rarely_plot::Figure) -> Self {
        Self { name: name.into(), caption: caption.into(), drawn, made_by: String::new() }
    }

    /// The same with what made it.
    pub(crate) fn made_by(self, made_by: String) -> Self {
        Self { made_by, ..self }
    }
}

#[pymethods]
impl PyFigure {
    /// The name of its file, without the ending.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// What it is of.
    #[getter]
    fn title(&self) -> &str {
        &self.drawn.title
    }

    /// How to read it.
    #[getter]
    fn caption(&self) -> &str {
        &self.caption
    }

    /// The picture as SVG.
    #[getter]
    pub(crate) fn svg(&self) -> String {
        if self.made_by.is_empty() { self.drawn.svg() } else { self.drawn.svg_made_by(&self.made_by) }
    }

    /// The picture as PNG, with `scale` pixels for each pixel of the SVG: 2 suits a screen, 3 print.
    #[pyo3(signature = (scale = 2.0))]
    fn png<'py>(&self, py: Python<'py>, scale: f32) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.pixels(py, scale)?))
    }

    /// The picture as PDF: vectors on one page, for a paper.
    fn pdf<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.page(py)?))
    }

    /// Writes the picture to a file whose name ends in `.svg`, `.png` or `.pdf`.
    #[pyo3(signature = (path, scale = 2.0))]
    fn save(&self, py: Python<'_>, path: PathBuf, scale: f32) -> PyResult<()> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let content = match extension.to_ascii_lowercase().as_str() {
            "svg" => self.svg().into_bytes(),
            "png" => self.pixels(py, scale)?,
            "pdf" => self.page(py)?,
            _ => {
                let shown = path.display();
                return Err(PyValueError::new_err(format!("{shown}: the name must end in .svg, .png or .pdf")));
            }
        };
        Ok(std::fs::write(path, content)?)
    }

    /// Shows the picture on matplotlib axes, and returns the axes.
    #[pyo3(signature = (ax = None))]
    fn plot<'py>(slf: &Bound<'py, Self>, ax: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("rarely._axes")?.getattr("show")?.call1((slf, ax))
    }

    fn _repr_svg_(&self) -> String {
        self.svg()
    }

    fn __repr__(&self) -> String {
        format!("Figure({:?})", self.name)
    }
}

impl PyFigure {
    fn page(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        py.detach(|| self.drawn.pdf_made_by(&self.made_by)).map_err(|error| error::FIGURE.explain(py, &error))
    }

    fn pixels(&self, py: Python<'_>, scale: f32) -> PyResult<Vec<u8>> {
        let draw = || {
            if self.made_by.is_empty() { self.drawn.png(scale) } else { self.drawn.png_made_by(scale, &self.made_by) }
        };
        py.detach(draw).map_err(|error| error::FIGURE.explain(py, &error))
    }
}
