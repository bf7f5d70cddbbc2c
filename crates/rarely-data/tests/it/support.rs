//! Where the published data are, files for a test, and a least-squares fit that is not the core's.

use std::fs;
use std::path::{Path, PathBuf};

use rarely_data::{Counterfactuals, DataError};
use tempfile::TempDir;

/// The folder of the published IHDP files: `$RARELY_DATA/ihdp`, or `../shared/data/ihdp` beside the workspace. Where there is
/// none, this says so, and the tests check what they can without.
pub(crate) fn published() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folders = std::env::var_os("RARELY_DATA").map(PathBuf::from).into_iter().chain([beside]);
    let found = folders.map(|folder| folder.join("ihdp")).find(|folder| folder.is_dir());
    if found.is_none() {
        println!("neither $RARELY_DATA nor ../shared/data has a folder ihdp: checked without the published data");
    }
    found
}

/// A folder with a file in it.
pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, content).expect("a file");
    (folder, path)
}

/// The message of an error, with the temporary folder's name left out.
pub(crate) fn message<T>(result: Result<T, DataError>, folder: &TempDir) -> String {
    let Err(error) = result else { panic!("an error was expected") };
    error.to_string().replace(&format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR), "")
}

/// Coefficients and the largest absolute residual of the least-squares fit of `target` by an intercept and the contexts, by
/// modified Gram–Schmidt.
pub(crate) fn fit(people: &Counterfactuals, target: &[f64]) -> (Vec<f64>, f64) {
    let people = people.clone().with_intercept();
    let (count, dimension) = (people.people(), people.dimension());
    let mut columns: Vec<Vec<f64>> = (0..dimension)
        .map(|column| (0..count).map(|person| people.context(person)[column]).collect())
        .chain([target.to_vec()])
        .collect();
    let dot = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
    let mut triangle = vec![vec![0.0; dimension + 1]; dimension];
    for column in 0..dimension {
        let (done, rest) = columns.split_at_mut(column + 1);
        let axis = &done[column];
        let length_squared = dot(axis, axis);
        assert!(length_squared > 1e-9, "column {column} depends on those before it");
        triangle[column][column] = 1.0;
        for (offset, other) in rest.iter_mut().enumerate() {
            let share = dot(axis, other) / length_squared;
            triangle[column][column + 1 + offset] = share;
            other.iter_mut().zip(axis).for_each(|(value, along)| *value -= share * along);
        }
    }
    let mut coefficients = vec![0.0; dimension];
    for row in (0..dimension).rev() {
        let known = (row + 1..dimension).map(|column| triangle[row][column] * coefficients[column]).sum::<f64>();
        coefficients[row] = triangle[row][dimension] - known;
    }
    let largest = columns[dimension].iter().fold(0.0_f64, |largest, residual| largest.max(residual.abs()));
    (coefficients, largest)
}

/// One arm's means.
pub(crate) fn means(people: &Counterfactuals, arm: usize) -> Vec<f64> {
    (0..people.people()).map(|person| people.means_of(person)[arm]).collect()
}

/// Average regret of giving everybody an arm.
pub(crate) fn regret_of_arm(people: &Counterfactuals, arm: usize) -> f64 {
    average(people, |means| means[0].max(means[1]) - means[arm])
}

/// Average over people of a function of their means.
pub(crate) fn average(people: &Counterfactuals, of: impl Fn(&[f64]) -> f64) -> f64 {
    let sum: f64 = (0..people.people()).map(|person| of(people.means_of(person))).sum();
    sum / people.people() as f64
}
