//! A law: the same table gives the same cases from CSV, NDJSON and Parquet.

use parquet::basic::Compression;
use proptest::prelude::*;
use rarely_data::{Cases, Columns, DataError, LoggedCase};
use rarely_policy::{FieldValue, PolicyDocument};

use crate::support::{Column, file, parquet};

const LEVELS: [&str; 4] = ["plain", "with \"quotes\"", "commas, and\nlines", "ünïcödé"];

#[derive(Debug, Clone)]
struct Row {
    number: Option<f64>,
    whole: i32,
    level: Option<usize>,
    flag: bool,
    option: usize,
    outcome: Option<f64>,
    noise: String,
}

fn row() -> impl Strategy<Value = Row> {
    let number = prop_oneof![
        20 => (-1e3..1e3_f64).prop_map(Some),
        10 => (-999_999_999_i64..999_999_999).prop_map(|value| Some(value as f64 / 1e6)),
        1 => Just(Some(-0.0)),
        1 => Just(Some(1001.0)),
        1 => Just(Some(f64::MIN_POSITIVE)),
        1 => Just(None),
    ];
    let outcome = prop_oneof![20 => (0.0..1.0).prop_map(Some), 1 => Just(None), 1 => Just(Some(1.5))];
    let level = prop_oneof![20 => (0_usize..4).prop_map(Some), 1 => Just(Some(4)), 1 => Just(None)];
    (number, -100..101_i32, level, any::<bool>(), 0_usize..3, outcome, "[ -~ü\n]{0,12}").prop_map(
        |(number, whole, level, flag, option, outcome, noise)| Row {
            number,
            whole,
            level,
            flag,
            option,
            outcome,
            noise,
        },
    )
}

/// With the name that the number has: a schema in Parquet's own words takes no blank in it.
fn document(number: &str) -> PolicyDocument {
    let levels: Vec<String> = LEVELS.iter().map(|level| format!("{level:?}")).collect();
    let text = format!(
        r#"
        policy = "agreement"
        options = ["one", "two, or more", "3"]
        outcome = {{ column = "outcome", range = [0, 1] }}
        [[features]]
        column = {number:?}
        range = [-1000, 1000]
        [[features]]
        column = "whole"
        range = [-100, 100]
        [[features]]
        column = "level"
        levels = [{}]
        [[features]]
        column = "flag"
        levels = ["false", "true"]
        [rule]
        threshold = {{ feature = "whole", cuts = [0], options = ["one", "3"] }}
        "#,
        levels.join(", "),
    );
    PolicyDocument::parse(&text, "agreement.toml").expect("a document")
}

fn option(row: &Row) -> &'static str {
    ["one", "two, or more", "3"][row.option]
}

fn level(row: &Row) -> Option<&'static str> {
    row.level.map(|level| LEVELS.get(level).copied().unwrap_or("elsewhere"))
}

fn csv_of(rows: &[Row], end: &str, quote_all: bool) -> String {
    let quoted = |text: &str| {
        let must = quote_all || text.contains([',', '"', '\n', '\r']);
        if must { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
    };
    let number = |number: Option<f64>| number.map_or_else(String::new, |number| format!("{number:?}"));
    let mut lines =
        vec![["whole", "the \"number\"", "noise", "level", "flag", "given", "outcome"].map(quoted).join(",")];
    for row in rows {
        let fields = [
            row.whole.to_string(),
            number(row.number),
            format!("-{}", row.noise),
            level(row).unwrap_or_default().to_owned(),
            row.flag.to_string(),
            option(row).to_owned(),
            number(row.outcome),
        ];
        lines.push(fields.map(|field| quoted(&field)).join(","));
    }
    lines.join(end)
}

fn ndjson_of(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| {
        // A whole number as an option is written as one.
        let given = if row.option == 2 { serde_json::json!(3) } else { serde_json::json!(option(row)) };
        let object = serde_json::json!({
            "outcome": row.outcome, "given": given, "flag": row.flag, "level": level(row), "noise": [row.noise],
            "the \"number\"": row.number, "whole": row.whole,
        });
        object.to_string() + "\n"
    });
    lines.collect()
}

fn parquet_of(rows: &[Row], rows_in_group: usize) -> Vec<u8> {
    let schema = "message log {
        required binary given (STRING); optional double NUMBER; optional binary level (STRING); required boolean flag;
        optional double outcome; required int32 whole;
    }";
    let words = |words: Vec<Option<&str>>| {
        Column::Words(words.into_iter().map(|word| word.map(|word| word.as_bytes().to_vec())).collect())
    };
    let columns = [
        words(rows.iter().map(|row| Some(option(row))).collect()),
        Column::Numbers(rows.iter().map(|row| row.number).collect()),
        words(rows.iter().map(level).collect()),
        Column::Booleans(rows.iter().map(|row| row.flag).collect()),
        Column::Numbers(rows.iter().map(|row| row.outcome).collect()),
        Column::Wholes(rows.iter().map(|row| Some(i64::from(row.whole))).collect()),
    ];
    parquet(schema, &columns, rows_in_group, Compression::SNAPPY)
}

type Read = (Vec<(Vec<u64>, usize, u64, u64)>, Vec<String>);

fn read(document: &PolicyDocument, name: &str, content: &[u8]) -> Result<Read, DataError> {
    let (_folder, path) = file(name, content);
    let columns = Columns { option: "given".to_owned(), ..Columns::default() };
    let mut cases = Cases::open(document, &columns, &[path], u64::MAX)?;
    let mut case = LoggedCase::new(document);
    let mut all = Vec::new();
    while cases.next(&mut case)? {
        let context = case.context.iter().map(|number| number.to_bits()).collect();
        all.push((context, case.arm.index(), case.reward.to_bits(), case.row_in_file));
    }
    Ok((all, cases.rejected().iter().map(|rejection| rejection.problem.to_string()).collect()))
}

/// The context of a row on the encoder's own way.
fn by_the_encoder(document: &PolicyDocument, row: &Row) -> Vec<u64> {
    let encoder = document.encoder();
    let mut context = encoder.blank();
    let number = row.number.map_or(FieldValue::Missing, FieldValue::Number);
    let level = level(row).map_or(FieldValue::Missing, FieldValue::Text);
    let flag = if row.flag { "true" } else { "false" };
    for (feature, value) in
        [number, FieldValue::Number(f64::from(row.whole)), level, FieldValue::Text(flag)].into_iter().enumerate()
    {
        encoder.feature(feature, value, &mut context).expect("a row that was accepted");
    }
    context.iter().map(|number| number.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn all_formats_give_the_same_cases(
        rows in prop::collection::vec(row(), 1..60),
        windows in any::<bool>(),
        quote_all in any::<bool>(),
        rows_in_group in 1_usize..50,
    ) {
        let document = document("the \"number\"");
        let end = if windows { "\r\n" } else { "\n" };
        let from_csv = read(&document, "log.csv", csv_of(&rows, end, quote_all).as_bytes());
        let from_ndjson = read(&document, "log.ndjson", ndjson_of(&rows).as_bytes());
        let from_parquet = read(&self::document("NUMBER"), "log.parquet", &parquet_of(&rows, rows_in_group));
        match (from_csv, from_ndjson, from_parquet) {
            (Ok(from_csv), Ok(from_ndjson), Ok(from_parquet)) => {
                prop_assert_eq!(&from_csv.0, &from_ndjson.0);
                prop_assert_eq!(&from_csv.0, &from_parquet.0);
                prop_assert_eq!(from_csv.0.len() + from_csv.1.len(), rows.len());
                for (context, _, _, row) in &from_csv.0 {
                    prop_assert_eq!(context, &by_the_encoder(&document, &rows[usize::try_from(*row).expect("few rows")]));
                }
                prop_assert_eq!(&from_csv.1, &from_ndjson.1);
                let renamed: Vec<String> = from_csv.1.iter().map(|problem| problem.replace("the \"number\"", "NUMBER")).collect();
                prop_assert_eq!(&renamed, &from_parquet.1);
            }
            (Err(from_csv), Err(from_ndjson), Err(from_parquet)) => {
                for error in [from_csv, from_ndjson, from_parquet] {
                    prop_assert!(error.to_string().contains("no row can be used"), "{}", error);
                }
            }
            _ => prop_assert!(false, "only some formats can be read"),
        }
    }
}
