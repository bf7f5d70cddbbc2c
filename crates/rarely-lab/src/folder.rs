//! A folder of results: finished runs while it is being made, whole files once they are done.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::journal::Journal;

const JOURNAL: &str = "unfinished.ndjson";

/// A folder that results are written to. A file appears under its name only when it is complete.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

/// Why a folder cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} {}; name a folder that you may write to with --out", path.display())]
pub struct FolderError {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl Folder {
    /// Makes the folder if there is none, and tries whether it can be written, before anything is computed.
    ///
    /// # Errors
    /// [`FolderError`] if it cannot.
    pub fn create(path: &Path) -> Result<Self, FolderError> {
        let fail = |action, path: &Path| {
            let path = path.to_owned();
            move |source| FolderError { action, path, source }
        };
        fs::create_dir_all(path).map_err(fail("make the folder", path))?;
        let trial = path.join(format!(".rarely-trial-{}", std::process::id()));
        File::create_new(&trial).map_err(fail("write to the folder", path))?;
        fs::remove_file(&trial).map_err(fail("write to the folder", path))?;
        Ok(Self { path: path.to_owned() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The finished runs of a command that did not come to its end.
    ///
    /// # Errors
    /// [`FolderError`] if they cannot be read.
    pub fn journal(&self) -> Result<Journal, FolderError> {
        let path = self.path.join(JOURNAL);
        Journal::open(&path).map_err(|source| FolderError { action: "read or write", path, source })
    }

    /// Writes a whole file: first beside its name, then onto it. `name` may have folders.
    ///
    /// # Errors
    /// [`FolderError`] if it cannot be written; what was there before is then still there.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<(), FolderError> {
        let path = self.path.join(name);
        let beside = path.with_file_name(format!(
            ".{}.unfinished",
            path.file_name().map_or_else(String::new, |file| file.to_string_lossy().into_owned())
        ));
        let write = || -> io::Result<()> {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            let mut file = File::create(&beside)?;
            file.write_all(contents.as_ref())?;
            file.sync_all()?;
            fs::rename(&beside, &path)
        };
        write().map_err(|source| {
            let _ = fs::remove_file(&beside);
            FolderError { action: "write", path: path.clone(), source }
        })
    }
}

/// A value as the text of a JSON file: indented, with a line's end at the end.
///
/// # Errors
/// If the value is none that JSON knows.
pub fn json_text(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
