//! The examples of schedulers: what they run is what one machine runs, byte for byte.
#![cfg(unix)]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta_cmd::get_cargo_bin;
use serde_json::Value;

use crate::ihdp_files::record_skip;
use crate::program::{Place, assert_same_files, talk};

/// What is played instead of the examples' long commands.
const COMMAND: &str = "simulate --runs 2 --rounds 40 --algorithms rarely,fixed";
const SHARDS: u32 = 3;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> PathBuf {
    fs::canonicalize(root().join("examples/shards").join(name)).expect("an example")
}

/// A program that finds `rarely` and works in the place.
fn program(place: &Place, name: impl Into<OsString>) -> Command {
    let mut command = Command::new(name.into());
    let own = get_cargo_bin("rarely").parent().expect("a directory").to_owned();
    let found = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&found))).expect("a path");
    command.current_dir(place.path("")).env("PATH", path);
    command
}

fn succeeds(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", talk(&output));
    output.stdout
}

/// An interpreter with a module, or the test is recorded as skipped.
pub(crate) fn python_with(module: &str) -> Option<PathBuf> {
    let candidates = [root().join(".venv/bin/python"), PathBuf::from("python3")];
    let works = |python: &PathBuf| {
        let output = Command::new(python).args(["-c", &format!("import {module}")]).output();
        output.is_ok_and(|output| output.status.success())
    };
    let found = candidates.into_iter().find(works);
    if found.is_none() {
        record_skip(&format!("needs Python with {module}"));
    }
    found
}

/// `merged` is what one machine gives.
fn assert_merged(place: &Place) {
    assert_eq!(place.names("results").len(), SHARDS as usize);
    let _ = place.done(&format!("{COMMAND} --out whole"));
    assert_same_files(&place.files("whole"), &place.files("merged"));
}

#[test]
fn a_slurm_array_plays_one_shard_per_task() {
    let (place, script) = (Place::new(), example("slurm.sh"));
    succeeds(program(&place, "bash").arg("-n").arg(&script));
    let text = fs::read_to_string(&script).expect("a script");
    assert!(text.contains("\n#SBATCH --array=1-"), "shards are numbered from 1");
    for task in 1..=SHARDS {
        let mut bash = program(&place, "bash");
        bash.arg(&script).args(COMMAND.split(' ')).env("SLURM_CPUS_PER_TASK", "1");
        succeeds(bash.env("SLURM_ARRAY_TASK_ID", task.to_string()).env("SLURM_ARRAY_TASK_COUNT", SHARDS.to_string()));
    }
    let (_, merge) = text.split_once("--wrap 'rarely ").expect("how to merge");
    let _ = place.done(merge.split('\'').next().expect("an end"));
    assert_merged(&place);
}

/// Every document of a YAML file.
fn documents(python: &Path, name: &str) -> Vec<Value> {
    let program = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";
    let text = succeeds(Command::new(python).args(["-c", program]).arg(example(name)));
    serde_json::from_slice(&text).expect("JSON")
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|word| word.as_str().expect("text")).collect()
}

#[test]
fn a_kubernetes_job_plays_one_shard_per_pod() {
    let Some(python) = python_with("yaml") else { return };
    let place = Place::new();
    let shards = documents(&python, "kubernetes.yaml");
    assert_eq!(shards.iter().map(|part| &part["kind"]).collect::<Vec<_>>(), ["PersistentVolumeClaim", "Job"]);
    let job = &shards[1]["spec"];
    assert_eq!(job["completionMode"], "Indexed");
    let container = &job["template"]["spec"]["containers"][0];
    let variable = container["env"].as_array().expect("variables").iter().find(|one| one["name"] == "SHARDS");
    let count = variable.expect("the number of shards")["value"].as_str().expect("text");
    assert_eq!(count, job["completions"].to_string(), "as many shards as pods");
    let (command, arguments) = (words(&container["command"]), words(&container["args"]));
    assert!(arguments[0].contains("reproduce --full"), "{arguments:?}");
    for index in 0..SHARDS {
        let mut shell = program(&place, command[0]);
        shell.args(&command[1..]).arg(arguments[0].replace("reproduce --full", COMMAND));
        shell.env("JOB_COMPLETION_INDEX", index.to_string()).env("SHARDS", SHARDS.to_string()).env("THREADS", "1");
        succeeds(&mut shell);
    }
    let merge = documents(&python, "kubernetes-merge.yaml");
    let spec = &merge[0]["spec"]["template"]["spec"];
    assert_eq!(spec["volumes"], job["template"]["spec"]["volumes"], "it reads what the shards wrote");
    let (command, arguments) = (words(&spec["containers"][0]["command"]), words(&spec["containers"][0]["args"]));
    succeeds(program(&place, command[0]).args(&command[1..]).args(arguments));
    assert_merged(&place);
}

#[test]
fn a_dask_cluster_plays_one_shard_per_task() {
    let Some(python) = python_with("dask.distributed") else { return };
    let place = Place::new();
    let mut script = program(&place, python);
    script.arg(example("dask_shards.py")).args(["--shards", &SHARDS.to_string(), "--"]).args(COMMAND.split(' '));
    succeeds(&mut script);
    assert_merged(&place);
}
