//! Labels at the ends of lines.

use rarely_plot::conformance::{DrawnWords, words};
use rarely_plot::{Axis, Colour, Figure, Mark, Panel, Style};

#[test]
fn many_lines_that_end_together_have_labels_apart() {
    let names: Vec<String> = (0..30).map(|at| format!("a series with a long name {at}")).collect();
    let marks = names
        .iter()
        .map(|name| Mark::line(name, Style::solid(Colour::VERMILION), vec![(0.0, 1.0), (1.0, 1.0)]))
        .collect();
    let panel = Panel { x: Axis::linear("x"), y: Axis::linear("y"), marks, ..Panel::default() };
    let figure = Figure { panels: vec![panel], ..Figure::default() };
    let (words, (width, height)) = words(&figure.svg());
    let mut labels: Vec<&DrawnWords> = words.iter().filter(|words| words.text.starts_with("a series")).collect();
    assert_eq!(labels.len(), 30);
    assert!(labels.iter().all(|label| label.right < width && label.bottom < height && label.top > 0.0));
    labels.sort_by(|a, b| a.top.total_cmp(&b.top));
    assert!(labels.windows(2).all(|pair| pair[1].top - pair[0].top >= 13.9));
}
