//! What rules are worth by the propensities of the log.

use rarely_error::Explain as _;
use rarely_policy::PolicyDocument;
use serde::Serialize;

use super::numbers::{count, interval, measured, nearest_count};
use super::proposal::RuleFinding;
use crate::off_policy::{NotWeightable, WeightedValue};
use crate::review::Review;

/// What rules are worth by the propensities of the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OffPolicyFinding {
    /// How the values are computed, and on which cases.
    pub sentence: String,
    /// The rule in force, then the best of the rules that were tried.
    pub rules: Vec<RuleValueFinding>,
}

/// The value of one rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleValueFinding {
    /// Which rule it is: `the rule in force`.
    pub name: &'static str,
    /// The rule.
    pub rule: RuleFinding,
    /// Its value; null where outcomes cannot be weighted.
    pub value: Option<WeightedValue>,
    /// Why not.
    pub refused: Option<String>,
    /// The value in a sentence, or why there is none.
    pub sentence: String,
    /// The value as cells of a table; empty where there is none.
    pub cells: Vec<String>,
}

impl OffPolicyFinding {
    /// Columns of [`RuleValueFinding::cells`].
    pub const COLUMNS: [&'static str; 6] =
        ["rule", "inverse propensity", "self-normalised", "doubly robust", "cases that match", "count as"];

    /// `None` where the document declares no propensities.
    pub(super) fn new(document: &PolicyDocument, review: &Review) -> Option<Self> {
        let values = review.off_policy.as_ref()?;
        let judgement = &review.judgement;
        let best = values.best.map(|(at, value)| {
            let name = if judgement.proposal.is_some() {
                "the proposed rule"
            } else {
                "the best of the rules that were tried"
            };
            RuleValueFinding::new(name, RuleFinding::new(document, &judgement.candidates[at].rule), value)
        });
        let in_force = RuleFinding::new(document, document.rule());
        let first = RuleValueFinding::new("the rule in force", in_force, values.in_force);
        let less =
            if document.limits().costs().iter().any(|&cost| cost != 0.0) { " less the cost of the option" } else { "" };
        Some(Self {
            sentence: format!(
                "The mean {}{less} per case if everyone had got the rule's option, by the cases that did get it, weighted by one over their \
                 propensities. The cases that proposed rules are left out. Plain 95 % intervals, approximate, for one look.",
                document.outcome().column
            ),
            rules: [first].into_iter().chain(best).collect(),
        })
    }
}

impl RuleValueFinding {
    fn new(name: &'static str, rule: RuleFinding, value: Result<WeightedValue, NotWeightable>) -> Self {
        let (sentence, cells, refused) = match &value {
            Ok(value) => (value_sentence(value), value_cells(name, value), None),
            Err(reason) => {
                let help = reason.remedy().map_or_else(String::new, |remedy| format!("; {remedy}"));
                let refused = format!("{reason}{help}");
                (format!("Its value is not computed: {refused}."), Vec::new(), Some(refused))
            }
        };
        Self { name, rule, value: value.ok(), refused, sentence, cells }
    }
}

fn value_sentence(value: &WeightedValue) -> String {
    format!(
        "Inverse propensity {}, self-normalised {}, doubly robust {}. {} of {} cases got its option and count as {}; the mean weight is {} \
         and should be about 1.",
        interval(value.inverse_propensity),
        interval(value.self_normalised),
        interval(value.doubly_robust),
        count(value.matching_rows),
        count(value.rows),
        nearest_count(value.effective_rows),
        measured(value.mean_weight)
    )
}

fn value_cells(name: &str, value: &WeightedValue) -> Vec<String> {
    vec![
        name.to_owned(),
        interval(value.inverse_propensity),
        interval(value.self_normalised),
        interval(value.doubly_robust),
        count(value.matching_rows),
        nearest_count(value.effective_rows),
    ]
}
