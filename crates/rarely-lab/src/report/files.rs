//! The files of results: every one of them says what made it.

use rarely_output::{ColumnTable, OutputDirectory, OutputError, Provenance};
use rarely_plot::Figure;
use serde::Serialize;
use serde_json::{Value, json};

/// A directory, and what makes the files in it: version, command and seed are written into each.
#[derive(Debug, Clone)]
pub struct ResultFiles<'a> {
    directory: &'a OutputDirectory,
    made_by: Provenance,
}

impl<'a> ResultFiles<'a> {
    /// Files in a directory.
    pub fn new(directory: &'a OutputDirectory, made_by: Provenance) -> Self {
        Self { directory, made_by }
    }

    /// What makes them.
    pub fn made_by(&self) -> &Provenance {
        &self.made_by
    }

    /// A table as CSV, with three columns for what made it, and for papers as LaTeX and Markdown, with a comment; `name` has no extension.
    ///
    /// # Errors
    /// [`OutputError`] of the first file that cannot be written.
    pub fn table(&self, name: &str, table: &ColumnTable) -> Result<(), OutputError> {
        self.directory.write(&format!("{name}.tex"), table.to_latex(&self.made_by))?;
        self.directory.write(&format!("{name}.md"), table.to_markdown(&self.made_by))?;
        self.directory.write(&format!("{name}.csv"), table.clone().made_by(&self.made_by).to_csv())
    }

    /// A long table as Parquet, with what made it in its metadata.
    ///
    /// # Errors
    /// [`OutputError`] if it cannot be written.
    pub fn parquet(&self, name: &str, table: &ColumnTable) -> Result<(), OutputError> {
        self.directory.write_parquet(&format!("{name}.parquet"), table, &self.made_by)
    }

    /// An object as JSON, with the keys `version`, `seed` and `command`.
    ///
    /// # Errors
    /// [`OutputError`] if it cannot be written.
    pub fn json(&self, name: &str, value: &impl Serialize) -> Result<(), OutputError> {
        let mut value = json!(value);
        if let Value::Object(object) = &mut value {
            let Provenance { command, seed, version } = &self.made_by;
            object.insert("command".to_owned(), json!(command));
            object.insert("seed".to_owned(), json!(seed));
            object.insert("version".to_owned(), json!(version));
        }
        self.directory.write_json(&format!("{name}.json"), &value)
    }

    /// A figure as SVG, PNG and PDF, with what made it in the metadata of each.
    ///
    /// # Errors
    /// [`OutputError`] if it cannot be drawn or written.
    pub fn figure(&self, name: &str, figure: &Figure) -> Result<(), OutputError> {
        self.directory.write_all(name, figure.paper_files(name, &self.made_by.to_string()))
    }

    /// Anything else, which says itself what made it.
    ///
    /// # Errors
    /// [`OutputError`] if it cannot be written.
    pub fn other(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<(), OutputError> {
        self.directory.write(name, contents)
    }
}
