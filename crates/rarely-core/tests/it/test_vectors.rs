//! Numbers from an independent program: `testdata/test-vectors.json` and `testdata/test-vectors-evidence.json`.

use std::path::Path;

use rarely_core::{
    Arm, CaseLog, Confidence, ConfirmError, Context, Contexts, ErrorProbability, Interval, LeastSquares, LookPlan,
    Mixture, Noise, NormBound, Parameters, Penalty, PlannedNoise, PlannedSets, Profile, Rng, Rule, Sets, Settings,
    Shape, SharpSet, Statistics, anytime_multiplier, gain_functional, planned_multiplier,
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

/// The ends of an interval; nothing stands for an end that is not there.
#[track_caller]
fn close_ends(found: Interval, expected: &Value, what: &str) {
    if expected[0].is_null() {
        assert_eq!((found.lower, found.upper), (f64::NEG_INFINITY, f64::INFINITY), "{what}");
    } else {
        close(found.lower, number(&expected[0]), 1e-8, what);
        close(found.upper, number(&expected[1]), 1e-8, what);
    }
}

/// The assumptions and the statistics of a case's log, and the contexts in it.
fn learned(case: &Value, prepare: fn(Statistics) -> Statistics) -> (Confidence, Statistics, Vec<f64>) {
    let count = |name: &str| usize::try_from(case[name].as_u64().expect("a count")).expect("fits");
    let shape = Shape::new(count("arms"), count("dimension")).expect("a shape");
    let penalty = number(&case["penalty"]);
    let confidence = Confidence {
        noise: Noise::new(number(&case["noise"])).expect("noise"),
        norm_bound: case.get("norm_bound").map(|bound| NormBound::new(number(bound)).expect("norm bound")),
        error_probability: ErrorProbability::new(number(&case["error_probability"])).expect("probability"),
        penalty: Penalty::new(penalty).expect("penalty"),
        sets: Sets::Joint,
        profile: Profile::Rigorous,
    };
    let mut statistics = prepare(Statistics::new(penalty, &Parameters::zeros(shape)));
    let mut logged = Vec::new();
    for row in case["log"].as_array().expect("a log") {
        let context = numbers(&row["context"]);
        let arm = usize::try_from(row["arm"].as_u64().expect("an arm")).expect("fits");
        statistics.observe(Context::new(&context).unwrap(), Arm::new(arm), number(&row["reward"])).unwrap();
        logged.extend(context);
    }
    (confidence, statistics, logged)
}

fn check(case: &Value, at: usize) {
    let (confidence, statistics, logged) = learned(case, |statistics| statistics);
    let shape = statistics.shape();
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

/// Sharp sets (mathematics §12): centres, log ratios, penalties and radii to 1e-9, intervals to 1e-8.
fn check_sharp(case: &Value, at: usize) {
    let (confidence, statistics, _) = learned(case, Statistics::marked);
    let shape = statistics.shape();
    let expected = &case["expected"];
    for (found, expected) in statistics.estimates().values().iter().zip(numbers(&expected["estimates"])) {
        close(*found, expected, 1e-9, "estimate");
    }
    let set = confidence.sharp(&statistics);
    let marks = expected["marks"].as_array().expect("marks");
    assert_eq!(set.views().len(), marks.len(), "case {at}: marks");
    for (view, mark) in set.views().iter().zip(marks) {
        assert_eq!(view.round(), mark["round"].as_u64().unwrap());
        close(view.weight(), number(&mark["weight"]), 1e-12, "weight");
        for (arm, expected) in mark["arms"].as_array().unwrap().iter().enumerate() {
            if expected.is_null() || expected["centre"].is_null() {
                assert_eq!(view.centre(arm), None, "case {at}");
                continue;
            }
            for (found, expected) in view.centre(arm).expect("a centre").iter().zip(numbers(&expected["centre"])) {
                close(*found, expected, 1e-9, "centre");
            }
            close(view.log_ratio(arm), number(&expected["log_ratio"]), 1e-9, "log ratio");
            close(view.penalty(arm).unwrap(), number(&expected["penalty"]), 1e-9, "penalty");
        }
    }
    let rule = Parameters::new(shape, numbers(&case["rule"])).expect("a rule");
    let people = numbers(&case["people"]);
    let first = &people[..shape.dimension()];
    for pair in expected["pairs"].as_array().expect("pairs") {
        let arm = |at: usize| usize::try_from(pair["arms"][at].as_u64().expect("an arm")).expect("fits");
        let (i, j) = (arm(0), arm(1));
        for (view, radius_squared) in set.views().iter().zip(pair["radius_squared"].as_array().unwrap()) {
            match set.radius_squared(view, i, j) {
                Some(found) => close(found, number(radius_squared), 1e-9, "squared radius"),
                None => assert!(radius_squared.is_null(), "case {at}"),
            }
        }
        let difference = set.difference_interval(first, i, j);
        close_ends(difference, &pair["difference_at_first_person"], "difference");
        assert_eq!(set.boundary(&rule, i, j).plausible, pair["boundary_plausible"].as_bool().unwrap(), "case {at}");
    }
    check_sharp_gain(case, &set, &statistics, &rule, &people);
    check_posterior(case, &confidence, statistics, first);
}

fn check_sharp_gain(case: &Value, set: &SharpSet, statistics: &Statistics, rule: &Parameters, people: &[f64]) {
    let expected = &case["expected"]["gain"];
    let contexts = Contexts::new(people, statistics.shape().dimension()).unwrap();
    let arms = |parameters: Parameters| Rule::new(parameters).choose_many(contexts).unwrap();
    let (gain, parts) = set.gain(contexts, &arms(rule.clone()), &arms(statistics.estimates())).unwrap();
    if expected.is_null() {
        assert_eq!(gain.changed_share, 0.0);
        return;
    }
    close(gain.interval.estimate, number(&expected["estimate"]), 1e-8, "gain");
    close_ends(gain.interval, &expected["sharp"], "gain");
    close(gain.changed_share, number(&expected["changed_share"]), 1e-12, "changed share");
    let expected = expected["parts"].as_array().unwrap();
    assert_eq!(parts.len(), expected.len());
    for (part, expected) in parts.iter().zip(expected) {
        assert_eq!(vec![part.arms.0 as f64, part.arms.1 as f64], numbers(&expected["arms"]));
        close(part.there, number(&expected["there"]), 1e-12, "there");
        close(part.back, number(&expected["back"]), 1e-12, "back");
        close_ends(part.interval, &expected["interval"], "part");
    }
}

/// The propensities of posterior-weighted equipoise without a cap are the probabilities of being best.
fn check_posterior(case: &Value, confidence: &Confidence, statistics: Statistics, person: &[f64]) {
    let shape = statistics.shape();
    let policy = Settings::new(shape.arms(), shape.dimension())
        .and_then(|settings| settings.noise(confidence.noise.get())?.penalty(confidence.penalty.get()))
        .map(|settings| settings.exploration("posterior:1".parse().unwrap()).learned(statistics))
        .and_then(Settings::build)
        .unwrap();
    let expected = numbers(&case["expected"]["posterior_best_probabilities"]);
    let mut rng = Rng::new(1, 0);
    for _ in 0..200 {
        let decision = policy.decide(Context::new(person).unwrap(), &mut rng).unwrap();
        close(decision.propensity, expected[decision.arm.index()], 1e-8, "propensity");
    }
}

#[test]
fn every_evidence_vector() {
    let cases = cases("test-vectors-evidence.json");
    assert_eq!(cases.len(), 15);
    for (at, case) in cases.iter().enumerate() {
        check_sharp(case, at);
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
