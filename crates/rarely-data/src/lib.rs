//! Reads logs of past cases, in the terms of a policy document, and data sets in which the outcome of every arm is known for every
//! person; draws the synthetic ones.
//!
//! | module | what it is about |
//! |---|---|
//! | `log` | files of past cases row by row, with flat memory: CSV, Parquet and NDJSON; tables that are in memory |
//! | `cases` | their rows as contexts, arms and rewards of a policy document; people for whom a rule is meant |
//! | `sketch` | what the columns of a file hold, for a draft of a document |
//! | `counterfactuals` | a table of people of whom every outcome is known: contexts, outcomes and expected outcomes |
//! | [`ihdp`] | the Infant Health and Development Program: its CSV files, its npz archives, a synthetic stand-in |
//! | [`table`] | any CSV file with a header and a column `outcome:<arm>` for every arm |
//! | `error`, `location` | what can be wrong with a file, where, and what to do |
//! | `number` | fields that are numbers |
//!
//! ```
//! use rarely_data::ihdp;
//! let children = ihdp::synthetic(7, 1).with_intercept();
//! assert_eq!((children.people(), children.dimension(), children.arms), (747, 26, 2));
//! assert!(children.synthetic);
//! ```
//!
//! Absent on purpose: nothing is downloaded, nothing is printed, and no row is repaired or left out in silence: a file is read as it
//! is or it is an error that says where. Of a log, as many bad rows may be left out as the caller allows; they are listed.
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

pub use cases::{Cases, CasesError, Columns, LoggedCase, TargetPeople, people_of_table, read_people};
pub use counterfactuals::Counterfactuals;
pub use error::{CounterfactualFormat, DataError};
pub use example_logs::ExampleLog;
pub use location::Location;
pub use log::{FileError, LogError, LogReader, LogRow, MemoryTable, Rejection, RowProblem};
pub use sketch::sketch;
