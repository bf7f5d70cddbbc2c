//! Numbers and texts as people write them. The corpus in `testdata/messy` has the dialects; here is what a small file cannot show.

use std::fmt::Write as _;
use std::path::Path;

use rarely_data::{Cases, Columns, DataError, LogTime, LoggedCase, sketch};
use rarely_policy::{DataFormat, DecimalMark, PolicyDocument};

use crate::support::{file, message};

const POLICY: &str = r#"
policy = "dose"
options = ["0", "1"]
option_column = "given"
outcome = { column = "score", range = [0, 10] }
[[features]]
column = "weight"
range = [0, 1000000]
[rule]
threshold = { feature = "weight", cuts = [], options = ["0"] }
"#;

fn document() -> PolicyDocument {
    PolicyDocument::parse(POLICY, "policy.toml").expect("a document")
}

/// The weights, options and rewards of a file.
fn read(path: &Path, document: &PolicyDocument) -> Result<Vec<(f64, usize, f64)>, DataError> {
    let mut cases = Cases::open(document, &Columns::of(document), &[path.to_owned()], 0)?;
    let mut case = LoggedCase::new(document);
    let mut found = Vec::new();
    while cases.next(&mut case)? {
        found.push((case.context[1] * 1e6, case.arm.index(), case.reward));
    }
    Ok(found)
}

/// Rows that tell nothing about the decimal mark, and are more than what is looked at.
fn neutral_rows() -> String {
    let mut text = "weight;given;score\n".to_owned();
    for row in 0..10_000 {
        let _ = writeln!(text, "{};{};{}", 100 + row % 900, row % 2, row % 10);
    }
    assert!(text.len() > 1 << 16);
    text
}

#[test]
fn a_number_with_two_readings_behind_the_beginning_is_refused_with_its_line() {
    let (folder, path) = file("log.csv", neutral_rows() + "162.320;1;3\n");
    let said = message(read(&path, &document()), &folder);
    assert!(
        said.starts_with("log.csv, line 10002, column 1 (weight): found \"162.320\", which is 162.32 with a decimal point and 162320 with a decimal comma;"),
        "{said}"
    );
    let document =
        |decimal| document().with_data_format(DataFormat { decimal: Some(decimal), ..DataFormat::default() });
    let last = |decimal| read(&path, &document(decimal)).expect("cases").pop().expect("a case").0;
    assert!((last(DecimalMark::Comma) - 162_320.0).abs() < 1e-6);
    assert!((last(DecimalMark::Point) - 162.32).abs() < 1e-9);
}

#[test]
fn a_mark_that_contradicts_the_beginning_is_an_error_with_its_line() {
    let german = neutral_rows().replacen("100;0;0", "100,5;0;0", 1);
    let (folder, path) = file("log.csv", german.clone() + "12.5;1;3\n");
    let said = message(read(&path, &document()), &folder);
    assert!(said.starts_with("log.csv, line 10002, column 1 (weight): found \"12.5\", but the numbers of this column are read as at the beginning of the file: decimal comma"), "{said}");
    let (_folder, path) = file("log.csv", german + "1.012,5;1;3\n");
    assert_eq!(read(&path, &document()).expect("cases").last(), Some(&(1012.5, 1, 3.0)));
}

#[test]
fn keys_and_words_keep_their_marks() {
    let policy = POLICY.replacen("[rule]", "[evidence]\nkey = \"id\"\n[rule]", 1);
    let keyed = PolicyDocument::parse(&policy, "policy.toml").expect("a document");
    let (_folder, path) = file("log.csv", "id,weight,given,score\n1.001,5,0,1\n1.002,6,1.0,2\n");
    assert_eq!(read(&path, &keyed).expect("cases"), [(5.0, 0, 1.0), (6.0, 1, 2.0)]);
}

#[test]
fn a_format_that_is_asked_for_is_not_looked_for() {
    let (_folder, path) = file("log.csv", "weight;a,given;b,score;c\n1;2,0,5\n");
    let names = |separator: Option<&str>| {
        let format =
            DataFormat { separator: separator.map(|text| text.parse().expect("one")), ..DataFormat::default() };
        let columns = sketch(&path, &format).expect("a sketch").columns;
        columns.into_iter().map(|column| column.name).collect::<Vec<_>>()
    };
    assert_eq!(names(Some(",")), ["weight;a", "given;b", "score;c"]);
    assert_eq!(names(Some("|")), ["weight;a,given;b,score;c"]);
}

#[test]
fn an_encoding_that_is_asked_for_is_used() {
    let (folder, path) = file("log.csv", b"weight,given,score,\xe4\n5,0,1,x\n\xe4,0,1,\xe4\n");
    let latin = sketch(&path, &DataFormat::default()).expect("a sketch");
    assert_eq!((latin.columns[3].name.as_str(), latin.read_as.as_deref()), ("ä", Some("Windows-1252")));
    let asked = DataFormat { encoding: Some("utf-8".parse().expect("an encoding")), ..DataFormat::default() };
    let said = message(sketch(&path, &asked), &folder);
    assert!(said.starts_with("log.csv, line 1, column 4: found the name \"\u{fffd}\", which is not UTF-8\nhelp: save the file as UTF-8, or write its encoding"), "{said}");
    // Half a character at the end.
    let (folder, path) = file("log.csv", b"\xff\xfew\0,\0b\0\n\x001\0,\x002\0\n\0\x00\xd8");
    assert!(message(sketch(&path, &DataFormat::default()), &folder).contains("no text in the encoding of the file"));
}

#[test]
fn times_are_compared_as_times() {
    let policy = POLICY.replacen("[rule]", "[evidence]\ntime = \"when\"\n[rule]", 1);
    let timed = PolicyDocument::parse(&policy, "policy.toml").expect("a document");
    let text = "when,weight,given,score\n2026-11-17T09:00+02:00,5,0,1\n2026-W47-2T08:00Z,6,1,2\n20261118,6,1,2\n";
    let (_folder, path) = file("log.csv", text);
    let columns = Columns { any_order: false, ..Columns::of(&timed) };
    let mut cases = Cases::open(&timed, &columns, &[path], 0).expect("a log");
    let mut case = LoggedCase::new(&timed);
    let mut seconds = Vec::new();
    while cases.next(&mut case).expect("a case") {
        assert!(matches!(case.log_time, Some(LogTime::Instant(_))));
        seconds.extend(case.seconds);
    }
    assert_eq!(seconds, [1_794_898_800, 1_794_902_400, 1_794_960_000]);
}

/// Many threads, each with pieces of text that had to be decoded first.
#[test]
fn a_long_file_of_another_encoding_is_the_same_log() {
    let text = neutral_rows().replacen("100;0;0", "100,5;0;0", 1) + &neutral_rows()["weight;given;score\n".len()..];
    let (_folder, plain) = file("log.csv", &text);
    let wide: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let (_other, wide) = file("log.csv", wide);
    let shared = |path: &Path| {
        let document = document();
        let mut cases = Cases::open(&document, &Columns::of(&document), &[path.to_owned()], 0).expect("a log");
        let mut workers = [(0_u64, 0.0); 3];
        let add = |sum: &mut (u64, f64), case: &LoggedCase| *sum = (sum.0 + 1, sum.1 + (case.context[1] * 1e6).round());
        cases.share(&mut workers, add, |_| Ok::<(), DataError>(())).expect("cases");
        workers.iter().fold((0, 0.0), |all, sum| (all.0 + sum.0, all.1 + sum.1))
    };
    assert_eq!(shared(&plain).0, 20_000);
    assert_eq!(shared(&plain), shared(&wide));
}
