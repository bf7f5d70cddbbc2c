//! Cases: rows in the terms of a policy document, and every mistake with its place, its value and its remedy.

use parquet::basic::Compression;
use rarely_data::{Cases, CasesError, Columns, DataError, LoggedCase};

use crate::support::{Column, cases, columns, document, file, message, parquet};

const HEADER: &str = "id,systolic,diabetic,\"age, in years\",given,wellbeing,chance,seen\n";
const GOOD: &str = "1,150,yes,60,treat,0.75,0.5,2026-01-01\n";

fn check(row: &str, expected: &str) {
    let (folder, path) = file("log.csv", format!("{HEADER}{GOOD}\n{row}\n{GOOD}"));
    let found = message(cases(&columns(true, true), &[path], 0), &folder);
    assert_eq!(found, expected);
}

#[test]
fn rows_become_cases() {
    let (_folder, path) = file(
        "log.csv",
        format!(
            "{HEADER}{GOOD}2, 80 ,no,1.2e2,\"watch\",1,1,2026-01-01\n3,220,yes,0,refer,0,1e-3,2026-01-02T00:00:00Z\n"
        ),
    );
    let (found, rejected) = cases(&columns(true, true), std::slice::from_ref(&path), 0).expect("cases");
    let case = |context: [f64; 4], arm, reward, propensity, time: &str, row_in_file| LoggedCase {
        context: context.to_vec(),
        arm: rarely_core::Arm::new(arm),
        reward,
        propensity: Some(propensity),
        propensities: Vec::new(),
        key: None,
        cluster: None,
        weight: 1.0,
        guardrails: Vec::new(),
        levels: Vec::new(),
        group: String::new(),
        time: Some(time.to_owned()),
        log_time: rarely_output::UtcInstant::parse(time).map(rarely_data::LogTime::Instant),
        seconds: Some(1_767_225_600 + 86_400 * i64::from(time.starts_with("2026-01-02"))),
        row_in_file,
        file: 0,
        position: row_in_file,
    };
    assert_eq!(
        found,
        [
            case([1.0, 0.5, 1.0, 0.5], 1, 0.75, 0.5, "2026-01-01", 0),
            case([1.0, 0.0, 0.0, 1.0], 0, 1.0, 1.0, "2026-01-01", 1),
            case([1.0, 1.0, 1.0, 0.0], 2, 0.0, 1e-3, "2026-01-02T00:00:00Z", 2),
        ]
    );
    assert!(rejected.is_empty());
    let (found, _) = cases(&columns(false, false), &[path], 0).expect("cases");
    assert_eq!((found[0].propensity, &found[0].time), (None, &None));
}

#[test]
fn a_value_that_the_policy_does_not_accept() {
    check(
        "1,abc,yes,60,treat,0.75,0.5,2026-01-01",
        "log.csv, line 4, column 2 (systolic): systolic is \"abc\", but must be a number\nhelp: correct the value, or leave the row out",
    );
    check(
        "1,NaN,yes,60,treat,0.75,0.5,2026-01-01",
        "log.csv, line 4, column 2 (systolic): systolic is \"NaN\", but must be a number\nhelp: correct the value, or leave the row out",
    );
    check(
        "1,1500,yes,60,treat,0.75,0.5,2026-01-01",
        "log.csv, line 4, column 2 (systolic): systolic is 1500, above its range 80–220 mmHg\nhelp: correct the value, or widen the range in the policy document",
    );
    check(
        "1,150,Yes,60,treat,0.75,0.5,2026-01-01",
        "log.csv, line 4, column 3 (diabetic): diabetic is \"Yes\", which is not one of its levels\nhelp: did you mean \"yes\"? the levels in the policy document are \"no\", \"yes\"",
    );
    check(
        "1,150,yes,60,traet,0.75,0.5,2026-01-01",
        "log.csv, line 4, column 5 (given): given is \"traet\", which is not an option of the policy\nhelp: did you mean \"treat\"? the options in the policy document are \"watch\", \"treat\", \"refer\"",
    );
    check(
        "1,150,yes,60,treat,,0.5,2026-01-01",
        "log.csv, line 4, column 6 (wellbeing): wellbeing is empty, but must be a number\nhelp: fill it in, leave the row out, or declare missing = \"drop\" in the policy document",
    );
    check(
        "1,150,yes,60,treat,-0.25,0.5,2026-01-01",
        "log.csv, line 4, column 6 (wellbeing): wellbeing is -0.25, below its range 0–1\nhelp: correct the value, or widen the range in the policy document",
    );
    check(
        "1,150,yes,60,treat,0.75,0,2026-01-01",
        "log.csv, line 4, column 7 (chance): the propensity is 0, but must be above 0 and at most 1\nhelp: give the probability with which the option was chosen",
    );
    check(
        "1,150,yes,60,treat,0.75,0.5",
        "log.csv, line 4, column 8 (seen): this column is missing: the row has 7 of 8 columns\nhelp: give every row one field for each name in the header",
    );
}

#[test]
fn time_does_not_go_backwards() {
    check(
        "1,150,yes,60,treat,0.75,0.5,2025-12-31T23:59:59Z",
        "log.csv, line 4, column 8 (seen): found 2025-12-31T23:59:59Z, which is before 2026-01-01 (log.csv, line 2, column 8 (seen))\nhelp: sort the rows by time, and give files in that order; a time without a zone is taken as Greenwich's",
    );
    let ending = "which is neither a number nor a time of ISO 8601 like 2026-11-16, 2026-W47-1 or 2026-11-16T08:30:00Z\nhelp: write times in one of these ways";
    for (time, shown) in [
        ("", "nothing"),
        ("01/02/2026", "\"01/02/2026\""),
        ("2026-1-1", "\"2026-1-1\""),
        ("2026-01-01 noon", "\"2026-01-01 noon\""),
        ("nan", "\"nan\""),
    ] {
        check(
            &format!("1,150,yes,60,treat,0.75,0.5,{time}"),
            &format!("log.csv, line 4, column 8 (seen): found {shown}, {ending}"),
        );
    }
    check(
        "1,150,yes,60,treat,0.75,0.5,20260101",
        "log.csv, line 4, column 8 (seen): found \"20260101\", but the row before has \"2026-01-01\"\nhelp: write all times as numbers, or all like 2026-11-16T08:30:00Z",
    );
    // Numbers are compared as numbers; equal times may follow each other, also in another file.
    let row = |time: &str| format!("1,150,yes,60,treat,0.75,0.5,{time}\n");
    let (first_folder, first) = file("first.csv", format!("{HEADER}{}{}{}", row("9"), row("9"), row("10")));
    let (second_folder, second) = file("second.csv", format!("{HEADER}{}{}", row("1e1"), row("11")));
    let (found, _) = cases(&columns(false, true), &[first.clone(), second.clone()], 0).expect("in order");
    assert_eq!(
        found.iter().map(|case| case.time.clone().expect("a time")).collect::<Vec<_>>(),
        ["9", "9", "10", "1e1", "11"]
    );
    assert_eq!(found.iter().map(|case| case.row_in_file).collect::<Vec<_>>(), [0, 1, 2, 0, 1]);
    let found = message(cases(&columns(false, true), &[second, first], 0), &first_folder);
    let folder = format!("{}/", second_folder.path().display());
    assert_eq!(
        found.replace(&folder, ""),
        "first.csv, line 2, column 8 (seen): found 9, which is before 11 (second.csv, line 3, column 8 (seen))\nhelp: sort the rows by time, and give files in that order; a time without a zone is taken as Greenwich's"
    );
}

#[test]
fn rejected_rows_are_listed_and_counted() {
    let bad = "1,150,maybe,60,treat,0.75,0.5,2026-01-01\n";
    let (folder, path) = file("log.csv", format!("{HEADER}{bad}{GOOD}1,2\n{GOOD}{bad}"));
    let (found, rejected) = cases(&columns(true, true), std::slice::from_ref(&path), 3).expect("few enough");
    assert_eq!(found.iter().map(|case| case.row_in_file).collect::<Vec<_>>(), [1, 3]);
    let starts = [
        "log.csv, line 2, column 3 (diabetic): ",
        "log.csv, line 4, column 3 (diabetic): ",
        "log.csv, line 6, column 3 ",
    ];
    assert_eq!(rejected.len(), 3);
    for (rejected, start) in rejected.iter().zip(starts) {
        assert!(rejected.contains(start), "{rejected}");
    }
    let level = "diabetic is \"maybe\", which is not one of its levels";
    assert_eq!(
        message(cases(&columns(true, true), &[path], 1), &folder),
        format!(
            "more than 1 rows cannot be used; the first are:\n  log.csv, line 2, column 3 (diabetic): {level}\n  log.csv, line 4, column 3 (diabetic): this column is missing: the row has 2 of 8 columns\nhelp: correct them, or raise the reject limit"
        )
    );
    let many: String = (0..3000).map(|_| bad).collect();
    let (folder, path) = file("log.csv", format!("{HEADER}{many}{GOOD}{many}"));
    let document = document();
    let mut log = Cases::open(&document, &columns(true, true), std::slice::from_ref(&path), 6000).expect("cases");
    let mut case = LoggedCase::new(&document);
    assert!(log.next(&mut case).expect("a case"));
    assert_eq!((log.rejected().len(), log.rejected_count(), case.row_in_file), (1000, 3000, 3000));
    assert!(!log.next(&mut case).expect("the end"));
    assert_eq!((log.rejected().len(), log.rejected_count()), (1000, 6000));
    assert!(!log.next(&mut case).expect("still the end"));
    let found = message(cases(&columns(true, true), &[path], 5999), &folder);
    assert_eq!(found.lines().count(), 7);
}

#[test]
fn bad_files_are_errors() {
    let (folder, path) = file("log.csv", HEADER);
    assert_eq!(
        message(cases(&columns(true, true), std::slice::from_ref(&path), 9), &folder),
        "log.csv: there is no row\nhelp: add one row for every case"
    );
    let bad = "1,150,maybe,60,treat,0.75,0.5,2026-01-01\n";
    let (_other, full) = file("other.csv", format!("{HEADER}{GOOD}"));
    assert_eq!(cases(&columns(true, true), &[path.clone(), full.clone()], 0).expect("one case").0.len(), 1);
    let (bad_folder, bad) = file("bad.csv", format!("{HEADER}{bad}"));
    assert_eq!(
        message(cases(&columns(true, true), &[bad], 9), &bad_folder),
        "bad.csv: no row can be used; the first are:\n  bad.csv, line 2, column 3 (diabetic): diabetic is \"maybe\", which is not one of its levels\nhelp: correct the rows"
    );
    let twice = folder.path().join(".").join("log.csv");
    assert_eq!(
        message(cases(&columns(true, true), &[path.clone(), twice], 0), &folder),
        "./log.csv: the file is given twice, and its rows would count twice\nhelp: name the file once"
    );
    assert_eq!(
        message(cases(&columns(true, true), &[], 0), &folder),
        "no file was given\nhelp: name at least one file"
    );
    // The second file is looked at before the first row of the first is read.
    let (late_folder, late) = file("late.csv", "systolic,wellbeing,given\n");
    let opened = Cases::open(&document(), &columns(false, false), &[full, late], 0).map(|_| ());
    assert_eq!(
        message(opened, &late_folder),
        "late.csv: no column \"diabetic\"; the columns are systolic, wellbeing, given\nhelp: correct the name, or rename the column"
    );
    let rejected = cases(&columns(true, true), &[path], 0).expect_err("no row");
    assert!(matches!(rejected, DataError::Cases(CasesError::NoRow { .. })));
}

#[test]
fn numbers_and_words_of_other_formats() {
    let schema = "message log {
        required int64 systolic; required boolean diabetic_flag; optional double \"unused\"; required int32 given;
        optional double wellbeing; required int64 seen (TIMESTAMP(MICROS, false));
    }";
    let schema = schema.replace("\"unused\"", "unused");
    let policy = r#"
        policy = "numbered"
        options = ["0", "1"]
        outcome = { column = "wellbeing", range = [0, 1], better = "lower" }
        [[features]]
        column = "systolic"
        range = [80, 220]
        [[features]]
        column = "diabetic_flag"
        levels = ["false", "true"]
        [rule]
        threshold = { feature = "systolic", cuts = [140], options = ["0", "1"] }
    "#;
    let document = rarely_policy::PolicyDocument::parse(policy, "numbered.toml").expect("a document");
    let content = parquet(
        &schema,
        &[
            Column::Wholes(vec![Some(150), Some(80)]),
            Column::Booleans(vec![true, false]),
            Column::Numbers(vec![None, None]),
            Column::Wholes(vec![Some(1), Some(0)]),
            Column::Numbers(vec![Some(0.25), None]),
            Column::Wholes(vec![Some(0), Some(1)]),
        ],
        5,
        Compression::SNAPPY,
    );
    let (folder, path) = file("log.parquet", content);
    let columns = columns(false, true);
    let mut cases = Cases::open(&document, &columns, &[path], 0).expect("cases");
    let mut case = LoggedCase::new(&document);
    assert!(cases.next(&mut case).expect("a case"));
    assert_eq!((case.context.as_slice(), case.arm.index(), case.reward), ([1.0, 0.5, 1.0].as_slice(), 1, -0.25));
    assert_eq!(case.time.as_deref(), Some("1970-01-01T00:00:00.000000"));
    assert_eq!(
        message(cases.next(&mut case), &folder),
        "log.parquet, row 1 (from 0), column 5 (wellbeing): wellbeing is empty, but must be a number\nhelp: fill it in, leave the row out, or declare missing = \"drop\" in the policy document"
    );
}

#[test]
fn keys_are_hashed_and_times_are_seconds() {
    let wanted =
        Columns { key: Some("case".to_owned()), time_in_seconds: true, any_order: true, ..columns(false, true) };
    let header = "case,seen,systolic,diabetic,\"age, in years\",given,wellbeing\n";
    let rest = "150,yes,60,treat,0.5";
    let text = format!("{header}a 1,2026-01-02 00:00:00.75,{rest}\n 17 ,2026-01-01,{rest}\n");
    let (folder, path) = file("log.csv", text);
    let (found, _) = cases(&wanted, &[path], 0).expect("cases");
    let hashes: Vec<_> = found.iter().map(|case| case.key).collect();
    assert_eq!(hashes, ["a 1", "17"].map(|key| Some(rarely_policy::UnitHash::of(key))));
    assert_eq!([found[0].seconds, found[1].seconds], [Some(1_767_312_000), Some(1_767_225_600)]);
    let (_, path) = (folder, file("log.csv", format!("{header},5,{rest}\n")));
    let found = message(cases(&wanted, std::slice::from_ref(&path.1), 0), &path.0);
    assert!(found.contains("column 1 (case): case is empty, but must be the key of a row"), "{found}");
}

/// The columns of a cluster, a weight and every option's propensity.
fn more_columns() -> Columns {
    Columns {
        cluster: Some("clinic".to_owned()),
        weight: Some("w".to_owned()),
        propensities: ["p_watch", "p_treat", "p_refer"].map(str::to_owned).to_vec(),
        ..columns(false, false)
    }
}

const MORE_HEADER: &str = "systolic,diabetic,\"age, in years\",given,wellbeing,clinic,w,p_watch,p_treat,p_refer\n";

#[test]
fn clusters_weights_and_propensities() {
    let rows = "150,yes,60,treat,0.75,north, 2.5 ,0.25,0.5,0.25\n150,yes,60,watch,0.75,south,1,1,0,0\n150,yes,60,watch,0.75, north,1,1,0,0\n";
    let (_folder, path) = file("log.csv", format!("{MORE_HEADER}{rows}"));
    let (found, _) = cases(&more_columns(), &[path], 0).expect("cases");
    assert_eq!((found[0].weight, &found[0].propensities), (2.5, &vec![0.25, 0.5, 0.25]));
    assert_eq!((found[0].propensity, found[1].propensity), (Some(0.5), Some(1.0)));
    assert!(found[0].cluster.is_some() && found[0].cluster == found[2].cluster && found[0].cluster != found[1].cluster);
    for (row, expected) in [
        (
            "150,yes,60,treat,0.75,,1,0.25,0.5,0.25",
            "column 6 (clinic): clinic is empty, but must be the name of a cluster",
        ),
        ("150,yes,60,treat,0.75,a,0,0.25,0.5,0.25", "column 7 (w): w is 0, but must be a number above 0"),
        ("150,yes,60,treat,0.75,a,inf,0.25,0.5,0.25", "column 7 (w): w is \"inf\", but must be a number above 0"),
        (
            "150,yes,60,treat,0.75,a,1,1.25,0.5,0.25",
            "column 8 (p_watch): p_watch is 1.25, but must be a probability from 0 to 1",
        ),
        (
            "150,yes,60,treat,0.75,a,1,0.5,0,0.5",
            "column 9 (p_treat): p_treat is 0, but must be above 0, because its option was given",
        ),
        (
            "150,yes,60,treat,0.75,a,1,0.25,0.5,0.2",
            "(p_treat): the sum of p_watch, p_treat, p_refer is 0.9500000, but must be 1",
        ),
    ] {
        let (folder, path) = file("log.csv", format!("{MORE_HEADER}{row}\n"));
        let message = message(cases(&more_columns(), &[path], 0), &folder);
        assert!(message.starts_with("log.csv, line 2, ") && message.contains(expected), "{message}");
    }
}

#[test]
fn with_two_options_one_propensity_is_all_of_them() {
    let text = crate::support::POLICY.replace(", \"refer\"", "");
    let text = text.replacen("[rule]", "[evidence]\npropensity = \"chance\"\n[rule]", 1);
    let document = rarely_policy::PolicyDocument::parse(&text, "pressure.toml").expect("a document");
    let columns = Columns { option: "given".to_owned(), ..Columns::of(&document) };
    let (_folder, path) = file("log.csv", format!("{HEADER}{GOOD}1,150,yes,60,watch,0.75,0.125,2026-01-01\n"));
    let mut cases = Cases::open(&document, &columns, &[path], 0).expect("it opens");
    let mut case = LoggedCase::new(&document);
    let mut all = Vec::new();
    while cases.next(&mut case).expect("cases") {
        all.push(case.propensities.clone());
    }
    assert_eq!(all, [[0.5, 0.5], [0.125, 0.875]]);
}

/// A column may be wanted for two things: a group that is also a cluster, in every format.
#[test]
fn guardrails_levels_and_groups_are_read() {
    let text = "policy = \"p\"\noptions = [\"watch\", \"treat\"]\nfairness = [\"sex\"]\noutcome = { column = \"y\", range = [0, 1] }\n\
                [[features]]\ncolumn = \"x\"\nrange = [0, 1]\n[evidence]\ncluster = \"ward\"\n\
                [rule]\nthreshold = { feature = \"x\", cuts = [0.5], options = [\"watch\", \"treat\"] }\n\
                [[guardrails]]\noutcome = { column = \"stay\", range = [0, 9] }\nworse = \"higher\"\nmargin = 1\n";
    let document = rarely_policy::PolicyDocument::parse(text, "p.toml").expect("a document");
    let folder = tempfile::tempdir().expect("a folder");
    let columns = Columns { group: Some("ward".to_owned()), ..Columns::of(&document) };
    for (name, rows) in [
        ("log.csv", "x,option,y,stay,sex,ward\n0.5,treat,1,3, f ,7\n"),
        ("log.ndjson", "{\"x\":0.5,\"option\":\"treat\",\"y\":1,\"stay\":3,\"sex\":\"f\",\"ward\":7}\n"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, rows).expect("a file");
        let mut read = Cases::open(&document, &columns, &[path], 0).expect("a log");
        let mut case = LoggedCase::new(&document);
        assert!(read.next(&mut case).expect("a case"), "{name}");
        assert_eq!((case.guardrails.as_slice(), case.group.as_str()), ([-3.0].as_slice(), "7"), "{name}");
        assert_eq!(case.levels, ["f"], "{name}");
        assert!(case.cluster.is_some());
    }
    let path = folder.path().join("outside.csv");
    std::fs::write(&path, "x,option,y,stay,sex,ward\n0.5,treat,1,12,f,7\n").expect("a file");
    let mut read = Cases::open(&document, &columns, &[path], 0).expect("a log");
    let error = read.next(&mut LoggedCase::new(&document)).expect_err("refused");
    assert!(format!("{error:?}").contains("stay"), "{error:?}");
}
