//! The jump of the outcome at a threshold, from rows that were close to it: regression discontinuity from binned sums.
//!
//! A rule that gives one option below a cut of a running variable z and another from the cut on has made an experiment: people
//! just below and just above hardly differ except in the option. With a straight line fitted on either side to the rows within a
//! bandwidth h, weighted by `K(|z − c|/h)`, the jump is the difference of the two lines' values at the cut
//! [hahn-2001, §3; imbens-2012, §3].
//!
//! Each side of a cut is divided into bins of a two-hundredth of the span, counted from the cut. A bin keeps sums of powers of `w`, how far
//! into the bin a row is: `Σwʲ` (j ≤ 6), `Σwʲy` (j ≤ 5), `Σwʲy²` (j ≤ 4). Both kernels are polynomials on a side, so that for every
//! bandwidth of whole bins the estimate and its standard error come out as from the rows themselves, up to the rounding to whole numbers
//! (mathematics §17). The sums of two logs add up to the sums of both.

mod bandwidth;
mod half;
mod local;

use std::fmt;

use rarely_error::{Explain, Remedy};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::half::Half;
pub(crate) use self::half::{EDGE, PowerSums};
pub use self::local::Kernel;
use crate::fixed_point::RewardGrid;

/// Bins in the span.
pub(crate) const BINS: f64 = 200.0;
/// Bins in a cell of [`Jumps::tried`].
const CELL: usize = 4;
/// Rows that a side must have within the bandwidth.
pub(crate) const LEAST_ROWS: u64 = 30;

/// A cut of the running variable, and the options that the rule gives beside it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    /// Its value; a row with this value is above.
    pub at: f64,
    /// The option given below, as an index.
    pub lower: usize,
    /// The option given from here on.
    pub upper: usize,
}

/// Sums around every cut of one running variable.
///
/// ```
/// use rarely_review::{Bandwidth, Cut, Jumps, Kernel};
///
/// let mut jumps = Jumps::new((0.0, 1.0), 2, &[Cut { at: 0.5, lower: 0, upper: 1 }])?;
/// for i in 0..1000 {
///     let z = f64::from(i) / 1000.0;
///     let treated = z >= 0.5;
///     jumps.add(z, usize::from(treated), z + if treated { 0.25 } else { 0.0 });
/// }
/// let jump = jumps.jump(0, Kernel::Triangular, Bandwidth::Given(0.2))?;
/// assert!((jump.estimate - 0.25).abs() < 1e-9);
/// assert_eq!(jumps.tried(1, 0.7), 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Jumps {
    low: f64,
    high: f64,
    options: usize,
    /// Rows whose running variable was not in the span; they are in no bin.
    outside: u64,
    thresholds: Vec<Threshold>,
}

/// The two sides of one cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Threshold {
    cut: Cut,
    below: Half,
    above: Half,
}

/// The jump of the outcome at one cut.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Jump {
    /// The cut.
    pub cut: f64,
    /// The bandwidth that was used, a whole number of bins, in the running variable's units.
    pub bandwidth: f64,
    /// The upper option's outcome at the cut minus the lower option's.
    pub estimate: f64,
    /// Its standard error, without assuming that the noise is the same everywhere (HC0); a few per cent too small at 30 rows per side.
    pub standard_error: f64,
    /// Rows within the bandwidth: below the cut, and from it on.
    pub rows: (u64, u64),
}

/// How far from the cut rows still count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bandwidth {
    /// The rule of Imbens and Kalyanaraman, which trades bias from the lines' bends against noise, computed from the same sums.
    /// Where the two sides bend apart some bias is left by design: an interval of ±1.96 standard errors then covers the truth in
    /// about 89 % of cases, not 95 %.
    Rule,
    /// This one, in the running variable's units; the nearest whole number of bins is used.
    Given(f64),
}

/// A side of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Below the cut, with the lower option.
    Below,
    /// From the cut on, with the upper option.
    Above,
}

impl fmt::Display for Side {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Below => "below",
            Self::Above => "above",
        })
    }
}

/// Why there is no estimate of a jump.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum NoJump {
    /// A side has too few rows near the cut.
    #[error(
        "{rows} rows {side} {cut} within {bandwidth} of it are too few for an estimate of the jump: it takes {LEAST_ROWS}"
    )]
    TooFewRows {
        /// The cut.
        cut: f64,
        /// The bandwidth.
        bandwidth: f64,
        /// The side.
        side: Side,
        /// Its rows.
        rows: u64,
    },
    /// A side's rows all have one value of the running variable.
    #[error("the rows {side} {cut} within {bandwidth} of it all have one value, so no line can be drawn through them")]
    OneValue {
        /// The cut.
        cut: f64,
        /// The bandwidth.
        bandwidth: f64,
        /// The side.
        side: Side,
    },
    /// A side has too few different values of the running variable for the curves that choose a bandwidth.
    #[error("the rows {side} {cut} have {values} different values, too few to choose a bandwidth")]
    FewValues {
        /// The cut.
        cut: f64,
        /// The side.
        side: Side,
        /// Its different values.
        values: usize,
    },
    /// The bandwidth is not a positive number.
    #[error("the bandwidth is {found}, but it must be a positive number in the running variable's units")]
    NotABandwidth {
        /// What was given.
        found: f64,
    },
}

/// Why cuts are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum JumpsError {
    /// The span is empty or not finite.
    #[error("the running variable's span is from {low} to {high}, but it must be finite, and its end above its start")]
    Span {
        /// Its start.
        low: f64,
        /// Its end.
        high: f64,
    },
    /// A cut is not inside the span, or not above the one before it.
    #[error(
        "the cut {at} is not between {above} and {below}: cuts must rise and lie inside the running variable's span"
    )]
    Cut {
        /// The cut.
        at: f64,
        /// What it must be above: the cut before it, or the start of the span.
        above: f64,
        /// What it must be below: the end of the span.
        below: f64,
    },
    /// The options beside a cut are equal or unknown.
    #[error(
        "the cut {at} has options {lower} and {upper} beside it, but they must be two different ones of the {options}, counted from 0"
    )]
    Options {
        /// The cut.
        at: f64,
        /// The option below.
        lower: usize,
        /// The option above.
        upper: usize,
        /// The number of options.
        options: usize,
    },
}

/// Two states that cannot be added: they are about other cuts, another span or other options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the sums are about other cuts, another span or other options")]
pub struct JumpsMismatch;

impl Explain for NoJump {
    fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::new(match self {
            Self::TooFewRows { .. } | Self::OneValue { .. } => {
                "choose a larger bandwidth, or collect more rows near the cut"
            }
            Self::FewValues { .. } => "record the running variable with more digits",
            Self::NotABandwidth { .. } => "choose a bandwidth above 0",
        }))
    }
}

impl Explain for JumpsError {
    fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::new(match self {
            Self::Span { .. } => "give a finite range with its lower end first",
            Self::Cut { .. } => "give the cuts in rising order, each inside the range",
            Self::Options { .. } => "name two different options beside each cut",
        }))
    }
}

impl Explain for JumpsMismatch {
    fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::new("merge only states of the same rule, range and options"))
    }
}

impl Jumps {
    /// Empty sums. The span is the range of the running variable, ends included.
    ///
    /// # Errors
    /// If the span or a cut is invalid.
    pub fn new(span: (f64, f64), options: usize, cuts: &[Cut]) -> Result<Self, JumpsError> {
        let (low, high) = span;
        let mut jumps = Self { low, high, options, outside: 0, thresholds: Vec::with_capacity(cuts.len()) };
        check(&jumps, cuts)?;
        for &cut in cuts {
            let (below, above) = jumps.bins_beside(cut.at);
            let half = |given: usize, bins: usize| Half::new(given, bins, options, RewardGrid::open());
            jumps.thresholds.push(Threshold { cut, below: half(cut.lower, below), above: half(cut.upper, above) });
        }
        Ok(jumps)
    }

    /// The same sums, empty, of outcomes on these grids, one for each option: they do not depend on the order of the rows at all.
    ///
    /// # Panics
    /// If there are fewer grids than options.
    #[must_use]
    pub fn of_outcomes(mut self, grids: &[RewardGrid]) -> Self {
        for threshold in &mut self.thresholds {
            let Cut { lower, upper, .. } = threshold.cut;
            for (half, given) in [(&mut threshold.below, lower), (&mut threshold.above, upper)] {
                *half = Half::new(given, half.bins(), self.options, grids[given]);
            }
        }
        self
    }

    /// Adds a row: its running variable, its option and its outcome. A row outside the span is only counted.
    ///
    /// # Panics
    /// If there is no such option.
    pub fn add(&mut self, z: f64, option: usize, outcome: f64) {
        assert!(option < self.options, "one of the options");
        if self.is_within(z) {
            self.beside(z, |half, v| half.add(v, option, outcome));
        } else {
            self.outside += 1;
        }
    }

    /// Sets the rows of an option in a bin of a cut, and the sums of powers of the option that the rule gives. Bins below the cut are −1, −2, …
    /// outward. False if there is no such bin, or the sums are missing or not expected.
    pub(crate) fn set_bin(
        &mut self,
        cut: usize,
        place: i64,
        option: usize,
        rows: u64,
        powers: Option<&PowerSums>,
    ) -> bool {
        let Some(threshold) = self.thresholds.get_mut(cut) else { return false };
        let half = if place < 0 { &mut threshold.below } else { &mut threshold.above };
        let bin = if place < 0 { -1 - place } else { place };
        usize::try_from(bin).is_ok_and(|bin| half.set(bin, option, rows, powers))
    }

    /// Counts rows outside the span.
    pub(crate) fn add_outside(&mut self, rows: u64) {
        self.outside += rows;
    }

    /// The start and the end of the running variable's span.
    pub(crate) fn span_ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Corrects the outcome of a row that was added, as [`crate::Moments::correct`] does.
    ///
    /// # Panics
    /// If there is no such option.
    pub fn correct(&mut self, z: f64, option: usize, old_outcome: f64, new_outcome: f64) {
        assert!(option < self.options, "one of the options");
        if self.is_within(z) {
            self.beside(z, |half, v| half.correct(v, option, old_outcome, new_outcome));
        }
    }

    /// Adds the rows of another log.
    ///
    /// # Errors
    /// If the other sums are about other cuts, another span or other options.
    pub fn merge(&mut self, other: &Self) -> Result<(), JumpsMismatch> {
        if (self.low, self.high, self.options) != (other.low, other.high, other.options)
            || !self.cuts().eq(other.cuts())
            || !self
                .thresholds
                .iter()
                .zip(&other.thresholds)
                .all(|(mine, theirs)| mine.below.is_like(&theirs.below) && mine.above.is_like(&theirs.above))
        {
            return Err(JumpsMismatch);
        }
        self.outside += other.outside;
        for (threshold, other) in self.thresholds.iter_mut().zip(&other.thresholds) {
            threshold.below.merge(&other.below);
            threshold.above.merge(&other.above);
        }
        Ok(())
    }

    /// Whether every part has the right length and every number is possible. Check this first on a state that was read from a file.
    pub fn is_sound(&self) -> bool {
        let cuts: Vec<Cut> = self.cuts().copied().collect();
        check(self, &cuts).is_ok()
            && self.thresholds.iter().all(|threshold| {
                let (below, above) = self.bins_beside(threshold.cut.at);
                threshold.below.is_sound(threshold.cut.lower, below, self.options)
                    && threshold.above.is_sound(threshold.cut.upper, above, self.options)
            })
    }

    /// The cuts, in order.
    pub fn cuts(&self) -> impl ExactSizeIterator<Item = &Cut> {
        self.thresholds.iter().map(|threshold| &threshold.cut)
    }

    /// The width of a bin, in the running variable's units.
    pub fn bin_width(&self) -> f64 {
        self.span() / BINS
    }

    /// Rows whose running variable was not in the span.
    pub fn outside(&self) -> u64 {
        self.outside
    }

    /// The jump at a cut, given by its index.
    ///
    /// # Errors
    /// If a side has too few rows, or only one value, within the bandwidth; with [`Bandwidth::Rule`], anywhere.
    ///
    /// # Panics
    /// If there is no such cut.
    pub fn jump(&self, cut: usize, kernel: Kernel, bandwidth: Bandwidth) -> Result<Jump, NoJump> {
        let Threshold { cut, below, above } = &self.thresholds[cut];
        let bins = match bandwidth {
            Bandwidth::Rule => bandwidth::bins(below, above, kernel),
            Bandwidth::Given(width) if width > 0.0 && width.is_finite() => {
                bandwidth::snapped(width / self.span(), below.bins().max(above.bins()))
            }
            Bandwidth::Given(found) => return Err(NoJump::NotABandwidth { found }),
        };
        let bandwidth = bins as f64 * self.span() / BINS;
        let fit = |half: &Half, side| {
            let powers = half.within(bins);
            if powers.rows() < LEAST_ROWS {
                return Err(NoJump::TooFewRows { cut: cut.at, bandwidth, side, rows: powers.rows() });
            }
            let line = local::fit(&powers, kernel).ok_or(NoJump::OneValue { cut: cut.at, bandwidth, side })?;
            Ok((line, powers.rows()))
        };
        let ((below, rows_below), (above, rows_above)) = (fit(below, Side::Below)?, fit(above, Side::Above)?);
        Ok(Jump {
            cut: cut.at,
            bandwidth,
            estimate: above.level - below.level,
            standard_error: (below.variance + above.variance).sqrt(),
            rows: (rows_below, rows_above),
        })
    }

    /// The rows of an option in each bin around a cut, from low to high: the bin's lower end, and its rows.
    ///
    /// # Panics
    /// If there is no such cut or option.
    pub fn bin_rows(&self, cut: usize, option: usize) -> impl Iterator<Item = (f64, u64)> {
        assert!(option < self.options, "one of the options");
        let (threshold, width) = (&self.thresholds[cut], self.bin_width());
        let at = threshold.cut.at;
        let rows = move |half: &Half, bin| half.rows(option, bin);
        let below = (0..threshold.below.bins()).rev();
        let below = below.map(move |bin| (at - (bin + 1) as f64 * width, rows(&threshold.below, bin)));
        let above = 0..threshold.above.bins();
        below.chain(above.map(move |bin| (at + bin as f64 * width, rows(&threshold.above, bin))))
    }

    /// How often an option was tried near z: its rows in the cell of four bins, counted from the nearest cut, in which z lies. 0
    /// outside the span, or if there is no cut.
    ///
    /// # Panics
    /// If there is no such option.
    pub fn tried(&self, option: usize, z: f64) -> u64 {
        assert!(option < self.options, "one of the options");
        let distance = |threshold: &Threshold| (z - threshold.cut.at).abs();
        let nearest = self.thresholds.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let Some(threshold) = nearest.filter(|_| self.is_within(z)) else { return 0 };
        let half = if z < threshold.cut.at { &threshold.below } else { &threshold.above };
        let first = half.bin(distance(threshold) / self.span()) / CELL * CELL;
        (first..(first + CELL).min(half.bins())).map(|bin| half.rows(option, bin)).sum()
    }

    /// Rows that were added; unknown if there is no cut.
    pub(crate) fn rows(&self) -> Option<u64> {
        let threshold = self.thresholds.first()?;
        Some(self.outside + threshold.below.all_rows() + threshold.above.all_rows())
    }

    fn is_within(&self, z: f64) -> bool {
        self.low <= z && z <= self.high
    }

    /// Calls `each` with the side of every cut on which z lies, and with the distance as a share of the span.
    #[inline]
    fn beside(&mut self, z: f64, mut each: impl FnMut(&mut Half, f64)) {
        let scale = 1.0 / self.span();
        for threshold in &mut self.thresholds {
            let offset = (z - threshold.cut.at) * scale;
            let half = if offset < 0.0 { &mut threshold.below } else { &mut threshold.above };
            each(half, offset.abs());
        }
    }

    fn span(&self) -> f64 {
        self.high - self.low
    }

    /// The number of bins below and above a cut.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(crate) fn bins_beside(&self, at: f64) -> (usize, usize) {
        let bins = |distance: f64| (distance / self.span() * BINS).ceil().max(1.0) as usize;
        (bins(at - self.low), bins(self.high - at))
    }
}

fn check(jumps: &Jumps, cuts: &[Cut]) -> Result<(), JumpsError> {
    let &Jumps { low, high, options, .. } = jumps;
    if !(low < high && (high - low).is_finite()) {
        return Err(JumpsError::Span { low, high });
    }
    let mut above = low;
    for &Cut { at, lower, upper } in cuts {
        if !(above < at && at < high) {
            return Err(JumpsError::Cut { at, above, below: high });
        }
        if lower == upper || lower.max(upper) >= options {
            return Err(JumpsError::Options { at, lower, upper, options });
        }
        above = at;
    }
    Ok(())
}
