//! Signed checkpoints: the size and root of the log's tree, in the C2SP format `tlog-checkpoint`.

use std::fmt;
use std::str::FromStr;

use rarely_error::{Explain, Remedy};
use signed_note::{Note, Signature};
use thiserror::Error;
use tlog_tiles::checkpoint::Checkpoint;

use crate::hash::Hash;
use crate::note::{NoteKey, NoteSigner, NoteVerdict};

/// A checkpoint with its signatures. It prints and parses as a signed note:
///
/// ```text
/// rarely/0f3c…
/// 4711
/// 9K3b…=
///
/// — rarely/0f3c… GisyYz…=
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedCheckpoint {
    origin: String,
    size: u64,
    root: Hash,
    note: String,
}

/// A text that is not a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("this is not a signed checkpoint: {found:?}")]
pub struct CheckpointError {
    /// The beginning of the text.
    pub found: String,
}

impl Explain for CheckpointError {
    fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::new(
            "give the text exactly as the service or the witness wrote it: origin, size, root, signatures",
        ))
    }
}

impl SignedCheckpoint {
    /// Signs the tree with this size and root. The origin is the name of the key.
    pub(crate) fn sign(size: u64, root: Hash, signer: &NoteSigner) -> Self {
        let origin = signer.key().name().to_owned();
        let text = format!("{origin}\n{size}\n{}\n", root.base64());
        Self { origin, size, root, note: signer.sign_note(&text) }
    }

    /// The checkpoints in a text that has one after the other, as a file of a witness does.
    ///
    /// # Errors
    /// [`CheckpointError`] for the first part that is not a checkpoint, or if there is none.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, CheckpointError> {
        let mut parts = Vec::new();
        let (mut part, mut signed) = (String::new(), false);
        for line in text.lines() {
            let signature = line.starts_with("\u{2014} ");
            if signed && !signature {
                parts.push(std::mem::take(&mut part));
            }
            signed = signature;
            // Empty lines between two checkpoints.
            if !(part.is_empty() && line.is_empty()) {
                part.push_str(line);
                part.push('\n');
            }
        }
        if !part.is_empty() || parts.is_empty() {
            parts.push(part);
        }
        parts.iter().map(|part| part.parse()).collect()
    }

    /// Which log it is about.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The number of entries that it covers.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The root of the tree over these entries.
    pub fn root(&self) -> Hash {
        self.root
    }

    /// Whether a key has signed it.
    pub fn verdict(&self, key: &NoteKey) -> NoteVerdict {
        key.verdict(&self.note)
    }

    /// Adds the signature lines that a witness returned, except those that are there already. With `keys`, only lines that
    /// one of them made. Returns how many lines were added.
    pub fn add_cosignatures(&mut self, lines: &str, keys: &[NoteKey]) -> usize {
        let mut added = 0;
        for line in lines.lines().filter(|line| Signature::from_bytes(line.as_bytes()).is_ok()) {
            let text = self.note.find("\n\n").map_or("", |end| &self.note[..=end]);
            let alone = format!("{text}\n{line}\n");
            let known = keys.is_empty() || keys.iter().any(|key| key.verdict(&alone) == NoteVerdict::Signed);
            if known && !self.note.lines().any(|present| present == line) {
                self.note.push_str(line);
                self.note.push('\n');
                added += 1;
            }
        }
        added
    }
}

impl fmt::Display for SignedCheckpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.note)
    }
}

impl FromStr for SignedCheckpoint {
    type Err = CheckpointError;

    fn from_str(text: &str) -> Result<Self, CheckpointError> {
        let wrong = || CheckpointError { found: text.chars().take(80).collect() };
        let note = Note::from_bytes(text.as_bytes()).map_err(|_| wrong())?;
        let head = Checkpoint::from_bytes(note.text()).map_err(|_| wrong())?;
        Ok(Self {
            origin: head.origin().to_owned(),
            size: head.size(),
            root: Hash(head.hash().0),
            note: text.to_owned(),
        })
    }
}
