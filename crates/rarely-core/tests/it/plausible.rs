//! Plausible arms: laws, and a conic solver as the oracle.

use proptest::prelude::*;
use rarely_core::{Context, Rule, Sets};

use crate::sample::{self, problem};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn some_arm_is_plausible_and_the_best_estimate_always(problem in problem()) {
        let mut rng = problem.rng();
        let (_, statistics) = problem.learned(&mut rng);
        for sets in [Sets::Joint, Sets::PerArm] {
            let set = sample::confidence(problem.penalty, sets).set(&statistics);
            let values = sample::context(problem.shape.dimension(), &mut rng);
            let context = Context::new(&values).expect("finite");
            let plausible = set.plausible_arms(context).expect("fits");
            let best = Rule::new(statistics.estimates()).choose(context).expect("fits");
            prop_assert!(plausible.contains(&best), "{best} is not in {plausible:?}");
            for (i, j) in problem.shape.pairs() {
                let interval = set.difference_interval(&values, i.index(), j.index());
                prop_assert!(interval.lower <= 0.0 || !plausible.contains(&j));
                prop_assert!(interval.upper >= 0.0 || !plausible.contains(&i));
            }
        }
    }
}

mod oracle {
    use clarabel::solver::SupportedConeT;
    use rarely_core::{Arm, Context, Rng};

    use crate::conic::{Case, cholesky, solve};

    /// Arm j is plausible iff no arm is certainly better: for each other arm the largest `sᵀ(θ_j − θ_i)` over the set, by Clarabel,
    /// is not negative.
    #[test]
    fn the_plausible_set_is_what_the_optimisation_says() {
        let mut rng = Rng::new(7, 3);
        let mut seen = [0, 0];
        for trial in 0..60 {
            let case = Case::random(&mut rng, 2 + trial % 3, 1 + trial % 4);
            let (k, d) = (case.shape.arms(), case.shape.dimension());
            let context: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
            let set = case.set();
            let plausible = set.plausible_arms(Context::new(&context).unwrap()).unwrap();
            let mut rows = vec![vec![0.0; k * d]; k * d + 1];
            let mut bounds = vec![set.radius()];
            for (arm, matrix) in case.full.iter().enumerate() {
                let factor = cholesky(matrix);
                let estimate = case.statistics.arm(arm).estimate();
                for i in 0..d {
                    (i..d).for_each(|j| rows[1 + arm * d + i][arm * d + j] = -factor[j][i]);
                    bounds.push(-(i..d).map(|j| factor[j][i] * estimate[j]).sum::<f64>());
                }
            }
            for j in 0..k {
                let mut margin = f64::MAX;
                for i in (0..k).filter(|&i| i != j) {
                    let mut linear = vec![0.0; k * d];
                    for at in 0..d {
                        linear[j * d + at] -= context[at];
                        linear[i * d + at] += context[at];
                    }
                    let nothing = vec![vec![0.0; k * d]; k * d];
                    let x = solve(&nothing, &linear, &rows, &bounds, &[SupportedConeT::SecondOrderConeT(k * d + 1)]);
                    let best: f64 = -linear.iter().zip(&x).map(|(a, b)| a * b).sum::<f64>();
                    let upper = set.difference_interval(&context, j, i).upper;
                    assert!(
                        (best - upper).abs() < 1e-5 * upper.abs().max(1.0),
                        "the difference interval: {upper} instead of {best}"
                    );
                    margin = margin.min(best);
                }
                if margin.abs() > 1e-6 {
                    assert_eq!(plausible.contains(&Arm::new(j)), margin > 0.0, "trial {trial}, arm {j}: {margin}");
                    seen[usize::from(margin > 0.0)] += 1;
                }
            }
        }
        assert!(seen[0] > 10 && seen[1] > 10, "{seen:?}");
    }
}
