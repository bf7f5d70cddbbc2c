//! The RFC 6962 Merkle tree over the log: its root covers every entry, and a short proof shows that an entry is in it, or
//! that one tree is the beginning of another.
//!
//! Leaf *i*, from 0, is the hash of entry *i* + 1 in the chain:
//!
//! ```text
//! leaf = SHA-256( 0 ‖ hash ),  node = SHA-256( 1 ‖ left ‖ right ),  empty tree = SHA-256( )
//! ```
//!
//! In memory are the complete subtrees of 256 leaves and everything above them: a quarter of a byte per entry. What is below
//! is computed from at most 256 entries when a proof needs it.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use tlog_tiles::tlog::{self, HashReader};

use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::hash::Hash;

/// The level of the subtrees that are kept: 2⁸ leaves.
const BLOCK_LEVEL: u8 = 8;
/// Leaves in a subtree that is kept.
pub(crate) const BLOCK: u64 = 1 << BLOCK_LEVEL;

/// The tree over the first entries of a log. Appending costs two hashes on average.
///
/// ```
/// use rarely_store::{Hash, MerkleTree};
/// let mut tree = MerkleTree::default();
/// // The SHA-256 of nothing is the root of the empty tree.
/// assert!(tree.root().to_string().starts_with("e3b0c442"));
/// tree.push(&Hash::of(b"first entry"));
/// assert_eq!(tree.size(), 1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct MerkleTree {
    size: u64,
    /// The complete subtrees of the last, incomplete block, the largest first.
    open: Vec<tlog::Hash>,
    /// `upper[k][i]` is the `i`-th complete subtree of level `BLOCK_LEVEL + k`.
    upper: Vec<Vec<tlog::Hash>>,
}

impl MerkleTree {
    /// The tree whose complete blocks have these roots.
    pub(crate) fn of_blocks(blocks: &[Hash]) -> Self {
        let mut tree = Self { size: blocks.len() as u64 * BLOCK, ..Self::default() };
        for block in blocks {
            tree.push_block(tlog::Hash(block.0));
        }
        tree
    }

    /// Appends the next entry, by its hash in the chain.
    pub fn push(&mut self, hash: &Hash) {
        let mut node = tlog::record_hash(&hash.0);
        let mut place = self.size % BLOCK;
        self.size += 1;
        while place & 1 == 1 {
            // Every 1 in `place` stands for a subtree in `open`.
            node = tlog::node_hash(self.open.pop().unwrap_or(node), node);
            place >>= 1;
        }
        if self.size.is_multiple_of(BLOCK) {
            self.push_block(node);
        } else {
            self.open.push(node);
        }
    }

    fn push_block(&mut self, mut node: tlog::Hash) {
        for level in 0.. {
            if self.upper.len() == level {
                self.upper.push(Vec::new());
            }
            let row = &mut self.upper[level];
            row.push(node);
            let [.., left, right] = row[..] else { return };
            if row.len() % 2 == 1 {
                return;
            }
            node = tlog::node_hash(left, right);
        }
    }

    /// The number of entries.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The root.
    pub fn root(&self) -> Hash {
        let low = self.open.iter().rev();
        let high = self.upper.iter().filter(|row| row.len() % 2 == 1).filter_map(|row| row.last());
        let root = low.chain(high).copied().reduce(|right, left| tlog::node_hash(left, right));
        Hash(root.unwrap_or(tlog::EMPTY_HASH).0)
    }

    /// The roots of the complete blocks.
    pub(crate) fn blocks(&self) -> &[tlog::Hash] {
        self.upper.first().map_or(&[], Vec::as_slice)
    }
}

/// Reads nodes of a tree, those below a block from the entries.
pub(crate) struct TreeNodes<'a> {
    tree: &'a Mutex<MerkleTree>,
    log: &'a dyn EventLog,
    /// Why the last read failed.
    failed: RefCell<Option<StoreError>>,
}

impl<'a> TreeNodes<'a> {
    pub(crate) fn new(tree: &'a Mutex<MerkleTree>, log: &'a dyn EventLog) -> Self {
        Self { tree, log, failed: RefCell::new(None) }
    }

    /// The root over the first `size` entries.
    pub(crate) fn root(&self, size: u64) -> Result<Hash, StoreError> {
        self.finish(tlog::tree_hash(size, self)).map(|root| Hash(root.0))
    }

    /// The proof that the entry at `index`, from 0, is in the tree over the first `size` entries.
    pub(crate) fn inclusion(&self, index: u64, size: u64) -> Result<Vec<Hash>, StoreError> {
        self.finish(tlog::prove_record(size, index, self)).map(ours)
    }

    /// The proof that the tree over the first `old` entries is the beginning of the tree over the first `new` entries.
    pub(crate) fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>, StoreError> {
        self.finish(tlog::prove_tree(new, old, self)).map(ours)
    }

    fn finish<T>(&self, made: Result<T, tlog::Error>) -> Result<T, StoreError> {
        made.map_err(|error| {
            let failed = self.failed.borrow_mut().take();
            failed.unwrap_or_else(|| StoreError::Proof { problem: error.to_string() })
        })
    }

    fn node(&self, level: u8, at: u64) -> Result<Option<tlog::Hash>, StoreError> {
        if let Some(above) = level.checked_sub(BLOCK_LEVEL) {
            let tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
            let row = tree.upper.get(usize::from(above));
            return Ok(usize::try_from(at).ok().and_then(|at| row?.get(at).copied()));
        }
        let leaves = self.log.hashes(at << level, 1 << level)?;
        if leaves.len() != 1 << level {
            return Ok(None);
        }
        let mut row: Vec<tlog::Hash> = leaves.iter().map(|leaf| tlog::record_hash(&leaf.0)).collect();
        while row.len() > 1 {
            row = row.chunks_exact(2).map(|pair| tlog::node_hash(pair[0], pair[1])).collect();
        }
        Ok(row.pop())
    }
}

impl HashReader for TreeNodes<'_> {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<tlog::Hash>, tlog::Error> {
        let read = |index: &u64| {
            let (level, at) = tlog::split_stored_hash_index(*index);
            match self.node(level, at) {
                Ok(node) => node.ok_or_else(|| tlog::Error::InvalidInput("the log ends earlier".to_owned())),
                Err(error) => {
                    self.failed.replace(Some(error));
                    Err(tlog::Error::InvalidInput("the log cannot be read".to_owned()))
                }
            }
        };
        indexes.iter().map(read).collect()
    }
}

/// Whether `proof` shows that the entry with this number and hash is in the tree with this size and root.
pub fn check_inclusion(proof: &[Hash], size: u64, root: &Hash, number: u64, hash: &Hash) -> bool {
    let leaf = tlog::record_hash(&hash.0);
    let Some(index) = number.checked_sub(1) else { return false };
    tlog::check_record(&theirs(proof), size, tlog::Hash(root.0), index, leaf).is_ok()
}

/// Whether `proof` shows that the tree with the first size and root is the beginning of the tree with the second.
pub fn check_consistency(proof: &[Hash], old: (u64, &Hash), new: (u64, &Hash)) -> bool {
    tlog::check_tree(&theirs(proof), new.0, tlog::Hash(new.1.0), old.0, tlog::Hash(old.1.0)).is_ok()
}

fn ours(proof: Vec<tlog::Hash>) -> Vec<Hash> {
    proof.into_iter().map(|hash| Hash(hash.0)).collect()
}

fn theirs(proof: &[Hash]) -> Vec<tlog::Hash> {
    proof.iter().map(|hash| tlog::Hash(hash.0)).collect()
}
