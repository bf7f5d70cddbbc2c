//! Cases that are read and worked on at the same time.

use std::fmt::Write as _;
use std::slice;

use parquet::basic::Compression;
use rarely_data::{Cases, DataError, LoggedCase};
use rarely_policy::PolicyDocument;

use crate::support::{Column, POLICY, cases, cases_of, columns, document, file, parquet};

/// Files of so many rows, each with its own outcomes.
fn opened(rows: &[usize], bad: Option<usize>) -> (Vec<tempfile::TempDir>, Cases) {
    let (mut folders, mut paths) = (Vec::new(), Vec::new());
    for (at, rows) in rows.iter().enumerate() {
        let mut text = "systolic,diabetic,\"age, in years\",given,wellbeing\n".to_owned();
        for row in 0..*rows {
            let systolic = if bad == Some(row) { 1000 } else { 80 + row % 100 };
            writeln!(text, "{systolic},yes,{},treat,{}", row % 90, (row % 1000) as f64 / 1000.0).expect("a text");
        }
        let (folder, path) = file(&format!("log-{at}.csv"), text);
        folders.push(folder);
        paths.push(path);
    }
    let cases = Cases::open(&document(), &columns(false, false), &paths, 0).expect("files");
    (folders, cases)
}

fn one_by_one(rows: &[usize]) -> Vec<LoggedCase> {
    let (_folders, mut cases) = opened(rows, None);
    let (mut found, mut case) = (Vec::new(), LoggedCase::new(&document()));
    while cases.next(&mut case).expect("a case") {
        found.push(case.clone());
    }
    found
}

#[test]
fn every_case_is_given_to_one_worker() {
    // Fewer than a block, whole blocks, and a rest; an end of a file within a block.
    for rows in [vec![1], vec![512], vec![700, 1, 5000], vec![20_000]] {
        let expected = one_by_one(&rows);
        for workers in 1..4 {
            let (_folders, mut cases) = opened(&rows, None);
            let mut found: Vec<Vec<LoggedCase>> = vec![Vec::new(); workers];
            let shared = cases.share::<_, DataError>(&mut found, |mine, case| mine.push(case.clone()), |_| Ok(()));
            shared.expect("cases");
            let mut all = found.concat();
            all.sort_by_key(|case| case.position);
            assert_eq!(all, expected, "{rows:?} by {workers}");
            assert_eq!(cases.progress().0, cases.progress().1);
        }
        let (_folders, mut cases) = opened(&rows, None);
        let mut ahead = Vec::new();
        cases.read_ahead::<DataError>(|case| ahead.push(case.clone()), |_| Ok(())).expect("cases");
        assert_eq!(ahead, expected, "in its order: {rows:?}");
    }
}

#[test]
fn a_mistake_in_the_log_ends_the_reading() {
    for bad in [0, 600, 3999] {
        let (_folders, mut cases) = opened(&[4000], Some(bad));
        let shared = cases.share::<_, DataError>(&mut [0_u64; 3], |count, _| *count += 1, |_| Ok(()));
        let message = shared.expect_err("a bad row").to_string();
        assert!(message.contains(&format!("line {}", bad + 2)), "{message}");
        let (_folders, mut cases) = opened(&[4000], Some(bad));
        assert!(cases.read_ahead::<DataError>(|_| {}, |_| Ok(())).is_err());
    }
}

#[test]
fn the_watcher_may_stop_it() {
    #[derive(Debug)]
    struct Stopped;
    impl From<DataError> for Stopped {
        fn from(error: DataError) -> Self {
            panic!("{error}")
        }
    }
    let (_folders, mut cases) = opened(&[50_000], None);
    let (mut given, mut calls) = ([Vec::new(), Vec::new()], 0);
    let shared = cases.share(
        &mut given,
        |mine, case| mine.push(case.position),
        |(read, total)| {
            assert!(0 < read && read <= total);
            calls += 1;
            if calls == 2 { Err(Stopped) } else { Ok(()) }
        },
    );
    assert!(shared.is_err() || calls < 2, "the other thread may have been much faster");
    // What was put in order was worked on.
    let mut given = given.concat();
    given.sort_unstable();
    assert!(given.iter().copied().eq(0..given.len() as u64) && !given.is_empty());
}

#[test]
#[should_panic(expected = "panicked")]
fn a_worker_that_panics_is_reported() {
    let (_folders, mut cases) = opened(&[50_000], None);
    let work = |(): &mut (), case: &LoggedCase| assert!(case.position != 20_000, "a worker panicked");
    _ = cases.share::<_, DataError>(&mut [(); 3], work, |_| Ok(()));
}

/// A text of several pieces, with every kind of row: quotation marks around line ends and other quotation marks, blank lines, mistakes.
fn irregular(line_end: &str, rows: usize) -> String {
    let mut text = format!("systolic,note,diabetic,\"age, in years\",given,wellbeing,seen{line_end}");
    for row in 0..rows {
        let note = match row % 7 {
            0 => "\"two\nlines, and a \"\"mark\"\"\"",
            1 => "5\" wide",
            2 => "\"\"",
            _ => "plain",
        };
        let systolic = if row % 997 == 500 { 1000 } else { 80 + row % 100 };
        let (age, wellbeing) = (row % 90, (row % 1000) as f64 / 1000.0);
        write!(text, "{systolic},{note},yes,{age},treat,{wellbeing},{row}").expect("a text");
        text += match row % 1501 {
            3 => ",one too many",
            _ => "",
        };
        text += line_end;
        if row % 333 == 0 {
            text += line_end;
        }
    }
    text
}

#[test]
fn pieces_end_between_rows() {
    for line_end in ["\n", "\r\n", "\r"] {
        let (_folder, path) = file("log.csv", irregular(line_end, 25_000));
        for time in [false, true] {
            let (found, rejected) = cases(&columns(false, time), slice::from_ref(&path), 100).expect("cases");
            assert_eq!((found.len(), rejected.len()), (24_958, 42), "{line_end:?}");
        }
        // With one mistake more than is allowed, the message names the first ones.
        let error = cases(&columns(false, false), &[path], 41).expect_err("too many");
        assert!(error.to_string().contains("line 7, column 8"), "{error}");
    }
}

#[test]
fn a_time_that_goes_back_is_found_between_pieces() {
    let text = irregular("\n", 25_000);
    for row in [1, 9000, 24_999] {
        let late = text.replace(&format!(",{row}\n"), ",-5\n");
        assert_ne!(late, text);
        let (_folder, path) = file("log.csv", late);
        let error = cases(&columns(false, true), &[path], 100).expect_err("backwards");
        assert!(error.to_string().contains("found -5"), "{error}");
        // A time of another kind is a row that cannot be used.
        let other = text.replace(&format!(",{row}\n"), ",2026-11-16\n");
        let (_folder, path) = file("log.csv", other);
        let (found, rejected) = cases(&columns(false, true), &[path], 100).expect("cases");
        assert_eq!((found.len(), rejected.len()), (24_957, 43));
    }
}

#[test]
fn what_ends_a_file_too_early_is_said_with_its_line() {
    let text = irregular("\n", 25_000);
    let (_folder, path) = file("log.csv", format!("{text}100,\"not closed,yes,3\n4,5\n"));
    let error = cases(&columns(false, false), &[path], 100).expect_err("not closed");
    let lines = text.lines().count();
    assert!(error.to_string().contains(&format!("line {}, column 2", lines + 1)), "{error}");
    let (_folder, path) = file("log.csv", format!("{text}100,{}", "a row without end ".repeat(1 << 20)));
    let error = cases(&columns(false, false), &[path], 100).expect_err("too long");
    assert!(error.to_string().contains(&format!("line {}", lines + 1)), "{error}");
}

#[test]
fn other_formats_are_shared_as_well() {
    let rows = 25_000;
    let systolic = |row: usize| if row % 997 == 500 { 1000.0 } else { 80.0 + (row % 100) as f64 };
    let mut lines = String::new();
    for row in 0..rows {
        let (systolic, age, wellbeing) = (systolic(row), row % 90, (row % 1000) as f64 / 1000.0);
        let line = format!(
            "{{\"systolic\":{systolic},\"diabetic\":\"yes\",\"age, in years\":{age},\"given\":\"treat\",\"wellbeing\":{wellbeing}}}"
        );
        lines += if row % 2000 == 7 { "no object" } else { &line };
        lines += if row % 333 == 0 { "\n\n" } else { "\n" };
    }
    let (_folder, ndjson) = file("log.ndjson", lines);
    let (found, rejected) = cases(&columns(false, false), &[ndjson], 100).expect("cases");
    assert_eq!((found.len(), rejected.len()), (24_962, 38));

    let words = |word: &str| Column::Words(vec![Some(word.as_bytes().to_vec()); rows]);
    let numbers = |number: &dyn Fn(usize) -> f64| Column::Numbers((0..rows).map(|row| Some(number(row))).collect());
    let schema = "message log { optional double systolic; optional binary diabetic (STRING); optional double age; \
                  optional binary given (STRING); optional double wellbeing; }";
    let document = PolicyDocument::parse(&POLICY.replace("age, in years", "age"), "pressure.toml").expect("a document");
    let in_columns =
        [numbers(&systolic), words("yes"), numbers(&|row| (row % 90) as f64), words("treat"), numbers(&|_| 0.5)];
    for rows_in_group in [300, 7000, rows] {
        let bytes = parquet(schema, &in_columns, rows_in_group, Compression::SNAPPY);
        let (_folder, path) = file("log.parquet", bytes);
        let (found, rejected) = cases_of(&document, &columns(false, false), &[path], 100).expect("cases");
        assert_eq!((found.len(), rejected.len()), (24_975, 25));
    }
}
