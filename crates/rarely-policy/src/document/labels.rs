//! Labels of options whose names in the data are codes: `labels = { "0" = "no incentive", "1" = "incentive" }`.
//!
//! Everything but the data is to speak of labels. Therefore codes are replaced by labels before the document is checked, wherever it names
//! an option, and only what reads a log knows the codes.

use indexmap::IndexMap;

use crate::document::locate::{PathStep, keys};
use crate::document::toml::TomlDocument;
use crate::names::{did_you_mean, shown};
use crate::rule::{DocumentFault, WrittenRule};

/// Replaces codes by labels. Returns the options as the data name them.
pub(super) fn replace_codes(written: &mut TomlDocument) -> Result<Vec<String>, DocumentFault> {
    let codes = written.options.clone();
    if written.labels.is_empty() {
        return Ok(codes);
    }
    let labels = std::mem::take(&mut written.labels);
    check(&codes, &labels)?;
    let name = |option: &mut String| {
        if let Some(label) = labels.get(option) {
            option.clone_from(label);
        }
    };
    let by_name = |map: &mut IndexMap<String, f64>| rename_keys(map, &labels);
    written.options.iter_mut().for_each(name);
    match &mut written.rule {
        WrittenRule::Threshold(rule) => rule.options.iter_mut().for_each(name),
        WrittenRule::Score(rule) => rule.options.iter_mut().for_each(name),
        WrittenRule::Linear(rule) => rename_keys(&mut rule.scores, &labels),
    }
    rename_keys(&mut written.evidence.propensities, &labels);
    by_name(&mut written.change.capacity);
    by_name(&mut written.change.cost);
    written.control.rename_options(&labels);
    Ok(codes)
}

/// Every label is of an option, has a text, and names nothing else.
fn check(codes: &[String], labels: &IndexMap<String, String>) -> Result<(), DocumentFault> {
    let place = |code: &str, step: fn(String) -> PathStep| [keys(&["labels"]), vec![step(code.to_owned())]].concat();
    for (code, label) in labels {
        if !codes.contains(code) {
            let remedy = did_you_mean(code, "the options are", codes.iter().map(String::as_str));
            let problem = format!("{} is labelled, but is not an option", shown(code));
            return Err(DocumentFault::new(place(code, PathStep::Key), problem, remedy));
        }
        let is_taken = codes.iter().any(|other| other != code && other == label)
            || labels.iter().any(|(other, taken)| other != code && taken == label);
        if is_taken {
            let problem = format!("the label {} is that of two options, or another option's name", shown(label));
            return Err(DocumentFault::new(place(code, PathStep::In), problem, "give every option a label of its own"));
        }
    }
    Ok(())
}

fn rename_keys<V>(map: &mut IndexMap<String, V>, labels: &IndexMap<String, String>) {
    let entries = std::mem::take(map).into_iter();
    *map = entries.map(|(option, value)| (labels.get(&option).cloned().unwrap_or(option), value)).collect();
}
