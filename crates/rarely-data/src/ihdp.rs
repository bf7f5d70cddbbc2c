//! The Infant Health and Development Program, with the simulated outcomes of `[hill-2011]`: 747 children, 25 covariates, no
//! treatment (arm 0) or treatment (arm 1).
//!
//! Two public forms are read. *CSV*, a file for each realisation: no header, 747 rows of
//! `treatment, y_factual, y_cfactual, mu0, mu1, x1 … x25`. *npz*, all realisations in an archive of the arrays
//! `x` (people × 25 × realisations) and `t, yf, ycf, mu0, mu1` (people × realisations), usually split into
//! `….train.npz` and `….test.npz`. x1–x6 are continuous and standardised, x7–x25 binary (x14 is coded 1 and 2).

mod archive;
mod realisation;
mod synthetic;

use std::fs;
use std::path::{Path, PathBuf};

use rarely_error::{Action, Remedy};

use crate::{Counterfactuals, DataError};

pub use synthetic::{LARGEST_EXPECTED_OUTCOME, synthetic, treated};

/// Children in a realisation.
pub const CHILDREN: usize = 747;
/// Covariates of a child.
pub const COVARIATES: usize = 25;

/// Where the data come from and how to get them.
pub const HOW_TO_GET: &str = "\
The IHDP data are public but not part of this program. Two forms are read:
- CSV: clone the repository CEVAE of AMLab-Amsterdam on GitHub; its directory datasets/IHDP/csv has ihdp_npci_1.csv to
  ihdp_npci_10.csv, ten realisations of 747 children.
- npz: the authors of counterfactual regression (CFR: Shalit, Johansson and Sontag) offer ihdp_npci_1-100.train.npz and
  ihdp_npci_1-100.test.npz, and the same with 1-1000; Fredrik Johansson's home page links to them.
Put the files into a directory, unchanged, and give its path.";

/// How to get the data, or to do without them.
pub(crate) fn how_to_get() -> Remedy {
    let text = format!(
        "get the IHDP data, or {{action}}\n{HOW_TO_GET}\nSynthetic children have similar marginals and the same response surface; \
         results are labelled synthetic and are not those of the study."
    );
    Remedy::with(text, Action::DrawSyntheticChildren)
}

/// Names of the covariates, `x1` to `x25`: the published files have no header, and the synthetic set is interchangeable with them.
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
            archive::RealisationSource::CommaSeparated(file) => realisations.push(realisation::read(file)?),
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
