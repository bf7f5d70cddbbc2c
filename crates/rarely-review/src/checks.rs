//! Is the straight line good enough? What the residuals and the people next to a cut say.

use rarely_core::Interval;
use rarely_policy::PolicyDocument;
use rarely_policy::number::{round, short};
use serde::Serialize;

use crate::curvature::{Curvature, NoCurvature};
use crate::ground::Ground;
use crate::jump::{Bandwidth, Cut, Jump, Kernel, NoJump};
use crate::least_squares::dot;
use crate::moments::Moments;
use crate::running::Running;
use crate::tally::Tally;

/// A bend is worth a warning below this probability that a straight line would look so bent, shared among the options, …
const BENT: f64 = 0.001;
/// … if it changes which option is best for so large a share of the people.
const BENT_DECISIONS: f64 = 0.01;
/// A local estimate disagrees with the model from so many standard errors, …
const DISAGREES: f64 = 3.0;
/// … and not for less than this, where outcomes have no noise.
const ROUNDING: f64 = 1e-6;
/// Outcomes that scatter so much more than the declared noise are worth a warning.
const NOISIER: f64 = 1.1;

/// One check of the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "check", rename_all = "kebab-case")]
pub enum Check {
    /// Whether squares of the features improve on a straight line.
    Curvature {
        /// The option.
        option: String,
        /// Its rows.
        rows: u64,
        /// The probability of so much bend if the line is straight; null where there are too few rows to say.
        p_value: Option<f64>,
        /// How far the bent model is from a straight line at the ends of the feature where it is farthest, in units of the outcome.
        largest_bend: Option<f64>,
        /// That feature.
        feature: Option<String>,
        /// Share of the people for whom another option would be best if all lines were bent as estimated.
        decisions_changed: Option<f64>,
        /// What to be careful of.
        warning: Option<String>,
    },
    /// Whether outcomes scatter more than the document declares: then intervals are too short.
    Noise {
        /// The option.
        option: String,
        /// The noise of the document.
        declared: f64,
        /// The standard deviation of the outcomes about the fitted lines, bent where they bend.
        found: f64,
        /// What to be careful of.
        warning: Option<String>,
    },
    /// The jump of the outcome where one option gives way to the next, from people next to the cut alone.
    Jump {
        /// The option below and the one above.
        options: [String; 2],
        /// Where.
        cut: f64,
        /// How far from the cut people count.
        bandwidth: Option<f64>,
        /// The upper option's mean outcome less the lower one's, from those people.
        local: Option<f64>,
        /// Its standard error.
        standard_error: Option<f64>,
        /// Rows that it rests on, below and above.
        rows: Option<(u64, u64)>,
        /// The same difference by the model.
        model: f64,
        /// The model's interval.
        model_interval: [f64; 2],
        /// What to be careful of.
        warning: Option<String>,
    },
}

impl Check {
    /// What to be careful of.
    pub fn warning(&self) -> Option<&str> {
        match self {
            Self::Curvature { warning, .. } | Self::Noise { warning, .. } | Self::Jump { warning, .. } => {
                warning.as_deref()
            }
        }
    }
}

/// Every check of a log.
pub(crate) fn checks(ground: &Ground<'_>, tally: &Tally) -> Vec<Check> {
    let found: Vec<Result<Curvature, NoCurvature>> = tally.options().iter().map(Moments::curvature).collect();
    let mut checks = curvatures(ground, tally, &found);
    checks.extend(noises(ground.document, &found));
    checks.extend(jumps(ground, tally));
    checks
}

fn curvatures(ground: &Ground<'_>, tally: &Tally, found: &[Result<Curvature, NoCurvature>]) -> Vec<Check> {
    let document = ground.document;
    let changed = decisions_changed(ground, found);
    let limit = BENT / document.options().len() as f64;
    let names = document.coordinates();
    document
        .options()
        .iter()
        .zip(tally.options().iter().zip(found))
        .map(|(option, (moments, found))| {
            let bend = found.as_ref().ok().and_then(|found| {
                // (x−½)² is ¼ at the ends of the range and 0 in the middle.
                let terms = found.terms.iter().map(|term| (term.coordinate, 0.25 * term.coefficient));
                terms.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
            });
            let warning = match (found, changed) {
                (Ok(found), Some(share)) if found.p_value < limit && share >= BENT_DECISIONS => Some(format!(
                    "the outcome of {option} bends: with bent lines {:.1} % of people would be better off with another option than the straight \
                     ones say; add a feature that bends (a square, a band) or narrow the range",
                    100.0 * share
                )),
                (Ok(_) | Err(NoCurvature::NothingToBend), _) => None,
                (Err(reason), _) => Some(format!("{option}: {reason}")),
            };
            Check::Curvature {
                option: option.clone(),
                rows: moments.rows(),
                p_value: found.as_ref().ok().map(|found| found.p_value),
                largest_bend: bend.map(|(_, size)| document.outcome_sign() * size),
                feature: bend.map(|(coordinate, _)| names[coordinate].clone()),
                decisions_changed: changed.filter(|_| found.is_ok()),
                warning,
            }
        })
        .collect()
}

fn noises(document: &PolicyDocument, found: &[Result<Curvature, NoCurvature>]) -> Vec<Check> {
    let declared = document.noise();
    let options = document.options().iter().zip(found);
    let found = options.filter_map(|(option, found)| Some((option, found.as_ref().ok()?.residual_variance.sqrt())));
    found
        .map(|(option, found)| Check::Noise {
            option: option.clone(),
            declared,
            found,
            warning: (found > NOISIER * declared).then(|| {
                format!(
                    "the outcomes of {option} scatter by {} about their line, more than the declared noise of {}: every interval is too short; \
                     declare noise = {} or more",
                    short(round(found, 3)),
                    short(declared),
                    short(round(1.05 * found, 2))
                )
            }),
        })
        .collect()
}

/// The share of the people for whom the best option differs between bent and straight lines.
fn decisions_changed(ground: &Ground<'_>, found: &[Result<Curvature, NoCurvature>]) -> Option<f64> {
    let bent: Vec<&Curvature> = found.iter().map(Result::as_ref).collect::<Result<_, _>>().ok()?;
    let best = |values: &mut dyn Iterator<Item = f64>| {
        values
            .enumerate()
            .fold((0, f64::NEG_INFINITY), |best, (arm, value)| if value > best.1 { (arm, value) } else { best })
            .0
    };
    let people = ground.people.chunks_exact(ground.document.shape().dimension());
    let count = people.len();
    let differ = people.filter(|person| {
        let straight = best(&mut ground.statistics.arms().iter().map(|ridge| ridge.predict(person)));
        straight != best(&mut bent.iter().map(|bent| bent.predict(person)))
    });
    Some(differ.count() as f64 / count as f64)
}

fn jumps(ground: &Ground<'_>, tally: &Tally) -> Vec<Check> {
    let document = ground.document;
    let (Some(running), Some(jumps)) = (Running::of(document, document.rule()), tally.jumps()) else {
        return Vec::new();
    };
    let sign = document.outcome_sign();
    let cuts: Vec<Cut> = jumps.cuts().copied().collect();
    let report = |(at, cut): (usize, Cut)| {
        let found = jumps.jump(at, Kernel::Triangular, Bandwidth::Rule);
        let bandwidth = found.as_ref().map_or(10.0 * jumps.bin_width(), |jump| jump.bandwidth);
        let person = at_the_cut(ground, &running, cut.at, bandwidth);
        let Interval { estimate, lower, upper } = ground.set().difference_interval(&person, cut.upper, cut.lower);
        let options = [cut.lower, cut.upper].map(|option| document.options()[option].clone());
        let warning = match &found {
            Ok(jump) => disagreement(document, jump, sign * estimate, &options),
            Err(reason) => Some(format!(
                "{} and {} cannot be compared at {} by people next to it alone: {}",
                options[0],
                options[1],
                short(cut.at + running.offset),
                why_not(reason)
            )),
        };
        let ends = [sign * lower, sign * upper];
        Check::Jump {
            options,
            cut: running.cut_between(cut.lower, cut.upper).unwrap_or(cut.at + running.offset),
            bandwidth: found.as_ref().ok().map(|jump| jump.bandwidth),
            local: found.as_ref().ok().map(|jump| sign * jump.estimate),
            standard_error: found.as_ref().ok().map(|jump| jump.standard_error),
            rows: found.as_ref().ok().map(|jump| jump.rows),
            model: sign * estimate,
            model_interval: [ends[0].min(ends[1]), ends[0].max(ends[1])],
            warning,
        }
    };
    cuts.into_iter().enumerate().map(report).collect()
}

fn disagreement(document: &PolicyDocument, jump: &Jump, model: f64, options: &[String; 2]) -> Option<String> {
    let local = document.outcome_sign() * jump.estimate;
    let far = (local - model).abs() > (DISAGREES * jump.standard_error).max(ROUNDING * (1.0 + model.abs()));
    far.then(|| {
        format!(
            "people next to the cut say that {} gives {} more than {} there (standard error {}), the straight lines say {}: the lines do not \
             fit near the cut",
            options[1],
            short(local),
            options[0],
            short(jump.standard_error),
            short(model)
        )
    })
}

fn why_not(reason: &NoJump) -> String {
    match reason {
        NoJump::TooFewRows { rows, side, .. } => format!("there are only {rows} {side} it"),
        NoJump::OneValue { side, .. } => format!("those {side} it all have one value"),
        NoJump::NotABandwidth { .. } => reason.to_string(),
    }
}

/// The average of the people near a cut, moved onto it.
fn at_the_cut(ground: &Ground<'_>, running: &Running, cut: f64, bandwidth: f64) -> Vec<f64> {
    let direction = &running.ladder.direction;
    let d = direction.len();
    let mut sum = vec![0.0; d];
    let mut total = 0.0;
    for person in ground.people.chunks_exact(d) {
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
