//! The parts of the first statement about the sample of people: the rows with the smallest priorities.
//!
//! Engines that store a part collect the sample with the sums, so that the log is not read, nor a key hashed, once more: the number of rows is known
//! then, and with it a priority below which at least as many rows lie as are kept. The others sort.

use rarely_policy::{FeatureKind, Missing};

use super::checked_rows::select;
use super::first_scan::{FirstScan, GROUP};
use super::template::Branch;
use crate::jump::Jumps;
use crate::next_to_cut::ROWS_KEPT;
use crate::people_sample::SAMPLE_SIZE;

/// A row's priority: the second half of the hash of its key.
const PRIORITY: &str = "substr(row_hash, 17, 16)";
/// Halvings of the share of the rows that the sample is chosen from.
const HALVINGS: u32 = 40;
/// Rows that may be missing from a share, in standard deviations: never, where keys differ.
const SPREAD: f64 = 12.0;

/// The rows that a sample has at least: those next to the cuts are looked at one by one.
pub(super) fn people_kept(jumps: Option<&Jumps>) -> usize {
    if jumps.is_some() { ROWS_KEPT } else { SAMPLE_SIZE }
}

impl FirstScan<'_> {
    /// The columns of a person: the outcome and the features.
    pub(super) fn person_columns(&self) -> Vec<String> {
        let feature = |(at, feature): (usize, &rarely_policy::Feature)| match feature.kind {
            FeatureKind::Numeric { .. } => Some(format!("x_{}", at + 1)),
            // It is there already.
            FeatureKind::Levels(_) => None,
        };
        let features = self.document().feature_columns().iter().enumerate().filter_map(feature);
        std::iter::once("outcome".to_owned()).chain(features).collect()
    }

    /// The text of a person: the priority, the outcome and the features.
    fn person_text(&self) -> String {
        let sql = self.dialect();
        let mut numbers = vec![PRIORITY.to_owned(), sql.text_of_double("outcome")];
        numbers.extend(self.document().feature_columns().iter().enumerate().map(|(at, feature)| match feature.kind {
            FeatureKind::Numeric { .. } if feature.missing() == Missing::Indicator => {
                format!("coalesce({}, '')", sql.text_of_double(&format!("x_{}", at + 1)))
            }
            FeatureKind::Numeric { .. } => sql.text_of_double(&format!("x_{}", at + 1)),
            FeatureKind::Levels(_) => sql.text_of(&format!("level_{}", at + 1)),
        }));
        sql.joined(&numbers)
    }

    /// The priority below which the sample lies. The share of rows below it is halved as long as enough of them are left.
    pub(super) fn sample_below(&self) -> String {
        let kept = people_kept(self.jumps()) as f64;
        let enough = kept + SPREAD * kept.sqrt();
        let case = |halvings: u32| {
            let rows = enough * (1_u64 << halvings) as f64;
            format!("\n      WHEN sum(arm_rows) OVER () >= {rows:.0} THEN '{:016x}'", 1_u64 << (64 - halvings))
        };
        // Behind every priority.
        format!("CASE{} ELSE 'g' END AS sample_below", (1..=HALVINGS).rev().map(case).collect::<String>())
    }

    /// The text of a row that may be in the sample; `NULL` for others.
    pub(super) fn person(&self) -> String {
        format!("CASE WHEN {PRIORITY} < sample_below THEN {} END AS person", self.person_text())
    }

    /// The sums, and the people of the sample, by groups.
    pub(super) fn grouped(&self) -> String {
        let mut lines: Vec<String> = GROUP.split(", ").map(str::to_owned).collect();
        lines.push(format!("{} AS numbers", self.group_numbers()));
        lines.push("array_agg(person) FILTER (WHERE person IS NOT NULL) AS people".to_owned());
        format!("{}\n  FROM placed\n  GROUP BY {GROUP}", select(&lines))
    }

    /// The sample, as rows of the result.
    pub(super) fn people(&self) -> Branch {
        let (option, numbers, from) = if self.dialect().stores_parts() {
            ("used_arm", "unnest(people)".to_owned(), "grouped".to_owned())
        } else {
            let most = people_kept(self.jumps());
            let from =
                format!("(SELECT *\n  FROM coded WHERE fault = 0\n  ORDER BY {PRIORITY} LIMIT {most}) AS people");
            ("arm", self.person_text(), from)
        };
        Branch {
            comment: "A sample of the people: the rows with the smallest priorities, each with its priority, outcome and features.",
            kind: "'person'".to_owned(),
            option: option.to_owned(),
            part: "0".to_owned(),
            position: "0".to_owned(),
            numbers,
            from,
        }
    }
}
