//! What an auditor has kept outside a store, and compares with it.

use std::path::{Path, PathBuf};

use rarely_error::Topic;
use rarely_store::{Head, NoteKey, SignedCheckpoint, SigningKeyFile, is_service_log, origin, service_id};

use crate::failure::{Failure, OrFail as _};

/// What an auditor has kept outside a store.
#[derive(Clone)]
pub(super) struct Held {
    /// The number and hash of an event.
    pub(super) head: Option<Head>,
    /// Signed checkpoints.
    pub(super) checkpoints: Vec<SignedCheckpoint>,
    /// The public key of the log.
    pub(super) key: Option<NoteKey>,
    /// Whether the auditor has named the key.
    pub(super) key_named: bool,
    /// Keys that other logs of the store vouch for.
    pub(super) trusted: Vec<NoteKey>,
    /// The directory with the files of archived records.
    pub(super) archive: Option<PathBuf>,
}

impl Held {
    /// Reads the files that the auditor names. Without a key, that of the key file beside the store counts, if it can be read.
    pub(super) fn read(
        store: &Path,
        head: Option<Head>,
        checkpoint: Option<&Path>,
        key: Option<&str>,
    ) -> Result<Self, Failure> {
        let key_named = key.is_some();
        let key = match key {
            Some(key) => Some(public_key(key)?),
            None => SigningKeyFile::beside(store).read().ok().flatten().map(|signer| signer.key().clone()),
        };
        let checkpoints = match checkpoint {
            None => Vec::new(),
            Some(path) if key.is_none() => {
                return Err(Failure::new(format!("{}: there is no key to check its signatures", path.display()))
                    .help("give the public key of the log with --key")
                    .see(Topic::Checkpoints));
            }
            Some(path) => {
                let text =
                    std::fs::read_to_string(path).or_fail_with(|| format!("{}: cannot be read", path.display()))?;
                SignedCheckpoint::parse_all(&text).map_err(|error| Failure::from(error).at(path.display()))?
            }
        };
        Ok(Self { head, checkpoints, key, key_named, trusted: Vec::new(), archive: None })
    }

    /// What is about one of several logs of a store, with keys that the service's own log vouches for. The key of the service has another
    /// name for each.
    pub(super) fn about(&self, id: &str, logs: &[&str], trusted: &[NoteKey]) -> Self {
        let of_service = origin(service_id(id));
        let named = |key: &NoteKey| {
            if key.name() == of_service && !is_service_log(id) { key.named(&origin(id)) } else { key.clone() }
        };
        let is_of_another = |checkpoint: &SignedCheckpoint| {
            logs.iter().any(|other| *other != id && checkpoint.origin() == origin(other))
        };
        Self {
            checkpoints: self.checkpoints.iter().filter(|checkpoint| !is_of_another(checkpoint)).cloned().collect(),
            key: self.key.as_ref().map(named),
            trusted: trusted.iter().map(named).collect(),
            ..self.clone()
        }
    }
}

/// A public key, or the one in a file.
fn public_key(text: &str) -> Result<NoteKey, Failure> {
    if let Ok(key) = text.parse() {
        return Ok(key);
    }
    let path = Path::new(text);
    if !path.exists() {
        return Err(Failure::from(
            text.parse::<NoteKey>().err().unwrap_or(rarely_store::NoteKeyError { found: text.to_owned() }),
        )
        .at("--key"));
    }
    let content = std::fs::read_to_string(path).or_fail_with(|| format!("{text}: cannot be read"))?;
    content.trim().parse::<NoteKey>().map_err(|error| Failure::from(error).at(text))
}
