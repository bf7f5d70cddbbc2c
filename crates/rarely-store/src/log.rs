//! What every store can do.

use crate::entry::{Entry, Mark, Stamped};
use crate::error::StoreError;
use crate::hash::Hash;

/// An append-only log of entries. Small, so that a second store can follow the one on SQLite.
///
/// Only one [`Journal`](crate::Journal) appends to a log; everyone may read it at the same time, and a read never waits
/// for an append or holds one up. What a read shows is on disk.
pub trait Log: Send + Sync {
    /// Appends these entries and their marks, all or none. They follow the head: the first has the number after it.
    /// When it returns `Ok` they are on disk, as far as the log's durability promises.
    ///
    /// # Errors
    /// If they could not be written *or it is not known whether they were*: call [`reopen`](Self::reopen), then see
    /// [`head`](Self::head).
    fn append(&self, entries: &[Stamped]) -> Result<(), StoreError>;

    /// Puts the log in order after a failed append: afterwards a read shows what is really on disk.
    ///
    /// # Errors
    /// If that cannot be done now; it may be tried again.
    fn reopen(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// The number and hash of the last entry, `None` if there is none.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn head(&self) -> Result<Option<(u64, Hash)>, StoreError>;

    /// The entry with this number, if there is one.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn entry(&self, number: u64) -> Result<Option<Entry>, StoreError>;

    /// The time of the last entry; 0 if there is none.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn last_time_ms(&self) -> Result<u64, StoreError> {
        let last = self.head()?.map(|(number, _)| self.entry(number)).transpose()?;
        Ok(last.flatten().map_or(0, |entry| entry.time_ms))
    }

    /// At most `limit` entries with a number above `after`, in order; only those of one policy if one is named.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn entries(&self, after: u64, policy: Option<u64>, limit: usize) -> Result<Vec<Entry>, StoreError>;

    /// The number of the latest entry that carries this mark.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn find(&self, mark: &Mark) -> Result<Option<u64>, StoreError>;

    /// Shows every mark and its number, in any order. For verification.
    ///
    /// # Errors
    /// If the log cannot be read, or a mark is damaged.
    fn marks(&self, visit: &mut dyn FnMut(&Mark, u64)) -> Result<(), StoreError>;

    /// Shows the policy and number of every entry as the log's own index of policies has them. For verification.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn index(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError>;

    /// Checks the log's own structure (pages, trees), which the entries themselves do not show. For verification.
    ///
    /// # Errors
    /// If the log cannot be read or its structure is damaged.
    fn check_structure(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
