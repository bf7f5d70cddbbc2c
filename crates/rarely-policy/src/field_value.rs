//! The value of one field of a record.

/// The value of one field of a record, from a file or a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FieldValue<'a> {
    /// An empty field, a null, or an absent key.
    Missing,
    /// A number.
    Number(f64),
    /// Text. A number in a text file is text until the number is needed.
    Text(&'a str),
}
