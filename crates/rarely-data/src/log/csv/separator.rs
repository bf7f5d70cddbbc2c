//! The character between the fields of a text file, found at its beginning.

use rarely_policy::FieldSeparator;

use super::quoted::{RowEnd, Unquoted};
use crate::log::number_format::ColumnEvidence;

/// Rows that are looked at.
const ROWS: u64 = 200;
const CANDIDATES: [FieldSeparator; 4] =
    [FieldSeparator::COMMA, FieldSeparator::SEMICOLON, FieldSeparator::TAB, FieldSeparator::BAR];

/// What a file looks like with a separator.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Fit {
    /// Rows as wide as the header, of a hundred.
    regular: u64,
    /// Fields that are numbers, of a hundred.
    numbers: u64,
    width: usize,
}

/// The separator that a spreadsheet wrote into the first line, `sep=;`, and the length of the line.
pub(super) fn written(start: &[u8]) -> Option<(FieldSeparator, usize)> {
    let rest = start.strip_prefix(b"sep=").or_else(|| start.strip_prefix(b"SEP="))?;
    let (&separator, rest) = rest.split_first()?;
    let line_end = if rest.starts_with(b"\r\n") { 2 } else { usize::from(rest.starts_with(b"\n")) };
    (line_end > 0).then_some((FieldSeparator::of(separator)?, 5 + line_end))
}

/// The separator with which the rows fit the header best; the usual one, if none fits better.
pub(super) fn find(start: &[u8], is_whole: bool, usual: FieldSeparator) -> FieldSeparator {
    let rank = |separator| {
        let fit = fit(start, is_whole, separator);
        fit.map_or((false, 0, 0, 0), |fit| (true, fit.regular, fit.numbers, fit.width))
    };
    let mut best = (rank(usual), usual);
    for other in CANDIDATES.into_iter().filter(|other| *other != usual) {
        let rank = rank(other);
        if rank > best.0 {
            best = (rank, other);
        }
    }
    best.1
}

/// `None` with one column.
fn fit(start: &[u8], is_whole: bool, separator: FieldSeparator) -> Option<Fit> {
    let (mut rest, mut row) = (start, Unquoted::default());
    let (mut width, mut rows, mut regular) = (None, 0, 0);
    let mut fields = ColumnEvidence::default();
    while !rest.is_empty() && rows <= ROWS {
        match row.read(rest, separator.byte()) {
            RowEnd::Line { taken, .. } => rest = &rest[taken..],
            // A row that is cut off, unless it is the last of the file.
            RowEnd::Text { .. } if !is_whole => break,
            RowEnd::Text { .. } => rest = &[],
        }
        if row.is_blank() {
            continue;
        }
        let Some(width) = width else {
            width = Some(row.ends.len()).filter(|width| *width > 1);
            width?;
            continue;
        };
        rows += 1;
        regular += u64::from(row.ends.len() == width);
        for field in 0..row.ends.len() {
            let (from, to) = row.bounds(field);
            fields.add(&String::from_utf8_lossy(&row.bytes[from..to]), 0);
        }
    }
    let percent = |part: u64, of: u64| (100 * part).checked_div(of).unwrap_or(0);
    Some(Fit { regular: percent(regular, rows), numbers: percent(fields.numbers(), fields.values()), width: width? })
}
