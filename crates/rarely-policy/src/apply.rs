//! Replaces the rule in a document's text and keeps everything else, comments included.

mod groups;

use indexmap::IndexMap;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use crate::document::PolicyDocument;
use crate::error::ApplyError;
use crate::number::whole;
use crate::rule::{Coefficient, LinearRule, ScoreRule, ThresholdRule, WrittenRule};

pub use groups::apply_groups;

/// The text of a document with only its `[rule]` replaced.
///
/// ```
/// # let text = include_str!("../tests/it/example.toml");
/// use rarely_policy::{PolicyDocument, apply};
/// let document = PolicyDocument::parse(text, "policy.toml")?;
/// let rule = document.rule().with_numbers(&[131.0]);
/// let text = apply(text, &rule)?;
/// assert_eq!(PolicyDocument::parse(&text, "policy.toml")?, document.with_rule(rule)?);
/// assert!(text.contains("cuts = [131]"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the text is not a policy document, or the rule does not fit it or is outside the bounds of its plan.
pub fn apply(original: &str, rule: &WrittenRule) -> Result<String, ApplyError> {
    let document = PolicyDocument::parse(original, "the document")?;
    document.check_rule(rule)?;
    let reasons = document.outside_bounds(rule);
    if !reasons.is_empty() {
        return Err(ApplyError::Bounds { reasons });
    }
    let Ok(mut tree) = original.parse::<DocumentMut>() else { unreachable!("the document was just read") };
    let (form, body) = body(rule);
    match tree.get_mut("rule") {
        Some(Item::Table(table)) if !table.is_implicit() && !table.is_dotted() => {
            table.clear();
            match (rule, body) {
                // One line per option: they would not fit on one line.
                (WrittenRule::Linear(_), body) => {
                    let mut lines = Table::from_iter(body);
                    lines.set_implicit(false);
                    table.insert(form, Item::Table(lines));
                }
                (_, body) => {
                    table.insert(form, Item::Value(Value::InlineTable(body)));
                }
            }
        }
        // An inline table, dotted keys, or only the headers of its parts.
        _ => {
            let mut outer = InlineTable::new();
            outer.insert(form, Value::InlineTable(body));
            replace(&mut tree, outer);
        }
    }
    Ok(kept_line_endings(original, tree.to_string()))
}

/// A new text with the line endings of the original.
fn kept_line_endings(original: &str, text: String) -> String {
    if original.contains("\r\n") { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text }
}

/// Adds a `[rule]` table at the end for a rule that had no header.
fn replace(tree: &mut DocumentMut, rule: InlineTable) {
    tree.remove("rule");
    let mut table = Table::from_iter(rule);
    table.set_implicit(false);
    table.decor_mut().set_prefix("\n");
    tree.insert("rule", Item::Table(table));
}

fn body(rule: &WrittenRule) -> (&'static str, InlineTable) {
    match rule {
        WrittenRule::Threshold(ThresholdRule { feature, cuts, options }) => {
            let mut body = InlineTable::new();
            body.insert("feature", feature.into());
            body.extend(ladder(cuts, options));
            ("threshold", body)
        }
        WrittenRule::Score(ScoreRule { coefficients, cuts, options }) => {
            let mut body = InlineTable::new();
            body.insert("coefficients", line(coefficients).into());
            body.extend(ladder(cuts, options));
            ("score", body)
        }
        WrittenRule::Linear(LinearRule { scores }) => {
            let lines =
                scores.iter().map(|(option, coefficients)| (option.as_str(), Value::InlineTable(line(coefficients))));
            ("linear", lines.collect())
        }
    }
}

fn ladder(cuts: &[f64], options: &[String]) -> [(&'static str, Value); 2] {
    let cuts: Array = cuts.iter().map(|cut| number(*cut)).collect();
    let options: Array = options.iter().collect();
    [("cuts", cuts.into()), ("options", options.into())]
}

fn line(coefficients: &IndexMap<String, Coefficient>) -> InlineTable {
    let value = |coefficient: &Coefficient| match coefficient {
        Coefficient::Slope(slope) => number(*slope),
        Coefficient::Levels(levels) => {
            let levels: InlineTable = levels.iter().map(|(level, value)| (level.as_str(), number(*value))).collect();
            levels.into()
        }
    };
    coefficients.iter().map(|(name, coefficient)| (name.as_str(), value(coefficient))).collect()
}

fn number(value: f64) -> Value {
    whole(value).map_or_else(|| value.into(), Value::from)
}
