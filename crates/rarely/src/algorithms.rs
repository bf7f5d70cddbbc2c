//! `rarely algorithms`.

use rarely_core::Algorithm;

use crate::{plain_table, render};

/// The table of algorithms.
pub(crate) fn table() -> String {
    let mut table = plain_table(&["algorithm", "plays", "acts when", "changes to", "source"]);
    for row in Algorithm::TABLE {
        table.add_row([row.name, row.choice, row.trigger, row.update, row.source]);
    }
    render(&table)
}
