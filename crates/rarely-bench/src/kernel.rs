//! The bare kernel: `g = V⁻¹s`, `q = sᵀg`, `V⁻¹ −= ggᵀ/(1+q)`, `θ̂ += g(y − sᵀθ̂)/(1+q)`. No checks, no sums, no logarithm.

use crate::Workload;
use crate::problem::{BenchProblem, RoundCursor};

/// A kernel for each arm, fed with the truly best arm's outcomes: the rounds that the held policies play.
#[derive(Debug)]
pub struct Kernels {
    problem: &'static BenchProblem,
    cursor: RoundCursor,
    arms: Vec<ArmKernel>,
}

#[derive(Debug, Clone)]
struct ArmKernel {
    /// The lower triangle by rows.
    inverse: Vec<f64>,
    estimate: Vec<f64>,
    direction: Vec<f64>,
}

impl Kernels {
    /// With the problem's lessons learned.
    pub fn new(problem: &'static BenchProblem) -> Self {
        let (arms, dimension) = (problem.shape().arms(), problem.shape().dimension());
        let penalty = problem.settings().confidence().penalty.get();
        let mut kernel =
            ArmKernel { inverse: Vec::new(), estimate: vec![0.0; dimension], direction: vec![0.0; dimension] };
        for i in 0..dimension {
            kernel.inverse.extend((0..=i).map(|j| if i == j { 1.0 / penalty } else { 0.0 }));
        }
        let mut arms = vec![kernel; arms];
        problem.lessons(|context, arm, reward| arms[arm].update(context, reward));
        Self { problem, cursor: RoundCursor::default(), arms }
    }
}

impl Workload for Kernels {
    fn run(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let cursor = self.cursor.advance();
            let arm = self.problem.best(cursor);
            self.arms[arm].update(self.problem.context(cursor), self.problem.reward(cursor, arm));
        }
    }
}

impl ArmKernel {
    #[inline]
    fn update(&mut self, context: &[f64], reward: f64) {
        let Self { inverse, estimate, direction } = self;
        multiply(inverse, context, direction);
        let shrink = 1.0 / (1.0 + dot(context, direction));
        let step = shrink * (reward - dot(context, estimate));
        let mut rest = inverse.as_mut_slice();
        for i in 0..context.len() {
            let (row, below) = rest.split_at_mut(i + 1);
            add_scaled(row, -shrink * direction[i], &direction[..=i]);
            rest = below;
        }
        add_scaled(estimate, step, direction);
    }
}

/// `out = A x`, one pass over the triangle.
#[inline]
fn multiply(matrix: &[f64], x: &[f64], out: &mut [f64]) {
    let mut rest = matrix;
    for i in 0..x.len() {
        let (row, below) = rest.split_at(i + 1);
        let (above, here) = out.split_at_mut(i);
        here[0] = row[i] * x[i] + dot_and_add(&row[..i], &x[..i], x[i], above);
        rest = below;
    }
}

/// `Σ rowⱼxⱼ` and, in the same pass, `y += scale · row`.
#[inline]
fn dot_and_add(row: &[f64], x: &[f64], scale: f64, y: &mut [f64]) -> f64 {
    let (row, row_rest) = row.as_chunks::<4>();
    let (x, x_rest) = x.as_chunks::<4>();
    let (y, y_rest) = y.as_chunks_mut::<4>();
    let mut sums = [0.0; 4];
    for ((row, x), y) in row.iter().zip(x).zip(y) {
        for lane in 0..4 {
            sums[lane] += row[lane] * x[lane];
            y[lane] += scale * row[lane];
        }
    }
    let mut rest = 0.0;
    for ((row, x), y) in row_rest.iter().zip(x_rest).zip(y_rest) {
        rest += row * x;
        *y += scale * row;
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// Four partial sums, for the vector registers.
#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

#[inline]
fn add_scaled(y: &mut [f64], scale: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += scale * x;
    }
}
