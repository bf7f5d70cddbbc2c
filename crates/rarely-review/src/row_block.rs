//! A few rows, whose products are added up together: much cheaper than row by row, and the same sum.

use crate::fixed_point::{ONE, RewardGrid, centred_square, whole};

/// Rows of a block: one column of them fits into the registers of the oldest processors, and is multiplied by all others from there.
const ROWS: usize = 16;
/// Blocks whose sums fit into machine words: 512 rows of products below 2⁵⁴.
const BLOCKS: u32 = 32;
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
    /// The same in whole numbers, by columns, for the time of a multiplication.
    columns: Vec<Column>,
    /// The lower triangle of the products' sums, by rows.
    sums: Vec<u64>,
    blocks: u32,
}

/// One number of all rows of a block.
type Column = [u64; ROWS];

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
        if self.rows == 0 {
            self.waiting.reserve_exact(ROWS * (context.len() + 1));
        }
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
        if !fill(&mut self.columns, &self.waiting, self.rows, shape) {
            self.rows = 0;
            return Some(std::mem::take(&mut self.waiting));
        }
        self.sums.resize(wide.len(), 0);
        add_products(&self.columns, &mut self.sums);
        self.waiting.clear();
        self.rows = 0;
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

/// Fills columns with the rows in whole numbers, and with 0 where rows are missing. False if a number is too large.
fn fill(columns: &mut Vec<Column>, waiting: &[f64], rows: usize, shape: RowShape<'_>) -> bool {
    let width = waiting.len() / rows;
    columns.resize(width + shape.squares.len() + 1, [0; ROWS]);
    let (contexts, others) = columns.split_at_mut(width - 1);
    for (at, column) in contexts.iter_mut().enumerate() {
        *column = numbers(waiting, width, at).map(|value| whole(value).cast_unsigned());
    }
    let (squares, last) = others.split_at_mut(shape.squares.len());
    for (column, &coordinate) in squares.iter_mut().zip(shape.squares) {
        *column = contexts[coordinate].map(centred_square);
    }
    if let [one, reward] = last {
        *one = [ONE.cast_unsigned(); ROWS];
        *reward = numbers(waiting, width, width - 1).map(|value| shape.rewards.whole(value).cast_unsigned());
    }
    if rows < ROWS {
        for column in columns.iter_mut() {
            column[rows..].fill(0);
        }
    }
    let all = columns.iter().fold([0; ROWS], |mut all, column| {
        all.iter_mut().zip(column).for_each(|(all, value)| *all |= value);
        all
    });
    all.iter().all(|all| *all < LIMIT)
}

/// One number of all rows.
#[inline]
fn numbers(waiting: &[f64], width: usize, at: usize) -> [f64; ROWS] {
    let mut numbers = [0.0; ROWS];
    for (number, row) in numbers.iter_mut().zip(waiting.chunks_exact(width)) {
        *number = row[at];
    }
    numbers
}

/// Adds to the lower triangle, by rows, the products of every two columns.
// By itself, so that the compiler multiplies several rows at once; among other code it was seen to take several columns, at three times the cost.
#[inline(never)]
fn add_products(columns: &[Column], sums: &mut [u64]) {
    let mut sums = sums;
    for (at, column) in columns.iter().enumerate() {
        let (line, rest) = sums.split_at_mut(at + 1);
        for (sum, other) in line.iter_mut().zip(columns) {
            *sum += dot(column, other);
        }
        sums = rest;
    }
}

/// The sum of the products, which is below 2⁶⁴: a check for each would keep the compiler from multiplying several rows at once.
#[inline]
fn dot(one: &Column, other: &Column) -> u64 {
    let mut sum = 0_u64;
    for row in 0..ROWS {
        sum = sum.wrapping_add((one[row] & LOW).wrapping_mul(other[row] & LOW));
    }
    sum
}
