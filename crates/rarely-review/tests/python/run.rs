//! Runs a script of this folder in the repository's virtual environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What the script prints, or `None`, said on stderr, if there is no virtual environment.
pub(crate) fn run(script: &str, arguments: &[&str]) -> Option<Value> {
    let environment = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv");
    let python =
        ["bin/python", "Scripts/python.exe"].map(|path| environment.join(path)).into_iter().find(|p| p.exists());
    let Some(python) = python else {
        eprintln!(
            "no .venv: {script} is checked against its stored answer only; scripts/test makes one from scripts/requirements-test.txt"
        );
        return None;
    };
    let output = Command::new(python).arg(folder().join(script)).args(arguments).output().expect("Python runs");
    assert!(output.status.success(), "{script} failed: {}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).expect("the script prints JSON"))
}

/// A stored answer of a script.
pub(crate) fn stored(name: &str) -> Value {
    let text = std::fs::read_to_string(folder().join(name)).expect("the stored answer is in the repository");
    serde_json::from_str(&text).expect("the stored answer is JSON")
}

/// The numbers of a JSON list.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|value| value.as_f64().expect("a number")).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python")
}
