//! One option's rows as sums, from which the straight line and the bent one are both fitted.
//!
//! A row is `z = (s, q)`: the d numbers of its context, then the squares `(x − ½)²` of p of them. Kept are `Σzzᵀ`, `Σzy`,
//! `Σy²` and the number of rows: everything least squares needs, whatever the length of the log. They are sums of whole numbers, so that
//! the same rows have the same sums, bit for bit, in whatever order they were read and merged.

use rarely_error::{Explain, Remedy};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::fixed_point::{
    self, ONE, RewardGrid, WeightGrid, add_all, have_room, product, rounded_shift, shift_all, whole,
};
use crate::row_block::{RowBlock, RowShape};

/// Rows that can be counted exactly in `f64`.
const MAX_ROWS: u64 = 1 << 53;

/// The sums over one option's rows.
///
/// ```
/// use rarely_review::{Moments, RewardGrid};
///
/// let mut moments = Moments::new(2, &[1], RewardGrid::of_range(0.0, 1.0));
/// moments.add(&[1.0, 0.25], 0.5);
/// moments.add(&[1.0, 0.75], 0.75);
/// let (rows, information, moment) = moments.base();
/// assert_eq!((rows, information), (2, vec![2.0, 1.0, 0.625]));
/// assert_eq!(moment, [1.25, 0.6875]);
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "Stored", from = "Stored")]
pub struct Moments {
    sums: Stored,
    /// Rows that are not yet in the sums.
    block: RowBlock,
    /// Scratch space for a row.
    row: Vec<i64>,
    /// What weights are multiplied by.
    factor: f64,
}

/// The sums, and what they are over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Stored {
    dimension: usize,
    squares: Vec<usize>,
    rows: u64,
    rewards: RewardGrid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<WeightGrid>,
    /// The lower triangle of `Σvvᵀ`, by rows, of `v = (z, 1, y)` in whole numbers, times the weight.
    sums: Vec<i128>,
}

/// Two states that cannot be added: they are sums over different things.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "these sums are over {found} context variables with the squares of {found_squares:?}, those over {expected} with the \
     squares of {expected_squares:?}, or outcomes have another range, or only one of them has weights"
)]
pub struct MomentsMismatch {
    /// Context variables of the state that was added to.
    pub expected: usize,
    /// Its squared coordinates.
    pub expected_squares: Vec<usize>,
    /// Context variables of the state that was to be added.
    pub found: usize,
    /// Its squared coordinates.
    pub found_squares: Vec<usize>,
}

impl Explain for MomentsMismatch {
    fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::new("merge only states that were made with the same features and outcome"))
    }
}

impl Moments {
    /// Empty sums, for contexts with `dimension` numbers, the coordinates in `squares` also squared, of rewards on this grid.
    ///
    /// # Panics
    /// If a coordinate to square is not below `dimension`.
    pub fn new(dimension: usize, squares: &[usize], rewards: RewardGrid) -> Self {
        assert!(
            squares.iter().all(|coordinate| *coordinate < dimension),
            "only coordinates of the context have squares"
        );
        let sums = vec![0; packed_length(dimension + squares.len() + 2)];
        Stored { dimension, squares: squares.to_vec(), rows: 0, rewards, weights: None, sums }.into()
    }

    /// Empty sums of rows that have weights.
    pub(crate) fn weighted(self) -> Self {
        Stored { weights: Some(WeightGrid::open()), ..self.sums }.into()
    }

    /// Empty sums over the same things.
    pub(crate) fn emptied(&self) -> Self {
        let Stored { dimension, ref squares, rewards, weights, .. } = self.sums;
        let rewards = if rewards.is_open() { RewardGrid::open() } else { rewards };
        let empty = Self::new(dimension, squares, rewards);
        if weights.is_some() { empty.weighted() } else { empty }
    }

    /// The same without squares.
    pub(crate) fn emptied_without_squares(&self) -> Self {
        let emptied = self.emptied();
        let empty = Self::new(emptied.sums.dimension, &[], emptied.sums.rewards);
        if emptied.has_weights() { empty.weighted() } else { empty }
    }

    /// Sums over the same things that were computed elsewhere; `None` if they are not possible.
    pub(crate) fn of_sums(&self, rows: u64, sums: Vec<i128>) -> Option<Self> {
        let computed = Self::from(Stored { rows, sums, ..self.emptied().sums });
        computed.is_sound().then_some(computed)
    }

    /// Adds a row. O((d+p)²/2).
    ///
    /// # Panics
    /// If there are not d numbers.
    #[inline]
    pub fn add(&mut self, context: &[f64], reward: f64) {
        self.add_weighted(context, reward, 1.0);
    }

    /// Adds a row of this weight. Weights count only in sums that have them.
    ///
    /// # Panics
    /// If there are not d numbers.
    #[inline]
    pub(crate) fn add_weighted(&mut self, context: &[f64], reward: f64, weight: f64) {
        assert_eq!(context.len(), self.sums.dimension, "one number for each context variable");
        self.sums.rows += 1;
        if self.sums.weights.is_some() || self.sums.rewards.is_open() {
            self.add_wide(context, reward, weight);
        } else if self.block.add(context, reward) {
            self.multiply();
        }
    }

    /// Adds the products of the rows that wait.
    fn multiply(&mut self) {
        let shape = RowShape { squares: &self.sums.squares, rewards: self.sums.rewards };
        let Some(rows) = self.block.multiply(shape, &mut self.sums.sums) else { return };
        for row in rows.chunks_exact(self.sums.dimension + 1) {
            if let Some((&reward, context)) = row.split_last() {
                self.add_wide(context, reward, 1.0);
            }
        }
    }

    /// Adds a row, number by number.
    fn add_wide(&mut self, context: &[f64], reward: f64, weight: f64) {
        self.fill(context);
        let reward = self.whole_reward(reward);
        let weight = self.whole_weight(weight);
        self.row.push(reward);
        let mut sums = self.sums.sums.iter_mut();
        for (at, &one) in self.row.iter().enumerate() {
            let one = i128::from(one) * weight;
            // The row first: `zip` takes one more of the first than it can use of the second.
            for (&other, sum) in self.row[..=at].iter().zip(sums.by_ref()) {
                *sum = sum.saturating_add(one * i128::from(other));
            }
        }
    }

    /// Corrects the outcome of a row that was added, of weight 1: the sums are those with the new outcome from the start; up to rounding,
    /// if outcomes have no declared range. O(d+p).
    ///
    /// # Panics
    /// If there are not d numbers.
    pub fn correct(&mut self, context: &[f64], old_reward: f64, new_reward: f64) {
        assert_eq!(context.len(), self.sums.dimension, "one number for each context variable");
        self.fill(context);
        let new = i128::from(self.whole_reward(new_reward));
        let old = i128::from(self.whole_reward(old_reward));
        let weight = self.whole_weight(1.0);
        let start = packed_length(self.row.len());
        let line = &mut self.sums.sums[start..];
        for (sum, &value) in line.iter_mut().zip(&self.row) {
            *sum += weight * i128::from(value) * (new - old);
        }
        line[self.row.len()] += weight * (new * new - old * old);
    }

    /// The row without its reward: the context, its squares, and 1.
    #[inline]
    fn fill(&mut self, context: &[f64]) {
        let row = &mut self.row;
        row.clear();
        row.extend(context.iter().map(|&value| whole(value)));
        for &coordinate in &self.sums.squares {
            row.push(fixed_point::square(row[coordinate]));
        }
        row.push(ONE);
    }

    #[inline]
    fn whole_reward(&mut self, reward: f64) -> i64 {
        let bits = self.sums.rewards.bits_lacking(reward);
        if bits > 0 {
            self.sums.grow_reward_step(bits);
        }
        self.sums.rewards.whole(reward)
    }

    /// 1 in sums without weights.
    fn whole_weight(&mut self, weight: f64) -> i128 {
        let Some(grid) = self.sums.weights else { return 1 };
        self.sums.grow_weight_step(grid.bits_lacking(weight));
        self.sums.weights.map_or(1, |grid| i128::from(grid.whole(weight)))
    }

    /// Adds the rows of another log.
    ///
    /// # Errors
    /// If the other sums are over other context variables, squares or ranges.
    pub fn merge(&mut self, other: &Self) -> Result<(), MomentsMismatch> {
        let mut theirs = other.settled();
        self.settle();
        let mine = &mut self.sums;
        if (mine.dimension, &mine.squares, mine.weights.is_some())
            != (theirs.dimension, &theirs.squares, theirs.weights.is_some())
            || !mine.rewards.is_like(&theirs.rewards)
        {
            return Err(MomentsMismatch {
                expected: mine.dimension,
                expected_squares: mine.squares.clone(),
                found: theirs.dimension,
                found_squares: theirs.squares,
            });
        }
        mine.grow_like(&theirs);
        theirs.grow_like(mine);
        add_all(&mut mine.sums, &theirs.sums);
        mine.rows += theirs.rows;
        Ok(())
    }

    /// Puts the waiting rows into the sums, and gives their memory back.
    pub(crate) fn settle(&mut self) {
        self.multiply();
        self.block.settle(&mut self.sums.sums);
    }

    fn settled(&self) -> Stored {
        let mut settled = self.clone();
        settled.settle();
        settled.sums
    }

    /// Multiplies every weight.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.factor *= factor;
    }

    /// Whether every part has the right length and every number is possible. Check this first on a state that was read from a file.
    pub fn is_sound(&self) -> bool {
        let Stored { dimension, squares, rows, rewards, weights, sums } = &self.settled();
        let width = dimension.checked_add(squares.len()).and_then(|width| width.checked_add(2));
        *rows <= MAX_ROWS
            && squares.iter().all(|coordinate| coordinate < dimension)
            && rewards.is_sound()
            && weights.is_none_or(WeightGrid::is_sound)
            // Not wider than the sums, so that its square cannot overflow.
            && width.is_some_and(|width| width <= sums.len() && packed_length(width) == sums.len())
            && have_room(sums)
            && width.is_some_and(|width| (1..=width).all(|line| sums[packed_length(line) - 1] >= 0))
    }

    /// d, the numbers of a context.
    pub fn dimension(&self) -> usize {
        self.sums.dimension
    }

    /// The coordinates whose squares are summed too.
    pub fn squares(&self) -> &[usize] {
        &self.sums.squares
    }

    /// Whether outcomes have no declared range.
    pub(crate) fn is_open(&self) -> bool {
        self.sums.rewards.is_open()
    }

    /// Whether rows have weights.
    pub(crate) fn has_weights(&self) -> bool {
        self.sums.weights.is_some()
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.sums.rows
    }

    /// The sum of the weights; the rows where there are none.
    pub(crate) fn weight(&self) -> f64 {
        let sums = self.settled();
        let width = sums.width();
        self.unit() * product(sums.sums[packed_length(width + 1) - 1])
    }

    /// What a straight line needs: the rows, `Σssᵀ` as the lower triangle by rows, and `Σsy`.
    pub fn base(&self) -> (u64, Vec<f64>, Vec<f64>) {
        let (mut information, mut moment) = (self.information(), self.moment());
        information.truncate(packed_length(self.sums.dimension));
        moment.truncate(self.sums.dimension);
        (self.sums.rows, information, moment)
    }

    /// `Σzzᵀ`, the lower triangle by rows.
    pub(crate) fn information(&self) -> Vec<f64> {
        let (sums, unit) = (self.settled(), self.unit());
        sums.sums[..packed_length(sums.width())].iter().map(|&sum| unit * product(sum)).collect()
    }

    /// `Σzy`.
    pub(crate) fn moment(&self) -> Vec<f64> {
        let (sums, unit) = (self.settled(), self.unit());
        let (ones, rewards) = sums.lines();
        let reward =
            |(&one, &reward)| unit * (sums.rewards.start() * product(one) + sums.reward_unit() * product(reward));
        ones.iter().zip(rewards).take(sums.width()).map(reward).collect()
    }

    /// `Σy`.
    pub(crate) fn reward_sum(&self) -> f64 {
        let (sums, unit) = (self.settled(), self.unit());
        let ((ones, rewards), width) = (sums.lines(), sums.width());
        unit * (sums.rewards.start() * product(ones[width]) + sums.reward_unit() * product(rewards[width]))
    }

    /// `Σy²`.
    pub(crate) fn reward_squares(&self) -> f64 {
        let (sums, unit) = (self.settled(), self.unit());
        let ((ones, rewards), width) = (sums.lines(), sums.width());
        let (start, step) = (sums.rewards.start(), sums.reward_unit());
        let (weight, sum, squares) = (product(ones[width]), product(rewards[width]), product(rewards[width + 1]));
        unit * (start * start * weight + 2.0 * start * step * sum + step * step * squares).max(0.0)
    }

    /// A text of the exact sums, from which a digest is made.
    pub(crate) fn exact(&self) -> String {
        format!("{:?}", self.settled())
    }

    /// What one unit of weight stands for.
    fn unit(&self) -> f64 {
        self.factor * self.sums.weights.map_or(1.0, WeightGrid::step)
    }
}

impl Stored {
    /// Numbers of `z`.
    fn width(&self) -> usize {
        self.dimension + self.squares.len()
    }

    /// The line of `1` and the line of `y`.
    fn lines(&self) -> (&[i128], &[i128]) {
        self.sums[packed_length(self.width())..].split_at(self.width() + 1)
    }

    /// What a product of `y` and 1 stands for.
    fn reward_unit(&self) -> f64 {
        self.rewards.step() * ONE as f64
    }

    #[cold]
    fn grow_reward_step(&mut self, bits: u32) {
        self.rewards.grow(bits);
        let start = packed_length(self.width() + 1);
        let (squares, line) = self.sums[start..].split_last_mut().expect("a line ends on the diagonal");
        shift_all(line, bits);
        *squares = rounded_shift(*squares, bits.saturating_mul(2));
    }

    fn grow_weight_step(&mut self, bits: u32) {
        if let Some(grid) = self.weights.as_mut().filter(|_| bits > 0) {
            grid.grow(bits);
            shift_all(&mut self.sums, bits);
        }
    }

    fn grow_like(&mut self, other: &Self) {
        if self.rewards.is_open() {
            self.grow_reward_step(self.rewards.bits_below(&other.rewards));
        }
        if let (Some(mine), Some(theirs)) = (self.weights, other.weights) {
            self.grow_weight_step(mine.bits_below(theirs));
        }
    }
}

impl PartialEq for Moments {
    fn eq(&self, other: &Self) -> bool {
        self.settled() == other.settled() && self.factor == other.factor
    }
}

impl From<Moments> for Stored {
    fn from(moments: Moments) -> Self {
        moments.settled()
    }
}

impl From<Stored> for Moments {
    fn from(sums: Stored) -> Self {
        Self { sums, block: RowBlock::default(), row: Vec::new(), factor: 1.0 }
    }
}

/// `(x − ½)²`: about the middle of a feature's range, where it is nearly at right angles to `x` itself.
pub(crate) fn square(x: f64) -> f64 {
    (x - 0.5) * (x - 0.5)
}

/// Numbers in the packed lower triangle of a `dimension × dimension` matrix.
pub(crate) const fn packed_length(dimension: usize) -> usize {
    dimension * (dimension + 1) / 2
}
