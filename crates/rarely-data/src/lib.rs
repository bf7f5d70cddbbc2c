//! Reads logs of past cases, as a policy document describes them, and data sets in which the outcome of every arm is known for every
//! person. Draws the realisations of IHDP, and the logs of the examples.
//!
//! | module | what it is about |
//! |---|---|
//! | `log` | logs row by row, with constant memory: CSV, Parquet and NDJSON files, tables in memory |
//! | `cases` | their rows as contexts, arms and rewards of a policy document; the people a rule is meant for |
//! | `sketch` | what the columns of a file contain, and how often, for a draft of a document |
//! | `counterfactuals` | people for whom every outcome is known: contexts, outcomes and expected outcomes |
//! | [`ihdp`] | the Infant Health and Development Program: its 1,000 realisations, drawn; its CSV files and npz archives |
//! | [`table`] | any CSV file with a header and a column `outcome:<arm>` for every arm |
//! | `error`, `location` | what is wrong with a file, where, and what to do about it |
//! | `number` | fields that are numbers |
//!
//! ```
//! use rarely_data::ihdp;
//! let children = ihdp::realisation(7)?.with_intercept();
//! assert_eq!((children.people(), children.dimension(), children.arms), (747, 26, 2));
//! # Ok::<(), rarely_data::DataError>(())
//! ```
//!
//! Absent on purpose: nothing is downloaded or printed, and no row is repaired or skipped silently. A file is read as it is, or the
//! error says where it is wrong. Of a log, as many bad rows are left out as the caller allows, and they are listed.
#![deny(missing_docs)]

mod cases;
mod counterfactuals;
mod error;
mod example_logs;
pub mod ihdp;
mod location;
mod log;
mod number;
mod sketch;
pub mod table;

pub use cases::{Cases, CasesError, Columns, LogTime, LoggedCase, TargetPeople, people_of_table, read_people};
pub use counterfactuals::Counterfactuals;
pub use error::{CounterfactualFormat, DataError};
pub use example_logs::ExampleLog;
pub use location::Location;
pub use log::{FileError, LogError, LogReader, LogRow, MemoryTable, Rejection, RowProblem, TwoReadings};
pub use sketch::{
    ColumnSpread, FileSketch, mark_followers, mark_followers_watched, read_spreads, sketch, sketch_watched,
};
