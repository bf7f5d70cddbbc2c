//! Readers that go away, and disks that are full.

use std::fs::OpenOptions;
use std::process::{Output, Stdio};

use crate::program::{Place, data, talk};

/// Nobody reads what the program writes to stdout.
fn unread(place: &Place, arguments: &str) -> Output {
    let mut child = place.rarely(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_reader_that_goes_away_is_no_news() {
    let place = Place::new();
    for arguments in ["algorithms", "--help", "simulate --help", "--version"] {
        let output = unread(&place, arguments);
        assert!(output.stderr.is_empty(), "{arguments}: {}", talk(&output));
        assert_eq!(output.status.code(), Some(0), "{arguments}");
    }
    for command in ["simulate", "ihdp --synthetic", "sweep --vary penalty=0.1", "frontier"] {
        for format in ["table", "json", "csv"] {
            let output = unread(&place, &format!("{command} --runs 1 --rounds 10 --format {format}"));
            assert_eq!(output.status.code(), Some(0), "{command}: {}", talk(&output));
            assert!(!talk(&output).contains("pipe"), "{command}: {}", talk(&output));
        }
    }
}

/// The files do not depend on who reads stdout, and what is done is done.
#[test]
fn a_reader_that_goes_away_does_not_keep_files_from_being_written() {
    for command in [
        "simulate --runs 1 --rounds 20 --algorithms rarely",
        "ihdp --synthetic --runs 1 --rounds 20 --algorithms rarely",
        "sweep --vary penalty=0.1 --runs 1 --rounds 20 --algorithms rarely",
    ] {
        let place = Place::new();
        let output = unread(&place, &format!("{command} --out unread"));
        assert_eq!(output.status.code(), Some(0), "{}", talk(&output));
        let _ = place.done(&format!("{command} --out read"));
        assert_eq!(place.names("unread"), place.names("read"), "{command}");
    }
}

/// `2>&1 | head -1`, too.
#[test]
fn talk_that_nobody_reads_is_no_reason_to_fail() {
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
fn a_full_disk_is_news() {
    let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
        println!("there is no /dev/full here: a full disk was not checked");
        return;
    };
    let output = Place::new().rarely("algorithms").stdout(full).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(talk(&output).contains("standard output cannot be written to"), "{}", talk(&output));
}
