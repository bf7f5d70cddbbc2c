//! A rule that is judged near its boundary: it finds the threshold of a bent truth, which a straight line misses.

use rarely_core::{Algorithm, Context, Policy, Rng, Settings};

/// The gain of arm 1 over arm 0 at x: it crosses 0 at 0.3 only, is flat below and steep above.
fn effect(x: f64) -> f64 {
    if x < 0.3 { 0.5 * (x - 0.3) } else { 6.0 * (x - 0.3) }
}

/// Where the rule in force changes from arm 0 to arm 1.
fn threshold(policy: &dyn Policy) -> f64 {
    let rule = policy.deployed().expect("it holds a rule");
    let [intercept, slope] = [0, 1].map(|at| rule.arm(1)[at] - rule.arm(0)[at]);
    assert!(slope > 0.0, "it gives arm 1 above the threshold: {rule:?}");
    -intercept / slope
}

fn played(algorithm: Algorithm, rounds: usize, seed: u64) -> Box<dyn Policy> {
    let settings = Settings::new(2, 2).unwrap().algorithm(algorithm).noise(0.1).unwrap();
    // At the start arm 1 is given from 0.6.
    let mut policy = settings.deployed(vec![0.0, 0.0, -0.6, 1.0]).unwrap().build().unwrap();
    let mut rng = Rng::new(seed, 0);
    for _ in 0..rounds {
        let x = rng.uniform();
        let values = [1.0, x];
        let context = Context::new(&values).unwrap();
        let decision = policy.decide(context, &mut rng).unwrap();
        let mean = if decision.arm.index() == 1 { effect(x) } else { 0.0 };
        let _ = policy.observe(context, &decision, mean + 0.1 * rng.normal()).unwrap();
    }
    policy
}

#[test]
fn it_finds_the_threshold_of_a_bent_truth() {
    for seed in 1..=5 {
        let policy = played(Algorithm::LocalThreshold, 6000, seed);
        let found = threshold(&*policy);
        assert!((found - 0.3).abs() < 0.05, "seed {seed}: {found}");
        assert!((1..60).contains(&policy.changes()), "seed {seed}: {} changes", policy.changes());
    }
}

/// If all outcomes of arm 1 come from randomised people, the best straight line crosses 0 elsewhere.
#[test]
fn a_straight_line_through_everybody_misses_it() {
    let people: Vec<f64> = (0..10_000).map(|at| (f64::from(at) + 0.5) / 10_000.0).collect();
    let (n, sx, sy) = people.iter().fold((0.0, 0.0, 0.0), |(n, sx, sy), x| (n + 1.0, sx + x, sy + effect(*x)));
    let (mean_x, mean_y) = (sx / n, sy / n);
    let slope = people.iter().map(|x| (x - mean_x) * (effect(*x) - mean_y)).sum::<f64>()
        / people.iter().map(|x| (x - mean_x).powi(2)).sum::<f64>();
    let crossing = mean_x - mean_y / slope;
    assert!((crossing - 0.3).abs() < 0.3 && (crossing - 0.3).abs() > 0.05, "{crossing}");
}

/// Nothing is gained by moving a threshold that is right: in most runs it stays.
#[test]
fn it_seldom_leaves_a_rule_that_is_right() {
    let mut moved = 0;
    for seed in 0..40 {
        let settings = Settings::new(2, 2).unwrap().algorithm(Algorithm::LocalThreshold).noise(0.1).unwrap();
        let mut policy = settings.deployed(vec![0.0, 0.0, -0.5, 1.0]).unwrap().build().unwrap();
        let mut rng = Rng::new(seed, 1);
        for _ in 0..1000 {
            let x = rng.uniform();
            let values = [1.0, x];
            let context = Context::new(&values).unwrap();
            let decision = policy.decide(context, &mut rng).unwrap();
            let mean = if decision.arm.index() == 1 { x - 0.5 } else { 0.0 };
            let _ = policy.observe(context, &decision, mean + 0.1 * rng.normal()).unwrap();
        }
        moved += u32::from((threshold(&*policy) - 0.5).abs() > 0.05);
    }
    assert!(moved <= 2, "{moved} of 40 rules ended more than a twentieth away");
}
