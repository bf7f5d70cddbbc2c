//! What can be wrong with a data set: what, where, and what to do.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::{CasesError, FileError, Place, ihdp};

/// Why a data set could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// No path to IHDP data.
    #[error("no path to the IHDP data was given.\n{}", ihdp::HOW_TO_GET)]
    NoPath,
    /// A path to IHDP data that leads nowhere.
    #[error("{}: there is no such file or folder.\n{}", path.display(), ihdp::HOW_TO_GET)]
    NotThere {
        /// The path given.
        path: PathBuf,
    },
    /// A folder without IHDP data.
    #[error("{}: the folder holds neither ihdp_npci_1.csv, ihdp_npci_2.csv, … nor an .npz file.\n{}", folder.display(), ihdp::HOW_TO_GET)]
    NothingFound {
        /// The folder given.
        folder: PathBuf,
    },
    /// A file whose name says that it belongs to the set, but not as which realisation.
    #[error("{}: its name should be ihdp_npci_ with a number and .csv, so that realisations can be put in order; rename it, move it away, or give the files one by one", file.display())]
    NotNumbered {
        /// The file.
        file: PathBuf,
    },
    /// A file that is neither CSV nor npz.
    #[error("{}: the name ends in neither .csv nor .npz; IHDP data are read from CSV files and NumPy archives only", file.display())]
    UnknownKind {
        /// The file.
        file: PathBuf,
    },
    /// The same file twice, by itself or as a part of its folder.
    #[error("{}: the file is given twice, and its realisations would count twice; name it once", file.display())]
    GivenTwice {
        /// The file.
        file: PathBuf,
    },
    /// The operating system would not open or read a file.
    #[error("{}: cannot be read; check the path and that you may read it", file.display())]
    Io {
        /// The file or folder.
        file: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },

    /// A value that is no number, or none that can be calculated with.
    #[error("{place}: found {found}, which is not a finite number; {remedy}")]
    NotFinite {
        /// Where.
        place: Place,
        /// What stands there.
        found: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A number beyond what the core accepts.
    #[error(
        "{place}: found {found:e}, beyond the limit of {limit:e}; express the column in a larger unit, or correct the value"
    )]
    TooLarge {
        /// Where.
        place: Place,
        /// What stands there.
        found: f64,
        /// The largest magnitude accepted.
        limit: f64,
    },
    /// A treatment that is neither 0 nor 1.
    #[error(
        "{place}: found {found}, but a treatment is 0 or 1; check that the order of the columns is the original one"
    )]
    Treatment {
        /// Where.
        place: Place,
        /// What stands there.
        found: f64,
    },
    /// A row that ends too early.
    #[error("{place}: this column is missing: the row has {found} of {expected} columns; {remedy}")]
    MissingColumn {
        /// The first place that is not there.
        place: Place,
        /// Columns of the row.
        found: usize,
        /// Columns it should have.
        expected: usize,
        /// What to do.
        remedy: &'static str,
    },
    /// A row that goes on too long.
    #[error(
        "{place}: this column is one too many: the row has {found} columns where {expected} are expected; {remedy}"
    )]
    ExtraColumn {
        /// The first place that should not be there.
        place: Place,
        /// Columns of the row.
        found: usize,
        /// Columns it should have.
        expected: usize,
        /// What to do.
        remedy: &'static str,
    },
    /// A realisation of IHDP with another number of children.
    #[error("{}: {found} rows, but a realisation has {expected} children; the file is incomplete or was changed: get it again, unchanged", file.display())]
    Rows {
        /// The file.
        file: PathBuf,
        /// Rows it should have.
        expected: usize,
        /// Rows it has.
        found: usize,
    },

    /// An archive that cannot be opened or unpacked.
    #[error("{}: not a readable NumPy archive ({problem}); it is damaged or incomplete: get it again", file.display())]
    Archive {
        /// The file.
        file: PathBuf,
        /// What the unpacker says.
        problem: String,
    },
    /// An array that cannot be unpacked.
    #[error("{}, array {array}: cannot be read ({problem}); the archive is damaged or incomplete: get it again", file.display())]
    Array {
        /// The file.
        file: PathBuf,
        /// The array's name.
        array: &'static str,
        /// What the unpacker says.
        problem: String,
    },
    /// An archive without an array that is needed.
    #[error("{}: has no array {array}, only {}; an IHDP archive holds x, t, yf, ycf, mu0 and mu1: get the original", file.display(), listed(present))]
    MissingArray {
        /// The file.
        file: PathBuf,
        /// The array's name.
        array: &'static str,
        /// The arrays it does have.
        present: Vec<String>,
    },
    /// An array of another shape.
    #[error("{}, array {array}: its shape is {}, but it should be {expected}; get the original archive", file.display(), shape(found))]
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
    #[error("{}, array {array}: its elements are {found}, but only f4, f8, i4, i8, u1 and b1 are read; store it as f8 (astype(float))", file.display())]
    ElementType {
        /// The file.
        file: PathBuf,
        /// The array's name.
        array: &'static str,
        /// NumPy's description of its elements.
        found: String,
    },
    /// Two splits that do not belong together.
    #[error("{} has {train_realisations} realisations and {} has {test_realisations}; the two splits of one set have equally many: get both from one place, or give only one", train.display(), test.display())]
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
    #[error("{}, line 1: no header: found {found}; write the columns' names into the first line, with outcome:<arm> for what each arm gives", file.display())]
    NoHeader {
        /// The file.
        file: PathBuf,
        /// The first line, or that there is none.
        found: String,
    },
    /// A column without a name, or an outcome or mean without an arm.
    #[error("{}, line 1, column {column}: found the name {found}, which names nothing; give every context variable a name and every outcome: or mean: an arm", file.display())]
    Unnamed {
        /// The file.
        file: PathBuf,
        /// The column, from 1.
        column: usize,
        /// The name as it stands.
        found: String,
    },
    /// Two columns of one name.
    #[error("{}, line 1: columns {first} and {second} are both named {name}; rename or remove one", file.display())]
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
    #[error("{}, line 1: {} named outcome:<arm>; the outcome of every arm must be known, for two arms or more: add or rename columns", file.display(), counted(outcomes))]
    TooFewOutcomes {
        /// The file.
        file: PathBuf,
        /// The outcome columns there are.
        outcomes: Vec<String>,
    },
    /// A mean of an arm that has no outcome.
    #[error("{}, line 1, column {column} ({name}): there is no outcome of this arm, only of {}; correct the arm's name or add its outcome", file.display(), listed(arms))]
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
    #[error("{}, line 1: column mean:{arm} is missing, though other arms have a mean; give the mean of every arm or of none", file.display())]
    MissingMean {
        /// The file.
        file: PathBuf,
        /// The arm without a mean.
        arm: String,
    },
    /// A table of outcomes only.
    #[error("{}, line 1: there is no context variable, only outcomes and means; add at least one column that describes the person", file.display())]
    NoContext {
        /// The file.
        file: PathBuf,
    },
    /// A header with nothing below it.
    #[error("{}: there is a header but no row; add one row for every person", file.display())]
    NoRows {
        /// The file.
        file: PathBuf,
    },
    /// A file of past cases that cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Files of past cases, or their rows, that will not do.
    #[error(transparent)]
    Cases(#[from] CasesError),

    /// A table in memory that lacks people, arms or context variables.
    #[error("{label}: {found} {what}; there must be at least {at_least}")]
    TooFew {
        /// The table's label.
        label: String,
        /// Of what there are too few.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        at_least: usize,
    },
    /// A table in memory whose parts do not fit together.
    #[error(
        "{label}: {field} has {found} numbers, but {people} people × {each} make {expected}; fill the table row by row"
    )]
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
    /// A table in memory with a number that cannot be calculated with.
    #[error("{label}: {field} of person {person} (from 0), entry {entry}, is {found}; every number must be finite")]
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
