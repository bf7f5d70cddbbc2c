//! Means of scores as they arrive: the mean with its standard error, and two confidence sequences, which hold at all times at once.

use crate::confidence::Interval;

/// The largest bet; a bet of 1 could lose everything [waudby-smith-2024, §3.2].
const LARGEST_BET: f64 = 0.5;

/// A running mean and its standard error [welford-1962].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RunningMean {
    count: u64,
    mean: f64,
    squares: f64,
}

impl RunningMean {
    /// Adds a number.
    pub fn update(&mut self, x: f64) {
        self.count += 1;
        let off = x - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (x - self.mean);
    }

    /// Numbers so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; 0 if there is none.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Their variance, of `n − 1` degrees of freedom; NaN for fewer than two.
    pub fn variance(&self) -> f64 {
        if self.count < 2 { f64::NAN } else { self.squares / (self.count - 1) as f64 }
    }

    /// The standard error of the mean; NaN for fewer than two numbers.
    pub fn standard_error(&self) -> f64 {
        (self.variance() / self.count as f64).sqrt()
    }
}

/// The empirical-Bernstein confidence sequence with predictable plug-in bets [waudby-smith-2024, Thm 2].
///
/// For numbers in `[−B, B]` whose mean, given those before, is `μ`: the interval contains `μ` at all times at once with probability at least
/// `1−α`, whatever their distribution. On `x = (X+B)/(2B)` it is `(Σλx ± (ln(2/α) + Σ 4(x−μ̂)²ψ(λ)))/Σλ`,
/// `ψ(λ) = (−ln(1−λ) − λ)/4`, where the bet `λ` and the guess `μ̂` use earlier numbers only. Intervals of earlier times hold too: they are
/// intersected. Each number costs O(1).
///
/// ```
/// use rarely_core::EmpiricalBernstein;
/// let mut sequence = EmpiricalBernstein::new(1.0, 0.05, None);
/// (0..1000).for_each(|at| sequence.update(if at % 2 == 0 { 0.3 } else { 0.5 }));
/// let interval = sequence.interval();
/// assert!(interval.contains(0.4) && interval.upper - interval.lower < 0.1);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EmpiricalBernstein {
    bound: f64,
    /// `ln(2/α)`.
    evidence: f64,
    sharpest_at: Option<u64>,
    /// Of `x`.
    mean: RunningMean,
    /// `Σx` and `Σ(x − μ̂)²`, with half a case of prior each.
    sum: f64,
    squares: f64,
    /// `Σλ`, `Σλx` and `Σ 4(x−μ̂)²ψ(λ)`.
    bets: f64,
    weighted: f64,
    loss: f64,
    lower: f64,
    upper: f64,
}

impl EmpiricalBernstein {
    /// For numbers in `[−bound, bound]` and an error probability `α`. Bets are sharpest at the number of cases that is expected, if one is
    /// given beforehand, and fall as `√(1/(t ln t))` otherwise. The sequence holds at all times either way.
    ///
    /// # Panics
    /// If the bound is not positive, or the probability not strictly between 0 and 1.
    pub fn new(bound: f64, share: f64, sharpest_at: Option<u64>) -> Self {
        assert!(bound > 0.0 && share > 0.0 && share < 1.0, "the bound is positive, the probability between 0 and 1");
        Self {
            bound,
            evidence: libm::log(2.0 / share),
            sharpest_at,
            mean: RunningMean::default(),
            sum: 0.5,
            squares: 0.25,
            bets: 0.0,
            weighted: 0.0,
            loss: 0.0,
            lower: 0.0,
            upper: 1.0,
        }
    }

    /// Adds a number.
    ///
    /// # Panics
    /// If it is outside `[−B, B]`: the sequence would not hold.
    pub fn update(&mut self, number: f64) {
        // Rounding may push a number at the very bound beyond it.
        assert!(number.abs() <= self.bound * (1.0 + 1e-9), "{number} is outside ±{}", self.bound);
        let x = (0.5 * (number / self.bound + 1.0)).clamp(0.0, 1.0);
        let before = self.mean.count() as f64 + 1.0;
        let (guess, variance) = (self.sum / before, self.squares / before);
        let horizon = self.sharpest_at.map_or_else(|| before * libm::log1p(before), |cases| cases.max(1) as f64);
        let bet = (2.0 * self.evidence / (variance * horizon)).sqrt().min(LARGEST_BET);
        let off = x - guess;
        self.bets += bet;
        self.weighted += bet * x;
        self.loss += off * off * (-libm::log1p(-bet) - bet);
        self.mean.update(x);
        self.sum += x;
        let settled = x - self.sum / (before + 1.0);
        self.squares += settled * settled;
        let (centre, half_width) = (self.weighted / self.bets, (self.evidence + self.loss) / self.bets);
        self.lower = self.lower.max(centre - half_width);
        self.upper = self.upper.min(centre + half_width);
    }

    /// Numbers so far.
    pub fn count(&self) -> u64 {
        self.mean.count()
    }

    /// The mean, and the interval that holds at all times. Its ends never move outwards. An empty one (`lower > upper`) means that an
    /// assumption failed or that the event of probability α occurred.
    pub fn interval(&self) -> Interval {
        let original = |x: f64| self.bound * (2.0 * x - 1.0);
        let estimate = if self.count() == 0 { 0.0 } else { original(self.mean.mean()) };
        Interval { estimate, lower: original(self.lower), upper: original(self.upper) }
    }
}

/// The asymptotic confidence sequence of a mean [waudby-smith-2021, Thm 2.2]:
/// `μ̂ ± σ̂·√(2(tρ²+1)/(t²ρ²)·ln(√(tρ²+1)/α))`, with `ρ` chosen to be sharpest at an expected number of cases.
///
/// It holds at all times from some case on, approximately: the later one starts to look, the better.
///
/// ```
/// use rarely_core::AsymptoticSequence;
/// let mut sequence = AsymptoticSequence::new(0.05, 1000);
/// (0..1000).for_each(|at| sequence.update(if at % 2 == 0 { 0.3 } else { 0.5 }));
/// assert!(sequence.interval().upper - sequence.interval().lower < 0.02);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AsymptoticSequence {
    mean: RunningMean,
    share: f64,
    /// `ρ²`.
    tuning: f64,
}

impl AsymptoticSequence {
    /// For an error probability `α`, sharpest at this number of cases.
    ///
    /// # Panics
    /// If the probability is not strictly between 0 and 1, or no case is expected.
    pub fn new(share: f64, sharpest_at: u64) -> Self {
        assert!(share > 0.0 && share < 1.0 && sharpest_at > 0, "a probability between 0 and 1, and a case");
        let evidence = -2.0 * libm::log(share);
        // [waudby-smith-2021, App. B.2]. For α near 1 the inner logarithm is negative.
        let tuning = (evidence + libm::log(evidence).max(0.0) + 1.0) / sharpest_at as f64;
        Self { mean: RunningMean::default(), share, tuning }
    }

    /// Adds a number.
    pub fn update(&mut self, x: f64) {
        self.mean.update(x);
    }

    /// The mean so far.
    pub fn mean(&self) -> &RunningMean {
        &self.mean
    }

    /// The interval now; unbounded for fewer than two numbers.
    pub fn interval(&self) -> Interval {
        if self.mean.count() < 2 {
            return Interval { estimate: self.mean.mean(), lower: f64::NEG_INFINITY, upper: f64::INFINITY };
        }
        let cases = self.mean.count() as f64;
        let grown = cases * self.tuning + 1.0;
        let factor = 2.0 * grown / (cases * cases * self.tuning) * (0.5 * libm::log(grown) - libm::log(self.share));
        Interval::around(self.mean.mean(), (self.mean.variance() * factor).sqrt())
    }
}
