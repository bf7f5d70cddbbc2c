//! How wide words are, where they wrap, and how they are written in XML.

/// Widths of ASCII 32 to 126 in thousandths of the font size: for each the wider of Helvetica's (which browsers use,
/// or Arial of the same widths) and that of the font embedded for bitmaps.
const WIDTHS: [u16; 95] = [
    278, 278, 392, 653, 564, 889, 667, 240, 333, 333, 472, 584, 278, 333, 278, 359, 564, 564, 564, 564, 564, 564, 564,
    564, 564, 564, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 865,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 310, 359, 310, 564, 556, 376, 556, 583, 500, 583,
    556, 376, 573, 569, 237, 237, 500, 255, 863, 569, 582, 583, 583, 374, 500, 387, 569, 500, 775, 500, 500, 500, 334,
    262, 334, 584,
];

/// An upper estimate of the width of a line of text, in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let thousandths: f64 = text
        .chars()
        .map(|character| match character {
            // Combining marks stand on the letter before.
            '\u{300}'..='\u{36f}' => 0.0,
            _ => (character as usize).checked_sub(32).and_then(|at| WIDTHS.get(at)).map_or(640.0, |&w| f64::from(w)),
        })
        .sum();
    thousandths * size / 1000.0
}

/// Semibold text is a little wider.
pub(crate) fn bold_width(text: &str, size: f64) -> f64 {
    1.07 * width(text, size)
}

/// Breaks text into lines no wider than `limit` where there are spaces. A line break in the text stays one.
pub(crate) fn wrap(text: &str, limit: f64, measure: impl Fn(&str) -> f64) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if line.is_empty() || measure(&longer) <= limit {
                line = longer;
            } else {
                lines.push(std::mem::replace(&mut line, word.to_owned()));
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
    }
    lines
}

/// Text as XML: markup escaped, characters that XML forbids left out.
pub(crate) fn xml_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            other if other.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}
