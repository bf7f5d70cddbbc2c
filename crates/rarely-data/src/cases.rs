//! Past cases: the rows of one or several logs, as a policy document describes them.

mod block;
mod encoding;
mod error;
mod gaps;
mod order;
mod people;
mod rejections;
mod row_columns;
mod sequence;
mod shared;

use std::path::PathBuf;
use std::sync::Arc;

use rarely_core::Arm;
use rarely_policy::{MissingCounts, PolicyDocument, RowOrder, UnitHash};
use rarely_review::{RowPlace, TallyRow};

use self::encoding::Encoding;
use self::gaps::RowGaps;
use self::order::{Order, OutOfOrder};
use self::sequence::LogSequence;
use crate::{DataError, LogError, MemoryTable, Rejection};

pub(crate) use order::is_time;

pub use error::CasesError;
pub use order::LogTime;
pub use people::{TargetPeople, people_of_table, read_people};

/// Which columns to read besides the features and the outcome.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Columns {
    /// The option that was chosen.
    pub option: String,
    /// The probability with which it was chosen.
    pub propensity: Option<String>,
    /// The time: a number, or a date or a time as ISO 8601 writes it, such as `2026-11-16T08:30:00Z` or `2026-W47-1`. Rows must be in this order, unless `any_order` is set.
    pub time: Option<String>,
    /// Whether rows may go back in time.
    pub any_order: bool,
    /// Whether a time that is a number counts seconds since the beginning of 1970.
    pub time_in_seconds: bool,
    /// What tells cases apart.
    pub key: Option<String>,
    /// The cluster of a case.
    pub cluster: Option<String>,
    /// The weight of a case.
    pub weight: Option<String>,
    /// The probability of every option, in the order of the document's; empty if there are no such columns.
    pub propensities: Vec<String>,
    /// Whether the document's guard-rails are read.
    pub guardrails: bool,
    /// Columns by whose values a review shows who changes.
    pub levels: Vec<String>,
    /// The group of a case.
    pub group: Option<String>,
}

impl Columns {
    /// The columns that a document declares.
    pub fn of(document: &PolicyDocument) -> Self {
        let log = document.log_columns();
        Self {
            option: document.option_column().to_owned(),
            propensity: log.propensity.clone(),
            time: log.time.clone(),
            // Where a review goes by the times themselves, rows may come in any order.
            any_order: document.evidence().order == RowOrder::Any || log.time.is_some(),
            time_in_seconds: log.time.is_some(),
            key: log.key.clone(),
            cluster: log.cluster.clone(),
            weight: log.weight.clone(),
            propensities: log.propensities.clone(),
            guardrails: true,
            levels: log.fairness.clone(),
            group: None,
        }
    }
}

/// One past case.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedCase {
    /// The encoded context.
    pub context: Vec<f64>,
    /// The option that was chosen.
    pub arm: Arm,
    /// The outcome less the option's cost; higher is better.
    pub reward: f64,
    /// The probability with which the option was chosen, if its column was asked for.
    pub propensity: Option<f64>,
    /// The probability of every option, if it is known: its columns were asked for, or there are two options and the probability of
    /// the given one was. Empty otherwise.
    pub propensities: Vec<f64>,
    /// The hash of its key, if its column was asked for.
    pub key: Option<UnitHash>,
    /// A hash of the cluster's name, if its column was asked for.
    pub cluster: Option<u64>,
    /// The weight; 1 if its column was not asked for.
    pub weight: f64,
    /// The values of the document's guard-rails, in the good direction, if they were asked for.
    pub guardrails: Vec<f64>,
    /// The value of each fairness column that was asked for.
    pub levels: Vec<String>,
    /// The group, if its column was asked for; empty otherwise.
    pub group: String,
    /// The time as it is written, if its column was asked for.
    pub time: Option<String>,
    /// The same, to be compared with others.
    pub log_time: Option<LogTime>,
    /// The same in whole seconds since the beginning of 1970, if it counts them.
    pub seconds: Option<i64>,
    /// The row in its file, from 0, whether rows before it were rejected or not.
    pub row_in_file: u64,
    /// Its file, from 0.
    pub file: usize,
    /// The cases before it, in all files.
    pub position: u64,
}

impl LoggedCase {
    /// An empty case to read into.
    pub fn new(document: &PolicyDocument) -> Self {
        Self::blank(document.encoder().blank())
    }

    /// The case as the statistics of a review take it.
    pub fn row(&self) -> TallyRow<'_> {
        TallyRow {
            key: self.key,
            seconds: self.seconds,
            weight: self.weight,
            cluster: self.cluster,
            propensity: self.propensity,
            propensities: &self.propensities,
            guardrails: &self.guardrails,
            levels: &self.levels,
            place: Some(RowPlace { file: self.file, position: self.position }),
            ..TallyRow::new(self.row_in_file, &self.context, self.arm, self.reward)
        }
    }

    fn blank(context: Vec<f64>) -> Self {
        Self {
            context,
            arm: Arm::new(0),
            reward: 0.0,
            propensity: None,
            propensities: Vec::new(),
            key: None,
            cluster: None,
            weight: 1.0,
            guardrails: Vec::new(),
            levels: Vec::new(),
            group: String::new(),
            time: None,
            log_time: None,
            seconds: None,
            row_in_file: 0,
            file: 0,
            position: 0,
        }
    }
}

/// The cases of one or several logs, in the order in which they are given: CSV, TSV, Parquet and NDJSON files, or a table in memory.
/// Memory does not grow with them.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("rarely-data-cases-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("log.csv");
/// use rarely_data::{LoggedCase, Cases, Columns};
/// let document = rarely_policy::PolicyDocument::parse(r#"
///     policy = "screening"
///     options = ["wait", "invite"]
///     outcome = { column = "benefit", range = [0, 1] }
///     [[features]]
///     column = "age"
///     range = [40, 90]
///     [rule]
///     threshold = { feature = "age", cuts = [60], options = ["wait", "invite"] }
/// "#, "screening.toml")?;
/// std::fs::write(&path, "age,given,benefit\n50,wait,0.25\n65,invite,1\n")?;
/// let columns = Columns { option: "given".to_owned(), ..Columns::of(&document) };
/// let mut cases = Cases::open(&document, &columns, &[path], 0)?;
/// let mut case = LoggedCase::new(&document);
/// while cases.next(&mut case)? {}
/// assert_eq!((case.context, case.arm.index(), case.reward), (vec![1.0, 0.5], 1, 1.0));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Cases {
    encoding: Encoding,
    sources: LogSequence,
    order: Order,
    gaps: RowGaps,
    accepted: u64,
}

impl Cases {
    /// Opens every file and finds its columns, before the first row is read. Up to `reject_limit` rows may be bad.
    ///
    /// # Errors
    /// A [`DataError`] if there is no file, one is given twice, or one cannot be opened or lacks a column.
    pub fn open(
        document: &PolicyDocument,
        columns: &Columns,
        paths: &[PathBuf],
        reject_limit: u64,
    ) -> Result<Self, DataError> {
        let (encoding, wanted) = Encoding::of_cases(document, columns);
        let sources = LogSequence::of_files(paths, (wanted, document.data_format()), reject_limit)?;
        Ok(Self::new(encoding, sources, Order::new(columns.any_order)))
    }

    /// The cases of a table that is in memory. Up to `reject_limit` rows may be bad.
    ///
    /// # Errors
    /// A [`DataError`] if the table lacks a column, or has one of another type.
    pub fn of_table(
        document: &PolicyDocument,
        columns: &Columns,
        table: Arc<dyn MemoryTable>,
        reject_limit: u64,
    ) -> Result<Self, DataError> {
        let (encoding, wanted) = Encoding::of_cases(document, columns);
        let sources = LogSequence::of_table(table, (wanted, document.data_format()), reject_limit)?;
        Ok(Self::new(encoding, sources, Order::new(columns.any_order)))
    }

    fn new(encoding: Encoding, sources: LogSequence, order: Order) -> Self {
        let gaps = encoding.gaps.clone();
        Self { encoding, sources, order, gaps, accepted: 0 }
    }

    /// Reads the next case into `case`; false if there is none.
    ///
    /// # Errors
    /// A [`DataError`] if the rest of a file cannot be read, if rows go back in time, if more rows than allowed are bad (with none allowed,
    /// what is wrong with the first), or if there is no row at all.
    pub fn next(&mut self, case: &mut LoggedCase) -> Result<bool, DataError> {
        while self.sources.advance()? {
            let Some(log) = &mut self.sources.log else { continue };
            let record = match log.next() {
                Ok(Some(record)) => record,
                Ok(None) => {
                    self.sources.close();
                    continue;
                }
                Err(LogError::Row(rejection)) => {
                    self.sources.rejections.add(*rejection)?;
                    continue;
                }
                Err(LogError::File(error)) => return Err(error),
            };
            match self.encoding.read_case(&record, case, &mut self.gaps) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(rejection) => {
                    self.sources.rejections.add(*rejection)?;
                    continue;
                }
            }
            if let Some(wanted) = self.encoding.time {
                let time = case.time.get_or_insert_default();
                match self.order.next(&record, (wanted, self.encoding.time_in_seconds), self.sources.current, time) {
                    Ok((time, seconds)) => (case.log_time, case.seconds) = (Some(time), seconds),
                    Err(OutOfOrder::Row(problem)) => {
                        self.sources.rejections.add(Rejection { location: record.location(wanted), problem })?;
                        continue;
                    }
                    Err(OutOfOrder::Rows(error)) => return Err(error.into()),
                }
            }
            (case.file, case.position) = (self.sources.current, self.accepted);
            self.accepted += 1;
            return Ok(true);
        }
        if self.accepted == 0 {
            return Err(self.sources.no_row());
        }
        Ok(false)
    }

    /// How files are read that are not written as programs write them: the file, and `semicolon-separated, decimal comma`.
    pub fn read_as(&self) -> &[(PathBuf, String)] {
        &self.sources.read_as
    }

    /// The first thousand rejected rows.
    pub fn rejected(&self) -> &[Rejection] {
        self.sources.rejections.first()
    }

    /// How many rows were rejected.
    pub fn rejected_count(&self) -> u64 {
        self.sources.rejections.count()
    }

    /// What rows lacked so far, as far as the document says what that means: dropped rows, and values that count as missing.
    pub fn missing(&self) -> &MissingCounts {
        &self.gaps.counts
    }

    /// Bytes read, and bytes in all; of a table, rows.
    pub fn progress(&self) -> (u64, u64) {
        self.sources.progress()
    }
}
