//! Verifies a log: every entry is in its place and chained to the previous one.

use std::sync::mpsc;
use std::thread;

use rarely_error::{Action, Explain, Remedy, Topic};
use thiserror::Error;

use crate::entry::{Head, LogEntry, LookupKey};
use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::hash::Hash;
use crate::stub::StubCheck;

/// The kind of the entries whose time may be before the last entry's: they correct a clock that was ahead.
pub const CLOCK_CORRECTED: &str = "clock corrected";

/// The first fault in a log, in log order.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChainFault {
    /// A number is missing or duplicated.
    #[error("event {expected} is missing: event {} is followed by event {found}", expected - 1)]
    Gap {
        /// The expected number.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// An entry's time is before the previous entry's.
    #[error("event {number} has the time {time_ms} ms, which is before the previous event's time, {before_ms} ms")]
    Earlier {
        /// The entry.
        number: u64,
        /// Its time.
        time_ms: u64,
        /// The previous entry's time.
        before_ms: u64,
    },
    /// An entry was modified.
    #[error("event {number} was modified: its hash is {found}, but its content hashes to {expected}")]
    Changed {
        /// The entry.
        number: u64,
        /// The hash of its content and the previous hash.
        expected: Hash,
        /// The stored hash.
        found: Hash,
    },
    /// The log cannot be read further.
    #[error("event {next} cannot be read (the last valid event is {last_good}): {source}")]
    Unreadable {
        /// The last valid entry; 0 if there is none.
        last_good: u64,
        /// The entry that cannot be read.
        next: u64,
        /// Why.
        source: Box<StoreError>,
    },
    /// A lookup key or the policy index refers to an entry that does not exist.
    #[error("event {number} is missing: {named_by} refers to it, but the log ends at event {last}")]
    Gone {
        /// What refers to it.
        named_by: String,
        /// The entry.
        number: u64,
        /// The last entry in the log.
        last: u64,
    },
    /// The policy index does not match the entries.
    #[error("the policy index does not match events 1 to {last} ({found})")]
    Index {
        /// What was found.
        found: String,
        /// The last entry.
        last: u64,
    },
    /// What is left of archived entries is not what the entry says that archived them.
    #[error("what is left of archived events was modified: event {number} does not match them")]
    Stubs {
        /// The entry that archived them.
        number: u64,
    },
    /// The chain is intact, but the index structures are damaged.
    #[error("events 1 to {last} are intact, but {source}")]
    Structure {
        /// The last entry.
        last: u64,
        /// What is damaged.
        source: Box<StoreError>,
    },
}

impl Explain for ChainFault {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Unreadable { source, .. } | Self::Structure { source, .. } => source.remedy(),
            _ => Some(Remedy::with("{action}", Action::RestoreBackup).see(Topic::Recovery)),
        }
    }
}

impl ChainFault {
    /// The event that the fault is about: the first invalid one, or the last one if the events themselves are intact.
    pub fn number(&self) -> u64 {
        match *self {
            Self::Gap { expected: number, .. }
            | Self::Unreadable { next: number, .. }
            | Self::Earlier { number, .. }
            | Self::Changed { number, .. }
            | Self::Gone { number, .. }
            | Self::Stubs { number }
            | Self::Index { last: number, .. }
            | Self::Structure { last: number, .. } => number,
        }
    }
}

/// Reads the whole log and checks that numbers have no gaps, times do not decrease (but where a clock was corrected) and every hash follows from the entry
/// and the previous hash; then the lookup keys and the policy index, which show entries missing at the end; then the log's
/// own structure. `progress` gets the number reached, from time to time.
///
/// Of an archived entry the body is not there: its hash is taken as it is, and what is left must be what the archiving entry says.
///
/// One thread reads while another hashes.
///
/// # Errors
/// The first fault.
pub fn verify_chain(log: &dyn EventLog, mut progress: impl FnMut(u64)) -> Result<Head, ChainFault> {
    let mut chain = ChainCheck::default();
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
    if let Some(number) = chain.stubs.unexplained() {
        return Err(ChainFault::Stubs { number });
    }
    chain.check_index(log)?;
    chain.check_lookup_keys(log)?;
    log.check_structure().map_err(|source| chain.structure(source))?;
    Ok(chain.head)
}

/// Entries read at once.
const BLOCK: usize = 4096;

/// Sends the log in blocks. If a block cannot be read, continues one by one, so that the last valid entry is known.
fn read_blocks(log: &dyn EventLog, send: &mpsc::SyncSender<Result<Vec<LogEntry>, StoreError>>) {
    let mut after = 0;
    let mut limit = BLOCK;
    loop {
        let block = log.entries(after, None, limit);
        match &block {
            Ok(entries) => match entries.last() {
                // A damaged tree may return the same entries forever; the receiver detects that and hangs up.
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

/// What has been read of the log so far.
struct ChainCheck {
    head: Head,
    time_ms: u64,
    /// An order-independent sum over policies and numbers.
    index: u64,
    stubs: StubCheck,
}

impl Default for ChainCheck {
    fn default() -> Self {
        Self { head: Head::EMPTY, time_ms: 0, index: 0, stubs: StubCheck::default() }
    }
}

impl ChainCheck {
    fn link(&mut self, entry: &LogEntry) -> Result<(), ChainFault> {
        let expected = self.head.number + 1;
        if entry.number != expected {
            return Err(ChainFault::Gap { expected, found: entry.number });
        }
        let is_whole = self.stubs.is_whole(entry);
        let hash = if is_whole { entry.expected_hash(&self.head.hash) } else { entry.hash };
        if hash != entry.hash {
            return Err(ChainFault::Changed { number: entry.number, expected: hash, found: entry.hash });
        }
        if entry.time_ms < self.time_ms && entry.kind != CLOCK_CORRECTED {
            let (time_ms, before_ms) = (entry.time_ms, self.time_ms);
            return Err(ChainFault::Earlier { number: entry.number, time_ms, before_ms });
        }
        if !self.stubs.is_explained(entry) {
            return Err(ChainFault::Stubs { number: entry.number });
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

    /// On a live log entries arrive while this runs, so only entries up to `last` are compared; later ones must exist.
    fn check_index(&self, log: &dyn EventLog) -> Result<(), ChainFault> {
        let last = self.head.number;
        let (mut count, mut sum, mut beyond) = (0, 0_u64, None);
        let read = log.policy_index(&mut |policy, number| {
            if number > last {
                beyond = Some(beyond.map_or(number, |least: u64| least.min(number)));
            } else {
                count += 1;
                sum = sum.wrapping_add(scatter(policy, number));
            }
        });
        read.map_err(|source| self.structure(source))?;
        if let Some(number) = beyond.filter(|number| !exists(log, *number)) {
            return Err(ChainFault::Gone { named_by: "the policy index".to_owned(), number, last });
        }
        let found = if count != last {
            format!("it has {count} entries")
        } else if sum != self.index {
            "it has other entries".to_owned()
        } else {
            return Ok(());
        };
        Err(ChainFault::Index { found, last })
    }

    fn check_lookup_keys(&self, log: &dyn EventLog) -> Result<(), ChainFault> {
        let last = self.head.number;
        let mut beyond: Option<(u64, LookupKey)> = None;
        let read = log.lookup_keys(&mut |key, number| {
            let outside = number == 0 || number > last;
            if outside && beyond.as_ref().is_none_or(|(least, _)| number < *least) {
                beyond = Some((number, key.clone()));
            }
        });
        read.map_err(|source| self.structure(source))?;
        match beyond {
            Some((number, key)) if !exists(log, number) => {
                Err(ChainFault::Gone { named_by: format!("{key:?}"), number, last })
            }
            _ => Ok(()),
        }
    }

    fn structure(&self, source: StoreError) -> ChainFault {
        ChainFault::Structure { last: self.head.number, source: Box::new(source) }
    }
}

fn exists(log: &dyn EventLog, number: u64) -> bool {
    log.entry(number).is_ok_and(|entry| entry.is_some())
}

/// Mixes a pair into 64 bits (the finaliser of SplitMix64), so that sums of different pairs differ.
fn scatter(policy: u64, number: u64) -> u64 {
    let mut mixed = policy.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
