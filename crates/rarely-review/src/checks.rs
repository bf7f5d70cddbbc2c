//! Whether straight lines are good enough: what the residuals and the people next to a cut show.

use rarely_core::Interval;
use rarely_policy::PolicyDocument;
use rarely_policy::number::round;
use serde::Serialize;

use crate::curvature::{Curvature, NoCurvature};
use crate::evidence_base::EvidenceBase;
use crate::jump::{Bandwidth, Cut, Kernel, NoJump};
use crate::least_squares::dot;
use crate::moments::Moments;
use crate::next_to_cut::FromRows;
use crate::propensities::PropensityCheck;
use crate::running_variable::RunningVariable;
use crate::tally::Tally;

/// A bend needs a warning if its p-value is below this, divided by the number of options, …
const BENT: f64 = 0.001;
/// … and if it changes the best option for at least this share of the people.
const BENT_DECISIONS: f64 = 0.01;
/// A local estimate disagrees with the model if they differ by more than this number of standard errors, …
const DISAGREES: f64 = 3.0;
/// … and by more than this, relative to the model's, where outcomes have no noise.
const ROUNDING: f64 = 1e-6;
/// Outcomes that scatter more than this multiple of the declared noise need a warning.
const NOISIER: f64 = 1.1;

/// A check of the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "check", rename_all = "kebab-case")]
pub enum Check {
    /// Whether logged propensities fit the options that were given, and what they leave of the log.
    Propensity(PropensityCheck),
    /// Whether squares of the features improve on a straight line.
    Curvature(CurvatureCheck),
    /// Whether outcomes scatter more than the document declares: then intervals are too short.
    Noise(NoiseCheck),
    /// The jump of the outcome where one option gives way to the next, from people next to the cut alone.
    Jump(JumpCheck),
}

/// Whether squares of the features improve on a straight line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurvatureCheck {
    /// The option.
    pub option: String,
    /// Its rows.
    pub rows: u64,
    /// The probability of so much bend if the line is straight; null where there are too few rows to say.
    pub p_value: Option<f64>,
    /// How far the bent model is from a straight line at the ends of the feature where it is farthest, in units of the outcome.
    pub largest_bend: Option<f64>,
    /// That feature.
    pub feature: Option<String>,
    /// Share of the people for whom another option would be best if all lines were bent as estimated.
    pub decisions_changed: Option<f64>,
    /// What to be careful about.
    #[serde(skip)]
    pub warning: Option<CurvatureWarning>,
}

/// Why a straight line may not do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CurvatureWarning {
    /// The line bends, and bent lines would change the best option for this share of the people.
    ChangesDecisions(f64),
    /// It could not be tested.
    NotTested(NoCurvature),
}

/// Whether outcomes scatter more than the document declares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoiseCheck {
    /// The option.
    pub option: String,
    /// The noise of the document.
    pub declared: f64,
    /// The standard deviation of the outcomes around the fitted lines, bent where they bend.
    pub found: f64,
    /// The noise to declare, where the declared one is too small.
    #[serde(skip)]
    pub suggested: Option<f64>,
}

/// The jump of the outcome at a cut, from people next to it alone, and from the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JumpCheck {
    /// The option below and the one above.
    pub options: [String; 2],
    /// Where.
    pub cut: f64,
    /// How far from the cut people count: the best width by the rows, or, without them, a rougher and wider one by sums in bins.
    pub bandwidth: Option<f64>,
    /// The upper option's mean outcome minus the lower one's, from those people.
    pub local: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Rows that it rests on, below and above.
    pub rows: Option<(u64, u64)>,
    /// What only the rows show; null where the estimate rests on sums in bins.
    pub from_rows: Option<FromRows>,
    /// The same difference by the model.
    pub model: f64,
    /// The model's interval.
    pub model_interval: [f64; 2],
    /// What to be careful about.
    #[serde(skip)]
    pub warning: Option<JumpWarning>,
}

/// Why the model may be wrong at a cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JumpWarning {
    /// People next to the cut and the model disagree.
    Disagrees,
    /// People next to the cut do not allow an estimate.
    NoEstimate(NoJump),
}

/// All checks.
pub(crate) fn checks(base: &EvidenceBase<'_>, tally: &Tally) -> Vec<Check> {
    let totals = tally.totals();
    let found: Vec<Result<Curvature, NoCurvature>> = totals.iter().map(|sums| base.curvature(sums)).collect();
    // The first of all: other numbers may rest on them.
    let propensities = tally.propensities().map(|sums| sums.checks(base.document)).unwrap_or_default();
    let mut checks: Vec<Check> = propensities.into_iter().map(Check::Propensity).collect();
    checks.extend(curvatures(base, &totals, &found));
    checks.extend(noises(base.document, &found));
    checks.extend(jumps(base, tally));
    checks
}

fn curvatures(base: &EvidenceBase<'_>, totals: &[Moments], found: &[Result<Curvature, NoCurvature>]) -> Vec<Check> {
    let document = base.document;
    let changed = decisions_changed(base, found);
    let limit = BENT / document.options().len() as f64;
    let names = document.coordinates();
    document
        .options()
        .iter()
        .zip(totals.iter().zip(found))
        .map(|(option, (moments, found))| {
            let bend = found.as_ref().ok().and_then(|found| {
                // (x−½)² is ¼ at the ends of the range and 0 in the middle.
                let terms = found.terms.iter().map(|term| (term.coordinate, 0.25 * term.coefficient));
                terms.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
            });
            let warning = match (found, changed) {
                (Ok(found), Some(share)) if found.p_value < limit && share >= BENT_DECISIONS => {
                    Some(CurvatureWarning::ChangesDecisions(share))
                }
                (Ok(_) | Err(NoCurvature::NothingToBend), _) => None,
                (Err(reason), _) => Some(CurvatureWarning::NotTested(*reason)),
            };
            Check::Curvature(CurvatureCheck {
                option: option.clone(),
                rows: moments.rows(),
                p_value: found.as_ref().ok().map(|found| found.p_value),
                largest_bend: bend.map(|(_, size)| document.outcome_sign() * size),
                feature: bend.map(|(coordinate, _)| names[coordinate].clone()),
                decisions_changed: changed.filter(|_| found.is_ok()),
                warning,
            })
        })
        .collect()
}

fn noises(document: &PolicyDocument, found: &[Result<Curvature, NoCurvature>]) -> Vec<Check> {
    let Some(declared) = document.noise() else {
        return Vec::new();
    };
    let options = document.options().iter().zip(found);
    let found = options.filter_map(|(option, found)| Some((option, found.as_ref().ok()?.residual_variance.sqrt())));
    let check = |(option, found): (&String, f64)| {
        let suggested = (found > NOISIER * declared).then(|| round(1.05 * found, 2));
        Check::Noise(NoiseCheck { option: option.clone(), declared, found, suggested })
    };
    found.map(check).collect()
}

/// The share of the people for whom the best option differs between bent and straight lines.
fn decisions_changed(base: &EvidenceBase<'_>, found: &[Result<Curvature, NoCurvature>]) -> Option<f64> {
    let bent: Vec<&Curvature> = found.iter().map(Result::as_ref).collect::<Result<_, _>>().ok()?;
    let best = |values: &mut dyn Iterator<Item = f64>| {
        values
            .enumerate()
            .fold((0, f64::NEG_INFINITY), |best, (arm, value)| if value > best.1 { (arm, value) } else { best })
            .0
    };
    let people = base.people.chunks_exact(base.document.shape().dimension());
    let count = people.len();
    let differ = people.filter(|person| {
        let straight = best(&mut base.statistics.arms().iter().map(|ridge| ridge.predict(person)));
        straight != best(&mut bent.iter().map(|bent| bent.predict(person)))
    });
    Some(differ.count() as f64 / count as f64)
}

fn jumps(base: &EvidenceBase<'_>, tally: &Tally) -> Vec<Check> {
    let document = base.document;
    let (Some(running), Some(jumps)) = (RunningVariable::of(document, document.rule()), tally.jumps()) else {
        return Vec::new();
    };
    let sign = document.outcome_sign();
    let cuts: Vec<Cut> = jumps.cuts().copied().collect();
    let report = |(at, cut): (usize, Cut)| {
        let by_rows = tally.cut_rows().and_then(|rows| FromRows::of(rows, &cuts, at, sign));
        let from_rows = by_rows.map(|(_, added)| added);
        let found = by_rows.map_or_else(|| jumps.jump(at, Kernel::Triangular, Bandwidth::Rule), |(jump, _)| Ok(jump));
        let bandwidth = found.as_ref().map_or(10.0 * jumps.bin_width(), |jump| jump.bandwidth);
        let person = at_the_cut(base, &running, cut.at, bandwidth);
        let Interval { estimate, lower, upper } = base.region().difference_interval(&person, cut.upper, cut.lower);
        let options = [cut.lower, cut.upper].map(|option| document.options()[option].clone());
        let warning = match &found {
            Ok(jump) => {
                let (local, error) = from_rows.map_or((sign * jump.estimate, jump.standard_error), |added| {
                    (added.bias_corrected, added.robust_standard_error)
                });
                disagrees(local, error, sign * estimate).then_some(JumpWarning::Disagrees)
            }
            Err(reason) => Some(JumpWarning::NoEstimate(*reason)),
        };
        let ends = [sign * lower, sign * upper];
        Check::Jump(JumpCheck {
            options,
            cut: running.cut_between(cut.lower, cut.upper).unwrap_or(cut.at + running.offset),
            bandwidth: found.as_ref().ok().map(|jump| jump.bandwidth),
            local: found.as_ref().ok().map(|jump| sign * jump.estimate),
            standard_error: found.as_ref().ok().map(|jump| jump.standard_error),
            rows: found.as_ref().ok().map(|jump| jump.rows),
            from_rows,
            model: sign * estimate,
            model_interval: [ends[0].min(ends[1]), ends[0].max(ends[1])],
            warning,
        })
    };
    cuts.iter().copied().enumerate().map(report).collect()
}

/// Whether the people next to a cut contradict the model's difference there.
fn disagrees(local: f64, standard_error: f64, model: f64) -> bool {
    (local - model).abs() > (DISAGREES * standard_error).max(ROUNDING * (1.0 + model.abs()))
}

/// The average of the people near a cut, moved onto it.
fn at_the_cut(base: &EvidenceBase<'_>, running: &RunningVariable, cut: f64, bandwidth: f64) -> Vec<f64> {
    let direction = &running.ladder.direction;
    let d = direction.len();
    let mut sum = vec![0.0; d];
    let mut total = 0.0;
    for person in base.people.chunks_exact(d) {
        let weight = (1.0 - (running.at(person) - cut).abs() / bandwidth).max(0.0);
        total += weight;
        for (sum, value) in sum.iter_mut().zip(person) {
            *sum += weight * value;
        }
    }
    if total > 0.0 {
        for value in &mut sum {
            *value /= total;
        }
    } else {
        sum[0] = 1.0;
    }
    let off = (cut - running.at(&sum)) / dot(direction, direction);
    for (value, along) in sum.iter_mut().zip(direction) {
        *value += off * along;
    }
    sum
}
