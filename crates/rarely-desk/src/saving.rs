//! Files that are kept: the document, the report and the statistics.

use std::fs;
use std::path::{Path, PathBuf};

use rarely_output::{OutputDirectory, OutputError};

use crate::document::DOCUMENT_NAME;
use crate::problem::Problem;
use crate::reviewing::{FinishedReview, REPORT_FOLDER};

/// The statistics that `rarely review --state` continues from.
pub(crate) const STATE_NAME: &str = "state.json";

/// Writes everything into a folder that has none of it yet, and returns the files.
pub(crate) fn save(folder: &Path, review: &FinishedReview, report: &Path) -> Result<Vec<PathBuf>, Problem> {
    let names = [DOCUMENT_NAME, REPORT_FOLDER, STATE_NAME];
    if let Some(there) = names.iter().map(|name| folder.join(name)).find(|path| path.exists()) {
        let what = format!("{} exists already, and its contents would be lost", there.display());
        return Err(Problem::new(what, "name another folder; a new one is created"));
    }
    let written = || -> Result<(), OutputError> {
        let directory = OutputDirectory::create(folder)?;
        directory.write(DOCUMENT_NAME, &review.text)?;
        copy(&directory, report, REPORT_FOLDER)?;
        directory.write(STATE_NAME, &review.state)
    };
    written().map_err(|error| Problem::of(&error))?;
    Ok([DOCUMENT_NAME, &format!("{REPORT_FOLDER}/review.html"), STATE_NAME]
        .iter()
        .map(|name| folder.join(name))
        .collect())
}

/// Copies the files of a folder, and of those in it.
fn copy(directory: &OutputDirectory, from: &Path, name: &str) -> Result<(), OutputError> {
    for entry in fs::read_dir(from).map_err(OutputError::access("read", from))? {
        let path = entry.map_err(OutputError::access("read", from))?.path();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}/{file}");
        if path.is_dir() {
            copy(directory, &path, &name)?;
        } else {
            directory.write(&name, fs::read(&path).map_err(OutputError::access("read", &path))?)?;
        }
    }
    Ok(())
}
