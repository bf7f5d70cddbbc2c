//! A file as the table that an engine would have of it.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rarely_data::LogReader;
use rarely_policy::{DataFormat, FieldValue, PolicyDocument};

/// The values that our reader finds in a file, with a key for every row.
pub(crate) struct Table {
    /// The document of the file, with the key.
    pub(crate) policy: String,
    /// As CSV.
    pub(crate) rows: String,
}

impl Table {
    /// Reads the columns that a document names. Times that are not written as databases write them are left out.
    pub(crate) fn read(file: &Path, policy: &Path, format: &DataFormat) -> Result<Self, Box<dyn Error>> {
        let document = PolicyDocument::read(policy)?;
        let mut policy = fs::read_to_string(policy)?;
        let columns = document.log_columns();
        let mut names: Vec<String> = document.feature_columns().iter().map(|feature| feature.column.clone()).collect();
        names.extend([document.outcome().column.clone(), document.option_column().to_owned()]);
        names.extend([&columns.key, &columns.time, &columns.propensity].into_iter().flatten().cloned());
        let time = columns.time.as_ref().and_then(|time| names.iter().position(|name| name == time));
        let mut reader = LogReader::open_written(file, &names, format)?;
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut rows = names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",") + ",rarely_row\n";
        let (mut has_usual_times, mut time_length) = (true, None);
        while let Some(row) = reader.next()? {
            for at in 0..names.len() {
                rows += &match (row.number(at), row.value(at)) {
                    (_, FieldValue::Text(text)) if Some(at) == time => {
                        let length = *time_length.get_or_insert(text.len());
                        let is_usual = text.split('-').nth(1).is_some_and(|month| month.len() == 2);
                        has_usual_times &= is_usual && text.len() == length && matches!(length, 10 | 19);
                        text.to_owned()
                    }
                    (Some(number), _) => number.to_string(),
                    (None, FieldValue::Text("")) => String::new(),
                    (None, FieldValue::Text(text)) => quoted(text),
                    (None, _) => String::new(),
                };
                rows.push(',');
            }
            writeln!(rows, "{}", row.row())?;
        }
        if columns.key.is_none() {
            policy = policy.replacen("[evidence]", "[evidence]\nkey = \"rarely_row\"", 1);
        }
        if let Some(column) = columns.time.as_ref().filter(|_| !has_usual_times) {
            policy = policy.replace(&format!("time = {column:?}"), "order = \"any\"");
        }
        Ok(Self { policy, rows })
    }
}
