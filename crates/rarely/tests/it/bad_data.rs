//! Data that cannot be used: said where and what to do, exit code 2, no file.

use std::fmt::Write as _;
use std::fs;

use crate::ihdp_files::ihdp_files;
use crate::program::{Place, assert_snapshot_of, data, talk};

const TINY: &str = "--runs 1 --rounds 20 --algorithms rarely,fixed";

/// A file of the published form, with children made up.
fn children(rows: usize) -> String {
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

/// `text` with one field of one line (both from 1) replaced.
fn with_field(text: &str, line: usize, column: usize, value: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    let mut fields: Vec<&str> = lines[line - 1].split(',').collect();
    fields[column - 1] = value;
    lines[line - 1] = fields.join(",");
    lines.join("\n") + "\n"
}

/// The refusal, and that it leaves no file.
macro_rules! refused {
    ($file:literal, $contents:expr, $command:literal) => {
        let place = Place::new();
        place.write($file, $contents);
        assert_snapshot_of!(place.rarely(&format!("{} {TINY}", $command)));
        let output = place.rarely(&format!("{} {TINY} --out out", $command)).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
        assert_eq!(place.names(""), [$file], "nothing was written");
    };
}

#[test]
fn children_without_fault_are_read() {
    let place = Place::new();
    place.write("ihdp_npci_1.csv", children(747));
    let by_file = data(&place.done(&format!("ihdp --data ihdp_npci_1.csv {TINY} --format csv")));
    assert_eq!(by_file, data(&place.done(&format!("ihdp --data . {TINY} --format csv"))));
    let mut command = place.rarely(&format!("ihdp {TINY} --format csv"));
    let by_variable = command.env("RARELY_IHDP", "ihdp_npci_1.csv").output().expect("it starts");
    assert_eq!(by_file, data(&by_variable));
    let table = data(&place.done(&format!("ihdp --data . {TINY}")));
    assert!(!table.to_lowercase().contains("synthetic"), "{table}");
}

#[test]
fn a_column_is_missing() {
    let text = children(747);
    let line = text.lines().nth(2).expect("a line");
    let cut = text.replacen(line, line.rsplit_once(',').expect("fields").0, 1);
    refused!("ihdp_npci_1.csv", cut, "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_number_is_nan() {
    refused!("ihdp_npci_1.csv", with_field(&children(747), 5, 8, "NaN"), "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_child_is_missing() {
    refused!("ihdp_npci_1.csv", children(746), "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_number_is_a_word() {
    refused!("ihdp_npci_1.csv", with_field(&children(747), 747, 30, "unknown"), "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_treatment_is_neither_0_nor_1() {
    refused!("ihdp_npci_1.csv", with_field(&children(747), 9, 1, "2"), "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_number_is_huge() {
    refused!("ihdp_npci_1.csv", with_field(&children(747), 2, 6, "1e300"), "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_text_is_not_a_table() {
    refused!("ihdp_npci_1.csv", "Dear reader,\nthese are not data.\n", "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_file_is_empty() {
    refused!("ihdp_npci_1.csv", "", "ihdp --data ihdp_npci_1.csv");
}

#[test]
fn a_kind_of_file_is_unknown() {
    refused!("children.xlsx", "PK", "ihdp --data children.xlsx");
}

#[test]
fn a_folder_has_no_children() {
    refused!("notes.txt", "none here", "ihdp --data .");
}

#[test]
fn a_file_is_given_twice() {
    refused!("ihdp_npci_1.csv", children(747), "ihdp --data ihdp_npci_1.csv ./ihdp_npci_1.csv");
}

#[test]
fn an_archive_is_garbage() {
    let garbage: Vec<u8> = (0..2_000_u32).map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    refused!("children.npz", garbage, "ihdp --data children.npz");
}

#[test]
fn reproduce_reads_its_data_before_it_runs_anything() {
    let place = Place::new();
    place.write("ihdp_npci_1.csv", children(746));
    let mut command = place.rarely("reproduce --data ihdp_npci_1.csv --runs 1 --rounds 10");
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(talk(&output).contains("746 rows"), "{}", talk(&output));
    assert_eq!(place.names(""), ["ihdp_npci_1.csv"]);
}

#[test]
fn sweep_reads_its_data_before_it_runs_anything() {
    refused!("ihdp_npci_1.csv", children(3), "sweep --vary penalty=0.1 --data ihdp_npci_1.csv");
}

#[test]
fn a_published_archive_is_read_whole_and_refused_when_it_is_cut() {
    let Some(files) = ihdp_files() else { return };
    let bytes = fs::read(files.join("ihdp_npci_1-100.test.npz")).expect("the archive");
    let place = Place::new();
    place.write("whole.npz", &bytes);
    let table = data(&place.done(&format!("ihdp --data whole.npz {TINY}")));
    assert!(!table.to_lowercase().contains("synthetic"), "{table}");
    for kept in [bytes.len() - 1, bytes.len() / 2, 100, 1] {
        place.write("cut.npz", &bytes[..kept]);
        let output = place.rarely(&format!("ihdp --data cut.npz {TINY} --out out")).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{kept} bytes");
        let said = talk(&output);
        assert!(said.contains("cut.npz") && said.contains("get it again"), "{kept} bytes: {said}");
        assert_eq!(place.names(""), ["cut.npz", "whole.npz"]);
    }
}

#[test]
fn a_published_csv_is_read() {
    let Some(files) = ihdp_files() else { return };
    let place = Place::new();
    fs::copy(files.join("ihdp_npci_3.csv"), place.path("ihdp_npci_3.csv")).expect("a copy");
    let table = data(&place.done(&format!("ihdp --data ihdp_npci_3.csv {TINY}")));
    assert!(table.contains("IHDP") && !table.to_lowercase().contains("synthetic"), "{table}");
}

const PEOPLE: &str = "age,outcome:call,outcome:letter\n0.1,0.9,0.2\n0.5,0.4,0.6\n";

#[test]
fn a_table_has_no_outcomes() {
    refused!("people.csv", "age,income\n41,2.3\n", "simulate --table people.csv");
}

#[test]
fn a_table_has_one_outcome() {
    refused!("people.csv", "age,outcome:call\n41,2.3\n", "simulate --table people.csv");
}

#[test]
fn a_table_has_no_people() {
    refused!("people.csv", "age,outcome:call,outcome:letter\n", "simulate --table people.csv");
}

#[test]
fn a_table_has_a_gap() {
    refused!("people.csv", with_field(PEOPLE, 3, 2, ""), "simulate --table people.csv");
}

#[test]
fn a_table_has_fewer_people_than_rounds() {
    refused!("people.csv", PEOPLE, "simulate --table people.csv");
}

#[test]
fn a_table_goes_with_no_environment() {
    refused!("people.csv", PEOPLE, "simulate --table people.csv --environment linear");
}
