//! Whether a log is whole: every entry in its place and chained to the one before.

use std::sync::mpsc;
use std::thread;

use thiserror::Error;

use crate::entry::{Entry, Head, Mark};
use crate::error::StoreError;
use crate::hash::Hash;
use crate::log::Log;

/// The first thing in a log that does not fit, in the order of the log.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChainFault {
    /// A number is missing, or comes twice.
    #[error("event {expected} is missing: after event {} comes event {found}", expected - 1)]
    Gap {
        /// The number that should come.
        expected: u64,
        /// The number that comes.
        found: u64,
    },
    /// An entry is earlier than the one before it.
    #[error("event {number} is earlier than the event before it ({time_ms} ms after {before_ms} ms)")]
    Earlier {
        /// The entry.
        number: u64,
        /// Its time.
        time_ms: u64,
        /// The time before it.
        before_ms: u64,
    },
    /// An entry is not what was written.
    #[error("event {number} was changed: it has the hash {found}, and its content gives {expected}")]
    Changed {
        /// The entry.
        number: u64,
        /// The hash that follows from it and the one before.
        expected: Hash,
        /// The hash that it has.
        found: Hash,
    },
    /// The log cannot be read any further.
    #[error("event {next} cannot be read, event {last_good} is the last good one: {source}")]
    Unreadable {
        /// The last entry that is in order; 0 if none is.
        last_good: u64,
        /// The entry that cannot be read.
        next: u64,
        /// Why.
        source: Box<StoreError>,
    },
    /// A mark or the index names an entry that does not exist.
    #[error("event {number} is gone: {named_by} names it, but the log ends at event {last}")]
    Gone {
        /// What names it.
        named_by: String,
        /// The entry.
        number: u64,
        /// The last entry that is there.
        last: u64,
    },
    /// The index of policies does not hold the entries that there are.
    #[error("the index of policies does not fit the events ({found}), of which event {last} is the last one")]
    Index {
        /// What was found.
        found: String,
        /// The last entry.
        last: u64,
    },
    /// The chain is whole, but what helps to find entries is damaged.
    #[error("events 1 to {last} are whole, but {source}")]
    Structure {
        /// The last entry.
        last: u64,
        /// What is damaged.
        source: Box<StoreError>,
    },
}

impl ChainFault {
    /// The number of the event that the fault names: the first that does not fit, or the last one if the events
    /// themselves are whole.
    pub fn number(&self) -> u64 {
        match *self {
            Self::Gap { expected: number, .. }
            | Self::Unreadable { next: number, .. }
            | Self::Earlier { number, .. }
            | Self::Changed { number, .. }
            | Self::Gone { number, .. }
            | Self::Index { last: number, .. }
            | Self::Structure { last: number, .. } => number,
        }
    }
}

/// Reads the whole log: numbers without gaps, times that do not decrease, every hash the one that follows from the
/// entry and the hash before; then the marks and the index of policies, which show entries missing at the end, and the
/// log's own structure. `progress` gets the number reached, now and then.
///
/// Two threads work at it: one reads, one hashes.
///
/// # Errors
/// The first fault.
pub fn verify_chain(log: &dyn Log, mut progress: impl FnMut(u64)) -> Result<Head, ChainFault> {
    let mut chain = Chain::default();
    thread::scope(|scope| {
        let (send, blocks) = mpsc::sync_channel(4);
        scope.spawn(move || read_blocks(log, &send));
        for block in blocks {
            for entry in &block.map_err(|source| chain.unreadable(source))? {
                chain.link(entry)?;
            }
            progress(chain.head.number);
        }
        Ok(())
    })?;
    chain.check_index(log)?;
    chain.check_marks(log)?;
    log.check_structure().map_err(|source| chain.structure(source))?;
    Ok(chain.head)
}

/// How many entries are read at once.
const BLOCK: usize = 4096;

/// Sends the log in blocks. Where a block cannot be read it goes on one by one, so that the last good entry is known.
fn read_blocks(log: &dyn Log, send: &mpsc::SyncSender<Result<Vec<Entry>, StoreError>>) {
    let mut after = 0;
    let mut limit = BLOCK;
    loop {
        let block = log.entries(after, None, limit);
        match &block {
            Ok(entries) => match entries.last() {
                // A damaged tree may give the same entries again and again; the receiver sees that and hangs up.
                Some(last) => after = last.number,
                None => return,
            },
            Err(_) if limit > 1 => {
                limit = 1;
                continue;
            }
            Err(_) => {}
        }
        let failed = block.is_err();
        if send.send(block).is_err() || failed {
            return;
        }
    }
}

/// What is known of the log so far.
struct Chain {
    head: Head,
    time_ms: u64,
    /// A sum over policies and numbers that does not depend on their order.
    index: u64,
}

impl Default for Chain {
    fn default() -> Self {
        Self { head: Head::EMPTY, time_ms: 0, index: 0 }
    }
}

impl Chain {
    fn link(&mut self, entry: &Entry) -> Result<(), ChainFault> {
        let expected = self.head.number + 1;
        if entry.number != expected {
            return Err(ChainFault::Gap { expected, found: entry.number });
        }
        let hash = entry.expected_hash(&self.head.hash);
        if hash != entry.hash {
            return Err(ChainFault::Changed { number: entry.number, expected: hash, found: entry.hash });
        }
        if entry.time_ms < self.time_ms {
            let (time_ms, before_ms) = (entry.time_ms, self.time_ms);
            return Err(ChainFault::Earlier { number: entry.number, time_ms, before_ms });
        }
        self.head = Head { number: entry.number, hash };
        self.time_ms = entry.time_ms;
        self.index = self.index.wrapping_add(scatter(entry.policy, entry.number));
        Ok(())
    }

    fn unreadable(&self, source: StoreError) -> ChainFault {
        let last_good = self.head.number;
        ChainFault::Unreadable { last_good, next: last_good + 1, source: Box::new(source) }
    }

    /// On a live log entries come while this runs, so only those read before count; one above them must exist.
    fn check_index(&self, log: &dyn Log) -> Result<(), ChainFault> {
        let last = self.head.number;
        let (mut count, mut sum, mut beyond) = (0, 0_u64, None);
        let read = log.index(&mut |policy, number| {
            if number > last {
                beyond = Some(beyond.map_or(number, |least: u64| least.min(number)));
            } else {
                count += 1;
                sum = sum.wrapping_add(scatter(policy, number));
            }
        });
        read.map_err(|source| self.structure(source))?;
        if let Some(number) = beyond.filter(|number| !exists(log, *number)) {
            return Err(ChainFault::Gone { named_by: "the index of policies".to_owned(), number, last });
        }
        let found = if count != last {
            format!("it has {count}")
        } else if sum != self.index {
            "it has others".to_owned()
        } else {
            return Ok(());
        };
        Err(ChainFault::Index { found, last })
    }

    fn check_marks(&self, log: &dyn Log) -> Result<(), ChainFault> {
        let last = self.head.number;
        let mut beyond: Option<(u64, Mark)> = None;
        let read = log.marks(&mut |mark, number| {
            let outside = number == 0 || number > last;
            if outside && beyond.as_ref().is_none_or(|(least, _)| number < *least) {
                beyond = Some((number, mark.clone()));
            }
        });
        read.map_err(|source| self.structure(source))?;
        match beyond {
            Some((number, mark)) if !exists(log, number) => {
                Err(ChainFault::Gone { named_by: format!("{mark:?}"), number, last })
            }
            _ => Ok(()),
        }
    }

    fn structure(&self, source: StoreError) -> ChainFault {
        ChainFault::Structure { last: self.head.number, source: Box::new(source) }
    }
}

fn exists(log: &dyn Log, number: u64) -> bool {
    log.entry(number).is_ok_and(|entry| entry.is_some())
}

/// Spreads a pair over 64 bits (the finaliser of SplitMix64), so that sums of different pairs differ.
fn scatter(policy: u64, number: u64) -> u64 {
    let mut mixed = policy.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
