//! `rarely ihdp`: answers, and data that cannot be used (where and what to do, exit code 2, no file).

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::ihdp_files::ihdp_files;
use crate::program::{Place, TINY, assert_data_refused, assert_snapshot_of, data, talk, with_field, without_command};
use crate::simulate::check_rows;

#[test]
fn without_any_data() {
    let place = Place::new();
    let arguments = "ihdp --runs 2 --rounds 60 --algorithms rarely,rs-greedy,linucb,fixed";
    assert_snapshot_of!(place.rarely(arguments));
    let output = place.done(&format!("{arguments} --format json"));
    let answers: Vec<Value> = serde_json::from_str(&data(&output)).expect("JSON");
    assert_eq!(answers.len(), 2, "without and with an intercept");
    for (answer, dimension) in answers.iter().zip([25, 26]) {
        let tables = answer["settings"]["environment"]["tables"].as_array().expect("tables");
        assert_eq!((tables.len(), &tables[99]), (100, &"IHDP, realisation 100".into()));
        assert_eq!(answer["settings"]["environment"]["dimension"], dimension);
        check_rows(&answer["algorithms"], &["rarely", "rs-greedy", "linucb", "fixed"]);
    }
}

/// CSV is one table: a header, and under it rows of as many fields, that can be told apart.
#[test]
fn as_csv_is_one_table() {
    let arguments = "ihdp --runs 1 --rounds 30 --algorithms rarely,fixed --format csv";
    let text = data(&Place::new().done(arguments));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 2, "a header, and two algorithms without and with an intercept:\n{text}");
    let text = without_command(&text);
    let lines: Vec<&str> = text.lines().collect();
    let fields = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == fields), "{text}");
    assert!(lines[1..].iter().all(|line| !line.starts_with("algorithm,")), "{text}");
}

#[test]
fn with_and_without_an_intercept_only() {
    let place = Place::new();
    for (choice, said, not_said) in
        [("yes", "with an intercept", "without an "), ("no", "without an intercept", "with an ")]
    {
        let arguments = format!("ihdp --runs 1 --rounds 30 --algorithms fixed --intercept {choice}");
        let text = data(&place.done(&arguments));
        assert!(text.contains(said) && !text.contains(not_said), "{text}");
    }
}

/// The environment variable is a default, which an option overrules.
#[test]
fn a_number_of_realisations_overrules_the_environment_variable() {
    let place = Place::new();
    let run = |arguments: &str| {
        let mut command = place.rarely(arguments);
        command.env("RARELY_IHDP", "somewhere").output().expect("it starts")
    };
    let output = run("ihdp --realisations 3 --runs 1 --rounds 30 --algorithms fixed --format json");
    assert!(output.status.success(), "{}", talk(&output));
    assert!(data(&output).contains("IHDP, realisation 3") && !data(&output).contains("IHDP, realisation 4"));
    let output = run("ihdp --runs 1 --rounds 30 --algorithms fixed");
    assert_eq!(output.status.code(), Some(2));
    assert!(talk(&output).contains("somewhere: no such file or directory"), "{}", talk(&output));
}

/// What is embedded and what is published are the same children: the files have 15 digits of each number.
#[test]
fn embedded_realisations_give_what_the_published_files_give() {
    let Some(files) = ihdp_files() else { return };
    let place = Place::new();
    fs::copy(files.join("ihdp_npci_1.csv"), place.path("ihdp_npci_1.csv")).expect("a copy");
    // Without what made the file, which differs: the last columns.
    let made_by = concat!(",", env!("CARGO_PKG_VERSION"), ",");
    let table = |which: &str| {
        let command = format!("ihdp {which} --runs 4 --algorithms greedy,linucb,fixed,random --format csv");
        let numbers = |line: &str| line.split(made_by).next().unwrap_or_default().to_owned();
        data(&place.done(&command)).lines().map(numbers).collect::<Vec<_>>().join("\n")
    };
    let (embedded, published) = (table("--realisations 1"), table("--data ihdp_npci_1.csv"));
    assert_eq!(embedded.lines().count(), published.lines().count());
    for (one, other) in embedded.split([',', '\n']).zip(published.split([',', '\n'])) {
        match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(one), Ok(other)) => assert!((one - other).abs() <= 1e-9 * other.abs().max(1.0), "{one} {other}"),
            _ => assert_eq!(one, other),
        }
    }
}

/// A file of the published form, with children made up.
pub(crate) fn children(rows: usize) -> String {
    let mut text = String::new();
    for row in 0..rows {
        let treated = row % 2;
        let wave = |at: usize| ((row * (at + 3)) % 17) as f64 / 17.0;
        let _ = write!(text, "{treated},{},{},{},{}", wave(1), wave(2), wave(3), wave(4));
        (0..25).for_each(|covariate| {
            let _ = write!(text, ",{}", wave(5 + covariate));
        });
        text.push('\n');
    }
    text
}

#[test]
fn children_without_fault_are_read() {
    let place = Place::new();
    place.write("ihdp_npci_1.csv", children(747));
    let by_file = data(&place.done(&format!("ihdp --data ihdp_npci_1.csv {TINY} --format csv")));
    let by_file = without_command(&by_file);
    assert_eq!(by_file, without_command(&data(&place.done(&format!("ihdp --data . {TINY} --format csv")))));
    let mut command = place.rarely(&format!("ihdp {TINY} --format csv"));
    let by_variable = command.env("RARELY_IHDP", "ihdp_npci_1.csv").output().expect("it starts");
    assert_eq!(by_file, without_command(&data(&by_variable)));
}

#[test]
fn a_column_is_missing() {
    let text = children(747);
    let line = text.lines().nth(2).expect("a line");
    let cut = text.replacen(line, line.rsplit_once(',').expect("fields").0, 1);
    assert_data_refused!("ihdp_npci_1.csv", cut, "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_number_is_nan() {
    assert_data_refused!("ihdp_npci_1.csv", with_field(&children(747), 5, 8, "NaN"), "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_child_is_missing() {
    assert_data_refused!("ihdp_npci_1.csv", children(746), "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_number_is_a_word() {
    assert_data_refused!(
        "ihdp_npci_1.csv",
        with_field(&children(747), 747, 30, "unknown"),
        "ihdp --data ihdp_npci_1.csv"
    );
}

#[test]
fn a_treatment_is_neither_0_nor_1() {
    assert_data_refused!("ihdp_npci_1.csv", with_field(&children(747), 9, 1, "2"), "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_number_is_huge() {
    assert_data_refused!("ihdp_npci_1.csv", with_field(&children(747), 2, 6, "1e300"), "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_text_is_not_a_table() {
    assert_data_refused!("ihdp_npci_1.csv", "Dear reader,\nthese are not data.\n", "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_file_is_empty() {
    assert_data_refused!("ihdp_npci_1.csv", "", "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_kind_of_file_is_unknown() {
    assert_data_refused!("children.xlsx", "PK", "ihdp --data children.xlsx");
}

#[test]
fn a_directory_has_no_children() {
    assert_data_refused!("notes.txt", "none here", "ihdp --data .");
}

#[test]
fn a_file_is_given_twice() {
    assert_data_refused!("ihdp_npci_1.csv", children(747), "ihdp --data ihdp_npci_1.csv ./ihdp_npci_1.csv");
}

#[test]
fn an_archive_is_garbage() {
    let garbage: Vec<u8> = (0..2_000_u32).map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    assert_data_refused!("children.npz", garbage, "ihdp --data children.npz");
}

#[test]
fn a_published_archive_is_read_whole_and_refused_when_it_is_cut() {
    let Some(files) = ihdp_files() else { return };
    let bytes = fs::read(files.join("ihdp_npci_1-100.test.npz")).expect("the archive");
    let place = Place::new();
    place.write("whole.npz", &bytes);
    let text = data(&place.done(&format!("ihdp --data whole.npz {TINY} --format json")));
    assert!(text.contains("whole.npz, realisation 100"), "{text}");
    for kept in [bytes.len() - 1, bytes.len() / 2, 100, 1] {
        place.write("cut.npz", &bytes[..kept]);
        let output = place.rarely(&format!("ihdp --data cut.npz {TINY} --out out")).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{kept} bytes");
        let said = talk(&output);
        assert!(said.contains("cut.npz") && said.contains("get the original again"), "{kept} bytes: {said}");
        assert_eq!(place.names(""), ["cut.npz", "whole.npz"]);
    }
}

#[test]
fn a_published_csv_is_read() {
    let Some(files) = ihdp_files() else { return };
    let place = Place::new();
    fs::copy(files.join("ihdp_npci_3.csv"), place.path("ihdp_npci_3.csv")).expect("a copy");
    let text = data(&place.done(&format!("ihdp --data ihdp_npci_3.csv {TINY} --format json")));
    assert!(text.contains("ihdp_npci_3.csv"), "{text}");
}
