//! A fast path for regular rows, as nearly all are: one line, as many fields as there are columns, quotation marks only around whole
//! fields. Everything else is left to [`quoted`](super::quoted), which handles every case and is slower.
//!
//! A line is read in two passes: first all separators are found, then all numbers are read. In one pass, every number would have to
//! wait until the one before it has been read; in two, a processor works on several at a time.

use memchr::{memchr, memchr2, memchr3};

use super::cuts::Cuts;
use super::quoted::line_end;
use super::slots::{FieldSlot, offset};
use crate::number;

/// Reads the fields of the wanted columns from the first row of a text, which must have `columns` fields. Returns the length of the
/// row in bytes, if it is regular.
#[inline(never)]
pub(super) fn read(
    text: &[u8],
    separator: u8,
    (wanted, columns): (&[usize], usize),
    cuts: &mut Cuts,
    slots: &mut [FieldSlot],
) -> Option<usize> {
    let mut end = memchr3(b'\n', b'\r', b'"', text)?;
    let has_quotes = text[end] == b'"';
    if has_quotes {
        end += memchr2(b'\n', b'\r', &text[end..])?;
    }
    // Whether a return at the end of the text is half a line end is not known.
    if text[end] == b'\r' && end + 1 == text.len() {
        return None;
    }
    let is_ascii = cuts.cut(text, end, separator)?;
    // Of a single column, what is blank would have to be told from a value that is missing.
    if cuts.fields() != columns || columns == 1 || has_quotes && !only_around_fields(text, cuts) {
        return None;
    }
    for (&column, slot) in wanted.iter().zip(slots) {
        let (from, to) = cuts.bounds(column);
        let number = number::decimal(text, from, to);
        *slot = FieldSlot { number: number.unwrap_or(f64::NAN), from: offset(from), to: offset(to) };
        if number.is_none() && (has_quotes || !is_ascii) {
            if from < to && text[from] == b'"' {
                (slot.from, slot.to) = (offset(from + 1), offset(to - 1));
            }
            std::str::from_utf8(&text[from..to]).ok()?;
        }
    }
    Some(end + line_end(&text[end..]))
}

/// Whether quotation marks stand around whole fields, or inside fields that do not start with one.
fn only_around_fields(text: &[u8], cuts: &Cuts) -> bool {
    (0..cuts.fields()).all(|field| {
        let (from, to) = cuts.bounds(field);
        match &text[from..to] {
            [b'"', within @ .., b'"'] => memchr(b'"', within).is_none(),
            [b'"', ..] => false,
            _ => true,
        }
    })
}
