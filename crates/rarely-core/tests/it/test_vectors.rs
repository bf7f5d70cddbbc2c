//! Numbers from an independent program: `testdata/test-vectors.json` and `testdata/test-vectors-evidence.json`.

use std::path::Path;

use rarely_core::{
    Arm, CaseLog, Confidence, ConfirmError, Context, Contexts, ErrorProbability, LeastSquares, LookPlan, Mixture,
    Noise, NormBound, Parameters, Penalty, PlannedNoise, PlannedSets, Profile, Rule, Sets, Shape, Statistics,
    anytime_multiplier, gain_functional, planned_multiplier,
};
use serde_json::Value;

/// The cases of a file in `testdata/`. It is part of the repository: where it is absent, the test fails.
fn cases(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).expect("a list of cases")
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().expect("a number")],
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{what}: {found} instead of {expected}");
}

fn check(case: &Value, at: usize) {
    let count = |name: &str| usize::try_from(case[name].as_u64().expect("a count")).expect("fits");
    let shape = Shape::new(count("arms"), count("dimension")).expect("a shape");
    let penalty = number(&case["penalty"]);
    let confidence = Confidence {
        noise: Noise::new(number(&case["noise"])).expect("noise"),
        norm_bound: NormBound::new(number(&case["norm_bound"])).expect("norm bound"),
        error_probability: ErrorProbability::new(number(&case["error_probability"])).expect("probability"),
        penalty: Penalty::new(penalty).expect("penalty"),
        sets: Sets::Joint,
        profile: Profile::Rigorous,
    };
    let mut statistics = Statistics::new(penalty, &Parameters::zeros(shape));
    let mut logged = Vec::new();
    for row in case["log"].as_array().expect("a log") {
        let context = numbers(&row["context"]);
        let arm = usize::try_from(row["arm"].as_u64().expect("an arm")).expect("fits");
        statistics.observe(Context::new(&context).unwrap(), Arm::new(arm), number(&row["reward"])).unwrap();
        logged.extend(context);
    }
    let expected = &case["expected"];
    for (found, expected) in statistics.estimates().values().iter().zip(numbers(&expected["estimates"])) {
        close(*found, expected, 1e-9, "estimate");
    }
    close(statistics.log_det(), number(&expected["log_det"]), 1e-9, "log-determinant");

    let set = confidence.set(&statistics);
    let deployed = Parameters::new(shape, numbers(&case["deployed"])).expect("parameters");
    close(set.radius(), number(&expected["radius"]), 1e-9, "radius");
    close(set.distance_squared(&deployed), number(&expected["distance_squared"]), 1e-9, "distance");
    for pair in expected["pairs"].as_array().expect("pairs") {
        let arm = |at: usize| usize::try_from(pair["arms"][at].as_u64().expect("an arm")).expect("fits");
        let arms = [arm(0), arm(1)];
        let boundary = set.boundary(&deployed, arms[0], arms[1]);
        assert_eq!(boundary.plausible, pair["plausible"].as_bool().unwrap(), "case {at}, pair {arms:?}");
    }
    let jointly = expected["jointly_plausible"].as_bool().unwrap();
    assert_eq!(set.is_jointly_plausible(&deployed), jointly, "case {at}");
    let update = set.conservative(&deployed);
    if let Some(cosine) = expected.get("max_cosine") {
        close(update.cosine, number(cosine), 1e-7, "cosine");
        for (found, expected) in update.parameters.values().iter().zip(numbers(&expected["conservative_update"])) {
            close(*found, expected, 1e-7, "update");
        }
    } else {
        assert_eq!(update.cosine, 1.0, "case {at}: plausible as it is");
    }
    for (context, expected) in
        case["probe_contexts"].as_array().unwrap().iter().zip(expected["plausible_arms"].as_array().unwrap())
    {
        let context = numbers(context);
        let found = set.plausible_arms(Context::new(&context).unwrap()).unwrap();
        let found: Vec<f64> = found.iter().map(|arm| arm.index() as f64).collect();
        assert_eq!(found, numbers(expected), "case {at}");
    }
    let contexts = Contexts::new(&logged, shape.dimension()).unwrap();
    let arms = |parameters: Parameters| Rule::new(parameters).choose_many(contexts).unwrap();
    let gain = set.gain(contexts, &arms(deployed), &arms(statistics.estimates())).unwrap();
    let expected = &expected["gain_of_estimates_over_deployed_on_logged_contexts"];
    close(gain.interval.estimate, number(&expected["estimate"]), 1e-7, "gain");
    close(gain.interval.lower, number(&expected["lower"]), 1e-7, "lower end");
    close(gain.interval.upper, number(&expected["upper"]), 1e-7, "upper end");
    close(gain.changed_share, number(&expected["changed_share"]), 1e-12, "changed share");
}

#[test]
fn every_test_vector() {
    let cases = cases("test-vectors.json");
    assert_eq!(cases.len(), 12);
    for (at, case) in cases.iter().enumerate() {
        check(case, at);
    }
}

/// Sharp sets, planned looks and posterior probabilities (mathematics §§12–15): the file is complete. Planned looks and confirmation are
/// checked below.
#[test]
fn the_evidence_vectors_have_their_sections() {
    let cases = cases("test-vectors-evidence.json");
    assert_eq!(cases.len(), 15);
    for (at, case) in cases.iter().enumerate() {
        for section in ["arms", "dimension", "penalty", "noise", "error_probability", "log", "rule", "people"] {
            assert!(case.get(section).is_some(), "case {at} has no {section}");
        }
        for section in ["estimates", "marks", "pairs", "gain", "planned_pairs", "posterior_best_probabilities"] {
            assert!(case["expected"].get(section).is_some(), "case {at} expects no {section}");
        }
    }
}

/// The log of an evidence vector.
struct EvidenceLog {
    shape: Shape,
    contexts: Vec<f64>,
    arms: Vec<Arm>,
    rewards: Vec<f64>,
}

impl EvidenceLog {
    fn new(case: &Value) -> Self {
        let count = |value: &Value| usize::try_from(value.as_u64().expect("a count")).expect("fits");
        let rows = case["log"].as_array().expect("a log");
        Self {
            shape: Shape::new(count(&case["arms"]), count(&case["dimension"])).expect("a shape"),
            contexts: rows.iter().flat_map(|row| numbers(&row["context"])).collect(),
            arms: rows.iter().map(|row| Arm::new(count(&row["arm"]))).collect(),
            rewards: rows.iter().map(|row| number(&row["reward"])).collect(),
        }
    }

    fn cases(&self) -> CaseLog<'_> {
        let contexts = Contexts::new(&self.contexts, self.shape.dimension()).unwrap();
        CaseLog::new(self.shape, contexts, &self.arms, &self.rewards).unwrap()
    }
}

/// Planned pairs with the pooled variance (mathematics §13). Where an arm has too few cases there is none.
#[test]
fn planned_pairs_of_the_evidence_vectors() {
    let mut checked = 0;
    for (at, case) in cases("test-vectors-evidence.json").iter().enumerate() {
        let log = EvidenceLog::new(case);
        let fit = LeastSquares::fit(&log.cases());
        let delta = ErrorProbability::new(number(&case["error_probability"])).unwrap();
        let cases = log.arms.len() as u64;
        let look = LookPlan::new((0..4).map(|look| cases + look).collect()).unwrap().look(cases).unwrap();
        let sets = PlannedSets::new(&fit, PlannedNoise::EqualVariances, delta, look).unwrap();
        let expected = case["expected"]["planned_pairs"].as_array().expect("pairs");
        if expected.is_empty() {
            assert!(matches!(sets.pair_radius_squared(), Err(ConfirmError::NotEstimable { .. })), "case {at}");
        }
        for pair in expected {
            assert_eq!(pair["looks"], 4);
            close(sets.pooled_variance().unwrap().0, number(&pair["residual_variance"]), 1e-11, "residual variance");
            close(sets.pair_radius_squared().unwrap(), number(&pair["radius_squared"]), 1e-9, "squared radius");
            checked += 1;
        }
    }
    assert_eq!(checked, 30);
}

/// The gain by least squares with HC3 errors, a planned look and the anytime multiplier (mathematics §14). The vectors use `n − kd` degrees
/// of freedom, where a confirmation uses `min_a n_a − d` over the arms that change.
#[test]
fn least_squares_gains_of_the_evidence_vectors() {
    let mut checked = 0;
    for case in cases("test-vectors-evidence.json") {
        let expected = &case["expected"]["gain"]["least_squares"];
        if expected.is_null() {
            continue;
        }
        let log = EvidenceLog::new(&case);
        let people = numbers(&case["people"]);
        let people = Contexts::new(&people, log.shape.dimension()).unwrap();
        let choose = |values: &Value| {
            Rule::new(Parameters::new(log.shape, numbers(values)).unwrap()).choose_many(people).unwrap()
        };
        let (before, after) = (choose(&case["rule"]), choose(&case["expected"]["estimates"]));
        let functional = gain_functional(log.shape, people, &before, &after).unwrap();
        let fit = LeastSquares::fit(&log.cases());
        let estimate = fit.estimate(&functional).unwrap();
        let error = fit.hc3_error(&log.cases(), &functional).unwrap();
        close(estimate, number(&expected["estimate"]), 1e-9, "estimate");
        close(error, number(&expected["hc3_se"]), 1e-9, "HC3 error");
        let (degrees, delta) = (number(&expected["degrees"]), number(&case["error_probability"]));
        let (looks, candidates) = (number(&expected["looks"]), number(&expected["candidates"]));
        let multiplier = planned_multiplier(degrees, delta / (looks * candidates));
        let planned = numbers(&expected["planned"]);
        close(estimate - multiplier * error, planned[0], 1e-9, "lower end");
        close(estimate + multiplier * error, planned[1], 1e-9, "upper end");
        let mixture = Mixture::new(number(&expected["anytime"]["tuning"])).unwrap();
        let anytime = anytime_multiplier(degrees, log.arms.len() as f64, mixture, delta / candidates);
        close(anytime, number(&expected["anytime"]["multiplier"]), 1e-9, "anytime multiplier");
        checked += 1;
    }
    assert_eq!(checked, 8);
}

/// k = 2, d = 1, λ = 1, σ = 1, L = 1, δ = e⁻²: one observation of 3 at s = 1 on arm 1, worked by hand.
#[test]
fn a_case_by_hand() {
    let case = serde_json::json!({
        "arms": 2, "dimension": 1, "penalty": 1.0, "noise": 1.0, "norm_bound": 1.0,
        "error_probability": (-2.0_f64).exp(),
        "log": [{"arm": 1, "context": [1.0], "reward": 3.0}],
        "deployed": [[1.0], [0.0]], "probe_contexts": [[1.0]],
        "expected": {
            "estimates": [[0.0], [1.5]],
            "log_det": 2.0_f64.ln(),
            "radius": 1.0 + (4.0 + 2.0_f64.ln()).sqrt(),
            // 1·1² + 2·1.5²
            "distance_squared": 5.5,
            // m² = 1.5²/(1 + 1/2) = 1.5 < r²: zero difference is plausible, so is everything.
            "pairs": [{"arms": [0, 1], "plausible": true}],
            "jointly_plausible": true,
            "plausible_arms": [[0, 1]],
            "gain_of_estimates_over_deployed_on_logged_contexts": {
                "estimate": 1.5,
                "lower": 1.5 - (1.0 + (4.0 + 2.0_f64.ln()).sqrt()) * 1.5_f64.sqrt(),
                "upper": 1.5 + (1.0 + (4.0 + 2.0_f64.ln()).sqrt()) * 1.5_f64.sqrt(),
                "changed_share": 1.0,
            },
        },
    });
    check(&case, 0);
}
