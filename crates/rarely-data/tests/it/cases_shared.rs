//! Cases that are read and worked on at the same time.

use std::fmt::Write as _;

use rarely_data::{Cases, DataError, LoggedCase};

use crate::support::{columns, document, file};

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
    let (mut counts, mut calls) = ([0_u64; 2], 0);
    let shared = cases.share(
        &mut counts,
        |count, _| *count += 1,
        |_| {
            calls += 1;
            if calls == 5 { Err(Stopped) } else { Ok(()) }
        },
    );
    assert!(shared.is_err());
    // What was read is worked on.
    assert_eq!(counts.iter().sum::<u64>(), 5 * 512);
}

#[test]
#[should_panic(expected = "a scoped thread panicked")]
fn a_worker_that_panics_is_reported() {
    let (_folders, mut cases) = opened(&[5000], None);
    _ = cases.read_ahead::<DataError>(|case| assert!(case.position < 700), |_| Ok(()));
}
