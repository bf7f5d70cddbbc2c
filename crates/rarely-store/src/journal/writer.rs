//! The thread that commits.

use std::sync::Arc;

use tokio::sync::watch;

use super::queue::{Batch, Queue};
use crate::entry::{Entry, Head};
use crate::error::StoreError;
use crate::log::Log;
use crate::witness::HeadWitness;

/// What is called with every committed group.
pub(super) type OnCommit<P> = Box<dyn FnMut(Vec<(Entry, Option<P>)>) + Send>;

pub(super) struct Writer<P> {
    log: Arc<dyn Log>,
    queue: Arc<Queue<P>>,
    /// The last entry that is on disk and was delivered.
    head: Head,
    last_time_ms: u64,
    witness: Option<HeadWitness>,
    on_commit: OnCommit<P>,
    publish: watch::Sender<u64>,
    /// The failure after which it is not known where the log ends.
    unsettled: Option<Arc<StoreError>>,
}

impl<P> Writer<P> {
    pub(super) fn new(
        log: Arc<dyn Log>,
        queue: Arc<Queue<P>>,
        head: Head,
        witness: Option<HeadWitness>,
        on_commit: OnCommit<P>,
        publish: watch::Sender<u64>,
    ) -> Self {
        Self { log, queue, head, last_time_ms: 0, witness, on_commit, publish, unsettled: None }
    }

    pub(super) fn run(mut self) {
        let _last = Abandon(Arc::clone(&self.queue));
        while let Some(mut batch) = self.queue.take() {
            match self.commit(&mut batch) {
                Ok(head) => self.deliver(head, batch),
                Err(error) => {
                    // Now, so that the next append finds a log in order; if it does not work out, that one tries again.
                    if let Err(again) = self.settle() {
                        self.unsettled = Some(Arc::new(again));
                    }
                    self.queue.failed(self.head.number, self.last_time_ms, &error);
                }
            }
        }
    }

    /// Chains the group and appends it.
    fn commit(&mut self, batch: &mut Batch<P>) -> Result<Head, Arc<StoreError>> {
        if let Some(before) = self.unsettled.take() {
            if let Err(again) = self.settle() {
                let again = Arc::new(again);
                self.unsettled = Some(Arc::clone(&again));
                return Err(again);
            }
            // The group was numbered before it was known where the log ends.
            if batch.entries.first().is_some_and(|first| first.entry.number != self.head.number + 1) {
                return Err(before);
            }
        }
        let mut head = self.head;
        for stamped in &mut batch.entries {
            stamped.entry.hash = stamped.entry.expected_hash(&head.hash);
            head = Head { number: stamped.entry.number, hash: stamped.entry.hash };
        }
        self.log.append(&batch.entries)?;
        Ok(head)
    }

    fn deliver(&mut self, head: Head, batch: Batch<P>) {
        self.advance(head);
        let entries = batch.entries.into_iter().map(|stamped| stamped.entry);
        (self.on_commit)(entries.zip(batch.payloads.into_iter().map(Some)).collect());
        let tellers = self.queue.committed(head.number);
        self.publish.send_replace(head.number);
        for teller in tellers {
            // Who no longer listens need not know.
            let _ = teller.send(Ok(()));
        }
    }

    /// Finds out where the log ends after a failure. An entry that is there although its commit failed is committed
    /// like any other.
    fn settle(&mut self) -> Result<(), StoreError> {
        const BLOCK: usize = 4096;
        self.log.reopen()?;
        loop {
            let found = self.log.entries(self.head.number, None, BLOCK)?;
            let Some(last) = found.last() else { return Ok(()) };
            let head = Head { number: last.number, hash: last.hash };
            self.last_time_ms = last.time_ms;
            self.advance(head);
            (self.on_commit)(found.into_iter().map(|entry| (entry, None)).collect());
            self.publish.send_replace(head.number);
        }
    }

    fn advance(&mut self, head: Head) {
        self.head = head;
        if let Some(witness) = &mut self.witness {
            // If it fails the witness knows of an earlier entry only, and the next commit tries again.
            let _ = witness.record(head);
        }
    }
}

/// When the thread ends, however it ends, nobody goes on waiting for it.
struct Abandon<P>(Arc<Queue<P>>);

impl<P> Drop for Abandon<P> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
