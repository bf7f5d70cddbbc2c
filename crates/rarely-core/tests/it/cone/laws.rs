//! Laws of boundaries and updates, on random problems.

use proptest::prelude::*;
use rarely_core::{Noise, Parameters, Sets, cosine};

use crate::sample::{self, point_of, problem};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn jointly_plausible_is_pairwise_plausible_and_the_update_is_both(problem in problem(), near in 0.0_f64..3.0) {
        let mut rng = problem.rng();
        let (_, statistics) = problem.learned(&mut rng);
        let set = sample::confidence(problem.penalty, Sets::Joint).set(&statistics);
        let policy = point_of(&set, near, &mut rng);
        let pairwise = |policy: &Parameters| set.boundaries(policy).iter().all(|boundary| boundary.plausible);
        let joint = set.is_jointly_plausible(&policy);
        prop_assert!(!joint || pairwise(&policy));
        prop_assert!(joint || !set.contains(&policy), "a point of the set is plausible");
        let update = set.conservative(&policy);
        prop_assert!(update.cosine == 1.0 || set.contains(&update.parameters));
        prop_assert!(set.is_jointly_plausible(&update.parameters) && pairwise(&update.parameters));
        prop_assert!(!joint || update.cosine == 1.0);
        for _ in 0..20 {
            let share = rng.uniform();
            let other = point_of(&set, share, &mut rng);
            prop_assert!(cosine(&policy, &other) <= update.cosine.max(0.0) + 1e-9, "nothing in the set is nearer");
        }
    }

    #[test]
    fn updates_of_degenerate_policies_are_finite(
        problem in problem(),
        scale in -300_i32..13,
        same in any::<bool>(),
        noise in -12_i32..13,
    ) {
        let mut rng = problem.rng();
        let (_, statistics) = problem.learned(&mut rng);
        let mut confidence = sample::confidence(problem.penalty, Sets::Joint);
        confidence.noise = Noise::new(10_f64.powi(noise)).expect("in range");
        let set = confidence.set(&statistics);
        // Very small, very large, or the same for the first two arms, which then have no boundary.
        let d = problem.shape.dimension();
        let mut values = sample::parameters(problem.shape, &mut rng).values().to_vec();
        if same {
            values.copy_within(..d, d);
        }
        let values = values.into_iter().map(|value| 0.1 * value * 10_f64.powi(scale)).collect();
        let policy = Parameters::new(problem.shape, values).expect("within the limit");
        for policy in [policy, Parameters::zeros(problem.shape)] {
            let update = set.conservative(&policy);
            prop_assert!(update.parameters.values().iter().all(|value| value.is_finite()), "{update:?}");
            prop_assert!(update.cosine == 1.0 || set.contains(&update.parameters), "{update:?}");
            prop_assert!(update.cosine.abs() <= 1.0 + 1e-12, "{update:?}");
            for boundary in set.boundaries(&policy) {
                prop_assert!(boundary.distance >= 0.0 && boundary.angle_degrees >= 0.0, "{boundary:?}");
                prop_assert!(boundary.plausible == (boundary.angle_degrees == 0.0), "{boundary:?}");
            }
        }
    }
}
