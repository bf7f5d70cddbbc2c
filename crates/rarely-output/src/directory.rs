//! A directory of results. A file appears under its name only when it is complete.

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rarely_error::{Action, Explain, Remedy};
use serde::Serialize;

use crate::column_table::ColumnTable;
use crate::provenance::Provenance;

/// A directory that results are written to.
///
/// ```
/// use rarely_output::OutputDirectory;
/// let scratch = tempfile::tempdir()?;
/// let directory = OutputDirectory::create(&scratch.path().join("results"))?;
/// directory.write("tables/summary.csv", "a,b\n1,2\n")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct OutputDirectory {
    path: PathBuf,
}

/// Why results cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// A directory or a file cannot be read or written.
    #[error("could not {action} {}", path.display())]
    Access {
        /// What was tried.
        action: &'static str,
        /// The directory or file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The contents of a file could not be made: a fault of the library that makes them.
    #[error("could not make {name}")]
    Contents {
        /// The file's name in the directory.
        name: String,
        /// Why it failed.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl OutputError {
    /// Says what was tried with which path.
    pub fn access(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Access { action, path, source }
    }

    fn contents<E: Into<Box<dyn Error + Send + Sync>>>(name: &str) -> impl FnOnce(E) -> Self {
        let name = name.to_owned();
        move |source| Self::Contents { name, source: source.into() }
    }
}

impl Explain for OutputError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Access { .. } => Some(Remedy::with(
                "check your permissions and the free space, or {action}",
                Action::ChooseOutputDirectory,
            )),
            Self::Contents { .. } => None,
        }
    }
}

impl OutputDirectory {
    /// Creates the directory if it does not exist, and checks that it can be written to before anything is computed.
    ///
    /// # Errors
    /// [`OutputError::Access`] if it cannot.
    pub fn create(path: &Path) -> Result<Self, OutputError> {
        fs::create_dir_all(path).map_err(OutputError::access("create the directory", path))?;
        let trial = path.join(format!(".rarely-trial-{}", std::process::id()));
        File::create_new(&trial).map_err(OutputError::access("write to the directory", path))?;
        fs::remove_file(&trial).map_err(OutputError::access("write to the directory", path))?;
        Ok(Self { path: path.to_owned() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a whole file under a temporary name, then renames it. `name` may contain directories.
    ///
    /// # Errors
    /// [`OutputError::Access`] if it cannot be written; an earlier file of that name is then unchanged.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<(), OutputError> {
        let path = self.path.join(name);
        let file_name = path.file_name().map_or_else(String::new, |file| file.to_string_lossy().into_owned());
        let temporary = path.with_file_name(format!(".{file_name}.unfinished"));
        let write = || -> io::Result<()> {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            let mut file = File::create(&temporary)?;
            file.write_all(contents.as_ref())?;
            file.sync_all()?;
            fs::rename(&temporary, &path)
        };
        write().map_err(|source| {
            let _ = fs::remove_file(&temporary);
            OutputError::access("write", &path)(source)
        })
    }

    /// Writes files that a library made, each with its name, such as the SVG and the PNG of a figure.
    ///
    /// # Errors
    /// [`OutputError`] if they could not be made or cannot be written.
    pub fn write_all<E: Into<Box<dyn Error + Send + Sync>>>(
        &self,
        name: &str,
        files: Result<impl IntoIterator<Item = (String, Vec<u8>)>, E>,
    ) -> Result<(), OutputError> {
        let files = files.map_err(OutputError::contents(name))?;
        files.into_iter().try_for_each(|(name, contents)| self.write(&name, contents))
    }

    /// Writes a value as a JSON file.
    ///
    /// # Errors
    /// [`OutputError`] if it has no JSON form or cannot be written.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), OutputError> {
        self.write(name, json_text(value).map_err(OutputError::contents(name))?)
    }

    /// Writes a table as a Parquet file, with what made it.
    ///
    /// # Errors
    /// [`OutputError`] if its columns make no schema or it cannot be written.
    pub fn write_parquet(&self, name: &str, table: &ColumnTable, made_by: &Provenance) -> Result<(), OutputError> {
        self.write(name, table.parquet(Some(made_by)).map_err(OutputError::contents(name))?)
    }
}

/// A value as the text of a JSON file: indented, with a newline at the end.
///
/// # Errors
/// If the value has no JSON form.
pub fn json_text(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
