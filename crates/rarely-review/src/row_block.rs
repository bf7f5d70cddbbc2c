//! A few rows of whole numbers, whose products are added up together: much cheaper than row by row, and the same sum.

/// Rows of a block.
const ROWS: usize = 16;
/// Blocks whose sums fit into machine words: 512 rows of products below 2⁵⁴.
const BLOCKS: u32 = 32;
/// Numbers of a row are below this.
const LIMIT: u64 = 1 << 27;
/// Says that numbers have 32 bits, so that two are multiplied at once.
const LOW: u64 = 0xffff_ffff;

/// Rows that wait to be added, and the sums of the blocks since they were last taken out.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowBlock {
    /// One row after the other.
    waiting: Vec<u32>,
    rows: usize,
    /// The same by columns, for the time of a multiplication.
    columns: Vec<[u64; ROWS]>,
    /// The lower triangle of the products' sums, by rows.
    sums: Vec<u64>,
    blocks: u32,
}

impl RowBlock {
    /// Adds a row of so many numbers. False if one of them is too large for machine words: nothing is added then.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_sign_loss, clippy::cast_possible_truncation)]
    pub(crate) fn add(&mut self, row: &[i64], wide: &mut [i128]) -> bool {
        if row.iter().fold(0, |all, &value| all | value as u64) >= LIMIT {
            return false;
        }
        self.waiting.extend(row.iter().map(|&value| value as u32));
        self.rows += 1;
        if self.rows == ROWS {
            self.multiply(wide.len());
            if self.blocks == BLOCKS {
                self.take_out(wide);
            }
        }
        true
    }

    /// Adds everything to the wide sums, and gives the memory back.
    pub(crate) fn settle(&mut self, wide: &mut [i128]) {
        if self.rows > 0 {
            self.multiply(wide.len());
        }
        self.take_out(wide);
        *self = Self::default();
    }

    fn multiply(&mut self, sums: usize) {
        let width = self.waiting.len() / self.rows;
        self.sums.resize(sums, 0);
        self.columns.resize(width, [0; ROWS]);
        self.columns.iter_mut().for_each(|column| column[self.rows..].fill(0));
        for (at, row) in self.waiting.chunks_exact(width).enumerate() {
            for (column, &value) in self.columns.iter_mut().zip(row) {
                column[at] = u64::from(value);
            }
        }
        add_products(&self.columns, &mut self.sums);
        self.waiting.clear();
        self.rows = 0;
        self.blocks += 1;
    }

    fn take_out(&mut self, wide: &mut [i128]) {
        for (wide, sum) in wide.iter_mut().zip(&mut self.sums) {
            *wide += i128::from(std::mem::take(sum));
        }
        self.blocks = 0;
    }
}

/// Adds to the lower triangle, by rows, the products of every two columns.
// By itself, so that the compiler multiplies two rows at once; among other code it was seen to take two columns, at three times the cost.
#[inline(never)]
fn add_products(columns: &[[u64; ROWS]], sums: &mut [u64]) {
    let mut sums = sums;
    for (at, column) in columns.iter().enumerate() {
        let (line, rest) = sums.split_at_mut(at + 1);
        for (sum, other) in line.iter_mut().zip(columns) {
            *sum += dot(column, other);
        }
        sums = rest;
    }
}

#[inline]
fn dot(one: &[u64; ROWS], other: &[u64; ROWS]) -> u64 {
    let mut sum = 0;
    for row in 0..ROWS {
        sum += (one[row] & LOW) * (other[row] & LOW);
    }
    sum
}
