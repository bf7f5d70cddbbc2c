//! The paper's claims, in our words, with what we measured.

mod children;
mod simulations;
mod theorems;
mod trial_view;

use serde::Serialize;

use super::ReproductionEvidence;
use crate::metrics::Interval95;

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum ClaimVerdict {
    /// It holds, also with valid confidence sets.
    #[serde(rename = "holds")]
    Holds,
    /// It holds only with what the authors ran.
    #[serde(rename = "holds only as published")]
    OnlyAsPublished,
    /// It does not hold.
    #[serde(rename = "does not hold")]
    DoesNotHold,
}

impl ClaimVerdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::OnlyAsPublished => "holds only as published",
            Self::DoesNotHold => "does not hold",
        }
    }
}

/// One number that bears on a claim, with its 95 % interval where it has one.
#[derive(Debug, Clone, Serialize)]
pub struct Measurement {
    /// `published`, `rigorous`, or `exact` for what has no profile.
    pub profile: &'static str,
    /// What was measured.
    pub what: String,
    /// The number.
    pub value: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// The condition under which the claim holds.
    pub holds_if: String,
    /// Whether it does.
    pub holds: bool,
    /// Whether the whole interval agrees with that.
    pub clear: bool,
}

/// One claim.
#[derive(Debug, Clone, Serialize)]
pub struct Claim {
    /// A short name.
    pub id: &'static str,
    /// In our words.
    pub text: &'static str,
    /// Where the paper makes it.
    pub figure: &'static str,
    /// What the paper says or shows there, in numbers where it gives any.
    pub paper: &'static str,
    /// What we measured.
    pub measured: Vec<Measurement>,
    /// Whether it holds.
    pub verdict: ClaimVerdict,
    /// Whether it does not hold only because an interval reaches over a limit: more runs may change the verdict.
    pub close: bool,
    /// Whether it is ours rather than the paper's.
    pub ours: bool,
}

/// Every claim of the paper, with its verdict.
pub fn claims(evidence: &ReproductionEvidence<'_>) -> Vec<Claim> {
    let trials = evidence.trials;
    let mut all = simulations::figure_three_regret(trials);
    all.extend(simulations::figure_three_safety(trials));
    all.extend(simulations::figure_three_changes(trials));
    all.extend(simulations::supplement(trials));
    all.extend(children::figure_four(trials));
    all.extend(theorems::theorems(evidence));
    all.push(simulations::house(trials));
    all
}

/// A condition on a number.
#[derive(Clone, Copy)]
enum Condition {
    Above(f64),
    AtLeast(f64),
    AtMost(f64),
    Within(f64, f64),
}

impl Condition {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::Above(limit) => value > limit,
            Self::AtLeast(limit) => value >= limit,
            Self::AtMost(limit) => value <= limit,
            Self::Within(low, high) => value >= low && value <= high,
        }
    }

    fn words(self) -> String {
        match self {
            Self::Above(limit) => format!("above {limit}"),
            Self::AtLeast(limit) => format!("at least {limit}"),
            Self::AtMost(limit) => format!("at most {limit}"),
            Self::Within(low, high) => format!("from {low} to {high}"),
        }
    }
}

fn measurement(profile: &'static str, what: impl Into<String>, between: Interval95, is: Condition) -> Measurement {
    let Interval95 { mean, low, high } = between;
    let holds = is.holds(mean);
    let clear = is.holds(low) == holds && is.holds(high) == holds;
    let has_interval = low < high;
    Measurement {
        profile,
        what: what.into(),
        value: mean,
        low: has_interval.then_some(low),
        high: has_interval.then_some(high),
        holds_if: is.words(),
        holds,
        clear,
    }
}

fn exactly(value: f64) -> Interval95 {
    Interval95 { mean: value, low: value, high: value }
}

fn claim(
    (id, figure): (&'static str, &'static str),
    text: &'static str,
    paper: &'static str,
    measured: Vec<Measurement>,
) -> Claim {
    let all = |profile: &str, condition: fn(&Measurement) -> bool| {
        let mut of_profile = measured.iter().filter(|found| found.profile == profile).peekable();
        of_profile.peek().is_some() && of_profile.all(condition)
    };
    let verdict_by = |condition: fn(&Measurement) -> bool| {
        if all("rigorous", condition) || all("exact", condition) {
            ClaimVerdict::Holds
        } else if all("published", condition) {
            ClaimVerdict::OnlyAsPublished
        } else {
            ClaimVerdict::DoesNotHold
        }
    };
    let verdict = verdict_by(|found| found.holds && found.clear);
    let close = verdict != verdict_by(|found| found.holds || !found.clear);
    Claim { id, text, figure, paper, measured, verdict, close, ours: false }
}
