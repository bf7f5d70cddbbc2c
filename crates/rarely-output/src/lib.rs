//! What programs leave behind: directories whose files are written whole or not at all, tables as CSV, Parquet and text, and
//! the only calendar.
#![deny(missing_docs)]

mod calendar;
mod column_table;
mod directory;
mod parquet_reading;
mod parquet_rows;
mod provenance;
mod text_table;
mod typeset;

pub use calendar::{Ticks, UtcInstant, utc};
pub use column_table::{ColumnTable, TableColumn};
pub use directory::{OutputDirectory, OutputError, json_text};
pub use parquet_reading::{ReadCell, read_parquet_rows};
pub use parquet_rows::{ParquetRows, RowCell, RowColumn};
pub use provenance::Provenance;
pub use text_table::TextTable;
