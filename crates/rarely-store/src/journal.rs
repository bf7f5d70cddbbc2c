//! The one writer: gives out numbers and times, chains, and commits in groups.
//!
//! Whoever appends pushes into a queue under a short lock. A thread takes everything in the queue and commits it at
//! once; while the disk works the next group gathers. One client alone gets a commit of its own at once; those who
//! shared the last one are awaited for a millisecond at most, so that a thousand share the next.

mod queue;
mod receipt;
mod turn;
mod writer;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::watch;

use crate::entry::{Entry, Head, Mark};
use crate::error::StoreError;
use crate::log::Log;
use crate::witness::HeadWitness;
use queue::Queue;
use writer::Writer;

pub use receipt::Receipt;
pub use turn::{Lookup, Turn};

/// Appends to a log. `P` is what the caller gets back together with each committed entry: its typed event.
///
/// # Exactly once
/// The recipe by which a request that is sent twice, even at the same time, becomes one entry: look for its mark in
/// the log, then push under the lock only if nobody did since.
///
/// ```
/// use std::sync::Arc;
/// use rarely_store::{Draft, Journal, Lookup, Mark, MemoryLog, Receipt, StoreError, Subject};
///
/// fn once(journal: &Journal<()>, mark: &Mark) -> Result<(u64, Receipt), StoreError> {
///     loop {
///         let found = journal.find(mark)?;
///         if let Some(number) = found.number {
///             return Ok((number, Receipt::settled()));
///         }
///         let (number, receipt) = journal.append(|turn| match turn.find(mark, found.as_of) {
///             Lookup::Absent => {
///                 let draft = Draft {
///                     actor: "ann".into(), subject: Subject::None, kind: "greeted", body: "{}".into(), mark: Some(mark.clone()),
///                 };
///                 Some(turn.push(draft, ()))
///             }
///             // Someone else's, not yet on disk: the receipt waits for it.
///             Lookup::Pending(number) => Some(number),
///             Lookup::Stale => None,
///         });
///         if let Some(number) = number {
///             return Ok((number, receipt));
///         }
///     }
/// }
///
/// let journal = Journal::start(Arc::new(MemoryLog::new()), None, || 0, |_committed| {})?;
/// let (first, receipt) = once(&journal, &Mark::new(b'k', b"request 7"))?;
/// receipt.wait_blocking()?;
/// let (again, receipt) = once(&journal, &Mark::new(b'k', b"request 7"))?;
/// receipt.wait_blocking()?;
/// assert_eq!((first, again), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Journal<P> {
    log: Arc<dyn Log>,
    queue: Arc<Queue<P>>,
    committed: watch::Receiver<u64>,
    clock: Box<dyn Fn() -> u64 + Send + Sync>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl<P: Send + 'static> Journal<P> {
    /// Starts the writer's thread on `log`, which nobody else appends to.
    ///
    /// `clock` gives milliseconds since 1970 UTC. `on_commit` gets every entry that is on disk, once and in order,
    /// before anyone waiting for it hears of it; it runs on the writer's thread, so it should be short. An entry comes
    /// without its payload if its commit was reported as failed and it was found in the log afterwards.
    ///
    /// # Errors
    /// If the log cannot be read, if it does not hold what `witness` saw, or if no thread can be started.
    pub fn start(
        log: Arc<dyn Log>,
        witness: Option<HeadWitness>,
        clock: impl Fn() -> u64 + Send + Sync + 'static,
        on_commit: impl FnMut(Vec<(Entry, Option<P>)>) + Send + 'static,
    ) -> Result<Self, StoreError> {
        if let Some(witness) = &witness {
            witness.check(&*log)?;
        }
        let head = log.head()?.map_or(Head::EMPTY, |(number, hash)| Head { number, hash });
        let queue = Arc::new(Queue::new(head.number, log.last_time_ms()?));
        let (publish, committed) = watch::channel(head.number);
        let writer = Writer::new(Arc::clone(&log), Arc::clone(&queue), head, witness, Box::new(on_commit), publish);
        let thread = thread::Builder::new().name("store-writer".to_owned()).spawn(move || writer.run());
        let thread = Mutex::new(Some(thread.map_err(StoreError::Thread)?));
        Ok(Self { log, queue, committed, clock: Box::new(clock), thread })
    }

    /// Runs `make` under the lock that gives out numbers. What it pushes is committed, all or none, together with what
    /// others push meanwhile; the receipt tells when. If `make` panics nothing of it is committed.
    pub fn append<R>(&self, make: impl FnOnce(&mut Turn<'_, P>) -> R) -> (R, Receipt) {
        self.queue.take_turn(&*self.clock, make)
    }

    /// The number of the last entry that is on disk and was given to `on_commit`.
    pub fn committed(&self) -> u64 {
        *self.committed.borrow()
    }

    /// Follows [`committed`](Self::committed).
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.committed.clone()
    }

    /// Looks for a mark in the log; what is not yet on disk, [`Turn::find`] sees.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn find(&self, mark: &Mark) -> Result<Found, StoreError> {
        // In this order: an entry committed in between is found, or makes `as_of` stale.
        let as_of = self.committed();
        Ok(Found { number: self.log.find(mark)?, as_of })
    }

    /// The log.
    pub fn log(&self) -> &Arc<dyn Log> {
        &self.log
    }

    /// Commits what is pending and ends the writer's thread. Dropping the journal does the same.
    pub fn stop(self) {
        self.close();
    }
}

impl<P> Journal<P> {
    /// As [`stop`](Self::stop), for a journal that is shared: whatever is appended from now on is refused.
    pub fn close(&self) {
        self.queue.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It ends by panic only if `on_commit` did, and then whoever waited was told that the store stopped.
            let _ = thread.join();
        }
    }
}

impl<P> Drop for Journal<P> {
    fn drop(&mut self) {
        self.close();
    }
}

/// What [`Journal::find`] saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The latest entry that carries the mark. It is on disk; if it is above `as_of` it may not have been given to
    /// `on_commit` yet.
    pub number: Option<u64>,
    /// The number up to which the answer is certainly complete, to be given to [`Turn::find`].
    pub as_of: u64,
}
