//! Directories of results: a file is there whole or not at all.

use std::fs;
use std::path::Path;

use rarely_error::Explain as _;
use rarely_output::{OutputDirectory, OutputError};
use tempfile::TempDir;

fn create() -> (TempDir, OutputDirectory) {
    let scratch = tempfile::tempdir().expect("a directory");
    let directory = OutputDirectory::create(&scratch.path().join("deep/down")).expect("it is created");
    (scratch, directory)
}

/// Every name in a directory, hidden ones included.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn creating_it_leaves_no_trace_of_the_trial() {
    let (_scratch, directory) = create();
    assert_eq!(names(directory.path()), [""; 0]);
    directory.write("a.txt", "kept").expect("it is written");
    let again = OutputDirectory::create(directory.path()).expect("it may exist");
    assert_eq!(names(again.path()), ["a.txt"]);
}

#[test]
fn a_file_replaces_an_earlier_one_and_nothing_else_stays() {
    let (_scratch, directory) = create();
    for contents in ["a longer first text", "second"] {
        directory.write("tables/a.csv", contents).expect("it is written");
    }
    assert_eq!(fs::read_to_string(directory.path().join("tables/a.csv")).expect("a file"), "second");
    assert_eq!(names(&directory.path().join("tables")), ["a.csv"]);
}

/// The last step, the renaming, fails where a directory has the name.
#[test]
fn a_file_that_cannot_be_finished_leaves_nothing() {
    let (_scratch, directory) = create();
    fs::create_dir_all(directory.path().join("taken/inside")).expect("a directory");
    let error = directory.write("taken", "text").expect_err("the name is taken");
    assert!(
        matches!(&error, OutputError::Access { action: "write", path, .. } if path.ends_with("taken")),
        "{error:?}"
    );
    let remedy = error.remedy().map(|remedy| remedy.to_string());
    assert_eq!(
        remedy.as_deref(),
        Some("check your permissions and the free space, or choose another output directory")
    );
    assert_eq!(names(directory.path()), ["taken"], "the unfinished file is removed");
    assert_eq!(names(&directory.path().join("taken")), ["inside"], "what was there stays");
}

#[test]
fn contents_that_could_not_be_made_write_nothing() {
    let (_scratch, directory) = create();
    let files: Result<Vec<(String, Vec<u8>)>, String> = Err("no picture".to_owned());
    let error = directory.write_all("figure", files).expect_err("there is nothing to write");
    assert!(matches!(&error, OutputError::Contents { name, .. } if name == "figure"), "{error:?}");
    assert_eq!(names(directory.path()), [""; 0]);
}

#[test]
fn json_ends_with_a_newline() {
    let (_scratch, directory) = create();
    directory.write_json("a.json", &["x"]).expect("it is written");
    assert_eq!(fs::read_to_string(directory.path().join("a.json")).expect("a file"), "[\n  \"x\"\n]\n");
}

#[test]
fn a_file_in_its_place_is_an_error() {
    let scratch = tempfile::tempdir().expect("a directory");
    let path = scratch.path().join("file");
    fs::write(&path, "text").expect("a file");
    let error = OutputDirectory::create(&path).expect_err("it is a file");
    assert!(matches!(error, OutputError::Access { action: "create the directory", .. }), "{error:?}");
}
