//! Where axes begin, and their ticks.

use rarely_plot::{Axis, Figure, Mark, Panel, Style};

fn has_tick(svg: &str, label: &str) -> bool {
    svg.contains(&format!(">{label}</text>"))
}

#[test]
fn linear_axes_begin_at_zero_and_logarithmic_ones_have_decades() {
    let draw = |axis: Axis, low: f64, high: f64| {
        let marks = vec![Mark::line("", Style::default(), vec![(1.0, low), (2.0, high)])];
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
