//! The writing thread.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use tokio::sync::watch;

use super::queue::{Batch, Queue};
use super::{Guards, WriteFailure};
use crate::commit_statistics::CommitStatistics;
use crate::entry::{Head, KeyedEntry, LogEntry};
use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::hash::Hash;

/// Called with every committed group.
pub(super) type OnCommit<P> = Box<dyn FnMut(Vec<(LogEntry, Option<P>)>) + Send>;

pub(super) struct CommitThread<P> {
    log: Arc<dyn EventLog>,
    queue: Arc<Queue<P>>,
    /// The last entry that is on disk and was passed to `on_commit`.
    head: Head,
    last_time_ms: u64,
    guards: Guards,
    on_commit: OnCommit<P>,
    publish: watch::Sender<u64>,
    /// The failure after which the end of the log is unknown.
    unsettled: Option<Arc<StoreError>>,
    failure: WriteFailure,
    statistics: Arc<CommitStatistics>,
}

impl<P> CommitThread<P> {
    pub(super) fn new(
        log: Arc<dyn EventLog>,
        queue: Arc<Queue<P>>,
        head: Head,
        guards: Guards,
        on_commit: OnCommit<P>,
        publish: watch::Sender<u64>,
    ) -> Self {
        Self {
            log,
            queue,
            head,
            last_time_ms: 0,
            guards,
            on_commit,
            publish,
            unsettled: None,
            failure: WriteFailure::default(),
            statistics: Arc::new(CommitStatistics::new()),
        }
    }

    /// Where the last failed write is kept.
    pub(super) fn failure(&self) -> WriteFailure {
        Arc::clone(&self.failure)
    }

    /// Where commits are counted.
    pub(super) fn statistics(&self) -> Arc<CommitStatistics> {
        Arc::clone(&self.statistics)
    }

    pub(super) fn run(mut self) {
        let _last = Abandon(Arc::clone(&self.queue));
        while let Some(mut batch) = self.queue.take() {
            let (started, entries) = (Instant::now(), batch.entries.len());
            match self.commit(&mut batch) {
                Ok(head) => {
                    self.statistics.succeeded(entries, started.elapsed());
                    self.deliver(head, batch);
                }
                Err(error) => {
                    self.statistics.failed();
                    tracing::error!(%error, entries, "events could not be written");
                    *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&error));
                    // Recover now, so that the next append finds a usable log. If it fails, that append tries again.
                    if let Err(again) = self.settle() {
                        tracing::error!(error = %again, "the end of the log could not be read after a failed write");
                        self.unsettled = Some(Arc::new(again));
                    }
                    self.queue.failed(self.head.number, self.last_time_ms, &error);
                }
            }
        }
    }

    /// Writes deferred bodies, chains the group and appends it.
    fn commit(&mut self, batch: &mut Batch<P>) -> Result<Head, Arc<StoreError>> {
        if let Some(before) = self.unsettled.take() {
            if let Err(again) = self.settle() {
                let again = Arc::new(again);
                self.unsettled = Some(Arc::clone(&again));
                return Err(again);
            }
            // The group was numbered before the end of the log was known.
            if batch.entries.first().is_some_and(|first| first.entry.number != self.head.number + 1) {
                return Err(before);
            }
        }
        let mut head = self.head;
        let Batch { entries, payloads, bodies } = batch;
        for ((KeyedEntry { entry, .. }, payload), body) in entries.iter_mut().zip(&*payloads).zip(bodies) {
            if let Some(write) = body.take() {
                entry.body = write(payload);
            }
            entry.hash = entry.expected_hash(&head.hash);
            head = Head { number: entry.number, hash: entry.hash };
        }
        self.log.append(entries)?;
        Ok(head)
    }

    fn deliver(&mut self, head: Head, batch: Batch<P>) {
        self.advance(head, batch.entries.iter().map(|keyed| &keyed.entry.hash));
        let entries = batch.entries.into_iter().map(|keyed| keyed.entry);
        // Before anybody acts on the entries: whoever sees an effect of an entry must find the entry.
        self.publish.send_replace(head.number);
        (self.on_commit)(entries.zip(batch.payloads.into_iter().map(Some)).collect());
        let senders = self.queue.committed(head.number);
        for sender in senders {
            // An error means that the receipt was dropped.
            let _ = sender.send(Ok(()));
        }
    }

    /// Finds the end of the log after a failure. An entry that is there although its commit was reported as failed counts
    /// as committed.
    fn settle(&mut self) -> Result<(), StoreError> {
        const BLOCK: usize = 4096;
        self.log.reopen()?;
        loop {
            let found = self.log.entries(self.head.number, None, BLOCK)?;
            let Some(last) = found.last() else { return Ok(()) };
            let head = Head { number: last.number, hash: last.hash };
            self.last_time_ms = last.time_ms;
            self.advance(head, found.iter().map(|entry| &entry.hash));
            self.publish.send_replace(head.number);
            (self.on_commit)(found.into_iter().map(|entry| (entry, None)).collect());
        }
    }

    fn advance<'a>(&mut self, head: Head, hashes: impl Iterator<Item = &'a Hash>) {
        self.head = head;
        if let Some(notary) = &self.guards.notary {
            notary.extend(hashes);
        }
        if let Some(witness) = &mut self.guards.witness {
            // If this fails, the witness stays at an earlier entry, and the next commit tries again.
            let _ = witness.record(head);
        }
    }
}

/// Fails all waiting receipts when the thread ends, also by panic.
struct Abandon<P>(Arc<Queue<P>>);

impl<P> Drop for Abandon<P> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
