//! Pictures: as pixels for R's graphics devices, and as files.
#![allow(unsafe_code, reason = "what #[extendr] expands to")]

use extendr_api::prelude::*;
use rarely_plot::Figure;

use crate::problem::{self, Problem, answer};
use crate::values::{named_list, with_class};

/// A picture, how to read it, and what made it.
pub(crate) struct Drawn {
    pub(crate) figure: Figure,
    /// In the metadata of its files; empty if nothing says so.
    pub(crate) made_by: String,
}

/// A picture as a value of R's.
pub(crate) fn figure(name: &str, caption: &str, figure: Figure, made_by: String) -> Robj {
    let title = figure.title.clone();
    let handle = ExternalPtr::new(Drawn { figure, made_by });
    let values: [Robj; 4] = [name.into(), title.into(), caption.into(), handle.into()];
    with_class(named_list(["name", "title", "caption", "handle"], values), &["rarely_figure"])
}

/// What a handle points to, unless the session in which it was made has ended.
pub(crate) fn held<T: 'static>(handle: &Robj, what: &str) -> Result<ExternalPtr<T>, Problem> {
    let held = ExternalPtr::<T>::try_from(handle).ok().filter(|held| held.try_addr().is_ok());
    held.ok_or_else(|| {
        let message = format!("{what} was made in another session of R, or is damaged");
        Problem::new(problem::ARGUMENT, message).help("make it again: only its numbers and texts can be saved")
    })
}

fn drawn(handle: &Robj) -> Result<ExternalPtr<Drawn>, Problem> {
    held(handle, "the picture")
}

#[allow(clippy::cast_possible_truncation, reason = "a scale needs no more digits")]
fn scaled(scale: f64) -> f32 {
    scale as f32
}

/// The pixels of a picture as R's devices take them: row by row, one integer for each.
#[extendr]
fn figure_pixels(handle: Robj, scale: f64) -> Robj {
    answer(drawn(&handle).and_then(|drawn| {
        let bitmap = drawn.figure.pixels(scaled(scale));
        let bitmap = bitmap.map_err(|error| Problem::explain(problem::FIGURE, &error))?;
        // `rasterImage` reads this class of matrix as it lies in memory.
        let pixels: Vec<i32> = bitmap.rgba.as_chunks::<4>().0.iter().map(|pixel| i32::from_le_bytes(*pixel)).collect();
        let mut raster: Robj = pixels.into();
        let size = [bitmap.height, bitmap.width].map(|length| i32::try_from(length).unwrap_or(i32::MAX));
        let set = raster.set_attrib("dim", size.to_vec()).and_then(|raster| raster.set_attrib("channels", 4));
        set.map_err(|error| Problem::new(problem::FIGURE, error.to_string()))?;
        Ok(with_class(raster, &["nativeRaster"]))
    }))
}

/// The bytes of a picture's file: `svg`, `png` or `pdf`.
#[extendr]
fn figure_file(handle: Robj, format: &str, scale: f64) -> Robj {
    answer(drawn(&handle).and_then(|drawn| {
        let Drawn { figure, made_by } = &*drawn;
        let bytes = match format {
            "svg" if made_by.is_empty() => Ok(figure.svg().into_bytes()),
            "svg" => Ok(figure.svg_made_by(made_by).into_bytes()),
            "png" if made_by.is_empty() => figure.png(scaled(scale)),
            "png" => figure.png_made_by(scaled(scale), made_by),
            "pdf" => figure.pdf_made_by(made_by),
            other => {
                let message = format!("there is no format {other:?} of pictures");
                return Err(
                    Problem::new(problem::FIGURE, message).help("choose a name that ends in .svg, .png or .pdf")
                );
            }
        };
        bytes.map(|bytes| Raw::from_bytes(&bytes)).map_err(|error| Problem::explain(problem::FIGURE, &error))
    }))
}

extendr_module! {
    mod figure;
    fn figure_pixels;
    fn figure_file;
}
