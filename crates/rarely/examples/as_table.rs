//! Writes a file as the table that an engine would have of it, for the tests of the Python package: `as_table FILE POLICY OUT` reads the file as the
//! document's `[data]` says, and writes `OUT.csv` and `OUT.toml`, the document with a key.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use rarely_policy::PolicyDocument;

use crate::table::Table;

#[path = "../../../testdata/table.rs"]
mod table;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [file, policy, out] = &arguments[..] else { return Err("usage: as_table FILE POLICY OUT".into()) };
    let format = PolicyDocument::read(policy)?.data_format().clone();
    let table = Table::read(file, policy, &format)?;
    fs::write(out.with_extension("csv"), table.rows)?;
    fs::write(out.with_extension("toml"), table.policy)?;
    Ok(())
}
