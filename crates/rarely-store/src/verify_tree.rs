//! Verifies that a log is the one that was signed.

use rarely_error::{Action, Explain, Remedy, Topic};
use thiserror::Error;

use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::hash::Hash;
use crate::merkle::{BLOCK, MerkleTree};
use crate::note::{NoteKey, NoteVerdict};
use crate::signed_checkpoint::SignedCheckpoint;

/// A contradiction between a log and its checkpoints.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TreeFault {
    /// The entries are not those that were signed.
    #[error(
        "tampering: events 1 to {size} are not the ones that were signed (their root is {found}, the checkpoint's is {expected})"
    )]
    Rewritten {
        /// The size of the checkpoint.
        size: u64,
        /// The root that was signed.
        expected: Hash,
        /// The root of the entries.
        found: Hash,
    },
    /// The log ends before a checkpoint.
    #[error("tampering or loss: the log ends at event {log_ends}, but a checkpoint of {size} events was signed")]
    Cut {
        /// The size of the checkpoint.
        size: u64,
        /// The last entry of the log.
        log_ends: u64,
    },
    /// A checkpoint is not signed by the key that it names.
    #[error("tampering: the checkpoint of {size} events is not signed by the key {key} that it names")]
    Forged {
        /// Its size.
        size: u64,
        /// The key.
        key: NoteKey,
    },
    /// A checkpoint of another log.
    #[error("the checkpoint of {size} events is about the log {found}, and this log is {expected}")]
    OtherLog {
        /// Its size.
        size: u64,
        /// Its origin.
        found: String,
        /// The origin of this log.
        expected: String,
    },
    /// A checkpoint that nobody trusted has signed.
    #[error("the checkpoint of {size} events is not signed by the key {key}, nor by one that replaced it")]
    Unsigned {
        /// Its size.
        size: u64,
        /// The trusted key.
        key: NoteKey,
    },
    /// No checkpoint is signed by a key that an auditor has kept.
    #[error(
        "tampering or the wrong key: no checkpoint in the store is signed by the key {key}, nor by one that replaced it"
    )]
    NoCheckpoint {
        /// The trusted key.
        key: NoteKey,
    },
    /// A stored root of a block differs from the entries'.
    #[error("the stored tree differs from events {} to {}", block * BLOCK + 1, (block + 1) * BLOCK)]
    Block {
        /// The block.
        block: u64,
    },
}

impl Explain for TreeFault {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Unsigned { .. } | Self::OtherLog { .. } | Self::NoCheckpoint { .. } => {
                Remedy::new("check that the key and the checkpoint are those of this store").see(Topic::Checkpoints)
            }
            _ => Remedy::with("find out who could write the files of the store, and {action}", Action::RestoreBackup)
                .see(Topic::Checkpoints),
        })
    }
}

impl TreeFault {
    /// The last event that the fault is about.
    pub fn number(&self) -> u64 {
        match *self {
            Self::Rewritten { size, .. }
            | Self::Forged { size, .. }
            | Self::OtherLog { size, .. }
            | Self::Unsigned { size, .. } => size,
            Self::Cut { log_ends, .. } => log_ends + 1,
            Self::NoCheckpoint { .. } => 1,
            Self::Block { block } => (block + 1) * BLOCK,
        }
    }
}

/// What the checkpoints of a log show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeSummary {
    /// The number of entries.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Hash,
    /// Checkpoints that a trusted key has signed, and that the log matches.
    pub checkpoints: u64,
    /// Checkpoints that only other keys have signed. They show nothing.
    pub by_other_keys: u64,
    /// The last entry that a checkpoint covers.
    pub covered: u64,
}

/// Checks a log whose chain is intact against checkpoints: every one that a trusted key has signed must be about a
/// beginning of this log. The stored tree must match the entries.
///
/// `held` are checkpoints kept elsewhere, which must be signed by a trusted key. Those in the log may also be signed by
/// others.
///
/// # Errors
/// [`StoreError::Tree`] is the first contradiction; other errors if the log cannot be read.
pub fn verify_tree(
    log: &dyn EventLog,
    held: &[SignedCheckpoint],
    trusted: &[NoteKey],
) -> Result<TreeSummary, StoreError> {
    let stored = log.checkpoints(None)?;
    let mut wanted = Vec::new();
    let mut by_other_keys = 0;
    for checkpoint in held {
        check_origin(checkpoint, trusted)?;
        if !check_signature(checkpoint, trusted)?
            && let Some(key) = trusted.first().cloned()
        {
            return Err(TreeFault::Unsigned { size: checkpoint.size(), key }.into());
        }
        wanted.push(checkpoint);
    }
    for checkpoint in &stored {
        if check_signature(checkpoint, trusted)? {
            check_origin(checkpoint, trusted)?;
            wanted.push(checkpoint);
        } else {
            by_other_keys += 1;
        }
    }
    wanted.sort_by_key(|checkpoint| checkpoint.size());
    let tree = walk(log, &wanted)?;
    Ok(TreeSummary {
        size: tree.size(),
        root: tree.root(),
        checkpoints: wanted.len() as u64,
        by_other_keys,
        covered: wanted.last().map_or(0, |last| last.size()),
    })
}

/// The root of the tree over the first `size` entries, from the entries alone.
///
/// # Errors
/// If the log cannot be read, or ends earlier.
pub fn tree_root(log: &dyn EventLog, size: u64) -> Result<Hash, StoreError> {
    let mut tree = MerkleTree::default();
    while tree.size() < size {
        let wanted = usize::try_from(size - tree.size()).unwrap_or(READ).min(READ);
        let hashes = log.hashes(tree.size(), wanted)?;
        if hashes.is_empty() {
            return Err(StoreError::Proof { problem: format!("the log ends at event {}, before {size}", tree.size()) });
        }
        for hash in &hashes {
            tree.push(hash);
        }
    }
    Ok(tree.root())
}

/// Hashes read at once.
const READ: usize = 16_384;

/// Builds the tree and compares its roots with those of checkpoints, which are in order of size.
fn walk(log: &dyn EventLog, wanted: &[&SignedCheckpoint]) -> Result<MerkleTree, StoreError> {
    let mut tree = MerkleTree::default();
    let mut wanted = wanted.iter().peekable();
    loop {
        let hashes = log.hashes(tree.size(), READ)?;
        let ended = hashes.is_empty();
        for hash in hashes.iter().map(Some).chain([None]) {
            while let Some(next) = wanted.next_if(|next| next.size() == tree.size()) {
                if tree.root() != next.root() {
                    let (size, expected, found) = (next.size(), next.root(), tree.root());
                    return Err(TreeFault::Rewritten { size, expected, found }.into());
                }
            }
            if let Some(hash) = hash {
                tree.push(hash);
            }
        }
        if ended {
            break;
        }
    }
    if let Some(beyond) = wanted.next() {
        return Err(TreeFault::Cut { size: beyond.size(), log_ends: tree.size() }.into());
    }
    let stored = log.tree_blocks()?;
    let differs = (0..).zip(&stored).find(|(at, root)| tree.blocks().get(*at).is_none_or(|own| own.0 != root.0));
    match differs {
        Some((block, _)) => Err(TreeFault::Block { block: block as u64 }.into()),
        None => Ok(tree),
    }
}

/// Whether a trusted key has signed the checkpoint.
fn check_signature(checkpoint: &SignedCheckpoint, trusted: &[NoteKey]) -> Result<bool, TreeFault> {
    let mut signed = false;
    for key in trusted {
        match checkpoint.verdict(key) {
            NoteVerdict::Signed => signed = true,
            NoteVerdict::NotSigned => {}
            NoteVerdict::Forged | NoteVerdict::Malformed => {
                return Err(TreeFault::Forged { size: checkpoint.size(), key: key.clone() });
            }
        }
    }
    Ok(signed)
}

fn check_origin(checkpoint: &SignedCheckpoint, trusted: &[NoteKey]) -> Result<(), TreeFault> {
    let (size, found) = (checkpoint.size(), checkpoint.origin().to_owned());
    match trusted.first().map(NoteKey::name) {
        Some(expected) if expected != found => Err(TreeFault::OtherLog { size, found, expected: expected.to_owned() }),
        _ => Ok(()),
    }
}
