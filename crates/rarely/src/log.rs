//! Options for the log and the population, and reading a log with a progress bar.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rarely_data::{Cases, CasesError, Columns, DataError, LoggedCase, read_people};
use rarely_policy::{MissingCounts, PolicyDocument};
use rarely_review::SAMPLE_SIZE;

use crate::failure::Failure;
use crate::output::say;

/// Rejected rows that are listed.
const LISTED: usize = 20;
/// Rows between two updates of the progress bar.
const TICK: u64 = 4096;

/// The log.
#[derive(Debug, Args)]
#[command(next_help_heading = "The log")]
pub(crate) struct LogOptions {
    /// Past cases: CSV, TSV, Parquet or NDJSON files with a column for each feature, the option and the outcome; - reads CSV from
    /// standard input; a review also reads a table of postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) data: Vec<PathBuf>,
    /// Column with the option that was given [default: the document's option_column]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) option_column: Option<String>,
    /// Number of bad rows to tolerate; they are left out, listed, and counted in the answer
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    pub(crate) reject_limit: u64,
}

/// What of a log was not used.
pub(crate) struct Unused {
    /// Rejected rows.
    pub(crate) rejected: u64,
    /// What rows lack, and those that were dropped for it.
    pub(crate) missing: MissingCounts,
}

/// Why a log could not be read to its end.
enum ReadError {
    /// Something is wrong with it.
    Data(DataError),
    /// What is done with it failed.
    Other(Failure),
}

impl From<DataError> for ReadError {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

impl From<Failure> for ReadError {
    fn from(failure: Failure) -> Self {
        Self::Other(failure)
    }
}

/// The people whom the rule is for.
#[derive(Debug, Args)]
#[command(next_help_heading = "The people")]
pub(crate) struct PopulationOptions {
    /// People whom the rule is for: files with a column for each feature
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) population: Vec<PathBuf>,
}

impl LogOptions {
    /// The policy document, with the log's own name of the option column.
    pub(crate) fn document(&self, path: &Path) -> Result<PolicyDocument, Failure> {
        let document = PolicyDocument::read(path)?;
        Ok(match &self.option_column {
            Some(column) => document.with_option_column(column.clone()),
            None => document,
        })
    }

    /// The columns besides the features and the outcome.
    pub(crate) fn columns(document: &PolicyDocument) -> Columns {
        Columns::of(document)
    }

    /// Gives every case to one of the workers, which work at the same time. Returns what was not used.
    pub(crate) fn share<W: Send>(
        &self,
        document: &PolicyDocument,
        columns: &Columns,
        workers: &mut [W],
        work: impl Fn(&mut W, &LoggedCase) + Sync,
    ) -> Result<Unused, Failure> {
        self.read(document, columns, |cases, bar| {
            cases.share(workers, work, |(read, _)| {
                bar.set_position(read);
                Ok(())
            })
        })
    }

    /// The files, with standard input as a path.
    fn paths(&self) -> Vec<PathBuf> {
        let path = |path: &PathBuf| if is_standard_input(path) { PathBuf::from("/dev/stdin") } else { path.clone() };
        self.data.iter().map(path).collect()
    }

    /// Whether the log can be read twice: a pipe cannot.
    pub(crate) fn can_be_read_again(&self) -> bool {
        self.paths().iter().all(|path| path.is_file())
    }

    /// Passes every case to `take` once more, in its order. Nothing is said about rejected rows: the first reading did.
    pub(crate) fn walk_again(
        &self,
        document: &PolicyDocument,
        columns: &Columns,
        take: impl FnMut(&LoggedCase) + Send,
    ) -> Result<(), Failure> {
        let mut cases = Cases::open(document, columns, &self.paths(), self.reject_limit)?;
        cases.read_ahead(take, |_| Ok(()))
    }

    /// Passes every case to `take`, in its order. Returns what was not used.
    pub(crate) fn walk(
        &self,
        document: &PolicyDocument,
        columns: &Columns,
        mut take: impl FnMut(&LoggedCase) -> Result<(), Failure>,
    ) -> Result<Unused, Failure> {
        let mut case = LoggedCase::new(document);
        self.read(document, columns, |cases, bar| {
            let mut rows = 0_u64;
            while cases.next(&mut case)? {
                take(&case)?;
                rows += 1;
                if rows.is_multiple_of(TICK) {
                    bar.set_position(cases.progress().0);
                }
            }
            Ok(())
        })
    }

    /// Reads the log by `walk`, with a progress bar, and lists the rejected rows.
    fn read(
        &self,
        document: &PolicyDocument,
        columns: &Columns,
        walk: impl FnOnce(&mut Cases, &ProgressBar) -> Result<(), ReadError>,
    ) -> Result<Unused, Failure> {
        if self.data.is_empty() {
            return Err(Failure::new("there is no log to read").help("name its files with --data"));
        }
        let mut cases = Cases::open(document, columns, &self.paths(), self.reject_limit)?;
        let bar = ProgressBar::new(cases.progress().1);
        if let Ok(style) = ProgressStyle::with_template("reading {wide_bar} {bytes}/{total_bytes}, {eta} left") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        let walked = walk(&mut cases, &bar);
        bar.finish_and_clear();
        walked.map_err(|error| match error {
            ReadError::Data(error) => self.with_remedy(error),
            ReadError::Other(failure) => failure,
        })?;
        let rejected = cases.rejected_count();
        if rejected > 0 {
            say(&if rejected == 1 {
                "1 row was rejected:".to_owned()
            } else {
                format!("{rejected} rows were rejected:")
            });
            for rejection in cases.rejected().iter().take(LISTED) {
                say(&format!("  {rejection}"));
            }
            if rejected > LISTED as u64 {
                say(&format!("  and {} more", rejected - LISTED as u64));
            }
        }
        Ok(Unused { rejected, missing: cases.missing().clone() })
    }
}

impl LogOptions {
    /// Says how to tolerate bad rows, if the error is about one.
    fn with_remedy(&self, error: DataError) -> Failure {
        let about_a_row = matches!(&error, DataError::Cases(CasesError::Rejected(_)));
        let failure = Failure::from(error);
        if about_a_row && self.reject_limit == 0 {
            failure.help("to leave bad rows out, and have them listed and counted, give --reject-limit ROWS")
        } else {
            failure
        }
    }
}

/// Whether a path stands for standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

impl PopulationOptions {
    /// The contexts, row by row, if files were given.
    pub(crate) fn read(&self, document: &PolicyDocument) -> Result<Option<Vec<f64>>, Failure> {
        if self.population.is_empty() {
            return Ok(None);
        }
        let people = read_people(document, &self.population, 0, SAMPLE_SIZE)?;
        if people.dropped > 0 {
            say(&format!("the population: {} rows lack a value and are left out", people.dropped));
        }
        Ok(Some(people.contexts))
    }
}
