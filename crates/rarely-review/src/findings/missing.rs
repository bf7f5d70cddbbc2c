//! What rows lack, and how those that were dropped for it differ from the others.

use std::fmt::Write as _;

use indexmap::IndexMap;
use rarely_core::Interval;
use rarely_policy::{Missing, PolicyDocument};
use serde::Serialize;

use super::numbers::{count, interval, measured, percent};
use crate::missing_rows::MissingRows;
use crate::review::Review;

/// What rows lack.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissingFinding {
    /// Each column that lacks values.
    pub columns: Vec<MissingColumnFinding>,
    /// Rows that were dropped because they lack a value.
    pub dropped: u64,
    /// Dropped rows of each option.
    pub dropped_per_option: IndexMap<String, u64>,
    /// The mean outcome of the dropped rows; null if none has an outcome.
    pub dropped_mean: Option<f64>,
    /// The mean outcome of the other rows.
    pub kept_mean: Option<f64>,
    /// The difference of the two, with a plain 95 % interval.
    pub difference: Option<Interval>,
    /// How the dropped rows differ from the others; none if none was dropped.
    pub sentence: Option<String>,
}

/// A column that lacks values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissingColumnFinding {
    /// The column.
    pub column: String,
    /// Rows without a value.
    pub rows: u64,
    /// Those of each option.
    pub per_option: IndexMap<String, u64>,
    /// How many, for whom, and what happens to them.
    pub sentence: String,
}

impl MissingFinding {
    pub(super) fn new(document: &PolicyDocument, review: &Review, missing: &MissingRows) -> Self {
        let all = review.rows() + missing.dropped;
        let columns = missing.columns.iter().map(|(column, per_option, others)| {
            MissingColumnFinding::new(document, column, (per_option, *others), all)
        });
        let outcomes = missing.outcomes;
        Self {
            columns: columns.collect(),
            dropped: missing.dropped,
            dropped_per_option: by_option(document, &missing.dropped_of),
            dropped_mean: outcomes.map(|outcomes| outcomes.dropped),
            kept_mean: outcomes.map(|outcomes| outcomes.kept),
            difference: outcomes.map(|outcomes| outcomes.difference),
            sentence: (missing.dropped > 0).then(|| dropped_sentence(document, review, missing, all)),
        }
    }

    /// All sentences.
    pub fn sentences(&self) -> impl Iterator<Item = &String> {
        self.columns.iter().map(|column| &column.sentence).chain(&self.sentence)
    }
}

impl MissingColumnFinding {
    fn new(document: &PolicyDocument, column: &str, (per_option, others): (&[u64], u64), all: u64) -> Self {
        let rows = per_option.iter().sum::<u64>() + others;
        let per_option = by_option(document, per_option);
        let mut options: Vec<String> =
            per_option.iter().map(|(option, rows)| format!("{option} {}", count(*rows))).collect();
        if others > 0 {
            options.push(format!("no option {}", count(others)));
        }
        let consequence = match document.feature(column).map(|(_, feature)| feature.missing()) {
            Some(Missing::Indicator) => "It counts as the middle of its range, and that it is missing counts too.",
            Some(Missing::Level) => "Missing is one of its levels.",
            _ => "These rows are left out.",
        };
        let sentence = format!(
            "{column} is missing in {} of {} rows ({}): {}. {consequence}",
            count(rows),
            count(all),
            percent(rows as f64 / all.max(1) as f64),
            options.join(", ")
        );
        Self { column: column.to_owned(), rows, per_option, sentence }
    }
}

fn by_option(document: &PolicyDocument, counts: &[u64]) -> IndexMap<String, u64> {
    document.options().iter().cloned().zip(counts.iter().copied()).collect()
}

/// `120 of 400 rows (30 %) are left out because they lack a value. Of them 60 % got invite (48 % of the others). …`
fn dropped_sentence(document: &PolicyDocument, review: &Review, missing: &MissingRows, all: u64) -> String {
    let (dropped, kept) = (missing.dropped_of.iter().sum::<u64>(), review.rows());
    let mut text = format!(
        "{} of {} rows ({}) are left out because they lack a value.",
        count(missing.dropped),
        count(all),
        percent(missing.dropped as f64 / all.max(1) as f64)
    );
    if dropped > 0 {
        let shares = document.options().iter().zip(missing.dropped_of.iter().zip(&review.per_option));
        let shares = shares.map(|(option, (&gone, &rows))| {
            let (gone, rows) = (gone as f64 / dropped as f64, rows as f64 / kept.max(1) as f64);
            format!("{} got {option} ({} of the others)", percent(gone), percent(rows))
        });
        let _ = write!(text, " Of them {}.", shares.collect::<Vec<_>>().join(", "));
    }
    if let Some(outcomes) = missing.outcomes {
        let _ = write!(
            text,
            " Their mean {} is {}, that of the others {}; the difference is {}, a plain 95 % interval.",
            document.outcome().column,
            measured(outcomes.dropped),
            measured(outcomes.kept),
            interval(outcomes.difference)
        );
    }
    text + " What the review says holds for people like those who are not left out."
}
