//! What a review of a log asks of the core: sums taken elsewhere, a rule reconsidered at once, the cuts of a score.

use rarely_core::{
    Above, Algorithm, Arm, Change, Context, Contexts, Decision, Parameters, Reason, Rng, Settings, Shape, Statistics,
    Thresholds,
};

/// A log with its arms drawn at random: contexts of `d` variables and the outcomes of three arms.
struct Log {
    contexts: Vec<f64>,
    arms: Vec<Arm>,
    rewards: Vec<f64>,
    d: usize,
}

impl Log {
    fn draw(rows: usize, d: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed, 0);
        let truth: Vec<f64> = (0..3 * d).map(|_| rng.normal()).collect();
        let mut log = Self { contexts: Vec::new(), arms: Vec::new(), rewards: Vec::new(), d };
        for _ in 0..rows {
            let context: Vec<f64> = (0..d).map(|at| if at == 0 { 1.0 } else { rng.uniform() }).collect();
            let arm = rng.below(3);
            let mean: f64 = context.iter().zip(&truth[arm * d..]).map(|(x, y)| x * y).sum();
            log.contexts.extend_from_slice(&context);
            log.arms.push(Arm::new(arm));
            log.rewards.push(mean + 0.1 * rng.normal());
        }
        log
    }

    fn rows(&self) -> impl Iterator<Item = (&[f64], Arm, f64)> {
        let rows = self.contexts.chunks_exact(self.d).zip(&self.arms).zip(&self.rewards);
        rows.map(|((context, &arm), &reward)| (context, arm, reward))
    }

    fn statistics(&self, penalty: f64) -> Statistics {
        let mut statistics = Statistics::new(penalty, &Parameters::zeros(Shape::new(3, self.d).unwrap()));
        for (context, arm, reward) in self.rows() {
            statistics.observe(Context::new(context).unwrap(), arm, reward).unwrap();
        }
        statistics
    }
}

fn settings(d: usize) -> Settings {
    Settings::new(3, d).unwrap().noise(0.1).unwrap().norm_bound(6.0).unwrap()
}

#[test]
fn sums_taken_elsewhere_are_as_good_as_observations() {
    let log = Log::draw(3000, 4, 1);
    let observed = log.statistics(0.01);
    let mut summed = Statistics::new(0.01, &Parameters::zeros(observed.shape()));
    for (arm, ridge) in observed.arms().iter().enumerate() {
        let (information, moment): (Vec<f64>, Vec<f64>) = (ridge.information().collect(), ridge.moment().collect());
        summed.add_sums(Arm::new(arm), ridge.count(), &information, &moment).unwrap();
    }
    assert_eq!(summed.rounds(), observed.rounds());
    for (mine, theirs) in summed.arms().iter().zip(observed.arms()) {
        assert!((mine.log_det() - theirs.log_det()).abs() < 1e-9);
        assert!(mine.estimate().iter().zip(theirs.estimate()).all(|(a, b)| (a - b).abs() < 1e-9));
    }
    let before = summed.clone();
    assert!(summed.add_sums(Arm::new(0), 1, &[1.0; 9], &[0.0; 4]).is_err());
    assert!(summed.add_sums(Arm::new(3), 1, &[1.0; 10], &[0.0; 4]).is_err());
    assert!(summed.add_sums(Arm::new(0), 1, &[f64::NAN; 10], &[0.0; 4]).is_err());
    assert!(summed.add_sums(Arm::new(0), 1, &[1e20; 10], &[0.0; 4]).is_err());
    assert_eq!(summed, before);
}

/// A rule that is looked at once, after the log, is judged as the live policy judges it after its last outcome.
#[test]
fn reconsidering_says_what_the_live_policy_would_say() {
    let switching = Algorithm::all()
        .filter(|algorithm| algorithm.is_switching() && !matches!(algorithm, Algorithm::Greedy | Algorithm::Scheduled));
    let mut changed = 0;
    for algorithm in switching {
        for seed in 0..8 {
            let log = Log::draw(400, 3, seed);
            let mut rng = Rng::new(seed, 1);
            let deployed: Vec<f64> = (0..9).map(|_| rng.normal()).collect();
            let population = Contexts::new(&log.contexts[..300], 3).unwrap();
            let build = |settings: Settings| {
                let settings = settings.algorithm(algorithm).deployed(deployed.clone()).unwrap();
                settings.population(population).unwrap().build().unwrap()
            };
            let mut live = build(settings(3));
            let mut rows = log.rows();
            let mut seen = Statistics::new(0.01, &Parameters::zeros(Shape::new(3, 3).unwrap()));
            let last = rows.by_ref().find_map(|(context, arm, reward)| {
                let context = Context::new(context).unwrap();
                let decision = Decision { arm, reason: Reason::Policy, propensity: 1.0 };
                seen.observe(context, arm, reward).unwrap();
                match live.observe(context, &decision, reward).unwrap() {
                    Change::Switched(evidence) => Some(evidence),
                    _ => None,
                }
            });
            let once = build(settings(3).learned(seen)).reconsider();
            assert_eq!(last.is_some(), once.evidence().is_some(), "{algorithm} {seed}");
            if let (Some(live), Some(once)) = (last, once.evidence()) {
                changed += 1;
                let moved =
                    live.to.values().iter().zip(once.to.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(moved < 1e-6, "{algorithm} {seed}: {moved}");
                assert_eq!(live.round, once.round);
            }
        }
    }
    assert!(changed > 40, "{changed} changes");
}

#[test]
fn statistics_of_another_make_are_refused() {
    let log = Log::draw(10, 3, 1);
    assert!(settings(3).learned(log.statistics(0.01)).build().is_ok());
    assert!(settings(3).learned(log.statistics(0.02)).build().is_err());
    assert!(settings(4).learned(log.statistics(0.01)).build().is_err());
    assert!(settings(3).algorithm(Algorithm::LinUcb).learned(log.statistics(0.01)).build().is_err());
}

/// The cuts of a score, point by point against the boundary test, over shapes that the data leave open and closed.
#[test]
fn cuts_are_the_numbers_whose_boundary_is_plausible() {
    let mut shapes = [0; 5];
    for seed in 0..60 {
        let log = Log::draw([4, 12, 40, 400][seed % 4], 4, seed as u64);
        let statistics = log.statistics(0.01);
        let set = settings(4).confidence().set(&statistics);
        let mut rng = Rng::new(seed as u64, 2);
        let estimates = statistics.estimates();
        // Half of the directions are near the estimate's own, so that some cut of them is plausible.
        let own = |at: usize| estimates.arm(0)[at] - estimates.arm(1)[at];
        let direction: Vec<f64> = (0..4)
            .map(|at| {
                if at == 0 {
                    0.0
                } else if seed % 2 == 0 {
                    own(at) + 0.01 * rng.normal()
                } else {
                    rng.normal()
                }
            })
            .collect();
        let cuts = set.cuts(0, 1, &direction);
        shapes[match cuts {
            Thresholds::Between { .. } => 0,
            Thresholds::AtMost { .. } | Thresholds::AtLeast { .. } => 1,
            Thresholds::Outside { .. } => 2,
            Thresholds::Everything => 3,
            Thresholds::Nothing => 4,
        }] += 1;
        let boundary = |cut: f64, sign: f64| {
            let mut values = vec![0.0; 12];
            values[..4].copy_from_slice(&direction);
            values[0] = -cut;
            for value in &mut values {
                *value *= sign;
            }
            set.boundary(&Parameters::new(Shape::new(3, 4).unwrap(), values).unwrap(), 0, 1)
        };
        for step in -60..=60 {
            let cut = f64::from(step).powi(3) * 1e-4;
            let (first, second) = (boundary(cut, 1.0), boundary(cut, -1.0));
            let clear = |distance: f64| (distance - set.radius()).abs() > 1e-6 * set.radius();
            if clear(first.distance) && clear(second.distance) {
                assert_eq!(cuts.contains(cut), first.plausible || second.plausible, "{seed}: {cuts:?} at {cut}");
                let above = |above| set.oriented_cuts(0, 1, &direction, above).contains(cut);
                assert_eq!(above(Above::First), first.plausible, "{seed}: {cuts:?} at {cut}");
                assert_eq!(above(Above::Second), second.plausible, "{seed}: {cuts:?} at {cut}");
            }
        }
    }
    assert!(shapes[0] > 5 && shapes[3] > 5 && shapes[4] > 5, "{shapes:?}");
}
