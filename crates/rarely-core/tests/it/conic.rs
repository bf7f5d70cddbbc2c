//! Random cases with full matrices, and a conic solver (Clarabel) that we did not write.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};
use rarely_core::{
    Arm, Confidence, ConfidenceSet, Context, ErrorProbability, Noise, NormBound, Parameters, Penalty, Profile, Rng,
    Sets, Shape, Statistics,
};

/// A random log with its statistics, and `V` of every arm summed by itself, as full matrices.
pub(crate) struct Case {
    pub(crate) shape: Shape,
    pub(crate) statistics: Statistics,
    pub(crate) confidence: Confidence,
    pub(crate) full: Vec<Vec<Vec<f64>>>,
}

impl Case {
    /// Random sizes, penalties, noise; some arms hardly or never observed; some contexts nearly collinear.
    pub(crate) fn random(rng: &mut Rng, arms: usize, dimension: usize) -> Self {
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
            norm_bound: Some(NormBound::new(0.5 + rng.uniform()).unwrap()),
            error_probability: ErrorProbability::new(0.01).unwrap(),
            penalty: Penalty::new(penalty).unwrap(),
            sets: Sets::Joint,
            profile: Profile::Rigorous,
        };
        Self { shape, statistics, confidence, full }
    }

    pub(crate) fn set(&self) -> ConfidenceSet<'_> {
        self.confidence.set(&self.statistics)
    }

    /// A policy: anywhere, near the estimate, on the far side of it, or nearly the edge of what is plausible.
    pub(crate) fn policy(&self, rng: &mut Rng, kind: usize) -> Parameters {
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
    pub(crate) fn distance_squared(&self, parameters: &Parameters) -> f64 {
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
pub(crate) fn cholesky(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
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

pub(crate) fn solve(
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
pub(crate) fn oracle_cosine(case: &Case, policy: &Parameters) -> f64 {
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
