//! Closed pipes and full disks.

mod directory;

use std::fs::OpenOptions;
use std::process::{Output, Stdio};

use crate::program::{Place, data, talk};

/// Runs the program with a stdout that is closed.
fn with_closed_stdout(place: &Place, arguments: &str) -> Output {
    let mut child = place.rarely(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_closed_stdout_is_silent() {
    let place = Place::new();
    for arguments in ["algorithms", "--help", "simulate --help", "--version"] {
        let output = with_closed_stdout(&place, arguments);
        assert!(output.stderr.is_empty(), "{arguments}: {}", talk(&output));
        assert_eq!(output.status.code(), Some(0), "{arguments}");
    }
    for command in ["simulate", "ihdp", "sweep --vary penalty=0.1", "frontier"] {
        for format in ["table", "json", "csv"] {
            let output = with_closed_stdout(&place, &format!("{command} --runs 1 --rounds 10 --format {format}"));
            assert_eq!(output.status.code(), Some(0), "{command}: {}", talk(&output));
            assert!(!talk(&output).contains("pipe"), "{command}: {}", talk(&output));
        }
    }
}

/// The files do not depend on stdout.
#[test]
fn files_are_written_even_if_stdout_is_closed() {
    for command in [
        "simulate --runs 1 --rounds 20 --algorithms rarely",
        "ihdp --runs 1 --rounds 20 --algorithms rarely",
        "sweep --vary penalty=0.1 --runs 1 --rounds 20 --algorithms rarely",
    ] {
        let place = Place::new();
        let output = with_closed_stdout(&place, &format!("{command} --out unread"));
        assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
        let _ = place.done(&format!("{command} --out read"));
        assert_eq!(place.names("unread"), place.names("read"), "{command}");
    }
}

/// `2>&1 | head -1`, too.
#[test]
fn a_closed_stderr_is_not_an_error() {
    let place = Place::new();
    let mut child = place
        .rarely("simulate --runs 1 --rounds 20 --algorithms rarely --format csv --out out")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stderr.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(data(&output).lines().count(), 2);
    assert!(!place.names("out").contains(&"unfinished.ndjson".to_owned()));
}

#[test]
fn a_full_disk_is_an_error() {
    let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
        println!("there is no /dev/full here: a full disk was not checked");
        return;
    };
    let output = Place::new().rarely("algorithms").stdout(full).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(talk(&output).contains("standard output cannot be written to"), "{}", talk(&output));
}
