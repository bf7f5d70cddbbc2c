//! One field of a record, as a file or a request holds it.

/// One field of a record, as a file or a request holds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FieldValue<'a> {
    /// Nothing: an empty field, a null, a key that is not there.
    Missing,
    /// A number.
    Number(f64),
    /// Words; a number in a text file is words until somebody asks for the number.
    Text(&'a str),
}
