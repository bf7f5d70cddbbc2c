//! A log whose sums an engine computes: results of statements in files, or a database that is asked here.

use std::path::{Path, PathBuf};

use clap::Args;
use rarely_policy::PolicyDocument;
use rarely_review::{Dialect, EvidenceBase, LogTable, SummedLog, Tally};

use crate::failure::Failure;
use crate::output::say;
use crate::postgres::{self, ReadOnlyTransaction};
use crate::sums::{self, TableOptions};

/// Sums in place of rows.
#[derive(Debug, Args)]
#[command(next_help_heading = "A log in a database")]
pub(super) struct DatabaseOptions {
    /// Result of the statement that `rarely sums sql` prints, in place of a log: CSV, TSV, Parquet, NDJSON or JSON
    #[arg(long, value_name = "RESULT", conflicts_with_all = ["data", "table"])]
    pub(super) sums: Option<PathBuf>,
    /// Result of the second statement, which `rarely sums sql --after` prints, for robust errors of gains
    #[arg(long, value_name = "RESULT", requires = "sums", conflicts_with = "state")]
    confirmed: Option<PathBuf>,
    #[command(flatten)]
    table: TableOptions,
}

/// Where the sums come from.
pub(super) enum DatabaseLog<'a> {
    Results { first: &'a Path, second: Option<&'a Path> },
    Database { transaction: Box<ReadOnlyTransaction>, log: LogTable<'a> },
}

impl<'a> DatabaseLog<'a> {
    /// `None` if the log is in files.
    pub(super) fn open(options: &'a DatabaseOptions, data: &[PathBuf]) -> Result<Option<Self>, Failure> {
        if let Some(first) = &options.sums {
            return Ok(Some(Self::Results { first, second: options.confirmed.as_deref() }));
        }
        let Some(address) = data.iter().find(|path| postgres::is_address(path)).and_then(|path| path.to_str()) else {
            if options.table.is_given() {
                let failure = Failure::new("--table, --where and --latest-by are about a log in a database");
                return Err(failure.help("give its address with --data postgres://USER@HOST/DATABASE"));
            }
            return Ok(None);
        };
        if data.len() > 1 {
            let failure = Failure::new("a log in a database cannot be reviewed together with other logs");
            return Err(
                failure.help("save the statistics of one with --save-state, and continue from them with --state")
            );
        }
        let log = options.table.log(Dialect::Postgres)?;
        Ok(Some(Self::Database { transaction: Box::new(ReadOnlyTransaction::begin(address)?), log }))
    }

    /// The statistics of the log.
    pub(super) fn first(&self, document: &PolicyDocument, reject_limit: u64) -> Result<Tally, Failure> {
        match self {
            Self::Results { first, .. } => Ok(sums::read(first, document, reject_limit)?.tally),
            Self::Database { transaction, log } => {
                let statement = log.first_scan(document)?;
                say(&format!("PostgreSQL computes the sums of {}, the first of two readings", log.table));
                let log = SummedLog::read(document, transaction.rows(&statement)?)?;
                sums::check_rejected(&log, reject_limit)?;
                say(&format!("{} rows were read", log.tally.rows()));
                Ok(log.tally)
            }
        }
    }

    /// Robust errors of the gains, where there is a second result.
    pub(super) fn second<'b>(&self, base: EvidenceBase<'b>) -> Result<EvidenceBase<'b>, Failure> {
        match self {
            Self::Results { second: None, .. } => Ok(base),
            Self::Results { second: Some(path), .. } => {
                base.with_second_scan(sums::rows(path)?).map_err(|error| sums::at(path, error))
            }
            Self::Database { transaction, log } => {
                let Some(statement) = log.second_scan(&base)? else { return Ok(base) };
                say("PostgreSQL reads them again, for the errors of gains");
                Ok(base.with_second_scan(transaction.rows(&statement)?)?)
            }
        }
    }
}
