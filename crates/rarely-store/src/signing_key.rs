//! The file of a private key. It lives outside the store, and nobody but its owner may read it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::note::NoteSigner;
use crate::private_file;
use crate::snapshot::sync_directory;
use crate::sqlite_log::with_suffix;

/// The file of a private key: one line of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningKeyFile {
    path: PathBuf,
}

impl SigningKeyFile {
    /// The key file at `path`.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// The default place: beside the store.
    pub fn beside(store: &Path) -> Self {
        Self { path: with_suffix(store, ".signing-key") }
    }

    /// Where a new key waits while a rotation is recorded.
    #[must_use]
    pub fn next(&self) -> Self {
        Self { path: with_suffix(&self.path, ".next") }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the key; `None` if there is no file.
    ///
    /// # Errors
    /// If others may read the file, or it is not a private key.
    pub fn read(&self) -> Result<Option<NoteSigner>, StoreError> {
        let wrap = |error| StoreError::io("reading the signing key", &self.path, error);
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(wrap)?,
        };
        if others_may_read(&file).map_err(wrap)? {
            return Err(StoreError::KeyIsPublic { path: self.path.clone() });
        }
        let text = io::read_to_string(&mut file).map_err(wrap)?;
        let signer = NoteSigner::parse(&text).ok_or_else(|| StoreError::NotAKey { path: self.path.clone() })?;
        Ok(Some(signer))
    }

    /// Writes a new key with mode 600. Never overwrites a file.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn create(&self, signer: &NoteSigner) -> Result<(), StoreError> {
        let write = || {
            let mut file = private_file::options().write(true).create_new(true).open(&self.path)?;
            writeln!(file, "{}", signer.secret())?;
            file.sync_all()?;
            sync_directory(&self.path)
        };
        write().map_err(|error| StoreError::io("writing the signing key", &self.path, error))
    }

    /// Reads the key, or creates one with this name.
    ///
    /// # Errors
    /// As [`read`](Self::read) and [`create`](Self::create).
    pub fn read_or_create(&self, name: &str) -> Result<NoteSigner, StoreError> {
        if let Some(signer) = self.read()? {
            return Ok(signer);
        }
        let signer = NoteSigner::generate(name);
        self.create(&signer)?;
        Ok(signer)
    }

    /// Puts the file `from` in place of this one.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub fn replace_with(&self, from: &Self) -> Result<(), StoreError> {
        let put = fs::rename(&from.path, &self.path).and_then(|()| sync_directory(&self.path));
        put.map_err(|error| StoreError::io("putting the new signing key in place", &self.path, error))
    }
}

#[cfg(unix)]
fn others_may_read(file: &File) -> io::Result<bool> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata()?.permissions());
    Ok(mode & 0o077 != 0)
}

/// Other systems have no mode.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
fn others_may_read(_file: &File) -> io::Result<bool> {
    Ok(false)
}
