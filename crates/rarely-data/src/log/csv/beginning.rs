//! What the first rows of a file tell about its columns.

use std::str;

use super::CsvRows;
use super::quoted::{RowEnd, Unquoted};
use crate::log::number_format::ColumnEvidence;

/// Looks at the rows that are buffered and not taken.
pub(super) fn evidence(rows: &CsvRows, width: usize) -> Vec<ColumnEvidence> {
    let mut evidence: Vec<ColumnEvidence> = (0..width).map(|_| ColumnEvidence::default()).collect();
    let (mut rest, mut line, mut row) = (rows.input.buffered_beginning(), rows.next_line, Unquoted::default());
    while !rest.is_empty() {
        let lines = match row.read(rest, rows.separator) {
            RowEnd::Line { taken, lines } => {
                rest = &rest[taken..];
                lines
            }
            // A row that is cut off, unless it is the last of the file.
            RowEnd::Text { .. } if !rows.input.is_at_end() => break,
            RowEnd::Text { lines, .. } => {
                rest = &[];
                lines
            }
        };
        for (column, evidence) in evidence.iter_mut().enumerate().take(row.ends.len()) {
            let (from, to) = row.bounds(column);
            if let Ok(text) = str::from_utf8(&row.bytes[from..to])
                && !text.trim().is_empty()
            {
                evidence.add(text, line);
            }
        }
        line += lines;
    }
    evidence
}
