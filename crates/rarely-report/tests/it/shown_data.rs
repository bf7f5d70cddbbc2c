//! What pictures show of the data: points where they belong, nothing beyond an axis or the outcome's range, one colour for an option.

use rarely_plot::{Colour, Mark, Panel, Point, style_of_arm};
use rarely_report::pictures;
use rarely_review::{Bands, EvidenceBase, Tally, review};

use crate::pictures::cases::{Case, cases};

fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).expect("a case")
}

/// The points of an option in a panel, by its colour.
fn points(panel: &Panel, option: usize) -> Vec<&Point> {
    let of_option = panel.marks.iter().filter_map(|mark| match mark {
        Mark::Points { style, points, .. } if style.colour == style_of_arm(option).colour => Some(points),
        _ => None,
    });
    of_option.flatten().collect()
}

#[test]
fn points_are_the_means_of_the_rows_of_each_band() {
    for name in ["change", "lower", "yes-or-no", "stuck", "five"] {
        let case = case(name);
        let bands = Bands::of(&case.document);
        let options = case.document.options().len();
        let mut rows: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); bands.all().len()]; options];
        case.each_row(|row| {
            let band = bands.of_person(row.context).next().expect("a band");
            rows[row.arm.index()][band].push(case.document.outcome_sign() * row.reward);
        });
        let (base, found) = case.reviewed();
        let panel = &pictures(&base, &found)[0].figure.panels[0];
        for (option, bands) in rows.iter().enumerate() {
            let tried: Vec<&Vec<f64>> = bands.iter().filter(|rows| !rows.is_empty()).collect();
            let drawn = points(panel, option);
            assert_eq!(drawn.len(), tried.len(), "{name}: a point for each band with cases");
            for (point, rows) in drawn.iter().zip(tried) {
                let mean = rows.iter().sum::<f64>() / rows.len() as f64;
                assert!((point.y - mean).abs() < 1e-6, "{name}: {} instead of {mean}", point.y);
                assert_eq!(point.y_interval.is_some(), rows.len() > 1, "{name}");
                if let Some((low, high)) = point.y_interval {
                    assert!(
                        low <= mean && mean <= high && (rows.len() < 20 || high - low < 1.0),
                        "{name}: {low} {high}"
                    );
                }
            }
        }
    }
}

#[test]
fn where_an_option_was_never_tried_is_shaded_and_named() {
    // The rule gave "treat" from 140 on only, so that "watch" was never tried above it.
    let case = case("stuck");
    let (base, found) = case.reviewed();
    let panel = &pictures(&base, &found)[0].figure.panels[0];
    let shaded = panel.marks.iter().filter_map(|mark| match mark {
        Mark::Area { name, outline, .. } if name.contains("never tried") => Some((outline[0].0, outline[1].0)),
        _ => None,
    });
    assert_eq!(shaded.collect::<Vec<_>>(), [(140.0, 220.0), (80.0, 140.0)]);
    let lines = panel.marks.iter().filter_map(|mark| match mark {
        Mark::Line { style, points, .. } => Some((style.dash, points[0].0, points[points.len() - 1].0)),
        _ => None,
    });
    let dotted: Vec<(f64, f64)> =
        lines.filter(|line| line.0 == rarely_plot::Dash::Dotted).map(|line| (line.1, line.2)).collect();
    assert!((dotted[0].0 - 140.0).abs() < 1e-6 && (dotted[1].1 - 140.0).abs() < 1e-6, "{dotted:?}");
}

/// The numbers that a mark needs on each axis.
fn numbers(mark: &Mark) -> (Vec<f64>, Vec<f64>) {
    match mark {
        Mark::Line { points, band, .. } => {
            let ends = band.iter().flatten().flat_map(|&(low, high)| [low, high]);
            (points.iter().map(|point| point.0).collect(), points.iter().map(|point| point.1).chain(ends).collect())
        }
        Mark::Area { outline, .. } => outline.iter().copied().unzip(),
        Mark::Points { points, .. } => {
            let ends = |interval: Option<(f64, f64)>| interval.into_iter().flat_map(|(low, high)| [low, high]);
            let across = points.iter().flat_map(|point| std::iter::once(point.x).chain(ends(point.x_interval)));
            let up = points.iter().flat_map(|point| std::iter::once(point.y).chain(ends(point.y_interval)));
            (across.collect(), up.collect())
        }
        _ => (Vec::new(), Vec::new()),
    }
}

#[test]
fn nothing_is_drawn_beyond_an_axis_or_the_range_of_the_outcome() {
    for case in cases() {
        let (base, found) = case.reviewed();
        let range = case.document.outcome().range.expect("declared");
        for picture in pictures(&base, &found) {
            for panel in &picture.figure.panels {
                for mark in &panel.marks {
                    let (across, up) = numbers(mark);
                    for (axis, numbers) in [(&panel.x, across), (&panel.y, up)] {
                        let Some((low, high)) = axis.range else { continue };
                        let hair = 1e-6 * (high - low);
                        let inside = |number: &&f64| number.is_nan() || (low - hair..=high + hair).contains(*number);
                        let outside = numbers.iter().find(|number| !inside(number));
                        assert_eq!(outside, None, "{} {}: beyond {low} to {high}: {mark:?}", case.name, picture.name);
                    }
                }
                // Labels that are numbers of the outcome; those of rows are names.
                let of_outcome = |label: &str| label.starts_with(&case.document.outcome().column);
                for axis in [&panel.x, &panel.y].into_iter().filter(|axis| of_outcome(&axis.label)) {
                    let ticks = axis.ticks.iter().flatten().map(|(at, label)| (*at, label));
                    for (at, label) in ticks.filter(|(_, label)| label.replace('−', "-").parse::<f64>().is_ok()) {
                        assert!((range.0..=range.1).contains(&at), "{} {}: {label}", case.name, picture.name);
                    }
                    let ends = axis.range.expect("fixed");
                    let named = axis.ticks.is_some();
                    assert!((named || ends.0 >= range.0) && ends.1 <= range.1, "{} {}", case.name, picture.name);
                }
            }
        }
    }
}

#[test]
fn an_option_has_one_colour_everywhere_and_no_other_thing_has_it() {
    for case in cases() {
        let (base, found) = case.reviewed();
        let options = case.document.options();
        let colour_of = |name: &str| {
            let option = options.iter().position(|option| {
                [option.clone(), format!("{option} now"), format!("got {option}")].contains(&name.to_owned())
            });
            option.map(|option| style_of_arm(option).colour)
        };
        let colours: Vec<Colour> = (0..options.len()).map(|option| style_of_arm(option).colour).collect();
        for picture in pictures(&base, &found) {
            for mark in picture.figure.panels.iter().flat_map(|panel| &panel.marks) {
                let named = match mark {
                    Mark::Line { name, style, .. } | Mark::Area { name, style, .. } => vec![(name.as_str(), style)],
                    Mark::Bars { bars } => bars.iter().map(|bar| (bar.name.as_str(), &bar.style)).collect(),
                    Mark::Rule { label, style, .. } => vec![(label.as_str(), style)],
                    _ => Vec::new(),
                };
                for (name, style) in named.into_iter().filter(|(name, _)| !name.is_empty()) {
                    match colour_of(name) {
                        Some(colour) => assert_eq!(style.colour, colour, "{} {}: {name}", case.name, picture.name),
                        None => assert!(!colours.contains(&style.colour), "{} {}: {name}", case.name, picture.name),
                    }
                }
            }
        }
    }
}

/// All points of all pictures.
fn all_points(case: &Case, tally: &Tally) -> Vec<Point> {
    let base = EvidenceBase::of(&case.document, tally, None).expect("it fits");
    let found = review(&base, tally).expect("it runs");
    let drawn = pictures(&base, &found);
    let panels = drawn.iter().filter(|picture| picture.name != "estimates").flat_map(|picture| &picture.figure.panels);
    let marks = panels.flat_map(|panel| &panel.marks).filter_map(|mark| match mark {
        Mark::Points { points, name, .. } if name.is_empty() => Some(points.clone()),
        _ => None,
    });
    marks.flatten().collect()
}

#[test]
fn saved_and_merged_states_show_the_same_data() {
    for name in ["change", "levels", "shop"] {
        let case = case(name);
        let tally = case.tally();
        let expected = all_points(&case, &tally);
        assert!(expected.len() > 10, "{name}");
        let saved = Tally::from_text(&tally.to_text().expect("text")).expect("the same");
        assert!(all_points(&case, &saved.revive(&case.document).expect("of this document")) == expected, "{name}");
        let (mut first, mut second) = (Tally::new(&case.document), Tally::new(&case.document));
        let mut number = 0_u64;
        case.each_row(|row| {
            number += 1;
            if number <= 1000 { first.add_row(row) } else { second.add_row(row) }
        });
        first.merge(&second).expect("of one document");
        assert!(all_points(&case, &first) == expected, "{name}");
    }
}
