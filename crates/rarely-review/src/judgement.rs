//! The judgement of a rule: keep it or change it, and to what, by equivalence (mathematics §14).
//!
//! *Change* if the lower end of a candidate's gain is above the minimum, *keep* if the upper end of every candidate's is below what is worth
//! a change, *cannot tell* otherwise. Candidates that were confirmed are judged in a fixed order, that of their evidence in the proposing
//! part, each at the full error probability, until one fails: a wrong change then has at most the error probability of one. Sets hold for every
//! candidate at once and need no order.

use rarely_core::{Above, Interval, Parameters, Region, Thresholds};
use rarely_policy::WrittenRule;
use serde::{Deserialize, Serialize};

use crate::candidate_gain::{JudgedCandidate, JudgedGuardrail, gains};
use crate::demotion::{Demotion, Suspect};
use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::proposed_change::{ProposedChange, propose};
use crate::running_variable::RunningVariable;
use crate::tally::Tally;
use crate::trend::TrendFit;
use crate::verdict::Verdict;

/// The simplest candidate whose lower end is at least this share of the best one's is proposed.
const NEARLY_BEST: f64 = 0.9;
/// Numbers smaller than this, relative to the span of a running variable, are 0.
const NOTHING: f64 = 1e-9;

/// The verdict and what it rests on. A live policy asks for it after every few outcomes, so that it holds nothing that needs a
/// simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Where the rule in force stands.
    pub standing: Standing,
    /// Keep, change, or cannot tell.
    pub verdict: Verdict,
    /// Why the rule is kept, or why the data do not decide.
    pub reasons: Vec<VerdictReason>,
    /// The candidates for a change, the simplest first, with their gains.
    pub candidates: Vec<JudgedCandidate>,
    /// The best of them, as an index: the proposed one, or the one with the highest estimate.
    pub best: Option<usize>,
    /// The most that keeping the rule can cost per case, against the candidates; `None` if nothing bounds it.
    pub keeping_costs_at_most: Option<f64>,
    /// What to change to.
    pub proposal: Option<ProposedChange>,
}

/// Why a rule is kept, or why the data do not decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum VerdictReason {
    /// No candidate gains what is worth a change.
    NothingToGain {
        /// The most that any gains.
        most: f64,
        /// What is worth a change.
        worth: f64,
    },
    /// The best candidate's gain is neither shown nor ruled out.
    NotShown {
        /// Its gain.
        gain: Interval,
        /// What is worth a change.
        worth: f64,
        /// About how many further cases would decide, if the estimate is right.
        further_cases: Option<u64>,
        /// How many days they take at the log's own rate, where its times are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        further_days: Option<f64>,
    },
    /// A gain is shown only under an assumption that the log refutes.
    NotCertain {
        /// The gain.
        gain: Interval,
        /// What refutes it.
        demotion: Demotion,
    },
    /// A change gains, but it is not shown that an outcome that must not get worse does not.
    Guardrail {
        /// The gain of the change.
        gain: Interval,
        /// What it does to that outcome.
        guardrail: JudgedGuardrail,
    },
    /// There is nothing to compare the rule with: other options have too few cases.
    NothingToCompare {
        /// The options with too few cases, as indices into the document's.
        options: Vec<usize>,
    },
}

/// Where the rule in force stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The radius of the confidence set at planned looks; sharp sets, which hold at any time, have one for each pair and mark.
    pub radius: Option<f64>,
    /// The options' estimated parameters of the reward, in context coordinates.
    pub estimates: Parameters,
    /// The parameters under which the rule is most plausible.
    pub most_plausible: Parameters,
    /// Every pair of options.
    pub boundaries: Vec<PairBoundary>,
    /// Whether all boundaries are plausible at once.
    pub jointly_plausible: bool,
    /// The largest cosine of a plausible policy with the rule.
    pub max_cosine: f64,
    /// Share of the people who get an option that the data rule out.
    pub excluded_share: f64,
    /// Share of the people for whom all options are ruled out: outcomes before and after a mark contradict each other.
    #[serde(default)]
    pub contradicted_share: f64,
}

/// The boundary of a rule between two options, and what the data allow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairBoundary {
    /// The options, as indices into the document's.
    pub options: (usize, usize),
    /// Whether it is plausible.
    pub plausible: bool,
    /// Degrees to the nearest plausible one.
    pub angle_degrees: f64,
    /// Whether the data distinguish the two options: if not, every boundary between them is plausible.
    pub told_apart: bool,
    /// Where it is on the rule's running variable, in the owner's units.
    pub threshold: Option<f64>,
    /// Where it may be.
    pub interval: Option<Thresholds>,
}

/// Judges the rule in force: keep it or change it, and to what.
///
/// # Errors
/// [`ReviewError`] if the people do not fit.
pub fn examine(base: &EvidenceBase<'_>, tally: &Tally) -> Result<Judgement, ReviewError> {
    let standing = standing(base, base.document.rule())?;
    let mut candidates = gains(base)?;
    let minimum = base.document.change().minimum_gain;
    let passed = passed(base, &mut candidates, minimum);
    let (passed, guarded): (Vec<usize>, Vec<usize>) =
        passed.into_iter().partition(|&at| candidates[at].keeps_guardrails());
    let likeliest = highest(&candidates, |candidate| candidate.decisive().interval.estimate);
    // A change that is shown to break a guard-rail will never be made.
    let possible = candidates.iter().filter(|candidate| !candidate.breaks_a_guardrail());
    let most = possible.map(|candidate| candidate.decisive().interval.upper).fold(0.0, f64::max);
    let mut found = Judgement {
        standing,
        verdict: Verdict::CannotTell,
        reasons: Vec::new(),
        best: likeliest,
        keeping_costs_at_most: (likeliest.is_some() && most.is_finite()).then_some(most),
        proposal: None,
        candidates,
    };
    // What a refutation needs of the log, if there is anything to refute.
    let (trend, totals) =
        if passed.is_empty() { (None, Vec::new()) } else { (TrendFit::new(base, tally), tally.totals()) };
    for at in in_order_of_preference(&found.candidates, passed) {
        let judged = &found.candidates[at];
        let suspect = Suspect { base, totals: &totals, candidate: at, gain: judged };
        match refuted(&suspect, trend.as_ref())? {
            None => {
                found.proposal = Some(propose(base, tally, at, judged)?);
                (found.verdict, found.best) = (Verdict::Change, Some(at));
                found.reasons.clear();
                return Ok(found);
            }
            Some(demotion) if found.reasons.is_empty() => {
                let gain = judged.decisive().interval;
                found.best = Some(at);
                found.reasons.push(VerdictReason::NotCertain { gain, demotion });
            }
            Some(_) => {}
        }
    }
    contradicted(&mut found, minimum);
    let worth = worth(base, tally);
    if found.reasons.is_empty() && !guarded.is_empty() {
        stopped_by_guardrails(&mut found, guarded);
        if most < worth {
            found.verdict = Verdict::Keep;
            found.reasons.push(VerdictReason::NothingToGain { most, worth });
        }
    }
    let Some(best) = found.best else {
        found.reasons.push(VerdictReason::NothingToCompare { options: base.scarce_options().to_vec() });
        return Ok(found);
    };
    if !found.reasons.is_empty() {
        return Ok(found);
    }
    let gain = found.candidates[best].decisive().interval;
    if most < worth {
        found.verdict = Verdict::Keep;
        found.reasons.push(VerdictReason::NothingToGain { most, worth });
    } else {
        let further_cases = further_cases(gain, minimum, worth, tally.rows());
        let further_days = base.days_for(further_cases);
        found.reasons.push(VerdictReason::NotShown { gain, worth, further_cases, further_days });
    }
    Ok(found)
}

/// The candidates whose gain is shown. Those that were confirmed are judged one after the other, until one fails.
fn passed(base: &EvidenceBase<'_>, candidates: &mut [JudgedCandidate], minimum: f64) -> Vec<usize> {
    let mut passed = Vec::new();
    let mut failed = false;
    for &at in base.order() {
        let candidate = &mut candidates[at];
        candidate.judged = !failed;
        if failed {
            continue;
        }
        if candidate.decisive().interval.lower > minimum {
            passed.push(at);
        } else {
            failed = base.confirming().is_some();
        }
    }
    passed
}

/// The simplest of those that are nearly the best first, then the others by their lower ends.
fn in_order_of_preference(candidates: &[JudgedCandidate], mut passed: Vec<usize>) -> Vec<usize> {
    let lower = |at: usize| candidates[at].decisive().interval.lower;
    let best = passed.iter().map(|&at| lower(at)).fold(f64::NEG_INFINITY, f64::max);
    passed.sort_by(|&one, &other| {
        let nearly = |at: usize| lower(at) >= NEARLY_BEST * best;
        nearly(other).cmp(&nearly(one)).then(if nearly(one) && nearly(other) {
            one.cmp(&other)
        } else {
            lower(other).total_cmp(&lower(one))
        })
    });
    passed
}

/// What refutes the assumptions behind a candidate's gain, so that it is not proposed.
fn refuted(suspect: &Suspect<'_>, trend: Option<&TrendFit>) -> Result<Option<Demotion>, ReviewError> {
    let (base, judged) = (suspect.base, suspect.gain);
    if let Some(demotion) = disagreement(judged) {
        return Ok(Some(demotion));
    }
    if let (Some(trend), Some(part)) = (trend, base.confirming()) {
        let within = trend.gain(base, &part.functionals[suspect.candidate])?;
        if !(within.gain.lower > base.document.change().minimum_gain) {
            return Ok(Some(Demotion::Trend(within)));
        }
    }
    if judged.is_model_free() {
        return Ok(None);
    }
    Ok(suspect.declared().into_iter().next().or(suspect.curvature()?))
}

/// A gain that straight lines show and propensities deny: one of the two is wrong, so that neither a change nor keeping is certain.
fn contradicted(found: &mut Judgement, minimum: f64) {
    let shown = |at: &usize| found.candidates[*at].gain.interval.lower > minimum;
    let mut denied = (0..found.candidates.len()).filter(shown);
    let first = denied.find_map(|at| Some((at, disagreement(&found.candidates[at])?)));
    if let (true, Some((at, demotion))) = (found.reasons.is_empty(), first) {
        let gain = found.candidates[at].gain.interval;
        found.best = Some(at);
        found.reasons.push(VerdictReason::NotCertain { gain, demotion });
    }
}

/// Names the guard-rails that are in the way of the change that would have been preferred.
fn stopped_by_guardrails(found: &mut Judgement, guarded: Vec<usize>) {
    let Some(&at) = in_order_of_preference(&found.candidates, guarded).first() else { return };
    let candidate = &found.candidates[at];
    let in_the_way = candidate.guardrails.iter().filter(|guardrail| !guardrail.holds());
    let gain = candidate.decisive().interval;
    let reasons = in_the_way.map(|guardrail| VerdictReason::Guardrail { gain, guardrail: guardrail.clone() });
    found.reasons.extend(reasons);
    found.best = Some(at);
}

/// Whether straight lines and propensities have no gain in common.
fn disagreement(judged: &JudgedCandidate) -> Option<Demotion> {
    let found = judged.model_free?;
    let (linear, model_free) = (judged.gain.interval, found.gain.interval);
    judged.gain.contradicts(&found.gain).then_some(Demotion::Disagreement { linear, model_free })
}

/// The smallest gain that is worth a change: the document's, or, without a range of the outcome, a fiftieth of the outcomes' scatter.
pub(crate) fn worth(base: &EvidenceBase<'_>, tally: &Tally) -> f64 {
    let scatter = || crate::planned_radius::estimated_noise(&tally.totals()).unwrap_or(0.0);
    let minimum = base.document.change().minimum_gain;
    base.document.worth().unwrap_or_else(|| (0.02 * scatter()).max(minimum))
}

/// Cases besides the present ones after which the interval, shrinking with their square root, would decide.
fn further_cases(gain: Interval, minimum: f64, worth: f64, rows: u64) -> Option<u64> {
    let half_width = (gain.estimate - gain.lower).max(gain.upper - gain.estimate);
    let room = (gain.estimate - minimum).max(worth - gain.estimate);
    let times = (half_width / room) * (half_width / room);
    let further = (times - 1.0) * rows as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let rounded = rarely_policy::number::round(further.max(1.0), 2) as u64;
    (further.is_finite() && further < 1e12).then_some(rounded)
}

fn highest(candidates: &[JudgedCandidate], value: impl Fn(&JudgedCandidate) -> f64) -> Option<usize> {
    let numbered = candidates.iter().map(value).enumerate();
    // The first of equals: candidates come with the simplest first.
    numbered.reduce(|best, other| if other.1 > best.1 { other } else { best }).map(|(at, _)| at)
}

fn standing(base: &EvidenceBase<'_>, rule: &WrittenRule) -> Result<Standing, ReviewError> {
    let (region, most_plausible) = (base.region(), base.most_plausible(rule));
    let running = RunningVariable::of(base.document, rule);
    let nothing = Parameters::zeros(most_plausible.shape());
    let boundaries = region.boundaries(&most_plausible).into_iter().map(|boundary| {
        let (i, j) = boundary.arms;
        let (threshold, interval) = place(base, &most_plausible, running.as_ref(), (i, j));
        PairBoundary {
            options: boundary.arms,
            plausible: boundary.plausible,
            angle_degrees: boundary.angle_degrees,
            // Parameters that are equal for both: if they are plausible, any boundary is.
            told_apart: !region.boundary(&nothing, i, j).plausible,
            threshold,
            interval,
        }
    });
    let boundaries: Vec<PairBoundary> = boundaries.collect();
    Ok(Standing {
        radius: base.radius(),
        estimates: base.statistics.estimates(),
        // Both kinds of sets are of pairs.
        jointly_plausible: boundaries.iter().all(|pair| pair.plausible),
        boundaries,
        max_cosine: region.conservative(&most_plausible).cosine,
        contradicted_share: contradicted_share(base, &region)?,
        excluded_share: region.excluded_share(&rarely_core::Rule::new(most_plausible.clone()), base.contexts())?,
        most_plausible,
    })
}

/// The share of the people for whom sets that hold together have no option in common.
fn contradicted_share(base: &EvidenceBase<'_>, region: &Region<'_>) -> Result<f64, ReviewError> {
    let (people, mut contradicted) = (base.contexts(), 0_usize);
    for person in people.iter() {
        contradicted += usize::from(region.plausible_arms(person)?.is_empty());
    }
    Ok(contradicted as f64 / people.len() as f64)
}

/// Where a pair's boundary is on the rule's score, or on the only feature, and where it may be with the same option above it; in the
/// owner's units. The boundary is plausible if and only if it is where it may be.
fn place(
    base: &EvidenceBase<'_>,
    most_plausible: &Parameters,
    running: Option<&RunningVariable>,
    (i, j): (usize, usize),
) -> (Option<f64>, Option<Thresholds>) {
    let (document, region) = (base.document, base.region());
    if let Some(running) = running
        && let Some((lower, upper, cut)) = running.step_between(i, j)
    {
        let (low, high) = running.span();
        let to_raw = |x: f64| near_nothing(x + running.offset, high - low);
        let cuts = region.oriented_cuts(lower, upper, &running.ladder.direction, Above::Second);
        return (Some(cut), Some(mapped(cuts, to_raw)));
    }
    let only = document.features().first().and_then(rarely_policy::Feature::range);
    let (2, true, Some((low, high))) = (document.shape().dimension(), document.has_intercept(), only) else {
        return (None, None);
    };
    let to_raw = |x: f64| near_nothing(low + x * (high - low), high - low);
    let difference = |at: usize| most_plausible.arm(i)[at] - most_plausible.arm(j)[at];
    let crossing = (difference(1) != 0.0).then(|| to_raw(-difference(0) / difference(1)));
    let above = if difference(1) > 0.0 { Above::First } else { Above::Second };
    // A threshold or a score passes only between neighbours; of a linear rule every crossing in range is looked at.
    let is_linear = matches!(document.rule(), WrittenRule::Linear(_));
    let place = crossing.filter(|at| is_linear && (low..=high).contains(at));
    let interval = place.map(|_| mapped(region.oriented_cuts(i, j, &[0.0, 1.0], above), to_raw));
    (place, interval)
}

fn near_nothing(value: f64, span: f64) -> f64 {
    if value.abs() < NOTHING * span { 0.0 } else { value }
}

/// Thresholds in other, ascending units.
fn mapped(thresholds: Thresholds, map: impl Fn(f64) -> f64) -> Thresholds {
    match thresholds {
        Thresholds::Between { low, high } => Thresholds::Between { low: map(low), high: map(high) },
        Thresholds::AtMost { high } => Thresholds::AtMost { high: map(high) },
        Thresholds::AtLeast { low } => Thresholds::AtLeast { low: map(low) },
        Thresholds::Outside { low, high } => Thresholds::Outside { low: map(low), high: map(high) },
        Thresholds::Everything | Thresholds::Nothing => thresholds,
    }
}
