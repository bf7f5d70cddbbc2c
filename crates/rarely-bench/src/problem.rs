//! A synthetic linear bandit as a table of rounds.

use rarely_core::{Context, Parameters, Rng, Rule, Settings, Shape};

/// Contexts in the table: enough to span the largest dimension, few enough to stay in the second-level cache.
const ROWS: usize = 256;
/// Noise terms: prime to the rows, so that every context meets every term, and they sum to zero. Cycling for ever is
/// then without bias, and true parameters stay plausible for ever.
const NOISE_TERMS: usize = 1021;
/// Standard deviation of the noise.
const NOISE: f64 = 0.1;
/// Outcomes of each arm that a workload learns before it is measured.
const LESSONS: usize = 500;
const SEED: u64 = 19;

/// Contexts `(1, x)` with `x` uniform on `[−1, 1]^{d−1}` (so that every arm is best somewhere), coefficients N(0, 1), noise sd 0.1.
#[derive(Debug)]
pub struct BenchProblem {
    truth: Parameters,
    contexts: Vec<f64>,
    means: Vec<f64>,
    best: Vec<usize>,
    noise: Vec<f64>,
}

/// The round of the table that a workload is at.
#[derive(Debug, Clone, Copy, Default)]
pub struct RoundCursor {
    row: usize,
    term: usize,
}

impl RoundCursor {
    /// Returns the current round and moves to the next.
    #[inline]
    pub fn advance(&mut self) -> Self {
        let here = *self;
        self.row = (self.row + 1) % ROWS;
        self.term = if self.term + 1 == NOISE_TERMS { 0 } else { self.term + 1 };
        here
    }

    /// The same along some rows of the table only.
    #[inline]
    pub fn advance_along(&mut self, rows: &[usize]) -> Self {
        let here = Self { row: rows[self.row], term: self.term };
        self.row = if self.row + 1 == rows.len() { 0 } else { self.row + 1 };
        self.term = if self.term + 1 == NOISE_TERMS { 0 } else { self.term + 1 };
        here
    }

    /// Every row of the table, at the first noise term.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..ROWS).map(|row| Self { row, term: 0 })
    }

    /// The row of the table.
    pub fn row(self) -> usize {
        self.row
    }
}

impl BenchProblem {
    /// The problem of a shape, the same in every run. It is never freed.
    pub fn new(arms: usize, dimension: usize) -> &'static Self {
        let shape = Shape::new(arms, dimension).expect("a shape");
        let mut rng = Rng::new(SEED, 0);
        let values = (0..shape.parameters()).map(|_| rng.normal()).collect();
        let truth = Parameters::new(shape, values).expect("parameters");
        let contexts: Vec<f64> = (0..ROWS).flat_map(|_| draw_context(dimension, &mut rng)).collect();
        let rows = || contexts.chunks_exact(dimension);
        let means = rows().flat_map(|row| truth.iter().map(|arm| dot(row, arm))).collect();
        let rule = Rule::new(truth.clone());
        let choose = |row| rule.choose(Context::new(row).expect("a context")).expect("a fitting context").index();
        let best = rows().map(choose).collect();
        let mut noise: Vec<f64> = (0..NOISE_TERMS / 2).map(|_| NOISE * rng.normal()).collect();
        noise.extend(noise.clone().iter().map(|term| -term));
        noise.push(0.0);
        Box::leak(Box::new(Self { truth, contexts, means, best, noise }))
    }

    /// Arms and variables.
    pub fn shape(&self) -> Shape {
        self.truth.shape()
    }

    /// The true parameters.
    pub fn truth(&self) -> &Parameters {
        &self.truth
    }

    /// The settings of a policy: valid bounds, and the true parameters as the policy in force, so that nothing ever asks for a switch.
    pub fn settings(&self) -> Settings {
        let length = dot(self.truth.values(), self.truth.values()).sqrt();
        let settings = Settings::new(self.shape().arms(), self.shape().dimension());
        settings
            .and_then(|settings| settings.noise(NOISE)?.norm_bound(length)?.deployed(self.truth.values().to_vec()))
            .expect("settings")
    }

    /// The context of a round.
    #[inline]
    pub fn context(&self, cursor: RoundCursor) -> &[f64] {
        let dimension = self.truth.shape().dimension();
        &self.contexts[cursor.row * dimension..(cursor.row + 1) * dimension]
    }

    /// The arm that is best in a round.
    #[inline]
    pub fn best(&self, cursor: RoundCursor) -> usize {
        self.best[cursor.row]
    }

    /// The reward of an arm in a round.
    #[inline]
    pub fn reward(&self, cursor: RoundCursor, arm: usize) -> f64 {
        self.means[cursor.row * self.truth.shape().arms() + arm] + self.noise[cursor.term]
    }

    /// Outcomes to learn from before the measurement, 500 for every arm, in turn.
    pub fn lessons(&self, mut learn: impl FnMut(&[f64], usize, f64)) {
        let mut rng = Rng::new(SEED, 1);
        let (arms, dimension) = (self.shape().arms(), self.shape().dimension());
        for round in 0..LESSONS * arms {
            let (context, arm) = (draw_context(dimension, &mut rng), round % arms);
            learn(&context, arm, dot(&context, self.truth.arm(arm)) + NOISE * rng.normal());
        }
    }
}

/// `(1, x)`.
pub(crate) fn draw_context(dimension: usize, rng: &mut Rng) -> Vec<f64> {
    (0..dimension).map(|j| if j == 0 { 1.0 } else { 2.0 * rng.uniform() - 1.0 }).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
