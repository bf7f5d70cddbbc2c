//! Numbers too large or too small to be written out.

/// A number as a multiple of a power of ten, with at most `digits` significant digits and a true minus sign.
///
/// ```
/// use rarely_error::scientific;
/// assert_eq!(scientific(2.34e12, 2), "2.3×10¹²");
/// assert_eq!(scientific(-1e-5, 3), "−10⁻⁵");
/// ```
pub fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{:.*e}", digits.max(1) - 1, value.abs());
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    let exponent: String = exponent.chars().map(superscript).collect();
    let sign = if value < 0.0 { "−" } else { "" };
    if mantissa == "1" { format!("{sign}10{exponent}") } else { format!("{sign}{mantissa}×10{exponent}") }
}

fn superscript(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    }
}
