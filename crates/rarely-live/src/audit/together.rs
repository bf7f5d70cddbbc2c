//! Audits chains beside the service's own: that together they are one log. Each of them is verified alone, too.

use rarely_error::{Action, Explain, Remedy, Topic};
use rarely_store::{EventLog, Hash, MerkleTree, StoreError};

use crate::event::{Covered, Event, Followed};
use crate::replay::{self, ReplayError, for_each_entry};

/// Hashes that are read at a time.
const BLOCK: usize = 16_384;

/// A contradiction between a chain and the service's own.
#[derive(Debug, thiserror::Error)]
pub enum TogetherFault {
    /// An act of the service is not in the chain, though a later one is; or the chain has one that the service never did.
    #[error(
        "event {event} of the chain copies an act of the service that is not the next one in the service's own chain"
    )]
    NotTheService {
        /// The event of the chain.
        event: u64,
    },
    /// The chain is not the one that the service's own chain has covered.
    #[error(
        "event {event} of the service's own chain covers the first {size} events of the chain, and they are not these"
    )]
    NotCovered {
        /// The event of the service's own chain.
        event: u64,
        /// How many events it covers.
        size: u64,
    },
    /// An event cannot be read.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl Explain for TogetherFault {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Replay(error) => error.remedy(),
            _ => Some(
                Remedy::with("find out who could write to the store, and {action}", Action::RestoreBackup)
                    .see(Topic::Checkpoints),
            ),
        }
    }
}

impl From<StoreError> for TogetherFault {
    fn from(error: StoreError) -> Self {
        Self::Replay(error.into())
    }
}

/// Checks that a chain has copied what the service did: each act as it was, in order, and none left out. Returns how many. The service's own
/// chain is read after the other one.
///
/// # Errors
/// [`TogetherFault`] is the first contradiction.
pub fn verify_followed(service: &dyn EventLog, chain: &dyn EventLog) -> Result<u64, TogetherFault> {
    let mut copies: Vec<(u64, Followed)> = Vec::new();
    for_each_entry::<TogetherFault>(chain, 0, Some(0), |entry| {
        if entry.kind == "followed"
            && let Event::Followed(followed) = replay::event(chain, &entry)?
        {
            copies.push((entry.number, *followed));
        }
        Ok(())
    })?;
    let mut left = copies.iter();
    for_each_entry::<TogetherFault>(service, 0, Some(0), |entry| {
        if left.len() == 0 || !Event::KINDS_FOR_ALL_CHAINS.contains(&entry.kind.as_str()) {
            return Ok(());
        }
        let Some((event, copy)) = left.next() else { return Ok(()) };
        let (number, hash, time_ms) = (entry.number, entry.hash, entry.time_ms);
        let act = replay::event(service, &entry)?;
        let same = *copy == Followed { number, hash, time_ms, actor: entry.actor, act };
        if same { Ok(()) } else { Err(TogetherFault::NotTheService { event: *event }) }
    })?;
    match left.next() {
        Some((event, _)) => Err(TogetherFault::NotTheService { event: *event }),
        None => Ok(copies.len() as u64),
    }
}

/// Checks that a chain begins as the service's own chain says at each event that covers it. Returns how many do. The service's own chain is
/// read before the other one.
///
/// # Errors
/// [`TogetherFault`] is the first contradiction.
pub fn verify_covered(service: &dyn EventLog, number: u64, chain: &dyn EventLog) -> Result<u64, TogetherFault> {
    let mut ends: Vec<(u64, u64, String)> = Vec::new();
    for_each_entry::<TogetherFault>(service, 0, Some(0), |entry| {
        if entry.kind == "covered"
            && let Event::Covered(Covered { chains }) = replay::event(service, &entry)?
        {
            let own = chains.into_iter().filter(|covered| covered.chain == number);
            ends.extend(own.map(|covered| (covered.size, entry.number, covered.root)));
        }
        Ok(())
    })?;
    ends.sort();
    let (mut tree, mut left) = (MerkleTree::default(), ends.iter().peekable());
    while left.peek().is_some() {
        let hashes = chain.hashes(tree.size(), BLOCK)?;
        for hash in &hashes {
            tree.push(hash);
            while let Some((size, event, root)) = left.next_if(|(size, ..)| *size == tree.size()) {
                if root.parse::<Hash>().ok() != Some(tree.root()) {
                    return Err(TogetherFault::NotCovered { event: *event, size: *size });
                }
            }
        }
        if hashes.is_empty() {
            break;
        }
    }
    match left.next() {
        Some((size, event, _)) => Err(TogetherFault::NotCovered { event: *event, size: *size }),
        None => Ok(ends.len() as u64),
    }
}
