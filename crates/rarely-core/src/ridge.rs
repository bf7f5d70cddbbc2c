//! One arm's regression: update, merge, estimate, log-determinant.
//!
//! `V = λI + Σssᵀ`, `b = λθ₀ + Σys`, `θ̂ = V⁻¹b`. The sums are kept as they are; `V⁻¹`, `θ̂` and `ln det V` are carried along
//! in O(d²) per round by the Sherman–Morrison formula and computed afresh from the sums on a schedule, so that they cannot
//! drift. [abbasi-2011, §2; lattimore-2020, §20.1; the prior mean and the schedule are ours.]

mod weighted;

use crate::arm::is_sound;
use crate::block::{Lanes, dot, quadratic};
use crate::number::Penalty;
use crate::symmetric::{self, ANY, by_dimension, known};

/// Outcomes that a policy can have observed.
pub(crate) const MAX_ROUNDS: u64 = 1 << 53;
/// Updates between two fresh factorisations, at least.
const REFRESH_PERIOD: u64 = 512;
/// The same, in multiples of the dimension: keeps the O(d³) work below a fiftieth of the rounds' own.
const REFRESH_PERIOD_PER_DIMENSION: u64 = 32;
/// `sᵀV⁻¹s` from which a single update loses enough digits to ask for a fresh factorisation at once.
const REFRESH_LEVERAGE: f64 = 1e3;
/// `d·tr V⁻¹·tr V` up to which no leverage rounds to less than 0: it is at least `‖s‖²/tr V`, and a rounding `d·1e-16·‖s‖²·tr V⁻¹`.
const WELL_CONDITIONED: f64 = 1e10;

/// The regression of one arm.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ridge {
    penalty: f64,
    prior_mean: Vec<f64>,
    /// `Σssᵀ`, packed, and `Σys`.
    sums: Sums,
    /// The part of the sums that came since they were last settled. A long sum in two stages rounds as often as a short one:
    /// the penalty stays visible in directions that were never observed.
    recent: Sums,
    /// `tr Σssᵀ`.
    squares: f64,
    count: u64,
    /// `V⁻¹`, packed.
    inverse: Vec<f64>,
    estimate: Vec<f64>,
    /// `ln det V − d·ln λ`, never negative.
    log_growth: f64,
}

/// `Σssᵀ`, packed, and `Σys`.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Sums {
    information: Vec<f64>,
    moment: Vec<f64>,
}

impl Sums {
    fn zero(dimension: usize) -> Self {
        Self { information: vec![0.0; symmetric::packed_length(dimension)], moment: vec![0.0; dimension] }
    }

    fn add(&mut self, other: &Self) {
        symmetric::add_scaled(&mut self.information, 1.0, &other.information);
        symmetric::add_scaled(&mut self.moment, 1.0, &other.moment);
    }

    fn clear(&mut self) {
        self.information.fill(0.0);
        self.moment.fill(0.0);
    }

    fn is_sound(&self, dimension: usize) -> bool {
        self.information.len() == symmetric::packed_length(dimension)
            && self.moment.len() == dimension
            && self.information.iter().chain(&self.moment).all(|value| is_sound(*value))
    }
}

/// The effect of one observation on its arm's regression: enough to update the distance of any fixed point in O(d).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The arm.
    pub arm: usize,
    /// `q = sᵀV⁻¹s` before the update, times the observation's weight `w`, which is 1 unless one is given.
    pub leverage: f64,
    /// `y − sᵀθ̂` before the update.
    pub residual: f64,
    /// `w(y − sᵀθ̂)²/(1+q)`: by how much the smallest penalised sum of squares grew. A fixed point `φ` therefore moves by
    /// `w(y − sᵀφ)²` less this, in `‖φ − θ̂‖²_V`.
    pub loss: f64,
    /// Whether the arm's derived quantities were computed afresh.
    pub refreshed: bool,
}

impl Ridge {
    pub(crate) fn new(penalty: f64, prior_mean: &[f64]) -> Self {
        let dimension = prior_mean.len();
        let length = symmetric::packed_length(dimension);
        let mut inverse = vec![0.0; length];
        symmetric::add_diagonal(&mut inverse, dimension, 1.0 / penalty);
        Self {
            penalty,
            prior_mean: prior_mean.to_vec(),
            sums: Sums::zero(dimension),
            recent: Sums::zero(dimension),
            squares: 0.0,
            count: 0,
            inverse,
            estimate: prior_mean.to_vec(),
            log_growth: 0.0,
        }
    }

    /// The same arm without its observations.
    pub(crate) fn before_the_first(&self) -> Self {
        Self::new(self.penalty, &self.prior_mean)
    }

    /// Adds one observation in O(d²). `direction` is scratch of length d and holds `V⁻¹s` of before the update on return.
    #[inline]
    pub(crate) fn update(&mut self, arm: usize, context: &[f64], reward: f64, direction: &mut [f64]) -> Step {
        self.update_weighted(arm, (context, reward, 1.0), direction)
    }

    /// [`Ridge::update`] with an observation (context, reward, weight) that counts as often as its weight says.
    #[inline]
    pub(crate) fn update_weighted(&mut self, arm: usize, row: (&[f64], f64, f64), direction: &mut [f64]) -> Step {
        by_dimension!(
            row.0.len(),
            update_sized(self, arm, row, direction),
            update_sized::<ANY>(self, arm, row, direction)
        )
    }

    /// Adds observations to the sums only. What is derived is [followed](Ridge::follow) or [computed afresh](Ridge::derive) later.
    pub(crate) fn add_many<'a>(&mut self, observations: impl Iterator<Item = (&'a [f64], f64)>) {
        by_dimension!(self.dimension(), add_many_sized(self, observations), add_many_sized::<ANY>(self, observations));
    }

    /// Brings what is derived up to an observation that the sums contain already.
    pub(crate) fn follow(&mut self, context: &[f64], reward: f64, direction: &mut [f64]) {
        by_dimension!(
            context.len(),
            follow_sized(self, (context, reward, 1.0), direction),
            follow_sized::<ANY>(self, (context, reward, 1.0), direction)
        );
    }

    /// Whether none of some observations can ask for a fresh factorisation: neither by its leverage, which is at most
    /// `‖s‖²·tr V⁻¹` since `V` only grows, nor by one that rounds to less than 0.
    pub(crate) fn is_uneventful<'a>(&self, observations: impl Iterator<Item = (&'a [f64], f64)>) -> bool {
        let (mut largest, mut squares) = (0.0_f64, self.squares);
        for (context, _) in observations {
            let square = symmetric::dot(context, context);
            largest = largest.max(square);
            squares += square;
        }
        let dimension = self.dimension();
        let spread = symmetric::trace(&self.inverse, dimension);
        let condition = dimension as f64 * spread * (self.penalty + squares);
        largest * spread <= 0.5 * REFRESH_LEVERAGE && condition <= WELL_CONDITIONED
    }

    fn refresh_period(&self) -> u64 {
        REFRESH_PERIOD.max(REFRESH_PERIOD_PER_DIMENSION * self.dimension() as u64)
    }

    /// Observations until everything derived is next computed afresh.
    pub(crate) fn until_refresh(&self) -> u64 {
        let period = self.refresh_period();
        period - self.count % period
    }

    /// Settles the sums, and computes `V⁻¹`, `θ̂` and `ln det V` afresh from them. O(d³).
    pub(crate) fn refresh(&mut self, scratch: &mut [f64]) {
        self.settle();
        self.derive(scratch);
    }

    /// Adds what came lately to the settled sums.
    pub(crate) fn settle(&mut self) {
        self.sums.add(&self.recent);
        self.recent.clear();
    }

    /// Computes `V⁻¹`, `θ̂` and `ln det V` afresh from the settled sums.
    pub(crate) fn derive(&mut self, scratch: &mut [f64]) {
        let dimension = self.dimension();
        self.inverse.copy_from_slice(&self.sums.information);
        symmetric::add_diagonal(&mut self.inverse, dimension, self.penalty);
        symmetric::factor(&mut self.inverse, dimension, self.penalty);
        self.log_growth =
            (symmetric::log_det(&self.inverse, dimension) - dimension as f64 * libm::log(self.penalty)).max(0.0);
        // θ̂ = θ₀ + V⁻¹(Σys − Σssᵀθ₀): no digits are lost to the penalty where the prior mean is large.
        symmetric::multiply(&self.sums.information, &self.prior_mean, scratch);
        for ((estimate, moment), explained) in self.estimate.iter_mut().zip(&self.sums.moment).zip(&*scratch) {
            *estimate = moment - explained;
        }
        symmetric::solve(&self.inverse, &mut self.estimate);
        symmetric::add_scaled(&mut self.estimate, 1.0, &self.prior_mean);
        symmetric::invert(&mut self.inverse, dimension, scratch);
    }

    /// Adds another log's sums for the same arm.
    pub(crate) fn merge(&mut self, other: &Self, scratch: &mut [f64]) {
        self.recent.add(&other.recent);
        self.sums.add(&other.sums);
        self.squares += other.squares;
        self.count += other.count;
        self.refresh(scratch);
    }

    /// Adds sums that were computed elsewhere.
    pub(crate) fn add_sums(
        &mut self,
        count: u64,
        squares: f64,
        information: &[f64],
        moment: &[f64],
        scratch: &mut [f64],
    ) {
        symmetric::add_scaled(&mut self.sums.information, 1.0, information);
        symmetric::add_scaled(&mut self.sums.moment, 1.0, moment);
        self.squares += squares;
        self.count += count;
        self.refresh(scratch);
    }

    pub(crate) fn same_prior(&self, other: &Self) -> bool {
        self.penalty == other.penalty && self.prior_mean == other.prior_mean
    }

    /// Whether every part has its length and every number is finite.
    pub(crate) fn is_sound(&self, dimension: usize) -> bool {
        let length = symmetric::packed_length(dimension);
        let vectors = [&self.prior_mean, &self.estimate];
        let finite = |values: &Vec<f64>| values.iter().all(|value| is_sound(*value));
        Penalty::new(self.penalty).is_ok()
            && (0.0..=1e9).contains(&self.log_growth)
            && (0.0..=1e60).contains(&self.squares)
            && self.count <= MAX_ROUNDS
            && vectors.iter().all(|vector| vector.len() == dimension && finite(vector))
            && self.inverse.len() == length
            && finite(&self.inverse)
            && self.sums.is_sound(dimension)
            && self.recent.is_sound(dimension)
    }

    /// `d`.
    pub fn dimension(&self) -> usize {
        self.estimate.len()
    }

    /// `λ`.
    pub fn penalty(&self) -> f64 {
        self.penalty
    }

    /// Observations so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// `θ̂`.
    pub fn estimate(&self) -> &[f64] {
        &self.estimate
    }

    /// `Σssᵀ`, the lower triangle by rows.
    pub fn information(&self) -> impl ExactSizeIterator<Item = f64> {
        self.sums.information.iter().zip(&self.recent.information).map(|(settled, recent)| settled + recent)
    }

    /// `Σys`.
    pub fn moment(&self) -> impl ExactSizeIterator<Item = f64> {
        self.sums.moment.iter().zip(&self.recent.moment).map(|(settled, recent)| settled + recent)
    }

    /// `V⁻¹`, the lower triangle by rows.
    pub fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    /// `ln det V`.
    pub fn log_det(&self) -> f64 {
        self.log_growth + self.dimension() as f64 * libm::log(self.penalty)
    }

    /// `ln det V − d·ln λ`: what the observations added.
    pub fn log_growth(&self) -> f64 {
        self.log_growth
    }

    /// `tr Σssᵀ`.
    pub(crate) fn squares(&self) -> f64 {
        self.squares
    }

    /// `tr Σssᵀ / λ`.
    pub fn information_ratio(&self) -> f64 {
        self.squares / self.penalty
    }

    /// `‖s‖²_{V⁻¹}`. O(d²/2).
    ///
    /// # Panics
    /// If there are not d numbers.
    #[inline]
    pub fn width_squared(&self, direction: &[f64]) -> f64 {
        assert_eq!(direction.len(), self.dimension(), "one number for each context variable");
        symmetric::quadratic(&self.inverse, direction).max(0.0)
    }

    /// `sᵀθ̂`.
    ///
    /// # Panics
    /// If there are not d numbers.
    #[inline]
    pub fn predict(&self, context: &[f64]) -> f64 {
        assert_eq!(context.len(), self.dimension(), "one number for each context variable");
        symmetric::dot(context, &self.estimate)
    }

    /// [`Ridge::predict`] and [`Ridge::width_squared`] for a dimension that the caller knows.
    #[inline]
    pub(crate) fn predict_with_width_squared<const D: usize>(&self, context: &[f64]) -> (f64, f64) {
        let estimate = symmetric::dot(context, &self.estimate[..known::<D>(context.len())]);
        (estimate, symmetric::quadratic_sized::<D>(&self.inverse, context).max(0.0))
    }

    /// [`Ridge::predict`] at each context of a block.
    pub(crate) fn predict_block(&self, columns: &[Lanes]) -> Lanes {
        by_dimension!(columns.len(), dot(columns, &self.estimate), dot::<ANY>(columns, &self.estimate))
    }

    /// [`Ridge::width_squared`] at each context of a block.
    pub(crate) fn widths_squared_block(&self, columns: &[Lanes]) -> Lanes {
        by_dimension!(columns.len(), widths_squared_sized(self, columns), widths_squared_sized::<ANY>(self, columns))
    }

    /// [`Ridge::predict_block`] and [`Ridge::widths_squared_block`] for a dimension that the caller knows.
    #[inline]
    pub(crate) fn predict_block_with_widths<const D: usize>(&self, columns: &[Lanes]) -> (Lanes, Lanes) {
        (dot::<D>(columns, &self.estimate), widths_squared_sized::<D>(self, columns))
    }

    /// `V x`, into `out`.
    pub(crate) fn apply(&self, x: &[f64], out: &mut [f64]) {
        symmetric::multiply(&self.sums.information, x, out);
        symmetric::add_multiply(&self.recent.information, x, out);
        symmetric::add_scaled(out, self.penalty, x);
    }

    /// `‖φ − θ̂‖²_V`. `scratch` has length 2d.
    pub(crate) fn distance_squared(&self, point: &[f64], scratch: &mut [f64]) -> f64 {
        let (difference, product) = scratch[..2 * point.len()].split_at_mut(point.len());
        for ((difference, point), estimate) in difference.iter_mut().zip(point).zip(&self.estimate) {
            *difference = point - estimate;
        }
        self.apply(difference, product);
        symmetric::dot(difference, product).max(0.0)
    }
}

/// [`Ridge::update`], with a copy for each small dimension so that its loops are laid out flat.
fn update_sized<const D: usize>(ridge: &mut Ridge, arm: usize, row: (&[f64], f64, f64), direction: &mut [f64]) -> Step {
    let step = follow_sized::<D>(ridge, row, direction);
    add_sized::<D>(ridge, row);
    let refreshed = step.leverage > REFRESH_LEVERAGE || ridge.count.is_multiple_of(ridge.refresh_period());
    if refreshed {
        ridge.refresh(direction);
    }
    Step { arm, refreshed, ..step }
}

/// [`Ridge::follow`]. The arm of the step it returns is not known here.
#[inline]
fn follow_sized<const D: usize>(
    ridge: &mut Ridge,
    (context, reward, weight): (&[f64], f64, f64),
    direction: &mut [f64],
) -> Step {
    let dimension = known::<D>(context.len());
    let (context, direction) = (&context[..dimension], &mut direction[..dimension]);
    symmetric::multiply_sized::<D>(&ridge.inverse, context, direction);
    let mut leverage = symmetric::dot(context, direction);
    if leverage < 0.0 {
        // Only rounding can cause this. Computed afresh, it is zero up to rounding.
        ridge.refresh(direction);
        symmetric::multiply_sized::<D>(&ridge.inverse, context, direction);
        leverage = symmetric::dot(context, direction).max(0.0);
    }
    leverage *= weight;
    let residual = reward - symmetric::dot(context, &ridge.estimate[..dimension]);
    let shrink = weight / (1.0 + leverage);
    symmetric::add_outer_sized::<D>(&mut ridge.inverse, -shrink, direction);
    symmetric::add_scaled(&mut ridge.estimate[..dimension], residual * shrink, direction);
    ridge.log_growth += libm::log1p(leverage);
    Step { arm: 0, leverage, residual, loss: residual * residual * shrink, refreshed: false }
}

/// Adds an observation to the sums.
#[inline]
fn add_sized<const D: usize>(ridge: &mut Ridge, (context, reward, weight): (&[f64], f64, f64)) {
    symmetric::add_outer_sized::<D>(&mut ridge.recent.information, weight, context);
    add_rest_sized::<D>(ridge, (context, reward, weight));
}

/// Adds observations to the sums, four at a time.
fn add_many_sized<'a, const D: usize>(ridge: &mut Ridge, mut observations: impl Iterator<Item = (&'a [f64], f64)>) {
    loop {
        let four = [observations.next(), observations.next(), observations.next(), observations.next()];
        let [Some(a), Some(b), Some(c), Some(d)] = four else {
            for (context, reward) in four.into_iter().flatten() {
                add_sized::<D>(ridge, (context, reward, 1.0));
            }
            return;
        };
        symmetric::add_four_outers_sized::<D>(&mut ridge.recent.information, [a.0, b.0, c.0, d.0]);
        for (context, reward) in [a, b, c, d] {
            add_rest_sized::<D>(ridge, (context, reward, 1.0));
        }
    }
}

/// Adds an observation to all sums but `Σssᵀ`.
#[inline]
fn add_rest_sized<const D: usize>(ridge: &mut Ridge, (context, reward, weight): (&[f64], f64, f64)) {
    let context = &context[..known::<D>(context.len())];
    symmetric::add_scaled(&mut ridge.recent.moment[..context.len()], weight * reward, context);
    ridge.squares += weight * symmetric::dot(context, context);
    ridge.count += 1;
}

#[inline]
fn widths_squared_sized<const D: usize>(ridge: &Ridge, columns: &[Lanes]) -> Lanes {
    quadratic::<D>(&ridge.inverse, columns).map(|width_squared| width_squared.max(0.0))
}
