//! Holds, does not hold, or not settled: what a number with its interval says about a condition.

use serde::{Serialize, Serializer};
use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::metrics::{Interval95, t_quantile};

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// Everything measured for it meets its condition, with the whole of its interval.
    Holds,
    /// Something measured for it misses its condition, with the whole of its interval.
    DoesNotHold,
    /// Neither: an interval reaches over a limit, or there is none because there was one run.
    NotSettled,
}

impl ClaimVerdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::NotSettled => "not settled",
        }
    }
}

impl Serialize for ClaimVerdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.words())
    }
}

/// A verdict and, where it is not settled, the number of runs that would settle it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClaimJudgement {
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// Runs that settle it with a probability of 80 % if the effect is as measured. `None` if it is settled, and where no
    /// number up to [`MOST_RUNS`] is enough or a single run gives no error.
    pub runs_needed: Option<u64>,
}

/// More runs than this are not called a number that settles anything.
pub const MOST_RUNS: u64 = 1_000_000;

/// The normal quantile of 80 %.
const POWER: f64 = 0.841_621_233_572_914_3;

impl ClaimJudgement {
    /// A verdict that is settled.
    pub const fn settled(verdict: ClaimVerdict) -> Self {
        Self { verdict, runs_needed: None }
    }

    const HOLDS: Self = Self::settled(ClaimVerdict::Holds);
    const DOES_NOT_HOLD: Self = Self::settled(ClaimVerdict::DoesNotHold);

    fn not_settled(runs_needed: Option<u64>) -> Self {
        Self { verdict: ClaimVerdict::NotSettled, runs_needed }
    }

    /// The verdict on a statement that several measurements make together: it holds if all of them hold, and does not hold if one
    /// of them does not. If it is not settled, the runs that settle all.
    pub fn of_all(all: impl IntoIterator<Item = Self>) -> Self {
        let mut runs_needed: Option<Option<u64>> = None;
        for judgement in all {
            match judgement.verdict {
                ClaimVerdict::DoesNotHold => return Self::DOES_NOT_HOLD,
                ClaimVerdict::NotSettled => {
                    let so_far = runs_needed.unwrap_or(Some(0));
                    runs_needed = Some(so_far.zip(judgement.runs_needed).map(|(one, other)| one.max(other)));
                }
                ClaimVerdict::Holds => {}
            }
        }
        runs_needed.map_or(Self::HOLDS, Self::not_settled)
    }

    /// `not settled (about 400 runs)`.
    pub fn words(&self) -> String {
        let words = self.verdict.words();
        self.runs_needed.map_or_else(|| words.to_owned(), |runs| format!("{words} (about {runs} runs)"))
    }
}

/// A condition on a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Condition {
    /// Larger than.
    Above(f64),
    /// As large as, or larger.
    AtLeast(f64),
    /// As small as, or smaller.
    AtMost(f64),
    /// Between two numbers.
    Within(f64, f64),
    /// Of cases that are counted: none.
    Never,
    /// Of cases that are counted: one at least.
    Sometimes,
}

impl Condition {
    /// Whether a number meets it.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::Above(limit) => value > limit,
            Self::AtLeast(limit) => value >= limit,
            Self::AtMost(limit) => value <= limit,
            Self::Within(low, high) => value >= low && value <= high,
            Self::Never => value <= 0.0,
            Self::Sometimes => value > 0.0,
        }
    }

    /// The limit that is nearest to a number.
    fn limit(self, value: f64) -> f64 {
        match self {
            Self::Above(limit) | Self::AtLeast(limit) | Self::AtMost(limit) => limit,
            Self::Within(low, high) => {
                if (value - low).abs() < (value - high).abs() {
                    low
                } else {
                    high
                }
            }
            Self::Never | Self::Sometimes => 0.0,
        }
    }

    /// Whether no number from `low` to `high` meets it.
    fn fails_between(self, low: f64, high: f64) -> bool {
        match self {
            Self::Within(least, most) => high < least || low > most,
            _ => !self.holds(low) && !self.holds(high),
        }
    }

    /// In words.
    pub fn words(self) -> String {
        match self {
            Self::Above(limit) => format!("above {limit}"),
            Self::AtLeast(limit) => format!("at least {limit}"),
            Self::AtMost(limit) => format!("at most {limit}"),
            Self::Within(low, high) => format!("from {low} to {high}"),
            Self::Never => "never".to_owned(),
            Self::Sometimes => "at least once".to_owned(),
        }
    }
}

/// A number that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MeasuredValue {
    /// It follows from the construction: it has no error.
    Exact(f64),
    /// A mean over runs, or a function of means.
    Mean {
        /// With its interval.
        interval: Interval95,
        /// Over so many runs.
        runs: u64,
    },
    /// Cases among others.
    Count {
        /// The cases.
        cases: u64,
        /// Among so many.
        among: u64,
        /// In so many runs.
        runs: u64,
    },
}

impl MeasuredValue {
    /// The number; of a count, the percentage.
    pub fn value(self) -> f64 {
        match self {
            Self::Exact(value) => value,
            Self::Mean { interval, .. } => interval.mean,
            Self::Count { cases, among, .. } => 100.0 * cases as f64 / among.max(1) as f64,
        }
    }

    /// Its interval, where it has one.
    pub fn interval(self) -> Option<Interval95> {
        match self {
            Self::Exact(_) => None,
            Self::Mean { interval, runs } => (runs > 1).then_some(interval),
            Self::Count { cases, among, .. } => {
                let [cases, among] = [cases, among].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
                Interval95::share(&[(cases, among)])
            }
        }
    }

    /// The runs behind it, where there are any.
    pub fn runs(self) -> Option<u64> {
        match self {
            Self::Exact(_) => None,
            Self::Mean { runs, .. } | Self::Count { runs, .. } => Some(runs),
        }
    }

    /// Judges it. `comparisons` is the number of measurements that the claim makes together: it needs all of them, so that each may
    /// be affirmed by its own 95 % interval, but any one of them refutes it, so that refuting takes an interval of
    /// `1 − 0.05/comparisons`.
    ///
    /// `Never` and `Sometimes` are settled by one case. Without a case, `Never` holds as far as was looked, and `Sometimes` is not
    /// settled.
    pub fn judge(self, condition: Condition, comparisons: usize) -> ClaimJudgement {
        match (condition, self) {
            (Condition::Sometimes, Self::Count { cases: 0, .. }) => ClaimJudgement::not_settled(None),
            (_, Self::Exact(_) | Self::Count { .. }) if condition.holds(self.value()) => ClaimJudgement::HOLDS,
            (_, Self::Exact(_) | Self::Count { .. }) => ClaimJudgement::DOES_NOT_HOLD,
            (_, Self::Mean { interval, runs }) => judge_mean(interval, runs, condition, widening(comparisons)),
        }
    }
}

fn judge_mean(interval: Interval95, runs: u64, condition: Condition, wider: f64) -> ClaimJudgement {
    let Interval95 { mean, low, high } = interval;
    if runs < 2 || !mean.is_finite() {
        return ClaimJudgement::not_settled(None);
    }
    let meets = condition.holds(mean);
    if meets && condition.holds(low) && condition.holds(high) {
        return ClaimJudgement::HOLDS;
    }
    if condition.fails_between(mean - wider * (mean - low), mean + wider * (high - mean)) {
        return ClaimJudgement::DOES_NOT_HOLD;
    }
    let limit = condition.limit(mean);
    let half_width = if limit < mean { mean - low } else { high - mean };
    let distance = (mean - limit).abs();
    ClaimJudgement::not_settled(runs_needed(distance, half_width, runs, if meets { 1.0 } else { wider }))
}

/// The runs after which an interval, as wide as now at the same deviation of a run and `wider` than 95 %, leaves out a limit at this
/// distance with a probability of 80 %; rounded up to two digits.
fn runs_needed(distance: f64, half_width: f64, runs: u64, wider: f64) -> Option<u64> {
    let deviation = half_width * (runs as f64).sqrt() / t_quantile(runs - 1);
    let enough = |count: u64| {
        let reach = wider * t_quantile(count - 1) + POWER;
        distance * (count as f64).sqrt() >= reach * deviation
    };
    if !enough(MOST_RUNS) {
        return None;
    }
    // It is not settled now, so that it takes more than there are.
    let (mut few, mut many) = (runs.max(2), MOST_RUNS);
    while many - few > 1 {
        let middle = few + (many - few) / 2;
        if enough(middle) { many = middle } else { few = middle }
    }
    Some(two_digits(many))
}

fn two_digits(count: u64) -> u64 {
    let unit = 10_u64.pow(count.max(1).ilog10().saturating_sub(1));
    count.div_ceil(unit) * unit
}

/// How much wider an interval of `1 − 0.05/comparisons` is than one of 95 %.
fn widening(comparisons: usize) -> f64 {
    let tail = 0.025 / comparisons.max(1) as f64;
    Normal::standard().inverse_cdf(1.0 - tail) / Normal::standard().inverse_cdf(0.975)
}
