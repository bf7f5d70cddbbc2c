//! What a review assumes.

use rarely_policy::{Design, EvidenceStandard, PolicyDocument};
use serde::Serialize;

use super::numbers::{number, setting};
use crate::design_effect::DesignEffect;

/// What the assumptions mean for everything else that a review says.
pub const ASSUMPTIONS_MEANING: &str = "Everything here follows from the log and from these statements in the policy document. If one \
                                       of them is wrong, the answer may be wrong too.";

/// A statement of the policy document on which a review rests.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AssumptionFinding {
    /// What it is called.
    pub name: &'static str,
    /// What it is set to, with its unit.
    pub value: String,
    /// Why this value, if the document does not set it.
    pub origin: Option<String>,
    /// What it means.
    pub meaning: String,
}

impl AssumptionFinding {
    /// `noise: 0.1 wellbeing`, with the origin of a value that the document does not set.
    pub fn line(&self) -> String {
        let origin = self.origin.as_ref().map_or_else(String::new, |origin| format!(" ({origin})"));
        format!("{}: {}{origin}", self.name, self.value)
    }

    /// What it means, with its origin.
    pub fn explanation(&self) -> String {
        let origin =
            self.origin.as_ref().map_or_else(String::new, |origin| format!(" The document does not set it: {origin}."));
        format!("{}{origin}", self.meaning)
    }
}

/// Every assumption of a document.
pub(super) fn assumptions(document: &PolicyDocument, effect: Option<DesignEffect>) -> Vec<AssumptionFinding> {
    let mut found = about_the_log(document);
    if !document.log_columns().rows_are_alike() {
        found.push(effect.map_or_else(independent_rows, design_effect));
    }
    found.extend(numbers(document));
    if let Some(bound) = document.norm_bound() {
        found.push(AssumptionFinding {
            origin: document
                .evidence()
                .norm_bound
                .is_none()
                .then(|| document.norm_bound_reason().trim_start_matches("auto: ").to_owned()),
            ..assumption(
                "norm bound",
                setting(bound),
                "How large the coefficients of all options can be together, where the range of every feature is one unit.",
            )
        });
    }
    let limits = document.limits().lines(document).into_iter().filter(|(_, value)| value != "none");
    found.extend(limits.map(|(name, value)| assumption(name, value, "Every proposal keeps to it.")));
    found
}

fn assumption(name: &'static str, value: String, meaning: &str) -> AssumptionFinding {
    AssumptionFinding { name, value, origin: None, meaning: meaning.to_owned() }
}

/// Clusters and weights, where the rows were read again.
fn design_effect(effect: DesignEffect) -> AssumptionFinding {
    let clusters = effect.clusters.map_or_else(String::new, |clusters| format!(", {clusters} clusters"));
    assumption(
        "design effect",
        format!("{}{clusters}", number(effect.factor, 3)),
        "Clusters and weights multiply the variance of a mean by it. Boundaries, bands, trend, curvature and the counts of tried options allow \
         for it, as if there were that many times fewer cases. Gains of rules have robust errors of their own.",
    )
}

/// Clusters and weights, where the rows are gone.
fn independent_rows() -> AssumptionFinding {
    assumption(
        "independent rows",
        "for boundaries, bands, trend and curvature".to_owned(),
        "How much clusters or weights take from the cases is only known where the rows are read again, which saved sums and a pipe do not \
         allow: boundaries, bands, trend and curvature take rows as independent.",
    )
}

/// How the log came about.
fn about_the_log(document: &PolicyDocument) -> Vec<AssumptionFinding> {
    let evidence = document.evidence();
    let (trend, trend_meaning) = if document.rows_are_in_time() {
        (
            "checked",
            "The effect of an option does not change with time. A change must also gain within stretches of time.",
        )
    } else {
        ("not checked", "Neither outcomes nor effects change with time. The document says that the rows have no order.")
    };
    let design = match evidence.design {
        Design::Fixed => "Who got which option did not depend on earlier outcomes.",
        Design::Adaptive => "Who got which option may have depended on earlier outcomes.",
    };
    let standard = match document.standard() {
        EvidenceStandard::Anytime => "Intervals hold however often the evidence is looked at.",
        EvidenceStandard::Looks(_) | EvidenceStandard::Sizes(_) => {
            "Intervals hold at the looks that were planned beforehand, and no others."
        }
        EvidenceStandard::Once => "Intervals hold for one look at a finished log.",
    };
    vec![
        assumption(
            "linearity",
            "straight lines".to_owned(),
            "The mean outcome of every option is a straight line in every feature.",
        ),
        assumption(
            "no hidden causes",
            "given the features".to_owned(),
            "Options were chosen by the listed features only, or at random: nothing else that affects the outcome decided who \
             got what.",
        ),
        assumption("no trend", trend.to_owned(), trend_meaning),
        assumption("design", evidence.design.name().to_owned(), design),
        assumption("standard", document.standard().to_string(), standard),
    ]
}

/// The numbers that turn the log into evidence.
fn numbers(document: &PolicyDocument) -> Vec<AssumptionFinding> {
    let evidence = document.evidence();
    let column = &document.outcome().column;
    let noise_origin = match (evidence.noise, document.outcome().range) {
        (Some(_), _) => None,
        (None, Some(_)) => Some("half the range of the outcome is always enough"),
        (None, None) => Some("it is estimated for each option"),
    };
    vec![
        AssumptionFinding {
            origin: noise_origin.map(ToOwned::to_owned),
            ..assumption(
                "noise",
                document.noise().map_or_else(|| "estimated".to_owned(), |noise| format!("{} {column}", setting(noise))),
                &format!(
                    "How much the {column} of people with the same features and the same option varies: a standard deviation, or \
                     more. Gains that are confirmed by least squares do not use it."
                ),
            )
        },
        assumption(
            "penalty",
            setting(evidence.penalty),
            "How strongly estimates are drawn towards 0 while there are few cases. With many cases it does not matter.",
        ),
        assumption(
            "error probability",
            setting(evidence.error_probability),
            "The probability that a change is proposed that does not gain, over all reviews that the standard allows.",
        ),
        assumption(
            "minimum gain",
            format!("{} {column}", setting(document.change().minimum_gain)),
            "A change that is not shown to gain more per case is not proposed.",
        ),
        AssumptionFinding {
            origin: document.change().worth.is_none().then(|| match document.outcome().range {
                Some(_) => "1 % of the range of the outcome".to_owned(),
                None => "a fiftieth of the scatter of the outcomes".to_owned(),
            }),
            ..assumption(
                "worth a change",
                document
                    .worth()
                    .map_or_else(|| "from the data".to_owned(), |worth| format!("{} {column}", setting(worth))),
                "The smallest gain per case that is worth a change. If no rule gains as much, the rule is kept.",
            )
        },
    ]
}
