//! Groups of people, such as departments, which may have rules of their own.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::document::PolicyDocument;
use crate::document::check::check_column;
use crate::document::locate::{Path, PathStep, keys};
use crate::error::RuleError;
use crate::names::{count, shown};
use crate::rule::{DocumentFault, WrittenRule};

/// Groups of people, by a column of the log. A group that is not named follows the rule in force.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Groups")]
pub(crate) struct TomlGroups {
    /// The column of a log that names the group of a case; no feature.
    #[schemars(length(min = 1))]
    pub(crate) column: String,
    /// The cuts of groups whose rule differs from the rule in force in nothing else, by group.
    #[serde(default)]
    pub(crate) cuts: IndexMap<String, Vec<f64>>,
    /// The rules of groups that differ in more, by group.
    #[serde(default)]
    pub(crate) rules: IndexMap<String, WrittenRule>,
}

/// The groups of a document: their column, and the rules of those that have their own.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupRules {
    /// The column of a log that names the group of a case.
    pub column: String,
    /// By group, in the order in which they are written: cuts first.
    pub rules: IndexMap<String, WrittenRule>,
}

impl PolicyDocument {
    /// The groups, if the document has some.
    pub fn groups(&self) -> Option<&GroupRules> {
        self.groups.as_ref()
    }

    /// The rule of a group: its own, or the rule in force.
    pub fn rule_of(&self, group: &str) -> &WrittenRule {
        self.groups.as_ref().and_then(|groups| groups.rules.get(group)).unwrap_or(&self.rule)
    }

    /// The document of one group: its rule is the group's.
    #[must_use]
    pub fn of_group(&self, group: &str) -> Self {
        Self { rule: self.rule_of(group).clone(), groups: None, ..self.clone() }
    }

    /// The same document, with groups by a column.
    ///
    /// # Errors
    /// [`RuleError`] if the document has groups by another column, or the column has another meaning.
    pub fn grouped_by(&self, column: &str) -> Result<Self, RuleError> {
        let mistake = |problem: String, remedy: &str| Err(RuleError { problem, remedy: remedy.to_owned() });
        match &self.groups {
            Some(groups) if groups.column != column => {
                let problem = format!("the document has rules by {}, not by {}", shown(&groups.column), shown(column));
                mistake(problem, "review it by its own column, or remove [groups] from the document")
            }
            Some(_) => Ok(self.clone()),
            None if self.feature(column).is_some() => {
                let problem = format!("{} is a feature, which has one value within a group", shown(column));
                mistake(problem, "remove the feature from the document: each group has lines of its own")
            }
            None if column == self.outcome.column || column == self.option_column => {
                let problem = format!("{} is the option or the outcome", shown(column));
                mistake(problem, "name a column that says to which group a case belongs")
            }
            None => {
                let groups = GroupRules { column: column.to_owned(), rules: IndexMap::new() };
                Ok(Self { groups: Some(groups), ..self.clone() })
            }
        }
    }

    /// The same document with another error probability.
    ///
    /// # Errors
    /// [`rarely_core::SettingsError`] if it is not between 0 and 1.
    pub fn with_error_probability(&self, probability: f64) -> Result<Self, rarely_core::SettingsError> {
        let mut document = self.clone();
        document.evidence.error_probability = rarely_core::ErrorProbability::new(probability)?.get();
        Ok(document)
    }

    /// What changed in the groups from this document to another, in words.
    pub(super) fn changed_groups(&self, new: &Self) -> Vec<String> {
        let (was, is) = (self.groups.as_ref(), new.groups.as_ref());
        let column = |groups: Option<&GroupRules>| groups.map_or("none".to_owned(), |groups| groups.column.clone());
        let mut lines = Vec::new();
        if column(was) != column(is) {
            lines.push(format!("groups by {}, was {}", column(is), column(was)));
        }
        let mut names: Vec<&String> = is.into_iter().chain(was).flat_map(|groups| groups.rules.keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let changed = crate::rule::difference((self, self.rule_of(name)), (new, new.rule_of(name)));
            lines.extend(changed.into_iter().map(|line| format!("{name}: {line}")));
        }
        lines
    }

    /// The rule in words, and those of groups that have their own.
    pub fn rule_words(&self) -> Vec<String> {
        let mut words = self.rule.words(self);
        for (name, rule) in self.groups.iter().flat_map(|groups| &groups.rules) {
            words.push(format!("{name}: {}", rule.words(self).join(", ")));
        }
        words
    }
}

/// Checks the groups of a document that is otherwise checked.
pub(super) fn check(written: TomlGroups, document: &PolicyDocument) -> Result<GroupRules, DocumentFault> {
    let place = keys(&["groups", "column"]);
    check_column(&written.column, place.clone())?;
    if let Err(error) = document.grouped_by(&written.column) {
        return Err(DocumentFault::new(place, error.problem, error.remedy));
    }
    let mut rules = IndexMap::new();
    for (name, cuts) in &written.cuts {
        let place = keys(&["groups", "cuts", name]);
        let own = document.rule.cuts().len();
        let Some(rule) = document.rule.with_cuts(cuts).filter(|_| cuts.len() == own) else {
            let problem = format!("{} has {}, the rule in force {}", shown(name), count(cuts.len(), "cut"), own);
            let remedy = "give as many cuts as the rule in force has, or write the whole rule under [groups.rules]";
            return Err(DocumentFault::new(place, problem, remedy));
        };
        check_rule(document, &rule, |_| place.clone())?;
        rules.insert(name.clone(), rule);
    }
    for (name, rule) in written.rules {
        let place = keys(&["groups", "rules", &name]);
        if rules.contains_key(&name) {
            let problem = format!("{} has both cuts and a rule", shown(&name));
            return Err(DocumentFault::new(place, problem, "keep one of the two"));
        }
        check_rule(document, &rule, |path| [place.as_slice(), path].concat())?;
        rules.insert(name, rule);
    }
    if let Some(name) = rules.keys().find(|name| name.trim() != name.as_str() || name.is_empty()) {
        let problem = format!("the group {} has spaces around it, or no name", shown(name));
        return Err(DocumentFault::new(keys(&["groups"]), problem, "write it as the column of the log has it"));
    }
    Ok(GroupRules { column: written.column, rules })
}

/// A group's rule must fit as the rule in force must. `place` is where it stands, for a path within the rule.
fn check_rule(
    document: &PolicyDocument,
    rule: &WrittenRule,
    place: impl Fn(&[PathStep]) -> Path,
) -> Result<(), DocumentFault> {
    rule.check(document).map_err(|fault| DocumentFault { path: place(fault.path.get(1..).unwrap_or(&[])), ..fault })?;
    match document.outside_bounds(rule).into_iter().next() {
        Some(problem) => {
            Err(DocumentFault::new(place(&[]), problem, "widen the bounds under [control], or change the rule"))
        }
        None => Ok(()),
    }
}
