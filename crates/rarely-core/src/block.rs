//! Contexts eight at a time: sums that run over contexts instead of over variables, so that vector registers are always full.
//!
//! Every sum is taken in the order in which [`symmetric`](crate::symmetric) takes it for a single context: the same bits.

use crate::symmetric::{ANY, NOTHING, by_dimension, known, packed_length};

/// Contexts in a block.
pub(crate) const WIDTH: usize = 8;

/// One number for each context of a block.
pub(crate) type Lanes = [f64; WIDTH];

/// Calls `visit` with each block of rows in turn: its variables, and how many of its lanes are rows. `columns` is scratch, one
/// entry for each variable; lanes beyond the rows hold numbers of no meaning.
#[inline]
pub(crate) fn for_each(rows: &[f64], columns: &mut [Lanes], mut visit: impl FnMut(&[Lanes], usize)) {
    let dimension = columns.len();
    for rows in rows.chunks(WIDTH * dimension) {
        by_dimension!(dimension, transpose(rows, columns), transpose::<ANY>(rows, columns));
        visit(columns, rows.len() / dimension);
    }
}

#[inline]
fn transpose<const D: usize>(rows: &[f64], columns: &mut [Lanes]) {
    let dimension = known::<D>(columns.len());
    let columns = &mut columns[..dimension];
    for (lane, row) in rows.chunks_exact(dimension).take(WIDTH).enumerate() {
        for (column, &value) in columns.iter_mut().zip(row) {
            column[lane] = value;
        }
    }
}

/// The first numbers of a list, one for each lane; zeros where it ends before.
#[inline]
pub(crate) fn lanes_of(list: &[usize]) -> [usize; WIDTH] {
    list.first_chunk().copied().unwrap_or_else(|| {
        let mut lanes = [0; WIDTH];
        lanes[..list.len()].copy_from_slice(list);
        lanes
    })
}

/// The arm that parameters, stored arm by arm, play at each context: [`best_of`](crate::rule::best_of), eight times.
#[inline]
pub(crate) fn best_of(parameters: &[f64], columns: &[Lanes]) -> [usize; WIDTH] {
    by_dimension!(columns.len(), best_of_sized(parameters, columns), best_of_sized::<ANY>(parameters, columns))
}

fn best_of_sized<const D: usize>(parameters: &[f64], columns: &[Lanes]) -> [usize; WIDTH] {
    let columns = &columns[..known::<D>(columns.len())];
    let mut best = Best::default();
    for (arm, coefficients) in parameters.chunks_exact(columns.len()).enumerate() {
        best.compare(arm, &score(columns, coefficients));
    }
    best.arms
}

/// [`best_of`], with the lead of each arm's score over the next one's.
#[inline]
pub(crate) fn best_with_margin(parameters: &[f64], columns: &[Lanes]) -> [(usize, f64); WIDTH] {
    by_dimension!(columns.len(), margins_sized(parameters, columns), margins_sized::<ANY>(parameters, columns))
}

fn margins_sized<const D: usize>(parameters: &[f64], columns: &[Lanes]) -> [(usize, f64); WIDTH] {
    let columns = &columns[..known::<D>(columns.len())];
    let (mut best, mut next) = (Best::default(), [f64::NEG_INFINITY; WIDTH]);
    for (arm, coefficients) in parameters.chunks_exact(columns.len()).enumerate() {
        let scores = score(columns, coefficients);
        for lane in 0..WIDTH {
            next[lane] = next[lane].max(scores[lane].min(best.scores[lane]));
        }
        best.compare(arm, &scores);
    }
    std::array::from_fn(|lane| (best.arms[lane], best.scores[lane] - next[lane]))
}

/// The best arms so far; ties go to the lowest.
pub(crate) struct Best {
    pub(crate) arms: [usize; WIDTH],
    pub(crate) scores: Lanes,
}

impl Default for Best {
    fn default() -> Self {
        Self { arms: [0; WIDTH], scores: [f64::NEG_INFINITY; WIDTH] }
    }
}

impl Best {
    /// Takes in the next arm.
    #[inline]
    pub(crate) fn compare(&mut self, arm: usize, scores: &Lanes) {
        for (best, (score, best_score)) in self.arms.iter_mut().zip(scores.iter().zip(&self.scores)) {
            // All ones where this arm is better: no branch.
            let better = 0_usize.wrapping_sub(usize::from(score > best_score));
            *best = (arm & better) | (*best & !better);
        }
        for (best, &score) in self.scores.iter_mut().zip(scores) {
            *best = if score > *best { score } else { *best };
        }
    }
}

/// `Σⱼ sⱼ·θⱼ`, summed in the order of the variables, as a rule does.
#[inline]
pub(crate) fn score(columns: &[Lanes], coefficients: &[f64]) -> Lanes {
    let mut sums = [NOTHING; WIDTH];
    for (column, coefficient) in columns.iter().zip(coefficients) {
        for lane in 0..WIDTH {
            sums[lane] += column[lane] * coefficient;
        }
    }
    sums
}

/// [`symmetric::dot`](crate::symmetric::dot) with each context.
#[inline]
pub(crate) fn dot<const D: usize>(columns: &[Lanes], vector: &[f64]) -> Lanes {
    let dimension = known::<D>(columns.len());
    let mut parts = [[NOTHING; WIDTH]; 4];
    let (column_head, column_tail) = columns[..dimension].as_chunks::<4>();
    let (head, tail) = vector[..dimension].as_chunks::<4>();
    for (columns, entries) in column_head.iter().zip(head) {
        for part in 0..4 {
            for lane in 0..WIDTH {
                parts[part][lane] += columns[part][lane] * entries[part];
            }
        }
    }
    let tail = score(column_tail, tail);
    let mut sums = [0.0; WIDTH];
    for lane in 0..WIDTH {
        sums[lane] = (parts[0][lane] + parts[2][lane]) + (parts[1][lane] + parts[3][lane]) + tail[lane];
    }
    sums
}

/// [`symmetric::quadratic`](crate::symmetric::quadratic) of each context.
#[inline]
pub(crate) fn quadratic<const D: usize>(matrix: &[f64], columns: &[Lanes]) -> Lanes {
    let dimension = known::<D>(columns.len());
    let (matrix, columns) = (&matrix[..packed_length(dimension)], &columns[..dimension]);
    let mut totals = [NOTHING; WIDTH];
    let mut at = 0;
    for i in 0..dimension {
        // As the single context's sum, which is another one for small dimensions.
        let (row, above) = (&matrix[at..at + i], &columns[..i]);
        let below = if D == ANY { dot::<ANY>(above, row) } else { score(above, row) };
        for lane in 0..WIDTH {
            totals[lane] += columns[i][lane] * (2.0 * below[lane] + matrix[at + i] * columns[i][lane]);
        }
        at += i + 1;
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule;
    use crate::symmetric;

    fn products_and_forms<const D: usize>(columns: &[Lanes], vector: &[f64], matrix: &[f64]) -> (Lanes, Lanes) {
        (dot::<D>(columns, vector), quadratic::<D>(matrix, columns))
    }

    #[test]
    fn a_block_has_the_bits_of_single_contexts() {
        for dimension in (1..=13).chain([20, 30, 33]) {
            let entry = |at: usize| ((at * at + 3 * dimension) as f64 * 0.731).sin();
            let matrix: Vec<f64> = (0..packed_length(dimension)).map(entry).collect();
            let vector: Vec<f64> = (0..dimension).map(|at| entry(at + 100)).collect();
            let parameters: Vec<f64> = (0..5 * dimension).map(|at| entry(at + 200)).collect();
            let rows: Vec<f64> = (0..(2 * WIDTH + 3) * dimension).map(|at| entry(at + 300)).collect();
            let mut seen = 0;
            for_each(&rows, &mut vec![[f64::NAN; WIDTH]; dimension], |columns, count| {
                let (products, forms) = by_dimension!(
                    dimension,
                    products_and_forms(columns, &vector, &matrix),
                    products_and_forms::<ANY>(columns, &vector, &matrix)
                );
                let arms = best_of(&parameters, columns);
                let margins = best_with_margin(&parameters, columns);
                for lane in 0..count {
                    let row = &rows[seen * dimension..(seen + 1) * dimension];
                    assert_eq!(products[lane].to_bits(), symmetric::dot(row, &vector).to_bits());
                    assert_eq!(forms[lane].to_bits(), symmetric::quadratic(&matrix, row).to_bits());
                    assert_eq!(arms[lane], rule::best_of(&parameters, row));
                    let scores: Vec<f64> = parameters.chunks(dimension).map(|arm| symmetric::dot(row, arm)).collect();
                    let others = (0..5).filter(|&arm| arm != arms[lane]);
                    let next = others.map(|arm| scores[arm]).fold(f64::NEG_INFINITY, f64::max);
                    assert_eq!(margins[lane].0, arms[lane]);
                    assert!((margins[lane].1 - (scores[arms[lane]] - next)).abs() < 1e-12);
                    seen += 1;
                }
            });
            assert_eq!(seen, 2 * WIDTH + 3);
        }
    }
}
