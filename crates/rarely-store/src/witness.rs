//! A small file beside the store that records how far the log went, so that a truncated log is detected.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::entry::Head;
use crate::error::StoreError;
use crate::event_log::EventLog;
use crate::hash::Hash;
use crate::private_file;
use crate::sqlite_log::with_suffix;

/// The file `<store>.head`: number and hash of the last committed entry, in two slots that are overwritten in turn.
///
/// It is written after each commit and not forced to disk. It may lag behind the log but never be ahead of it, except
/// after a power failure with relaxed durability, when the log did lose entries. A torn or missing witness is ignored.
pub struct HeadWitness {
    store: PathBuf,
    file: File,
    seen: Option<Head>,
    /// The slot to overwrite next; never the one that holds `seen`.
    slot: u64,
}

impl HeadWitness {
    /// Opens the witness of the store at `store`, or creates one.
    ///
    /// # Errors
    /// If the file cannot be opened, created or read.
    pub fn open(store: &Path) -> Result<Self, StoreError> {
        let path = Self::path(store);
        let wrap = |error| StoreError::io("opening the witness", &path, error);
        let file =
            private_file::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(wrap)?;
        Self::of(store, file).map_err(wrap)
    }

    /// Opens the witness of the store at `store` for reading; `None` if there is none. Works on read-only media.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn open_read_only(store: &Path) -> Result<Option<Self>, StoreError> {
        let path = Self::path(store);
        match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened
                .and_then(|file| Self::of(store, file))
                .map(Some)
                .map_err(|error| StoreError::io("reading the witness", &path, error)),
        }
    }

    fn of(store: &Path, mut file: File) -> io::Result<Self> {
        let mut bytes = Vec::new();
        (&mut file).take(2 * SLOT).read_to_end(&mut bytes)?;
        let (seen, slot) = latest(&bytes);
        Ok(Self { store: store.to_owned(), file, seen, slot: 1 - slot })
    }

    /// The last recorded entry, if the file is readable.
    pub fn seen(&self) -> Option<Head> {
        self.seen
    }

    /// Checks that the log contains the last recorded entry.
    ///
    /// # Errors
    /// [`StoreError::Lost`] if the log ends before it, [`StoreError::Replaced`] if the log has a different entry there.
    pub fn check(&self, log: &dyn EventLog) -> Result<(), StoreError> {
        let Some(seen) = self.seen.filter(|seen| seen.number > 0) else { return Ok(()) };
        match log.entry(seen.number)? {
            Some(entry) if entry.hash == seen.hash => Ok(()),
            Some(_) => Err(StoreError::Replaced { path: self.store.clone(), number: seen.number }),
            None => {
                let log_ends = log.head()?.map_or(0, |(number, _)| number);
                Err(StoreError::Lost { path: self.store.clone(), log_ends, witnessed: seen.number })
            }
        }
    }

    /// Records that this entry is committed.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn record(&mut self, head: Head) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.slot * SLOT))?;
        self.file.write_all(&encode(head))?;
        self.seen = Some(head);
        self.slot = 1 - self.slot;
        Ok(())
    }

    /// Replaces the record with the log's current end, and so gives up entries that the log lacks.
    ///
    /// # Errors
    /// If the log cannot be read or the file cannot be written.
    pub fn accept_loss(&mut self, log: &dyn EventLog) -> Result<Head, StoreError> {
        let head = log.head()?.map_or(Head::EMPTY, |(number, hash)| Head { number, hash });
        let write = |witness: &mut Self| {
            witness.record(head)?;
            witness.record(head)?;
            witness.file.sync_all()
        };
        write(self).map_err(|error| StoreError::io("resetting the witness", &Self::path(&self.store), error))?;
        Ok(head)
    }

    /// The path of the witness of the store at `store`.
    pub fn path(store: &Path) -> PathBuf {
        with_suffix(store, ".head")
    }
}

/// Bytes per slot. The two slots never share a sector, so a torn write damages only one.
const SLOT: u64 = 4096;
const NUMBER: usize = 8;
const HASHED: usize = 40;

fn encode(head: Head) -> [u8; HASHED + 32] {
    let mut bytes = [0; HASHED + 32];
    bytes[..NUMBER].copy_from_slice(&head.number.to_be_bytes());
    bytes[NUMBER..HASHED].copy_from_slice(&head.hash.0);
    let checksum = Hash::of(&bytes[..HASHED]);
    bytes[HASHED..].copy_from_slice(&checksum.0);
    bytes
}

fn decode(slot: &[u8]) -> Option<Head> {
    let number = u64::from_be_bytes(slot.get(..NUMBER)?.try_into().ok()?);
    let head = Head { number, hash: Hash(slot.get(NUMBER..HASHED)?.try_into().ok()?) };
    slot.starts_with(&encode(head)).then_some(head)
}

/// The newer valid slot, and its index.
fn latest(bytes: &[u8]) -> (Option<Head>, u64) {
    let second = usize::try_from(SLOT).ok().and_then(|at| bytes.get(at..)).and_then(decode);
    match (decode(bytes), second) {
        (Some(first), Some(second)) if second.number > first.number => (Some(second), 1),
        (None, Some(second)) => (Some(second), 1),
        (first, _) => (first, 0),
    }
}
