//! `--shard` and `rarely lab merge`: what several machines play is what one plays, byte for byte.

use std::fs;

use crate::program::{Place, assert_same_files, assert_snapshot_of, data, talk};

const SIMULATE: &str = "simulate --runs 3 --rounds 60 --algorithms rarely,fixed,thompson";

/// Plays every shard of a command in `shards`.
fn play(place: &Place, command: &str, count: usize) {
    for number in 1..=count {
        let output = place.done(&format!("{command} --shard {number}/{count} --out shards"));
        assert!(output.stdout.is_empty(), "a shard has no answer yet");
    }
}

/// The number of runs in the file of a shard.
fn runs_of(place: &Place, shard: &str) -> usize {
    // The first line is the header and the last the checksum.
    place.text(&format!("shards/{shard}/shard.ndjson")).lines().count() - 2
}

/// Three shards, merged, are the command as one machine runs it: every file and the answer.
fn merges(command: &str, format: &str) {
    let place = Place::new();
    play(&place, command, 3);
    let shards: Vec<String> = (1..=3).map(|number| format!("shard-{number}-of-3")).collect();
    assert_eq!(place.names("shards"), shards.iter().map(|shard| format!("{shard}/shard.ndjson")).collect::<Vec<_>>());
    let runs: Vec<usize> = shards.iter().map(|shard| runs_of(&place, shard)).collect();
    assert!(runs.iter().max() <= runs.iter().min().map(|least| least + 1).as_ref(), "unequal parts: {runs:?}");

    let whole = place.done(&format!("{command} --threads 1 --out whole {format}"));
    let merged = place.done(&format!("lab merge shards --out merged {format}"));
    assert!(talk(&merged).contains("merging 3 shards of `rarely "), "{}", talk(&merged));
    assert!(!talk(&merged).contains("resuming"), "{}", talk(&merged));
    assert_same_files(&place.files("whole"), &place.files("merged"));
    assert_eq!(data(&whole), data(&merged));
}

#[test]
fn simulate_is_merged() {
    merges(&format!("{SIMULATE} --seed 7 --environment quadratic --prior-mean -0.5"), "--format csv");
}

#[test]
fn sweep_is_merged() {
    merges(
        "sweep --vary penalty=0.01,0.1 --vary prior-mean=-1,0 --runs 2 --rounds 60 --algorithms rarely,linucb",
        "--format csv",
    );
}

/// Some cells of the sweep are equal: their runs are played once.
#[test]
fn runs_that_several_experiments_share_are_played_once() {
    let command = "sweep --vary penalty=0.1,0.1,0.2 --runs 3 --rounds 60 --algorithms rarely,linucb";
    merges(command, "--format csv");
    let place = Place::new();
    play(&place, command, 1);
    assert_eq!(runs_of(&place, "shard-1-of-1"), 2 * 3 * 2);
}

#[test]
fn ihdp_is_merged() {
    merges("ihdp --realisations 2 --runs 2 --rounds 60 --algorithms rarely,linucb", "--format csv");
}

#[test]
fn frontier_is_merged() {
    merges("frontier --runs 2 --rounds 40 --arms 2 --dim 2", "--format csv");
}

#[test]
fn grid_is_merged() {
    merges("grid --runs 1 --rounds 10 --realisations 1", "--format csv");
}

#[test]
fn reproduce_is_merged() {
    merges("reproduce --runs 2 --rounds 10", "");
}

/// More shards than runs: some have none. Directories may be named one by one, in any order.
#[test]
fn shards_without_runs_are_merged_too() {
    let place = Place::new();
    let command = "simulate --runs 1 --rounds 20 --algorithms rarely,fixed";
    play(&place, command, 4);
    let _ = place.done(&format!("{command} --out whole"));
    let names = [3, 1, 4, 2].map(|number| format!("shards/shard-{number}-of-4")).join(" ");
    let _ = place.done(&format!("lab merge {names} --out merged"));
    assert_same_files(&place.files("whole"), &place.files("merged"));
}

/// The data of `--table` are read again where the shards are merged.
#[test]
fn other_data_are_noticed() {
    let place = Place::new();
    let people = |last: f64| {
        let row = |at: u8| format!("{},{},{}\n", f64::from(at) / 30.0, at % 2, at % 3);
        format!("x,outcome:a,outcome:b\n{}0.5,1,{last}\n", (0..30).map(row).collect::<Vec<_>>().concat())
    };
    place.write("people.csv", people(0.0));
    play(&place, "simulate --table people.csv --runs 2 --algorithms rarely,fixed", 2);
    let _ = place.done("lab merge shards --out merged");
    place.write("people.csv", people(1.0));
    assert_snapshot_of!(place.rarely("lab merge shards --out other"));
    assert!(place.names("other").is_empty(), "nothing was written");
    let output = place.done("simulate --table people.csv --runs 2 --algorithms rarely,fixed --shard 2/2 --out others");
    assert!(talk(&output).contains("shard 2/2"), "{}", talk(&output));
    assert_snapshot_of!(place.rarely("lab merge shards/shard-1-of-2 others --out other"));
}

/// A shard that was stopped resumes; one that was finished is not played again.
#[test]
fn a_shard_resumes() {
    let place = Place::new();
    play(&place, SIMULATE, 2);
    let _ = place.done(&format!("{SIMULATE} --out whole"));
    let finished = place.text("shards/shard-2-of-2/shard.ndjson");
    let output = place.done(&format!("{SIMULATE} --shard 2/2 --out shards"));
    assert!(talk(&output).contains("shard 2/2 was finished before"), "{}", talk(&output));
    assert_eq!(place.text("shards/shard-2-of-2/shard.ndjson"), finished, "it was not played again");

    // Two runs were finished, and the third was cut off.
    let lines: Vec<&str> = finished.lines().collect();
    let half = &lines[3][..lines[3].len() / 2];
    place.write("shards/shard-2-of-2/unfinished.ndjson", format!("{}\n{}\n{half}", lines[1], lines[2]));
    fs::remove_file(place.path("shards/shard-2-of-2/shard.ndjson")).expect("a file");
    assert_snapshot_of!(place.rarely("lab merge shards --out merged"));
    let output = place.done(&format!("{SIMULATE} --shard 2/2 --out shards"));
    assert!(talk(&output).contains("resuming: 2 runs were finished before"), "{}", talk(&output));
    assert_eq!(place.names("shards/shard-2-of-2"), ["shard.ndjson"]);
    let again = place.text("shards/shard-2-of-2/shard.ndjson");
    assert_eq!(again.lines().take(3).collect::<Vec<_>>(), lines[..3], "finished runs were not played again");
    let _ = place.done("lab merge shards --out merged");
    assert_same_files(&place.files("whole"), &place.files("merged"));
}

#[test]
fn a_damaged_shard_is_refused_and_played_again() {
    let place = Place::new();
    play(&place, SIMULATE, 2);
    let _ = place.done("lab merge shards --out before");
    let name = "shards/shard-1-of-2/shard.ndjson";
    let whole = place.text(name);
    let at = whole.find("\"regret\":[").expect("a result") + "\"regret\":[".len();
    let digit = if whole.as_bytes()[at] == b'1' { "2" } else { "1" };
    place.write(name, format!("{}{digit}{}", &whole[..at], &whole[at + 1..]));
    assert_snapshot_of!(place.rarely("lab merge shards --out merged"));
    place.write(name, &whole[..whole.len() / 2]);
    assert_snapshot_of!(place.rarely("lab merge shards --out merged"));
    assert!(place.names("merged").is_empty(), "nothing was written");
    play(&place, SIMULATE, 2);
    let _ = place.done("lab merge shards --out merged");
    assert_same_files(&place.files("before"), &place.files("merged"));
}

#[test]
fn missing_shards_are_named() {
    let place = Place::new();
    play(&place, SIMULATE, 3);
    fs::remove_dir_all(place.path("shards/shard-2-of-3")).expect("a directory");
    assert_snapshot_of!(place.rarely("lab merge shards --out merged"));
    fs::remove_dir_all(place.path("shards/shard-1-of-3")).expect("a directory");
    assert_snapshot_of!(place.rarely("lab merge shards --out merged"));
    assert!(place.names("merged").is_empty(), "nothing was written");
}

#[test]
fn a_shard_that_is_given_twice_is_refused() {
    let place = Place::new();
    play(&place, SIMULATE, 2);
    assert_snapshot_of!(place.rarely("lab merge shards shards/shard-1-of-2 --out merged"));
}

#[test]
fn shards_of_different_seeds_are_refused() {
    let place = Place::new();
    play(&place, SIMULATE, 2);
    let _ = place.done(&format!("{SIMULATE} --seed 2 --shard 2/2 --out others"));
    assert_snapshot_of!(place.rarely("lab merge shards/shard-1-of-2 others --out merged"));
    assert_snapshot_of!(place.rarely(&format!("{SIMULATE} --seed 2 --shard 1/2 --out shards")));
}

#[test]
fn an_experiment_that_was_divided_in_two_ways_is_refused() {
    let place = Place::new();
    play(&place, SIMULATE, 2);
    let _ = place.done(&format!("{SIMULATE} --shard 2/3 --out shards"));
    assert_snapshot_of!(place.rarely("lab merge shards --out merged"));
}

#[test]
fn directories_without_shards_are_refused() {
    let place = Place::new();
    let _ = place.done(&format!("{SIMULATE} --out whole"));
    assert_snapshot_of!(place.rarely("lab merge whole --out merged"));
    assert_snapshot_of!(place.rarely("lab merge nowhere --out merged"));
}

/// An explicit default, another order of the arguments, threads and format make no other experiment.
#[test]
fn what_results_do_not_depend_on_may_differ() {
    let place = Place::new();
    let _ = place.done(&format!("{SIMULATE} --shard 1/2 --out shards"));
    let _ = place.done(
        "simulate --threads 2 --format json --seed 1 --algorithms rarely,fixed,thompson --rounds 60 --arms 4 --runs 3 --shard 2/2 --out shards",
    );
    let _ = place.done("lab merge shards --out merged");
}

#[test]
fn texts_that_are_no_shard_are_refused() {
    let place = Place::new();
    for shard in ["0/4", "5/4", "x", "1/0"] {
        assert_snapshot_of!(place.rarely(&format!("{SIMULATE} --shard {shard} --out out")));
    }
    assert_snapshot_of!(place.rarely(&format!("{SIMULATE} --shard 1/2")));
    assert!(place.names("").is_empty(), "nothing was written");
}
