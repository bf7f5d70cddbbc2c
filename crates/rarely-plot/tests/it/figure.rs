//! Figures as SVG: well formed, the same each time, and without NaN.

use rarely_core::Rng;
use rarely_plot::conformance::check;
use rarely_plot::{Axis, Bar, Colour, Figure, Legend, Mark, Panel, Point, Scale, Style};
use resvg::usvg::roxmltree;

use crate::gallery;

#[test]
fn every_figure_passes_the_checks() {
    for (name, figure) in gallery() {
        check(name, &figure);
    }
}

#[test]
fn the_same_figure_is_the_same_bytes() {
    for ((name, first), (_, second)) in gallery().into_iter().zip(gallery()) {
        assert_eq!(first.svg(), second.svg(), "{name}");
    }
    let (_, figure) = gallery().swap_remove(0);
    assert_eq!(figure.png(1.0).unwrap(), figure.png(1.0).unwrap());
}

#[test]
fn words_are_escaped() {
    let title = "a < b & \"c\" > d \u{1}";
    let figure = Figure { title: title.into(), note: Some("<script>".into()), ..Figure::default() };
    let svg = figure.svg();
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert_eq!(document.root_element().attribute("aria-label"), Some("a < b & \"c\" > d "));
    assert!(!svg.contains("<script>"));
}

#[test]
fn a_panel_without_numbers_says_so() {
    let empty = Figure { panels: vec![Panel::default()], ..Figure::default() };
    assert!(empty.svg().contains("no data"));
    let marks = vec![Mark::line("line", Style::default(), vec![(f64::NAN, 1.0)])];
    let unknown = Figure { panels: vec![Panel { marks, ..Panel::default() }], ..Figure::default() };
    assert!(unknown.svg().contains("no data"));
}

/// Numbers that break careless code, and ordinary ones.
fn number(rng: &mut Rng) -> f64 {
    const BAD: [f64; 12] = [
        0.0,
        -0.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        1e-300,
        -1e300,
        1.0,
    ];
    match rng.below(3) {
        0 => BAD[rng.below(BAD.len())],
        1 => rng.normal(),
        _ => 10.0_f64.powf(20.0 * rng.normal()),
    }
}

fn pair(rng: &mut Rng) -> (f64, f64) {
    (number(rng), number(rng))
}

fn mark(rng: &mut Rng) -> Mark {
    let style = Style::solid(Colour::VERMILION);
    let points: Vec<(f64, f64)> = (0..rng.below(9)).map(|_| pair(rng)).collect();
    match rng.below(8) {
        0 => Mark::line("line", style, points),
        1 => {
            let band = points.iter().map(|_| pair(rng)).collect();
            Mark::Line { name: "banded".into(), style, points, band: Some(band) }
        }
        2 => Mark::Bars { bars: points.iter().map(|&(a, b)| Bar::new("bar", style, a).between(b, a)).collect() },
        3 => {
            let point = |&(x, y): &(f64, f64)| Point::new(x, y).labelled("point").x_between(y, x).y_between(x, y);
            Mark::Points { name: "points".into(), style, points: points.iter().map(point).collect() }
        }
        4 => Mark::Step { name: "stairs".into(), style, points },
        5 => Mark::Area { name: "area".into(), style, outline: points },
        6 => Mark::Arrow { from: pair(rng), to: pair(rng), style },
        _ => Mark::vertical("rule", style, number(rng)),
    }
}

#[test]
fn bad_numbers_never_reach_the_drawing() {
    let mut rng = Rng::new(2026, 0);
    for round in 0..400 {
        let mut axis = || Axis {
            scale: if rng.below(2) == 0 { Scale::Linear } else { Scale::Log },
            range: (rng.below(3) == 0).then(|| pair(&mut rng)),
            ..Axis::linear("axis")
        };
        let (x, y) = (axis(), axis());
        let marks = (0..rng.below(5)).map(|_| mark(&mut rng)).collect();
        let legend = [Legend::LineEnds, Legend::Below, Legend::None][rng.below(3)];
        let figure = Figure { panels: vec![Panel { x, y, marks, ..Panel::default() }], legend, ..Figure::default() };
        let svg = figure.svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "round {round}: {figure:?}");
        assert!(svg.len() < 200_000, "round {round}: {} bytes", svg.len());
    }
}
