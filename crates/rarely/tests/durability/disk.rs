//! A disk that fails: every write and every sync of the store's files in turn, once or for good.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::service::{DOCUMENT, Service, assert_verified};

/// Fails the n-th call that would change the store, as the environment says. Loaded before the C library.
const SHIM: &str = include_str!("failing_disk.c");
/// No life below makes more calls than this.
const MOST_CALLS: usize = 400;

fn shim(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("failing_disk.c"), folder.join("failing_disk.so"));
    std::fs::write(&source, SHIM).expect("written");
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl").status();
    assert!(compiled.is_ok_and(|status| status.success()), "cc, which Rust links with, compiles it");
    library
}

/// What was acknowledged in a short life, as (request, answer).
#[derive(Default)]
struct Short {
    decisions: Vec<(String, serde_json::Value)>,
    outcomes: Vec<(u64, serde_json::Value)>,
    refused: usize,
    /// What was said instead.
    said: Vec<String>,
}

fn live(service: &Service) -> Short {
    let mut short = Short::default();
    for _ in 0..2 {
        match service.post("/v1/policies", DOCUMENT) {
            Some(answer) if answer.is_success() => break,
            other => short.note(other),
        }
    }
    for at in 0..8 {
        let key = format!("k{at}");
        match service.decide(&key) {
            Some(answer) if answer.is_success() => {
                let decision = answer.json();
                let number = decision["decision"].as_u64().expect("a number");
                short.decisions.push((key, decision));
                match service.outcome(number) {
                    Some(answer) if answer.is_success() => short.outcomes.push((number, answer.json())),
                    other => short.note(other),
                }
            }
            other => short.note(other),
        }
    }
    short
}

impl Short {
    /// What failed is said to have failed: it is the service's fault, or there is no policy.
    fn note(&mut self, answer: Option<crate::client::Answer>) {
        self.refused += 1;
        self.said.push(answer.as_ref().map_or_else(|| "no answer".to_owned(), |answer| format!("{answer:?}")));
        if let Some(answer) = answer {
            assert!(matches!(answer.status, 503 | 404), "{answer:?}");
        }
    }
}

fn fail(mode: &str, error: &str, every: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let library = shim(folder.path());
    let (mut reached, mut refusals) = (0, 0);
    for call in (1..MOST_CALLS).step_by(every) {
        let own = tempfile::tempdir().expect("a folder");
        let (store, counter) = (own.path().join("rarely.db"), own.path().join("calls"));
        let environment = [
            ("LD_PRELOAD", library.display().to_string()),
            ("FAILING_DISK_CALL", call.to_string()),
            ("FAILING_DISK_MODE", mode.to_owned()),
            ("FAILING_DISK_ERROR", error.to_owned()),
            ("FAILING_DISK_COUNTER", counter.display().to_string()),
        ];
        let short = match Service::start(&store, &environment) {
            Ok(service) => {
                let short = live(&service);
                service.kill();
                short
            }
            Err(said) => {
                assert!(said.contains("rarely.db"), "it says which file failed: {said}");
                Short::default()
            }
        };
        assert!(
            mode != "once" || short.refused <= 2,
            "call {call}: it goes on after one failure, {} refused: {:#?}",
            short.refused,
            short.said
        );
        refusals += usize::from(short.refused > 0);
        if store.exists() && !short.decisions.is_empty() {
            let again = Service::start(&store, &[]).unwrap_or_else(|said| panic!("call {call} {mode}: {said}"));
            for (key, before) in &short.decisions {
                assert_eq!(again.decide(key).expect("an answer").json(), *before, "call {call} {mode}");
            }
            for (decision, before) in &short.outcomes {
                let outcome = again.outcome(*decision).expect("an answer").json();
                assert_eq!(outcome["event"], before["event"], "call {call} {mode}");
            }
            again.kill();
            assert_verified(&store, &format!("call {call} {mode}"));
        }
        if !counter.exists() {
            // The life ended before that many calls: all of them have failed once.
            break;
        }
        reached = call;
    }
    println!("{mode} {error}: {reached} calls failed in turn, {refusals} lives were told so");
    assert!(reached > 20 && refusals > 10, "the shim is at work: {reached} calls, {refusals} refusals");
    assert!(reached + every < MOST_CALLS, "every call was reached");
}

#[test]
fn every_write_and_sync_fails_once() {
    fail("once", "EIO", 1);
}

#[test]
fn the_disk_fails_for_good() {
    fail("from", "EIO", 3);
}

/// From the first refusal on `/readyz` says why, every time, and a batch does not look like a success.
#[test]
fn a_full_disk_is_said_by_every_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("rarely.db");
    let environment = [
        ("LD_PRELOAD", shim(folder.path()).display().to_string()),
        ("FAILING_DISK_CALL", "150".to_owned()),
        ("FAILING_DISK_MODE", "from".to_owned()),
        ("FAILING_DISK_ERROR", "ENOSPC".to_owned()),
    ];
    let service = Service::start(&store, &environment).expect("the disk has room for a start");
    assert!(service.post("/v1/policies", DOCUMENT).is_some_and(|answer| answer.is_success()));
    let ready = || service.get("/readyz").expect("an answer");
    assert_eq!(ready().status, 200);
    let refused =
        (0..MOST_CALLS).find_map(|at| service.decide(&format!("k{at}")).filter(|answer| !answer.is_success()));
    assert_eq!(refused.expect("the disk is full by now").status, 503);
    for _ in 0..20 {
        let said = ready();
        assert_eq!(said.status, 503, "{said:?}");
        assert!(said.body.contains("the disk is full"), "{said:?}");
    }
    let line = "{\"record\":{\"age\":7}}\n";
    let batch = |lines: &str| service.post("/v1/policies/triage/decisions", lines).expect("an answer");
    assert_eq!(batch(&line.repeat(3)).status, 503, "no line was served");
    let mixed = batch(&format!("{line}{{}}\n{line}"));
    assert_eq!(mixed.status, 200, "one line was wrong: {mixed:?}");
    assert!(mixed.head.contains("rarely-failed-lines: 2"), "{mixed:?}");
    let metrics = service.get("/metrics").expect("an answer").body;
    assert!(metrics.contains("\nrarely_batch_lines_failed_total 5\n"), "{metrics}");
    service.kill();
}

#[test]
fn the_disk_is_full() {
    fail("from", "ENOSPC", 3);
}
