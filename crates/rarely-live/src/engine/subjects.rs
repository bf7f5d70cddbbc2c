//! The people that requests are about, and their keys.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rarely_store::{EventLog, Hash, StoreError, Subject, SubjectTag};

use crate::event::AboutPerson;

/// People that are remembered beyond the requests about them.
const REMEMBERED: usize = 65_536;

/// A person with a key.
#[derive(Debug)]
pub(super) struct OpenSubject {
    pub(super) subject: Subject,
    /// Set while and after the person is erased: no event about the person may follow. It is read under the lock that assigns numbers.
    closed: AtomicBool,
}

/// The people whom requests named lately. While a request is about a person, there is one value for that person, so that everybody
/// sees when it is closed.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    known: Mutex<Known>,
    /// Names that are to be stored: whoever is first stores them all, in one commit.
    wanted: Mutex<Vec<Hash>>,
    storing: Mutex<()>,
}

#[derive(Debug, Default)]
struct Known {
    by_name: HashMap<Hash, Arc<OpenSubject>>,
    by_tag: HashMap<SubjectTag, Arc<OpenSubject>>,
    /// How often people were forgotten: what was read from the log before that may be out of date.
    forgotten: u64,
}

impl OpenSubject {
    pub(super) fn about(&self) -> AboutPerson {
        AboutPerson { tag: self.subject.tag, erased: false }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub(super) fn set_closed(&self, closed: bool) {
        self.closed.store(closed, Ordering::SeqCst);
    }
}

impl Subjects {
    /// The people with these names. Those that are new get a key, which is on disk when this returns.
    pub(super) fn open(&self, log: &dyn EventLog, names: &[&str]) -> Result<Vec<Arc<OpenSubject>>, StoreError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let secret = log.subject_secret()?.ok_or(StoreError::Closed)?;
        let digests: Vec<Hash> = names.iter().map(|name| Subject::digest(&secret, name)).collect();
        loop {
            let found: Vec<_> = digests.iter().map(|name| self.of_digest(log, name)).collect::<Result<_, _>>()?;
            let missing = digests.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(name, _)| *name);
            let missing: Vec<Hash> = missing.collect();
            if missing.is_empty() {
                return Ok(found.into_iter().flatten().collect());
            }
            lock(&self.wanted).extend(missing);
            let _one_at_a_time = lock(&self.storing);
            let mut wanted = std::mem::take(&mut *lock(&self.wanted));
            wanted.sort_unstable();
            wanted.dedup();
            if !wanted.is_empty() {
                let new: Vec<Subject> = wanted.into_iter().map(Subject::generate).collect();
                log.keep_subjects(&new)?;
            }
        }
    }

    /// The person whose name has this digest, if there is a key.
    pub(super) fn of_digest(&self, log: &dyn EventLog, name: &Hash) -> Result<Option<Arc<OpenSubject>>, StoreError> {
        self.find(|known| known.by_name.get(name).cloned(), || log.subject(name))
    }

    /// The person that an event is about, if there is a key.
    pub(super) fn of_event(
        &self,
        log: &dyn EventLog,
        about: Option<AboutPerson>,
    ) -> Result<Option<Arc<OpenSubject>>, StoreError> {
        let Some(AboutPerson { tag, .. }) = about else { return Ok(None) };
        // Nobody is found here by name, so the name is not needed.
        let read = || Ok(log.subject_key(&tag)?.map(|key| Subject { tag, name: Hash::ZERO, key }));
        self.find(|known| known.by_tag.get(&tag).cloned(), read)
    }

    fn find(
        &self,
        remembered: impl Fn(&Known) -> Option<Arc<OpenSubject>>,
        read: impl Fn() -> Result<Option<Subject>, StoreError>,
    ) -> Result<Option<Arc<OpenSubject>>, StoreError> {
        loop {
            let forgotten = {
                let known = lock(&self.known);
                if let Some(found) = remembered(&known) {
                    return Ok(Some(found));
                }
                known.forgotten
            };
            let Some(subject) = read()? else { return Ok(None) };
            let mut known = lock(&self.known);
            if known.forgotten == forgotten {
                return Ok(Some(known.remember(subject)));
            }
        }
    }

    /// Forgets people who were erased.
    pub(super) fn forget(&self, people: &[Arc<OpenSubject>]) {
        let mut known = lock(&self.known);
        for person in people {
            known.by_tag.remove(&person.subject.tag);
            known.by_name.retain(|_, held| held.subject.tag != person.subject.tag);
        }
        known.forgotten += 1;
    }
}

impl Known {
    fn remember(&mut self, subject: Subject) -> Arc<OpenSubject> {
        let Self { by_name, by_tag, .. } = self;
        if by_tag.len() >= REMEMBERED {
            // Those that a request holds stay.
            by_name.retain(|_, held| Arc::strong_count(held) > 2);
            by_tag.retain(|_, held| Arc::strong_count(held) > 1);
        }
        let name = subject.name;
        let held = by_tag.entry(subject.tag);
        let held = held.or_insert_with(|| Arc::new(OpenSubject { subject, closed: AtomicBool::new(false) })).clone();
        if name != Hash::ZERO {
            by_name.insert(name, held.clone());
        }
        held
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
