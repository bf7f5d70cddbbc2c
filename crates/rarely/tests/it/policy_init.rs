//! Drafts from files as people have them: each is valid, and its own review runs.

use std::fmt::Write as _;

use crate::program::{Place, data, talk};

const ROWS: usize = 400;

/// A number from 0 to 1 for each row and column, the same everywhere.
fn number(row: usize, column: usize) -> f64 {
    let mixed = ((row * 31 + column) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / (1_u64 << 24) as f64
}

fn csv(header: &str, line: impl Fn(usize) -> String) -> String {
    (0..ROWS).fold(format!("{header}\n"), |mut text, row| {
        let _ = writeln!(text, "{}", line(row));
        text
    })
}

fn given(row: usize) -> bool {
    number(row, 0) < 0.5
}

fn outcome(row: usize) -> String {
    format!("{:.3}", 0.3 + 0.2 * f64::from(u8::from(given(row))) + 0.4 * number(row, 1))
}

fn age(row: usize) -> String {
    format!("{:.0}", 20.0 + 60.0 * number(row, 2))
}

/// The names of all files, and their texts.
fn files() -> Vec<(&'static str, String)> {
    [tables(), odd_files()].concat()
}

/// Files with the usual kinds of columns.
fn tables() -> Vec<(&'static str, String)> {
    vec![
        // A trial with codes: 1.0 against 1.
        (
            "codes.csv",
            csv("treat,age,black,re78", |row| {
                format!("{}.0,{},{}.0,{:.2}", u8::from(given(row)), age(row), row % 2, 9e4 * number(row, 1))
            }),
        ),
        // The probability of the option that was given, not named so: the option tells it.
        (
            "propensity.csv",
            csv("arm,ps,age,outcome", |row| {
                let arm = if given(row) { "a" } else { "b" };
                format!("{arm},{},{},{}", if given(row) { 0.7 } else { 0.3 }, age(row), outcome(row))
            }),
        ),
        // An identifier, a date, a blank and a constant column.
        (
            "export.csv",
            csv("customer_id,date,offer,age,notes,country,revenue", |row| {
                let offer = if given(row) { "discount" } else { "none" };
                format!(
                    "C{row:05},2025-{:02}-{:02},{offer},{},,DE,{}",
                    1 + row / 40,
                    1 + row % 28,
                    age(row),
                    outcome(row)
                )
            }),
        ),
        // Missing numbers, words, outcomes and options.
        (
            "missing.csv",
            csv("treatment,age,smoker,clinic,outcome", |row| {
                let option = if row % 50 == 7 {
                    ""
                } else if given(row) {
                    "new"
                } else {
                    "usual"
                };
                let age = if row % 3 == 0 { "NA".to_owned() } else { age(row) };
                let smoker = ["yes", "no", ""][row % 3];
                let outcome = if row % 40 == 3 { String::new() } else { outcome(row) };
                format!("{option},{age},{smoker},clinic {},{outcome}", row % 7)
            }),
        ),
        // Units in the names, and a name with quotation marks.
        (
            "units.csv",
            csv("group,Weight (kg),\"Height \"\"cm\"\" [cm]\",score", |row| {
                format!(
                    "{},{:.1},{:.0},{}",
                    1 + row % 3,
                    50.0 + 60.0 * number(row, 2),
                    150.0 + 50.0 * number(row, 3),
                    outcome(row)
                )
            }),
        ),
    ]
}

/// Other formats, other outcomes, too many columns, too few.
fn odd_files() -> Vec<(&'static str, String)> {
    vec![
        // A number as identifier, and times.
        (
            "log.tsv",
            csv("id\ttimestamp\tvariant\tage\tconverted", |row| {
                format!(
                    "{}\t2026-01-{:02}T10:00:00Z\t{}\t{}\t{}",
                    1000 + row,
                    1 + row % 28,
                    if given(row) { "B" } else { "A" },
                    age(row),
                    row % 2
                )
            }),
        ),
        // Objects, one of them without a key.
        (
            "log.ndjson",
            (0..ROWS).fold(String::new(), |mut text, row| {
                let age = if row % 5 == 0 { "null".to_owned() } else { age(row) };
                let _ = writeln!(
                    text,
                    "{{\"action\": \"{}\", \"age\": {age}, \"member\": {}, \"reward\": {}}}",
                    given(row),
                    row % 2 == 0,
                    outcome(row)
                );
                text
            }),
        ),
        // Outcomes that are all equal, or huge.
        ("equal.csv", csv("arm,age,outcome", |row| format!("{},{},5", if given(row) { "a" } else { "b" }, age(row)))),
        (
            "huge.csv",
            csv("arm,age,outcome", |row| {
                format!("{},{},{:e}", if given(row) { "a" } else { "b" }, age(row), 1e11 * number(row, 1))
            }),
        ),
        // Many columns, words with many levels, free text.
        (
            "wide.csv",
            csv(
                &format!(
                    "decision,comment,town,{},benefit",
                    (0..80).map(|at| format!("x{at}")).collect::<Vec<_>>().join(",")
                ),
                |row| {
                    let numbers: Vec<String> = (0..80).map(|at| format!("{:.3}", number(row, 3 + at))).collect();
                    format!(
                        "{},text {row},town {},{},{}",
                        if given(row) { "go" } else { "stay" },
                        row % 90,
                        numbers.join(","),
                        outcome(row)
                    )
                },
            ),
        ),
        // No number that could be a feature.
        (
            "words.csv",
            csv("arm,colour,y", |row| {
                format!("{},{},{}", if given(row) { "a" } else { "b" }, ["red", "blue"][row % 2], outcome(row))
            }),
        ),
    ]
}

#[test]
fn every_draft_runs() {
    for (name, text) in files() {
        let place = Place::new();
        place.write(name, text);
        let output = place.rarely(&format!("policy init --from {name} --out draft.toml")).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{name}: {}", talk(&output));
        let _ = place.done("policy check draft.toml");
        let output = place.rarely(&format!("review --policy draft.toml --data {name}")).output().expect("it starts");
        let draft = place.text("draft.toml");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{name}: {}\n{draft}", talk(&output));
        assert!(data(&output).contains("Verdict: "), "{name}");
    }
}

/// The draft of one of the files.
fn draft(name: &str) -> String {
    let place = Place::new();
    let text = files().into_iter().find(|(known, _)| *known == name).expect("a file").1;
    place.write(name, text);
    data(&place.done(&format!("policy init --from {name}")))
}

#[test]
fn roles_follow_from_contents() {
    let codes = draft("codes.csv");
    assert!(codes.contains("options = [\"0.0\", \"1.0\"]") && codes.contains("levels = [\"0.0\", \"1.0\"]"), "{codes}");
    let propensity = draft("propensity.csv");
    assert!(propensity.contains("the column \"ps\" is left out: the option alone tells its value"), "{propensity}");
    let export = draft("export.csv");
    for line in [
        "key = \"customer_id\"",
        "time = \"date\"",
        "options = [\"none\", \"discount\"]",
        "the column \"notes\" is left out: it is blank",
        "the column \"country\" is left out: it is the same for everyone",
    ] {
        assert!(export.contains(line), "{line}: {export}");
    }
    let missing = draft("missing.csv");
    for line in ["missing = \"drop\"", "missing = \"indicator\"", "missing = \"level\"", "write cluster = \"clinic\""] {
        assert!(missing.contains(line), "{line}: {missing}");
    }
    let units = draft("units.csv");
    assert!(units.contains("unit = \"kg\"") && units.contains("unit = \"cm\""), "{units}");
    let log = draft("log.tsv");
    assert!(log.contains("key = \"id\"") && log.contains("time = \"timestamp\""), "{log}");
}

#[test]
fn what_is_assumed_is_said() {
    let place = Place::new();
    place.write(
        "log.csv",
        csv("colour,size,a,b", |row| {
            format!("{},{},{},{}", ["red", "blue"][row % 2], ["s", "l"][row / 2 % 2], number(row, 1), number(row, 2))
        }),
    );
    let output = place.rarely("policy init --from log.csv").output().expect("it starts");
    let said = talk(&output);
    assert!(
        said.contains(
            "the option that was given is assumed to be the column \"colour\"; --option-column names another"
        ),
        "{said}"
    );
    assert!(said.contains("the outcome is assumed to be the column \"b\"; --outcome-column names another"), "{said}");
    let output = place.rarely("policy init --from log.csv --option-column color").output().expect("it starts");
    let said = talk(&output);
    assert!(said.contains("correct --option-column; the columns are colour, size, a, b"), "{said}");
}
