//! How often the evidence may be looked at, and what every proposal must respect.

use std::fmt;

use rarely_core::{LookPlan, MAX_REWARD};
use rarely_error::Explain as _;

use crate::document::PolicyDocument;
use crate::document::check::in_range;
use crate::document::locate::{PathStep, keys};
use crate::document::toml::{Monotone, StandardWord, TomlDocument, TomlEvidence, TomlLookPlan, TomlStandard};
use crate::feature::Feature;
use crate::names::{did_you_mean, list, shown};
use crate::number::plainly;
use crate::rule::DocumentFault;

/// The most looks that can be planned.
const MOST_LOOKS: u64 = 1000;

/// How often the evidence may be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidenceStandard {
    /// As often as one likes.
    Anytime,
    /// So many times, at multiples of the first look's cases.
    Looks(u64),
    /// At these numbers of cases.
    Sizes(LookPlan),
    /// Once, at the end.
    Once,
}

impl EvidenceStandard {
    /// `K`; `None` for any number.
    pub fn looks(&self) -> Option<u64> {
        match self {
            Self::Anytime => None,
            Self::Looks(looks) => Some(*looks),
            Self::Sizes(plan) => Some(plan.sizes().len() as u64),
            Self::Once => Some(1),
        }
    }
}

impl fmt::Display for EvidenceStandard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anytime => formatter.write_str("anytime"),
            Self::Looks(looks) => write!(formatter, "{looks} looks"),
            Self::Sizes(plan) => {
                let sizes: Vec<String> = plan.sizes().iter().map(ToString::to_string).collect();
                write!(formatter, "looks at {} cases", list(sizes.iter().map(String::as_str)))
            }
            Self::Once => formatter.write_str("once"),
        }
    }
}

/// What every proposal must respect.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeLimits {
    forbidden: Vec<bool>,
    slopes: Vec<Option<Monotone>>,
    capacities: Vec<f64>,
    costs: Vec<f64>,
}

impl ChangeLimits {
    /// Whether no proposal may use a feature.
    pub fn is_forbidden(&self, feature: usize) -> bool {
        self.forbidden[feature]
    }

    /// The way in which the option may move along a feature, if it is restricted.
    pub fn slope(&self, feature: usize) -> Option<Monotone> {
        self.slopes[feature]
    }

    /// The largest share of people who may get each option.
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// What each option costs per case.
    pub fn costs(&self) -> &[f64] {
        &self.costs
    }

    /// Whether an option costs anything.
    pub fn has_costs(&self) -> bool {
        self.costs.iter().any(|&cost| cost != 0.0)
    }

    /// Each limit's name, and what it is; `none` where there is none.
    pub fn lines(&self, document: &PolicyDocument) -> [(&'static str, String); 4] {
        let columns = || document.features().iter().map(|feature| feature.column.as_str());
        let said = |parts: Vec<String>| if parts.is_empty() { "none".to_owned() } else { parts.join(", ") };
        let by_option = |numbers: &[f64], usual: f64| {
            let set = document.options().iter().zip(numbers).filter(|&(_, &number)| number != usual);
            said(set.map(|(option, number)| format!("{option} {}", plainly(*number))).collect())
        };
        let forbidden = columns().zip(&self.forbidden).filter(|(_, forbidden)| **forbidden);
        let slopes = columns().zip(&self.slopes).filter_map(|(name, slope)| Some(format!("{name} {}", (*slope)?)));
        [
            ("forbidden features", said(forbidden.map(|(name, _)| name.to_owned()).collect())),
            ("monotone features", said(slopes.collect())),
            ("capacity", by_option(&self.capacities, 1.0)),
            ("cost", by_option(&self.costs, 0.0)),
        ]
    }
}

pub(super) fn check_standard(written: &TomlEvidence) -> Result<EvidenceStandard, DocumentFault> {
    let path = || keys(&["evidence", "standard"]);
    match &written.standard {
        TomlStandard::Word(StandardWord::Anytime) => Ok(EvidenceStandard::Anytime),
        TomlStandard::Word(StandardWord::Once) => Ok(EvidenceStandard::Once),
        TomlStandard::Planned(planned) => match &planned.looks {
            TomlLookPlan::Count(looks) if (1..=MOST_LOOKS).contains(looks) => Ok(EvidenceStandard::Looks(*looks)),
            TomlLookPlan::Count(looks) => {
                let remedy = format!("plan 1 to {MOST_LOOKS} looks");
                Err(DocumentFault::new(path(), format!("{looks} looks are planned"), remedy))
            }
            TomlLookPlan::Sizes(sizes) => match LookPlan::new(sizes.clone()) {
                Ok(plan) => Ok(EvidenceStandard::Sizes(plan)),
                Err(error) => {
                    let remedy = error.remedy().map_or_else(String::new, |remedy| remedy.to_string());
                    Err(DocumentFault::new(path(), error.to_string(), remedy))
                }
            },
        },
    }
}

pub(super) fn check_limits(written: &TomlDocument, features: &[Feature]) -> Result<ChangeLimits, DocumentFault> {
    let change = &written.change;
    let place = |table: &str, key: &str| [keys(&["change", table]), vec![PathStep::In(key.to_owned())]].concat();
    let feature = |name: &str, path: Vec<PathStep>| {
        features.iter().position(|feature| feature.column == name).ok_or_else(|| {
            let known: Vec<&str> = features.iter().map(|feature| feature.column.as_str()).collect();
            let remedy = did_you_mean(name, "the features are", known);
            DocumentFault::new(path, format!("unknown feature {}", shown(name)), remedy)
        })
    };
    let option = |name: &str, path: Vec<PathStep>| {
        written.options.iter().position(|option| option == name).ok_or_else(|| {
            let known: Vec<&str> = written.options.iter().map(String::as_str).collect();
            let remedy = did_you_mean(name, "the options are", known);
            DocumentFault::new(path, format!("unknown option {}", shown(name)), remedy)
        })
    };
    let mut limits = ChangeLimits {
        forbidden: vec![false; features.len()],
        slopes: vec![None; features.len()],
        capacities: vec![1.0; written.options.len()],
        costs: vec![0.0; written.options.len()],
    };
    for (at, name) in change.forbid.iter().enumerate() {
        let path = [keys(&["change", "forbid"]), vec![PathStep::At(at)]].concat();
        limits.forbidden[feature(name, path)?] = true;
    }
    // What is derived from a forbidden feature is forbidden too. Parents come first.
    for (at, feature) in features.iter().enumerate() {
        limits.forbidden[at] |= feature.source.parents().any(|parent| limits.forbidden[parent]);
    }
    for (name, slope) in &change.monotone {
        let at = feature(name, place("monotone", name))?;
        if features[at].range().is_none() {
            let problem = format!("{} has levels, which have no order", shown(name));
            return Err(DocumentFault::new(place("monotone", name), problem, "name a feature with a range"));
        }
        let related = features.iter().enumerate().find(|&(other, feature)| {
            other != at && feature.source.parents().any(|parent| parent == at) && feature.range().is_some()
        });
        if let Some((_, derived)) = related.or(Some((at, &features[at])).filter(|(_, own)| !own.source.is_column())) {
            let problem = format!("{} cannot be monotone: {} bends it", shown(name), shown(&derived.column));
            let remedy = "remove it from monotone, or remove what is derived from it";
            return Err(DocumentFault::new(place("monotone", name), problem, remedy));
        }
        limits.slopes[at] = Some(*slope);
    }
    for (name, share) in &change.capacity {
        let at = option(name, place("capacity", name))?;
        in_range(rarely_core::Share::named("capacity", *share), place("capacity", name))?;
        limits.capacities[at] = *share;
    }
    if limits.capacities.iter().sum::<f64>() < 1.0 {
        let problem = "the capacities of all options add up to less than 1, so that some people could get none";
        return Err(DocumentFault::new(keys(&["change", "capacity"]), problem, "leave at least one option unlimited"));
    }
    for (name, cost) in &change.cost {
        let at = option(name, place("cost", name))?;
        if !(cost.abs() <= MAX_REWARD) {
            let problem = format!("the cost of {} is {}", shown(name), plainly(*cost));
            return Err(DocumentFault::new(place("cost", name), problem, "write a finite number"));
        }
        limits.costs[at] = *cost;
    }
    Ok(limits)
}
