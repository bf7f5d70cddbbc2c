//! Writing figures, pages and tables into a folder of results.

use rarely_lab::{Folder, FolderError};

use crate::figure::Figure;
use crate::png::FigureError;

/// How much larger than the drawing a bitmap is, so that it is sharp in print.
const BITMAP_SCALE: f32 = 2.0;

/// Why the files of a result could not be written.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// A file could not be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A figure could not be made into a bitmap.
    #[error("could not draw a figure")]
    Figure(#[from] FigureError),
    /// A value makes no JSON.
    #[error("could not write a result as JSON")]
    Json(#[from] serde_json::Error),
    /// A table makes no Parquet file: a fault of this library.
    #[error("could not write a table as Parquet: {0}")]
    Parquet(String),
}

impl Figure {
    /// Writes it as SVG and PNG; `name` has no ending and may have folders.
    ///
    /// # Errors
    /// [`FilesError`] if it cannot be drawn or written.
    pub fn write(&self, folder: &Folder, name: &str) -> Result<(), FilesError> {
        folder.write(&format!("{name}.svg"), self.svg())?;
        Ok(folder.write(&format!("{name}.png"), self.png(BITMAP_SCALE)?)?)
    }
}
