//! What can be wrong with a data set, where, and what to do about it.

use std::io;
use std::path::PathBuf;

use rarely_error::{Action, Explain, Remedy, scientific};
use thiserror::Error;

use crate::{CasesError, FileError, Location};

/// The kinds of files in which the outcome of every arm is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CounterfactualFormat {
    /// A CSV file with a header and a column `outcome:<arm>` for every arm.
    Table,
    /// A CSV file of the IHDP data: no header, 30 numbers in every row.
    IhdpFile,
    /// A NumPy archive of the IHDP data.
    IhdpArchive,
}

/// Why a data set could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// No path to IHDP data.
    #[error("no path to the IHDP data was given")]
    NoPath,
    /// A realisation that was never published.
    #[error("IHDP has no realisation {number}")]
    NoRealisation {
        /// The number asked for.
        number: u32,
    },
    /// A path to IHDP data that does not exist.
    #[error("{}: no such file or directory", path.display())]
    NotThere {
        /// The path given.
        path: PathBuf,
    },
    /// A folder without IHDP data.
    #[error("{}: the directory holds neither ihdp_npci_1.csv, ihdp_npci_2.csv, … nor an .npz file", folder.display())]
    NothingFound {
        /// The folder given.
        folder: PathBuf,
    },
    /// A file of the set whose name has no realisation number.
    #[error("{}: its name should be ihdp_npci_ with a number and .csv, so that realisations can be put in order", file.display())]
    NotNumbered {
        /// The file.
        file: PathBuf,
    },
    /// A file that is neither CSV nor npz.
    #[error("{}: the name ends in neither .csv nor .npz", file.display())]
    UnknownKind {
        /// The file.
        file: PathBuf,
    },
    /// The same file twice, by itself or as a part of its folder.
    #[error("{}: the file is given twice, and its realisations would count twice", file.display())]
    GivenTwice {
        /// The file.
        file: PathBuf,
    },
    /// A file that the operating system cannot open or read.
    #[error("{}: cannot be read", file.display())]
    Io {
        /// The file or folder.
        file: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },

    /// A value that is not a finite number.
    #[error("{location}: found {found}, which is not a finite number")]
    NotFinite {
        /// Where.
        location: Location,
        /// The value.
        found: String,
        /// The kind of file.
        format: CounterfactualFormat,
    },
    /// A number beyond what the core accepts.
    #[error("{location}: found {}, beyond the limit of {}", scientific(*found, 6), scientific(*limit, 6))]
    TooLarge {
        /// Where.
        location: Location,
        /// The value.
        found: f64,
        /// The largest magnitude accepted.
        limit: f64,
    },
    /// A treatment that is neither 0 nor 1.
    #[error("{location}: found {found}, but a treatment is 0 or 1")]
    Treatment {
        /// Where.
        location: Location,
        /// The value.
        found: f64,
    },
    /// A row with too few columns.
    #[error("{location}: this column is missing: the row has {found} of {expected} columns")]
    MissingColumn {
        /// The location of the first missing column.
        location: Location,
        /// Columns of the row.
        found: usize,
        /// Columns it should have.
        expected: usize,
        /// The kind of file.
        format: CounterfactualFormat,
    },
    /// A row with too many columns.
    #[error("{location}: this column is one too many: the row has {found} columns where {expected} are expected")]
    ExtraColumn {
        /// The location of the first extra column.
        location: Location,
        /// Columns of the row.
        found: usize,
        /// Columns it should have.
        expected: usize,
        /// The kind of file.
        format: CounterfactualFormat,
    },
    /// A realisation of IHDP with another number of children.
    #[error("{}: {found} rows, but a realisation has {expected} children", file.display())]
    Rows {
        /// The file.
        file: PathBuf,
        /// Rows it should have.
        expected: usize,
        /// Rows it has.
        found: usize,
    },

    /// An archive that cannot be opened or unpacked.
    #[error("{}: not a readable NumPy archive ({problem})", file.display())]
    Archive {
        /// The file.
        file: PathBuf,
        /// What the unpacker says.
        problem: String,
    },
    /// An array that cannot be unpacked.
    #[error("{}, array {array}: cannot be read ({problem})", file.display())]
    Array {
        /// The file.
        file: PathBuf,
        /// The array's name.
        array: &'static str,
        /// What the unpacker says.
        problem: String,
    },
    /// An archive without an array that is needed.
    #[error("{}: has no array {array}, only {}", file.display(), listed(present))]
    MissingArray {
        /// The file.
        file: PathBuf,
        /// The array's name.
        array: &'static str,
        /// The arrays it does have.
        present: Vec<String>,
    },
    /// An array with a wrong shape.
    #[error("{}, array {array}: its shape is {}, but it should be {expected}", file.display(), shape(found))]
    Shape {
        /// The file.
        file: PathBuf,
        /// The array's name.
        array: &'static str,
        /// Its shape.
        found: Vec<u64>,
        /// The shape it should have.
        expected: String,
    },
    /// An array of something that is not numbers.
    #[error("{}, array {array}: its elements are {found}, but only f4, f8, i4, i8, u1 and b1 are read", file.display())]
    ElementType {
        /// The file.
        file: PathBuf,
        /// The array's name.
        array: &'static str,
        /// NumPy's description of its elements.
        found: String,
    },
    /// Two splits that do not belong together.
    #[error("{} has {train_realisations} realisations and {} has {test_realisations}, but the two splits of one set have equally many", train.display(), test.display())]
    Splits {
        /// The archive of the training split.
        train: PathBuf,
        /// Its realisations.
        train_realisations: usize,
        /// The archive of the test split.
        test: PathBuf,
        /// Its realisations.
        test_realisations: usize,
    },

    /// A table whose first line is not a header.
    #[error("{}, line 1: no header: found {found}", file.display())]
    NoHeader {
        /// The file.
        file: PathBuf,
        /// The first line, or that there is none.
        found: String,
    },
    /// A column without a name, or an outcome or mean without an arm.
    #[error("{}, line 1, column {column}: found the column name {found}, which is incomplete", file.display())]
    Unnamed {
        /// The file.
        file: PathBuf,
        /// The column, from 1.
        column: usize,
        /// The name as it stands.
        found: String,
    },
    /// Two columns of one name.
    #[error("{}, line 1: columns {first} and {second} are both named {name}", file.display())]
    DuplicateColumn {
        /// The file.
        file: PathBuf,
        /// The name.
        name: String,
        /// The first column of that name, from 1.
        first: usize,
        /// The second, from 1.
        second: usize,
    },
    /// A table with no outcome, or with that of one arm only.
    #[error("{}, line 1: {} named outcome:<arm>, but the outcome of every arm must be known, for two arms or more", file.display(), counted(outcomes))]
    TooFewOutcomes {
        /// The file.
        file: PathBuf,
        /// The outcome columns there are.
        outcomes: Vec<String>,
    },
    /// A mean of an arm that has no outcome.
    #[error("{}, line 1, column {column} ({name}): there is no outcome of this arm, only of {}", file.display(), listed(arms))]
    UnknownArm {
        /// The file.
        file: PathBuf,
        /// The column, from 1.
        column: usize,
        /// Its name.
        name: String,
        /// The arms that have outcomes.
        arms: Vec<String>,
    },
    /// Means of some arms only.
    #[error("{}, line 1: column mean:{arm} is missing, although other arms have a mean", file.display())]
    MissingMean {
        /// The file.
        file: PathBuf,
        /// The arm without a mean.
        arm: String,
    },
    /// A table of outcomes only.
    #[error("{}, line 1: there is no context variable, only outcomes and means", file.display())]
    NoContext {
        /// The file.
        file: PathBuf,
    },
    /// A header without rows.
    #[error("{}: there is a header but no row", file.display())]
    NoRows {
        /// The file.
        file: PathBuf,
    },
    /// A file of past cases that cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Files of past cases, or their rows, that cannot be used.
    #[error(transparent)]
    Cases(#[from] CasesError),

    /// A table in memory that lacks people, arms or context variables.
    #[error("{label}: {found} {what}, but there must be at least {at_least}")]
    TooFew {
        /// The table's label.
        label: String,
        /// What there is too little of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        at_least: usize,
    },
    /// A table in memory whose parts do not fit together.
    #[error("{label}: {field} has {found} numbers, but {people} people × {each} make {expected}")]
    Length {
        /// The table's label.
        label: String,
        /// The field.
        field: &'static str,
        /// Numbers in it.
        found: usize,
        /// People in the table.
        people: usize,
        /// Numbers per person.
        each: usize,
        /// Numbers there should be.
        expected: usize,
    },
    /// A table in memory with a number that is not finite.
    #[error("{label}: {field} of person {person} (from 0), entry {entry}, is {found}, but every number must be finite")]
    Value {
        /// The table's label.
        label: String,
        /// The field.
        field: &'static str,
        /// The person, from 0.
        person: usize,
        /// The context variable or arm, from 0.
        entry: usize,
        /// The number.
        found: f64,
    },
}

impl Explain for DataError {
    fn remedy(&self) -> Option<Remedy> {
        const GET_AGAIN: &str = "the file is damaged, incomplete or changed: get the original again";
        let text = match self {
            Self::NoPath => return Some(or_embedded("name files or directories")),
            Self::NotThere { .. } => return Some(or_embedded("check the path")),
            Self::NothingFound { .. } => return Some(or_embedded("name a directory that holds some of them")),
            Self::NoRealisation { .. } => "give a number from 1 to 1,000",
            Self::File(error) => return error.remedy(),
            Self::Cases(error) => return error.remedy(),
            Self::NotNumbered { .. } => "rename the file, move it away, or give the files one by one",
            Self::UnknownKind { .. } => "give the IHDP data as CSV files or NumPy archives",
            Self::GivenTwice { .. } => "name the file once",
            Self::Io { .. } => "check the path, and that you have permission to read it",
            Self::NotFinite { format, .. } => match format {
                CounterfactualFormat::Table => "correct the field, or remove the person's row",
                CounterfactualFormat::IhdpFile => IHDP_FILE,
                CounterfactualFormat::IhdpArchive => "the original archives have no gaps: get the original again",
            },
            Self::TooLarge { .. } => "express the column in a larger unit, or correct the value",
            Self::Treatment { .. } => "check that the columns are in their original order",
            Self::MissingColumn { format, .. } | Self::ExtraColumn { format, .. } => match format {
                CounterfactualFormat::Table => {
                    "give every row one field for each name in the header, separated by commas"
                }
                CounterfactualFormat::IhdpFile | CounterfactualFormat::IhdpArchive => IHDP_FILE,
            },
            Self::Rows { .. } | Self::Archive { .. } | Self::Array { .. } => GET_AGAIN,
            Self::MissingArray { .. } => "get the original archive, which has the arrays x, t, yf, ycf, mu0 and mu1",
            Self::Shape { .. } => "get the original archive",
            Self::ElementType { .. } => "store the array as f8, with `astype(float)`",
            Self::Splits { .. } => "get both splits from the same place, or give only one",
            Self::NoHeader { .. } => {
                "write the names of the columns into the first line, with outcome:<arm> for the outcome of each arm"
            }
            Self::Unnamed { .. } => "give every context variable a name, and every outcome: or mean: an arm",
            Self::DuplicateColumn { .. } => "rename or remove one of the columns",
            Self::TooFewOutcomes { .. } => "add or rename columns",
            Self::UnknownArm { .. } => "correct the name of the arm, or add its outcome",
            Self::MissingMean { .. } => "give the mean of every arm, or of none",
            Self::NoContext { .. } => "add at least one column that describes the person",
            Self::NoRows { .. } => "add one row for every person",
            Self::Length { .. } => "fill the table row by row",
            Self::TooFew { .. } | Self::Value { .. } => return None,
        };
        Some(Remedy::new(text))
    }
}

/// Something to do about a path to IHDP data; or do without it.
fn or_embedded(what: &str) -> Remedy {
    Remedy::with(format!("{what}, or {{action}}"), Action::UseEmbeddedRealisations)
}

const IHDP_FILE: &str =
    "an IHDP file has no header and 30 numbers in every row, separated by commas: get the original again";

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

fn counted(outcomes: &[String]) -> String {
    match outcomes {
        [] => "no column is".to_owned(),
        [only] => format!("only one column ({only}) is"),
        more => format!("{} columns are", more.len()),
    }
}

fn shape(sizes: &[u64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    format!("({})", sizes.join(", "))
}
