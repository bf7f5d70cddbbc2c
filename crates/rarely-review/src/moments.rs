//! One option's rows as sums, from which the straight line and the bent one are both fitted.
//!
//! A row is `z = (s, q)`: the d numbers of its context, then the squares `(x − ½)²` of p of them. Kept are `Σzzᵀ`, `Σzy`,
//! `Σy²` and the number of rows: everything least squares needs, whatever the length of the log. Sums of two logs add up to
//! the sums of both.

use rarely_error::{Explain, Remedy};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Rows after which the recent sums are settled.
const SETTLE_PERIOD: u64 = 512;
/// Rows that can be counted exactly in `f64`.
const MAX_ROWS: u64 = 1 << 53;
/// Numbers in a row, and rows, of a tile of the sums.
const TILE: usize = 4;
/// The largest number that a sum may hold: finite, with room for products of a few.
const MAX_SUM: f64 = 1e60;

/// The sums over one option's rows.
///
/// ```
/// use rarely_review::Moments;
///
/// let mut moments = Moments::new(2, &[1]);
/// moments.add(&[1.0, 0.25], 0.5);
/// moments.add(&[1.0, 0.75], 0.7);
/// let (rows, information, moment) = moments.base();
/// assert_eq!((rows, information), (2, vec![2.0, 1.0, 0.625]));
/// assert!((moment[0] - 1.2).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    dimension: usize,
    squares: Vec<usize>,
    rows: u64,
    settled: Sums,
    /// The part of the sums that came since they were last settled. A long sum in two stages rounds as often as a short one.
    recent: Sums,
    #[serde(skip)]
    row: Row,
}

/// Two states that cannot be added: they are sums over different things.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "these sums are over {found} context variables with the squares of {found_squares:?}, those over {expected} with the \
     squares of {expected_squares:?}"
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
        Some(Remedy::new("merge only states that were made with the same features"))
    }
}

impl Moments {
    /// Empty sums, for contexts with `dimension` numbers, the coordinates in `squares` also squared.
    ///
    /// # Panics
    /// If a coordinate to square is not below `dimension`.
    pub fn new(dimension: usize, squares: &[usize]) -> Self {
        assert!(
            squares.iter().all(|coordinate| *coordinate < dimension),
            "only coordinates of the context have squares"
        );
        let width = dimension + squares.len();
        Self {
            dimension,
            squares: squares.to_vec(),
            rows: 0,
            settled: Sums::zero(width),
            recent: Sums::zero(width),
            row: Row::default(),
        }
    }

    /// Adds a row. O((d+p)²/2); allocates at most once in the life of a state.
    ///
    /// # Panics
    /// If there are not d numbers.
    pub fn add(&mut self, context: &[f64], reward: f64) {
        self.row.fill(context, self.dimension, &self.squares);
        self.recent.add_row(&self.row.0, reward);
        self.rows += 1;
        if self.rows.is_multiple_of(SETTLE_PERIOD) {
            self.settle();
        }
    }

    /// Adds a row of this weight: as `√w·(z, y)`, so that least squares are weighted ones.
    ///
    /// # Panics
    /// If there are not d numbers.
    pub fn add_weighted(&mut self, context: &[f64], reward: f64, weight: f64) {
        if weight == 1.0 {
            return self.add(context, reward);
        }
        let root = weight.sqrt();
        // Squares are those of the context itself.
        self.row.fill(context, self.dimension, &self.squares);
        self.row.0.iter_mut().for_each(|value| *value *= root);
        self.recent.add_row(&self.row.0, root * reward);
        self.rows += 1;
        if self.rows.is_multiple_of(SETTLE_PERIOD) {
            self.settle();
        }
    }

    /// The sums with every weight multiplied by this.
    pub(crate) fn scale(&mut self, factor: f64) {
        if factor != 1.0 {
            self.settled.scale(factor);
            self.recent.scale(factor);
        }
    }

    /// Corrects the outcome of a row that was added: up to rounding, the sums are those with the new outcome from the start. O(d+p).
    ///
    /// The old outcome leaves a rounding error in proportion to its size: one of 1e9 among outcomes about 1 leaves 1e-7 of
    /// them.
    ///
    /// # Panics
    /// If there are not d numbers.
    pub fn correct(&mut self, context: &[f64], old_reward: f64, new_reward: f64) {
        self.row.fill(context, self.dimension, &self.squares);
        self.recent.correct_row(&self.row.0, old_reward, new_reward);
        // The row may be among the settled ones, so only both parts together must be a sum of squares, and rounding may have made
        // them slightly negative.
        self.recent.reward_squares = self.recent.reward_squares.max(-self.settled.reward_squares);
    }

    /// Adds the rows of another log.
    ///
    /// # Errors
    /// If the other sums are over other context variables or squares.
    pub fn merge(&mut self, other: &Self) -> Result<(), MomentsMismatch> {
        if (self.dimension, &self.squares) != (other.dimension, &other.squares) {
            return Err(MomentsMismatch {
                expected: self.dimension,
                expected_squares: self.squares.clone(),
                found: other.dimension,
                found_squares: other.squares.clone(),
            });
        }
        self.settled.add(&other.settled);
        self.recent.add(&other.recent);
        self.rows += other.rows;
        self.settle();
        Ok(())
    }

    /// Whether every part has the right length and every number is possible. Check this first on a state that was read from a file.
    pub fn is_sound(&self) -> bool {
        let width = self.dimension.checked_add(self.squares.len());
        self.rows <= MAX_ROWS
            && self.squares.iter().all(|coordinate| *coordinate < self.dimension)
            && width.is_some_and(|width| self.settled.is_sound(width) && self.recent.is_sound(width))
            // Corrections of settled rows are among the recent sums.
            && self.settled.reward_squares >= 0.0
            && self.settled.reward_squares + self.recent.reward_squares >= 0.0
    }

    /// d, the numbers of a context.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The coordinates whose squares are summed too.
    pub fn squares(&self) -> &[usize] {
        &self.squares
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What a straight line needs: the rows, `Σssᵀ` as the lower triangle by rows, and `Σsy`.
    pub fn base(&self) -> (u64, Vec<f64>, Vec<f64>) {
        let (mut information, mut moment) = (self.information(), self.moment());
        information.truncate(packed_length(self.dimension));
        moment.truncate(self.dimension);
        (self.rows, information, moment)
    }

    /// `Σzzᵀ`, the lower triangle by rows.
    pub(crate) fn information(&self) -> Vec<f64> {
        let width = self.dimension + self.squares.len();
        let places = (0..width).flat_map(|i| (0..=i).map(move |j| tiled(i, j)));
        places.map(|place| self.settled.information[place] + self.recent.information[place]).collect()
    }

    /// `Σzy`.
    pub(crate) fn moment(&self) -> Vec<f64> {
        let width = self.dimension + self.squares.len();
        (0..width).map(|i| self.settled.moment[i] + self.recent.moment[i]).collect()
    }

    /// `Σy²`.
    pub(crate) fn reward_squares(&self) -> f64 {
        self.settled.reward_squares + self.recent.reward_squares
    }

    fn settle(&mut self) {
        self.settled.add(&self.recent);
        // Where states with corrections are merged, rounding may leave a slightly negative number.
        self.settled.reward_squares = self.settled.reward_squares.max(0.0);
        self.recent.clear();
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

/// Scratch space for a row that is being added; not part of the state.
#[derive(Debug, Clone, Default)]
struct Row(Vec<f64>);

impl Row {
    /// The context and its squares, filled up to whole tiles.
    fn fill(&mut self, context: &[f64], dimension: usize, squares: &[usize]) {
        assert_eq!(context.len(), dimension, "one number for each context variable");
        let row = &mut self.0;
        row.clear();
        row.extend_from_slice(context);
        row.extend(squares.iter().map(|coordinate| square(context[*coordinate])));
        row.resize(row.len().next_multiple_of(TILE), 0.0);
    }
}

impl PartialEq for Row {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// `Σzzᵀ`, `Σzy` and `Σy²`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Sums {
    /// Tiles of 4 × 4 numbers, by rows, up to those on the diagonal; the width is filled up with zeros. A row of the log then adds
    /// whole tiles, in half the time that it takes with lines of the lower triangle, each of another length.
    information: Vec<f64>,
    moment: Vec<f64>,
    reward_squares: f64,
}

impl Sums {
    fn zero(width: usize) -> Self {
        let width = width.next_multiple_of(TILE);
        Self { information: vec![0.0; tiled_length(width)], moment: vec![0.0; width], reward_squares: 0.0 }
    }

    /// Adds a row that is filled up to whole tiles.
    fn add_row(&mut self, row: &[f64], reward: f64) {
        let (parts, _) = row.as_chunks::<TILE>();
        let (lines, _) = self.information.as_chunks_mut::<TILE>();
        let (mut tiles, _) = lines.as_chunks_mut::<TILE>();
        for (i, rows) in parts.iter().enumerate() {
            let (across, rest) = tiles.split_at_mut(i + 1);
            for (tile, columns) in across.iter_mut().zip(parts) {
                for row in 0..TILE {
                    for column in 0..TILE {
                        tile[row][column] += rows[row] * columns[column];
                    }
                }
            }
            tiles = rest;
        }
        for (sum, value) in self.moment.iter_mut().zip(row) {
            *sum += reward * value;
        }
        self.reward_squares += reward * reward;
    }

    /// Corrects the outcome of a row that was added.
    fn correct_row(&mut self, row: &[f64], old_reward: f64, new_reward: f64) {
        let difference = new_reward - old_reward;
        for (sum, value) in self.moment.iter_mut().zip(row) {
            *sum += difference * value;
        }
        self.reward_squares += new_reward * new_reward - old_reward * old_reward;
    }

    fn add(&mut self, other: &Self) {
        let sums = self.information.iter_mut().chain(&mut self.moment);
        for (sum, other) in sums.zip(other.information.iter().chain(&other.moment)) {
            *sum += other;
        }
        self.reward_squares += other.reward_squares;
    }

    fn scale(&mut self, factor: f64) {
        self.information.iter_mut().chain(&mut self.moment).for_each(|sum| *sum *= factor);
        self.reward_squares *= factor;
    }

    fn clear(&mut self) {
        self.information.fill(0.0);
        self.moment.fill(0.0);
        self.reward_squares = 0.0;
    }

    fn is_sound(&self, width: usize) -> bool {
        let full = width.checked_next_multiple_of(TILE);
        let sound = |value: &f64| value.abs() <= MAX_SUM;
        full == Some(self.moment.len())
            // The width is now known to be that of a vector in memory, so that its square cannot overflow.
            && self.information.len() == tiled_length(self.moment.len())
            && self.information.iter().chain(&self.moment).all(sound)
            && (0..width).all(|i| self.information[tiled(i, i)] >= 0.0)
            && sound(&self.reward_squares)
    }
}

/// Where entry `(i, j)`, `j ≤ i`, stands among the tiles.
const fn tiled(i: usize, j: usize) -> usize {
    tiled_length(i / TILE * TILE) + j / TILE * TILE * TILE + i % TILE * TILE + j % TILE
}

/// Numbers in the tiles of a width that is a multiple of theirs.
const fn tiled_length(width: usize) -> usize {
    packed_length(width / TILE) * TILE * TILE
}
