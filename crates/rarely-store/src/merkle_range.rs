//! Proofs that a run of entries is in the tree: the roots of everything beside it.

use tlog_tiles::tlog;

use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::hash::Hash;
use crate::merkle::MerkleTree;

/// Entries read at once.
const READ: u64 = 1 << 14;

/// The proof that the entries from number `first` to `last` are in the tree over the first `size` entries: the roots of the largest
/// subtrees beside them, from the left to the right. With the hashes of the entries they give the root.
///
/// # Errors
/// [`StoreError`] if the log cannot be read, or ends earlier.
pub fn range_proof(log: &dyn EventLog, first: u64, last: u64, size: u64) -> Result<Vec<Hash>, StoreError> {
    let mut proof = Vec::new();
    let mut missing = Ok(());
    walk((0, size), (first.saturating_sub(1), last), &mut |start, length, is_inside| {
        if !is_inside && missing.is_ok() {
            match subtree(log, start, length) {
                Ok(root) => proof.push(root),
                Err(error) => missing = Err(error),
            }
        }
        tlog::EMPTY_HASH
    });
    missing.map(|()| proof)
}

/// Whether `proof` shows that the entries from number `first` on, with these hashes, are in the tree with this size and root.
pub fn check_range(proof: &[Hash], first: u64, hashes: &[Hash], size: u64, root: &Hash) -> bool {
    let Some(low) = first.checked_sub(1) else { return false };
    let high = low + hashes.len() as u64;
    if high > size {
        return false;
    }
    let (mut beside, mut is_complete) = (proof.iter(), true);
    let found = walk((0, size), (low, high), &mut |start, length, is_inside| {
        if is_inside {
            let mut tree = MerkleTree::default();
            let at = usize::try_from(start - low).unwrap_or(usize::MAX);
            let count = usize::try_from(length).unwrap_or(usize::MAX);
            hashes[at..at + count].iter().for_each(|hash| tree.push(hash));
            return tlog::Hash(tree.root().0);
        }
        let next = beside.next();
        is_complete &= next.is_some();
        next.map_or(tlog::EMPTY_HASH, |hash| tlog::Hash(hash.0))
    });
    is_complete && beside.next().is_none() && found.0 == root.0
}

/// Visits the largest subtrees that are inside the range or beside it, and joins what `visit` returns.
fn walk(
    (start, length): (u64, u64),
    range: (u64, u64),
    visit: &mut dyn FnMut(u64, u64, bool) -> tlog::Hash,
) -> tlog::Hash {
    let (low, high) = range;
    let is_inside = start >= low && start + length <= high;
    let is_beside = start >= high || start + length <= low;
    if is_inside || is_beside || length < 2 {
        return visit(start, length, is_inside);
    }
    let left = length.next_power_of_two() / 2;
    let before = walk((start, left), range, visit);
    let after = walk((start + left, length - left), range, visit);
    tlog::node_hash(before, after)
}

/// The root over the entries after number `start`.
fn subtree(log: &dyn EventLog, start: u64, length: u64) -> Result<Hash, StoreError> {
    let mut tree = MerkleTree::default();
    while tree.size() < length {
        let limit = usize::try_from((length - tree.size()).min(READ)).unwrap_or(usize::MAX);
        let hashes = log.hashes(start + tree.size(), limit)?;
        if hashes.is_empty() {
            return Err(StoreError::Proof { problem: format!("the log ends at event {}", start + tree.size()) });
        }
        for hash in &hashes {
            tree.push(hash);
        }
    }
    Ok(tree.root())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{KeyedEntry, LogEntry};
    use crate::memory_log::MemoryLog;

    #[test]
    fn a_proof_of_a_range_fits_that_range_only() {
        let log = MemoryLog::new();
        let mut tree = MerkleTree::default();
        let hashes: Vec<Hash> = (0..23_u64).map(|n| Hash::of(&n.to_be_bytes())).collect();
        for (number, hash) in (1..).zip(&hashes) {
            let (actor, kind, body) = (String::new(), String::new(), String::new());
            let entry = LogEntry { number, time_ms: 0, elapsed_ms: None, actor, policy: 0, kind, body, hash: *hash };
            log.append(&[KeyedEntry { entry, key: None, destroys: Vec::new(), archives: Vec::new() }])
                .expect("appended");
            tree.push(hash);
        }
        let root = tree.root();
        for (first, at) in (1..=23_u64).zip(0..) {
            for (last, end) in (first..=23_u64).zip(at + 1..) {
                let proof = range_proof(&log, first, last, 23).expect("a proof");
                let range = &hashes[at..end];
                assert!(check_range(&proof, first, range, 23, &root), "{first} to {last}");
                assert!(first == 1 || !check_range(&proof, first - 1, range, 23, &root));
                let mut other = range.to_vec();
                other[0] = Hash::ZERO;
                assert!(!check_range(&proof, first, &other, 23, &root));
                assert!(proof.is_empty() || !check_range(&proof[1..], first, range, 23, &root));
            }
        }
    }
}
