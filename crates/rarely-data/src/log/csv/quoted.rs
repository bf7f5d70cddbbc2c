//! Rows with quotation marks, taken apart byte by byte.

use super::cuts::Cuts;

/// What became of a row with quotation marks.
pub(super) enum Unquoted {
    /// It is whole: bytes that it took and lines that they ended.
    Row { taken: usize, lines: u64 },
    /// It goes on after the bytes at hand.
    Unfinished { in_quotes: bool },
}

/// Takes the first row of a text apart, as RFC 4180 has it. A quotation mark that does not open a field stands for itself, and
/// what follows a closing one belongs to the field.
pub(super) fn unquote(text: &[u8], separator: u8, fields: &mut Vec<u8>, cuts: &mut Cuts) -> Unquoted {
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        Start,
        Plain,
        Quoted,
        /// After a quotation mark that closes the field or is the first half of one that stands for itself.
        Closed,
    }
    fields.clear();
    cuts.clear();
    let mut at = At::Start;
    let mut lines = 1;
    for (index, &byte) in text.iter().enumerate() {
        match (at, byte) {
            (At::Quoted, b'"') => at = At::Closed,
            (At::Quoted, _) => {
                let half = byte == b'\n' && text[index - 1] == b'\r';
                lines += u64::from(matches!(byte, b'\n' | b'\r') && !half);
                fields.push(byte);
            }
            (At::Start, b'"') => at = At::Quoted,
            (At::Closed, b'"') => {
                fields.push(byte);
                at = At::Quoted;
            }
            (_, b'\r') if index + 1 == text.len() => break,
            (_, b'\n' | b'\r') => {
                cuts.end_field(fields.len());
                return Unquoted::Row { taken: index + line_end(&text[index..]), lines };
            }
            _ if byte == separator => {
                cuts.end_field(fields.len());
                fields.push(separator);
                at = At::Start;
            }
            _ => {
                fields.push(byte);
                at = At::Plain;
            }
        }
    }
    cuts.end_field(fields.len());
    Unquoted::Unfinished { in_quotes: at == At::Quoted }
}

/// Bytes of the line end that a text starts with.
pub(super) fn line_end(text: &[u8]) -> usize {
    match text {
        [b'\r', b'\n', ..] => 2,
        [_, ..] => 1,
        [] => 0,
    }
}
