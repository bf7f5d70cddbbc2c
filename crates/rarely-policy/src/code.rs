//! Words that are codes: `0`, `0.0` and `FALSE` are one code, written in three ways.

/// The one way to write a code: a number without zeros at its end, `0` for false and `1` for true. `None` of a word that is no code, such as
/// `wait`, or `007`, whose zeros tell it from `7`.
///
/// ```
/// use rarely_policy::canonical_code;
/// assert_eq!(["0", "0.0", "FALSE"].map(canonical_code), [Some("0"); 3]);
/// assert_eq!(["1.", "1.00", "true", "-2.50"].map(canonical_code), [Some("1"), Some("1"), Some("1"), Some("-2.5")]);
/// assert_eq!(["wait", "007", "-0", "1e3"].map(canonical_code), [None; 4]);
/// ```
pub fn canonical_code(word: &str) -> Option<&str> {
    if word.eq_ignore_ascii_case("true") {
        return Some("1");
    }
    if word.eq_ignore_ascii_case("false") {
        return Some("0");
    }
    let (whole, places) = word.split_once('.').unwrap_or((word, ""));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || !are_digits(digits) || !are_digits(places) || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    let code = if word.contains('.') { word.trim_end_matches('0').trim_end_matches('.') } else { word };
    (code != "-0").then_some(code)
}

/// The number of a code.
pub(crate) fn number_of_code(word: &str) -> Option<f64> {
    canonical_code(word).and_then(|code| code.parse().ok())
}
