//! `rarely sums sql` and `rarely review --sums`: what they print and what they refuse. That engines compute the same as our reader is tested in
//! `postgres.rs` and in the tests of the Python package.

use std::fmt::Write as _;

use rarely_core::Rng;

use crate::program::{Place, assert_snapshot_of, data, talk};

/// A policy whose document names the key and the time of a row.
pub(crate) const POLICY: &str = r#"policy = "blood-pressure"
options = ["watch", "treat"]
option_column = "treatment"
outcome = { column = "wellbeing", range = [0, 1] }

[[features]]
column = "systolic"
unit = "mmHg"
range = [80, 220]

[[features]]
column = "clinic"
levels = ["north", "south", "west"]

[evidence]
key = "decision"
time = "decided_at"
noise = 0.1

[rule]
threshold = { feature = "systolic", cuts = [160], options = ["watch", "treat"] }
"#;

/// A log of random people, one every 25 minutes.
pub(crate) fn log(rows: u32) -> String {
    let mut rng = Rng::new(3, 0);
    let mut text = "decision,decided_at,systolic,clinic,treatment,wellbeing\n".to_owned();
    for row in 0..rows {
        let (systolic, clinic, treated) = (80.0 + 140.0 * rng.uniform(), rng.below(3), rng.below(2) == 1);
        let place = (systolic - 80.0) / 140.0;
        let mean = if treated { 0.55 + 0.1 * place } else { 0.7 - 0.3 * place };
        let wellbeing = (mean + 0.1 * rng.normal()).clamp(0.0, 1.0);
        let (clinic, treatment) = (["north", "south", "west"][clinic], if treated { "treat" } else { "watch" });
        writeln!(text, "{row},{},{systolic},{clinic},{treatment},{wellbeing}", time(row)).expect("a string");
    }
    text
}

/// The time of a row.
pub(crate) fn time(row: u32) -> String {
    rarely_output::utc(1_767_225_600_000 + 1_500_123 * u64::from(row)).trim_end_matches('Z').to_owned()
}

fn place() -> Place {
    let place = Place::new();
    place.write("policy.toml", POLICY);
    place
}

#[test]
fn help_of_sums_sql() {
    assert_snapshot_of!(Place::new().rarely("sums sql --help"));
}

#[test]
fn a_statement_names_the_table_and_the_condition() {
    let place = place();
    let mut command = place.rarely("sums sql --policy policy.toml --dialect Postgres --table clinic.decisions --where");
    let output = command.arg("decided_at < '2026-10-01'").output().expect("it starts");
    assert!(output.status.success(), "{}", talk(&output));
    let statement = data(&output);
    assert!(statement.contains("FROM clinic.decisions AS source\n  WHERE (decided_at < '2026-10-01')"), "{statement}");
}

#[test]
fn an_unknown_dialect_is_refused() {
    assert_snapshot_of!(place().rarely("sums sql --policy policy.toml --dialect oracle --table log"));
}

#[test]
fn a_table_is_needed() {
    assert_snapshot_of!(place().rarely("sums sql --policy policy.toml --dialect duckdb"));
}

#[test]
fn a_document_without_a_key_is_refused() {
    let place = place();
    place.write("policy.toml", POLICY.replace("key = \"decision\"\n", ""));
    assert_snapshot_of!(place.rarely("sums sql --policy policy.toml --dialect duckdb --table log"));
}

#[test]
fn a_document_without_times_is_refused() {
    let place = place();
    place.write("policy.toml", POLICY.replace("time = \"decided_at\"\n", ""));
    assert_snapshot_of!(place.rarely("sums sql --policy policy.toml --dialect duckdb --table log"));
}

#[test]
fn a_result_without_its_columns_is_refused() {
    let place = place();
    place.write("first.csv", "kind,option,numbers\ndocument,0,\"3,abc\"\n");
    assert_snapshot_of!(place.rarely("review --policy policy.toml --sums first.csv"));
}

#[test]
fn a_result_of_another_document_is_refused() {
    let place = place();
    place.write(
        "first.ndjson",
        "{\"kind\":\"document\",\"option\":0,\"part\":0,\"position\":0,\"numbers\":\"3,abc\"}\n",
    );
    assert_snapshot_of!(place.rarely("review --policy policy.toml --sums first.ndjson"));
}

#[test]
fn a_result_that_was_cut_off_is_refused() {
    let place = place();
    place.write("first.json", "[]");
    assert_snapshot_of!(place.rarely("review --policy policy.toml --sums first.json"));
    place.write("damaged.json", "[{\"kind\": \"sums\", \"option\": null}]");
    assert_snapshot_of!(place.rarely("review --policy policy.toml --sums damaged.json"));
}

#[test]
fn a_table_is_only_in_a_database() {
    let place = place();
    place.write("log.csv", log(50));
    assert_snapshot_of!(place.rarely("review --policy policy.toml --data log.csv --table decisions"));
}
