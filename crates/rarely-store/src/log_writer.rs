//! The only writer of a log: assigns numbers and times, chains entries, and commits them in groups.
//!
//! A caller pushes entries into a queue under a short lock. A thread takes everything in the queue and commits it at once;
//! while it writes to disk the next group gathers. A single caller gets a commit of its own at once. Callers that shared
//! the last commit are awaited for at most a millisecond, so that a thousand of them share the next one.

mod commit;
mod group_reader;
mod queue;
mod receipt;
mod turn;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::watch;

use crate::commit_statistics::CommitStatistics;
use crate::entry::{Head, LogEntry, LookupKey, Stamp};
use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::notary::Notary;
use crate::witness::HeadWitness;
use commit::CommitThread;
use group_reader::{GroupReader, Question};
use queue::Queue;

pub use receipt::Receipt;
pub use turn::{Lookup, Turn};

/// Appends to a log. `P` is what the caller gets back together with each committed entry: its typed event.
///
/// # Exactly once
/// To make a request that is sent twice, even concurrently, become one entry: look up its key in the log, then push under
/// the lock only if no entry with this key was pushed since.
///
/// ```
/// use std::sync::Arc;
/// use rarely_store::{EntryDraft, LogWriter, Lookup, LookupKey, MemoryLog, PolicyRef, Receipt, StoreError};
///
/// fn once(writer: &LogWriter<()>, key: &LookupKey) -> Result<(u64, Receipt), StoreError> {
///     loop {
///         let found = writer.find(key)?;
///         if let Some(number) = found.number {
///             return Ok((number, Receipt::settled()));
///         }
///         let (number, receipt) = writer.append(|turn| match turn.find(key, found.as_of) {
///             Lookup::Absent => {
///                 let draft = EntryDraft {
///                     actor: "ann".into(), policy: PolicyRef::None, kind: "greeted", body: "{}".into(), key: Some(key.clone()),
///                 };
///                 Some(turn.push(draft, ()))
///             }
///             // Another caller's entry, not yet on disk: the receipt waits for it.
///             Lookup::Pending(number) => Some(number),
///             Lookup::Stale => None,
///         });
///         if let Some(number) = number {
///             return Ok((number, receipt));
///         }
///     }
/// }
///
/// let writer = LogWriter::start(Arc::new(MemoryLog::new()), None, || 0, |_committed| {})?;
/// let (first, receipt) = once(&writer, &LookupKey::new(b'k', b"request 7"))?;
/// receipt.wait_blocking()?;
/// let (again, receipt) = once(&writer, &LookupKey::new(b'k', b"request 7"))?;
/// receipt.wait_blocking()?;
/// assert_eq!((first, again), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LogWriter<P> {
    log: Arc<dyn EventLog>,
    queue: Arc<Queue<P>>,
    committed: watch::Receiver<u64>,
    clock: Box<dyn Fn() -> Stamp + Send + Sync>,
    thread: Mutex<Option<JoinHandle<()>>>,
    failure: WriteFailure,
    /// Of a log that is read in groups.
    reader: Option<GroupReader>,
    statistics: Arc<CommitStatistics>,
}

/// The last failed write, until writing is known to be possible again.
type WriteFailure = Arc<Mutex<Option<Arc<StoreError>>>>;

impl<P: Send + 'static> LogWriter<P> {
    /// Starts the writing thread on `log`. Nothing else may append to this log.
    ///
    /// `clock` returns a [`Stamp`], or milliseconds since 1970 UTC. `on_commit` gets every entry that is on disk, once and in order,
    /// before the receipts for it succeed. It runs on the writing thread, so it should be short. An entry comes without
    /// its payload if its commit was reported as failed and it was found in the log afterwards.
    ///
    /// # Errors
    /// If the log cannot be read, if it lacks what `witness` recorded, or if no thread can be started.
    pub fn start<T: Into<Stamp>>(
        log: Arc<dyn EventLog>,
        witness: Option<HeadWitness>,
        clock: impl Fn() -> T + Send + Sync + 'static,
        on_commit: impl FnMut(Vec<(LogEntry, Option<P>)>) + Send + 'static,
    ) -> Result<Self, StoreError> {
        Self::start_with(log, Guards { witness, notary: None }, clock, on_commit)
    }

    /// As [`start`](Self::start), also with a notary, whose tree contains the whole log.
    pub(crate) fn start_with<T: Into<Stamp>>(
        log: Arc<dyn EventLog>,
        guards: Guards,
        clock: impl Fn() -> T + Send + Sync + 'static,
        on_commit: impl FnMut(Vec<(LogEntry, Option<P>)>) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let witness = &guards.witness;
        if let Some(witness) = witness {
            witness.check(&*log)?;
        }
        let head = log.head()?.map_or(Head::EMPTY, |(number, hash)| Head { number, hash });
        let queue = Arc::new(Queue::new(head.number, log.last_time_ms()?));
        let (publish, committed) = watch::channel(head.number);
        let commit =
            CommitThread::new(Arc::clone(&log), Arc::clone(&queue), head, guards, Box::new(on_commit), publish);
        let (failure, statistics) = (commit.failure(), commit.statistics());
        let thread = thread::Builder::new().name("store-writer".to_owned()).spawn(move || commit.run());
        let thread = Mutex::new(Some(thread.map_err(StoreError::Thread)?));
        let reader =
            if log.reads_in_groups() { Some(GroupReader::start(Arc::clone(&log), committed.clone())?) } else { None };
        Ok(Self { log, queue, committed, clock: Box::new(move || clock().into()), thread, failure, reader, statistics })
    }

    /// Runs `make` under the lock that assigns numbers. The entries that it pushes are committed, all or none, together
    /// with those of other callers; the receipt tells when. If `make` panics, none of its entries is committed.
    pub fn append<R>(&self, make: impl FnOnce(&mut Turn<'_, P>) -> R) -> (R, Receipt) {
        self.queue.take_turn(&*self.clock, make)
    }

    /// The number of the last entry that is on disk and was passed to `on_commit`.
    pub fn committed(&self) -> u64 {
        *self.committed.borrow()
    }

    /// What is counted about commits.
    pub fn statistics(&self) -> &CommitStatistics {
        &self.statistics
    }

    /// How many entries wait for the next commit.
    pub fn queue_depth(&self) -> usize {
        self.queue.depth()
    }

    /// Watches [`committed`](Self::committed).
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.committed.clone()
    }

    /// Looks up a key in the log. [`Turn::find`] also sees entries that are not yet on disk.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn find(&self, key: &LookupKey) -> Result<Found, StoreError> {
        // In this order: an entry that is committed in between is either found, or makes `as_of` stale.
        let as_of = self.committed();
        Ok(Found { number: self.log.find(key)?, as_of })
    }

    /// Reads entries and looks up keys. Where the log is in a database, callers that ask at the same time share the queries.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub async fn look_up(&self, numbers: Vec<u64>, keys: Vec<LookupKey>) -> Result<LookedUp, Arc<StoreError>> {
        let question = Question { numbers, keys };
        match &self.reader {
            Some(reader) => reader.ask(question).await,
            None => group_reader::read(&*self.log, &self.committed, &[question]).swap_remove(0),
        }
    }

    /// Whether entries can be written. After a failed write this writes something of no meaning; only if that succeeds the log
    /// counts as writable again, because on a full disk a small entry may go where the next one does not.
    ///
    /// # Errors
    /// Why the disk cannot be written to.
    pub fn check_writable(&self) -> Result<(), Arc<StoreError>> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_some() {
            *failure = self.log.try_to_write().err().map(Arc::new);
        }
        failure.clone().map_or(Ok(()), Err)
    }

    /// The log, for reading.
    pub fn log(&self) -> &Arc<dyn EventLog> {
        &self.log
    }

    /// Commits pending entries and ends the writing thread. Dropping the writer does the same.
    pub fn stop(self) {
        self.close();
    }
}

/// What protects a log against a lost end and against rewriting. Both follow every commit.
#[derive(Default)]
pub(crate) struct Guards {
    pub(crate) witness: Option<HeadWitness>,
    pub(crate) notary: Option<Arc<Notary>>,
}

impl<P> LogWriter<P> {
    /// As [`stop`](Self::stop), for a shared writer. Later appends are refused.
    pub fn close(&self) {
        self.queue.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It panics only if `on_commit` or a deferred body does; all waiting receipts have failed then.
            let _ = thread.join();
        }
    }
}

impl<P> Drop for LogWriter<P> {
    fn drop(&mut self) {
        self.close();
    }
}

/// The result of [`LogWriter::look_up`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookedUp {
    /// The entry of each number; `None` if there is none.
    pub entries: Vec<Option<LogEntry>>,
    /// The latest entry that carries each key, as in [`Found`].
    pub found: Vec<Option<u64>>,
    /// The search for keys is complete up to this number.
    pub as_of: u64,
}

/// The result of [`LogWriter::find`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The latest entry that carries the key. It is on disk. If it is above `as_of`, `on_commit` may not have got it yet.
    pub number: Option<u64>,
    /// The search is complete up to this number. Pass it to [`Turn::find`].
    pub as_of: u64,
}
