//! The owner's units.

use rarely_policy::{Better, PolicyDocument, WrittenRule};

/// The unit of the rule's running variable: that of a threshold's feature, or of the only feature.
pub fn running_unit(document: &PolicyDocument) -> &str {
    let column = match document.rule() {
        WrittenRule::Threshold(threshold) => Some(threshold.feature.as_str()),
        _ if document.features().len() == 1 => Some(document.features()[0].column.as_str()),
        _ => None,
    };
    let feature = column.and_then(|column| document.feature(column));
    feature.and_then(|(_, feature)| feature.unit()).unwrap_or_default()
}

/// What a gain is measured in: `wellbeing`, or `less pain` where lower outcomes are better.
pub fn gain_unit(document: &PolicyDocument) -> String {
    let outcome = document.outcome();
    if outcome.better == Better::Lower { format!("less {}", outcome.column) } else { outcome.column.clone() }
}
