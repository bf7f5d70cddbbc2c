//! The geometry against a conic solver and brute force over directions.

use clarabel::solver::SupportedConeT;
use rarely_core::{
    Arm, Confidence, Context, ErrorProbability, Noise, NormBound, Parameters, Penalty, Profile, Rng, Sets, Shape,
    Statistics, cosine,
};

use crate::conic::{Case, cholesky, oracle_cosine, solve};

/// ≥ 1,000 cases: the exact update is never below the conic solver's by more than 1e-7 and always in the set; and what the
/// paper's projected gradient reaches on the same cases.
#[test]
fn the_exact_update_is_never_worse_than_a_conic_solver() {
    let mut rng = Rng::new(20_191, 0);
    let (mut implausible, mut away, mut far, mut shortfalls) = (0, 0, 0, Vec::new());
    for trial in 0..4_000 {
        let case = Case::random(&mut rng, 2 + trial % 5, 1 + (trial / 5) % 8);
        let policy = case.policy(&mut rng, trial / 40);
        let set = case.set();
        let update = set.conservative(&policy);
        let radius_squared = set.radius() * set.radius();
        assert!(
            update.cosine == 1.0 || case.distance_squared(&update.parameters) <= radius_squared * (1.0 + 1e-8),
            "trial {trial}: outside the set, {} > {radius_squared}",
            case.distance_squared(&update.parameters)
        );
        let oracle = oracle_cosine(&case, &policy);
        let found = cosine(&policy, &update.parameters);
        if !set.is_jointly_plausible(&policy) {
            assert!((found - update.cosine).abs() < 1e-9, "trial {trial}: the cosine is that of the update");
            implausible += 1;
        }
        far += usize::from(oracle == 0.0);
        away += usize::from(oracle > 0.0 && cosine(&policy, &set.statistics().estimates()) < 0.0);
        assert!(
            oracle == 0.0 || update.cosine >= oracle - 1e-7,
            "trial {trial}: k = {}, d = {}: {} < {oracle}",
            case.shape.arms(),
            case.shape.dimension(),
            update.cosine
        );
        if oracle > 0.0 && update.cosine < 1.0 {
            shortfalls.push(update.cosine - set.projected_gradient(&policy, 100, 0.1).cosine);
        }
    }
    shortfalls.sort_by(f64::total_cmp);
    println!(
        "{implausible} implausible, {away} leaning away from the estimate, {far} on the far side; projected gradient short by \
         {:.4} (median), {:.4} (largest)",
        shortfalls[shortfalls.len() / 2],
        shortfalls[shortfalls.len() - 1]
    );
    assert!(implausible > 1_000 && away > 30 && far > 30, "every kind of case occurs");
    assert!(shortfalls[0] > -1e-7, "the projected gradient is never better: {}", shortfalls[0]);
}

/// The first interval of docs/mathematics.md §6 alone would miss this: a wide cone, a policy that leans away from its axis by more than
/// 90° but not from its edge. One plane of differences, so that the answer can be seen: the best of a million directions.
#[test]
fn a_policy_that_leans_away_from_the_axis_still_turns_to_the_nearest_edge() {
    let shape = Shape::new(2, 2).unwrap();
    let mut statistics = Statistics::new(1.0, &Parameters::zeros(shape));
    for (arm, reward) in [(0, 3.0), (1, -3.0)] {
        for _ in 0..3 {
            statistics.observe(Context::new(&[1.0, 0.0]).unwrap(), Arm::new(arm), reward).unwrap();
        }
    }
    let confidence = Confidence {
        noise: Noise::new(1.0).unwrap(),
        norm_bound: Some(NormBound::new(1.0).unwrap()),
        error_probability: ErrorProbability::new(0.05).unwrap(),
        penalty: Penalty::new(1.0).unwrap(),
        sets: Sets::Joint,
        profile: Profile::Rigorous,
    };
    let set = confidence.set(&statistics);
    let policy = |angle: f64| {
        let (s, c) = angle.sin_cos();
        Parameters::new(shape, vec![0.5 * c, 0.5 * s, -0.5 * c, -0.5 * s]).unwrap()
    };
    let old = 1.75_f64;
    let plausible = |angle: f64| set.is_jointly_plausible(&policy(angle));
    let nearest = (0..1_000_000)
        .map(|step| f64::from(step) * 1e-6 * std::f64::consts::PI)
        .find(|turn| plausible(old - turn))
        .unwrap();
    let update = set.conservative(&policy(old));
    assert!(cosine(&policy(old), &statistics.estimates()) < 0.0, "it leans away from the axis, which is the estimate");
    assert!(nearest < 1.5, "and yet a plausible direction is within 90 degrees: {nearest}");
    assert!((update.cosine - nearest.cos()).abs() < 1e-5, "{} instead of {}", update.cosine, nearest.cos());
}

/// For d = 2 a pair's boundary is a direction: plausible iff some parameters of the set have it, by brute force over the edge of
/// the set of differences; and for k > 2 jointly by Clarabel, which the update's test covers.
#[test]
fn pairwise_plausibility_is_what_brute_force_over_directions_finds() {
    let mut rng = Rng::new(7, 1);
    let mut seen = [0, 0];
    for trial in 0..300 {
        let case = Case::random(&mut rng, 2 + trial % 3, 2);
        let policy = case.policy(&mut rng, trial);
        let set = case.set();
        let (i, j) = (0, 1 + trial % (case.shape.arms() - 1));
        // A difference c + r·S^{1/2}(cos t, sin t) runs around the edge of the set of differences, S = V_i⁻¹ + V_j⁻¹.
        let inverse = |arm: usize| {
            let m = &case.full[arm];
            let det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
            [m[1][1] / det, -m[0][1] / det, m[0][0] / det]
        };
        let (a, b) = (inverse(i), inverse(j));
        let factor = cholesky(&[vec![a[0] + b[0], a[1] + b[1]], vec![a[1] + b[1], a[2] + b[2]]]);
        let c: Vec<f64> =
            (0..2).map(|at| case.statistics.arm(i).estimate()[at] - case.statistics.arm(j).estimate()[at]).collect();
        let psi: Vec<f64> = (0..2).map(|at| policy.arm(i)[at] - policy.arm(j)[at]).collect();
        let wanted = psi[1].atan2(psi[0]);
        let turn = |angle: f64| {
            (angle - wanted + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI
        };
        let around = |t: f64| {
            let (s, k) = t.sin_cos();
            let x = c[0] + set.radius() * factor[0][0] * k;
            let y = c[1] + set.radius() * (factor[1][0] * k + factor[1][1] * s);
            turn(y.atan2(x))
        };
        let steps = 20_000;
        let turns: Vec<f64> =
            (0..=steps).map(|step| around(f64::from(step) / f64::from(steps) * std::f64::consts::TAU)).collect();
        let found = turns.windows(2).any(|pair| pair[0] * pair[1] <= 0.0 && (pair[0] - pair[1]).abs() < 1.0);
        let margin = turns.iter().fold(f64::MAX, |margin, turn| margin.min(turn.abs()));
        let boundary = set.boundary(&policy, i, j);
        if !found && margin < 1e-3 {
            continue; // too near the edge for the grid to tell
        }
        assert_eq!(boundary.plausible, found, "trial {trial}: margin {margin}");
        if !found {
            let least = margin.to_degrees();
            assert!(
                (boundary.angle_degrees - least).abs() < 0.1 + 1e-3 * least,
                "{} instead of {least}",
                boundary.angle_degrees
            );
        }
        seen[usize::from(found)] += 1;
    }
    assert!(seen[0] > 50 && seen[1] > 50, "{seen:?}");
}

/// For d > 2: the smallest distance of parameters with a pair's boundary, by Clarabel: minimise `½‖φ − θ̂‖²_V` over `φ` with
/// `φ_i − φ_j = αψ`, `α ≥ 0`.
#[test]
fn pairwise_plausibility_is_what_a_conic_solver_finds() {
    let mut rng = Rng::new(7, 2);
    let mut seen = [0, 0];
    for trial in 0..500 {
        let case = Case::random(&mut rng, 2 + trial % 4, 3 + trial % 5);
        let policy = case.policy(&mut rng, trial);
        let (d, i, j) = (case.shape.dimension(), 0, 1 + trial % (case.shape.arms() - 1));
        let n = 2 * d + 1;
        let mut objective = vec![vec![0.0; n]; n];
        let mut linear = vec![0.0; n];
        for (slot, arm) in [(0, i), (1, j)] {
            let estimate = case.statistics.arm(arm).estimate();
            for (at, row) in case.full[arm].iter().enumerate() {
                objective[slot * d + at][slot * d..(slot + 1) * d].copy_from_slice(row);
                linear[slot * d + at] = -row.iter().zip(estimate).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        let mut rows = vec![vec![0.0; n]; d + 1];
        for at in 0..d {
            rows[at][at] = 1.0;
            rows[at][d + at] = -1.0;
            rows[at][2 * d] = -(policy.arm(i)[at] - policy.arm(j)[at]);
        }
        rows[d][2 * d] = -1.0;
        let cones = [SupportedConeT::ZeroConeT(d), SupportedConeT::NonnegativeConeT(1)];
        let solution = solve(&objective, &linear, &rows, &vec![0.0; d + 1], &cones);
        let mut found = case.statistics.estimates().values().to_vec();
        found[i * d..(i + 1) * d].copy_from_slice(&solution[..d]);
        found[j * d..(j + 1) * d].copy_from_slice(&solution[d..2 * d]);
        let oracle = case.distance_squared(&Parameters::new(case.shape, found).unwrap()).sqrt();
        let boundary = case.set().boundary(&policy, i, j);
        assert!(
            (boundary.distance - oracle).abs() <= 1e-6 * oracle.max(1.0),
            "trial {trial}: {} instead of {oracle}",
            boundary.distance
        );
        assert_eq!(boundary.plausible, boundary.distance <= case.set().radius() * (1.0 + 1e-9));
        seen[usize::from(boundary.plausible)] += 1;
    }
    assert!(seen[0] > 100 && seen[1] > 100, "{seen:?}");
}
