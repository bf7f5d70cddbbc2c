//! The policy document: the draft of the file's columns, with what the person said.

use rarely_policy::{ColumnSketch, PolicyDocument};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

use crate::answers::{Answers, ColumnAnswer, ColumnRole, names};
use crate::problem::Problem;
use crate::rule_answers::number;

/// What the document is called in messages, and when it is saved.
pub(crate) const DOCUMENT_NAME: &str = "policy.toml";

/// The columns from which a draft was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DraftColumns {
    pub(crate) option: String,
    pub(crate) outcome: String,
    pub(crate) time: Option<String>,
}

/// A draft.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) of: DraftColumns,
    pub(crate) text: String,
}

impl DraftColumns {
    /// The columns that the person named.
    pub(crate) fn of(columns: &[ColumnSketch], answers: &Answers) -> Result<Self, Problem> {
        let one = |role: ColumnRole, required: bool| {
            let mut found = answers.with_role(role);
            let what = role.label();
            match (found.next(), found.next()) {
                (Some(first), Some(second)) => Err(Problem::new(
                    format!("{} and {} are both {what}", columns[first].name, columns[second].name),
                    "give one of them another role",
                )),
                (None, _) if required => {
                    Err(Problem::new(format!("no column is {what}"), "choose its column in the list"))
                }
                (first, _) => Ok(first.map(|at| columns[at].name.clone())),
            }
        };
        for role in ColumnRole::ALL {
            if role.evidence_key().is_some() {
                one(role, false)?;
            }
        }
        Ok(Self {
            option: one(ColumnRole::Option, true)?.unwrap_or_default(),
            outcome: one(ColumnRole::Outcome, true)?.unwrap_or_default(),
            time: one(ColumnRole::Time, false)?,
        })
    }
}

/// Why a draft leaves a column out, if it does.
pub(crate) fn left_out<'a>(draft: &'a str, column: &str) -> Option<&'a str> {
    draft.lines().find_map(|line| line.strip_prefix(&left_out_line(column))).map(|why| why.trim_end_matches('.'))
}

fn left_out_line(column: &str) -> String {
    format!("# CHECK: the column {} is left out: ", Value::from(column).to_string().trim())
}

/// The checked document, and its text: the draft, with what the person said.
pub(crate) fn written(
    draft: &Draft,
    columns: &[ColumnSketch],
    answers: &Answers,
) -> Result<(PolicyDocument, String), Problem> {
    let mut tree: DocumentMut = draft.text.parse().map_err(|error: toml_edit::TomlError| {
        Problem::new(error.to_string(), "this is a mistake of the program; please report it")
    })?;
    let options = answers.option_names();
    set(&mut tree, "policy", answers.policy.as_str().into());
    set(&mut tree, "options", options.iter().collect::<Array>().into());
    write_outcome(&mut tree, answers)?;
    write_features(&mut tree, columns, answers)?;
    write_log_columns(&mut tree, columns, answers);
    answers.assumptions.write(&mut tree, &options)?;
    // The draft's rule names an option that may have another name now; the rule itself is put in below.
    let first: Array = options.iter().take(1).collect();
    let nobody = InlineTable::from_iter([
        ("coefficients", Value::from(InlineTable::new())),
        ("cuts", Value::from(Array::new())),
        ("options", Value::from(first)),
    ]);
    if let Some(rule) = tree.get_mut("rule").and_then(Item::as_table_mut) {
        rule.clear();
        rule.insert("score", Item::Value(nobody.into()));
    }
    let text = without_stale_comments(&tree.to_string(), columns, answers);
    let document = PolicyDocument::parse(&text, DOCUMENT_NAME).map_err(|error| Problem::of(&error))?;
    let rule = answers.rule.rule(&document)?;
    let text = rarely_policy::apply(&text, &rule).map_err(|error| Problem::of(&error))?;
    let document = PolicyDocument::parse(&text, DOCUMENT_NAME).map_err(|error| Problem::of(&error))?;
    Ok((document, text))
}

fn write_outcome(tree: &mut DocumentMut, answers: &Answers) -> Result<(), Problem> {
    let Some(old) = tree.get("outcome").and_then(Item::as_inline_table) else { return Ok(()) };
    let mut outcome = InlineTable::new();
    outcome.extend(old.get("column").map(|column| ("column", column.clone())));
    if !(answers.outcome_low.is_empty() && answers.outcome_high.is_empty()) {
        let range = range(&answers.outcome_low, &answers.outcome_high, "the outcome")?;
        outcome.insert("range", range);
    }
    outcome.insert("better", answers.better.as_str().into());
    set(tree, "outcome", outcome.into());
    Ok(())
}

/// Features in the order of the file; those of the draft keep their comments.
fn write_features(tree: &mut DocumentMut, columns: &[ColumnSketch], answers: &Answers) -> Result<(), Problem> {
    let drafted: Vec<Table> =
        tree.get("features").and_then(Item::as_array_of_tables).into_iter().flatten().cloned().collect();
    let mut features = ArrayOfTables::new();
    for at in answers.with_role(ColumnRole::Feature) {
        let name = columns[at].name.as_str();
        let is_same = |table: &&Table| table.get("column").and_then(Item::as_str) == Some(name);
        let mut table = drafted.iter().find(is_same).cloned().unwrap_or_default();
        write_feature(&mut table, name, &answers.columns[at])?;
        features.push(table);
    }
    if features.is_empty() {
        tree.remove("features");
    } else {
        tree.insert("features", Item::ArrayOfTables(features));
    }
    Ok(())
}

fn write_feature(table: &mut Table, name: &str, answer: &ColumnAnswer) -> Result<(), Problem> {
    set(table, "column", name.into());
    set_or_remove(table, "unit", (!answer.has_levels && !answer.unit.is_empty()).then(|| answer.unit.as_str().into()));
    let range = if answer.has_levels { None } else { Some(range(&answer.low, &answer.high, name)?) };
    set_or_remove(table, "range", range);
    let levels: Array = names(&answer.levels).iter().collect();
    set_or_remove(table, "levels", answer.has_levels.then(|| levels.into()));
    set_or_remove(table, "missing", (answer.missing != "refuse").then(|| answer.missing.as_str().into()));
    Ok(())
}

fn write_log_columns(tree: &mut DocumentMut, columns: &[ColumnSketch], answers: &Answers) {
    let fairness: Array = answers.with_role(ColumnRole::Fairness).map(|at| columns[at].name.as_str()).collect();
    set_or_remove(tree, "fairness", (!fairness.is_empty()).then(|| fairness.into()));
    let Some(evidence) = tree.get_mut("evidence").and_then(Item::as_table_mut) else { return };
    for role in ColumnRole::ALL {
        if let Some(key) = role.evidence_key() {
            let column = answers.with_role(role).next().map(|at| columns[at].name.as_str().into());
            set_or_remove(evidence, key, column);
        }
    }
    set_or_remove(evidence, "missing", answers.drop_rows.then(|| "drop".into()));
    // Every option has a column of its own, or none has.
    let is_kept = |column: &str| answers.with_role(ColumnRole::OptionPropensity).any(|at| columns[at].name == column);
    let options = evidence.get("propensities").and_then(Item::as_table_like);
    if options.is_some_and(|options| !options.iter().all(|(_, column)| column.as_str().is_some_and(is_kept))) {
        evidence.remove("propensities");
    }
}

fn range(low: &str, high: &str, what: &str) -> Result<Value, Problem> {
    let low = number(low, &format!("the lowest value of {what}"))?;
    let high = number(high, &format!("the highest value of {what}"))?;
    Ok([number_value(low), number_value(high)].into_iter().collect::<Array>().into())
}

/// A whole number is written without a decimal point.
#[allow(clippy::cast_possible_truncation, reason = "whole and small")]
pub(crate) fn number_value(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 1e15 { (value as i64).into() } else { value.into() }
}

/// Sets a value that differs. What the person changed is no guess any more, so its comment asks for no check.
pub(crate) fn set(table: &mut Table, key: &str, value: Value) {
    let plain = |value: &Value| value.to_string().trim().to_owned();
    let old = table.get(key).and_then(Item::as_value);
    if old.is_some_and(|old| plain(old) == plain(&value)) {
        return;
    }
    match table.get_mut(key) {
        Some(item) => *item = Item::Value(value),
        None => _ = table.insert(key, Item::Value(value)),
    }
    if let Some(mut key) = table.key_mut(key) {
        let decor = key.leaf_decor_mut();
        let prefix = decor.prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
        let kept: String = prefix.lines().filter_map(without_check).map(|line| line + "\n").collect();
        decor.set_prefix(kept);
    }
}

/// Sets a value, or removes it.
pub(crate) fn set_or_remove(table: &mut Table, key: &str, value: Option<Value>) {
    match value {
        Some(value) => set(table, key, value),
        None => _ = table.remove(key),
    }
}

/// A line of a comment without the part that asks for a check; `None` if nothing is left.
fn without_check(line: &str) -> Option<String> {
    let Some((before, _)) = line.split_once("CHECK:") else { return Some(line.to_owned()) };
    let before = before.trim_end();
    (before != "#").then(|| before.to_owned())
}

/// A draft says why columns are left out; of those that are used now it says so no more.
fn without_stale_comments(text: &str, columns: &[ColumnSketch], answers: &Answers) -> String {
    let used = columns.iter().zip(&answers.columns).filter(|(_, answer)| answer.role != ColumnRole::Ignored);
    let stale: Vec<String> = used.map(|(column, _)| left_out_line(&column.name)).collect();
    let kept = text.lines().filter(|line| !stale.iter().any(|stale| line.starts_with(stale.as_str())));
    kept.flat_map(|line| [line, "\n"]).collect()
}
