//! Statements for engines, and their results. Which numbers engines really compute is tested where there are engines: in the tests of the program
//! and of the Python package. Here a few lines of whole-number arithmetic stand for one.
// The numbers of rows, options and levels here are small.
#![allow(clippy::cast_possible_wrap)]

use std::collections::BTreeMap;

use rarely_core::{Arm, Rng};
use rarely_error::Explain as _;
use rarely_policy::{FieldValue, PolicyDocument, UnitHash};
use rarely_review::{
    Dialect, EvidenceBase, Findings, LogTable, ReviewJson, SummedLog, SumsError, SumsRow, Tally, TallyRow, review,
};

const POLICY: &str = r#"policy = "blood-pressure"
options = ["watch", "treat"]
option_column = "treatment"
outcome = { column = "wellbeing", range = [0, 1] }

[[features]]
column = "systolic"
range = [80, 220]

[[features]]
column = "doctor's note"
levels = ["no", "it's \\ well"]

[evidence]
key = "decision"
time = "decided_at"
noise = 0.1

[rule]
threshold = { feature = "systolic", cuts = [140], options = ["watch", "treat"] }
"#;

fn document(text: &str) -> PolicyDocument {
    PolicyDocument::parse(text, "policy.toml").expect("a document")
}

struct LoggedRow {
    key: String,
    second: i64,
    systolic: f64,
    level: usize,
    arm: usize,
    outcome: f64,
}

fn log(rows: usize) -> Vec<LoggedRow> {
    let mut rng = Rng::new(7, 0);
    let row = |at: usize| {
        let (systolic, level, arm) = (80.0 + 140.0 * rng.uniform(), rng.below(2), rng.below(2));
        let mean = if arm == 1 { 0.6 } else { 0.8 - 0.004 * (systolic - 80.0) };
        let outcome = (mean + 0.1 * rng.normal()).clamp(0.0, 1.0);
        LoggedRow {
            key: format!("case {at}"),
            second: 1_767_225_600 + 3_600 * at as i64,
            systolic,
            level,
            arm,
            outcome,
        }
    };
    (0..rows).map(row).collect()
}

fn context(document: &PolicyDocument, row: &LoggedRow) -> Vec<f64> {
    let encoder = document.encoder();
    let mut context = encoder.blank();
    encoder.feature(0, FieldValue::Number(row.systolic), &mut context).expect("in range");
    let level = document.features()[1].levels().expect("levels")[row.level].as_str();
    encoder.feature(1, FieldValue::Text(level), &mut context).expect("a level");
    context
}

/// The statistics by our reader.
fn read_rows(document: &PolicyDocument, rows: &[LoggedRow]) -> Tally {
    let mut tally = Tally::keeping_rows(document);
    for (number, row) in rows.iter().enumerate() {
        let context = context(document, row);
        let (key, seconds) = (Some(UnitHash::of(&row.key)), Some(row.second));
        tally.add_row(&TallyRow {
            key,
            seconds,
            ..TallyRow::new(number as u64, &context, Arm::new(row.arm), row.outcome)
        });
    }
    tally
}

#[allow(clippy::cast_possible_truncation)]
fn whole(value: f64) -> i128 {
    (value * 67_108_864.0 + 0.5).floor() as i128
}

fn times(one: i128, other: i128) -> i128 {
    (one * other + (1 << 25)) >> 26
}

/// What an engine answers to the first statement.
fn result(document: &PolicyDocument, rows: &[LoggedRow]) -> Vec<SumsRow> {
    let mut found = vec![head(document)];
    let length = stretch_length(rows);
    let ends = |arm: usize| {
        let outcomes = rows.iter().filter(|row| row.arm == arm).map(|row| row.outcome);
        outcomes.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)))
    };
    let mut sums: BTreeMap<(usize, bool, i64), Vec<&LoggedRow>> = BTreeMap::new();
    let mut bins: BTreeMap<(usize, i64), Vec<(i128, i128)>> = BTreeMap::new();
    for row in rows {
        let place = (row.arm, UnitHash::of(&row.key).is_in_first_third(), row.second.div_euclid(length));
        sums.entry(place).or_default().push(row);
        let (bin, inside) = bin(document, row);
        bins.entry((row.arm, bin)).or_default().push((inside, whole(row.outcome)));
    }
    for ((arm, proposes, stretch), group) in sums {
        let numbers = sums_of(&group, rows.len(), ends(arm));
        found.push(SumsRow {
            kind: "sums".to_owned(),
            option: arm as i64,
            part: i64::from(proposes),
            position: stretch,
            numbers: joined(&numbers),
        });
    }
    for ((arm, bin), group) in bins {
        let given = arm == usize::from(bin >= 0);
        let numbers = if given { powers_of(&group) } else { vec![group.len().to_string()] };
        found.push(SumsRow {
            kind: "jump".to_owned(),
            option: arm as i64,
            part: 0,
            position: bin,
            numbers: joined(&numbers),
        });
    }
    for row in rows {
        let hash = UnitHash::of(&row.key).second;
        let numbers = format!("{hash:016x},{},{},{}", row.outcome, row.systolic, row.level);
        found.push(SumsRow { kind: "person".to_owned(), option: row.arm as i64, part: 0, position: 0, numbers });
    }
    found
}

/// The row that says what a result belongs to, as the statement has it.
fn head(document: &PolicyDocument) -> SumsRow {
    let statement = LogTable::new(Dialect::Postgres, "log").first_scan(document).expect("a statement");
    let line = statement.lines().find(|line| line.starts_with("SELECT 'document'")).expect("a head");
    let numbers = line.split('\'').nth(3).expect("a text").to_owned();
    SumsRow { kind: "document".to_owned(), option: 0, part: 0, position: 0, numbers }
}

fn joined(numbers: &[String]) -> String {
    numbers.join(",")
}

fn stretch_length(rows: &[LoggedRow]) -> i64 {
    let seconds = || rows.iter().map(|row| row.second);
    let (first, last) = (seconds().min().expect("a row"), seconds().max().expect("a row"));
    let lengths = (0..40).map(|doubling| 64_i64 << doubling);
    let fits = |length: &i64| last.div_euclid(*length) - first.div_euclid(*length) < 64;
    lengths.into_iter().find(fits).expect("a length")
}

/// The bin of a row beside the cut, which is at 3/7 of the range, and how far into it the row is.
#[allow(clippy::cast_possible_truncation)]
fn bin(document: &PolicyDocument, row: &LoggedRow) -> (i64, i128) {
    let cut = document.rule().ladder(document).expect("a cut");
    let context = context(document, row);
    let z: f64 = cut.direction.iter().zip(&context).map(|(one, other)| one * other).sum();
    let span: f64 = cut.direction.iter().sum();
    let offset = (z - cut.cuts[0]) * (1.0 / span);
    let bins = if offset < 0.0 { cut.cuts[0] / span * 200.0 } else { (span - cut.cuts[0]) / span * 200.0 };
    let last = bins.ceil() as i64 - 1;
    let bin = ((offset.abs() * 200.0 + 1e-9) as i64).min(last);
    let inside = whole((offset.abs() * 200.0 - bin as f64).clamp(0.0, 1.0));
    (if offset < 0.0 { -1 - bin } else { bin }, inside)
}

fn sums_of(group: &[&LoggedRow], all: usize, (lowest, highest): (f64, f64)) -> Vec<String> {
    let count = |is: &dyn Fn(&LoggedRow) -> bool| group.iter().filter(|row| is(row)).count() as i128;
    let seconds = || group.iter().map(|row| row.second);
    let mut numbers: Vec<String> = vec![group.len().to_string(), all.to_string()];
    numbers.extend([seconds().min(), seconds().max()].map(|second| second.expect("a row").to_string()));
    numbers.extend([lowest, highest, 0.0].map(|end| count(&|row| row.outcome == end).to_string()));
    numbers.extend([lowest, highest].map(|end| end.to_string()));
    // Rows outside the span of the running variable, and rows that are nowhere along it.
    numbers.extend(["0".to_owned(), "0".to_owned()]);
    // u, the level, the square and the outcome; the order of the terms is that of the lower triangle of (1, u, level, square, 1, y).
    let value = |row: &LoggedRow| {
        let u = whole((row.systolic - 80.0) / 140.0);
        (u, times(u - (1 << 25), u - (1 << 25)), whole(row.outcome))
    };
    let sum = |of: &dyn Fn(i128, i128, i128) -> i128| -> i128 {
        group.iter().map(|row| value(row)).map(|(u, q, y)| of(u, q, y)).sum()
    };
    let within = |of: &dyn Fn(i128, i128, i128) -> i128| -> i128 {
        group.iter().filter(|row| row.level == 1).map(|row| value(row)).map(|(u, q, y)| of(u, q, y)).sum()
    };
    let terms = [
        sum(&|u, _, _| u),
        sum(&|u, _, _| u * u),
        count(&|row| row.level == 1),
        within(&|u, _, _| u),
        sum(&|_, q, _| q),
        sum(&|u, q, _| u * q),
        within(&|_, q, _| q),
        sum(&|_, q, _| q * q),
        sum(&|_, _, y| y),
        sum(&|u, _, y| u * y),
        within(&|_, _, y| y),
        sum(&|_, q, y| q * y),
        sum(&|_, _, y| y * y),
    ];
    numbers.extend(terms.map(|term| term.to_string()));
    // Bands of 20 mmHg: rows, outcomes and their squares; the last follows from the others.
    let band = |at: i32| {
        let (low, high) = (80.0 + 20.0 * f64::from(at), 100.0 + 20.0 * f64::from(at));
        let rows = group.iter().filter(|row| low <= row.systolic && row.systolic < high);
        let outcomes: Vec<i128> = rows.map(|row| value(row).2).collect();
        [outcomes.len() as i128, outcomes.iter().sum(), outcomes.iter().map(|y| y * y).sum()]
    };
    numbers.extend((0..6).flat_map(band).map(|sum| sum.to_string()));
    numbers.push(within(&|_, _, y| y * y).to_string());
    numbers
}

fn powers_of(group: &[(i128, i128)]) -> Vec<String> {
    let powers = |w: i128| {
        let (square, cube) = (times(w, w), times(times(w, w), w));
        [w, square, cube, times(square, square), times(square, cube), times(cube, cube)]
    };
    let mut sums = vec![group.len() as i128; 1];
    sums.extend((0..6).map(|power| group.iter().map(|(w, _)| powers(*w)[power]).sum::<i128>()));
    sums.push(group.iter().map(|(_, y)| y).sum());
    sums.extend((0..5).map(|power| group.iter().map(|(w, y)| powers(*w)[power] * y).sum::<i128>()));
    sums.push(group.iter().map(|(_, y)| times(*y, *y)).sum());
    sums.extend((0..4).map(|power| group.iter().map(|(w, y)| powers(*w)[power] * times(*y, *y)).sum::<i128>()));
    sums.iter().map(ToString::to_string).collect()
}

fn judged(document: &PolicyDocument, tally: &Tally) -> String {
    let base = EvidenceBase::of(document, tally, None).expect("evidence");
    let found = review(&base, tally).expect("a review");
    serde_json::to_string(&ReviewJson::new(&Findings::new(document, &found))).expect("JSON")
}

#[test]
fn the_statement_of_every_dialect() {
    let document = document(POLICY);
    for dialect in Dialect::ALL {
        let table = LogTable { filter: Some("decided_at < '2026-10-01'"), ..LogTable::new(dialect, "decisions") };
        insta::assert_snapshot!(format!("first_{dialect}"), table.first_scan(&document).expect("a statement"));
    }
    let latest =
        LogTable { latest_by: Some("updated_at"), ..LogTable::new(Dialect::DuckDb, "(SELECT * FROM decisions)") };
    let statement = latest.first_scan(&document).expect("a statement");
    let from = statement.split("FROM").nth(1).expect("a table");
    assert!(from.contains("PARTITION BY \"decision\""), "{statement}");
    assert!(statement.contains("WHERE rarely_copy = 1"), "{statement}");
}

#[test]
fn the_second_statement_of_every_dialect() {
    let (document, rows) = (document(POLICY), log(600));
    let tally = read_rows(&document, &rows);
    let base = EvidenceBase::of(&document, &tally, None).expect("evidence");
    for dialect in Dialect::ALL {
        let statement = LogTable::new(dialect, "decisions").second_scan(&base).expect("allowed").expect("a statement");
        insta::assert_snapshot!(format!("second_{dialect}"), statement);
    }
}

#[test]
fn sums_are_read_into_the_statistics_of_their_rows() {
    let (document, rows) = (document(POLICY), log(1500));
    let mut found = result(&document, &rows);
    let read = SummedLog::read(&document, found.clone()).expect("whole");
    let expected = read_rows(&document, &rows);
    assert_eq!(judged(&document, &read.tally), judged(&document, &expected));
    assert_eq!((read.tally.rows(), read.waiting, read.tally.rejected()), (1500, 0, 0));
    let observed = |tally: &Tally| {
        let base = EvidenceBase::of(&document, tally, None).expect("evidence");
        (0..2)
            .flat_map(|option| (0..9).map(move |band| (option, band)))
            .map(|(o, b)| base.observed(o, b))
            .collect::<Vec<_>>()
    };
    assert_eq!(observed(&read.tally), observed(&expected), "pictures show the same data");
    // The order of the rows does not matter, and sums may come in two halves.
    found.reverse();
    for row in found.iter_mut().filter(|row| row.kind == "sums") {
        let mut numbers: Vec<String> = row.numbers.split(',').map(ToOwned::to_owned).collect();
        let product: i128 = numbers[11].parse().expect("a sum");
        numbers[11] = format!("{}:{}", product >> 26, product & 67_108_863);
        row.numbers = numbers.join(",");
    }
    assert_eq!(SummedLog::read(&document, found).expect("whole").tally, read.tally);
}

#[test]
fn a_sample_that_is_too_small_is_refused_and_says_why() {
    let (document, rows) = (document(POLICY), log(300));
    let whole = result(&document, &rows);
    let mut people = whole.iter().filter(|row| row.kind == "person").cloned();
    let person = people.next().expect("a person");
    let others = || whole.iter().filter(|row| row.kind != "person").cloned();
    // Engines send the rows below a priority: there are few of them where keys are not the rows' own.
    let repeated = SummedLog::read(&document, others().chain([person.clone(), person.clone()]));
    let error = repeated.expect_err("rows share a key").to_string();
    assert!(error.contains("\"decision\" does not tell rows apart"), "{error}");
    let error = SummedLog::read(&document, others().chain([person])).expect_err("299 are missing").to_string();
    assert!(error.contains("1 of 300 rows of kind \"person\""), "{error}");
    // A row more than the smallest is not too many.
    let more = SummedLog::read(&document, whole.iter().cloned()).expect("whole");
    assert_eq!(more.tally.sample().len(), 300);
}

#[test]
fn rows_that_cannot_be_used_are_counted_by_their_reason() {
    let (document, rows) = (document(POLICY), log(200));
    let mut found = result(&document, &rows);
    let rejected = |position: i64, numbers: &str| SumsRow {
        kind: "rejected".to_owned(),
        option: 0,
        part: 0,
        position,
        numbers: numbers.to_owned(),
    };
    found.extend([rejected(1, "40"), rejected(3, "2"), rejected(5, "3"), rejected(7, "1")]);
    let read = SummedLog::read(&document, found).expect("whole");
    assert_eq!((read.tally.rows(), read.waiting, read.tally.rejected()), (200, 40, 6));
    let reasons: Vec<(&str, u64)> = read.rejected.iter().map(|rows| (rows.reason.as_str(), rows.rows)).collect();
    assert_eq!(
        reasons,
        [
            ("\"doctor's note\" has an unknown level", 3),
            ("\"systolic\" is outside 80 to 220", 2),
            ("\"treatment\" is missing or no option of the policy", 1),
        ]
    );
}

/// What is said of a result in which one row was altered.
fn said(alter: impl Fn(&mut Vec<SumsRow>)) -> String {
    let (document, rows) = (document(POLICY), log(200));
    let mut found = result(&document, &rows);
    alter(&mut found);
    let error = SummedLog::read(&document, found).expect_err("altered");
    format!("{error} | {}", error.remedy().expect("a remedy"))
}

#[test]
fn a_damaged_result_is_refused() {
    let first = |rows: &mut Vec<SumsRow>, kind: &str| rows.iter().position(|row| row.kind == kind).expect("a row");
    let again = "run the statement again and give its whole result, unchanged";
    for kind in ["document", "sums", "jump", "person"] {
        let text = said(|rows| {
            let at = first(rows, kind);
            rows.remove(at);
        });
        assert!(text.starts_with("the result is not whole: ") && text.ends_with(again), "{text}");
        assert!(text.contains(kind), "{text}");
    }
    let damaged = |kind: &str, number: usize, to: &str| {
        said(|rows| {
            let at = first(rows, kind);
            let mut numbers: Vec<&str> = rows[at].numbers.split(',').collect();
            numbers[number] = to;
            numbers.retain(|number| *number != "NULL");
            rows[at].numbers = numbers.join(",");
        })
    };
    let null = damaged("sums", 13, "NULL");
    assert!(null.contains("has 42 numbers where 43 are expected: some are NULL, or it was cut off"), "{null}");
    assert!(damaged("sums", 13, "1e5").contains("has \"1e5\" where a whole number is expected"));
    assert!(damaged("sums", 12, "-5").contains("has sums that are not possible"));
    assert!(damaged("sums", 0, "1").contains("sums that do not fit together"));
    assert!(damaged("jump", 3, "NULL").contains("has 17 numbers where 18 are expected"));
    assert!(damaged("person", 0, "12ab").contains("where a priority of 16 digits is expected"));
    assert!(damaged("person", 2, "300").contains("wrong feature"));
    let twice = said(|rows| {
        let at = first(rows, "sums");
        rows.push(rows[at].clone());
    });
    assert!(twice.contains("is there twice"), "{twice}");
    let unknown = said(|rows| rows[1].kind = "total".to_owned());
    assert!(unknown.contains("row 2 of the result, of kind \"total\""), "{unknown}");
}

#[test]
fn a_result_of_another_document_is_refused() {
    let rows = log(200);
    let found = result(&document(POLICY), &rows);
    for other in [POLICY.replace("cuts = [140]", "cuts = [150]"), POLICY.replace("[80, 220]", "[80, 230]")] {
        let error = SummedLog::read(&document(&other), found.clone()).expect_err("another");
        assert!(matches!(error, SumsError::Document(_)), "{error}");
    }
}

#[test]
fn what_cannot_be_had_by_sums_is_refused() {
    let said = |text: &str| {
        let error = LogTable::new(Dialect::DuckDb, "log").first_scan(&document(text)).expect_err("refused");
        error.to_string()
    };
    assert!(said(&POLICY.replace(", range = [0, 1] }", " }")).contains("no range"));
    assert!(said(&POLICY.replace("key = \"decision\"\n", "")).contains("tells rows apart"));
    assert!(said(&POLICY.replace("time = \"decided_at\"\n", "")).contains("time of a row"));
    assert!(said(&POLICY.replace("noise = 0.1", "cluster = \"clinic\"")).contains("a cluster column"));
    assert!(said(&POLICY.replace("noise = 0.1", "weight = \"weight\"")).contains("a weight column"));
    assert!(said(&POLICY.replace("noise = 0.1", "propensity = \"p\"")).contains("a propensity column"));
    assert!(said(&POLICY.replace("noise = 0.1", "design = \"adaptive\"")).contains("depended on earlier outcomes"));
    let guarded = "[[guardrails]]\noutcome = { column = \"stay\", range = [0, 30] }\nworse = \"higher\"\nmargin = 1\n";
    assert!(said(&format!("{POLICY}\n{guarded}")).contains("guard-rails"));
    assert!(said(&format!("fairness = [\"sex\"]\n{POLICY}")).contains("fairness columns"));
    let timeless = POLICY.replace("time = \"decided_at\"\n", "order = \"any\"\n");
    let statement = LogTable::new(Dialect::DuckDb, "log").first_scan(&document(&timeless)).expect("without times");
    assert!(!statement.contains("stretch_length"), "{statement}");
}
