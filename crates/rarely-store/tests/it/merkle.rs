//! `MerkleTree` and proofs: as RFC 6962 defines them, for every size.

use std::sync::Arc;

use rarely_store::{
    EventLog, Hash, MemoryLog, MerkleTree, Notary, NoteSigner, check_consistency, check_inclusion, tree_root,
};
use sha2::{Digest as _, Sha256};

use crate::support::{chained, said_entry};

/// MTH of RFC 6962, section 2.1, written from its definition.
fn reference(leaves: &[Hash]) -> Hash {
    let digest = |parts: &[&[u8]]| {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update(part);
        }
        Hash(digest.finalize().into())
    };
    match leaves {
        [] => digest(&[]),
        [leaf] => digest(&[&[0], &leaf.0]),
        _ => {
            let half = leaves.len().next_power_of_two() / 2;
            digest(&[&[1], &reference(&leaves[..half]).0, &reference(&leaves[half..]).0])
        }
    }
}

fn log(size: u64) -> Arc<MemoryLog> {
    let log = MemoryLog::new();
    let entries = (1..=size).map(said_entry);
    log.append(&chained(rarely_store::Head::EMPTY, entries)).unwrap();
    Arc::new(log)
}

#[test]
fn the_root_is_that_of_the_definition_for_every_size() {
    let log = log(1100);
    let hashes = log.hashes(0, usize::MAX).unwrap();
    let mut tree = MerkleTree::default();
    assert_eq!(tree.root(), reference(&[]));
    for (at, hash) in hashes.iter().enumerate() {
        tree.push(hash);
        if at < 70 || at % 64 < 2 || at > 1020 {
            assert_eq!(tree.root(), reference(&hashes[..=at]), "{} leaves", at + 1);
            assert_eq!(tree_root(&*log, at as u64 + 1).unwrap(), tree.root());
        }
    }
    assert!(tree_root(&*log, 1101).is_err());
}

#[test]
fn proofs_are_accepted_and_those_of_anything_else_are_not() {
    let log = log(1100);
    let hashes = log.hashes(0, usize::MAX).unwrap();
    let notary = Notary::open(log.clone(), NoteSigner::generate("test")).unwrap();
    for size in [1, 2, 7, 255, 256, 257, 511, 512, 513, 1000, 1100] {
        let root = notary.root(size).unwrap();
        assert_eq!(root, reference(&hashes[..usize::try_from(size).unwrap()]));
        for number in (1..=size).step_by(1 + usize::try_from(size).unwrap() / 9).chain([size]) {
            let (proof, hash) =
                (notary.inclusion(number, size).unwrap(), &hashes[usize::try_from(number).unwrap() - 1]);
            assert!(check_inclusion(&proof, size, &root, number, hash), "{number} of {size}");
            assert!(!check_inclusion(&proof, size, &root, number, &Hash::ZERO));
            assert!(!check_inclusion(&proof, size, &Hash::ZERO, number, hash));
            assert!(size == 1 || !check_inclusion(&proof, size, &root, number % size + 1, hash));
        }
        for old in (1..=size).step_by(1 + usize::try_from(size).unwrap() / 9) {
            let (proof, before) = (notary.consistency(old, size).unwrap(), notary.root(old).unwrap());
            assert!(check_consistency(&proof, (old, &before), (size, &root)), "{old} of {size}");
            assert!(!check_consistency(&proof, (old, &Hash::ZERO), (size, &root)));
            assert!(!check_consistency(&proof, (old, &before), (size, &Hash::ZERO)));
        }
    }
    for wrong in [notary.inclusion(0, 5), notary.inclusion(6, 5), notary.inclusion(1, 1101)] {
        assert!(wrong.is_err());
    }
    for wrong in [notary.consistency(0, 5), notary.consistency(6, 5), notary.consistency(1, 1101)] {
        assert!(wrong.is_err());
    }
}
