//! The paper's claims, in our words, with what we measured.

mod children;
mod figure_three;
mod house;
mod judgement;
mod supplement;
mod theorems;
mod trial_view;

use serde::Serialize;

use super::ReproductionEvidence;
use crate::metrics::Interval95;

pub use judgement::{ClaimJudgement, ClaimVerdict, Condition, MOST_RUNS, MeasuredValue};

/// Under which reading of the paper something was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// What the authors ran.
    Published,
    /// The authors' algorithms on the data as the paper describes them: every realisation, each child with its own outcomes.
    Repaired,
    /// Valid confidence sets and exact updates.
    Rigorous,
    /// What does not depend on a profile.
    Exact,
}

impl Reading {
    /// All of them, from what the authors ran to what the claim is judged by.
    pub const ALL: [Self; 4] = [Self::Published, Self::Repaired, Self::Rigorous, Self::Exact];

    /// Its name, in ids and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Repaired => "repaired",
            Self::Rigorous => "rigorous",
            Self::Exact => "exact",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Published => "as published",
            Self::Repaired => "pairing repaired",
            Self::Rigorous => "valid sets",
            Self::Exact => "exact",
        }
    }
}

/// One number that bears on a claim, with its 95 % interval where it has one.
#[derive(Debug, Clone, Serialize)]
pub struct Measurement {
    /// Under which reading.
    pub profile: Reading,
    /// What was measured.
    pub what: String,
    /// The number.
    pub value: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// The runs behind it, where there are any.
    pub runs: Option<u64>,
    /// The condition under which the claim holds.
    pub holds_if: String,
    /// Whether the number itself meets it.
    pub holds: bool,
    /// Whether its interval agrees with that.
    pub clear: bool,
    /// What follows for the claim.
    #[serde(flatten)]
    pub judgement: ClaimJudgement,
}

/// What one reading says about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReadingVerdict {
    /// The reading.
    pub profile: Reading,
    /// The fewest runs behind any of its measurements, where there are any.
    pub runs: Option<u64>,
    /// The verdict.
    #[serde(flatten)]
    pub judgement: ClaimJudgement,
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
    /// What every reading says, in the order of [`Reading::ALL`].
    pub readings: Vec<ReadingVerdict>,
    /// The verdict by which it is counted: with valid sets, or exactly, if it was measured so.
    #[serde(flatten)]
    pub judgement: ClaimJudgement,
    /// Whether more runs may settle it.
    pub close: bool,
    /// The fewest runs behind any of its measurements, where there are any.
    pub runs: Option<u64>,
    /// What else the numbers say, in words.
    pub note: Option<String>,
    /// Whether it is ours rather than the paper's.
    pub ours: bool,
}

impl Claim {
    /// The verdict by which it is counted.
    pub fn verdict(&self) -> ClaimVerdict {
        self.judgement.verdict
    }

    /// What one reading says, if it was measured so.
    pub fn reading(&self, profile: Reading) -> Option<&ReadingVerdict> {
        self.readings.iter().find(|reading| reading.profile == profile)
    }

    fn noted(self, note: String) -> Self {
        Self { note: Some(note), ..self }
    }

    fn of_ours(self) -> Self {
        Self { ours: true, ..self }
    }
}

/// Every claim of the paper, with its verdict.
pub fn claims(evidence: &ReproductionEvidence<'_>) -> Vec<Claim> {
    let trials = evidence.trials;
    let mut all = figure_three::regret(trials);
    all.extend(figure_three::safety(trials));
    all.extend(figure_three::changes(trials));
    all.extend(supplement::schedule(trials));
    all.extend(supplement::grid(trials));
    all.extend(supplement::sweeps(trials));
    all.extend(children::figure_four(trials));
    all.extend(theorems::theorems(evidence));
    all.push(house::default_algorithm(trials));
    all
}

/// A number with the condition that it has to meet, before it is judged.
#[derive(Debug, Clone)]
pub struct Unjudged {
    /// Under which reading.
    pub profile: Reading,
    /// What was measured.
    pub what: String,
    /// The number.
    pub found: MeasuredValue,
    /// The condition.
    pub condition: Condition,
}

impl Unjudged {
    fn new(profile: Reading, what: impl Into<String>, found: MeasuredValue, condition: Condition) -> Self {
        Self { profile, what: what.into(), found, condition }
    }

    fn judged(self, comparisons: usize) -> Measurement {
        let Self { profile, what, found, condition } = self;
        let judgement = found.judge(condition, comparisons);
        let between = found.interval().filter(|Interval95 { low, high, .. }| low < high);
        Measurement {
            profile,
            what,
            value: found.value(),
            low: between.map(|between| between.low),
            high: between.map(|between| between.high),
            runs: found.runs(),
            holds_if: condition.words(),
            holds: condition.holds(found.value()),
            clear: judgement.verdict != ClaimVerdict::NotSettled,
            judgement,
        }
    }
}

/// Judges a claim: each reading by all that was measured under it, and the claim by the last of its readings.
pub fn claim(
    (id, figure): (&'static str, &'static str),
    text: &'static str,
    paper: &'static str,
    found: Vec<Unjudged>,
) -> Claim {
    let comparisons = Reading::ALL.map(|profile| found.iter().filter(|found| found.profile == profile).count());
    let measured: Vec<Measurement> = found
        .into_iter()
        .map(|found| {
            let at = found.profile as usize;
            found.judged(comparisons[at])
        })
        .collect();
    let of = |profile: Reading| {
        let own = || measured.iter().filter(move |found| found.profile == profile);
        own().next()?;
        let runs = own().filter_map(|found| found.runs).min();
        Some(ReadingVerdict { profile, runs, judgement: ClaimJudgement::of_all(own().map(|found| found.judgement)) })
    };
    let readings: Vec<ReadingVerdict> = Reading::ALL.into_iter().filter_map(of).collect();
    let nothing = ClaimJudgement { verdict: ClaimVerdict::NotSettled, runs_needed: None };
    let judgement = readings.last().map_or(nothing, |reading| reading.judgement);
    Claim {
        id,
        text,
        figure,
        paper,
        runs: measured.iter().filter_map(|found| found.runs).min(),
        close: judgement.verdict == ClaimVerdict::NotSettled,
        measured,
        readings,
        judgement,
        note: None,
        ours: false,
    }
}
