//! Options for the log and the population, and reading a log with a progress bar.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rarely_data::{Cases, CasesError, Columns, DataError, LoggedCase, read_people};
use rarely_error::Topic;
use rarely_policy::{DataFormat, DecimalMark, FieldSeparator, MissingCounts, PolicyDocument, TextEncoding};
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
    /// Past cases: CSV, TSV, xlsx, Parquet or NDJSON files with a column for each feature, the option and the outcome; - reads CSV from
    /// standard input; a review also reads a table of postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) data: Vec<PathBuf>,
    /// Column with the option that was given [default: the document's option_column]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) option_column: Option<String>,
    /// Number of bad rows to tolerate; they are left out, listed, and counted in the answer
    #[arg(long, value_name = "ROWS", default_value_t = 0)]
    pub(crate) reject_limit: u64,
    #[command(flatten)]
    format: FormatOptions,
}

/// How files are written, where what is found in them is not to decide.
#[derive(Debug, Args)]
#[command(next_help_heading = "How its files are written")]
pub(crate) struct FormatOptions {
    /// Character between the fields: , ; | or tab [default: found]
    #[arg(long, value_name = "CHARACTER")]
    separator: Option<FieldSeparator>,
    /// Decimal mark: . or , [default: found]
    #[arg(long, value_name = "MARK")]
    decimal: Option<DecimalMark>,
    /// Encoding: utf-8, utf-16le, utf-16be or windows-1252 (latin-1) [default: found]
    #[arg(long, value_name = "NAME")]
    encoding: Option<TextEncoding>,
    /// Sheet of a workbook [default: the first]
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
}

impl FormatOptions {
    /// What was given.
    pub(crate) fn format(&self) -> DataFormat {
        let Self { separator, decimal, encoding, sheet } = self;
        DataFormat { separator: *separator, decimal: *decimal, encoding: *encoding, sheet: sheet.clone() }
    }
}

/// What reading a log told besides its cases.
#[derive(Debug, Default)]
pub(crate) struct WalkedLog {
    /// Rows that were rejected.
    pub(crate) rejected: u64,
    /// How files are read that are not written as programs write them.
    pub(crate) read_as: Vec<(PathBuf, String)>,
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
        let document = PolicyDocument::read(path)?.with_data_format(self.format.format());
        Ok(match &self.option_column {
            Some(column) => document.with_option_column(column.clone()),
            None => document,
        })
    }

    /// The columns besides the features and the outcome.
    pub(crate) fn columns(document: &PolicyDocument) -> Columns {
        Columns::of(document)
    }

    /// Gives every case to one of the workers, which work at the same time.
    pub(crate) fn share<W: Send>(
        &self,
        document: &PolicyDocument,
        columns: &Columns,
        workers: &mut [W],
        work: impl Fn(&mut W, &LoggedCase) + Sync,
    ) -> Result<WalkedLog, Failure> {
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

    /// Passes every case to `take`, in its order.
    pub(crate) fn walk(
        &self,
        document: &PolicyDocument,
        columns: &Columns,
        mut take: impl FnMut(&LoggedCase) -> Result<(), Failure>,
    ) -> Result<WalkedLog, Failure> {
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
    ) -> Result<WalkedLog, Failure> {
        if self.data.is_empty() {
            return Err(Failure::new("there is no log to read").help("name its files with --data"));
        }
        let mut cases = Cases::open(document, columns, &self.paths(), self.reject_limit)?;
        let read_as = cases.read_as().to_vec();
        for (file, way) in &read_as {
            say_read_as(file, way);
        }
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
        Ok(WalkedLog { rejected, read_as, missing: cases.missing().clone() })
    }
}

/// Says how a file is read that is not written as programs write it.
pub(crate) fn say_read_as(file: &Path, way: &str) {
    say(&format!("{} is read as: {way}", file.display()));
}

impl LogOptions {
    /// Says how to tolerate bad rows, if the error is about one.
    fn with_remedy(&self, error: DataError) -> Failure {
        let about_a_row = matches!(&error, DataError::Cases(CasesError::Rejected(_)));
        let failure = Failure::from(error);
        if about_a_row && self.reject_limit == 0 {
            let help = "to leave bad rows out, and have them listed and counted, give --reject-limit ROWS";
            failure.help(help).see(Topic::BadRows)
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
