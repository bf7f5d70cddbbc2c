//! Logs that `rarely review` cannot use: file, line, column, the value, what to do; exit code 2, no file.

use std::fmt::Write as _;
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::program::{Place, assert_snapshot_of, data, talk};
use crate::review_states::{in_parts, log, people, place_with};

const POLICY: &str = r#"policy = "blood-pressure"
options = ["watch", "treat"]
option_column = "treatment"
outcome = { column = "wellbeing", range = [0, 1] }

[[features]]
column = "systolic"
unit = "mmHg"
range = [80, 220]

[[features]]
column = "diabetic"
levels = ["no", "yes"]

[rule]
threshold = { feature = "systolic", cuts = [140], options = ["watch", "treat"] }
"#;

const LOG: &str = "systolic,diabetic,treatment,wellbeing
133,no,treat,0.67
115,no,watch,0.77
134,yes,treat,0.83
151,no,treat,0.52
128,no,watch,0.61
";

const LINES: &str = "{\"systolic\": 133, \"diabetic\": \"no\", \"treatment\": \"treat\", \"wellbeing\": 0.67}
{\"systolic\": 115, \"diabetic\": \"no\", \"treatment\": \"watch\", \"wellbeing\": 0.77}
{\"systolic\": 134, \"diabetic\": \"yes\", \"treatment\": \"treat\", \"wellbeing\": 0.83}
";

/// Everything that a review could write.
const TARGETS: &str = "--out out --save-state new.state --apply new.toml";

/// `LOG` with something on the fourth line replaced.
fn fourth(from: &str, to: &str) -> String {
    let line = "134,yes,treat,0.83";
    assert!(line.contains(from));
    LOG.replace(line, &line.replace(from, to))
}

fn place_of(file: &str, contents: impl AsRef<[u8]>) -> Place {
    let place = Place::new();
    place.write("policy.toml", POLICY);
    place.write(file, contents);
    place
}

/// The refusal, and that it leaves no file.
macro_rules! refused {
    ($($name:ident: $file:literal, $contents:expr, $arguments:expr;)*) => {
        $(#[test]
        fn $name() {
            let place = place_of($file, $contents);
            let before = place.names("");
            let command = format!("review --policy policy.toml {}", $arguments);
            assert_snapshot_of!(place.rarely(&command));
            let output = place.rarely(&format!("{command} {TARGETS}")).output().expect("it starts");
            assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
            assert!(output.stdout.is_empty(), "{}", data(&output));
            assert_eq!(place.names(""), before, "nothing was written");
        })*
    };
}

refused! {
    a_column_is_misspelt: "log.csv", LOG.replace("systolic", "sistolic"), "--data log.csv";
    a_column_is_there_twice: "log.csv", LOG.replace("diabetic", "systolic"), "--data log.csv";
    an_option_column_is_misspelt: "log.csv", LOG, "--data log.csv --option-column treatmnt";
    an_option_column_of_other_words: "log.csv", LOG, "--data log.csv --option-column diabetic";
    an_option_is_unknown: "log.csv", fourth("treat", "treet"), "--data log.csv";
    an_option_is_empty: "log.csv", fourth("treat", ""), "--data log.csv";
    a_level_is_unknown: "log.csv", fourth("yes", "maybe"), "--data log.csv";
    a_value_is_above_its_range: "log.csv", fourth("134", "430"), "--data log.csv";
    a_value_is_below_its_range: "log.csv", fourth("134", "-134"), "--data log.csv";
    a_value_is_empty: "log.csv", fourth("134", ""), "--data log.csv";
    a_number_is_a_word: "log.csv", fourth("134", "high"), "--data log.csv";
    a_number_has_two_readings: "log.csv", fourth("134", "\"134,500\""), "--data log.csv";
    an_integer_is_huge: "log.csv", fourth("134", "99999999999999999999999999"), "--data log.csv";
    an_outcome_is_empty: "log.csv", fourth("0.83", ""), "--data log.csv";
    an_outcome_is_nan: "log.csv", fourth("0.83", "NaN"), "--data log.csv";
    an_outcome_is_infinite: "log.csv", fourth("0.83", "inf"), "--data log.csv";
    an_outcome_is_extreme: "log.csv", fourth("0.83", "1e300"), "--data log.csv";
    a_row_is_too_short: "log.csv", fourth(",0.83", ""), "--data log.csv";
    a_row_is_too_long: "log.csv", fourth("0.83", "0.83,0.9"), "--data log.csv";
    a_quotation_mark_is_not_closed: "log.csv", fourth("134", "\"134"), "--data log.csv";
    a_value_is_not_utf8: "log.csv", [LOG.as_bytes(), b"120,no,tr\xe9at,0.5\n"].concat(), "--data log.csv";
    a_name_is_not_utf8: "log.csv", [b"gr\xf6\xdfe,".as_slice(), LOG.as_bytes()].concat(), "--data log.csv";
    a_file_is_empty: "log.csv", "", "--data log.csv";
    a_file_has_only_a_header: "log.csv", "systolic,diabetic,treatment,wellbeing\n", "--data log.csv";
    a_file_is_not_there: "log.csv", LOG, "--data log.csv next.csv";
    a_kind_of_file_is_unknown: "log.ods", "PK", "--data log.ods";
    a_file_is_given_twice: "log.csv", LOG, "--data log.csv ./log.csv";
    nothing_is_given: "log.csv", LOG, "";
    a_population_is_not_there: "log.csv", LOG, "--data log.csv --population people.csv";
    a_line_is_not_json: "log.ndjson", format!("{LINES}{{\"systolic\": 134, \n"), "--data log.ndjson";
    a_line_is_no_object: "log.ndjson", format!("{LINES}[134, \"yes\"]\n"), "--data log.ndjson";
    a_value_of_a_line_has_parts: "log.ndjson", LINES.replace("134", "[134]"), "--data log.ndjson";
    a_number_of_a_line_is_a_word: "log.ndjson", LINES.replace("134", "\"high\""), "--data log.ndjson";
    an_outcome_of_a_line_is_null: "log.ndjson", LINES.replace("0.83", "null"), "--data log.ndjson";
    a_parquet_file_is_no_such_file: "log.parquet", LOG, "--data log.parquet";
}

#[test]
fn a_folder_is_no_file() {
    let place = place_of("log.csv", LOG);
    std::fs::create_dir(place.path("folder.csv")).expect("a folder");
    let output = place.rarely("review --policy policy.toml --data folder.csv").output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(talk(&output).contains("folder.csv: cannot be read"), "{}", talk(&output));
}

/// Cut anywhere, a Parquet file is refused: its name, that it is damaged, what to do.
#[test]
fn a_parquet_file_was_cut() {
    let whole = log(&people(500, 31)).to_parquet().expect("a file");
    let place = place_of("log.parquet", &whole);
    place.write("policy.toml", crate::review_states::POLICY);
    assert_eq!(
        place.rarely("review --policy policy.toml --data log.parquet").output().expect("it starts").status.code(),
        Some(1)
    );
    for kept in [0, 3, 4, 100, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        place.write("log.parquet", &whole[..kept]);
        let command = format!("review --policy policy.toml --data log.parquet {TARGETS}");
        let output = place.rarely(&command).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{kept} bytes");
        let said = talk(&output);
        assert!(
            said.contains("log.parquet") && (said.contains("damaged") || said.contains("empty")),
            "{kept} bytes: {said}"
        );
        assert!(!said.contains("panicked"), "{said}");
        assert_eq!(place.names(""), ["log.parquet", "policy.toml"]);
    }
    // A byte in the middle that is wrong is found, or does not alter what is read; it is never a panic.
    for at in (4..whole.len()).step_by(whole.len() / 60) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        place.write("log.parquet", &damaged);
        let output = place.rarely("review --policy policy.toml --data log.parquet").output().expect("it starts");
        assert!(matches!(output.status.code(), Some(0..=2)), "byte {at}: {}", talk(&output));
        assert!(!talk(&output).contains("panicked"), "byte {at}: {}", talk(&output));
    }
}

/// Three bad rows among five.
fn three_bad_rows() -> Place {
    place_of("log.csv", LOG.replace("0.77", "").replace("134,yes", "134,maybe").replace("128", "300"))
}

#[test]
fn more_rows_are_bad_than_are_tolerated() {
    let place = three_bad_rows();
    assert_snapshot_of!(place.rarely("review --policy policy.toml --data log.csv --reject-limit 2"));
    let command = format!("review --policy policy.toml --data log.csv --reject-limit 2 {TARGETS}");
    assert_eq!(place.rarely(&command).output().expect("it starts").status.code(), Some(2));
    assert_eq!(place.names(""), ["log.csv", "policy.toml"]);
}

/// They are listed, and counted: in the answer, in a state, and in what goes on from it.
#[test]
fn bad_rows_that_are_tolerated_are_listed_and_counted() {
    let place = three_bad_rows();
    let command = "review --policy policy.toml --data log.csv --reject-limit 3 --format json --save-state s.state";
    let output = place.rarely(command).output().expect("it starts");
    let said = talk(&output);
    insta::assert_snapshot!(said);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&answer["rows"], &answer["rows_rejected"]), (&Value::from(2), &Value::from(3)));
    place.write("good.csv", LOG);
    let output = place.rarely("review --policy policy.toml --data good.csv --state s.state --format json").output();
    let answer: Value = serde_json::from_slice(&output.expect("it starts").stdout).expect("JSON");
    assert_eq!((&answer["rows"], &answer["rows_rejected"]), (&Value::from(7), &Value::from(3)));
    let output = place.rarely("replay --policy policy.toml --data log.csv --reject-limit 3 --format json").output();
    let output = output.expect("it starts");
    assert_eq!(talk(&output), said, "a replay says the same");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&answer["rows"], &answer["rows_rejected"]), (&Value::from(2), &Value::from(3)));
}

#[test]
fn many_bad_rows_are_counted_to_the_last() {
    let mut log = LOG.to_owned();
    (0..50).for_each(|row| writeln!(log, "120,no,treat,{}", 2 + row).expect("a line"));
    let place = place_of("log.csv", log);
    let output =
        place.rarely("review --policy policy.toml --data log.csv --reject-limit 50").output().expect("it starts");
    assert_eq!(output.status.code(), Some(1), "{}", talk(&output));
    let said = talk(&output);
    assert!(
        said.starts_with("50 rows were rejected:\n  log.csv, line 7, column 4 (wellbeing): wellbeing is 2, above"),
        "{said}"
    );
    assert!(said.ends_with("  and 30 more\n"), "{said}");
    assert_eq!(said.lines().count(), 22);
}

#[test]
fn no_row_is_good() {
    let place = place_of("log.csv", "systolic,diabetic,treatment,wellbeing\n120,no,cut,0.5\n");
    assert_snapshot_of!(place.rarely("review --policy policy.toml --data log.csv --reject-limit 10"));
}

/// What may surprise and is no mistake: blanks around values, a byte order mark, Windows line ends, columns that are not needed, quoted
/// numbers, the last line without an end.
#[test]
fn a_log_that_only_looks_odd_is_read() {
    let answer = |contents: &str| {
        let place = place_of("log.csv", contents);
        let output =
            place.rarely("review --policy policy.toml --data log.csv --format json").output().expect("it starts");
        assert!(output.stderr.is_empty(), "{}", talk(&output));
        data(&output)
    };
    let plain = answer(LOG);
    assert_eq!(answer(&format!("\u{feff}{}", LOG.replace('\n', "\r\n"))), plain);
    assert_eq!(answer(&LOG.replace(",no,", ", no ,").replace("133", "\"133\"").replace("0.52", ".52")), plain);
    assert_eq!(answer(LOG.trim_end()), plain);
    assert_eq!(answer(&LOG.replace("\n1", "\nx,1").replace("systolic", "note,systolic")), plain);
}

/// Files that exist are not written over: the refusal names them, and they are as they were.
#[test]
fn stored_files_are_not_written_over() {
    let place = in_parts();
    place.write("precious", "precious");
    for command in [
        "review --policy policy.toml --data log.csv --apply precious",
        "review --policy policy.toml --data log.csv --apply policy.toml",
        "review --policy policy.toml --data log.csv --save-state precious",
        "review --policy policy.toml --data log.csv --state one.state --save-state precious",
        "review --policy policy.toml --data log.csv --out precious",
        "state merge --out precious one.state two.state",
        "policy init --from log.csv --out precious",
    ] {
        let before = place.files("");
        let output = place.rarely(command).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{command}: {}", talk(&output));
        assert!(output.stdout.is_empty(), "{command}");
        let target = command.split_whitespace().next_back().expect("a name");
        assert!(
            talk(&output).contains(if command.contains("merge") { "precious" } else { target }),
            "{}",
            talk(&output)
        );
        assert!(place.files("") == before, "{command} left something");
    }
}

#[test]
fn a_reader_that_stops_early_is_not_news() {
    let place = place_with(crate::review_states::POLICY, &people(3000, 10));
    for command in
        ["review --policy policy.toml --data log.csv", "replay --policy policy.toml --data log.csv --every 500"]
    {
        let child = place.rarely(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("it starts");
        drop(child.stdout.take());
        let Output { status, stderr, .. } = child.wait_with_output().expect("it ends");
        assert!(stderr.is_empty(), "{command}: {}", String::from_utf8_lossy(&stderr));
        assert!(matches!(status.code(), Some(0 | 1)), "{command}: {status}");
    }
}

/// Killed at any moment, a review leaves the old state or the new one, and whole files.
#[test]
fn a_killed_review_loses_nothing() {
    let place = in_parts();
    let before = place.text("one.state");
    let mut found = [0; 2];
    for delay in (0..120).step_by(4) {
        place.write("one.state", &before);
        let command = "review --policy policy.toml --state one.state --data three.csv --save-state one.state --out out";
        let mut child = place.rarely(command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(delay));
        let _ = child.kill();
        let _ = child.wait().expect("it ends");
        let state: Value = serde_json::from_str(&place.text("one.state")).expect("a whole state");
        let stretches = state["tally"]["stretches"]["all"].as_array().expect("a list");
        let rows: u64 = stretches.iter().filter_map(|stretch| stretch["rows"].as_u64()).sum();
        assert!(rows == 500 || rows == 2300, "{rows} rows after {delay} ms");
        found[usize::from(rows == 2300)] += 1;
        if place.path("out/review.json").exists() {
            let _: Value = serde_json::from_str(&place.text("out/review.json")).expect("a whole answer");
        }
    }
    assert!(found[0] > 0, "it was killed before it had saved: {found:?}");
}
