//! How far the numbers of a rule may move.

use indexmap::IndexMap;

use super::RuleBound;
use crate::document::PolicyDocument;
use crate::document::locate::{PathStep, keys};
use crate::names::{count, did_you_mean, shown};
use crate::number::{plainly, written};
use crate::rule::{DocumentFault, INTERCEPT, ThresholdRule, WrittenRule, cut_name};

/// The name that stands for every cut.
const EVERY_CUT: &str = "cut";

/// Ranges of two finite numbers that ascend.
pub(super) fn check(written: &IndexMap<String, Vec<f64>>) -> Result<Vec<RuleBound>, DocumentFault> {
    let mut bounds = Vec::with_capacity(written.len());
    for (name, range) in written {
        let place = keys(&["control", "bounds", name]);
        let &[low, high] = range.as_slice() else {
            let problem = format!("the bounds have {}", count(range.len(), "number"));
            return Err(DocumentFault::new(
                place,
                problem,
                "write two: the lowest and the highest, \"cut 1\" = [120, 160]",
            ));
        };
        if let Some(at) = [low, high].iter().position(|end| !end.is_finite()) {
            let problem = format!("the bounds end at {}", plainly(range[at]));
            return Err(DocumentFault::new([place, vec![PathStep::At(at)]].concat(), problem, "write a finite number"));
        }
        if low > high {
            let problem = format!("the bounds [{}, {}] are in descending order", plainly(low), plainly(high));
            return Err(DocumentFault::new(place, problem, "write the lowest value first and the highest second"));
        }
        bounds.push(RuleBound { name: name.clone(), low, high });
    }
    Ok(bounds)
}

impl PolicyDocument {
    /// The reasons why a rule is outside the bounds of the plan; empty if it is within.
    ///
    /// Bounds refer to the numbers of the rule in force: a rule of another form, on another feature, or with other options next to a
    /// bounded cut is outside. A coefficient that a score or a linear rule does not name is 0.
    ///
    /// ```
    /// # let text = include_str!("../../tests/it/example.toml");
    /// let text = format!("{text}\n[control]\nbounds = {{ \"cut 1\" = [120, 160] }}\n");
    /// let document = rarely_policy::PolicyDocument::parse(&text, "policy.toml")?;
    /// let rule = document.rule().with_numbers(&[172.0]);
    /// assert_eq!(document.outside_bounds(&rule), ["cut 1 would be 172, outside the agreed 120 to 160"]);
    /// # Ok::<(), rarely_policy::DocumentError>(())
    /// ```
    pub fn outside_bounds(&self, rule: &WrittenRule) -> Vec<String> {
        self.control().bounds.iter().flat_map(|bound| self.outside(bound, rule)).collect()
    }

    /// Checks that every bound names a number that the rule in force has or could have, and that the number is within it.
    pub(crate) fn check_bounds(&self) -> Result<(), DocumentFault> {
        let known = self.bounded_names();
        for bound in &self.control().bounds {
            let name = &bound.name;
            let path = |step: fn(String) -> PathStep| [keys(&["control", "bounds"]), vec![step(name.clone())]].concat();
            if !known.contains(name) {
                let problem = format!("the rule has no number called {}", shown(name));
                let remedy = did_you_mean(name, "its numbers are", known.iter().map(String::as_str));
                return Err(DocumentFault::new(path(PathStep::Key), problem, remedy));
            }
            let numbers = self.rule().named_numbers();
            if let Some((name, number)) =
                bounded(bound, self.rule(), &numbers).find(|(_, number)| !bound.contains(*number))
            {
                let problem = format!("{name} of the rule in force is {}, outside {}", written(number), bound.range());
                return Err(DocumentFault::new(path(PathStep::In), problem, "widen the bounds, or change the rule"));
            }
        }
        Ok(())
    }

    /// The names that bounds of this document can use.
    fn bounded_names(&self) -> Vec<String> {
        let rule = self.rule();
        let mut names: Vec<String> = rule.named_numbers().into_iter().map(|(name, _)| name).collect();
        let features = || self.coordinates().into_iter().filter(|name| name != INTERCEPT);
        let possible: Vec<String> = match rule {
            WrittenRule::Threshold(_) => vec![EVERY_CUT.to_owned()],
            WrittenRule::Score(_) => features().chain([EVERY_CUT.to_owned()]).collect(),
            WrittenRule::Linear(_) => {
                let of = |option: &String| {
                    let names = std::iter::once(INTERCEPT.to_owned()).chain(features());
                    names.map(move |name| format!("{option}: {name}")).collect::<Vec<_>>()
                };
                self.options().iter().flat_map(of).collect()
            }
        };
        for name in possible {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn outside(&self, bound: &RuleBound, rule: &WrittenRule) -> Vec<String> {
        let name = &bound.name;
        let (mine, theirs) = (kind(self.rule()), kind(rule));
        if mine != theirs {
            let reason = match rule {
                WrittenRule::Linear(_) if is_cut(bound, self.rule()) => {
                    format!("the plan bounds {name}, which the proposed rule does not have")
                }
                _ => format!("the plan bounds {name} of {mine}, but the proposed rule is {theirs}"),
            };
            return vec![reason];
        }
        if let Some(reason) = self.other_options(bound, rule) {
            return vec![reason];
        }
        let numbers = rule.named_numbers();
        let outside = bounded(bound, rule, &numbers).filter(|(_, number)| !bound.contains(*number));
        outside
            .map(|(name, number)| format!("{name} would be {}, outside the agreed {}", written(number), bound.range()))
            .collect()
    }

    /// The reason why a cut is not the one that the plan bounds: it is missing, or between other options.
    fn other_options(&self, bound: &RuleBound, rule: &WrittenRule) -> Option<String> {
        let (mine, theirs) = (self.rule().options(), rule.options());
        for at in 0..self.rule().cuts().len() {
            let name = cut_name(at);
            if bound.name != name && bound.name != EVERY_CUT {
                continue;
            }
            let planned = &mine[at..at + 2];
            match theirs.get(at..at + 2) {
                None => return Some(format!("the plan bounds {name}, which the proposed rule does not have")),
                Some(found) if found != planned => {
                    return Some(format!(
                        "the plan bounds {name} between {} and {}, but in the proposed rule it is between {} and {}",
                        planned[0], planned[1], found[0], found[1]
                    ));
                }
                Some(_) => {}
            }
        }
        None
    }
}

/// The form of a rule, and its feature if there is one.
fn kind(rule: &WrittenRule) -> String {
    match rule {
        WrittenRule::Threshold(ThresholdRule { feature, .. }) => format!("a threshold on {feature}"),
        WrittenRule::Score(_) => "a score".to_owned(),
        WrittenRule::Linear(_) => "a linear rule".to_owned(),
    }
}

fn is_cut(bound: &RuleBound, rule: &WrittenRule) -> bool {
    bound.name == EVERY_CUT || (0..rule.cuts().len()).any(|at| bound.name == cut_name(at))
}

/// The numbers of a rule to which a bound applies, by name; a coefficient that is not named is 0.
fn bounded<'a>(
    bound: &'a RuleBound,
    rule: &WrittenRule,
    numbers: &'a [(String, f64)],
) -> impl Iterator<Item = (&'a str, f64)> + 'a {
    let first_cut = numbers.len() - rule.cuts().len();
    let chosen = move |(at, (name, _)): &(usize, &(String, f64))| {
        bound.name == *name || (bound.name == EVERY_CUT && *at >= first_cut)
    };
    let is_there = numbers.iter().enumerate().any(|entry| chosen(&entry));
    let absent = (!is_there && !is_cut(bound, rule)).then_some((bound.name.as_str(), 0.0));
    numbers.iter().enumerate().filter(chosen).map(|(_, (name, number))| (name.as_str(), *number)).chain(absent)
}
