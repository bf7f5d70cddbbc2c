//! `rarely review` on a pipe, which can be read only once, and on logs with times.
#![cfg(unix)]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::program::{Place, data, talk};
use crate::review_states::{POLICY, Person, answer, people, place_with};

const REVIEW: &str = "review --policy policy.toml";

/// Runs the program with a text on its standard input.
fn piped(place: &Place, arguments: &str, text: &str) -> Output {
    let mut command = place.rarely(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    let text = text.to_owned();
    let writer = std::thread::spawn(move || drop(input.write_all(text.as_bytes())));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("it was written");
    output
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", talk(output)))
}

/// What only the rows can give a second time is not there; everything else is the same as from a file.
fn assert_read_once(found: &Value, file: &Value) {
    for key in ["rows", "per_option", "estimates", "radius"] {
        assert_eq!(found[key], file[key], "{key}");
    }
    let (once, twice) =
        (found["candidates"].as_array().expect("a list"), file["candidates"].as_array().expect("a list"));
    assert_eq!(once.len(), twice.len());
    for (once, twice) in once.iter().zip(twice) {
        assert_eq!((&once["method"], &twice["method"]), (&"LeastSquaresSums".into(), &"LeastSquaresHc3".into()));
        assert_eq!((&once["rule"], &once["gain"]["estimate"]), (&twice["rule"], &twice["gain"]["estimate"]));
    }
}

#[test]
fn a_pipe_is_read_once() {
    let place = place_with(POLICY, &people(3000, 31));
    let (text, file) = (place.text("log.csv"), answer(&place, &format!("{REVIEW} --data log.csv")));
    for name in ["-", "/dev/stdin"] {
        let arguments = format!("{REVIEW} --data {name}");
        assert_read_once(&json(&piped(&place, &format!("{arguments} --format json"), &text)), &file);
        let said = piped(&place, &format!("{arguments} --out out{}", name.len()), &text);
        assert!(data(&said).contains("least squares with each arm's residual variance"), "{}", data(&said));
        let page = place.text(&format!("out{}/review.html", name.len()));
        assert!(page.contains("could not be read a second time"));
        assert!(name != "-" || page.contains("Log: standard input"));
    }
    // Propensities need a second reading too.
    place.write("policy.toml", POLICY.replace("noise = 0.05", "noise = 0.05\npropensity = \"probability\""));
    let found = json(&piped(&place, &format!("{REVIEW} --data - --format json"), &text));
    let refused = found["off_policy"][0]["refused"].as_str().expect("a refusal");
    assert!(refused.contains("second reading"), "{refused}");
    let file = answer(&place, &format!("{REVIEW} --data log.csv"));
    assert!(file["off_policy"][0]["doubly_robust"]["estimate"].is_number(), "{file}");
}

#[test]
fn a_named_pipe_is_read_once() {
    let place = place_with(POLICY, &people(3000, 32));
    let (text, file) = (place.text("log.csv"), answer(&place, &format!("{REVIEW} --data log.csv")));
    for name in ["fifo", "fifo.csv"] {
        let path = place.path(name);
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        let text = text.clone();
        let writer = std::thread::spawn(move || fs::write(path, text));
        let output = place.rarely(&format!("{REVIEW} --data {name} --format json")).output().expect("it starts");
        assert_read_once(&json(&output), &file);
        writer.join().expect("it ends").expect("it was written");
    }
}

/// A file as standard input can be read twice.
#[test]
fn a_redirected_file_is_read_twice() {
    let place = place_with(POLICY, &people(3000, 33));
    let mut command = place.rarely(&format!("{REVIEW} --data - --format json"));
    let output = command.stdin(File::open(place.path("log.csv")).expect("a file")).output().expect("it starts");
    assert_eq!(json(&output), answer(&place, &format!("{REVIEW} --data log.csv")));
}

#[test]
fn a_pipe_of_another_format_is_refused() {
    let place = place_with(POLICY, &people(10, 34));
    let path = place.path("fifo.ndjson");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
    let output = place.rarely(&format!("{REVIEW} --data fifo.ndjson")).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(talk(&output).contains("a pipe can be read only once"), "{}", talk(&output));
}

/// A log whose rows have these times, and outcomes that scatter much and depend on nothing.
fn with_times(people: &[Person], time: impl Fn(usize) -> String) -> String {
    let mut text = "day,systolic,treatment,probability,wellbeing\n".to_owned();
    for (row, person) in people.iter().enumerate() {
        let Person { systolic, treatment, probability, .. } = person;
        let wellbeing = row % 10;
        let _ = writeln!(text, "{},{systolic},{treatment},{probability},0.{wellbeing}", time(row));
    }
    text
}

/// Two rows for each of the first 28 days of every month.
fn date(row: usize) -> String {
    format!("2025-{:02}-{:02}", 1 + row / 56, 1 + row / 2 % 28)
}

#[test]
fn further_cases_are_told_in_months_at_the_rate_of_the_log() {
    let place = place_with(&POLICY.replace("[160]", "[135]"), &[]);
    let people = people(400, 35);
    place.write("log.csv", with_times(&people, date));
    let timed = answer(&place, &format!("{REVIEW} --data log.csv --time-column day"));
    assert_eq!(timed["verdict"], "cannot tell", "{timed}");
    let reason = &timed["reasons"][0];
    let (cases, days) =
        (reason["further_cases"].as_f64().expect("cases"), reason["further_days"].as_f64().expect("days"));
    // 400 rows from 1 January to 4 August 2025: 199 = 7·28 + 3.
    let span = 31.0 + 28.0 + 31.0 + 30.0 + 31.0 + 30.0 + 31.0 + 3.0;
    assert!((days - cases * span / 400.0).abs() < 1e-9 * days, "{cases} cases, {days} days");
    let output = place.rarely(&format!("{REVIEW} --data log.csv --time-column day")).output().expect("it starts");
    assert!(data(&output).contains("at the rate of the log, would decide"), "{}", data(&output));
    // Without a time column, and where times have no unit: cases only.
    place.write("numbered.csv", with_times(&people, |row| row.to_string()));
    for arguments in ["--data log.csv", "--data numbered.csv --time-column day"] {
        let found = answer(&place, &format!("{REVIEW} {arguments}"));
        assert_eq!(found["reasons"][0]["further_cases"].as_f64(), Some(cases));
        assert_eq!(found["reasons"][0]["further_days"], Value::Null, "{arguments}");
    }
}

#[test]
fn times_are_in_order_unless_the_document_says_otherwise() {
    let place = place_with(&POLICY.replace("[160]", "[135]"), &[]);
    place.write("log.csv", with_times(&people(400, 36), |row| date(399 - row)));
    let arguments = format!("{REVIEW} --data log.csv --time-column day");
    let output = place.rarely(&arguments).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
    let policy = place.text("policy.toml").replace("noise = 0.05", "noise = 0.05\norder = \"any\"");
    place.write("policy.toml", policy);
    assert!(answer(&place, &arguments)["reasons"][0]["further_days"].is_number());
}
