//! Exit code, stdout and stderr of the binary.

use std::process::{Command, Stdio};

use insta_cmd::{assert_cmd_snapshot, get_cargo_bin};

fn rarely(arguments: &[&str]) -> Command {
    let mut command = Command::new(get_cargo_bin("rarely"));
    command.args(arguments).env("NO_COLOR", "1").env("COLUMNS", "100");
    command
}

#[test]
fn help() {
    assert_cmd_snapshot!(rarely(&["--help"]));
    assert_cmd_snapshot!(rarely(&["reproduce", "--help"]));
}

#[test]
fn the_table_of_algorithms() {
    assert_cmd_snapshot!(rarely(&["algorithms"]));
}

#[test]
fn bad_input_is_named_and_exits_with_2() {
    assert_cmd_snapshot!(rarely(&["reproduce", "--runs", "0"]));
    assert_cmd_snapshot!(rarely(&["reproduce", "--rounds", "many"]));
    assert_cmd_snapshot!(rarely(&["reproduse"]));
    assert_cmd_snapshot!(rarely(&[]));
}

#[test]
fn the_same_seed_gives_the_same_tables_for_any_number_of_threads() {
    let tables = |threads: &str, seed: &str| {
        let arguments = ["reproduce", "--runs", "3", "--rounds", "500", "--seed", seed, "--threads", threads];
        let output = rarely(&arguments).output().expect("it runs");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("text")
    };
    let one = tables("1", "4");
    assert_eq!(one, tables("3", "4"));
    assert_ne!(one, tables("1", "5"));
    assert!(one.contains("Theorem 1") && one.contains("rs-linucb") && one.contains("seed 4"), "{one}");
}

#[test]
fn a_broken_pipe_is_silent() {
    let mut child = rarely(&["algorithms"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
