//! What a review of many groups says: one table, and the findings of each group.

use indexmap::IndexMap;
use rarely_core::Interval;
use rarely_policy::WrittenRule;
use serde::Serialize;

use super::candidates::kind_words;
use super::numbers::{count, interval, many, number, percent, setting};
use super::units::gain_unit;
use super::{Findings, ReviewJson};
use crate::group_review::{GroupReview, ReviewedGroup};
use crate::group_tallies::UnusedRows;
use crate::judgement::VerdictReason;
use crate::verdict::Verdict;

/// Everything that a review of many groups says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupsFinding {
    /// The policy's name.
    pub policy: String,
    /// The column of the groups.
    pub column: String,
    /// `23 groups by department, 46,000 rows, 0 rejected`.
    pub summary: String,
    /// Change if any group is to change, keep if all keep their rules, cannot tell otherwise.
    pub verdict: Verdict,
    /// How many groups change, keep their rules, or cannot tell.
    pub sentence: String,
    /// How the groups share the error probability.
    pub sharing_sentence: String,
    /// What the gains of several groups have in common, and how the pooled column is to be read.
    pub pooling_sentences: Vec<String>,
    /// Every group, those that change first, then by name.
    pub groups: Vec<GroupFinding>,
    /// The error probability of the whole family.
    pub error_probability: f64,
    /// Rows of all groups.
    pub rows: u64,
    /// Rows that could not be used.
    pub rejected: u64,
    /// Rows that were dropped because they lack a value.
    pub dropped: u64,
}

/// What was found in one group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupFinding {
    /// Its name.
    pub group: String,
    /// The error probability at which it was judged.
    pub level: f64,
    /// Whether there are too few cases to compare its rule with another.
    pub too_few: bool,
    /// The gain of its strongest candidate, drawn towards those of other groups.
    pub pooled: Option<Interval>,
    /// Its own findings.
    pub findings: Findings,
    /// The same as cells of a table.
    pub cells: [String; 7],
}

impl GroupsFinding {
    /// Columns of [`GroupFinding::cells`].
    pub const COLUMNS: [&'static str; 7] =
        ["group", "cases", "verdict", "rule", "gain per case", "pooled gain", "people who change"];

    /// What a review of many groups says.
    pub fn new(found: &GroupReview) -> Self {
        let document = &found.document;
        let column = document.groups().map_or_else(String::new, |groups| groups.column.clone());
        let mut groups: Vec<GroupFinding> = found.groups.iter().map(GroupFinding::new).collect();
        groups.sort_by_key(|group| group.findings.verdict.verdict != Verdict::Change);
        let rows = groups.iter().map(|group| group.findings.cases.rows).sum();
        let error_probability = document.evidence().error_probability;
        let UnusedRows { rejected, dropped } = found.unused;
        Self {
            policy: document.policy().to_owned(),
            summary: format!(
                "{} by {column}, {}, {} rejected{}",
                many(groups.len() as u64, "group"),
                many(rows, "row"),
                count(rejected),
                if dropped == 0 {
                    String::new()
                } else {
                    format!(", {} left out because they lack a value", count(dropped))
                }
            ),
            column,
            verdict: found.verdict(),
            sentence: sentence(&groups),
            sharing_sentence: sharing_sentence(found.tested, error_probability),
            pooling_sentences: pooling_sentences(found),
            groups,
            error_probability,
            rows,
            rejected,
            dropped,
        }
    }

    /// The proposed rules, by group.
    pub fn proposed_rules(&self) -> IndexMap<String, WrittenRule> {
        let proposed = self.groups.iter().filter_map(|group| {
            group.findings.proposal.as_ref().map(|proposal| (group.group.clone(), proposal.rule.rule.clone()))
        });
        proposed.collect()
    }
}

impl GroupFinding {
    fn new(group: &ReviewedGroup) -> Self {
        let findings = Findings::new(&group.document, &group.review);
        let reasons = &group.review.judgement.reasons;
        let scarce = |reason: &VerdictReason| matches!(reason, VerdictReason::NothingToCompare { options } if !options.is_empty());
        let too_few = reasons.iter().any(scarce);
        let best =
            findings.candidates.best.map(|at| (&findings.candidates.rules[at], &group.review.judgement.candidates[at]));
        let rule = match &findings.proposal {
            Some(proposal) => proposal.changes.join("; "),
            None => findings.rule.lines.join(", "),
        };
        let verdict = if too_few { "too few cases".to_owned() } else { findings.verdict.verdict.name().to_owned() };
        let none = || "–".to_owned();
        let cells = [
            group.name.clone(),
            count(findings.cases.rows),
            verdict,
            rule,
            best.map_or_else(none, |(_, judged)| interval(judged.decisive().interval)),
            group.pooled.map_or_else(none, interval),
            best.map_or_else(none, |(rule, _)| percent(rule.changed_share)),
        ];
        let level = group.document.evidence().error_probability;
        Self { group: group.name.clone(), level, too_few, pooled: group.pooled, findings, cells }
    }
}

fn sentence(groups: &[GroupFinding]) -> String {
    let named = |verdict: Verdict| -> Vec<&str> {
        let groups = groups.iter().filter(|group| group.findings.verdict.verdict == verdict);
        groups.map(|group| group.group.as_str()).collect()
    };
    let (change, keep, open) = (named(Verdict::Change), named(Verdict::Keep), named(Verdict::CannotTell));
    let changes = if change.is_empty() {
        "No group is shown to gain by a change.".to_owned()
    } else {
        format!("Change the rule of {}: {}.", many(change.len() as u64, "group"), change.join(", "))
    };
    let few = groups.iter().filter(|group| group.too_few).count();
    let few = if few == 0 { String::new() } else { format!(", {few} of them because there are too few cases") };
    let keeps = format!(
        " {} {} rule.",
        many(keep.len() as u64, "group"),
        if keep.len() == 1 { "keeps its" } else { "keep their" }
    );
    let undecided = format!(" In {} the data do not decide{few}.", many(open.len() as u64, "group"));
    let said = |groups: &[&str], sentence: String| if groups.is_empty() { String::new() } else { sentence };
    format!("{changes}{}{}", said(&keep, keeps), said(&open, undecided))
}

fn sharing_sentence(tested: usize, error_probability: f64) -> String {
    format!(
        "The probability that any group is told to change its rule wrongly is at most {}. {} with another rule to try share it by Holm's steps: \
         all are judged at {}, and those that are left share the whole again. In each group only the strongest rule of the proposing rows is judged.",
        setting(error_probability),
        many(tested as u64, "group"),
        number(error_probability / tested.max(1) as f64, 2)
    )
}

fn pooling_sentences(found: &GroupReview) -> Vec<String> {
    let unit = gain_unit(&found.document);
    let mut sentences: Vec<String> = found
        .pooled
        .iter()
        .map(|(kind, pooled)| {
            let differ = if pooled.spread == 0.0 {
                "groups differ by no more than chance".to_owned()
            } else {
                format!("groups differ by about {} around it", number(pooled.spread, 2))
            };
            format!(
                "Where the rule that is judged is \"{}\" ({}), the mean gain is {} {unit} per case, and {differ}.",
                kind_words(*kind),
                many(pooled.shrunk.len() as u64, "group"),
                number(pooled.mean, 3)
            )
        })
        .collect();
    if !sentences.is_empty() {
        sentences.push(
            "The pooled gain draws each group's towards that mean, the more the less is known of the group, with a plain 95 % interval. It informs; \
             no verdict depends on it."
                .to_owned(),
        );
    }
    sentences
}

/// A review of many groups for programs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupsJson {
    policy: String,
    by: String,
    rows: u64,
    rows_rejected: u64,
    rows_dropped: u64,
    error_probability: f64,
    verdict: Verdict,
    sentence: String,
    groups: Vec<GroupJson>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct GroupJson {
    group: String,
    too_few_cases: bool,
    pooled_gain: Option<Interval>,
    /// What the review of this group says, with the error probability at which it was judged.
    #[serde(flatten)]
    review: ReviewJson,
}

impl GroupsJson {
    /// The numbers of the findings.
    pub fn new(found: &GroupsFinding) -> Self {
        let group = |group: &GroupFinding| GroupJson {
            group: group.group.clone(),
            too_few_cases: group.too_few,
            pooled_gain: group.pooled,
            review: ReviewJson::new(&group.findings),
        };
        Self {
            policy: found.policy.clone(),
            by: found.column.clone(),
            rows: found.rows,
            rows_rejected: found.rejected,
            rows_dropped: found.dropped,
            error_probability: found.error_probability,
            verdict: found.verdict,
            sentence: found.sentence.clone(),
            groups: found.groups.iter().map(group).collect(),
        }
    }
}
