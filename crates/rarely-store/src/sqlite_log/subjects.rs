//! The table of people's keys.

use std::sync::PoisonError;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use super::{BUSY_TIMEOUT, SqliteLog, checkpoint, schema};
use crate::error::StoreError;
use crate::hash::Hash;
use crate::subject::{Subject, SubjectKey, SubjectKeys, SubjectTag};

const READING: &str = "reading the keys of people";
const WRITING: &str = "storing the keys of people";
const SCRUBBING: &str = "removing what is left of a destroyed key";

/// How long readers are awaited that keep the write-ahead log from being emptied. Nothing is written meanwhile.
const SCRUB_PATIENCE: Duration = Duration::from_secs(2);

impl SubjectKeys for SqliteLog {
    fn subject_secret(&self) -> Result<Option<Hash>, StoreError> {
        let found = self.readers.with(READING, |connection| {
            let mut secret = connection.prepare_cached("SELECT value FROM meta WHERE name = 'subject secret'")?;
            secret.query_row([], |row| row.get::<_, String>(0)).optional()
        })?;
        found.map(|secret| secret.parse().map_err(|_| self.damaged())).transpose()
    }

    fn keep_subject_secret(&self, secret: &Hash) -> Result<(), StoreError> {
        self.change_subjects(WRITING, |connection| {
            let replace = "INSERT OR REPLACE INTO meta VALUES ('subject secret', ?1)";
            connection.execute(replace, [secret.to_string()]).map(drop)
        })
    }

    fn subject(&self, name: &Hash) -> Result<Option<Subject>, StoreError> {
        let found = self.read_subjects("SELECT tag, name, key FROM subjects WHERE name = ?1", params![&name.0[..]])?;
        Ok(found.into_iter().next())
    }

    fn subject_key(&self, tag: &SubjectTag) -> Result<Option<SubjectKey>, StoreError> {
        let found = self.read_subjects("SELECT tag, name, key FROM subjects WHERE tag = ?1", params![&tag.0[..]])?;
        Ok(found.into_iter().next().map(|subject| subject.key))
    }

    fn subjects(&self) -> Result<Vec<Subject>, StoreError> {
        self.read_subjects("SELECT tag, name, key FROM subjects ORDER BY number", params![])
    }

    fn keep_subjects(&self, subjects: &[Subject]) -> Result<(), StoreError> {
        self.change_subjects(WRITING, |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            {
                let insert = "INSERT INTO subjects(tag, name, key) VALUES (?1, ?2, ?3) ON CONFLICT(name) DO NOTHING";
                let mut insert = transaction.prepare_cached(insert)?;
                for Subject { tag, name, key } in subjects {
                    insert.execute(params![&tag.0[..], &name.0[..], &key.0[..]])?;
                }
            }
            transaction.commit()
        })
    }

    fn scrub(&self) -> Result<bool, StoreError> {
        self.change_subjects(SCRUBBING, |connection| {
            connection.busy_timeout(SCRUB_PATIENCE)?;
            let emptied = checkpoint::truncate(connection);
            connection.busy_timeout(BUSY_TIMEOUT)?;
            emptied
        })
    }
}

impl SqliteLog {
    fn read_subjects(&self, query: &str, values: impl rusqlite::Params) -> Result<Vec<Subject>, StoreError> {
        let found = self.readers.with(READING, |connection| {
            if !schema::has_subjects(connection)? {
                return Ok(Vec::new());
            }
            let mut query = connection.prepare_cached(query)?;
            query.query_map(values, whole)?.collect()
        })?;
        found.into_iter().map(|subject: Option<Subject>| subject.ok_or_else(|| self.damaged())).collect()
    }

    fn change_subjects<R>(
        &self,
        what: &'static str,
        change: impl FnOnce(&mut Connection) -> Result<R, rusqlite::Error>,
    ) -> Result<R, StoreError> {
        let mut gate = self.writer()?.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = gate.as_mut().ok_or_else(|| self.unopened(what))?;
        change(connection).map_err(|error| StoreError::database(what, &self.path, error))
    }

    fn damaged(&self) -> StoreError {
        let found = "a key or a digest has the wrong length".to_owned();
        StoreError::Damaged { what: READING, path: self.path.clone(), found }
    }
}

/// Destroys keys, in the transaction of the events that say so.
pub(super) fn destroy(transaction: &Connection, people: &[SubjectTag]) -> Result<(), rusqlite::Error> {
    for tag in people {
        transaction.prepare_cached("DELETE FROM subjects WHERE tag = ?1")?.execute([&tag.0[..]])?;
    }
    Ok(())
}

fn whole(row: &Row<'_>) -> Result<Option<Subject>, rusqlite::Error> {
    let column = |at| row.get_ref(at).and_then(|value| Ok(value.as_blob()?));
    Ok(Subject::of_columns(column(0)?, column(1)?, column(2)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{KeyedEntry, LogEntry};
    use crate::event_log::EventLog;
    use crate::sqlite_log::Durability;

    fn is_in(path: &std::path::Path, key: &SubjectKey) -> bool {
        std::fs::read(path).unwrap_or_default().windows(32).any(|window| window == key.0)
    }

    #[test]
    fn a_destroyed_key_is_in_no_file_any_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rarely.db");
        let log = SqliteLog::open(&path, Durability::Relaxed).expect("a log");
        let people: Vec<Subject> = (0..3000_u64).map(|n| Subject::generate(Hash::of(&n.to_be_bytes()))).collect();
        // Some at once and some one by one, so that pages split in different ways.
        log.keep_subjects(&people[..2000]).expect("stored");
        for person in &people[2000..] {
            log.keep_subjects(std::slice::from_ref(person)).expect("stored");
        }
        log.keep_subjects(&[Subject { name: people[0].name, ..Subject::generate(Hash::ZERO) }]).expect("not stored");
        assert_eq!(log.subject(&people[0].name).expect("read").as_ref(), Some(&people[0]), "a name has one key");
        log.scrub().expect("moved into the database");
        assert!(is_in(&path, &people[1234].key), "this would find it");

        let erased: Vec<&Subject> = people.iter().step_by(7).collect();
        let (actor, kind, body) = ("ann".to_owned(), "person erased".to_owned(), "{}".to_owned());
        let mut entry =
            LogEntry { number: 1, time_ms: 1, elapsed_ms: None, actor, policy: 0, kind, body, hash: Hash::ZERO };
        entry.hash = entry.expected_hash(&Hash::ZERO);
        let destroys = erased.iter().map(|person| person.tag).collect();
        log.append(&[KeyedEntry { entry, key: None, destroys, archives: Vec::new() }]).expect("erased");
        assert!(log.scrub().expect("scrubbed"));
        let wal = path.with_extension("db-wal");
        for person in &erased {
            assert!(!is_in(&path, &person.key) && !is_in(&wal, &person.key));
            assert_eq!(log.subject_key(&person.tag).expect("read"), None);
        }
        assert_eq!(log.subjects().expect("read").len(), people.len() - erased.len());
        assert!(is_in(&path, &people[1].key), "others keep theirs");
    }
}
