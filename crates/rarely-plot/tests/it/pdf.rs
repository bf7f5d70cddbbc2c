//! Figures as PDF.

use miniz_oxide::inflate::decompress_to_vec_zlib;

use crate::gallery;

#[test]
fn a_pdf_is_one_page_of_vectors() {
    for (name, figure) in gallery() {
        let file = figure.pdf().expect("it is drawn");
        assert_eq!(file, figure.pdf().expect("it is drawn"), "{name}: the same bytes for the same figure");
        check(name, &file);
    }
}

fn check(name: &str, file: &[u8]) {
    // Only the contents are compressed; the rest is text.
    let text: String = file.iter().map(|&byte| char::from(byte)).collect();
    let bytes = |place: usize| text.char_indices().nth(place).map_or("", |(at, _)| &text[at..]);
    assert!(text.starts_with("%PDF-1.4\n") && text.ends_with("%%EOF\n"), "{name}");
    assert_eq!(text.matches("/Type /Page ").count(), 1, "{name}");
    // The table at the end says where each object begins.
    let table: usize = text.lines().rev().nth(1).expect("a line").parse().expect("a place");
    assert!(bytes(table).starts_with("xref\n0 6\n"), "{name}");
    for (number, line) in bytes(table).lines().skip(3).take(5).enumerate() {
        let place: usize = line[..10].parse().expect("a place");
        assert!(bytes(place).starts_with(&format!("{} 0 obj\n", number + 1)), "{name}: {line}");
    }
    let marker = b"stream\n";
    let start = file.windows(marker.len()).position(|part| part == marker).expect("a stream") + marker.len();
    let length = text.split("/Length ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a length");
    let length: usize = length.parse().expect("a number");
    assert!(file[start + length..].starts_with(b"\nendstream"), "{name}");
    let drawn = decompress_to_vec_zlib(&file[start..start + length]).expect("what was compressed");
    let drawn = String::from_utf8(drawn).expect("text");
    assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{name}");
    assert_eq!(
        drawn.lines().filter(|line| *line == "q").count(),
        drawn.lines().filter(|line| *line == "Q").count(),
        "{name}"
    );
    assert!(drawn.lines().filter(|line| line.ends_with(" l")).count() > 10, "{name} has lines");
}
