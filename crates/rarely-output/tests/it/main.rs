//! The tests of rarely-output, in one binary: each file is named after the module that it tests.

mod calendar;
mod column_table;
mod directory;
