//! The gain of a change, and its certificate.

use proptest::prelude::*;
use rarely_core::{Algorithm, Context, Contexts, Parameters, Rng, Rule, Sets, Settings};

use crate::sample::{self, close, dot, problem};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_gain_is_antisymmetric_and_nothing_for_no_change(problem in problem(), rows in 1_usize..40) {
        let mut rng = problem.rng();
        let (truth, statistics) = problem.learned(&mut rng);
        let values = sample::block(rows, problem.shape.dimension(), &mut rng);
        let people = Contexts::new(&values, problem.shape.dimension()).expect("whole rows");
        let arms = |parameters: &Parameters| Rule::new(parameters.clone()).choose_many(people).expect("fits");
        let (one, two) = (arms(&truth), arms(&sample::parameters(problem.shape, &mut rng)));
        for sets in [Sets::Joint, Sets::PerArm] {
            let set = sample::confidence(problem.penalty, sets).set(&statistics);
            let none = set.gain(people, &one, &one).expect("fits");
            prop_assert_eq!((none.interval.lower, none.interval.upper, none.changed_share), (0.0, 0.0, 0.0));
            let (there, back) = (set.gain(people, &one, &two).expect("fits"), set.gain(people, &two, &one).expect("fits"));
            let negated = [-back.interval.estimate, -back.interval.upper, -back.interval.lower, back.changed_share];
            let there = [there.interval.estimate, there.interval.lower, there.interval.upper, there.changed_share];
            close(&there, &negated, 1e-12);
        }
    }
}

/// The gain trigger and the certificate use one formula: a policy that publishes a change says the same as the set does.
#[test]
fn evidence_says_what_the_confidence_set_says() {
    let values = sample::block(100, 3, &mut Rng::new(14, 0));
    let people = Contexts::new(&values, 3).expect("whole rows");
    let settings = sample::settings(Algorithm::BoundaryGreedy, 3, 3).sets(Sets::Joint);
    let settings: Settings = settings.population(people).expect("fits");
    let mut policy = settings.explore(6, 0.1).expect("in range").build().expect("compatible");
    let mut rng = Rng::new(15, 0);
    let truth = sample::parameters(policy.shape(), &mut rng);
    let mut changes = 0;
    for _ in 0..500 {
        let values = sample::context(3, &mut rng);
        let context = Context::new(&values).expect("finite");
        let decision = policy.decide(context, &mut rng).expect("fits");
        let reward = dot(&values, truth.arm(decision.arm.index())) + 0.1 * rng.normal();
        let change = policy.observe(context, &decision, reward).expect("ordinary");
        let Some(evidence) = change.evidence() else { continue };
        changes += 1;
        let set = policy.learner().expect("learns").set();
        let certificate = set.certify(&Rule::new(evidence.from.clone()), &Rule::new(evidence.to.clone()), people);
        assert_eq!(evidence.certificate, Some(certificate.expect("fits")));
    }
    assert!(changes > 0, "the test needs a change");
}
