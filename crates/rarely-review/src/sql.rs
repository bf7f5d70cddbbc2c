//! A review whose sums the engine computes that has the log: statements in its SQL, and the reader of their results (mathematics §17).
//!
//! ```
//! use rarely_review::{Dialect, LogTable};
//! let document = rarely_policy::PolicyDocument::parse(r#"
//! policy = "screening"
//! options = ["wait", "invite"]
//! outcome = { column = "benefit", range = [0, 2] }
//! [[features]]
//! column = "age"
//! range = [40, 90]
//! [evidence]
//! key = "decision"
//! time = "decided_at"
//! [rule]
//! threshold = { feature = "age", cuts = [80], options = ["wait", "invite"] }
//! "#, "screening.toml")?;
//! let statement = LogTable::new(Dialect::DuckDb, "decisions").first_scan(&document)?;
//! assert!(statement.contains("FROM decisions AS source"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what it is about |
//! |---|---|
//! | `dialect` | what engines write differently |
//! | `checked_rows` | the columns of a log, checked and encoded |
//! | `layout` | which sums are computed, and in which order they are sent |
//! | `first_scan` | the statement of the first reading |
//! | `jump_scan`, `sample_scan` | its parts about the ends and the cuts, and about the sample |
//! | `second_scan` | the statement of the second |
//! | `template` | how statements are put together |
//! | `reader` | results into statistics |
//!
//! Absent on purpose: nothing is sent to an engine here.

mod checked_rows;
mod dialect;
mod error;
mod first_scan;
mod jump_scan;
mod layout;
mod reader;
mod sample_scan;
mod second_scan;
mod template;

use rarely_core::Digest;
use rarely_policy::{Design, PolicyDocument, RowOrder};
use sha2::{Digest as _, Sha256};

pub use dialect::Dialect;
pub use error::SumsError;
pub use reader::{RejectedRows, SummedLog};

use crate::error::OnlyReviewed;
use crate::evidence_base::EvidenceBase;
use crate::tally::Tally;
use first_scan::FirstScan;

/// The columns of every result.
pub const RESULT_COLUMNS: [&str; 5] = ["kind", "option", "part", "position", "numbers"];
/// The version of statements and results.
const SUMS_FORMAT: u32 = 3;

/// A log in an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogTable<'a> {
    /// The engine.
    pub dialect: Dialect,
    /// The name of the table as the engine wants it, or a query in parentheses.
    pub table: &'a str,
    /// A condition on its rows, in the engine's SQL.
    pub filter: Option<&'a str>,
    /// A column by which the latest of several rows with one key is chosen.
    pub latest_by: Option<&'a str>,
}

/// A row of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SumsRow {
    /// What it holds.
    pub kind: String,
    /// The option, counted from 0.
    pub option: i64,
    /// The part, or the cut.
    pub part: i64,
    /// The stretch of time, the bin or the reason.
    pub position: i64,
    /// Numbers, separated by commas.
    pub numbers: String,
}

impl<'a> LogTable<'a> {
    /// All rows of a table.
    pub fn new(dialect: Dialect, table: &'a str) -> Self {
        Self { dialect, table, filter: None, latest_by: None }
    }

    /// The statement of the first reading. [`SummedLog::read`] reads its result.
    ///
    /// # Errors
    /// [`SumsError`] if the document cannot be reviewed by sums.
    pub fn first_scan(&self, document: &PolicyDocument) -> Result<String, SumsError> {
        refuse(document)?;
        let empty = Tally::new(document);
        Ok(FirstScan::new(document, self, &empty).text(&first_digest(document)))
    }

    /// The statement of the second reading, for the errors of the candidates' gains: [`EvidenceBase::with_second_scan`] reads its result.
    /// `None` if there is nothing to read.
    ///
    /// # Errors
    /// [`SumsError`] if the document cannot be reviewed by sums.
    pub fn second_scan(&self, base: &EvidenceBase<'_>) -> Result<Option<String>, SumsError> {
        refuse(base.document)?;
        Ok(second_scan::text(self, base))
    }

    /// What stands after `FROM`, with the conditions on the rows.
    fn source(&self, key: &str) -> String {
        let filter = self.filter.map_or_else(String::new, |filter| format!("\n  WHERE ({filter})"));
        let Some(latest) = self.latest_by else { return format!("{} AS source{filter}", self.table) };
        let (key, latest) = (self.dialect.column(key), self.dialect.column(latest));
        format!(
            "(SELECT copies.*, row_number() OVER (PARTITION BY {key}\n    ORDER BY CASE WHEN {latest} IS NULL THEN 1 ELSE 0 END, {latest} DESC) AS rarely_copy\n  \
             FROM {} AS copies{filter}) AS source\n  WHERE rarely_copy = 1",
            self.table
        )
    }
}

/// Says why a document cannot be reviewed by sums, if it cannot.
fn refuse(document: &PolicyDocument) -> Result<(), SumsError> {
    let columns = document.log_columns();
    let column = |column, reason| Err(SumsError::Column { column, reason });
    if columns.cluster.is_some() {
        return column("cluster", "errors of clusters need their rows");
    }
    if columns.weight.is_some() {
        return column("weight", "weights are summed in an order");
    }
    if columns.has_propensities() {
        return column("propensity", "what propensities say is not yet computed by sums");
    }
    if let Some(what) = document.only_reviewed() {
        return Err(SumsError::OnlyReviewed(OnlyReviewed { what }));
    }
    if document.outcome().range.is_none() {
        return Err(SumsError::NoRange);
    }
    if document.evidence().design == Design::Adaptive {
        return Err(SumsError::Adaptive);
    }
    if columns.key.is_none() {
        return Err(SumsError::NoKey);
    }
    if columns.time.is_none() && document.evidence().order == RowOrder::Time {
        return Err(SumsError::NoTime);
    }
    Ok(())
}

/// What a result of the first statement depends on: the document's features and outcome, and the cuts of its rule.
fn first_digest(document: &PolicyDocument) -> String {
    let empty = Tally::new(document);
    let text = format!("{} {:?}", document.fingerprint(), empty.running_variable());
    Digest(Sha256::digest(text).into()).to_string()
}

/// Checks the row that says what a result belongs to.
fn check_head(row: &SumsRow, digest: &str) -> Result<(), SumsError> {
    let Some((format, found)) = row.numbers.split_once(',') else {
        return Err(SumsError::Document("its row of kind \"document\" is damaged"));
    };
    if format != SUMS_FORMAT.to_string() {
        return Err(SumsError::Document("its statement was printed by another version"));
    }
    if found != digest {
        return Err(SumsError::Document(
            "its statement was printed for other features, another rule or other candidates",
        ));
    }
    Ok(())
}
