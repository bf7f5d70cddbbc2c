//! The table of people's keys.

use std::sync::Arc;

use super::PostgresLog;
use super::session::{PATIENCE, Session, SessionError};
use crate::error::StoreError;
use crate::hash::Hash;
use crate::subject::{Subject, SubjectKey, SubjectKeys, SubjectTag};

const READING: &str = "reading the keys of people";
const WRITING: &str = "storing the keys of people";
const SCRUBBING: &str = "removing what is left of a destroyed key";

macro_rules! select_subjects {
    ($rest:literal) => {
        concat!("SELECT tag, name, key FROM rarely.subjects WHERE chain = $1 ", $rest)
    };
}

impl SubjectKeys for PostgresLog {
    fn subject_secret(&self) -> Result<Option<Hash>, StoreError> {
        let found = self.read(READING, |session, _| async move {
            let rows = session.query("SELECT value FROM rarely.meta WHERE name = 'subject secret'", &[]).await?;
            Ok(rows.first().map(|row| row.try_get::<_, String>(0)).transpose()?)
        })?;
        found.map(|secret| secret.parse().map_err(|_| self.damaged())).transpose()
    }

    fn keep_subject_secret(&self, secret: &Hash) -> Result<(), StoreError> {
        let secret = secret.to_string();
        self.write(WRITING, |session, _| async move {
            let statement = "INSERT INTO rarely.meta VALUES ('subject secret', $1) \
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value";
            session.write(statement, &[&secret]).await.map(drop)
        })
    }

    fn subject(&self, name: &Hash) -> Result<Option<Subject>, StoreError> {
        Ok(self.subjects_by(select_subjects!("AND name = $2"), name.0.to_vec())?.pop())
    }

    fn subject_key(&self, tag: &SubjectTag) -> Result<Option<SubjectKey>, StoreError> {
        let found = self.subjects_by(select_subjects!("AND tag = $2"), tag.0.to_vec())?.pop();
        Ok(found.map(|subject| subject.key))
    }

    fn subjects(&self) -> Result<Vec<Subject>, StoreError> {
        self.subjects_by(select_subjects!("AND tag >= $2 ORDER BY tag"), Vec::new())
    }

    fn keep_subjects(&self, subjects: &[Subject]) -> Result<(), StoreError> {
        let epoch = self.writer()?.epoch;
        let tags: Vec<Vec<u8>> = subjects.iter().map(|subject| subject.tag.0.to_vec()).collect();
        let names: Vec<Vec<u8>> = subjects.iter().map(|subject| subject.name.0.to_vec()).collect();
        let keys: Vec<Vec<u8>> = subjects.iter().map(|subject| subject.key.0.to_vec()).collect();
        self.write(WRITING, |session, chain| async move {
            let statement = "SELECT rarely.keep_subjects($1, $2, $3, $4, $5)";
            session.write(statement, &[&chain, &epoch, &tags, &names, &keys]).await.map(drop)
        })
    }

    /// Rewrites the tables that had the person: otherwise PostgreSQL leaves deleted rows in free space.
    fn scrub(&self) -> Result<bool, StoreError> {
        self.vacuum(SCRUBBING, &["subjects", "snapshots"]).map(|()| true)
    }
}

impl PostgresLog {
    /// Rewrites tables.
    pub(super) fn vacuum(&self, what: &'static str, tables: &'static [&'static str]) -> Result<(), StoreError> {
        let (address, durability) = (self.address.clone(), self.writer()?.durability);
        let rewritten = self.worker.run(PATIENCE * 10, async move {
            let session = Session::to_write(&address, "rarely scrub", durability, PATIENCE).await?;
            for table in tables {
                session.client().batch_execute(&format!("VACUUM (FULL) rarely.{table}")).await?;
            }
            Ok(())
        });
        rewritten.map_err(|error| error.of(what, &self.path))
    }

    fn subjects_by(&self, query: &'static str, value: Vec<u8>) -> Result<Vec<Subject>, StoreError> {
        let value: Arc<[u8]> = value.into();
        let found = self.read(READING, move |session, chain| {
            let value = value.clone();
            async move {
                if !has_subjects(&session).await? {
                    return Ok(Vec::new());
                }
                let rows = session.query(query, &[&chain, &&value[..]]).await?;
                let whole = |row: &tokio_postgres::Row| -> Result<_, SessionError> {
                    Ok(Subject::of_columns(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
                };
                rows.iter().map(whole).collect::<Result<Vec<Option<Subject>>, SessionError>>()
            }
        })?;
        found.into_iter().map(|subject| subject.ok_or_else(|| self.damaged())).collect()
    }

    fn damaged(&self) -> StoreError {
        let found = "a key or a digest has the wrong length".to_owned();
        StoreError::Damaged { what: READING, path: self.path.clone(), found }
    }
}

/// Whether the table exists: a log of format 1 that is only read lacks it.
async fn has_subjects(session: &Session) -> Result<bool, SessionError> {
    let rows = session.query("SELECT to_regclass('rarely.subjects') IS NOT NULL", &[]).await?;
    Ok(rows.first().map_or(Ok(false), |row| row.try_get(0))?)
}
