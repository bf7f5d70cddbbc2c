//! The statements of `rarely sums sql` in a real engine: DuckDB computes the sums, and the review is that of the file, byte for byte. Those of
//! the other engines are read by a parser of their SQL.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use rarely_core::Rng;

use crate::messy;
use crate::program::{Place, data, talk};
use crate::shard_examples::python_with;
use crate::sums::{POLICY, log, time};

/// Runs a statement on a file. Words are not guessed to be truth values.
const RUN: &str = r#"
import sys, duckdb
log, statement, result = sys.argv[1:]
con = duckdb.connect()
con.execute(f"CREATE TABLE log AS SELECT * FROM read_csv('{log}', auto_type_candidates=['BIGINT', 'DOUBLE', 'TIMESTAMP', 'VARCHAR'])")
kind = {"csv": "(FORMAT csv, HEADER)", "parquet": "(FORMAT parquet)", "json": "(FORMAT json, ARRAY true)"}[result.rsplit(".", 1)[1]]
con.execute(f"COPY ({open(statement).read()}) TO '{result}' {kind}")
"#;

const PARSE: &str = r"
import sys, sqlglot
for name in sys.argv[1:]:
    parsed = sqlglot.parse(open(name + '.sql').read(), read=name.split('-')[1])
    assert len(parsed) == 1 and parsed[0].named_selects == ['kind', 'option', 'part', 'position', 'numbers'], name
";

/// The review of the file, and that of the sums of DuckDB; the results of the two statements have these formats.
fn reviews(python: &Path, place: &Place, formats: [&str; 2], more: &str) -> (String, String) {
    let run = |statement: &str, result: &str| {
        let output = Command::new(python)
            .args(["-c", RUN, "log.csv", statement, result])
            .current_dir(place.path(""))
            .output()
            .expect("Python runs");
        assert!(output.status.success(), "{}", talk(&output));
    };
    let review = |arguments: &str| {
        let output = place.rarely(&format!("review --policy policy.toml --format json {more} {arguments}")).output();
        let output = output.expect("it starts");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments}: {}", talk(&output));
        data(&output)
    };
    let [first, second] = formats.map(|format| format!("result.{format}"));
    let (first, second) = (format!("first-{first}"), format!("second-{second}"));
    let sql = "sums sql --policy policy.toml --dialect duckdb --table log";
    place.write("first.sql", data(&place.done(sql)));
    run("first.sql", &first);
    place.write("second.sql", data(&place.done(&format!("{sql} {more} --after {first}"))));
    run("second.sql", &second);
    (review("--data log.csv"), review(&format!("--sums {first} --confirmed {second}")))
}

fn assert_same_review(policy: &str, log: &str, formats: [&str; 2], more: &str) {
    let Some(python) = python_with("duckdb") else { return };
    let place = Place::new();
    place.write("policy.toml", policy);
    place.write("log.csv", log);
    let (file, sums) = reviews(&python, &place, formats, more);
    assert_eq!(file, sums);
}

/// An example of the repository, with a key and a time for each row.
fn example(name: &str) -> (String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let read = |file: &str| fs::read_to_string(folder.join(file)).expect("an example");
    let policy = read("policy.toml").replacen("[evidence]", "[evidence]\nkey = \"decision\"\ntime = \"decided_at\"", 1);
    let mut log = String::new();
    for (row, line) in (0..).zip(read("log.csv").lines()) {
        let more = if row == 0 { "decision,decided_at".to_owned() } else { format!("{row},{}", time(row)) };
        writeln!(log, "{line},{more}").expect("a string");
    }
    (policy, log)
}

#[test]
fn the_examples_are_reviewed_by_their_sums() {
    let (policy, log) = example("clinical");
    assert_same_review(&policy, &log, ["csv", "csv"], "");
    let (policy, log) = example("pricing");
    assert_same_review(&policy, &log, ["parquet", "json"], "");
}

/// Files as people have them, each as the table that an engine would have of it: the values that our reader finds, and a key.
#[test]
fn whatever_can_be_read_of_the_messy_files_is_reviewed_by_its_sums() {
    let Some(python) = python_with("duckdb") else { return };
    let mut refused = Vec::new();
    let mut reviewed = 0;
    for file in messy::readable() {
        let place = Place::new();
        let (policy, log) = file.as_a_table(&place);
        place.write("policy.toml", &policy);
        place.write("log.csv", &log);
        let output = place.rarely("sums sql --policy policy.toml --dialect duckdb --table log").output();
        let output = output.expect("it starts");
        if output.status.code() != Some(0) {
            refused.push(format!("{}: {}", file.name(), talk(&output)));
            continue;
        }
        let (file, sums) = reviews(&python, &place, ["csv", "csv"], "");
        assert_eq!(file, sums, "{policy}");
        reviewed += 1;
    }
    // What sums cannot say: propensities.
    assert!(refused.iter().all(|reason| reason.contains("propensity")), "{}", refused.join("\n"));
    assert!(reviewed >= 55, "{reviewed} of {}", reviewed + refused.len());
}

/// A document of an option, an outcome and a rule.
fn document(options: &str, outcome: &str, change: &str, rule: &str) -> String {
    format!(
        r#"policy = "made"
options = {options}
option_column = "given"
outcome = {{ column = "result", range = [-3, 3]{outcome} }}
[[features]]
column = "age"
range = [18, 90]
[[features]]
column = "dose"
range = [-1, 2.0000001]
[[features]]
column = "region"
levels = ["north", "south", "west"]
[evidence]
key = "id"
time = "at"
[change]
{change}
[rule]
{rule}
"#
    )
}

/// A log of random people in no order; some rows are bad.
fn made(rows: u32, options: &[&str], bad: bool) -> String {
    let mut rng = Rng::new(11, 0);
    let mut text = "at,result,given,region,dose,age,id\n".to_owned();
    for row in 0..rows {
        let (age, dose) = ((180.0 + 720.0 * rng.uniform()).round() / 10.0, 3.0 * rng.uniform() - 1.0);
        let (arm, region) = (rng.below(options.len()), rng.below(3));
        let effect = 0.3 * arm as f64 * ((age - 18.0) / 72.0) - 0.1 * arm as f64 * dose;
        let result = (0.2 + effect + 0.1 * region as f64 + 0.4 * rng.normal()).clamp(-3.0, 3.0);
        let region = if bad && row % 311 == 5 { "east" } else { ["north", "south", "west"][region] };
        let age = if bad && row % 401 == 7 { "old".to_owned() } else { age.to_string() };
        // Rows come in no order of time.
        let at = time(row.wrapping_mul(7919) % rows);
        writeln!(text, "{at},{result},{},{region},{dose},{age},case-{row}", options[arm]).expect("a string");
    }
    text
}

const TWO: [&str; 2] = ["off", "on"];
const THREE: [&str; 3] = ["none", "some", "much"];
const LADDER: &str = r#"threshold = { feature = "age", cuts = [40, 61.5], options = ["none", "some", "much"] }"#;
const SCORE: &str = r#"score = { coefficients = { age = 0.3, dose = -2.5, region = { west = 4.0 } }, cuts = [12, 20], options = ["none", "some", "much"] }"#;
const LINEAR: &str = "linear = { off = { intercept = 0.1, age = 0.001 }, on = { intercept = 0.0, age = 0.004, dose = 0.05, region = { west = 0.2 } } }";

#[test]
fn every_form_of_a_document_is_reviewed_by_its_sums() {
    let (two, three) = (r#"["off", "on"]"#, r#"["none", "some", "much"]"#);
    let costs = "cost = { some = 0.1, much = 0.3 }";
    let lower = r#", better = "lower""#;
    for (policy, log) in [
        (document(three, "", "", LADDER), made(5000, &THREE, false)),
        (document(three, "", costs, SCORE), made(5000, &THREE, false)),
        (document(three, lower, costs, LADDER), made(5000, &THREE, false)),
        (document(two, "", "", LINEAR), made(5000, &TWO, false)),
        (document(two, lower, "", LINEAR), made(5000, &TWO, false)),
    ] {
        assert_same_review(&policy, &log, ["csv", "csv"], "");
    }
}

#[test]
fn bad_rows_and_no_order_are_reviewed_by_their_sums() {
    let policy = document(r#"["none", "some", "much"]"#, "", "", LADDER);
    assert_same_review(&policy, &made(4000, &THREE, true), ["json", "parquet"], "--reject-limit 40");
    let timeless = policy.replace("time = \"at\"", "order = \"any\"");
    assert_same_review(&timeless, &made(3000, &THREE, false), ["csv", "csv"], "");
}

/// A log with everything that a document may say of missing values, and with rows that are wrong nevertheless.
fn with_gaps(rows: u32) -> String {
    let mut rng = Rng::new(12, 0);
    let mut text = "at,result,given,region,ward,dose,age,weight,id\n".to_owned();
    for row in 0..rows {
        let (age, dose, weight) = (18.0 + 72.0 * rng.uniform(), 3.0 * rng.uniform() - 1.0, 40.0 + 80.0 * rng.uniform());
        let (arm, region) = (rng.below(3), rng.below(3));
        let result = (0.2 + 0.004 * arm as f64 * (age - 18.0) + 0.4 * rng.normal()).clamp(-3.0, 3.0);
        let mut or =
            |share: usize, word: &str, value: String| if rng.below(share) == 0 { word.to_owned() } else { value };
        let dose = or(9, "", dose.to_string());
        let dose = or(40, "NA", dose);
        let age = or(70, "n/a", age.to_string());
        let weight = or(30, "", weight.to_string());
        let region = or(11, "", ["north", "south", "west"][region].to_owned());
        let region = or(60, "?", region);
        let ward = or(13, "null", ["a", "b"][arm % 2].to_owned());
        let result = or(25, "", result.to_string());
        let given = or(35, "-", THREE[arm].to_owned());
        let id = or(90, " ", format!("case-{row}"));
        let weight = or(501, "heavy", weight);
        let region = or(503, "east", region);
        let result = or(507, "9", result);
        writeln!(text, "{},{result},{given},{region},{ward},{dose},{age},{weight},{id}", time(row)).expect("a string");
    }
    text
}

const GAPS: &str = r#"policy = "gaps"
options = ["none", "some", "much"]
option_column = "given"
outcome = { column = "result", range = [-3, 3] }
[[features]]
column = "age"
range = [18, 90]
missing = "drop"
cut_points = [50, 70.5]
[[features]]
column = "dose"
range = [-1, 2.0000001]
missing = "indicator"
[[features]]
column = "weight"
range = [40, 120]
missing = "indicator"
[[features]]
column = "region"
levels = ["north", "south", "west"]
missing = "level"
[[features]]
column = "ward"
levels = ["a", "b"]
missing = "drop"
[[features]]
square = "weight"
[[features]]
interaction = ["age", "dose"]
[[features]]
interaction = ["weight", "region"]
[[features]]
interaction = ["region", "ward"]
[evidence]
key = "id"
time = "at"
missing = "drop"
[rule]
threshold = { feature = "age", cuts = [40, 61.5], options = ["none", "some", "much"] }
"#;

#[test]
fn what_is_missing_and_what_is_derived_is_reviewed_by_sums() {
    assert_same_review(GAPS, &with_gaps(8000), ["csv", "csv"], "--reject-limit 100");
    // The rule follows a number that may be missing; one rule has no cut.
    let along = GAPS.replace("feature = \"age\", cuts = [40, 61.5]", "feature = \"weight\", cuts = [70, 90]");
    assert_same_review(&along, &with_gaps(6000), ["parquet", "json"], "--reject-limit 100");
    let uncut =
        GAPS.replace("cuts = [40, 61.5], options = [\"none\", \"some\", \"much\"]", "cuts = [], options = [\"some\"]");
    assert_same_review(&uncut, &with_gaps(3000), ["csv", "csv"], "--reject-limit 100");
    // Rows without an option, an outcome or a key are wrong.
    let strict = GAPS.replace("missing = \"drop\"\n[rule]", "[rule]");
    let complete: String = with_gaps(4000)
        .lines()
        .filter(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            !cells[1].is_empty() && cells[2] != "-" && cells[8] != " "
        })
        .fold(String::new(), |text, line| text + line + "\n");
    assert_same_review(&strict, &complete, ["csv", "csv"], "--reject-limit 100");
}

#[test]
fn a_million_rows_are_reviewed_by_their_sums() {
    let costs = "cost = { some = 0.1, much = 0.3 }";
    let policy = document(r#"["none", "some", "much"]"#, "", costs, SCORE);
    assert_same_review(&policy, &made(1_000_000, &THREE, false), ["csv", "csv"], "");
}

#[test]
fn parsers_read_the_statement_of_every_dialect() {
    let Some(python) = python_with("sqlglot") else { return };
    for (policy, log) in [(POLICY.to_owned(), log(2000)), (GAPS.to_owned(), with_gaps(2000))] {
        parsers_read_every_dialect(&python, &policy, &log);
    }
}

fn parsers_read_every_dialect(python: &Path, policy: &str, log: &str) {
    let place = Place::new();
    place.write("policy.toml", policy);
    place.write("log.csv", log);
    // A result for the second statement, of the engine that is here.
    let second = python_with("duckdb").map(|duckdb| {
        reviews(&duckdb, &place, ["csv", "csv"], "--reject-limit 100");
        "--after first-result.csv --reject-limit 100"
    });
    let mut names = Vec::new();
    for dialect in ["duckdb", "postgres", "spark", "bigquery", "snowflake", "clickhouse"] {
        for (number, after) in [Some(""), second].into_iter().flatten().enumerate() {
            let name = format!("{number}-{dialect}");
            let statement =
                place.done(&format!("sums sql --policy policy.toml --dialect {dialect} --table log {after}"));
            place.write(&format!("{name}.sql"), data(&statement));
            names.push(name);
        }
    }
    let output = Command::new(python).args(["-c", PARSE]).args(&names).current_dir(place.path("")).output();
    let output = output.expect("Python runs");
    assert!(output.status.success(), "{}", talk(&output));
}

/// Codes are one, however an engine or a file writes them: DuckDB reads `0.0` as a number and writes it so.
#[test]
fn codes_and_labels_count_alike_in_the_engine_and_in_the_file() {
    let policy = POLICY.replacen(
        "options = [\"watch\", \"treat\"]",
        "options = [\"0\", \"1\"]\nlabels = { \"0\" = \"watch\", \"1\" = \"treat\" }",
        1,
    );
    assert!(policy.contains("labels"), "the document has these options");
    for (watch, treat) in [("0.0", "1.0"), ("false", "TRUE"), ("0", "1.00"), ("watch", "1")] {
        let [watch, treat] = [watch, treat].map(|code| format!(",{code},"));
        let coded = log(400).replace(",watch,", &watch).replace(",treat,", &treat);
        assert_same_review(&policy, &coded, ["csv", "csv"], "");
    }
}
