//! Logs row by row: what is accepted in each format, and what each mistake is called.

use std::path::Path;

use parquet::basic::{Compression, ZstdLevel};
use proptest::prelude::*;
use rarely_data::{DataError, LogError, LogReader};
use rarely_policy::FieldValue;

use crate::support::{Column, explained, file, message, parquet};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// A row as `number`, `"words"` and `–`, or its rejection.
fn rows(path: &Path, wanted: &[&str]) -> Result<Vec<String>, DataError> {
    let mut log = LogReader::open(path, &names(wanted))?;
    let mut rows = Vec::new();
    loop {
        let row = match log.next() {
            Ok(None) => break,
            Err(LogError::File(error)) => return Err(error),
            Err(LogError::Row(rejection)) => {
                let folder = format!("{}/", path.parent().expect("a folder").display());
                explained(&*rejection).replace(&folder, "")
            }
            Ok(Some(record)) => {
                assert_eq!(record.row(), rows.len() as u64);
                let shown = (0..wanted.len()).map(|wanted| match record.value(wanted) {
                    FieldValue::Missing => "–".to_owned(),
                    FieldValue::Number(number) => number.to_string(),
                    FieldValue::Text(text) => format!("{text:?}"),
                });
                shown.collect::<Vec<_>>().join(" ")
            }
        };
        rows.push(row);
        assert_eq!(log.rows(), rows.len() as u64);
    }
    let (read, in_all) = log.progress();
    assert_eq!(read, in_all);
    Ok(rows)
}

fn check(name: &str, content: impl AsRef<[u8]>, wanted: &[&str], expected: &[&str]) {
    let (_folder, path) = file(name, content);
    assert_eq!(rows(&path, wanted).expect("a log"), expected);
}

fn check_error(name: &str, content: impl AsRef<[u8]>, wanted: &[&str], expected: &str) {
    let (folder, path) = file(name, content);
    assert_eq!(message(rows(&path, wanted), &folder), expected);
}

#[test]
fn a_csv_file_as_programs_write_it() {
    check(
        "log.csv",
        "\u{feff}\"a, b\", c ,d\r\n1, x y ,\r\n\r\n  \t\n\"2 \"\"three\"\"\r\nfour\",5,\"\"\n\r6,\u{a0}ü\u{a0},-7.5\"",
        &["c", "a, b", "d", "c"],
        &["\"x y\" \"1\" – \"x y\"", "\"5\" \"2 \\\"three\\\"\\r\\nfour\" – \"5\"", "\"ü\" \"6\" \"-7.5\\\"\" \"ü\""],
    );
    check("log.TSV", "a\tb\n\t\n1,5\t2", &["a", "b"], &["– –", "\"1,5\" \"2\""]);
    check("log.csv", "a\n\n", &["a"], &[]);
    check("log.csv", "a,a,b\n1,2,3\n", &["b"], &["\"3\""]);
}

#[test]
fn a_csv_row_that_cannot_be_read_is_passed_over() {
    check(
        "log.csv",
        b"a,b,c\n\xc3\xbc,2\n\"1\n2\",2,3,4\nx\xff,\xfey,3\n1,\xfe,\xfcber\n1,2,3",
        &["a", "c"],
        &[
            "log.csv, line 2, column 3 (c): this column is missing: the row has 2 of 3 columns\nhelp: give every row one field for each name in the header",
            "log.csv, line 3, column 4 (no name): this column is one too many: the row has 4 columns and the header 3\nhelp: give every row one field for each name in the header, and quote a field that holds the separator",
            "log.csv, line 5, column 1 (a): found \"x\u{fffd}\", which is not UTF-8\nhelp: save the file as UTF-8, or write its encoding, such as encoding = \"windows-1252\", under [data] in the policy document",
            "log.csv, line 6, column 3 (c): found \"\u{fffd}ber\", which is not UTF-8\nhelp: save the file as UTF-8, or write its encoding, such as encoding = \"windows-1252\", under [data] in the policy document",
            "\"1\" \"3\"",
        ],
    );
    // What is not wanted is not looked at.
    check("log.csv", b"a,b,c\n\xc3\xa9,\xfe\xfe,\"u\"\n", &["c", "a"], &["\"u\" \"é\""]);
}

#[test]
fn bad_csv_files_are_errors() {
    check_error(
        "log.csv",
        "\n \n",
        &["a"],
        "log.csv: the file is empty\nhelp: write the names of the columns into the first line",
    );
    let ending = "correct the name, or rename the column";
    check_error(
        "log.csv",
        "systolic,diabetic,wellbeing\n1,2,3\n",
        &["wellbeing", "Sistolic"],
        "log.csv: no column \"Sistolic\"; the columns are systolic, diabetic, wellbeing\nhelp: did you mean \"systolic\"? Correct \
         the name, or rename the column",
    );
    check_error(
        "log.csv",
        "1,2,3\n",
        &["wellbeing"],
        &format!("log.csv: no column \"wellbeing\"; the columns are 1, 2, 3\nhelp: {ending}"),
    );
    check_error(
        "log.csv",
        "age;sex\n1,5;2\n",
        &["wellbeing"],
        &format!("log.csv: no column \"wellbeing\"; the columns are age, sex\nhelp: {ending}"),
    );
    check_error(
        "log.csv",
        "a,b, a\n1,2,3\n",
        &["a"],
        "log.csv: columns 1 and 3 are both named \"a\"\nhelp: rename or remove one of the columns",
    );
    check_error(
        "log.csv",
        b"a,caf\xe9\n1,\xc3\xbc\n",
        &["a"],
        "log.csv, line 1, column 2: found the name \"caf\u{fffd}\", which is not UTF-8\nhelp: save the file as UTF-8, or write its encoding, such as encoding = \"windows-1252\", under [data] in the policy document",
    );
    check_error(
        "log.csv",
        "a,b\n1,2\n3,\"4\n5,6\n",
        &["a"],
        "log.csv, line 3, column 2: a quotation mark opens this field, and none closes it before the file ends\nhelp: close the field, or, if the quotation mark belongs to the text, write it twice and quote the field",
    );
    check_error(
        "log.csv",
        format!("a,b\n1,{}", "2".repeat(17 << 20)),
        &["a"],
        "log.csv, line 2: the row that starts here is longer than 16 MiB\nhelp: look for a quotation mark that is not closed, and check that the file is a table",
    );
    check_error(
        "log.ods",
        "",
        &["a"],
        "log.ods: the name ends in none of .csv, .tsv, .txt, .xlsx, .parquet, .pq, .ndjson and .jsonl\nhelp: rename the file after its format, or convert it to one of these",
    );
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["nowhere.csv", "nowhere.parquet", "nowhere.ndjson"] {
        let found = message(rows(&folder.path().join(name), &["a"]), &folder);
        assert_eq!(
            found,
            format!("{name}: cannot be read\nhelp: check the path, and that you have permission to read it")
        );
    }
}

#[test]
fn rows_that_span_blocks() {
    let long = "x".repeat(300_000);
    let content = format!("a,b\n1,{long}\r\n2,\"{long}\n\"\r3,{long}\r");
    let (_folder, path) = file("log.csv", &content);
    let found = rows(&path, &["b", "a"]).expect("a log");
    assert_eq!(found, [format!("{long:?} \"1\""), format!("{long:?} \"2\""), format!("{long:?} \"3\"")]);
    // Enough rows for several blocks, so that each kind of line end falls on the edge of one somewhere.
    let content: String = (0..200_000).map(|row| format!("{row},{}\r\n", row % 7)).collect();
    let (_folder, path) = file("log.csv", format!("a,b\r\n{content}"));
    let mut log = LogReader::open(&path, &names(&["a", "b"])).expect("a log");
    for row in 0..200_000 {
        let record = log.next().expect("a readable row").expect("another row");
        assert_eq!(record.number(0), Some(f64::from(row)));
        assert_eq!(record.number(1), Some(f64::from(row % 7)));
        assert!(record.location(1).to_string().ends_with(&format!("line {}, column 2 (b)", row + 2)));
    }
    assert!(log.next().expect("the end").is_none());
}

#[test]
fn an_ndjson_file_as_programs_write_it() {
    check(
        "log.ndjson",
        "\u{feff}{\"a\": 1, \"b\": \" x \", \"c\": [1, {\"a\": 2}]}\r\n\n{\"b\": null, \"a\": -1.5e2}\n{\"a\": true, \"b\": \"\\u00fc\\n\\\"\"}\n  \n{}",
        &["b", "a", "b"],
        &["\"x\" 1 \"x\"", "– -150 –", "\"ü\\n\\\"\" \"true\" \"ü\\n\\\"\"", "– – –"],
    );
    check("log.jsonl", "{\"a\": 0.1}\n{\"a\": 18446744073709551615}\n", &["a"], &["0.1", "18446744073709552000"]);
}

#[test]
fn an_ndjson_line_that_cannot_be_read_is_passed_over() {
    check(
        "log.ndjson",
        b"{\"a\": 1}\n{\"a\": 1\n[1]\n {\"a\": [1]}\n{\"a\": {}}\n{\"a\": 1, \"a\": 2}\n{\"a\": \"\xff\"}\n{\"a\": 1} 2\n{\"a\": nan}\n{\"a\": 1e999}\n{\"a\": 2}",
        &["a"],
        &[
            "1",
            "log.ndjson, line 2, character 7: found \"{\\\"a\\\": 1\", which is not JSON (EOF while parsing an object)\nhelp: write one object on each line",
            "log.ndjson, line 3, character 1: found \"[1]\", which is not an object\nhelp: write one object on each line, {\"column\": value, …}",
            "log.ndjson, line 4, key a: found an array, but a value is a number, a text, true, false or null\nhelp: take out the part that is needed",
            "log.ndjson, line 5, key a: found an object, but a value is a number, a text, true, false or null\nhelp: take out the part that is needed",
            "log.ndjson, line 6, key a: the key appears twice on this line\nhelp: keep one of the two",
            "log.ndjson, line 7, character 8: found \"{\\\"a\\\": \\\"\u{fffd}\\\"}\", which is not UTF-8\nhelp: save the file as UTF-8",
            "log.ndjson, line 8, character 10: found \"{\\\"a\\\": 1} 2\", which is not JSON (trailing characters)\nhelp: write one object on each line",
            "log.ndjson, line 9, character 8: found \"{\\\"a\\\": nan}\", which is not JSON (expected ident)\nhelp: write one object on each line",
            "log.ndjson, line 10, character 11: found \"{\\\"a\\\": 1e999}\", which is not JSON (number out of range)\nhelp: write one object on each line",
            "2",
        ],
    );
}

#[test]
fn bad_ndjson_files_are_errors() {
    let ending =
        "no line near the beginning holds an object\nhelp: write one object on each line, {\"column\": value, …}";
    check_error("log.ndjson", "[\n1\n]\n", &["a"], &format!("log.ndjson: {ending}"));
    check_error("log.ndjson", "", &["a"], &format!("log.ndjson: {ending}"));
    check_error(
        "log.ndjson",
        "{\"age\": 1}\n{\"income\": 2}\n",
        &["income", "aeg"],
        "log.ndjson: no column \"aeg\"; the columns are age, income\nhelp: did you mean \"age\"? Correct the name, or rename the column",
    );
}

const SCHEMA: &str = "message log {
    optional double number;
    required int32 whole;
    required int64 large (INTEGER(64, false));
    optional binary word (STRING);
    required boolean flag;
    required float brief;
    optional int32 day (DATE);
    required int64 moment (TIMESTAMP(MILLIS, true));
    optional group list (LIST) { repeated group list { optional int32 element; } }
    required int32 price (DECIMAL(9, 2));
    repeated int32 many;
}";

#[test]
fn a_parquet_file_as_programs_write_it() {
    let schema = "message log {
        optional double number;
        required int32 whole;
        required int64 large (INTEGER(64, false));
        optional binary word (STRING);
        required boolean flag;
        optional int32 day (DATE);
        required int64 moment (TIMESTAMP(MILLIS, true));
        optional binary raw;
    }";
    let words = |words: &[Option<&str>]| {
        Column::Words(words.iter().map(|word| word.map(|word| word.as_bytes().to_vec())).collect())
    };
    let columns = [
        Column::Numbers(vec![Some(0.1), None, Some(-3.0)]),
        Column::Wholes(vec![Some(1), Some(-2), Some(3)]),
        Column::Wholes(vec![Some(1), Some(-1), Some(3)]),
        words(&[Some(" é "), Some(""), None]),
        Column::Booleans(vec![true, false, true]),
        Column::Wholes(vec![Some(-1), None, Some(19_782)]),
        Column::Wholes(vec![Some(-1), Some(0), Some(1_709_209_845_678)]),
        words(&[Some("one"), Some("two"), Some("one")]),
    ];
    for (rows_in_group, compression) in [
        (3, Compression::UNCOMPRESSED),
        (1, Compression::SNAPPY),
        (2, Compression::ZSTD(ZstdLevel::default())),
        (2, Compression::LZ4_RAW),
        (2, Compression::GZIP(parquet::basic::GzipLevel::default())),
    ] {
        check(
            "log.parquet",
            parquet(schema, &columns, rows_in_group, compression),
            &["word", "number", "whole", "large", "flag", "day", "moment", "raw", "word"],
            &[
                "\"é\" 0.1 1 1 \"true\" \"1969-12-31\" \"1969-12-31T23:59:59.999Z\" \"one\" \"é\"",
                "– – -2 18446744073709552000 \"false\" – \"1970-01-01T00:00:00.000Z\" \"two\" –",
                "– -3 3 3 \"true\" \"2024-02-29\" \"2024-02-29T12:30:45.678Z\" \"one\" –",
            ],
        );
    }
}

#[test]
fn a_parquet_row_that_cannot_be_read_is_passed_over() {
    let schema = "message log { required double number; optional binary word (STRING); }";
    let columns = [
        Column::Numbers(vec![Some(1.0), Some(2.0), Some(3.0)]),
        Column::Words(vec![Some(b"one".to_vec()), Some(b"t\xffwo".to_vec()), None]),
    ];
    let content = parquet(schema, &columns, 2, Compression::SNAPPY);
    check(
        "log.pq",
        &content,
        &["word", "number"],
        &[
            "\"one\" 1",
            "log.pq, row 1 (from 0), column 2 (word): found \"t\u{fffd}wo\", which is not UTF-8\nhelp: save the file as UTF-8",
            "– 3",
        ],
    );
    check("log.pq", &content, &["number"], &["1", "2", "3"]);
}

#[test]
fn bad_parquet_files_are_errors() {
    let empty = parquet(SCHEMA, &[], 1, Compression::SNAPPY);
    check("log.parquet", &empty, &["number", "brief"], &[]);
    let ending = "which is neither numbers nor text\nhelp: write the column as DOUBLE, INT64, BOOLEAN or STRING";
    for (name, column, kind) in [("list", 9, "nested"), ("price", 10, "DECIMAL(9, 2)"), ("many", 11, "repeated")] {
        check_error(
            "log.parquet",
            &empty,
            &[name],
            &format!("log.parquet, column {column} ({name}): its type is {kind}, {ending}"),
        );
    }
    check_error(
        "log.parquet",
        &empty,
        &["nummer"],
        "log.parquet: no column \"nummer\"; the columns are number, whole, large, word, flag, brief, day, moment, list, price, many\nhelp: did you mean \"number\"? Correct the name, or rename the column",
    );
    let ending = "the file is damaged or incomplete: write it again, or get it again";
    check_error(
        "log.parquet",
        &empty[..empty.len() - 1],
        &["number"],
        &format!("log.parquet: not a readable Parquet file (Invalid Parquet file. Corrupt footer)\nhelp: {ending}"),
    );
    check_error(
        "log.parquet",
        "a,b\n1,2\n",
        &["number"],
        &format!("log.parquet: not a readable Parquet file (Invalid Parquet file. Corrupt footer)\nhelp: {ending}"),
    );
}

/// The wanted fields of a CSV text as the csv crate has them, up to the first row that is never closed.
fn by_the_csv_crate(text: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
    let rows = reader.byte_records().map(|record| record.expect("bytes in memory"));
    rows.filter(|row| row.len() > 1 || !row[0].trim_ascii().is_empty())
        .map(|row| row.iter().map(|field| String::from_utf8_lossy(field).trim().to_owned()).collect())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    /// Short ways and long ways cut a text as the csv crate does.
    #[test]
    fn a_csv_text_is_cut_as_the_csv_crate_cuts_it(
        pieces in prop::collection::vec(
            prop::sample::select(vec![",", "\"", "\n", "\r", "\r\n", " ", "a", "ü", "-1.5", "\"\"", "\"b\"", "longer than eight"]),
            0..40,
        ),
        more_rows in prop_oneof![Just(0_usize), Just(40)],
    ) {
        // Rows near the end of a file are read in another way than the others.
        let text = format!("one,two\n{}{}", pieces.concat(), "\n1.25,-0.5\n".repeat(more_rows));
        let (_folder, path) = file("log.csv", &text);
        let mut log = LogReader::open(&path, &names(&["two", "one"])).expect("a header");
        for expected in &by_the_csv_crate(text.as_bytes())[1..] {
            match log.next() {
                Ok(None) => prop_assert!(false, "a row is missing"),
                Err(LogError::File(error)) => {
                    prop_assert!(error.to_string().contains("none closes it"));
                    return Ok(());
                }
                Err(LogError::Row(_)) => prop_assert_ne!(expected.len(), 2),
                Ok(Some(record)) => {
                    for (wanted, expected) in [&expected[1], &expected[0]].into_iter().enumerate() {
                        let value = if expected.is_empty() { FieldValue::Missing } else { FieldValue::Text(expected.as_str()) };
                        prop_assert_eq!(record.value(wanted), value);
                        prop_assert_eq!(record.number(wanted), expected.parse().ok().filter(|number: &f64| number.is_finite()));
                    }
                }
            }
        }
        let end = log.next();
        let unclosed = matches!(&end, Err(LogError::File(error)) if error.to_string().contains("none closes it"));
        prop_assert!(unclosed || matches!(end, Ok(None)));
    }

    /// Numbers have the bits that the standard library gives them, wherever in a file they stand.
    #[test]
    fn a_number_is_the_nearest_to_what_is_written(
        whole in prop_oneof!["-?[0-9]{0,4}", "[+-]?[0-9]{0,20}", "-?0{0,9}[0-9]?", "-?[0-9]{1,8}"],
        fraction in prop_oneof!["", "\\.[0-9]{0,8}", "\\.[0-9]{6,18}", "\\.[0-9]{0,20}", "[.e-][0-9]{0,3}[.e]?[0-9]?", "[^,\"\n\r]"],
        after in "[0-9.]{0,30}",
        more_rows in prop_oneof![Just(0_usize), Just(40)],
    ) {
        let written = format!("{whole}{fraction}");
        let text = format!("a,b,c\n{written},{written},{after}\n{}", "1.25,-0.5,\n".repeat(more_rows));
        let (_folder, path) = file("log.csv", &text);
        let mut log = LogReader::open(&path, &names(&["a", "b"])).expect("a header");
        let expected = written.trim().parse().ok().filter(|number: &f64| number.is_finite());
        let record = log.next().expect("a row").expect("a row");
        for wanted in 0..2 {
            prop_assert_eq!(record.number(wanted).map(f64::to_bits), expected.map(f64::to_bits));
        }
    }

    /// Whatever bytes a file holds, reading it ends.
    #[test]
    fn no_bytes_make_a_log_panic(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\":,\n\r 1ae".to_vec())], 0..300),
        name in prop::sample::select(vec!["log.csv", "log.tsv", "log.ndjson", "log.parquet"]),
    ) {
        let header: &[u8] = match name {
            "log.ndjson" => b"{\"a\": 1}\n",
            "log.parquet" => b"PAR1",
            _ => b"a\n",
        };
        let ending: &[u8] = if name == "log.parquet" { b"\x08\0\0\0PAR1" } else { b"" };
        let (_folder, path) = file(name, [header, &bytes, ending].concat());
        prop_assert!(rows(&path, &["a"]).map_or_else(|error| !error.to_string().is_empty(), |rows| rows.len() <= 300));
    }
}
