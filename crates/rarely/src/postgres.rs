//! A log in PostgreSQL: its sums are computed there, in one read-only transaction, so that both readings see the same rows.

mod password;

use std::path::Path;

use rarely_review::SumsRow;
use rarely_store::{PostgresAddress, StoreError};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;

use crate::failure::{Failure, OrFail as _};

/// A transaction that is open.
pub(crate) struct ReadOnlyTransaction {
    runtime: Runtime,
    client: Client,
}

/// Whether a path is the address of a database.
pub(crate) fn is_address(path: &Path) -> bool {
    path.to_str().is_some_and(PostgresAddress::is_one)
}

/// An address without its password.
pub(crate) fn without_password(address: &str) -> String {
    PostgresAddress::without_password(address)
}

/// The address of a database, with the password from where libpq looks for it.
pub(crate) fn address(text: &str) -> Result<PostgresAddress, StoreError> {
    let mut address = PostgresAddress::parse(text)?;
    if address.lacks_password()
        && let Some(password) = password::find(&address)
    {
        address.set_password(&password);
    }
    Ok(address)
}

/// The address of the store in a database; `None` if the store is a file.
pub(crate) fn store_address(store: &Path) -> Result<Option<PostgresAddress>, StoreError> {
    let text = store.to_str().filter(|text| PostgresAddress::is_one(text));
    text.map(address).transpose()
}

/// Refuses a store in a database, for commands that work on a file.
pub(crate) fn only_a_file(store: &Path, instead: &str) -> Result<(), Failure> {
    match store.to_str().filter(|text| PostgresAddress::is_one(text)) {
        None => Ok(()),
        Some(text) => {
            let what = format!("{}: this command works on a store in a file", without_password(text));
            Err(Failure::new(what).help(instead))
        }
    }
}

impl ReadOnlyTransaction {
    /// Connects, and begins.
    pub(crate) fn begin(address: &str) -> Result<Self, Failure> {
        let address = self::address(address)?;
        let runtime = Builder::new_current_thread().enable_all().build().or_fail()?;
        let connected = runtime.block_on(address.connect()).map_err(|error| {
            failed(&address.to_string(), "cannot be connected to", &error)
                .help("check the address; the password comes from PGPASSWORD, ~/.pgpass or the address")
        });
        let transaction = Self { runtime, client: connected? };
        transaction.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        // Numbers with all their digits, whatever the server's default.
        transaction.execute("SET LOCAL extra_float_digits = 1")?;
        Ok(transaction)
    }

    fn execute(&self, statement: &str) -> Result<(), Failure> {
        let done = self.runtime.block_on(self.client.batch_execute(statement));
        done.map_err(|error| failed("PostgreSQL", &format!("cannot execute {statement:?}"), &error))
    }

    /// The result of a statement.
    pub(crate) fn rows(&self, statement: &str) -> Result<Vec<SumsRow>, Failure> {
        let typed = format!(
            "SELECT CAST(kind AS text), CAST(option AS bigint), CAST(part AS bigint), CAST(position AS bigint), \
             CAST(numbers AS text) FROM (\n{statement}) AS result"
        );
        let rows = self.runtime.block_on(self.client.query(&typed, &[])).map_err(|error| {
            failed("PostgreSQL", "cannot compute the sums", &error)
                .help("the table needs the columns of the policy document; numbers and times must have such types")
        })?;
        let row = |row: &tokio_postgres::Row| {
            Ok(SumsRow {
                kind: row.try_get(0)?,
                option: row.try_get(1)?,
                part: row.try_get(2)?,
                position: row.try_get(3)?,
                numbers: row.try_get(4)?,
            })
        };
        let rows: Result<Vec<SumsRow>, tokio_postgres::Error> = rows.iter().map(row).collect();
        rows.map_err(|error| failed("PostgreSQL", "sent a result that cannot be read", &error))
    }
}

/// An error with what the server says.
fn failed(place: &str, what: &str, error: &tokio_postgres::Error) -> Failure {
    let failure = Failure::new(format!("{place}: {what}"));
    match error.as_db_error() {
        Some(said) => failure.caused_by(said),
        None => failure.caused_by(error),
    }
}
