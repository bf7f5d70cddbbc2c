//! Files as people have them (`testdata/messy`): each is read as its manifest says, or refused with its message, and whatever can be read can
//! be drafted and reviewed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use rarely_data::sketch;
use rarely_policy::{ColumnValues, DataFormat, PolicyDocument, canonical_code};
use serde::Deserialize;

use crate::program::{Place, talk};
use crate::table::Table;

#[derive(Deserialize)]
struct Manifest {
    file: Vec<MessyFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessyFile {
    name: String,
    option: String,
    outcome: String,
    time: Option<String>,
    /// The file from which the document is drafted, if not this one.
    policy: Option<String>,
    decimal: Option<String>,
    sheet: Option<String>,
    read_as: Option<String>,
    error: Option<String>,
    help: Option<String>,
    #[serde(default)]
    codes: bool,
    #[serde(default)]
    rejected: u64,
    #[serde(default)]
    columns: toml::Table,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/messy")
}

impl MessyFile {
    fn flags(&self) -> String {
        let mut flags = String::new();
        for (flag, value) in [("decimal", &self.decimal), ("sheet", &self.sheet)] {
            if let Some(value) = value {
                let _ = write!(flags, " --{flag} {value}");
            }
        }
        flags
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn format(&self) -> DataFormat {
        DataFormat {
            decimal: self.decimal.as_ref().map(|mark| mark.parse().expect("a mark")),
            sheet: self.sheet.clone(),
            ..DataFormat::default()
        }
    }

    /// The draft of the file, and its values as a table with a key.
    pub(crate) fn as_a_table(&self, place: &Place) -> (String, String) {
        let path = place.path(&self.name);
        fs::copy(folder().join(&self.name), &path).expect("a file of the manifest");
        place.done(&format!("policy init --from {} --out policy.toml{}", self.name, self.flags()));
        let table = Table::read(&path, &place.path("policy.toml"), &self.format()).expect("a readable file");
        (table.policy, table.rows)
    }

    /// Drafts a document and reviews the file with it. Returns what was said, and whether it came to an end.
    fn run(&self) -> (String, bool) {
        let place = Place::new();
        for name in [Some(&self.name), self.policy.as_ref()].into_iter().flatten() {
            fs::copy(folder().join(name), place.path(name)).expect("a file of the manifest");
        }
        let Self { name, option, outcome, rejected, .. } = self;
        let from = self.policy.as_ref().unwrap_or(name);
        let init = place
            .rarely(&format!("policy init --from {from} --out policy.toml{}", self.flags()))
            .args(["--option-column", option, "--outcome-column", outcome])
            .output()
            .expect("it starts");
        if init.status.code() != Some(0) {
            return (talk(&init), false);
        }
        if self.codes {
            let document = PolicyDocument::read(&place.path("policy.toml")).expect("a draft");
            let mut codes: Vec<_> = document.options().iter().map(|option| canonical_code(option)).collect();
            codes.sort_unstable();
            assert_eq!(codes, [Some("0"), Some("1")], "{name}");
        }
        let mut review = place
            .rarely(&format!("review --policy policy.toml --data {name} --reject-limit {rejected}{}", self.flags()));
        if let Some(time) = &self.time {
            review.args(["--time-column", time]);
        }
        let review = review.output().expect("it starts");
        let is_reviewed = matches!(review.status.code(), Some(0 | 1));
        (talk(&init) + &talk(&review), is_reviewed)
    }

    /// What is wrong with how the file is read, drafted and reviewed.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let (said, is_reviewed) = self.run();
        match &self.error {
            Some(error) => {
                let help = self.help.as_deref().unwrap_or_default();
                if is_reviewed || !said.contains(&format!("error: {error}")) || !said.contains(&format!("help: {help}"))
                {
                    faults.push(format!("expected {error} / {help}, but it said:\n{said}"));
                }
                return faults;
            }
            None if !is_reviewed => faults.push(format!("it is not reviewed:\n{said}")),
            None => {}
        }
        let file = match sketch(&folder().join(&self.name), &self.format()) {
            Ok(file) => file,
            Err(error) => return vec![error.to_string()],
        };
        if file.read_as != self.read_as {
            faults.push(format!("it is read as {:?}", file.read_as));
        }
        if let Some(way) = &self.read_as
            && !said.contains(&format!("{} is read as: {way}", self.name))
        {
            faults.push(format!("how it is read is not said:\n{said}"));
        }
        for (name, expected) in &self.columns {
            let column = file.columns.iter().find(|column| column.name == *name);
            let found = column.map(|column| match &column.kind {
                ColumnValues::Numbers { low, high, .. } => toml::Value::from(vec![*low, *high]),
                ColumnValues::Words(words) => toml::Value::from(words.clone()),
            });
            if found.as_ref().map(as_numbers) != Some(as_numbers(expected)) {
                faults.push(format!("{name} is {found:?}, but should be {expected}"));
            }
        }
        faults
    }
}

/// A list whose whole numbers are numbers like others.
fn as_numbers(value: &toml::Value) -> Vec<toml::Value> {
    let number = |value: &toml::Value| value.as_integer().map_or(value.clone(), |whole| (whole as f64).into());
    value.as_array().map(|values| values.iter().map(number).collect()).unwrap_or_default()
}

fn files() -> Vec<MessyFile> {
    let text = fs::read_to_string(folder().join("manifest.toml")).expect("a manifest");
    toml::from_str::<Manifest>(&text).expect("a manifest").file
}

/// The files that can be read and are drafted from their own contents.
pub(crate) fn readable() -> Vec<MessyFile> {
    let mut files = files();
    files.retain(|file| file.error.is_none() && file.policy.is_none());
    files
}

#[test]
fn every_file_is_read_as_the_manifest_says_or_refused_with_its_message() {
    let files = files();
    assert!(files.len() >= 40);
    let mut named: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    named.sort_unstable();
    named.dedup();
    let there = fs::read_dir(folder()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut there: Vec<String> = there.map(|name| name.to_string_lossy().into_owned()).collect();
    there.retain(|name| name != "manifest.toml");
    there.sort_unstable();
    assert_eq!(named, there, "the manifest names every file");
    let faults: Vec<String> = files
        .iter()
        .flat_map(|file| file.faults().into_iter().map(|fault| format!("{}: {fault}", file.name)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Nobody names a column, and no bad row is tolerated: the draft itself must say what the file needs.
#[test]
fn whatever_can_be_read_is_drafted_from_its_contents_alone_and_reviewed() {
    let readable = readable();
    assert!(readable.len() >= 40);
    for file in &readable {
        let (name, flags) = (&file.name, file.flags());
        let place = Place::new();
        fs::copy(folder().join(name), place.path(name)).expect("a file of the manifest");
        for command in [
            format!("policy init --from {name} --out policy.toml{flags}"),
            format!("review --policy policy.toml --data {name}{flags}"),
        ] {
            let output = place.rarely(&command).output().expect("it starts");
            assert!(matches!(output.status.code(), Some(0 | 1)), "{command}: {}", talk(&output));
        }
    }
}

#[test]
fn the_page_says_how_the_log_was_read() {
    let place = Place::new();
    let name = "semicolon-decimal-comma.csv";
    fs::copy(folder().join(name), place.path(name)).expect("a file of the manifest");
    place.done(&format!("policy init --from {name} --option-column given --outcome-column score --out policy.toml"));
    let review = place.rarely(&format!("review --policy policy.toml --data {name} --out report")).output();
    let said = talk(&review.expect("it starts"));
    assert!(said.contains(&format!("{name} is read as: semicolon-separated, decimal comma\n")), "{said}");
    let page = place.text("report/review.html");
    assert!(page.contains(&format!("Log: {name}, read as: semicolon-separated, decimal comma")));
}
