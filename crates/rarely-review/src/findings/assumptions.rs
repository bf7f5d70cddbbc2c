//! What a review assumes.

use rarely_policy::PolicyDocument;
use serde::Serialize;

use super::numbers::setting;

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
    /// `noise 0.1 wellbeing`, with the origin of a value that the document does not set.
    pub fn line(&self) -> String {
        let origin = self.origin.as_ref().map_or_else(String::new, |origin| format!(" ({origin})"));
        format!("{} {}{origin}", self.name, self.value)
    }

    /// What it means, with its origin.
    pub fn explanation(&self) -> String {
        let origin =
            self.origin.as_ref().map_or_else(String::new, |origin| format!(" The document does not set it: {origin}."));
        format!("{}{origin}", self.meaning)
    }
}

/// Every assumption of a document.
pub(super) fn assumptions(document: &PolicyDocument) -> Vec<AssumptionFinding> {
    let evidence = document.evidence();
    let column = &document.outcome().column;
    let assumption =
        |name, value, meaning: &str| AssumptionFinding { name, value, origin: None, meaning: meaning.to_owned() };
    vec![
        AssumptionFinding {
            origin: evidence.noise.is_none().then(|| "half the range of the outcome is always enough".to_owned()),
            ..assumption(
                "noise",
                format!("{} {column}", setting(document.noise())),
                &format!(
                    "How much the {column} of people with the same features and the same option varies: a standard deviation, or \
                     more."
                ),
            )
        },
        AssumptionFinding {
            origin: evidence
                .norm_bound
                .is_none()
                .then(|| document.norm_bound_reason().trim_start_matches("auto: ").to_owned()),
            ..assumption(
                "norm bound",
                setting(document.norm_bound()),
                "How large the coefficients of all options can be together, where the range of every feature is one unit.",
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
            "The probability that any interval misses the truth, over all reviews of this policy together, however many there are.",
        ),
        assumption(
            "algorithm",
            document.change().algorithm.to_string(),
            "It determines when the rule may change, and to what.",
        ),
        assumption(
            "minimum gain",
            format!("{} {column}", setting(document.change().minimum_gain)),
            "A change that is expected to gain less per case is not proposed.",
        ),
    ]
}
