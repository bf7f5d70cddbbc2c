//! Laws of the grammar: whatever the numbers, the drawing has only numbers in it.

use rarely_core::{Algorithm, Rng};
use rarely_plot::{Axis, Bar, Figure, Legend, Mark, Panel, Point, Scale, Style, style_of, value_text};

#[test]
fn no_two_algorithms_look_the_same() {
    let styles: Vec<Style> = Algorithm::TABLE.iter().map(|row| style_of(row.name)).collect();
    for (at, one) in styles.iter().enumerate() {
        for other in &styles[at + 1..] {
            assert!((one.colour, one.dash) != (other.colour, other.dash), "{one:?}");
        }
    }
    let widest = styles.iter().fold(0.0_f64, |most, style| most.max(style.width));
    assert_eq!(style_of("rarely").width, widest);
}

#[test]
fn values_have_three_digits() {
    let check = |value: f64, expected: &str| assert_eq!(value_text(value), expected);
    check(0.0, "0");
    check(2.3, "2.3");
    check(9.999, "10");
    check(0.099_96, "0.1");
    check(-0.5, "−0.5");
    check(1234.0, "1,234");
    check(1e-9, "10⁻⁹");
    check(2.5e7, "2.5×10⁷");
    check(f64::NAN, "–");
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
    let style = style_of("rarely");
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

#[test]
fn a_panel_without_numbers_says_so() {
    let empty = Figure { panels: vec![Panel::default()], ..Figure::default() };
    assert!(empty.svg().contains("no data"));
    let marks = vec![Mark::line("line", style_of("greedy"), vec![(f64::NAN, 1.0)])];
    let unknown = Figure { panels: vec![Panel { marks, ..Panel::default() }], ..Figure::default() };
    assert!(unknown.svg().contains("no data"));
}

fn has_tick(svg: &str, label: &str) -> bool {
    svg.contains(&format!(">{label}</text>"))
}

#[test]
fn linear_axes_begin_at_zero_and_logarithmic_ones_have_decades() {
    let draw = |axis: Axis, low: f64, high: f64| {
        let marks = vec![Mark::line("", style_of("greedy"), vec![(1.0, low), (2.0, high)])];
        Figure { panels: vec![Panel { x: Axis::linear(""), y: axis, marks, ..Panel::default() }], ..Figure::default() }
            .svg()
    };
    assert!(has_tick(&draw(Axis::linear(""), 80.0, 100.0), "0"));
    assert!(has_tick(&draw(Axis::linear(""), -3.0, 5.0), "−2"));
    for label in ["0.001", "0.01", "0.1", "1", "10", "100"] {
        assert!(has_tick(&draw(Axis::log(""), 0.0009, 200.0), label), "{label}");
    }
    let narrow = draw(Axis::log(""), 0.0013, 0.0061);
    assert!(has_tick(&narrow, "0.002") && has_tick(&narrow, "0.005"));
}
