//! What a change does for whom, by columns that are no features.

use indexmap::IndexMap;
use rarely_core::Interval;
use rarely_policy::PolicyDocument;
use serde::Serialize;

use super::numbers::{count, interval, percent};
use super::units::gain_unit;
use crate::fairness::LevelImpact;
use crate::review::Review;

/// What a change does for whom.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FairnessFinding {
    /// Which change, and how the columns are to be read.
    pub sentence: String,
    /// Each value of each column.
    pub levels: Vec<LevelFinding>,
}

/// What a change does for the people with one value of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelFinding {
    /// The column.
    pub column: String,
    /// Its value.
    pub level: String,
    /// Rows with it.
    pub rows: u64,
    /// The share of its people who get another option.
    pub changed_share: f64,
    /// The share of its people who get each option now, …
    pub shares_now: IndexMap<String, f64>,
    /// … and after the change.
    pub shares_after: IndexMap<String, f64>,
    /// The gain per case over all its people.
    pub gain: Interval,
    /// Why least squares cannot say it, where they cannot.
    pub not_confirmed: Option<String>,
    /// The same as cells of a table.
    pub cells: [String; 5],
}

impl FairnessFinding {
    /// What it is about.
    pub const TITLE: &'static str = "Who gains, by columns that are no features";
    /// Columns of [`LevelFinding::cells`].
    pub const COLUMNS: [&'static str; 5] = ["who", "cases", "change", "options now → after", "gain per case"];

    /// `None` if the document names no fairness columns, or there is no rule to compare with.
    pub(super) fn new(document: &PolicyDocument, review: &Review) -> Option<Self> {
        let change =
            if review.judgement.proposal.is_some() { "the proposed change" } else { "the best rule that was tried" };
        let unit = gain_unit(document);
        (!review.fairness.is_empty()).then(|| Self {
            sentence: format!(
                "What {change} does by columns that are no features. Each gain, in {unit}, is estimated from the cases of these people alone. \
                 The verdict does not depend on it."
            ),
            levels: review.fairness.iter().map(|found| LevelFinding::new(document, found)).collect(),
        })
    }
}

impl LevelFinding {
    /// Why the interval rests on sets that hold for every change, where it does.
    pub fn not_confirmed_sentence(&self) -> Option<String> {
        self.not_confirmed.as_ref().map(|reason| format!("{}: {reason}", self.cells[0]))
    }

    fn new(document: &PolicyDocument, found: &LevelImpact) -> Self {
        let share = |people: usize| people as f64 / found.people.max(1) as f64;
        let shares = |counted: &[usize]| -> IndexMap<String, f64> {
            document.options().iter().cloned().zip(counted.iter().map(|&people| share(people))).collect()
        };
        let (shares_now, shares_after) = (shares(&found.before), shares(&found.after));
        let moved = shares_now.iter().zip(shares_after.values());
        let moved: Vec<String> =
            moved.map(|((option, now), after)| format!("{option} {} → {}", percent(*now), percent(*after))).collect();
        let changed_share = share(found.changed);
        Self {
            column: found.column.clone(),
            level: found.level.clone(),
            rows: found.rows,
            changed_share,
            cells: [
                format!("{} {}", found.column, found.level),
                count(found.rows),
                percent(changed_share),
                moved.join(", "),
                interval(found.gain.interval),
            ],
            shares_now,
            shares_after,
            gain: found.gain.interval,
            not_confirmed: found.not_confirmed.clone(),
        }
    }
}
