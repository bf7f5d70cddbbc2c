//! Pictures of reviews of drawn logs: every shape of document, rule and answer.

use rarely_core::{Arm, Rng, Rule, Thresholds};
use rarely_plot::{Direction, Figure, Mark};
use rarely_policy::{FeatureKind, PolicyDocument};
use rarely_report::{Picture, pictures};
use rarely_review::{EvidenceBase, Review, Tally, Verdict, review};

/// A document, what is true of it, and how its log was made.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) document: PolicyDocument,
    /// The options' parameters of the reward, in context coordinates.
    truth: Vec<Vec<f64>>,
    rows: u64,
    /// Whether the log's options are drawn by lot; if not, the rule gave them.
    by_lot: bool,
}

impl Case {
    fn new(name: &'static str, text: &str, truth: &[&[f64]], rows: u64) -> Self {
        let document = PolicyDocument::parse(text, name).expect("a document");
        let truth = truth.iter().map(|option| option.to_vec()).collect();
        Self { name, document, truth, rows, by_lot: true }
    }

    pub(crate) fn tally(&self) -> Tally {
        let mut rng = Rng::new(7, 0);
        let rule = Rule::new(self.document.rule().parameters(&self.document));
        let mut tally = Tally::new(&self.document);
        for row in 0..self.rows {
            let context = person(&self.document, &mut rng);
            let drawn = Arm::new(rng.below(self.truth.len()));
            let fitting = rarely_core::Context::new(&context).expect("a context");
            let arm = if self.by_lot { drawn } else { rule.choose(fitting).expect("it fits") };
            let mean: f64 = self.truth[arm.index()].iter().zip(&context).map(|(a, b)| a * b).sum();
            tally.add(row, &context, arm, mean + self.document.noise().expect("declared") * rng.normal());
        }
        tally
    }

    /// The base and the review.
    pub(crate) fn reviewed(&self) -> (EvidenceBase<'_>, Review) {
        let tally = self.tally();
        let base = EvidenceBase::of(&self.document, &tally, None).expect("it fits");
        let found = review(&base, &tally).expect("it runs");
        (base, found)
    }
}

/// Numbers about the middle of their range, levels drawn alike.
fn person(document: &PolicyDocument, rng: &mut Rng) -> Vec<f64> {
    let mut context: Vec<f64> = document.has_intercept().then_some(1.0).into_iter().collect();
    for feature in document.features() {
        match &feature.kind {
            FeatureKind::Numeric { .. } => context.push(0.5 * (rng.uniform() + rng.uniform())),
            FeatureKind::Levels(levels) => {
                let level = rng.below(levels.len());
                context.extend((1..levels.len()).map(|at| f64::from(u8::from(at == level))));
            }
        }
    }
    context
}

const SYSTOLIC: &str = "[[features]]\ncolumn = \"systolic\"\nunit = \"mmHg\"\nrange = [80, 220]\n";
const AGE: &str = "[[features]]\ncolumn = \"age\"\nunit = \"years\"\nrange = [40, 90]\n";
const DIABETIC: &str = "[[features]]\ncolumn = \"diabetic\"\nlevels = [\"no\", \"yes\"]\n";
const SMOKES: &str = "[[features]]\ncolumn = \"smokes\"\nlevels = [\"never\", \"formerly\", \"now\"]\n";
const SHOP: &str = "policy = \"discount\"\noptions = [\"none\", \"five per cent\", \"ten per cent\"]\noutcome = { column = \"margin\", range = [-20, 60] }\n\
    [evidence]\nnoise = 5.0\nnorm_bound = 80.0\nerror_probability = 0.01\n\
    [[features]]\ncolumn = \"basket\"\nunit = \"EUR\"\nrange = [0, 200]\n\
    [[features]]\ncolumn = \"visits\"\nunit = \"a month\"\nrange = [0, 20]\n\
    [[features]]\ncolumn = \"tenure\"\nunit = \"years\"\nrange = [0, 10]\n\
    [[features]]\ncolumn = \"channel\"\nlevels = [\"shop\", \"web\", \"app\"]\n";

fn clinic(features: &str, outcome: &str, rule: &str) -> String {
    format!(
        "policy = \"hypertension-treatment\"\noptions = [\"watch\", \"treat\"]\noutcome = {{ column = \"wellbeing\", range = [-1.0, 2.0]{outcome} }}\n\
         [evidence]\nnoise = 0.1\nnorm_bound = 2.0\nerror_probability = 0.01\n{features}[rule]\n{rule}\n"
    )
}

fn cut(at: f64) -> String {
    format!("threshold = {{ feature = \"systolic\", cuts = [{at}], options = [\"watch\", \"treat\"] }}")
}

/// One of each kind.
pub(crate) fn cases() -> Vec<Case> {
    let one: [&[f64]; 2] = [&[0.6, 0.0], &[0.2, 0.6]];
    let lower: [&[f64]; 2] = [&[-0.4, -0.6], &[-0.8, 0.1]];
    let two: [&[f64]; 2] = [&[0.6, 0.0, 0.0], &[0.0, 0.6, 0.5]];
    let levels: [&[f64]; 2] = [&[0.6, 0.0, 0.0], &[0.1, 0.6, 0.25]];
    let smokers: [&[f64]; 2] = [&[0.6, 0.0, 0.0, 0.0], &[0.1, 0.2, 0.4, 0.6]];
    let everyone = "threshold = { feature = \"systolic\", cuts = [], options = [\"watch\"] }";
    let three = "policy = \"dose\"\noptions = [\"low\", \"middle\", \"high\"]\noutcome = { column = \"relief\", range = [0, 10] }\n\
        [evidence]\nnoise = 0.8\nnorm_bound = 15\nerror_probability = 0.01\n\
        [[features]]\ncolumn = \"weight\"\nunit = \"kg\"\nrange = [40, 140]\n\
        [rule]\nthreshold = { feature = \"weight\", cuts = [60, 100], options = [\"low\", \"middle\", \"high\"] }";
    let sum = "score = { coefficients = { systolic = 1, age = 1 }, cuts = [180], options = [\"watch\", \"treat\"] }";
    let prices: [&[f64]; 3] =
        [&[20.0, 10.0, 0.0, 5.0, 0.0, 0.0], &[14.0, 20.0, 4.0, 5.0, 2.0, 1.0], &[4.0, 34.0, 8.0, 5.0, 4.0, 2.0]];
    let ladder = "[rule]\nscore = { coefficients = { basket = 1, visits = 3, channel = { web = 10, app = 5 } }, cuts = [60, 120], \
        options = [\"none\", \"five per cent\", \"ten per cent\"] }";
    let lines = "[rule]\n[rule.linear]\n\"none\" = { intercept = 20 }\n\"five per cent\" = { intercept = 10, basket = 0.1 }\n\
        \"ten per cent\" = { intercept = 0, basket = 0.15, visits = 0.2 }\n";
    let all_none = "[rule]\nscore = { coefficients = { basket = 1 }, cuts = [], options = [\"none\"] }";
    let wide: [&[f64]; 2] = [&[0.6, 0.0, 0.0, 0.0], &[0.1, 0.6, 0.25, 0.05]];
    let all = format!("{SYSTOLIC}{AGE}{DIABETIC}");
    let clinical = |name, rows, at: f64| Case::new(name, &clinic(SYSTOLIC, "", &cut(at)), &one, rows);
    let linear = "[rule.linear]\nwatch = { intercept = 0.1 }\ntreat = { systolic = 0.001 }";
    vec![
        clinical("change", 5000, 140.0),
        clinical("keep", 5000, 173.0),
        clinical("cannot-tell", 12, 140.0),
        Case { by_lot: false, ..clinical("stuck", 3000, 140.0) },
        Case::new("everyone", &clinic(SYSTOLIC, "", everyone), &one, 4000),
        Case::new("lower", &clinic(SYSTOLIC, ", better = \"lower\"", &cut(110.0)), &lower, 4000),
        Case::new("lower-linear", &clinic(SYSTOLIC, ", better = \"lower\"", linear), &lower, 4000),
        Case::new("three", three, &[&[5.0, -2.0], &[4.0, 1.0], &[2.0, 4.0]], 6000),
        Case::new("plane", &clinic(&format!("{SYSTOLIC}{AGE}"), "", sum), &two, 6000),
        Case::new("plane-few", &clinic(&format!("{SYSTOLIC}{AGE}"), "", &cut(140.0)), &two, 300),
        Case::new("levels", &clinic(&format!("{SYSTOLIC}{DIABETIC}"), "", &cut(140.0)), &levels, 6000),
        Case::new("levels-first", &clinic(&format!("{SMOKES}{SYSTOLIC}"), "", &cut(150.0)), &smokers, 6000),
        Case::new("wide", &clinic(&all, "", &cut(140.0)), &wide, 6000),
        Case::new("shop", &format!("{SHOP}{ladder}"), &prices, 40_000),
        Case::new("shop-linear", &format!("{SHOP}{lines}"), &prices, 8000),
        Case::new("shop-everyone", &format!("{SHOP}{all_none}"), &prices, 8000),
    ]
}

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
        let expected: &[&str] =
            if found.judgement.proposal.is_some() { &[first, "gain", "estimates"] } else { &[first, "estimates"] };
        if !case.name.starts_with("shop") {
            assert_eq!(names(&drawn), expected, "{}", case.name);
        }
        let (base, found) = case.reviewed();
        for (one, other) in drawn.iter().zip(pictures(&base, &found)) {
            let svg = one.figure.svg();
            assert_eq!(svg, other.figure.svg(), "{} {}", case.name, one.name);
            rarely_plot::conformance::check(&format!("{} {}", case.name, one.name), &one.figure);
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
