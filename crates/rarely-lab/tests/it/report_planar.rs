//! The pictures of real state show what the core says.

use rarely_core::{Algorithm, Context, Parameters, Policy, Rng, Sets, Settings, Shape, Thresholds};
use rarely_lab::report::{ConeState, ThresholdState, cone_picture, threshold_picture};
use rarely_plot::{Direction, Figure, Mark};

#[path = "../../examples/planar/state.rs"]
mod state;

#[test]
fn pictures_of_simulated_policies_pass_the_checks() {
    for (name, figure) in state::simulated().expect("the simulations run") {
        rarely_plot::conformance::check(name, &figure);
    }
}

fn learned(truth: &Parameters, rounds: u32) -> Box<dyn Policy> {
    let settings = Settings::new(truth.shape().arms(), truth.shape().dimension()).unwrap();
    let settings = settings.noise(0.1).unwrap().norm_bound(3.0).unwrap().explore(20, 0.2).unwrap();
    let mut policy = settings.algorithm(Algorithm::BoundaryConservative).sets(Sets::Joint).build().unwrap();
    let mut rng = Rng::new(4, 4);
    for _ in 0..rounds {
        let values: Vec<f64> =
            (0..truth.shape().dimension()).map(|at| if at == 0 { 1.0 } else { rng.uniform() }).collect();
        let context = Context::new(&values).unwrap();
        let decision = policy.decide(context, &mut rng).unwrap();
        let mean: f64 = truth.arm(decision.arm.index()).iter().zip(&values).map(|(a, b)| a * b).sum();
        let _ = policy.observe(context, &decision, mean + 0.1 * rng.normal()).unwrap();
    }
    policy
}

fn rules(figure: &Figure, wanted: &str) -> Vec<f64> {
    let marks = figure.panels[0].marks.iter();
    let rules = marks.filter_map(|mark| match mark {
        Mark::Rule { direction: Direction::Vertical, at, label, .. } if label == wanted => Some(*at),
        _ => None,
    });
    rules.collect()
}

fn threshold<'a>(policy: &'a dyn Policy, deployed: &'a Parameters, truth: &'a Parameters) -> ThresholdState<'a> {
    ThresholdState {
        set: policy.learner().unwrap().set(),
        deployed,
        before: None,
        truth: Some(truth),
        range: (0.0, 1.0),
        variable: "x".into(),
        outcome: "y".into(),
        arms: Vec::new(),
    }
}

#[test]
fn the_grey_area_is_the_cores_interval_and_the_rules_are_the_cutoffs() {
    let truth = Parameters::new(Shape::new(2, 2).unwrap(), vec![1.0, -0.2, 0.4, 0.9]).unwrap();
    let policy = learned(&truth, 4000);
    let set = policy.learner().unwrap().set();
    let deployed = Parameters::new(truth.shape(), vec![0.25, 0.0, 0.0, 1.0]).unwrap();
    let figure = threshold_picture(&threshold(policy.as_ref(), &deployed, &truth));
    assert_eq!(rules(&figure, "in force"), [0.25]);
    assert!((rules(&figure, "true cutoff")[0] - 0.6 / 1.1).abs() < 1e-12);
    let Some(Thresholds::Between { low, high }) = set.thresholds(0, 1) else { panic!("enough was learned") };
    let grey = figure.panels[0].marks.iter().find_map(|mark| match mark {
        Mark::Area { name, outline, .. } if name == "plausible cutoffs" => Some((outline[0].0, outline[1].0)),
        _ => None,
    });
    assert_eq!(grey, Some((low.max(0.0), high.min(1.0))));
}

#[test]
fn a_conservative_change_ends_at_the_edge_of_the_grey_area() {
    let truth = Parameters::new(Shape::new(2, 2).unwrap(), vec![1.0, -0.2, 0.4, 0.9]).unwrap();
    let policy = learned(&truth, 4000);
    let set = policy.learner().unwrap().set();
    let before = Parameters::new(truth.shape(), vec![0.1, 0.0, 0.0, 1.0]).unwrap();
    let after = set.conservative(&before).parameters;
    let state = ThresholdState { before: Some(&before), ..threshold(policy.as_ref(), &after, &truth) };
    let figure = threshold_picture(&state);
    let Some(Thresholds::Between { low, .. }) = set.thresholds(0, 1) else { panic!("enough was learned") };
    assert!((rules(&figure, "before")[0] - 0.1).abs() < 1e-12);
    assert!((rules(&figure, "after")[0] - low).abs() < 1e-6);
    assert!(figure.panels[0].marks.iter().any(|mark| matches!(mark, Mark::Arrow { .. })));
}

#[test]
fn the_ellipse_of_an_arm_is_the_edge_of_its_set() {
    let truth = Parameters::new(Shape::new(3, 2).unwrap(), vec![1.0, 0.0, -0.5, 0.9, -0.4, -0.8]).unwrap();
    let policy = learned(&truth, 500);
    let set = policy.learner().unwrap().set();
    let deployed = policy.deployed().unwrap();
    let figure = cone_picture(&ConeState { set, deployed, next: None, truth: Some(&truth), arms: Vec::new() });
    assert_eq!(figure.panels.len(), 4);
    let outlines = figure.panels[2].marks.iter().filter_map(|mark| match mark {
        Mark::Area { outline, .. } => Some(outline),
        _ => None,
    });
    for (arm, outline) in outlines.enumerate() {
        for &(x, y) in outline {
            // The estimates with this arm's replaced are as far away as this arm alone.
            let mut values = set.statistics().estimates().values().to_vec();
            values[2 * arm..2 * arm + 2].copy_from_slice(&[x, y]);
            let distance = set.distance_squared(&Parameters::new(truth.shape(), values).unwrap()).sqrt();
            assert!((distance / set.radius() - 1.0).abs() < 1e-6, "arm {arm}: {distance}");
        }
    }
}

#[test]
fn other_dimensions_are_said_to_have_no_picture() {
    let truth = Parameters::new(Shape::new(2, 3).unwrap(), vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0]).unwrap();
    let policy = learned(&truth, 50);
    let figure = threshold_picture(&threshold(policy.as_ref(), policy.deployed().unwrap(), &truth));
    assert!(figure.svg().contains("no data"));
    let set = policy.learner().unwrap().set();
    let state = ConeState { set, deployed: policy.deployed().unwrap(), next: None, truth: None, arms: Vec::new() };
    assert_eq!(cone_picture(&state).svg().matches("no data").count(), 4);
}
