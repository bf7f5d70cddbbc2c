//! The geometry against things we did not write: a conic solver (Clarabel), brute force over directions, finite differences.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};
use rarely_core::{
    Arm, Confidence, ConfidenceSet, Context, ErrorProbability, Noise, NormBound, Parameters, Penalty, Profile, Rng,
    Sets, Shape, Statistics, cosine, cosine_gradient,
};

/// A random log with its statistics, and `V` of every arm summed by itself, as full matrices.
struct Case {
    shape: Shape,
    statistics: Statistics,
    confidence: Confidence,
    full: Vec<Vec<Vec<f64>>>,
}

impl Case {
    /// Random sizes, penalties, noise; some arms hardly or never observed; some contexts nearly collinear.
    fn random(rng: &mut Rng, arms: usize, dimension: usize) -> Self {
        let shape = Shape::new(arms, dimension).unwrap();
        let penalty = 10_f64.powf(-4.0 * rng.uniform());
        let noise = 10_f64.powf(-1.5 * rng.uniform());
        let truth: Vec<f64> = (0..shape.parameters()).map(|_| rng.normal()).collect();
        let collinear = rng.uniform() < 0.25;
        let favourite = rng.below(arms);
        let lopsided = rng.uniform() < 0.3;
        let mut statistics = Statistics::new(penalty, &Parameters::zeros(shape));
        let mut full = vec![vec![vec![0.0; dimension]; dimension]; arms];
        for matrix in &mut full {
            (0..dimension).for_each(|i| matrix[i][i] = penalty);
        }
        for _ in 0..10 + rng.below(400) {
            let arm = if lopsided && rng.uniform() < 0.97 { favourite } else { rng.below(arms) };
            let mut context: Vec<f64> = (0..dimension).map(|j| if j == 0 { 1.0 } else { rng.uniform() }).collect();
            if collinear && dimension > 2 {
                context[2] = 2.0 * context[1] + 1e-4 * rng.normal();
            }
            let mean: f64 = context.iter().zip(&truth[arm * dimension..]).map(|(s, t)| s * t).sum();
            statistics.observe(Context::new(&context).unwrap(), Arm::new(arm), mean + noise * rng.normal()).unwrap();
            for i in 0..dimension {
                for j in 0..dimension {
                    full[arm][i][j] += context[i] * context[j];
                }
            }
        }
        let confidence = Confidence {
            noise: Noise::new(noise).unwrap(),
            norm_bound: NormBound::new(0.5 + rng.uniform()).unwrap(),
            error_probability: ErrorProbability::new(0.01).unwrap(),
            penalty: Penalty::new(penalty).unwrap(),
            sets: Sets::Joint,
            profile: Profile::Rigorous,
        };
        Self { shape, statistics, confidence, full }
    }

    fn set(&self) -> ConfidenceSet<'_> {
        self.confidence.set(&self.statistics)
    }

    /// A policy: anywhere, near the estimate, on the far side of it, or nearly the edge of what is plausible.
    fn policy(&self, rng: &mut Rng, kind: usize) -> Parameters {
        let estimates = self.statistics.estimates();
        let scale = estimates.values().iter().fold(1e-3_f64, |scale, value| scale.max(value.abs()));
        let mut at = |weight: f64, spread: f64| -> Parameters {
            let values =
                estimates.values().iter().map(|value| weight * value + spread * scale * rng.normal()).collect();
            Parameters::new(self.shape, values).unwrap()
        };
        match kind % 5 {
            0 => at(0.0, 1.0),
            1 => at(1.0, 0.3),
            2 => at(-1.0, 0.3),
            3 => at(-1.0, 0.01),
            _ => {
                let edge = self.set().conservative(&at(0.0, 1.0)).parameters;
                let off = 10_f64.powf(-1.0 - 7.0 * rng.uniform());
                let values = edge.values().iter().map(|value| value + off * scale * rng.normal()).collect();
                Parameters::new(self.shape, values).unwrap()
            }
        }
    }

    /// `‖φ − θ̂‖²_V`, from the full matrices.
    fn distance_squared(&self, parameters: &Parameters) -> f64 {
        let mut total = 0.0;
        for (arm, matrix) in self.full.iter().enumerate() {
            let difference: Vec<f64> =
                parameters.arm(arm).iter().zip(self.statistics.arm(arm).estimate()).map(|(a, b)| a - b).collect();
            for (i, row) in matrix.iter().enumerate() {
                total += difference[i] * row.iter().zip(&difference).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        total
    }
}

/// Lower Cholesky factor of a full matrix.
fn cholesky(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut factor = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let rest = matrix[i][j] - (0..j).map(|k| factor[i][k] * factor[j][k]).sum::<f64>();
            factor[i][j] = if i == j { rest.sqrt() } else { rest / factor[j][j] };
        }
    }
    factor
}

fn sparse(rows: &[Vec<f64>]) -> CscMatrix<f64> {
    let (m, n) = (rows.len(), rows[0].len());
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..n {
        for (i, row) in rows.iter().enumerate().filter(|(_, row)| row[j] != 0.0) {
            places.push(i);
            values.push(row[j]);
        }
        starts.push(values.len());
    }
    CscMatrix::new(m, n, starts, places, values)
}

fn solve(
    objective: &[Vec<f64>],
    linear: &[f64],
    rows: &[Vec<f64>],
    bounds: &[f64],
    cones: &[SupportedConeT<f64>],
) -> Vec<f64> {
    let upper: Vec<Vec<f64>> = objective
        .iter()
        .enumerate()
        .map(|(i, row)| row.iter().enumerate().map(|(j, v)| if j >= i { *v } else { 0.0 }).collect())
        .collect();
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-12,
        tol_gap_rel: 1e-12,
        tol_feas: 1e-12,
        max_iter: 500,
        ..DefaultSettings::default()
    };
    let mut solver =
        DefaultSolver::new(&sparse(&upper), linear, &sparse(rows), bounds, cones, settings).expect("a problem");
    solver.solve();
    solver.solution.x.clone()
}

/// The largest cosine of `policy` with parameters in the set, by projecting its direction on the cone of differences:
/// minimise `‖Pφ − u‖²` over `φ, τ` with `‖V^{1/2}(φ − τθ̂)‖ ≤ rτ`. 0 if the projection is the origin.
fn oracle_cosine(case: &Case, policy: &Parameters) -> f64 {
    let (k, d) = (case.shape.arms(), case.shape.dimension());
    let n = k * d;
    let mut u = policy.centred().values().to_vec();
    let length = u.iter().map(|value| value * value).sum::<f64>().sqrt();
    for value in &mut u {
        *value /= length;
    }
    let mut objective = vec![vec![0.0; n + 1]; n + 1];
    for (i, row) in objective.iter_mut().enumerate().take(n) {
        for j in (0..n).filter(|j| i % d == j % d) {
            row[j] = if i == j { 1.0 } else { 0.0 } - 1.0 / k as f64;
        }
    }
    let linear: Vec<f64> = u.iter().map(|value| -value).chain([0.0]).collect();
    let mut rows = vec![vec![0.0; n + 1]; n + 1];
    rows[0][n] = -case.set().radius();
    for (arm, matrix) in case.full.iter().enumerate() {
        let factor = cholesky(matrix);
        let estimate = case.statistics.arm(arm).estimate();
        for i in 0..d {
            for j in i..d {
                rows[1 + arm * d + i][arm * d + j] = -factor[j][i];
            }
            rows[1 + arm * d + i][n] = (i..d).map(|j| factor[j][i] * estimate[j]).sum();
        }
    }
    // τ is free where the projection is the origin: bound it.
    let mut bounds = vec![0.0; n + 1];
    rows.push(vec![0.0; n + 1]);
    rows[n + 1][n] = 1.0;
    bounds.push(1e4);
    let cones = [SupportedConeT::SecondOrderConeT(n + 1), SupportedConeT::NonnegativeConeT(1)];
    let solution = solve(&objective, &linear, &rows, &bounds, &cones);
    let found = Parameters::new(case.shape, solution[..n].to_vec()).unwrap().centred();
    let norm = found.values().iter().map(|value| value * value).sum::<f64>().sqrt();
    let found = u.iter().zip(found.values()).map(|(a, b)| a * b).sum::<f64>() / norm;
    // The projection of a unit vector on a cone has the cosine for its length; below this it is the solver's noise.
    if norm < 1e-4 || !(found > 0.0) { 0.0 } else { found }
}

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

/// The first interval of MATH.md §6 alone would miss this: a wide cone, a policy that leans away from its axis by more than
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
        norm_bound: NormBound::new(1.0).unwrap(),
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

#[test]
fn the_gradient_is_that_of_the_cosine() {
    let mut rng = Rng::new(7, 4);
    for trial in 0..200 {
        let shape = Shape::new(2 + trial % 4, 1 + trial % 5).unwrap();
        let mut draw = || -> Vec<f64> { (0..shape.parameters()).map(|_| rng.normal()).collect() };
        let policy = Parameters::new(shape, draw()).unwrap();
        let at = draw();
        let gradient = cosine_gradient(&policy, &Parameters::new(shape, at.clone()).unwrap());
        for (entry, expected) in gradient.values().iter().enumerate() {
            let step = 1e-5;
            let moved = |by: f64| {
                let mut values = at.clone();
                values[entry] += by;
                cosine(&policy, &Parameters::new(shape, values).unwrap())
            };
            let found = (moved(step) - moved(-step)) / (2.0 * step);
            assert!((found - expected).abs() < 1e-7 * (1.0 + expected.abs()) + 1e-8, "{found} instead of {expected}");
        }
    }
}

/// The O(1) steps in the span of three vectors are the paper's steps: here they are taken in full.
#[test]
fn the_projected_gradient_is_the_papers() {
    let mut rng = Rng::new(7, 5);
    for trial in 0..100 {
        // With one difference the gradient is zero or noise: there is nothing to compare.
        let case = Case::random(&mut rng, 2 + trial % 4, 2 + trial % 6);
        let policy = case.policy(&mut rng, trial % 3);
        let set = case.set();
        let estimates = case.statistics.estimates();
        let mut at = policy.clone();
        for i in 1..=100 {
            let gradient = cosine_gradient(&policy, &at);
            let step = 0.1 / f64::from(i).sqrt();
            let moved = at.values().iter().zip(gradient.values()).map(|(x, g)| x + step * g).collect();
            at = Parameters::new(case.shape, moved).unwrap();
            let distance = case.distance_squared(&at).sqrt();
            if distance > set.radius() {
                let keep = set.radius() / distance;
                let moved = at.values().iter().zip(estimates.values()).map(|(x, e)| e + keep * (x - e)).collect();
                at = Parameters::new(case.shape, moved).unwrap();
            }
        }
        let found = set.projected_gradient(&policy, 100, 0.1);
        for (found, expected) in found.parameters.values().iter().zip(at.values()) {
            assert!(
                (found - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                "trial {trial}: {found} instead of {expected}"
            );
        }
    }
}
