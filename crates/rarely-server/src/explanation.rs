//! Why a person got an option, in words.

use rarely_core::{Context, Reason};
use rarely_live::RecordField;
use rarely_live::engine::PolicyHandle;
use rarely_policy::{PolicyDocument, WrittenRule};
use serde::Serialize;
use utoipa::ToSchema;

use crate::rule_steps;

/// Why a person got an option.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Explanation {
    /// The explanation in one sentence.
    words: String,
    /// The rule of the version that decided, in words.
    rule: Vec<String>,
    /// The option that the rule alone gives.
    rule_option: String,
    /// The number that a threshold or score rule compares with its cuts.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
}

/// Explains why a person with this record got an option from a version.
pub(crate) fn explain(
    handle: &PolicyHandle,
    fields: &[RecordField],
    (option, version): (&str, u64),
    (reason, propensity): (Reason, f64),
) -> Option<Explanation> {
    let (document, edition) = {
        let live = handle.live.lock();
        (live.document_of(version).ok()?, live.edition_of(version).clone())
    };
    let context = edition.reader.context(fields).ok()?;
    let player = rarely_core::Rule::new(document.rule().parameters(&document));
    let arm = player.choose(Context::new(&context).ok()?).ok()?;
    let rule_option = document.options()[arm.index()].clone();
    let person = person(&document, fields);
    let score = rule_steps::score(&document, document.rule(), fields);
    let sum = match (document.rule(), score) {
        (WrittenRule::Score(_), Some(score)) => format!(" (score {score})"),
        _ => String::new(),
    };
    let by_rule = format!("The rule of version {version} gives {rule_option} for {person}{sum}");
    let words = match reason {
        Reason::Policy => format!("{by_rule}."),
        Reason::Pilot => {
            format!(
                "{by_rule}. This was in the pilot, which draws every option with the same probability, {propensity}."
            )
        }
        _ => format!(
            "{by_rule}. The data do not rule out {option}, which was drawn at random ({reason}) with probability {propensity}."
        ),
    };
    Some(Explanation { words, rule: document.rule().words(&document), rule_option, score })
}

/// `systolic 150 mmHg, diabetic no`.
fn person(document: &PolicyDocument, fields: &[RecordField]) -> String {
    let parts = document.features().iter().zip(fields).map(|(feature, field)| {
        let unit = feature.unit().map(|unit| format!(" {unit}")).unwrap_or_default();
        match field {
            RecordField::Number(number) => format!("{} {number}{unit}", feature.column),
            RecordField::Text(text) => format!("{} {text}{unit}", feature.column),
            RecordField::Missing => format!("{} missing", feature.column),
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}
