//! The member of a linear family of parameters that is nearest to a target, in the metric `‖·‖_V` of the statistics.

use rarely_core::{Parameters, Ridge, Statistics};

use crate::normal_equations::NormalEquations;

/// `argmin_x Σ_a ‖(Dx)_a − target_a‖²_{V_a}`, where each column of `D` is a stack of k·d numbers. Variables with a floor stay at or above
/// it. O(q²kd + qkd² + q³).
pub(crate) fn nearest(
    statistics: &Statistics,
    target: &Parameters,
    columns: &[Vec<f64>],
    floors: &[Option<f64>],
) -> Vec<f64> {
    let metric: Vec<Vec<f64>> = statistics.arms().iter().map(information).collect();
    let weighted: Vec<Vec<f64>> = columns.iter().map(|column| apply(&metric, column)).collect();
    let gram: Vec<Vec<f64>> =
        weighted.iter().map(|left| columns.iter().map(|right| dot(left, right)).collect()).collect();
    let right: Vec<f64> = weighted.iter().map(|column| dot(column, target.values())).collect();
    let mut fixed: Vec<Option<f64>> = vec![None; columns.len()];
    loop {
        let solution = solve_with(&gram, &right, &fixed);
        let below = |at: &usize| fixed[*at].is_none() && floors[*at].is_some_and(|floor| solution[*at] < floor);
        let Some(at) = (0..columns.len()).find(below) else {
            return solution;
        };
        fixed[at] = floors[at];
    }
}

/// The stack of k·d numbers `Dx`.
pub(crate) fn combine(columns: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; columns.first().map_or(0, Vec::len)];
    for (column, &scale) in columns.iter().zip(x) {
        for (sum, value) in sum.iter_mut().zip(column) {
            *sum += scale * value;
        }
    }
    sum
}

/// `V` of one arm as a full matrix, row by row.
fn information(ridge: &Ridge) -> Vec<f64> {
    let d = ridge.dimension();
    let mut full = vec![0.0; d * d];
    let mut packed = ridge.information();
    for i in 0..d {
        for j in 0..=i {
            let value = packed.next().unwrap_or(0.0) + if i == j { ridge.penalty() } else { 0.0 };
            full[i * d + j] = value;
            full[j * d + i] = value;
        }
    }
    full
}

/// The normal equations with some variables given.
fn solve_with(gram: &[Vec<f64>], right: &[f64], fixed: &[Option<f64>]) -> Vec<f64> {
    let free: Vec<usize> = (0..right.len()).filter(|&at| fixed[at].is_none()).collect();
    let given =
        |row: usize| -> f64 { fixed.iter().enumerate().map(|(at, value)| gram[row][at] * value.unwrap_or(0.0)).sum() };
    let packed = free.iter().enumerate().flat_map(|(row, &i)| free[..=row].iter().map(move |&j| (i, j)));
    let information: Vec<f64> = packed.map(|(i, j)| gram[i][j]).collect();
    let moment: Vec<f64> = free.iter().map(|&at| right[at] - given(at)).collect();
    let reduced = NormalEquations::new(&information, &moment).coefficients();
    let mut solution: Vec<f64> = fixed.iter().map(|value| value.unwrap_or(0.0)).collect();
    for (at, value) in free.into_iter().zip(reduced) {
        solution[at] = value;
    }
    solution
}

/// `V` times a stack, arm by arm.
fn apply(metric: &[Vec<f64>], stack: &[f64]) -> Vec<f64> {
    let d = stack.len() / metric.len();
    let mut product = Vec::with_capacity(stack.len());
    for (matrix, part) in metric.iter().zip(stack.chunks_exact(d)) {
        product.extend(matrix.chunks_exact(d).map(|row| dot(row, part)));
    }
    product
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
