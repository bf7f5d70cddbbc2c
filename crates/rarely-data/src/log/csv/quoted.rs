//! Parses any row byte by byte, as in RFC 4180. A quotation mark that does not open a field is literal, and text after a closing
//! one belongs to the field.

use memchr::{memchr, memchr_iter, memrchr2};

/// A row without its quotation marks.
#[derive(Default)]
pub(super) struct Unquoted {
    /// The fields, one after the other.
    pub(super) bytes: Vec<u8>,
    /// Where each ends.
    pub(super) ends: Vec<usize>,
}

/// How a row ends.
pub(super) enum RowEnd {
    /// With a line: the bytes that it took, and the lines.
    Line { taken: usize, lines: u64 },
    /// With the text, inside quotation marks or not; the lines that it took.
    Text { in_quotes: bool, lines: u64 },
}

#[derive(Clone, Copy, PartialEq)]
enum At {
    Start,
    Plain,
    Quoted,
    /// After a quotation mark that closes the field or is the first half of an escaped one.
    Closed,
}

impl Unquoted {
    /// Parses the first row of a text.
    pub(super) fn read(&mut self, text: &[u8], separator: u8) -> RowEnd {
        self.bytes.clear();
        self.ends.clear();
        let mut at = At::Start;
        let mut lines = 1;
        for (index, &byte) in text.iter().enumerate() {
            match (at, byte) {
                (At::Quoted, b'"') => at = At::Closed,
                (At::Quoted, _) => {
                    let half = byte == b'\n' && text[index - 1] == b'\r';
                    lines += u64::from(matches!(byte, b'\n' | b'\r') && !half);
                    self.bytes.push(byte);
                }
                (At::Start, b'"') => at = At::Quoted,
                (At::Closed, b'"') => {
                    self.bytes.push(byte);
                    at = At::Quoted;
                }
                // Whether this is half a line end is not known.
                (_, b'\r') if index + 1 == text.len() => break,
                (_, b'\n' | b'\r') => {
                    self.ends.push(self.bytes.len());
                    return RowEnd::Line { taken: index + line_end(&text[index..]), lines };
                }
                _ if byte == separator => {
                    self.ends.push(self.bytes.len());
                    at = At::Start;
                }
                _ => {
                    self.bytes.push(byte);
                    at = At::Plain;
                }
            }
        }
        self.ends.push(self.bytes.len());
        RowEnd::Text { in_quotes: at == At::Quoted, lines }
    }

    /// Whether the row is blank.
    pub(super) fn is_blank(&self) -> bool {
        self.ends.len() == 1 && self.bytes.trim_ascii().is_empty()
    }

    /// Where a field starts and ends.
    pub(super) fn bounds(&self, field: usize) -> (usize, usize) {
        let from = if field == 0 { 0 } else { self.ends[field - 1] };
        (from, self.ends[field])
    }
}

/// Where the last whole row of a text ends, which starts with a row: behind the last line end that is not within quotation marks.
pub(super) fn last_row_end(text: &[u8], separator: u8) -> Option<usize> {
    // Whether a return at the end is half a line end is not known.
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    let (mut from, mut last) = (0, None);
    loop {
        let opening = opening(text, from, separator);
        let plain = &text[from..opening.unwrap_or(text.len())];
        last = memrchr2(b'\n', b'\r', plain).map(|at| from + at + 1).or(last);
        let Some(closing) = opening.and_then(|opening| closing(text, opening + 1)) else { return last };
        from = closing + 1;
    }
}

/// The next quotation mark that opens a field.
fn opening(text: &[u8], from: usize, separator: u8) -> Option<usize> {
    let starts_field = |at: &usize| *at == 0 || matches!(text[at - 1], b'\n' | b'\r') || text[at - 1] == separator;
    memchr_iter(b'"', &text[from..]).map(|at| from + at).find(starts_field)
}

/// The quotation mark that closes a field. One at the end of the text may be the first half of an escaped one.
fn closing(text: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let at = from + memchr(b'"', &text[from..])?;
        if *text.get(at + 1)? != b'"' {
            return Some(at);
        }
        from = at + 2;
    }
}

/// Bytes of the line end that a text starts with.
#[inline]
pub(super) fn line_end(text: &[u8]) -> usize {
    match text {
        [b'\r', b'\n', ..] => 2,
        [_, ..] => 1,
        [] => 0,
    }
}
