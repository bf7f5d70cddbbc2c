//! A few rows, whose products are added up together: much cheaper than row by row, and the same sum.

use multiversion::multiversion;

use crate::fixed_point::{ONE, RewardGrid, centred_square, whole};

/// Rows of a block. A longer one costs more memory, a shorter one more time to add up what several rows were multiplied to at once.
const ROWS: usize = 128;
/// Blocks whose sums fit into machine words: 1,024 rows of products below 2⁵⁴.
const BLOCKS: u32 = 8;
/// Numbers of a row are below this.
const LIMIT: u64 = 1 << 27;
/// Says that numbers have 32 bits, so that several are multiplied at once.
const LOW: u64 = 0xffff_ffff;

/// Rows that wait to be added, and the sums of the blocks since they were last taken out.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowBlock {
    /// One row after the other: the context, then the reward.
    waiting: Vec<f64>,
    rows: usize,
    /// The lower triangle of the products' sums, by rows.
    sums: Vec<u64>,
    blocks: u32,
}

/// How a row becomes whole numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowShape<'a> {
    /// The coordinates whose squares follow the context.
    pub(crate) squares: &'a [usize],
    pub(crate) rewards: RewardGrid,
}

impl RowBlock {
    /// Lets a row wait. Returns whether the block is full.
    #[inline]
    #[must_use]
    pub(crate) fn add(&mut self, context: &[f64], reward: f64) -> bool {
        self.waiting.extend_from_slice(context);
        self.waiting.push(reward);
        self.rows += 1;
        self.rows == ROWS
    }

    /// Adds the products of the waiting rows, as numbers `(z, 1, y)`, to the sums, of which there are so many. If a number is too large for
    /// machine words, nothing is added, and the rows are returned.
    pub(crate) fn multiply(&mut self, shape: RowShape<'_>, wide: &mut [i128]) -> Option<Vec<f64>> {
        if self.rows == 0 {
            return None;
        }
        let rows = std::mem::take(&mut self.rows);
        self.sums.resize(wide.len(), 0);
        if !add_products(&self.waiting, rows, shape, &mut self.sums) {
            return Some(std::mem::take(&mut self.waiting));
        }
        self.waiting.clear();
        self.blocks += 1;
        if self.blocks == BLOCKS {
            self.take_out(wide);
        }
        None
    }

    /// Adds everything that was multiplied to the wide sums, and gives the memory back.
    pub(crate) fn settle(&mut self, wide: &mut [i128]) {
        self.take_out(wide);
        *self = Self::default();
    }

    fn take_out(&mut self, wide: &mut [i128]) {
        for (wide, sum) in wide.iter_mut().zip(&mut self.sums) {
            *wide += i128::from(std::mem::take(sum));
        }
        self.blocks = 0;
    }
}

/// Adds to the lower triangle, by rows, the products of every two columns. False, and nothing is added, if a number is too large.
// Whole numbers have the same sums whatever the processor: it may multiply as many at once as it can.
#[multiversion(targets("x86_64+avx2"))]
fn add_products(waiting: &[f64], rows: usize, shape: RowShape<'_>, sums: &mut [u64]) -> bool {
    let Some(columns) = columns(waiting, rows, shape) else { return false };
    let pairs = || columns.chunks_exact(2 * rows);
    let mut sums = sums;
    for (at, pair) in pairs().enumerate() {
        // Two lines of the triangle; the second is missing if there is an odd number of them.
        let (first, rest) = sums.split_at_mut(2 * at + 1);
        let (second, rest) = rest.split_at_mut(rest.len().min(2 * at + 2));
        for (other_at, other) in pairs().take(at + 1).enumerate() {
            let products = products(pair, other, rows);
            for (line, products) in [&mut *first, &mut *second].into_iter().zip(products) {
                line.iter_mut().skip(2 * other_at).zip(products).for_each(|(sum, product)| *sum += product);
            }
        }
        sums = rest;
    }
    true
}

/// The rows in whole numbers, one column after the other, an even number of them. `None` if a number is too large.
#[expect(clippy::inline_always, reason = "it must be compiled for the processor of its caller")]
#[inline(always)]
fn columns(waiting: &[f64], rows: usize, shape: RowShape<'_>) -> Option<Vec<u64>> {
    let width = waiting.len() / rows;
    let wholes: Vec<u64> = waiting.iter().map(|&value| whole(value).cast_unsigned()).collect();
    let count = (width + shape.squares.len() + 1).next_multiple_of(2);
    let mut columns = Vec::with_capacity(count * rows);
    for at in 0..width - 1 {
        columns.extend(wholes.chunks_exact(width).map(|row| row[at]));
    }
    for &coordinate in shape.squares {
        let start = columns.len();
        columns.extend_from_within(coordinate * rows..(coordinate + 1) * rows);
        columns[start..].iter_mut().for_each(|value| *value = centred_square(*value));
    }
    columns.resize(columns.len() + rows, ONE.cast_unsigned());
    let rewards = waiting.chunks_exact(width).map(|row| row[width - 1]);
    columns.extend(rewards.map(|reward| shape.rewards.whole(reward).cast_unsigned()));
    columns.resize(count * rows, 0);
    (columns.iter().fold(0, |all, value| all | value) < LIMIT).then_some(columns)
}

/// The sums of the products of either column of a pair with either of another, all of so many rows. They are below 2⁶⁴: a check for each would
/// keep the compiler from multiplying several rows at once.
#[expect(clippy::inline_always, reason = "it must be compiled for the processor of its caller")]
#[inline(always)]
fn products(pair: &[u64], other: &[u64], rows: usize) -> [[u64; 2]; 2] {
    let ((a, b), (c, d)) = (pair.split_at(rows), other.split_at(rows));
    let (b, c, d) = (&b[..a.len()], &c[..a.len()], &d[..a.len()]);
    let [mut ac, mut ad, mut bc, mut bd] = [0_u64; 4];
    for row in 0..a.len() {
        let (a, b, c, d) = (a[row] & LOW, b[row] & LOW, c[row] & LOW, d[row] & LOW);
        ac = ac.wrapping_add(a.wrapping_mul(c));
        ad = ad.wrapping_add(a.wrapping_mul(d));
        bc = bc.wrapping_add(b.wrapping_mul(c));
        bd = bd.wrapping_add(b.wrapping_mul(d));
    }
    [[ac, ad], [bc, bd]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixed_point::square;

    /// Blocks of every length and of an even and an odd number of columns, against the products row by row.
    #[test]
    fn a_block_has_the_products_of_its_rows() {
        let rewards = RewardGrid::of_range(-1.0, 3.0);
        for (width, squares) in [(1, vec![]), (3, vec![1]), (4, vec![1, 3]), (5, vec![])] {
            let shape = RowShape { squares: &squares, rewards };
            for rows in [1, 2, 7, ROWS - 1, ROWS, 3 * ROWS + 5, 9 * ROWS] {
                let count = width + squares.len() + 2;
                let (mut block, mut wide) = (RowBlock::default(), vec![0_i128; count * (count + 1) / 2]);
                let mut expected = wide.clone();
                for row in 0..rows {
                    // Numbers without a pattern, among them both ends.
                    let number = |at: usize| (((row + 1) * (at + 3) * 7919) % 101) as f64 / 100.0;
                    let context: Vec<f64> = (0..width).map(number).collect();
                    let reward = 4.0 * number(width) - 1.0;
                    let mut numbers: Vec<i64> = context.iter().map(|&value| whole(value)).collect();
                    numbers.extend(squares.iter().map(|&at| square(whole(context[at]))));
                    numbers.extend([ONE, rewards.whole(reward)]);
                    let products = (0..count).flat_map(|one| (0..=one).map(move |other| (one, other)));
                    for (sum, (one, other)) in expected.iter_mut().zip(products) {
                        *sum += i128::from(numbers[one]) * i128::from(numbers[other]);
                    }
                    if block.add(&context, reward) {
                        assert_eq!(block.multiply(shape, &mut wide), None);
                    }
                }
                assert_eq!(block.multiply(shape, &mut wide), None);
                block.settle(&mut wide);
                assert_eq!(wide, expected, "{rows} rows, {width} numbers, squares of {squares:?}");
            }
        }
    }

    #[test]
    fn rows_with_a_number_that_is_too_large_are_returned() {
        let shape = RowShape { squares: &[], rewards: RewardGrid::of_range(0.0, 1.0) };
        let (mut block, mut wide) = (RowBlock::default(), vec![0; 6]);
        for context in [0.5, 2.0] {
            assert!(!block.add(&[context], 1.0));
        }
        assert_eq!(block.multiply(shape, &mut wide), Some(vec![0.5, 1.0, 2.0, 1.0]));
        block.settle(&mut wide);
        assert_eq!(wide, [0; 6]);
    }
}
