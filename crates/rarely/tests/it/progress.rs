//! Ctrl-C, and resuming afterwards.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::program::{Place, assert_same_files, data, talk};

/// A few seconds of work in 80 runs.
const COMMAND: &str =
    "simulate --runs 20 --rounds 4000 --algorithms rarely,rs-conservative,linucb,thompson --format csv";
const JOURNAL: &str = "unfinished.ndjson";

fn start(place: &Place, arguments: &str) -> Child {
    place.rarely(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn interrupt(child: Child) -> Output {
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().expect("a shell");
    assert!(kill.success(), "it was still running");
    child.wait_with_output().expect("it ends")
}

/// Runs that are in the journal as whole lines.
fn kept(place: &Place, directory: &str) -> usize {
    let journal = fs::read(place.path(directory).join(JOURNAL)).unwrap_or_default();
    journal.split(|&byte| byte == b'\n').count() - 1
}

/// Starts a command and stops it once `runs` runs are finished.
fn stopped(place: &Place, command: &str, directory: &str, runs: usize) -> Output {
    let mut child = start(place, &format!("{command} --out {directory}"));
    let started = Instant::now();
    while kept(place, directory) < runs {
        assert!(child.try_wait().expect("its state").is_none(), "it ended before it was stopped");
        assert!(started.elapsed() < Duration::from_secs(60), "no run was finished in a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = interrupt(child);
    assert_eq!(output.status.code(), Some(130), "{}", talk(&output));
    assert!(output.stdout.is_empty(), "there is no answer yet");
    output
}

fn copy(place: &Place, journal: &[u8], directory: &str) {
    fs::create_dir(place.path(directory)).expect("a directory");
    place.write(&format!("{directory}/{JOURNAL}"), journal);
}

struct Uninterrupted {
    files: BTreeMap<String, Vec<u8>>,
    answer: String,
}

/// Runs the command to its end in a directory with `expected` finished runs, which it says, and compares everything.
fn resumes(place: &Place, directory: &str, expected: usize, threads: u16, whole: &Uninterrupted) {
    let output = place.done(&format!("{COMMAND} --out {directory} --threads {threads}"));
    let said = talk(&output);
    assert!(
        said.contains(&format!("resuming: {expected} runs were finished before")),
        "{expected} in {directory}: {said}"
    );
    assert_same_files(&whole.files, &place.files(directory));
    assert_eq!(data(&output), whole.answer);
}

#[test]
fn a_stopped_command_resumes_and_gives_the_same_bytes() {
    let place = Place::new();
    let output = place.done(&format!("{COMMAND} --out whole"));
    let whole = Uninterrupted { files: place.files("whole"), answer: data(&output) };
    assert!(!whole.files.contains_key(JOURNAL), "all is done");

    let output = stopped(&place, COMMAND, "stopped", 50);
    assert_eq!(place.names("stopped"), [JOURNAL], "nothing has its final name yet");
    assert!(talk(&output).contains("finished runs are kept in stopped"), "{}", talk(&output));
    let journal = fs::read(place.path("stopped").join(JOURNAL)).expect("the journal");
    let runs = kept(&place, "stopped");
    assert!(runs >= 50);
    resumes(&place, "stopped", runs, 1, &whole);

    // What a crash may leave: the last line cut in its middle.
    let ends: Vec<usize> = (0..journal.len()).filter(|&at| journal[at] == b'\n').collect();
    let (last, end) = (ends[runs - 2] + 1, ends[runs - 1]);
    copy(&place, &journal[..usize::midpoint(last, end)], "cut");
    resumes(&place, "cut", runs - 1, 3, &whole);

    // Rubbish among the lines, and a line of zeros, as some file systems leave them.
    let mut rubbish = journal[..=ends[0]].to_vec();
    rubbish.extend_from_slice(b"\xff\xfe rubbish\n{}\n");
    rubbish.extend_from_slice(&[0; 100]);
    rubbish.push(b'\n');
    rubbish.extend_from_slice(&journal[ends[0] + 1..]);
    copy(&place, &rubbish, "rubbish");
    resumes(&place, "rubbish", runs, 2, &whole);

    // A line that lost its end is whole, and so is the one that is written after it.
    copy(&place, &journal[..end], "no-end-of-line");
    let output = stopped(&place, COMMAND, "no-end-of-line", runs + 3);
    assert!(talk(&output).contains(&format!("resuming: {runs} runs were finished before")), "{}", talk(&output));
    assert_eq!(place.names("no-end-of-line"), [JOURNAL]);
    let lines = kept(&place, "no-end-of-line");
    resumes(&place, "no-end-of-line", lines, 2, &whole);
}

/// Runs of another seed do not belong to this command: they are neither used nor reported.
#[test]
fn finished_runs_of_another_command_are_not_used() {
    let place = Place::new();
    let command = "simulate --runs 6 --rounds 2000 --algorithms rarely,rs-conservative";
    let _ = stopped(&place, command, "mixed", 3);
    let other = format!("{command} --seed 2");
    let output = place.done(&format!("{other} --out mixed"));
    let _ = place.done(&format!("{other} --out fresh"));
    // What the first command finished is still there for it.
    let mut mixed = place.files("mixed");
    assert!(mixed.remove("unfinished.ndjson").is_some(), "nothing stored is lost");
    assert_same_files(&place.files("fresh"), &mixed);
    assert!(!talk(&output).contains("resuming"), "none of them is of use here: {}", talk(&output));
}

/// Without a directory nothing can be kept, and the message says so.
#[test]
fn a_command_without_a_directory_stops_too() {
    let place = Place::new();
    let child = start(&place, "simulate --runs 1000 --rounds 20000");
    std::thread::sleep(Duration::from_millis(1_500));
    let output = interrupt(child);
    assert_eq!(output.status.code(), Some(130));
    assert!(output.stdout.is_empty());
    assert!(talk(&output).contains("--out DIR"), "{}", talk(&output));
    assert!(place.names("").is_empty());
}

/// Also a sweep, whose cells are experiments of their own, and IHDP, which is two.
#[test]
fn sweep_and_ihdp_resume_too() {
    for (command, runs) in [
        ("sweep --vary penalty=0.01,0.1,1 --runs 8 --rounds 4000 --algorithms rarely,rs-conservative", 30),
        ("ihdp --runs 12 --algorithms rarely,rs-conservative,linucb", 8),
    ] {
        let place = Place::new();
        let _ = stopped(&place, command, "stopped", runs);
        let output = place.done(&format!("{command} --out stopped"));
        assert!(talk(&output).contains("resuming"), "{}", talk(&output));
        let _ = place.done(&format!("{command} --out whole"));
        assert_same_files(&place.files("whole"), &place.files("stopped"));
    }
}

/// Also the whole reproduction, wherever it is interrupted and with any number of threads.
#[test]
fn reproduce_resumes_too_and_gives_the_same_bytes_for_any_number_of_threads() {
    let place = Place::new();
    let command = "reproduce --runs 1 --rounds 10";
    let _ = stopped(&place, &format!("{command} --threads 2"), "stopped", 150);
    assert_eq!(place.names("stopped"), [JOURNAL]);
    let output = place.done(&format!("{command} --threads 1 --out stopped"));
    assert!(talk(&output).contains("resuming"), "{}", talk(&output));
    let whole = place.done(&format!("{command} --threads 3 --out whole"));
    assert_eq!(data(&whole), data(&output));
    assert_same_files(&place.files("whole"), &place.files("stopped"));
}
