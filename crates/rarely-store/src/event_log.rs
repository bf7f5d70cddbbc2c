//! The interface of every log.

use crate::entry::{KeyedEntry, LogEntry, LookupKey};
use crate::error::StoreError;
use crate::hash::Hash;
use crate::signed_checkpoint::SignedCheckpoint;
use crate::subject::SubjectKeys;

/// An append-only log of entries. The interface is small, so that other databases than SQLite can implement it.
///
/// Only one [`LogWriter`](crate::LogWriter) appends to a log. Any number of threads may read at the same time; reads and
/// appends do not wait for each other. A read only returns entries that are on disk.
pub trait EventLog: SubjectKeys + Send + Sync {
    /// Appends these entries and their keys, destroys the keys of people that they name and removes the bodies that they archive, all or none. The first one's number follows the head. When this returns
    /// `Ok`, they are on disk, as far as the log's durability promises.
    ///
    /// # Errors
    /// If they were not written *or it is unknown whether they were*: call [`reopen`](Self::reopen), then
    /// [`head`](Self::head).
    fn append(&self, entries: &[KeyedEntry]) -> Result<(), StoreError>;

    /// The log without the bodies that an archive gives back, if this one has such bodies.
    fn beneath(&self) -> Option<&dyn EventLog> {
        None
    }

    /// The log without the bodies that had left it when the entry with this number was written, if this one has such bodies.
    fn as_archived_at(&self, _number: u64) -> Option<Box<dyn EventLog + '_>> {
        None
    }

    /// Whether the body of an entry is not in the log any more, but in an archive.
    fn is_archived(&self, entry: &LogEntry) -> bool {
        entry.archived_by().is_some()
    }

    /// Gives the space of archived bodies back to the system, and leaves nothing of them behind.
    ///
    /// # Errors
    /// If the log cannot be written.
    fn compact(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Recovers from a failed append. Afterwards reads return what is on disk.
    ///
    /// # Errors
    /// If recovery is not possible now; it may be tried again.
    fn reopen(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Writes something of no meaning, to see whether writing is possible.
    ///
    /// # Errors
    /// If it is not.
    fn try_to_write(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// The number and hash of the last entry; `None` if the log is empty.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn head(&self) -> Result<Option<(u64, Hash)>, StoreError>;

    /// The entry with this number, if it exists.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn entry(&self, number: u64) -> Result<Option<LogEntry>, StoreError>;

    /// The time of the last entry; 0 if the log is empty.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn last_time_ms(&self) -> Result<u64, StoreError> {
        let last = self.head()?.map(|(number, _)| self.entry(number)).transpose()?;
        Ok(last.flatten().map_or(0, |entry| entry.time_ms))
    }

    /// At most `limit` entries with numbers above `after`, in ascending order; with `policy`, only that policy's.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn entries(&self, after: u64, policy: Option<u64>, limit: usize) -> Result<Vec<LogEntry>, StoreError>;

    /// At most `limit` entries with numbers below `before`, in descending order; with `policy`, only that policy's.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn entries_before(&self, before: u64, policy: Option<u64>, limit: usize) -> Result<Vec<LogEntry>, StoreError>;

    /// The number of the latest entry that carries this key.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn find(&self, key: &LookupKey) -> Result<Option<u64>, StoreError>;

    /// The entry of each number, in their order.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn entry_each(&self, numbers: &[u64]) -> Result<Vec<Option<LogEntry>>, StoreError> {
        numbers.iter().map(|&number| self.entry(number)).collect()
    }

    /// What [`find`](Self::find) finds for each key, in their order.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn find_each(&self, keys: &[LookupKey]) -> Result<Vec<Option<u64>>, StoreError> {
        keys.iter().map(|key| self.find(key)).collect()
    }

    /// Whether reading many entries at once takes about as long as reading one.
    fn reads_in_groups(&self) -> bool {
        false
    }

    /// The hashes of at most `limit` entries with numbers above `after`, in ascending order.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn hashes(&self, after: u64, limit: usize) -> Result<Vec<Hash>, StoreError> {
        Ok(self.entries(after, None, limit)?.into_iter().map(|entry| entry.hash).collect())
    }

    /// Stores a checkpoint, and the roots of the tree's blocks from number `first` on. A checkpoint of the same size is
    /// replaced.
    ///
    /// # Errors
    /// If they cannot be written.
    fn keep_checkpoint(&self, checkpoint: &SignedCheckpoint, first: u64, blocks: &[Hash]) -> Result<(), StoreError>;

    /// The stored checkpoints with sizes above `after`, in ascending order. For verification.
    ///
    /// # Errors
    /// If the log cannot be read, or a stored text is not a checkpoint.
    fn checkpoints(&self, after: Option<u64>) -> Result<Vec<SignedCheckpoint>, StoreError>;

    /// The stored checkpoint with the greatest size.
    ///
    /// # Errors
    /// As [`checkpoints`](Self::checkpoints).
    fn last_checkpoint(&self) -> Result<Option<SignedCheckpoint>, StoreError> {
        Ok(self.checkpoints(None)?.pop())
    }

    /// The stored roots of the tree's blocks, in order: each covers 256 entries.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn tree_blocks(&self) -> Result<Vec<Hash>, StoreError>;

    /// Visits every key and its number, in any order. For verification.
    ///
    /// # Errors
    /// If the log cannot be read, or a key is damaged.
    fn lookup_keys(&self, visit: &mut dyn FnMut(&LookupKey, u64)) -> Result<(), StoreError>;

    /// Visits the policy and number of every entry, as the log's policy index has them. For verification.
    ///
    /// # Errors
    /// If the log cannot be read.
    fn policy_index(&self, visit: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError>;

    /// Checks the log's own structure (pages, trees), which is not visible in the entries. For verification.
    ///
    /// # Errors
    /// If the log cannot be read or its structure is damaged.
    fn check_structure(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
