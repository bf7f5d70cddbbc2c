//! Reads what many callers ask for at the same time with one query each, as commits are shared: a query to a database takes as long for a
//! hundred entries as for one.

use std::sync::{Arc, mpsc};
use std::thread;

use tokio::sync::{oneshot, watch};

use super::LookedUp;
use crate::entry::LookupKey;
use crate::error::StoreError;
use crate::event_log::EventLog;

/// What one caller wants to know.
pub(super) struct Question {
    pub(super) numbers: Vec<u64>,
    pub(super) keys: Vec<LookupKey>,
}

/// The thread that reads. It ends when this is dropped.
pub(super) struct GroupReader {
    waiting: mpsc::Sender<(Question, oneshot::Sender<Answer>)>,
}

type Answer = Result<LookedUp, Arc<StoreError>>;

impl GroupReader {
    pub(super) fn start(log: Arc<dyn EventLog>, committed: watch::Receiver<u64>) -> Result<Self, StoreError> {
        let (waiting, asked) = mpsc::channel::<(Question, oneshot::Sender<Answer>)>();
        let work = move || {
            while let Ok(first) = asked.recv() {
                let group: Vec<_> = std::iter::once(first).chain(asked.try_iter()).collect();
                let (questions, callers): (Vec<_>, Vec<_>) = group.into_iter().unzip();
                for (caller, answer) in callers.into_iter().zip(read(&*log, &committed, &questions)) {
                    // An error means that the caller is gone.
                    let _ = caller.send(answer);
                }
            }
        };
        thread::Builder::new().name("store-reader".to_owned()).spawn(work).map_err(StoreError::Thread)?;
        Ok(Self { waiting })
    }

    pub(super) async fn ask(&self, question: Question) -> Answer {
        let (send, answer) = oneshot::channel();
        let closed = || Arc::new(StoreError::Closed);
        self.waiting.send((question, send)).map_err(|_| closed())?;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }
}

/// The answers to several questions, by two readings of the log.
pub(super) fn read(log: &dyn EventLog, committed: &watch::Receiver<u64>, questions: &[Question]) -> Vec<Answer> {
    // In this order: an entry that is committed in between is either found, or makes `as_of` stale.
    let as_of = *committed.borrow();
    let numbers: Vec<u64> = questions.iter().flat_map(|question| question.numbers.iter().copied()).collect();
    let keys: Vec<LookupKey> = questions.iter().flat_map(|question| question.keys.iter().cloned()).collect();
    let found = log.find_each(&keys).and_then(|found| Ok((log.entry_each(&numbers)?, found)));
    match found.map_err(Arc::new) {
        Ok((entries, found)) => {
            let (mut entries, mut found) = (entries.into_iter(), found.into_iter());
            let answer = |question: &Question| {
                Ok(LookedUp {
                    entries: entries.by_ref().take(question.numbers.len()).collect(),
                    found: found.by_ref().take(question.keys.len()).collect(),
                    as_of,
                })
            };
            questions.iter().map(answer).collect()
        }
        Err(error) => questions.iter().map(|_| Err(error.clone())).collect(),
    }
}
