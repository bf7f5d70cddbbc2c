//! Writes the rules of groups into a document's text and keeps everything else.

use indexmap::IndexMap;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::{body, kept_line_endings, number};
use crate::document::PolicyDocument;
use crate::error::ApplyError;
use crate::rule::WrittenRule;

/// The text of a document with the rules of some groups replaced: as cuts where nothing else differs from the rule in force. Groups that follow
/// the rule in force are not named.
///
/// ```
/// # let text = include_str!("../../tests/it/example.toml");
/// use rarely_policy::{PolicyDocument, apply_groups};
/// let document = PolicyDocument::parse(text, "policy.toml")?;
/// let rules = [("surgery".to_owned(), document.rule().with_numbers(&[145.0]))].into_iter().collect();
/// let text = apply_groups(text, "department", &rules)?;
/// assert!(text.contains("surgery = [145]"));
/// let document = PolicyDocument::parse(&text, "policy.toml")?;
/// assert_eq!(document.rule_words()[2], "surgery: watch below 145 mmHg, treat from 145 mmHg");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the text is not a policy document, it has groups by another column, or a rule does not fit it or is outside the bounds of its plan.
pub fn apply_groups(original: &str, column: &str, rules: &IndexMap<String, WrittenRule>) -> Result<String, ApplyError> {
    let document = PolicyDocument::parse(original, "the document")?.grouped_by(column)?;
    for rule in rules.values() {
        document.check_rule(rule)?;
        let reasons = document.outside_bounds(rule);
        if !reasons.is_empty() {
            return Err(ApplyError::Bounds { reasons });
        }
    }
    let Ok(mut tree) = original.parse::<DocumentMut>() else { unreachable!("the document was just read") };
    if tree.get("groups").is_none() {
        let mut table = Table::new();
        table.decor_mut().set_prefix("\n");
        table.insert("column", Item::Value(column.into()));
        tree.insert("groups", Item::Table(table));
    }
    let groups = tree.get_mut("groups").and_then(Item::as_table_like_mut);
    let groups = groups.unwrap_or_else(|| unreachable!("groups are a table"));
    for (name, rule) in rules {
        for part in ["cuts", "rules"] {
            if let Some(part) = groups.get_mut(part).and_then(Item::as_table_like_mut) {
                part.remove(name);
            }
        }
        if rule == document.rule() {
            continue;
        }
        if document.rule().with_cuts(rule.cuts()).as_ref() == Some(rule) {
            let cuts: Array = rule.cuts().iter().map(|cut| number(*cut)).collect();
            insert(groups, "cuts", name, cuts.into());
        } else {
            let (form, body) = body(rule);
            let mut whole = InlineTable::new();
            whole.insert(form, Value::InlineTable(body));
            insert(groups, "rules", name, whole.into());
        }
    }
    Ok(kept_line_endings(original, tree.to_string()))
}

/// Adds an entry to one of the parts, each of which has a line for every group.
fn insert(groups: &mut dyn TableLike, part: &str, name: &str, value: Value) {
    if groups.get(part).is_none() {
        groups.insert(part, Item::Table(Table::new()));
    }
    if let Some(part) = groups.get_mut(part).and_then(Item::as_table_like_mut) {
        part.insert(name, Item::Value(value));
    }
}
