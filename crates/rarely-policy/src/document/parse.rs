//! Parses text into a checked document; every error has its place.

use std::fs;
use std::ops::Range;
use std::path::Path;

use crate::document::PolicyDocument;
use crate::document::locate::{line_and_column, span};
use crate::document::toml::TomlDocument;
use crate::error::{DocumentError, Mistake};
use crate::names::{did_you_mean, shown};
use crate::rule::DocumentFault;

impl PolicyDocument {
    /// Parses a document. Errors name it `file`.
    ///
    /// # Errors
    /// [`DocumentError::Wrong`] with file, line, column, the text found and what to do.
    pub fn parse(text: &str, file: &str) -> Result<Self, DocumentError> {
        let written: TomlDocument = toml_edit::de::from_str(text).map_err(|error| {
            let (problem, remedy) = explained(error.message());
            mistake(text, file, error.span().unwrap_or(0..0), problem, remedy)
        })?;
        Self::check(written).map_err(|fault: DocumentFault| {
            let range = span(text, &fault.path);
            mistake(text, file, range, fault.problem, fault.remedy)
        })
    }

    /// Reads a document from a file.
    ///
    /// # Errors
    /// As [`PolicyDocument::parse`], and if the file cannot be read or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, DocumentError> {
        let bytes = fs::read(path).map_err(|source| DocumentError::Io { file: path.to_owned(), source })?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let good = &bytes[..error.valid_up_to()];
            let line = good.split(|&byte| byte == b'\n').count();
            DocumentError::NotText { file: path.to_owned(), line }
        })?;
        Self::parse(text, &path.display().to_string())
    }
}

fn mistake(text: &str, file: &str, range: Range<usize>, problem: String, remedy: String) -> DocumentError {
    let (line, column) = line_and_column(text, range.start);
    let found = text.get(range).unwrap_or_default();
    let first = found.lines().next().unwrap_or_default().trim_end();
    let found = shown(first);
    Box::new(Mistake { file: file.to_owned(), line, column, found, problem, remedy }).into()
}

/// The parser's message as a problem and what to do.
fn explained(message: &str) -> (String, String) {
    let quoted = || message.split('`').skip(1).step_by(2);
    let known = || quoted().skip(1).collect::<Vec<_>>();
    if let Some(field) = message.strip_prefix("unknown field").and_then(|_| quoted().next()) {
        return (format!("unknown key {}", shown(field)), did_you_mean(field, "the keys are", known()));
    }
    if let Some(word) = message.strip_prefix("unknown variant").and_then(|_| quoted().next()) {
        let problem = format!("unknown value {}", shown(word));
        return (problem, did_you_mean(word, "the values are", known()));
    }
    if let Some(field) = message.strip_prefix("missing field").and_then(|_| quoted().next()) {
        return (format!("the key {} is missing", shown(field)), format!("add {}", example(field)));
    }
    if message.starts_with("wanted exactly 1 element") {
        let remedy = "write one of threshold, score or linear";
        return ("the rule needs exactly one form".to_owned(), remedy.to_owned());
    }
    if message.contains("untagged enum TomlStandard") {
        let remedy =
            "write \"anytime\", \"once\", { looks = 4 }, or { looks = [1000, 2000] } with the numbers of cases";
        return ("this is not a standard of evidence".to_owned(), remedy.to_owned());
    }
    if message == "wanted string or table" {
        return ("expected text".to_owned(), format!("write {}", wanted("a string")));
    }
    match message.split_once(", expected ") {
        Some((problem, expected)) if expected != "nothing" => (found(problem), format!("write {}", wanted(expected))),
        Some((problem, _)) => (problem.to_owned(), "correct it".to_owned()),
        None if message.starts_with("duplicate key") => {
            ("duplicate key".to_owned(), "remove one of the two".to_owned())
        }
        None => (message.trim_end().replace('\n', "; "), "correct it".to_owned()),
    }
}

/// An example of a key.
fn example(key: &str) -> &str {
    match key {
        "policy" => "policy = \"name\"",
        "options" => "options = [\"one\", \"other\"]",
        "outcome" => "outcome = { column = \"name\", range = [0, 1] }",
        "rule" => "[rule], and under it threshold, score or linear",
        "column" => "column = \"name\", as the data call it",
        "feature" => "feature = \"name\", one of the numeric features",
        "cuts" => "cuts = [140]; none, if everyone gets the same, is cuts = []",
        "coefficients" => "coefficients = { age = 1 }",
        other => other,
    }
}

fn wanted(expected: &str) -> &str {
    match expected {
        "f64" => "a number",
        "a string" => "text in quotation marks",
        "a boolean" => "true or false",
        "u64" => "a whole number, not below 0",
        "a sequence" => "a list in square brackets",
        "a map" => "a table",
        "struct TomlOutcome" => "{ column = \"name\", range = [0, 1] }",
        "struct TomlFeature" => "[[features]], and under it column and range or levels",
        "struct TomlEvidence" | "struct TomlChange" | "struct TomlControl" => {
            "a table, such as [evidence], [change] or [control], with its keys under it"
        }
        "struct ThresholdRule" => "{ feature = \"name\", cuts = [140], options = [\"lower\", \"upper\"] }",
        "struct ScoreRule" => "{ coefficients = { name = 1 }, cuts = [140], options = [\"lower\", \"upper\"] }",
        other if other.starts_with("struct ") => "a table with its keys",
        other => other,
    }
}

fn found(problem: &str) -> String {
    let Some(what) = problem.strip_prefix("invalid type: ").or_else(|| problem.strip_prefix("invalid value: ")) else {
        return problem.to_owned();
    };
    let what = match what.split_once(' ') {
        Some(("string", text)) => format!("the text {text}"),
        Some(("integer", number)) => format!("the number {number}"),
        Some(("floating", number)) => format!("the number {}", number.trim_start_matches("point ")),
        Some(("boolean", word)) => word.to_owned(),
        _ if what == "sequence" => "a list".to_owned(),
        _ if what == "map" => "a table".to_owned(),
        _ => what.to_owned(),
    };
    format!("found {what}").replace('`', "")
}
