//! The cases that a review rests on.

use indexmap::IndexMap;
use rarely_policy::PolicyDocument;
use serde::Serialize;

use super::numbers::{count, many};
use crate::people_sample::SAMPLE_SIZE;
use crate::review::Review;

/// The cases that a review rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CasesFinding {
    /// Rows that were used.
    pub rows: u64,
    /// Rows that could not be used.
    pub rejected: u64,
    /// Rows of each option.
    pub per_option: IndexMap<String, u64>,
    /// People over whom shares and gains are averages.
    pub people: u64,
    /// `8,000 rows (watch 4,102, treat 3,898), 0 rejected`.
    pub summary: String,
    /// Which people those are, where they are not simply those of the log.
    pub people_sentence: Option<String>,
}

impl CasesFinding {
    pub(super) fn new(document: &PolicyDocument, review: &Review) -> Self {
        let (rows, people) = (review.rows(), review.people as u64);
        let per_option: IndexMap<String, u64> =
            document.options().iter().cloned().zip(review.per_option.iter().copied()).collect();
        let options: Vec<String> = per_option.iter().map(|(name, rows)| format!("{name} {}", count(*rows))).collect();
        let own = rows.min(SAMPLE_SIZE as u64);
        let people_sentence = if people != own {
            Some(format!("Shares and gains are averages over the given population of {} people.", count(people)))
        } else if own < rows {
            Some(format!("Shares and gains are averages over a sample of {} of these people.", count(own)))
        } else {
            None
        };
        Self {
            rows,
            rejected: review.rejected,
            people,
            summary: format!("{} ({}), {} rejected", many(rows, "row"), options.join(", "), count(review.rejected)),
            per_option,
            people_sentence,
        }
    }
}
