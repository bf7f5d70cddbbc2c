//! Signs checkpoints of a log that is being written, and proves what is in it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::hash::Hash;
use crate::merkle::{BLOCK, MerkleTree, TreeNodes};
use crate::note::{NoteKey, NoteSigner, NoteVerdict};
use crate::signed_checkpoint::SignedCheckpoint;
use crate::store::now_ms;
use crate::verify_tree::TreeFault;

/// Keeps the Merkle tree of a log up to date, and signs checkpoints of it.
pub struct Notary {
    log: Arc<dyn EventLog>,
    signer: NoteSigner,
    tree: Mutex<MerkleTree>,
    /// Held while a checkpoint is made, so that they are stored in order.
    made: Mutex<Made>,
}

struct Made {
    latest: Option<SignedCheckpoint>,
    /// How many roots of blocks are stored.
    blocks: usize,
    counts: CheckpointCounts,
}

/// Checkpoints since the notary opened the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckpointCounts {
    /// Those that were signed and stored.
    pub signed: u64,
    /// Those that could not be stored.
    pub failed: u64,
    /// When the last one was signed, by the system's clock.
    pub last_ms: Option<u64>,
}

impl Notary {
    /// Builds the tree of a log, and checks that it begins with what was signed last.
    ///
    /// # Errors
    /// [`StoreError::Tree`] if the log is not the one that was signed, [`StoreError::OtherKey`] if the signer is not the one
    /// who signs this log; other errors if the log cannot be read.
    pub fn open(log: Arc<dyn EventLog>, signer: NoteSigner) -> Result<Self, StoreError> {
        let stored = log.tree_blocks()?;
        let ends = log.head()?.map_or(0, |(number, _)| number);
        let whole = usize::try_from(ends / BLOCK).map_or(stored.len(), |whole| stored.len().min(whole));
        let mut tree = MerkleTree::of_blocks(&stored[..whole]);
        loop {
            let hashes = log.hashes(tree.size(), READ)?;
            if hashes.is_empty() {
                break;
            }
            for hash in &hashes {
                tree.push(hash);
            }
        }
        let latest = log.last_checkpoint()?;
        let made = Mutex::new(Made { latest: latest.clone(), blocks: whole, counts: CheckpointCounts::default() });
        let notary = Self { log, signer, tree: Mutex::new(tree), made };
        if let Some(latest) = latest {
            notary.check(&latest)?;
        }
        Ok(notary)
    }

    /// Checks that the log begins with what a checkpoint covers.
    fn check(&self, latest: &SignedCheckpoint) -> Result<(), StoreError> {
        let (size, key) = (latest.size(), self.key());
        if latest.origin() != key.name() {
            let expected = format!("it is signed as {}", latest.origin());
            return Err(StoreError::OtherKey { found: key.to_string(), expected });
        }
        if latest.verdict(key) == NoteVerdict::Forged {
            return Err(TreeFault::Forged { size, key: key.clone() }.into());
        }
        let log_ends = self.size();
        if size > log_ends {
            return Err(TreeFault::Cut { size, log_ends }.into());
        }
        let found = self.root(size)?;
        if found != latest.root() {
            return Err(TreeFault::Rewritten { size, expected: latest.root(), found }.into());
        }
        Ok(())
    }

    /// The public key of the log.
    pub fn key(&self) -> &NoteKey {
        self.signer.key()
    }

    /// The private key.
    pub fn signer(&self) -> &NoteSigner {
        &self.signer
    }

    /// The number of entries in the tree: all that are on disk.
    pub fn size(&self) -> u64 {
        self.tree().size()
    }

    /// The last checkpoint, with the cosignatures of witnesses.
    pub fn latest(&self) -> Option<SignedCheckpoint> {
        self.made().latest.clone()
    }

    /// Appends entries that are on disk.
    pub(crate) fn extend<'a>(&self, hashes: impl Iterator<Item = &'a Hash>) {
        let mut tree = self.tree();
        hashes.for_each(|hash| tree.push(hash));
    }

    /// Signs and stores a checkpoint of everything that is on disk; `None` if the last one covers it.
    ///
    /// # Errors
    /// If it cannot be stored. It is then not published either.
    pub fn sign_checkpoint(&self) -> Result<Option<SignedCheckpoint>, StoreError> {
        let mut made = self.made();
        let stored = self.sign_next(&mut made);
        match &stored {
            Ok(None) => {}
            Ok(Some(_)) => {
                made.counts.signed += 1;
                made.counts.last_ms = Some(now_ms());
            }
            Err(error) => {
                made.counts.failed += 1;
                tracing::error!(%error, "a checkpoint could not be stored");
            }
        }
        stored
    }

    /// How many checkpoints were signed, and when the last one was.
    pub fn counts(&self) -> CheckpointCounts {
        self.made().counts
    }

    fn sign_next(&self, made: &mut Made) -> Result<Option<SignedCheckpoint>, StoreError> {
        let (size, root, blocks) = {
            let tree = self.tree();
            let new = tree.blocks().get(made.blocks..).unwrap_or_default();
            (tree.size(), tree.root(), new.iter().map(|root| Hash(root.0)).collect::<Vec<_>>())
        };
        let signed = |latest: &SignedCheckpoint| latest.verdict(self.key()) == NoteVerdict::Signed;
        if made.latest.as_ref().is_some_and(|latest| latest.size() == size && signed(latest)) {
            return Ok(None);
        }
        if size == 0 {
            return Ok(None);
        }
        let mut checkpoint = SignedCheckpoint::sign(size, root, &self.signer);
        if let Some(latest) = made.latest.as_ref().filter(|latest| latest.size() == size && latest.root() == root) {
            // Signed with the key before this one: both signatures stay.
            checkpoint.add_cosignatures(&latest.to_string(), &[]);
        }
        self.log.keep_checkpoint(&checkpoint, made.blocks as u64, &blocks)?;
        made.blocks += blocks.len();
        made.latest = Some(checkpoint.clone());
        Ok(Some(checkpoint))
    }

    /// Stores the signature lines that a witness returned for a checkpoint. With `keys`, only those that one of them made.
    /// Returns how many were added.
    ///
    /// # Errors
    /// If they cannot be stored.
    pub fn add_cosignatures(&self, size: u64, lines: &str, keys: &[NoteKey]) -> Result<usize, StoreError> {
        let mut made = self.made();
        let before = size.checked_sub(1);
        let stored = self.log.checkpoints(before)?.into_iter().next().filter(|stored| stored.size() == size);
        let Some(mut checkpoint) = stored else { return Ok(0) };
        let added = checkpoint.add_cosignatures(lines, keys);
        if added > 0 {
            self.log.keep_checkpoint(&checkpoint, 0, &[])?;
            if made.latest.as_ref().is_some_and(|latest| latest.size() == size) {
                made.latest = Some(checkpoint);
            }
        }
        Ok(added)
    }

    /// The root of the tree over the first `size` entries.
    ///
    /// # Errors
    /// If the log cannot be read, or ends earlier.
    pub fn root(&self, size: u64) -> Result<Hash, StoreError> {
        TreeNodes::new(&self.tree, &*self.log).root(size)
    }

    /// The proof that entry `number` is in the tree over the first `size` entries.
    ///
    /// # Errors
    /// If the log cannot be read, or has no such entry or size.
    pub fn inclusion(&self, number: u64, size: u64) -> Result<Vec<Hash>, StoreError> {
        self.check_size(size)?;
        let index =
            number.checked_sub(1).ok_or_else(|| StoreError::Proof { problem: "there is no event 0".to_owned() })?;
        TreeNodes::new(&self.tree, &*self.log).inclusion(index, size)
    }

    /// The proof that the tree over the first `old` entries is the beginning of the tree over the first `new` ones.
    ///
    /// # Errors
    /// If the log cannot be read, or has no such sizes.
    pub fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>, StoreError> {
        self.check_size(new)?;
        TreeNodes::new(&self.tree, &*self.log).consistency(old, new)
    }

    fn check_size(&self, size: u64) -> Result<(), StoreError> {
        let ends = self.size();
        if size <= ends {
            return Ok(());
        }
        Err(StoreError::Proof { problem: format!("the log ends at event {ends}, before {size}") })
    }

    fn tree(&self) -> MutexGuard<'_, MerkleTree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hashes read at once.
const READ: usize = 16_384;
