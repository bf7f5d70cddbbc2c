//! Planned looks: the plan, the sets' formulas, and how often they miss.

use rarely_core::{
    Arm, CaseLog, ConfirmError, Contexts, ErrorProbability, LeastSquares, Look, LookError, LookPlan, Noise, Parameters,
    PlannedNoise, PlannedSets, Rng, Shape, Standard, gain_functional,
};

use crate::coverage::{AT_MOST, DELTA, miss_rate};
use crate::sample::{self, dot};

/// Rows of arms that were drawn without regard to outcomes.
struct Trial {
    truth: Parameters,
    contexts: Vec<f64>,
    arms: Vec<Arm>,
    rewards: Vec<f64>,
}

impl Trial {
    /// Arm 0 gets `share` of the rows, the others the rest in turn. `noise` draws around 0 for an arm.
    fn draw(shape: Shape, rows: usize, share: f64, rng: &mut Rng, noise: impl Fn(usize, &mut Rng) -> f64) -> Self {
        let truth = sample::parameters(shape, rng);
        let mut trial = Self { truth, contexts: Vec::new(), arms: Vec::new(), rewards: Vec::new() };
        for row in 0..rows {
            let context = sample::context(shape.dimension(), rng);
            let arm = if rng.uniform() < share { 0 } else { 1 + row % (shape.arms() - 1) };
            trial.rewards.push(dot(&context, trial.truth.arm(arm)) + noise(arm, rng));
            trial.arms.push(Arm::new(arm));
            trial.contexts.extend(context);
        }
        trial
    }

    fn first(&self, rows: usize) -> CaseLog<'_> {
        let shape = self.truth.shape();
        let contexts = Contexts::new(&self.contexts[..rows * shape.dimension()], shape.dimension()).unwrap();
        CaseLog::new(shape, contexts, &self.arms[..rows], &self.rewards[..rows]).unwrap()
    }

    /// `‖θ_a − θ̂_a‖²` in the metric of the arm's first rows.
    fn distance_squared(&self, fit: &LeastSquares, rows: usize, arm: usize) -> f64 {
        let d = self.truth.shape().dimension();
        let estimate = fit.arm(arm).unwrap().estimate();
        let off: Vec<f64> = self.truth.arm(arm).iter().zip(estimate).map(|(a, b)| a - b).collect();
        let of_arm = self.contexts.chunks_exact(d).zip(&self.arms).take(rows).filter(|(_, a)| a.index() == arm);
        of_arm.map(|(context, _)| dot(context, &off).powi(2)).sum()
    }
}

fn delta() -> ErrorProbability {
    ErrorProbability::new(DELTA).unwrap()
}

/// Whether a set misses the truth at one of two looks.
fn misses(trial: &Trial, noise: PlannedNoise) -> bool {
    let plan = LookPlan::new(vec![80, 160]).unwrap();
    plan.sizes().iter().any(|&size| {
        let rows = usize::try_from(size).unwrap();
        let fit = LeastSquares::fit(&trial.first(rows));
        let sets = PlannedSets::new(&fit, noise, delta(), plan.look(size).unwrap()).unwrap();
        let shape = trial.truth.shape();
        let distance = |arm: usize| trial.distance_squared(&fit, rows, arm);
        if noise == PlannedNoise::Normal {
            return (0..shape.arms()).any(|arm| distance(arm) > sets.arm_radius_squared(arm).unwrap());
        }
        let radius_squared = sets.pair_radius_squared().unwrap();
        shape.pairs().any(|(i, j)| distance(i.index()) + distance(j.index()) > radius_squared)
    })
}

#[test]
fn arms_with_their_own_variances() {
    // A fifth of the rows has five times the others' noise.
    let unequal = |arm: usize, rng: &mut Rng| if arm == 0 { 0.5 } else { 0.1 } * rng.normal();
    for arms in [2, 3] {
        let shape = Shape::new(arms, 2).unwrap();
        let rate = miss_rate(&format!("planned, {arms} arms, unequal variances"), 1, |rng| {
            misses(&Trial::draw(shape, 160, 0.2, rng, unequal), PlannedNoise::Normal)
        });
        // δ/(Kk) for each of Kk sets; two looks at one arm often miss together.
        assert!((0.4 * DELTA..AT_MOST).contains(&rate), "{rate}");
    }
}

#[test]
fn a_pooled_variance_needs_equal_variances() {
    let shape = Shape::new(2, 2).unwrap();
    let rate = miss_rate("planned, pooled, equal variances", 2, |rng| {
        misses(&Trial::draw(shape, 160, 0.2, rng, |_, rng| 0.3 * rng.normal()), PlannedNoise::EqualVariances)
    });
    assert!((0.4 * DELTA..AT_MOST).contains(&rate), "{rate}");
    let rate = miss_rate("planned, pooled, unequal variances", 3, |rng| {
        let unequal = |arm: usize, rng: &mut Rng| if arm == 0 { 0.5 } else { 0.1 } * rng.normal();
        misses(&Trial::draw(shape, 160, 0.2, rng, unequal), PlannedNoise::EqualVariances)
    });
    assert!(rate > 3.0 * DELTA, "{rate}: then it need not be declared");
}

#[test]
fn bounded_outcomes() {
    let shape = Shape::new(2, 2).unwrap();
    let fair = |_: usize, rng: &mut Rng| if rng.uniform() < 0.5 { -0.5 } else { 0.5 };
    let rate = miss_rate("planned, bounded outcomes", 4, |rng| {
        misses(&Trial::draw(shape, 160, 0.2, rng, fair), PlannedNoise::Declared(Noise::new(0.5).unwrap()))
    });
    assert!(rate <= DELTA, "{rate}: certain, and conservative");
}

#[test]
fn looks_are_those_that_were_planned() {
    assert_eq!(LookPlan::new(Vec::new()), Err(LookError::Empty));
    assert_eq!(LookPlan::new(vec![5, 5]), Err(LookError::Order { before: 5, after: 5 }));
    let plan = LookPlan::new(vec![100, 200, 400]).unwrap();
    let look = plan.look(200).unwrap();
    assert_eq!((look.number(), look.looks(), look.cases()), (2, 3, 200));
    assert_eq!(plan.look(201), Err(LookError::NotPlanned { cases: 201, next: 400 }));
    assert_eq!(plan.look(1), Err(LookError::NotPlanned { cases: 1, next: 100 }));
    assert_eq!(plan.look(401), Err(LookError::AfterLast { cases: 401, last: 400 }));
    assert!(LookError::AfterLast { cases: 401, last: 400 }.to_string().contains("400"));
    let json = serde_json::to_string(&plan).unwrap();
    assert_eq!(json, "[100,200,400]");
    assert_eq!(serde_json::from_str::<LookPlan>(&json).unwrap(), plan);
    assert!(serde_json::from_str::<LookPlan>("[2,1]").is_err());
}

/// A look for other rows than those at hand is refused.
#[test]
fn a_look_belongs_to_its_cases() {
    let shape = Shape::new(2, 2).unwrap();
    let trial = Trial::draw(shape, 50, 0.5, &mut Rng::new(5, 0), |_, rng| rng.normal());
    let fit = LeastSquares::fit(&trial.first(50));
    let refused = PlannedSets::new(&fit, PlannedNoise::Normal, delta(), Look::only(49)).map(drop);
    assert_eq!(refused, Err(ConfirmError::Look(LookError::OtherLog { planned: 49, cases: 50 })));
}

/// The arms' sums of squares by hand, for one variable that is always 1: `r_a² = s_a²·F(1, n_a−1)` is `s_a²·t²`.
#[test]
fn radii_by_hand() {
    let shape = Shape::new(2, 1).unwrap();
    let arms = [0, 0, 0, 1, 1, 1].map(Arm::new);
    let contexts = [1.0; 6];
    let contexts = Contexts::new(&contexts, 1).unwrap();
    let log = CaseLog::new(shape, contexts, &arms, &[0.0, 1.0, 2.0, 0.0, 3.0, 6.0]).unwrap();
    let fit = LeastSquares::fit(&log);
    let look = Look::only(6);
    let sets = |noise| PlannedSets::new(&fit, noise, delta(), look).unwrap();
    // t with 2 degrees of freedom at 0.975 is 4.30265272969: F(1,2) at 1 − δ/2.
    let t = 4.302_652_729_696_142_f64;
    let normal = sets(PlannedNoise::Normal);
    assert!((normal.arm_radius_squared(0).unwrap() - t * t).abs() < 1e-9);
    assert!((normal.arm_radius_squared(1).unwrap() - 9.0 * t * t).abs() < 1e-8);
    let difference = normal.pair_interval(&[1.0], 0, 1).unwrap();
    assert_eq!(difference.standard, Standard::ExactIfNormal);
    assert!((difference.interval.estimate - 2.0).abs() < 1e-12);
    assert!((difference.interval.upper - (2.0 + 4.0 * t / 3.0_f64.sqrt())).abs() < 1e-9);
    assert_eq!(sets(PlannedNoise::EqualVariances).pooled_variance().unwrap(), (5.0, 4.0));
    let u = 10.0_f64.ln();
    let bounded = sets(PlannedNoise::Declared(Noise::new(2.0).unwrap()));
    let expected = 4.0 * (2.0 + 2.0 * (2.0 * u).sqrt() + 2.0 * u);
    assert!((bounded.pair_radius_squared().unwrap() - expected).abs() < 1e-12);
    assert_eq!(bounded.pair_interval(&[1.0], 1, 0).unwrap().standard, Standard::Certain);
}

/// The interval of a gain is the sum of its parts' intervals, and its estimate is that of the functional.
#[test]
fn a_gain_is_the_sum_of_its_parts() {
    let shape = Shape::new(3, 2).unwrap();
    let mut rng = Rng::new(6, 0);
    let trial = Trial::draw(shape, 200, 0.3, &mut rng, |_, rng| 0.1 * rng.normal());
    let log = trial.first(200);
    let fit = LeastSquares::fit(&log);
    let choose = |rng: &mut Rng| (0..200).map(|_| Arm::new(rng.below(3))).collect::<Vec<_>>();
    let (before, after) = (choose(&mut rng), choose(&mut rng));
    let functional = gain_functional(shape, log.contexts(), &before, &after).unwrap();
    for noise in [PlannedNoise::Normal, PlannedNoise::EqualVariances, PlannedNoise::Declared(Noise::new(0.1).unwrap())]
    {
        let sets = PlannedSets::new(&fit, noise, delta(), Look::only(200)).unwrap();
        let gain = sets.gain(log.contexts(), &before, &after).unwrap().interval;
        assert!((gain.estimate - fit.estimate(&functional).unwrap()).abs() < 1e-12);
        assert!((gain.upper + gain.lower - 2.0 * gain.estimate).abs() < 1e-12);
        let back = sets.gain(log.contexts(), &after, &before).unwrap().interval;
        assert!((back.lower + gain.upper).abs() < 1e-12);
        assert_eq!(sets.gain(log.contexts(), &after, &after), Err(ConfirmError::NoChange));
        assert!(sets.gain(log.contexts(), &after, &after[1..]).is_err());
    }
}
