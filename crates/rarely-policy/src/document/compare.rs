//! Compares two documents: what learned sums depend on, and what changed.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::control::{Control, RuleBound};
use crate::document::{Better, LogColumns, Missing, OutcomeColumn, PolicyDocument, RowMissing};
use crate::duration;
use crate::feature::{Feature, FeatureKind};
use crate::names::list;
use crate::number::plainly;
use crate::rule;

impl PolicyDocument {
    /// A digest, in hexadecimal, of everything that learned sums depend on: options, outcome, features, intercept and penalty. The rule, the
    /// other assumptions and `[change]` may differ: they share the same sums.
    pub fn fingerprint(&self) -> String {
        let parts: Vec<Value> = self.parts().into_iter().map(|(_, value)| value).collect();
        rarely_core::Digest(Sha256::digest(Value::Array(parts).to_string()).into()).to_string()
    }

    /// The first difference from the other document on which learned sums depend, in words.
    pub fn differs(&self, other: &Self) -> Option<String> {
        let mut pairs = self.parts().into_iter().zip(other.parts());
        let Some((part, _)) = pairs.find(|((_, mine), (_, theirs))| mine != theirs) else {
            let costs = self.limits.costs() != other.limits.costs();
            let columns = self.log_columns.columns() != other.log_columns.columns();
            return if costs {
                Some("the cost of an option".to_owned())
            } else {
                columns.then(|| "a column of [evidence]: key, time, cluster, weight or propensities".to_owned())
            };
        };
        let lines = match part.0 {
            "options" => changed_names("option", &self.option_codes, &other.option_codes),
            "outcome" => self.outcome.changed(&other.outcome),
            "intercept" => changed("intercept", &self.intercept, &other.intercept).into_iter().collect(),
            "features" => self.changed_features(other),
            _ => changed("penalty", &plainly(self.evidence.penalty), &plainly(other.evidence.penalty))
                .into_iter()
                .collect(),
        };
        lines.into_iter().next().or_else(|| Some(part.0.to_owned()))
    }

    /// The changes from this document to another, in words, the rule first; empty if there are none.
    pub fn difference(&self, new: &Self) -> Vec<String> {
        let mut lines = rule::difference((self, &self.rule), (new, &new.rule));
        lines.extend(self.changed_groups(new));
        lines.extend(changed("policy", &self.policy, &new.policy));
        lines.extend(self.changed_options(new));
        lines.extend(self.changed_codes(new));
        lines.extend(changed("option column", &self.option_column, &new.option_column));
        lines.extend(self.outcome.changed(&new.outcome));
        lines.extend(self.changed_guardrails(new));
        lines.extend(changed("intercept", &self.intercept, &new.intercept));
        lines.extend(self.changed_features(new));
        lines.extend(self.changed_evidence(new));
        lines.extend(self.changed_change(new));
        lines.extend(self.changed_control(new));
        lines
    }

    fn parts(&self) -> Vec<(&'static str, Value)> {
        let feature = |feature: &Feature| {
            let mut part = match &feature.kind {
                FeatureKind::Numeric { low, high, unit } => {
                    json!({ "column": feature.column, "range": [low, high], "unit": unit })
                }
                FeatureKind::Levels(levels) => json!({ "column": feature.column, "levels": levels }),
            };
            // A document without these has the fingerprint that it had before there were any.
            if feature.missing() != Missing::Refuse {
                part["missing"] = json!(feature.missing());
            }
            if let Some(meaning) = feature.meaning(&self.features) {
                part["derived"] = json!(meaning);
            }
            part
        };
        let outcome = &self.outcome;
        let mut parts = vec![
            ("options", json!(self.option_codes)),
            ("outcome", json!({ "column": outcome.column, "range": outcome.range, "better": outcome.better })),
            ("intercept", json!(self.intercept)),
            ("features", self.features.iter().map(feature).collect()),
            ("penalty", json!(self.evidence.penalty)),
        ];
        // Sums of rewards are net of costs. A document without costs has the fingerprint that it had before there were any.
        if self.limits.has_costs() {
            parts.push(("cost", json!(self.limits.costs())));
        }
        // The same for columns by which rows are divided, weighted and checked.
        if self.log_columns.has_propensities() || !self.log_columns.rows_are_alike() {
            let LogColumns { cluster, weight, propensity, propensities, .. } = &self.log_columns;
            let columns =
                json!({ "cluster": cluster, "weight": weight, "propensity": propensity, "propensities": propensities });
            parts.push(("log columns", columns));
        }
        if !self.guardrails.is_empty() || !self.log_columns.fairness.is_empty() {
            let guarded = self.guardrails.iter();
            let guarded = guarded.map(|guardrail| json!([guardrail.column, guardrail.range, guardrail.better]));
            let guarded: Vec<Value> = guarded.collect();
            parts.push((
                "guard-rails or fairness columns",
                json!({ "guardrails": guarded, "fairness": self.log_columns.fairness }),
            ));
        }
        let LogColumns { key, time, .. } = &self.log_columns;
        if key.is_some() || time.is_some() {
            parts.push(("key and time", json!({ "key": key, "time": time })));
        }
        if self.evidence.missing != RowMissing::Refuse {
            parts.push(("missing", json!(self.evidence.missing)));
        }
        parts
    }

    fn changed_options(&self, new: &Self) -> Vec<String> {
        changed_names("option", &self.options, &new.options)
    }

    fn changed_guardrails(&self, new: &Self) -> Vec<String> {
        let words = |document: &Self| -> Vec<String> { document.guardrails.iter().map(ToString::to_string).collect() };
        changed_names("guard-rail", &words(self), &words(new))
    }

    /// Codes that the data have for options of the same names.
    fn changed_codes(&self, new: &Self) -> Option<String> {
        let codes = |document: &Self| list(document.option_codes.iter().map(String::as_str));
        if self.options == new.options { changed("options in the data:", &codes(self), &codes(new)) } else { None }
    }

    fn changed_features(&self, new: &Self) -> Vec<String> {
        let columns = |document: &Self| -> Vec<String> {
            document.features.iter().map(|feature| feature.column.clone()).collect()
        };
        let mut lines = changed_names("feature", &columns(self), &columns(new));
        for feature in &new.features {
            let Some((_, old)) = self.feature(&feature.column) else { continue };
            let name = &feature.column;
            let missing = |feature: &Feature| feature.missing().name();
            lines.extend(changed(&format!("missing values of {name}:"), &missing(old), &missing(feature)));
            match (&old.kind, &feature.kind) {
                (FeatureKind::Levels(was), FeatureKind::Levels(is)) => {
                    lines.extend(changed_names(&format!("level of {name}"), was, is));
                }
                (FeatureKind::Numeric { .. }, FeatureKind::Numeric { .. }) => {
                    lines.extend(changed(&format!("range of {name}"), &range(old.range()), &range(feature.range())));
                    let unit = |feature: &Feature| feature.unit().unwrap_or("none").to_owned();
                    lines.extend(changed(&format!("unit of {name}"), &unit(old), &unit(feature)));
                }
                (FeatureKind::Levels(_), FeatureKind::Numeric { .. }) => {
                    lines.push(format!("{name} is a number, was words"));
                }
                (FeatureKind::Numeric { .. }, FeatureKind::Levels(_)) => {
                    lines.push(format!("{name} is words, was a number"));
                }
            }
        }
        lines
    }

    fn changed_evidence(&self, new: &Self) -> Vec<String> {
        let (was, is) = (&self.evidence, &new.evidence);
        let or = |number: Option<f64>, word: &str| number.map_or(word.to_owned(), plainly);
        let lines = [
            changed("noise", &or(was.noise, "bounded"), &or(is.noise, "bounded")),
            changed("norm bound", &or(was.norm_bound, "auto"), &or(is.norm_bound, "auto")),
            changed("penalty", &plainly(was.penalty), &plainly(is.penalty)),
            changed("error probability", &plainly(was.error_probability), &plainly(is.error_probability)),
            changed("standard", &self.standard, &new.standard),
            changed("design", &was.design.name(), &is.design.name()),
            changed("order of rows", &was.order.name(), &is.order.name()),
            changed("rows without option or outcome:", &was.missing.name(), &is.missing.name()),
        ];
        let columns = self.log_columns.lines(self).into_iter().zip(new.log_columns.lines(new));
        let columns = columns.filter_map(|((name, was), (_, is))| changed(name, &was, &is));
        lines.into_iter().flatten().chain(columns).collect()
    }

    fn changed_change(&self, new: &Self) -> Vec<String> {
        let (was, is) = (&self.change, &new.change);
        let or = |number: Option<f64>| number.map_or("the default".to_owned(), plainly);
        let lines = [
            changed("algorithm", &was.algorithm, &is.algorithm),
            changed("minimum gain", &plainly(was.minimum_gain), &plainly(is.minimum_gain)),
            changed("explore", &was.explore, &is.explore),
            changed("tolerance", &or(was.tolerance), &or(is.tolerance)),
            changed("excluded share", &or(was.excluded_share), &or(is.excluded_share)),
            changed("digits", &was.digits, &is.digits),
            changed("worth", &or(was.worth), &or(is.worth)),
        ];
        let limits = self.limits.lines(self).into_iter().zip(new.limits.lines(new));
        let limits = limits.filter_map(|((name, was), (_, is))| changed(name, &was, &is));
        lines.into_iter().flatten().chain(limits).collect()
    }

    fn changed_control(&self, new: &Self) -> Vec<String> {
        let (was, is) = (&self.control, &new.control);
        let time = |time: Option<u64>| time.map_or("none".to_owned(), duration::words);
        let kept =
            |time: Option<u64>| time.map_or("for good".to_owned(), |time| format!("for {}", duration::words(time)));
        let most = |number: Option<u64>| number.map_or("none".to_owned(), |number| number.to_string());
        let days = |control: &Control| plainly(control.minimum_days_between_changes);
        let lines = [
            changed("approval", &was.approval, &is.approval),
            changed("signatures with a", &was.signatures(), &is.signatures()),
            changed("outcomes between reviews", &was.review_every, &is.review_every),
            changed("time between reviews", &time(was.review_after_ms), &time(is.review_after_ms)),
            changed("minimum days between changes", &days(was), &days(is)),
            changed("maximum changes", &most(was.maximum_changes), &most(is.maximum_changes)),
            changed(
                "proposals expire after",
                &duration::words(was.proposal_expires_ms),
                &duration::words(is.proposal_expires_ms),
            ),
            changed("outcome window", &time(was.outcome_window_ms), &time(is.outcome_window_ms)),
            changed("records are kept", &kept(was.retain_ms), &kept(is.retain_ms)),
            changed("delay", &was.delay.name().to_owned(), &is.delay.name().to_owned()),
        ];
        let names = is.bounds.iter().chain(was.bounds.iter().filter(|bound| is.bound(&bound.name).is_none()));
        let bounds = names.filter_map(|RuleBound { name, .. }| {
            let [was, is] = [was, is].map(|control| control.bound(name).map_or("none".to_owned(), RuleBound::range));
            changed(&format!("bounds of {name}:"), &was, &is)
        });
        lines.into_iter().flatten().chain(bounds).collect()
    }
}

impl OutcomeColumn {
    fn changed(&self, new: &Self) -> Vec<String> {
        let better = |outcome: &Self| if outcome.better == Better::Higher { "higher" } else { "lower" };
        let lines = [
            changed("outcome column", &self.column, &new.column),
            changed("outcome range", &range(self.range), &range(new.range)),
            changed("better outcomes", &better(self), &better(new)),
        ];
        lines.into_iter().flatten().collect()
    }
}

/// "penalty 0.1, was 0.01".
fn changed<T: PartialEq + std::fmt::Display>(what: &str, was: &T, is: &T) -> Option<String> {
    (was != is).then(|| format!("{what} {is}, was {was}"))
}

fn changed_names(what: &str, was: &[String], is: &[String]) -> Vec<String> {
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|name| !those.contains(name)).cloned().collect()
    };
    let (gone, new) = (only(was, is), only(is, was));
    let mut lines: Vec<String> = new.iter().map(|name| format!("new {what}: {name}")).collect();
    lines.extend(gone.iter().map(|name| format!("{what} no longer there: {name}")));
    if lines.is_empty() && was != is {
        let names = |names: &[String]| list(names.iter().map(String::as_str));
        lines.push(format!("order of each {what}: {}; was {}", names(is), names(was)));
    }
    lines
}

fn range(range: Option<(f64, f64)>) -> String {
    range.map_or("none".to_owned(), |(low, high)| format!("{}–{}", plainly(low), plainly(high)))
}
