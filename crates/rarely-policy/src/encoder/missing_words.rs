//! What stands for a value that is missing.

use crate::FieldValue;

/// Words that stand for a value that is missing, unless they are levels of their feature. It is missing only where the document says what
/// that means; elsewhere they are wrong values. "none" is not among them: it is often an option or a level.
pub const MISSING_WORDS: [&str; 7] = ["na", "n/a", "nan", "null", ".", "-", "?"];

/// Whether a value that is no other, such as a level, stands for a missing one: nothing, a blank, or a word like `NA`.
pub fn stands_for_missing(value: FieldValue<'_>) -> bool {
    match value {
        FieldValue::Number(number) => number.is_nan(),
        FieldValue::Text(text) => {
            let text = text.trim();
            text.is_empty() || MISSING_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
        }
        FieldValue::Missing => true,
    }
}
