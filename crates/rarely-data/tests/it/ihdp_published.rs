//! Facts about the published files that were found without this crate.

use rarely_data::{Counterfactuals, ihdp};

use crate::ihdp_files::ihdp_files;

fn realisations() -> Option<Vec<Counterfactuals>> {
    ihdp_files().map(|folder| ihdp::read(&[folder]).expect("the published files"))
}

#[test]
fn the_folder_is_read_in_the_order_of_its_numbers() {
    let Some(realisations) = realisations() else { return };
    let labels: Vec<&str> = realisations.iter().map(|realisation| realisation.label.as_str()).collect();
    let expected: Vec<String> = (1..=10).map(|number| format!("ihdp_npci_{number}.csv")).collect();
    assert_eq!(labels, expected);
    for realisation in &realisations {
        realisation.validate().expect("valid");
        assert_eq!((realisation.people(), realisation.dimension(), realisation.arms), (747, 25, 2));
        assert_eq!((realisation.columns[0].as_str(), realisation.columns[24].as_str()), ("x1", "x25"));
    }
}

/// The first line of realisation 1: treatment 1, y_factual, y_cfactual, mu0, mu1, x1.
#[test]
fn the_first_child_of_the_first_realisation() {
    let Some(realisations) = realisations() else { return };
    let text = std::fs::read_to_string(ihdp_files().expect("found before").join("ihdp_npci_1.csv")).expect("the file");
    for (child, line) in text.lines().enumerate() {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().expect("a number")).collect();
        let outcomes = if fields[0] == 1.0 { [fields[2], fields[1]] } else { [fields[1], fields[2]] };
        assert_eq!(realisations[0].outcomes_of(child), outcomes);
        assert_eq!(realisations[0].means_of(child), &fields[3..5]);
        assert_eq!(realisations[0].context(child), &fields[5..30]);
    }
}

/// The archive's test split holds 75 of the children that the CSV file of the same number has.
#[test]
fn the_archive_and_the_csv_files_agree() {
    let Some(folder) = ihdp_files() else { return };
    let archive = ihdp::read(&[folder.join("ihdp_npci_1-100.test.npz")]).expect("the archive");
    assert_eq!(archive.len(), 100);
    assert_eq!(archive[2].label, "ihdp_npci_1-100.test.npz, realisation 3 (test split only)");
    let realisations = realisations().expect("found before");
    for (split, whole) in archive.iter().zip(&realisations) {
        split.validate().expect("valid");
        assert_eq!((split.people(), split.dimension()), (75, 25));
        for child in 0..split.people() {
            let close = |one: &[f64], other: &[f64]| one.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-9);
            let same = (0..whole.people()).find(|&other| close(split.outcomes_of(child), whole.outcomes_of(other)));
            let same = same.unwrap_or_else(|| panic!("{}: child {child} is not in {}", split.label, whole.label));
            assert!(close(split.means_of(child), whole.means_of(same)));
            assert!(close(split.context(child), whole.context(same)));
        }
    }
}
