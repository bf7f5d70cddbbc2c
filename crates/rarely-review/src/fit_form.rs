//! A proposal in the form of the rule that it replaces.
//!
//! The core proposes parameters; an owner has a threshold or a score. If the owner's form can express the parameters, it does. If
//! not (a threshold on one of several features; one score for three options), the nearest plausible rule of the form is searched
//! for. Only if there is none is a richer form proposed.

use rarely_core::{Above, Parameters, Thresholds};
use rarely_policy::{Coefficient, FeatureKind, Ladder, LinearRule, ScoreRule, WrittenRule};
use serde::{Deserialize, Serialize};

use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::least_squares::{combine, nearest};
use crate::most_plausible::{at_options, lower_unused, shifts};
use crate::running_variable::RunningVariable;

/// Rounds of fitting a score's weights and its steps in turn.
const TURNS: usize = 30;
/// The smallest step between two options in a fit.
const LEAST_STEP: f64 = 1e-9;

/// A proposal in the owner's form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InForm {
    /// The rule.
    pub(crate) rule: WrittenRule,
    /// The richer form that it needs, if no rule of the present form is plausible.
    pub(crate) richer: Option<RicherForm>,
}

/// A form that can say more than the rule in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RicherForm {
    /// One score in which every feature counts.
    ScoreOfAllFeatures,
    /// A score for every option.
    ScorePerOption,
}

/// Expresses proposed parameters in the form of the rule that they replace, if any rule of that form is plausible.
///
/// # Errors
/// As [`EvidenceBase::accepts`].
pub(crate) fn in_form(
    base: &EvidenceBase<'_>,
    rule: &WrittenRule,
    proposed: &Parameters,
) -> Result<InForm, ReviewError> {
    let document = base.document;
    let fits = |found: &WrittenRule| document.check_rule(found).is_ok();
    if let Some(rule) = WrittenRule::from_parameters(document, proposed, rule).filter(fits) {
        return Ok(InForm { rule, richer: None });
    }
    let estimates = base.statistics.estimates();
    let candidates = nearest_cut(base, rule)
        .into_iter()
        .chain([proposed, &estimates].into_iter().filter_map(|target| fit(base, rule, target)));
    for parameters in candidates {
        if let Some(found) = WrittenRule::from_parameters(document, &parameters, rule).filter(fits)
            && base.accepts(rule, &found, false)?
        {
            return Ok(InForm { rule: found, richer: None });
        }
    }
    let richer = WrittenRule::from_parameters(document, proposed, &every_feature(base)).filter(fits);
    let linear = || {
        WrittenRule::from_parameters(
            document,
            proposed,
            &WrittenRule::Linear(LinearRule { scores: [].into_iter().collect() }),
        )
    };
    let (rule, form) = match richer {
        Some(rule) => (rule, RicherForm::ScoreOfAllFeatures),
        None => (linear().expect("a linear rule can say what any parameters say"), RicherForm::ScorePerOption),
    };
    Ok(InForm { rule, richer: Some(form) })
}

/// The plausible cut nearest to the one in force, for a rule with one cut between two options.
fn nearest_cut(base: &EvidenceBase<'_>, rule: &WrittenRule) -> Option<Parameters> {
    let ladder = RunningVariable::of(base.document, rule)?.ladder;
    let ([cut], [lower, upper]) = (ladder.cuts.as_slice(), ladder.options.as_slice()) else {
        return None;
    };
    let set = base.set();
    let towards = |thresholds: Thresholds| match thresholds {
        Thresholds::Between { low, high } => Some(cut.clamp(low, high)),
        Thresholds::AtMost { high } => Some(cut.min(high)),
        Thresholds::AtLeast { low } => Some(cut.max(low)),
        Thresholds::Outside { low, high } if (low..high).contains(cut) => {
            Some(if cut - low < high - cut { low } else { high })
        }
        Thresholds::Outside { .. } | Thresholds::Everything => Some(*cut),
        Thresholds::Nothing => None,
    };
    let same = towards(set.oriented_cuts(*lower, *upper, &ladder.direction, Above::Second));
    let turned = || towards(set.oriented_cuts(*lower, *upper, &ladder.direction, Above::First));
    let (cut, options) = match same {
        Some(cut) => (cut, vec![*lower, *upper]),
        None => (turned()?, vec![*upper, *lower]),
    };
    let ladder = Ladder { direction: ladder.direction, cuts: vec![cut], options };
    Some(ladder.parameters(base.statistics.shape(), &[1.0]))
}

/// The parameters of a threshold's or a score's family that are nearest to others, in the metric of the statistics.
fn fit(base: &EvidenceBase<'_>, rule: &WrittenRule, target: &Parameters) -> Option<Parameters> {
    let ladder = rule.ladder(base.document).filter(|ladder| !ladder.cuts.is_empty())?;
    let steps = vec![1.0; ladder.cuts.len()];
    let mut family = Family { base, target, weights: free_coordinates(base, rule), ladder, steps };
    let mut values = family.fit_steps()?;
    if !family.weights.is_empty() {
        for _ in 0..TURNS {
            family.fit_weights()?;
            values = family.fit_steps()?;
        }
    }
    lower_unused(&mut values, &family.ladder.options, &base.statistics.estimates(), &base.people);
    Parameters::new(base.statistics.shape(), values).ok()
}

/// `θ_i = Σ_{j≤i} (a_j·w − β_j·e₀) + c`, with the weights `w` and the steps `a` fitted in turn.
struct Family<'a> {
    base: &'a EvidenceBase<'a>,
    target: &'a Parameters,
    /// The coordinates whose weight is free; none for a threshold.
    weights: Vec<usize>,
    /// Its direction is `w`.
    ladder: Ladder,
    /// `a`.
    steps: Vec<f64>,
}

/// A column of the family, with the floor of its coefficient.
type Column = (Vec<f64>, Option<f64>);

impl Family<'_> {
    /// Fits the steps for the present weights. Returns all parameters.
    fn fit_steps(&mut self) -> Option<Vec<f64>> {
        let columns = (0..self.steps.len()).map(|step| (self.above(step, &self.ladder.direction), Some(LEAST_STEP)));
        let (solution, values) = self.least_squares(columns.collect())?;
        self.steps = solution[..self.steps.len()].to_vec();
        Some(values)
    }

    /// Fits the weights for the present steps.
    fn fit_weights(&mut self) -> Option<()> {
        let columns: Vec<Column> = self.weights.iter().map(|&coordinate| (self.climbing(coordinate), None)).collect();
        let (solution, _) = self.least_squares(columns)?;
        for (&coordinate, weight) in self.weights.iter().zip(solution) {
            self.ladder.direction[coordinate] = weight;
        }
        Some(())
    }

    /// With a free cut for every step and a free shift of all options.
    fn least_squares(&self, mut columns: Vec<Column>) -> Option<(Vec<f64>, Vec<f64>)> {
        let (statistics, d) = (&self.base.statistics, self.ladder.direction.len());
        let mut intercept = vec![0.0; d];
        intercept[0] = 1.0;
        columns.extend((0..self.ladder.cuts.len()).map(|step| (self.above(step, &intercept), None)));
        columns.extend(shifts(statistics.shape(), &self.ladder.options).map(|column| (column, None)));
        let (columns, floors): (Vec<Vec<f64>>, Vec<Option<f64>>) = columns.into_iter().unzip();
        let solution = nearest(statistics, self.target, &columns, &floors);
        let values = combine(&columns, &solution);
        values.iter().all(|value| value.is_finite()).then_some((solution, values))
    }

    /// A stack with a coordinate that grows by the steps from option to option.
    fn climbing(&self, coordinate: usize) -> Vec<f64> {
        let d = self.ladder.direction.len();
        let mut column = vec![0.0; self.base.statistics.shape().parameters()];
        let mut height = 0.0;
        for (&option, step) in self.ladder.options[1..].iter().zip(&self.steps) {
            height += step;
            column[option * d + coordinate] = height;
        }
        column
    }

    /// A stack with a vector at every option above a step.
    fn above(&self, step: usize, vector: &[f64]) -> Vec<f64> {
        at_options(self.base.statistics.shape(), &self.ladder.options[step + 1..], vector)
    }
}

/// The coordinates of the features that a score names.
fn free_coordinates(base: &EvidenceBase<'_>, rule: &WrittenRule) -> Vec<usize> {
    let WrittenRule::Score(score) = rule else {
        return Vec::new();
    };
    let features = base.document.features().iter().enumerate();
    let named = features.filter(|(_, feature)| score.coefficients.contains_key(&feature.column));
    named
        .flat_map(|(at, feature)| (0..feature.coordinates()).map(move |within| (at, within)))
        .map(|(at, within)| base.document.offset(at) + within)
        .collect()
}

/// A score in which every feature may count.
fn every_feature(base: &EvidenceBase<'_>) -> WrittenRule {
    let document = base.document;
    let coefficients = document.features().iter().map(|feature| {
        let coefficient = match &feature.kind {
            FeatureKind::Numeric { .. } => Coefficient::Slope(1.0),
            FeatureKind::Levels(levels) => {
                Coefficient::Levels(levels[1..].iter().map(|level| (level.clone(), 0.0)).collect())
            }
        };
        (feature.column.clone(), coefficient)
    });
    let options = document.options().to_vec();
    let cuts = (0..options.len() - 1).map(|at| at as f64).collect();
    WrittenRule::Score(ScoreRule { coefficients: coefficients.collect(), cuts, options })
}
