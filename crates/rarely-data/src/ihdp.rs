//! The Infant Health and Development Program, with the simulated outcomes of `[hill-2011]`: 747 children, 25 covariates, no
//! treatment (arm 0) or treatment (arm 1).
//!
//! [`realisation`] draws any of the 1,000 published realisations from covariates that are part of the program.
//! [`read`] reads files in two public forms. *CSV*, a file for each realisation: no header, 747 rows of
//! `treatment, y_factual, y_cfactual, mu0, mu1, x1 … x25`. *npz*, all realisations in an archive of the arrays
//! `x` (people × 25 × realisations) and `t, yf, ycf, mu0, mu1` (people × realisations), usually split into
//! `….train.npz` and `….test.npz`. x1–x6 are continuous and standardised, x7–x25 binary (x14 is coded 1 and 2).

mod archive;
mod covariates;
mod csv;
mod normal_quantile;
mod r_random;
mod realisation;

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Counterfactuals, DataError};

pub use realisation::realisation;

/// Children in a realisation.
pub const CHILDREN: usize = 747;
/// Covariates of a child.
pub const COVARIATES: usize = 25;
/// Published realisations, numbered from 1. The first 100 are the set that the paper names.
pub const REALISATIONS: u32 = 1_000;

/// The first realisations, in order.
///
/// # Errors
/// [`DataError::NoRealisation`] if there are not so many.
pub fn realisations(count: u32) -> Result<Vec<Counterfactuals>, DataError> {
    (1..=count).map(realisation).collect()
}

/// Which of the 747 children were treated in the study: 139, the same in every realisation.
pub fn treated() -> &'static [bool] {
    &covariates::Covariates::embedded().treated
}

/// Names of the covariates, `x1` to `x25`: the published files have no header.
pub(crate) fn covariate_names() -> Vec<String> {
    (1..=COVARIATES).map(|number| format!("x{number}")).collect()
}

/// Reads realisations from directories, CSV files and npz archives, in the order given.
///
/// Of a directory all files `ihdp_npci_<number>.csv` are read in the order of their numbers or, if there are none, its `.npz`
/// archives in the order of their names. A `.train.npz` and a `.test.npz` of otherwise equal names are joined, the training
/// split's people first; one alone is read as it is, and the label says which split it is.
///
/// # Errors
/// A [`DataError`] that names the file, the place in it and the remedy. Nothing is skipped or repaired.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Counterfactuals>, DataError> {
    if paths.is_empty() {
        return Err(DataError::NoPath);
    }
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(of_folder(path)?);
        } else if path.exists() {
            files.push(path.clone());
        } else {
            return Err(DataError::NotThere { path: path.clone() });
        }
    }
    refuse_repeated(&files)?;
    let mut realisations = Vec::new();
    for source in archive::paired(&files)? {
        match source {
            archive::RealisationSource::CommaSeparated(file) => realisations.push(csv::read(file)?),
            archive::RealisationSource::Archive(file) => realisations.extend(archive::read(file)?),
            archive::RealisationSource::Splits { train, test } => {
                realisations.extend(archive::read_splits(train, test)?);
            }
        }
    }
    Ok(realisations)
}

/// The files of a directory that belong to the set, in order.
fn of_folder(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let cannot = |source| DataError::Io { file: folder.to_owned(), source };
    let (mut numbered, mut archives) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if let Some(number) = name.strip_prefix("ihdp_npci_").and_then(|rest| rest.strip_suffix(".csv")) {
            let digits = number.bytes().all(|byte| byte.is_ascii_digit());
            match number.parse::<u64>() {
                Ok(number) if digits => numbered.push((number, path)),
                _ => return Err(DataError::NotNumbered { file: path }),
            }
        } else if extension(&path) == "npz" {
            archives.push(path);
        }
    }
    numbered.sort();
    archives.sort();
    match (numbered.is_empty(), archives.is_empty()) {
        (false, _) => Ok(numbered.into_iter().map(|(_, path)| path).collect()),
        (true, false) => Ok(archives),
        (true, true) => Err(DataError::NothingFound { folder: folder.to_owned() }),
    }
}

fn refuse_repeated(files: &[PathBuf]) -> Result<(), DataError> {
    let mut seen = std::collections::HashSet::new();
    for file in files {
        let real = fs::canonicalize(file).map_err(|source| DataError::Io { file: file.clone(), source })?;
        if !seen.insert(real) {
            return Err(DataError::GivenTwice { file: file.clone() });
        }
    }
    Ok(())
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_ascii_lowercase()
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// A child's outcomes, arm 0 first, from its treatment, its observed outcome and the other one.
fn by_arm(treated: bool, factual: f64, counterfactual: f64) -> [f64; 2] {
    if treated { [counterfactual, factual] } else { [factual, counterfactual] }
}
