//! CSV files of IHDP: what is accepted, and what each mistake is called.

use std::fs;
use std::path::PathBuf;

use rarely_data::ihdp;

use crate::support::{file, message};

/// A line of a well-formed file: treatment, four numbers, and 25 covariates that say which child it is.
fn line(child: usize) -> Vec<String> {
    let covariates = (1..=25).map(|covariate| format!("{child}.{covariate}"));
    [usize::from(child.is_multiple_of(5)).to_string(), "1.5".into(), "2.5".into(), "3.5".into(), "4.5e0".into()]
        .into_iter()
        .chain(covariates)
        .collect()
}

fn well_formed() -> Vec<Vec<String>> {
    (0..747).map(line).collect()
}

fn text(rows: &[Vec<String>], end: &str) -> String {
    rows.iter().map(|row| row.join(",") + end).collect()
}

const REMEDY: &str =
    "an IHDP file has no header and 30 numbers in every row, separated by commas: get the original again";

fn check(change: impl FnOnce(&mut Vec<Vec<String>>), expected: &str) {
    let mut rows = well_formed();
    change(&mut rows);
    for end in ["\n", "\r\n", "\n\n"] {
        let (folder, path) = file("ihdp_npci_1.csv", text(&rows, end));
        let expected = if end == "\n\n" { doubled_line(expected) } else { expected.to_owned() };
        assert_eq!(message(ihdp::read(&[path]), &folder), expected);
    }
}

/// The message where every line is followed by an empty one.
fn doubled_line(message: &str) -> String {
    let Some((before, rest)) = message.split_once("line ") else { return message.to_owned() };
    let (number, after) = rest.split_once(',').expect("a line number");
    let number: usize = number.parse().expect("a line number");
    format!("{before}line {},{after}", 2 * number - 1)
}

#[test]
fn factual_and_counterfactual_go_to_their_arms() {
    let (_folder, path) = file("ihdp_npci_1.csv", text(&well_formed(), "\n"));
    let children = ihdp::read(std::slice::from_ref(&path)).expect("a well-formed file").remove(0);
    children.validate().expect("valid");
    assert_eq!(children.label, "ihdp_npci_1.csv");
    assert_eq!(children.outcomes_of(0), [2.5, 1.5]);
    assert_eq!(children.outcomes_of(1), [1.5, 2.5]);
    assert_eq!(children.means_of(0), [3.5, 4.5]);
    assert_eq!(children.context(12)[24], 12.25);
    let windows = format!("\u{feff}{}", text(&well_formed(), "\r\n").trim_end());
    fs::write(&path, windows).expect("a file");
    assert_eq!(ihdp::read(&[path]).expect("a byte order mark, CRLF and no last line end")[0], children);
}

#[test]
fn every_mistake_in_a_file_is_located() {
    let count = |found: usize| {
        format!(
            "ihdp_npci_1.csv: {found} rows, but a realisation has 747 children\nhelp: the file is damaged, incomplete or changed: get the original again"
        )
    };
    check(|rows| rows.truncate(746), &count(746));
    check(|rows| rows.push(line(1)), &count(748));
    check(Vec::clear, &count(0));
    check(
        |rows| rows[4].truncate(29),
        &format!(
            "ihdp_npci_1.csv, line 5, column 30 (x25): this column is missing: the row has 29 of 30 columns\nhelp: {REMEDY}"
        ),
    );
    check(
        |rows| rows[4].push("1".into()),
        &format!(
            "ihdp_npci_1.csv, line 5, column 31 (no name): this column is one too many: the row has 31 columns where 30 are expected\nhelp: {REMEDY}"
        ),
    );
    for (written, shown) in
        [("NaN", "\"NaN\""), ("", "\"\""), ("oops", "\"oops\""), ("inf", "\"inf\""), ("1e999", "\"1e999\"")]
    {
        check(
            |rows| rows[746][5] = written.into(),
            &format!(
                "ihdp_npci_1.csv, line 747, column 6 (x1): found {shown}, which is not a finite number\nhelp: {REMEDY}"
            ),
        );
    }
    check(
        |rows| rows[0] = (0..30).map(|column| format!("name{column}")).collect(),
        &format!(
            "ihdp_npci_1.csv, line 1, column 1 (treatment): found \"name0\", which is not a finite number\nhelp: {REMEDY}"
        ),
    );
    check(
        |rows| rows[2][0] = "2".into(),
        "ihdp_npci_1.csv, line 3, column 1 (treatment): found 2, but a treatment is 0 or 1\nhelp: check that the columns are in their original order",
    );
    check(
        |rows| rows[2][4] = "-2e12".into(),
        "ihdp_npci_1.csv, line 3, column 5 (mu1): found −2×10¹², beyond the limit of 10¹²\nhelp: express the column in a larger unit, or correct the value",
    );
    check(
        |rows| rows[2][9] = "2e9".into(),
        "ihdp_npci_1.csv, line 3, column 10 (x5): found 2×10⁹, beyond the limit of 10⁹\nhelp: express the column in a larger unit, or correct the value",
    );
}

#[test]
fn a_long_field_is_shortened_and_bytes_that_are_no_text_are_shown() {
    let mut rows = well_formed();
    rows[0][1] = "x".repeat(1000);
    let (folder, path) = file("ihdp_npci_1.csv", text(&rows, "\n"));
    let shown = format!("found \"{}\"…, which", "x".repeat(40));
    assert!(message(ihdp::read(&[path]), &folder).contains(&shown));
    let (folder, path) = file("ihdp_npci_1.csv", [0, 0xff, b',', b'1', b'\n']);
    let found = message(ihdp::read(&[path]), &folder);
    assert!(found.starts_with("ihdp_npci_1.csv, line 1, column 3 (y_cfactual): this column is missing"), "{found}");
}

#[test]
fn a_folder_is_read_in_the_order_of_its_numbers_and_only_its_csv_files() {
    let folder = tempfile::tempdir().expect("a folder");
    for number in [10, 2, 1] {
        let mut rows = well_formed();
        rows[0][3] = number.to_string();
        fs::write(folder.path().join(format!("ihdp_npci_{number}.csv")), text(&rows, "\n")).expect("a file");
    }
    fs::write(folder.path().join("README.md"), "not data").expect("a file");
    fs::write(folder.path().join("ihdp_npci_1-100.test.npz"), "not read").expect("a file");
    let read = ihdp::read(&[folder.path().to_owned()]).expect("a folder of realisations");
    let first: Vec<f64> = read.iter().map(|realisation| realisation.means[0]).collect();
    assert_eq!(first, [1.0, 2.0, 10.0]);

    let twice = [folder.path().to_owned(), folder.path().join("ihdp_npci_2.csv")];
    assert_eq!(
        message(ihdp::read(&twice), &folder),
        "ihdp_npci_2.csv: the file is given twice, and its realisations would count twice\nhelp: name the file once"
    );
    fs::write(folder.path().join("ihdp_npci_2 (copy).csv"), "").expect("a file");
    assert_eq!(
        message(ihdp::read(&[folder.path().to_owned()]), &folder),
        "ihdp_npci_2 (copy).csv: its name should be ihdp_npci_ with a number and .csv, so that realisations can be put in order\nhelp: rename the file, move it away, or give the files one by one"
    );
}

#[test]
fn paths_without_data_are_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |paths: &[PathBuf], expected: &str| {
        let expected = format!("{expected}, or use the embedded realisations");
        assert_eq!(message(ihdp::read(paths), &folder), expected);
    };
    check(&[], "no path to the IHDP data was given\nhelp: name files or directories");
    check(&[folder.path().join("nowhere")], "nowhere: no such file or directory\nhelp: check the path");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("a folder");
    check(
        &[empty],
        "empty: the directory holds neither ihdp_npci_1.csv, ihdp_npci_2.csv, … nor an .npz file\n\
         help: name a directory that holds some of them",
    );
    let other = folder.path().join("children.parquet");
    fs::write(&other, "").expect("a file");
    assert_eq!(
        message(ihdp::read(&[other]), &folder),
        "children.parquet: the name ends in neither .csv nor .npz\nhelp: give the IHDP data as CSV files or NumPy archives"
    );
    let directory = folder.path().join("ihdp_npci_1.csv");
    fs::create_dir(&directory).expect("a folder");
    let outer: PathBuf = folder.path().to_owned();
    let found = message(ihdp::read(&[outer]), &folder);
    assert_eq!(found, "ihdp_npci_1.csv: cannot be read\nhelp: check the path, and that you have permission to read it");
}
