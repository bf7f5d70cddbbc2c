//! Pictures of reviews of drawn logs: every shape of document, rule and answer.

#[path = "../../examples/drawn_reviews/cases.rs"]
pub(crate) mod cases;

use rarely_core::Thresholds;
use rarely_plot::{Direction, Figure, Mark};
use rarely_report::{Picture, pictures};
use rarely_review::Verdict;

use self::cases::{Case, cases};

fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).expect("a case")
}

fn drawn(name: &str) -> (Verdict, Vec<Picture>) {
    let case = case(name);
    let (base, found) = case.reviewed();
    (found.judgement.verdict, pictures(&base, &found))
}

fn rules(figure: &Figure, start: &str) -> Vec<f64> {
    let marks = figure.panels.iter().flat_map(|panel| &panel.marks);
    let rules = marks.filter_map(|mark| match mark {
        Mark::Rule { direction: Direction::Vertical, at, label, .. } if label.starts_with(start) => Some(*at),
        _ => None,
    });
    rules.collect()
}

fn areas(figure: &Figure, wanted: &str) -> Vec<Vec<(f64, f64)>> {
    let marks = figure.panels.iter().flat_map(|panel| &panel.marks);
    let areas = marks.filter_map(|mark| match mark {
        Mark::Area { name, outline, .. } if name == wanted => Some(outline.clone()),
        _ => None,
    });
    areas.collect()
}

fn size(outline: &[(f64, f64)]) -> f64 {
    let next = outline.iter().cycle().skip(1);
    0.5 * outline.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum::<f64>().abs()
}

#[test]
fn every_review_has_its_pictures_and_the_same_bytes_each_time() {
    for case in cases() {
        let names = |pictures: &[Picture]| pictures.iter().map(|picture| picture.name).collect::<Vec<_>>();
        let (base, found) = case.reviewed();
        let drawn = pictures(&base, &found);
        let first = match case.name {
            "wide" | "shop" => "score-distribution",
            "shop-linear" | "shop-everyone" => "option-shares",
            _ => "decision-boundary",
        };
        let mut expected = vec![first];
        expected.extend((case.document.features().len() > 1).then_some("observed-outcomes"));
        expected.extend(found.judgement.proposal.as_ref().map(|_| "gain"));
        expected.extend((case.name == "propensities").then_some("overlap"));
        expected.push("estimates");
        // Whether a shop's proposal has a score depends on the log.
        let skipped = usize::from(case.name.starts_with("shop"));
        assert_eq!(names(&drawn)[skipped..], expected[skipped..], "{}", case.name);
        let (base, found) = case.reviewed();
        for (one, other) in drawn.iter().zip(pictures(&base, &found)) {
            let svg = one.figure.svg();
            assert_eq!(svg, other.figure.svg(), "{} {}", case.name, one.name);
            let name = format!("{} {}", case.name, one.name);
            rarely_plot::conformance::check(&name, &one.figure);
            rarely_plot::conformance::check_within(&name, &one.figure, 800.0);
            rarely_plot::conformance::check_within(&name, &one.figure, 358.0);
            assert!(!svg.contains("NaN") && !svg.contains("no data"), "{} {}", case.name, one.name);
            assert!(!one.caption.is_empty() && !one.title.is_empty());
        }
    }
}

#[test]
fn the_cuts_are_the_rules_in_the_owners_units() {
    let (verdict, pictures) = drawn("change");
    assert_eq!(verdict, Verdict::Change);
    let in_force = rules(&pictures[0].figure, "in force");
    assert!(in_force.len() == 1 && (in_force[0] - 140.0).abs() < 1e-6, "{in_force:?}");
    let proposed = rules(&pictures[0].figure, "proposed");
    assert!(proposed.len() == 1 && (proposed[0] - 173.33).abs() < 20.0, "{proposed:?}");
    let (verdict, pictures) = drawn("keep");
    assert_eq!(verdict, Verdict::Keep);
    assert!(rules(&pictures[0].figure, "proposed").is_empty());
    let (_, pictures) = drawn("everyone");
    assert!(rules(&pictures[0].figure, "in force").is_empty(), "a rule that treats all alike has no cut");
}

#[test]
fn every_shape_of_plausible_thresholds_is_shaded_within_the_range() {
    let case = case("change");
    let (base, found) = case.reviewed();
    let shapes = [
        (Thresholds::Between { low: 150.0, high: 170.0 }, vec![(150.0, 170.0)]),
        (Thresholds::Between { low: 10.0, high: 170.0 }, vec![(80.0, 170.0)]),
        (Thresholds::AtMost { high: 100.0 }, vec![(80.0, 100.0)]),
        (Thresholds::AtLeast { low: 200.0 }, vec![(200.0, 220.0)]),
        (Thresholds::AtLeast { low: 300.0 }, vec![]),
        (Thresholds::Outside { low: 90.0, high: 210.0 }, vec![(80.0, 90.0), (210.0, 220.0)]),
        (Thresholds::Everything, vec![(80.0, 220.0)]),
        (Thresholds::Nothing, vec![]),
    ];
    for (shape, expected) in shapes {
        let mut changed = found.clone();
        changed.judgement.standing.boundaries[0].interval = Some(shape);
        let figure = &pictures(&base, &changed)[0].figure;
        let shaded: Vec<(f64, f64)> =
            areas(figure, "cuts that the data allow").iter().map(|outline| (outline[0].0, outline[1].0)).collect();
        assert_eq!(shaded, expected, "{shape:?}");
        figure.svg();
    }
}

#[test]
fn where_lower_is_better_the_outcome_is_drawn_and_not_the_reward() {
    let (_, pictures) = drawn("lower");
    let Mark::Line { name, points, .. } =
        pictures[0].figure.panels[0].marks.iter().find(|mark| matches!(mark, Mark::Line { .. })).expect("a line")
    else {
        panic!("a line")
    };
    // Watch's reward is −0.4 − 0.6·x, so its outcome rises from 0.4 to 1.
    assert_eq!(name, "watch");
    assert!((points[0].1 - 0.4).abs() < 0.05 && (points[points.len() - 1].1 - 1.0).abs() < 0.05, "{points:?}");
}

#[test]
fn the_regions_of_the_plane_fill_it_and_meet_at_the_boundary() {
    let (_, pictures) = drawn("plane");
    let figure = &pictures[0].figure;
    let regions: Vec<_> = ["watch now", "treat now"].iter().flat_map(|name| areas(figure, name)).collect();
    let whole = 140.0 * 50.0;
    assert!((regions.iter().map(|region| size(region)).sum::<f64>() - whole).abs() < 1e-6 * whole);
    let line = figure.panels[0].marks.iter().find_map(|mark| match mark {
        Mark::Line { name, points, .. } if name == "boundary in force" => Some(points.clone()),
        _ => None,
    });
    for (systolic, age) in line.expect("there is a boundary") {
        assert!((systolic + age - 180.0).abs() < 1e-6);
    }
    let open: f64 = areas(figure, "more than one option is plausible").iter().map(|part| size(part)).sum();
    assert!(open > 0.0 && open < whole);
}

#[test]
fn histograms_count_everyone_once() {
    let (_, pictures) = drawn("wide");
    let figure = &pictures[0].figure;
    let panel = &figure.panels[0];
    let (low, high) = panel.x.range.expect("fixed ends");
    let one = Figure { panels: vec![panel.clone()], ..figure.clone() };
    let sum: f64 =
        ["watch now", "treat now"].iter().flat_map(|name| areas(&one, name)).map(|outline| size(&outline)).sum();
    assert!((sum - 100.0 * (high - low) / 48.0).abs() < 1e-6, "{sum}");
}
