//! The program in a directory of its own, so that no message or snapshot depends on where the tests run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use insta_cmd::get_cargo_bin;
use tempfile::TempDir;

/// Options of a short run.
pub(crate) const TINY: &str = "--runs 1 --rounds 20 --algorithms rarely,fixed";

/// An empty directory, in which the program runs.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// The program with arguments separated by blanks.
    pub(crate) fn rarely(&self, arguments: &str) -> Command {
        let mut command = Command::new(get_cargo_bin("rarely"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path());
        command.env("NO_COLOR", "1").env("COLUMNS", "100").env_remove("RARELY_IHDP");
        command
    }

    /// Runs the program to its end, which must be a good one.
    pub(crate) fn done(&self, arguments: &str) -> Output {
        let output = self.rarely(arguments).output().expect("it starts");
        assert!(output.status.success(), "{arguments}: {}", talk(&output));
        output
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).expect("a file");
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Every file below a directory with its bytes, hidden ones included.
    pub(crate) fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(&self.path(folder), "", &mut found);
        found
    }

    /// The names of the files below a directory.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        self.files(folder).into_keys().collect()
    }
}

/// The bytes of every file are equal; says which are not.
pub(crate) fn assert_same_files(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    let different: Vec<&String> = one.keys().filter(|name| one[*name] != other[*name]).collect();
    assert!(different.is_empty(), "these files differ: {different:?}");
}

/// What it wrote to standard output.
pub(crate) fn data(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// CSV without its last column, the command.
pub(crate) fn without_command(text: &str) -> String {
    let cut = |line: &str| {
        let ends = [",\"rarely ", ",rarely ", ",command"].iter().filter_map(|end| line.find(end));
        line[..ends.min().unwrap_or(line.len())].to_owned() + "\n"
    };
    text.lines().map(cut).collect()
}

/// What it wrote to standard error.
pub(crate) fn talk(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

fn collect(folder: &Path, before: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("an entry").path();
        let name = format!("{before}{}", path.file_name().expect("a name").to_string_lossy());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), found);
        } else {
            found.insert(name, fs::read(&path).expect("a file"));
        }
    }
}

/// `text` with one field of one line (both from 1) replaced.
pub(crate) fn with_field(text: &str, line: usize, column: usize, value: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    let mut fields: Vec<&str> = lines[line - 1].split(',').collect();
    fields[column - 1] = value;
    lines[line - 1] = fields.join(",");
    lines.join("\n") + "\n"
}

/// Exit code, stdout and stderr against a snapshot, without what differs from run to run, or between versions: times, digits beyond the sixth, and the
/// version.
macro_rules! assert_snapshot_of {
    ($command:expr) => {
        let version = env!("CARGO_PKG_VERSION").replace('.', r"\.");
        insta::with_settings!({ filters => vec![
            (version.as_str(), "[version]"),
            (r"(?m) +\d+\.\d\d +[\d.]+( [kM])?$", " [seconds] [rounds/s]"),
            (r"done in [\d.]+ s", "done in [seconds] s"),
            (r"(\d\.\d{6})\d+", "$1…"),
        ] }, {
            insta_cmd::assert_cmd_snapshot!($command);
        });
    };
}
pub(crate) use assert_snapshot_of;

/// A refusal of data against a snapshot, and that it leaves no file: `file` holds `contents`, and is what `command` reads.
macro_rules! assert_data_refused {
    ($file:literal, $contents:expr, $command:literal) => {
        let place = $crate::program::Place::new();
        place.write($file, $contents);
        let command = format!("{} {}", $command, $crate::program::TINY);
        $crate::program::assert_snapshot_of!(place.rarely(&command));
        let output = place.rarely(&format!("{command} --out out")).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{}", $crate::program::talk(&output));
        assert_eq!(place.names(""), [$file], "nothing was written");
    };
}
pub(crate) use assert_data_refused;
