//! What is in the directory that --out names, and that nothing depends on the number of threads.

use std::collections::BTreeMap;
use std::fs::File;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Row, RowAccessor as _};
use serde_json::Value;

use crate::program::{Place, assert_same_files, data, talk};
use crate::simulate::SMALL as SIMULATE_SMALL;

const SIMULATE: &str =
    "simulate --runs 4 --rounds 300 --algorithms rarely,rs-greedy,boundary-conservative,rs-linucb,linucb,fixed";
const OF_SIMULATE: [&str; 14] = [
    "changes.parquet",
    "comparisons.csv",
    "comparisons.md",
    "comparisons.tex",
    "figure.pdf",
    "figure.png",
    "figure.svg",
    "run.json",
    "runs.parquet",
    "summary.csv",
    "summary.md",
    "summary.tex",
    "traces.dat",
    "traces.parquet",
];

/// Runs a command with one and with three threads, and returns the files, which are the same, byte by byte.
fn with_any_threads(place: &Place, command: &str) -> BTreeMap<String, Vec<u8>> {
    let _ = place.done(&format!("{command} --threads 1 --out one"));
    let _ = place.done(&format!("{command} --threads 3 --out some/where/three"));
    let files = place.files("one");
    assert_same_files(&files, &place.files("some/where/three"));
    files
}

fn names(files: &BTreeMap<String, Vec<u8>>) -> Vec<&str> {
    files.keys().map(String::as_str).collect()
}

/// The files are an SVG and a PNG.
fn assert_figure(files: &BTreeMap<String, Vec<u8>>, name: &str) {
    let svg = std::str::from_utf8(&files[&format!("{name}.svg")]).expect("text");
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{name}.svg");
    assert!(files[&format!("{name}.png")].starts_with(b"\x89PNG\r\n\x1a\n"), "{name}.png");
}

/// A CSV file without quoted fields, as a map from header to field for each row.
fn table(text: &[u8]) -> Vec<BTreeMap<String, String>> {
    let text = std::str::from_utf8(text).expect("text");
    let mut lines = text.lines().map(|line| line.split(','));
    let header: Vec<&str> = lines.next().expect("a header").collect();
    lines
        .map(|fields| header.iter().map(|name| (*name).to_owned()).zip(fields.map(ToOwned::to_owned)).collect())
        .collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

fn rows(place: &Place, name: &str) -> (Vec<String>, Vec<Row>) {
    let file = SerializedFileReader::new(File::open(place.path(name)).expect("a file")).expect("Parquet");
    let schema = file.metadata().file_metadata().schema();
    let columns = schema.get_fields().iter().map(|field| field.name().to_owned()).collect();
    let rows = file.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
    (columns, rows)
}

#[test]
fn simulate_writes_its_files_and_the_same_bytes_for_any_number_of_threads() {
    let place = Place::new();
    let files = with_any_threads(&place, SIMULATE);
    assert_eq!(names(&files), OF_SIMULATE);
    assert_figure(&files, "figure");
    let settings: Value = serde_json::from_slice(&files["run.json"]).expect("JSON");
    assert_eq!((&settings["seed"], &settings["runs"], &settings["rounds"]), (&1.into(), &4.into(), &300.into()));
    assert_eq!(settings["version"], env!("CARGO_PKG_VERSION"));
    let command = settings["command"].as_str().expect("a command");
    assert!(command.starts_with("rarely simulate --") && command.contains("--runs=4"), "{command}");
    assert!(!command.contains("--out") && !command.contains("--threads"), "{command}");
    let printed = data(&place.done(&format!("{SIMULATE} --format csv")));
    assert_eq!(printed.as_bytes(), files["summary.csv"], "the file is what --format csv prints");
}

#[test]
fn traces_end_where_the_summary_is() {
    let place = Place::new();
    let _ = place.done(&format!("{SIMULATE} --out out"));
    let summary = table(&place.files("out")["summary.csv"]);
    let (columns, rows) = rows(&place, "out/traces.parquet");
    assert_eq!(columns[..6], ["algorithm", "round", "regret_per_step", "regret_per_step_se", "changes", "changes_se"]);
    for expected in &summary {
        let algorithm = &expected["algorithm"];
        let trace: Vec<&Row> = rows.iter().filter(|row| row.get_string(0).expect("a name") == algorithm).collect();
        let rounds: Vec<i64> = trace.iter().map(|row| row.get_long(1).expect("a round")).collect();
        assert!(
            rounds.is_sorted() && rounds.first() == Some(&1) && rounds.last() == Some(&300),
            "{algorithm}: {rounds:?}"
        );
        let last = trace.last().expect("a last point");
        for (at, column) in columns.iter().enumerate().skip(2) {
            assert_eq!(last.get_double(at).expect("a number"), number(expected, column), "{algorithm}: {column}");
        }
        let tenth = trace.iter().find(|row| row.get_long(1).expect("a round") == 30).expect("a tenth of the rounds");
        assert_eq!(tenth.get_double(2).expect("a number"), number(expected, "regret_per_step_tenth"), "{algorithm}");
    }
    assert_eq!(summary.len(), 6);
}

#[test]
fn every_change_is_in_the_table_of_changes() {
    let place = Place::new();
    let _ = place.done(&format!("{SIMULATE} --out out"));
    let summary = table(&place.files("out")["summary.csv"]);
    let (columns, rows) = rows(&place, "out/changes.parquet");
    assert_eq!(columns[..5], ["algorithm", "run", "change", "round", "cause"]);
    let column = |name: &str| columns.iter().position(|column| column == name).expect("a column");
    let (gain, digest) = (column("true_gain"), column("digest"));
    for expected in &summary {
        let algorithm = &expected["algorithm"];
        let changes: Vec<&Row> = rows.iter().filter(|row| row.get_string(0).expect("a name") == algorithm).collect();
        if expected["every_round"] == "yes" {
            assert!(changes.is_empty(), "{algorithm} changes every round, which is not listed");
            continue;
        }
        assert_eq!(changes.len() as f64, (4.0 * number(expected, "changes")).round(), "{algorithm}");
        for (row, before) in changes.iter().zip([None].into_iter().chain(changes.iter().map(Some))) {
            let place = |row: &Row| [1, 2, 3].map(|at| row.get_long(at).expect("a count"));
            let [run, number, round] = place(row);
            let follows = match before.map(|row| place(row)) {
                Some([before, last, earlier]) if before == run => number == last + 1 && round > earlier,
                _ => number == 1,
            };
            assert!(follows && (0..4).contains(&run) && (1..=300).contains(&round), "{row}");
            assert!(!row.get_string(4).expect("a cause").is_empty() && row.get_double(gain).is_ok(), "{row}");
            let certified = row.get_string(digest).expect("a digest");
            assert_eq!(
                certified.is_empty(),
                algorithm == "rs-linucb",
                "{algorithm}: a held policy's changes are certified"
            );
        }
    }
    let changed = |name: &str| summary.iter().any(|row| row["algorithm"] == name && number(row, "changes") > 0.0);
    assert!(changed("rarely") && changed("rs-linucb") && !changed("fixed"), "{summary:?}");
}

#[test]
fn sweep_and_frontier_write_their_files_and_the_same_bytes_for_any_number_of_threads() {
    let commands = [
        ("sweep --vary penalty=0.01,0.1 --vary arms=2,3 --runs 3 --rounds 60 --algorithms rarely,linucb", "sweep.csv"),
        ("sweep --ihdp --vary tolerance=0.01,0.1 --runs 2 --rounds 60 --algorithms rs-greedy", "sweep.csv"),
        ("frontier --runs 2 --rounds 60 --arms 2 --dim 2", "frontier.csv"),
    ];
    for (command, csv) in commands {
        let place = Place::new();
        let files = with_any_threads(&place, command);
        let [markdown, latex] = [".md", ".tex"].map(|ending| csv.replace(".csv", ending));
        let mut expected = vec![csv, &markdown, &latex, "comparisons.csv", "comparisons.md", "comparisons.tex"];
        expected.extend(["figure.pdf", "figure.png", "figure.svg", "run.json", "runs.parquet"]);
        expected.sort_unstable();
        assert_eq!(names(&files), expected, "{command}");
        assert_figure(&files, "figure");
        for (format, name) in [("csv", csv), ("markdown", markdown.as_str()), ("latex", latex.as_str())] {
            assert_eq!(data(&place.done(&format!("{command} --format {format}"))).as_bytes(), files[name]);
        }
        let settings: Value = serde_json::from_slice(&files["run.json"]).expect("JSON");
        assert!(settings["rounds"].is_u64() && settings["seed"] == 1, "{settings}");
    }
}

#[test]
fn sweep_states_the_rounds_that_were_played() {
    let place = Place::new();
    let _ = place.done("sweep --ihdp --vary tolerance=0.01 --runs 1 --algorithms rs-greedy --out out");
    let settings: Value = serde_json::from_str(&place.text("out/run.json")).expect("JSON");
    assert_eq!(settings["rounds"], 747);
}

#[test]
fn ihdp_writes_a_directory_with_and_one_without_an_intercept() {
    let place = Place::new();
    let files = with_any_threads(&place, "ihdp --runs 2 --rounds 60 --algorithms rarely,fixed");
    let expected: Vec<String> = ["intercept", "no-intercept"]
        .iter()
        .flat_map(|directory| {
            let mut all = [&OF_SIMULATE[..], &["figure-4.pdf", "figure-4.png", "figure-4.svg"]].concat();
            all.sort_unstable();
            all.into_iter().map(move |name| format!("{directory}/{name}"))
        })
        .collect();
    assert_eq!(names(&files), expected);
    for directory in ["intercept", "no-intercept"] {
        for figure in ["figure", "figure-4"] {
            assert_figure(&files, &format!("{directory}/{figure}"));
            let svg = String::from_utf8_lossy(&files[&format!("{directory}/{figure}.svg")]).to_lowercase();
            assert!(svg.contains("ihdp"), "{directory}/{figure}.svg says what it shows");
        }
    }
}

/// A second run into the same directory replaces the files by the same bytes.
#[test]
fn a_rerun_gives_the_same_bytes_and_another_seed_others() {
    let place = Place::new();
    let command = "simulate --runs 2 --rounds 100 --algorithms rarely,thompson --out out";
    let _ = place.done(command);
    let first = place.files("out");
    let output = place.done(command);
    assert!(!talk(&output).contains("resuming"), "nothing was left unfinished: {}", talk(&output));
    assert_same_files(&first, &place.files("out"));
    let _ = place.done(&format!("{command} --seed 2"));
    let other = place.files("out");
    assert_eq!(names(&other), OF_SIMULATE);
    assert!(names(&other).iter().all(|name| first[*name] != other[*name]), "every file depends on the seed");
}

/// The directory is named on stderr, and stdout is the same as without one.
#[test]
fn stdout_is_the_same_with_and_without_out() {
    let place = Place::new();
    let command = "simulate --runs 2 --rounds 100 --algorithms rarely,linucb --format csv";
    let with = place.done(&format!("{command} --out out"));
    assert_eq!(data(&with), data(&place.done(command)));
    assert!(talk(&with).contains("results are in out"), "{}", talk(&with));
}

/// Only the seed decides.
#[test]
fn the_same_seed_gives_the_same_answer_for_any_number_of_threads() {
    let place = Place::new();
    for command in [
        "simulate --runs 4 --rounds 120 --algorithms rarely,thompson,random",
        "sweep --vary penalty=0.01,0.1 --runs 4 --rounds 60",
        "frontier --runs 2 --rounds 40 --arms 2 --dim 2",
        "ihdp --runs 3 --rounds 40 --algorithms rarely,thompson",
    ] {
        let answer = |rest: &str| data(&place.done(&format!("{command} --format csv {rest}")));
        let one = answer("--threads 1 --seed 4");
        assert_eq!(one, answer("--threads 3 --seed 4"), "{command}");
        assert_ne!(one, answer("--threads 3 --seed 5"), "{command}");
    }
}

#[test]
fn a_command_without_out_leaves_nothing_behind() {
    let place = Place::new();
    let _ = place.done(SIMULATE_SMALL);
    assert!(place.names("").is_empty());
}
