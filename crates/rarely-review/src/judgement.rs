//! The judgement of a rule: keep it or change it, and to what, from the confidence set alone.

use rarely_core::{Cause, Contexts, Interval, Parameters, Thresholds};
use rarely_policy::WrittenRule;
use serde::{Deserialize, Serialize};

use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::proposed_change::{ProposedChange, Unproposed, propose};
use crate::running_variable::RunningVariable;
use crate::tally::Tally;
use crate::verdict::Verdict;

/// The verdict and what it rests on. A live policy asks for it after every few outcomes, so that it holds nothing that needs a
/// simulation or a check of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Where the rule in force stands.
    pub standing: Standing,
    /// Keep, change, or cannot tell.
    pub verdict: Verdict,
    /// Why the data do not decide, or why no change is proposed after all.
    pub reasons: Vec<VerdictReason>,
    /// What to change to.
    pub proposal: Option<ProposedChange>,
}

/// Why a rule is kept although the algorithm asks for a change or a boundary is implausible, or why the data do not decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum VerdictReason {
    /// The change would gain less than the document's minimum.
    GainTooSmall {
        /// Why the algorithm asks for a change.
        cause: Cause,
        /// The gain of that change per case.
        gain: Interval,
        /// The minimum.
        minimum: f64,
    },
    /// The rule that the algorithm asks for is the rule in force.
    SameRule {
        /// Whether that is so only once its numbers are rounded.
        rounded: bool,
    },
    /// A boundary is implausible, but the document's algorithm does not act on it.
    NotActedOn {
        /// The options of the boundary, as indices into the document's.
        options: (usize, usize),
    },
    /// Any boundary between two options is plausible.
    NotToldApart {
        /// The options, as indices into the document's.
        options: (usize, usize),
        /// Rows of each.
        rows: (u64, u64),
    },
}

/// Where the rule in force stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The radius of the confidence set.
    pub radius: f64,
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
/// [`ReviewError`] if the document's settings exclude each other.
pub fn examine(base: &EvidenceBase<'_>, tally: &Tally) -> Result<Judgement, ReviewError> {
    let rule = base.document.rule();
    let standing = standing(base, rule)?;
    let (proposal, mut reasons) = match propose(base, tally, rule)? {
        Ok(proposal) => (Some(proposal), Vec::new()),
        Err(Unproposed::NotAsked) => (None, Vec::new()),
        Err(Unproposed::For(reason)) => (None, vec![reason]),
    };
    let unknown = if proposal.is_some() { Vec::new() } else { not_told_apart(base, rule, &standing)? };
    let verdict = match (&proposal, unknown.is_empty()) {
        (Some(_), _) => Verdict::Change,
        (None, true) => Verdict::Keep,
        (None, false) => Verdict::CannotTell,
    };
    if verdict == Verdict::Keep && reasons.is_empty() {
        let implausible = standing.boundaries.iter().find(|pair| !pair.plausible);
        reasons.extend(implausible.map(|pair| VerdictReason::NotActedOn { options: pair.options }));
    }
    reasons.extend(unknown);
    Ok(Judgement { standing, verdict, reasons, proposal })
}

fn standing(base: &EvidenceBase<'_>, rule: &WrittenRule) -> Result<Standing, ReviewError> {
    let (set, most_plausible) = (base.set(), base.most_plausible(rule));
    let running = RunningVariable::of(base.document, rule);
    let nothing = Parameters::zeros(most_plausible.shape());
    let boundaries = set.boundaries(&most_plausible).into_iter().map(|boundary| {
        let (i, j) = boundary.arms;
        let (threshold, interval) = place(base, &most_plausible, running.as_ref(), (i, j));
        PairBoundary {
            options: boundary.arms,
            plausible: boundary.plausible,
            angle_degrees: boundary.angle_degrees,
            // Parameters that are equal for both: if they are plausible, any boundary is.
            told_apart: !set.boundary(&nothing, i, j).plausible,
            threshold,
            interval,
        }
    });
    Ok(Standing {
        radius: set.radius(),
        estimates: base.statistics.estimates(),
        boundaries: boundaries.collect(),
        jointly_plausible: set.is_jointly_plausible(&most_plausible),
        max_cosine: set.conservative(&most_plausible).cosine,
        excluded_share: set.excluded_share(&rarely_core::Rule::new(most_plausible.clone()), base.contexts())?,
        most_plausible,
    })
}

/// Where a pair's boundary is on the only feature, or on the rule's score, and where it may be; in the owner's units.
fn place(
    base: &EvidenceBase<'_>,
    most_plausible: &Parameters,
    running: Option<&RunningVariable>,
    (i, j): (usize, usize),
) -> (Option<f64>, Option<Thresholds>) {
    let (document, set) = (base.document, base.set());
    let cut = running.and_then(|running| running.cut_between(i, j));
    let only = document.features().first().and_then(rarely_policy::Feature::range);
    if let (2, true, Some((low, high))) = (document.shape().dimension(), document.has_intercept(), only) {
        let to_raw = |x: f64| low + x * (high - low);
        let difference = |at: usize| most_plausible.arm(i)[at] - most_plausible.arm(j)[at];
        let crossing = || (difference(1) != 0.0).then(|| to_raw(-difference(0) / difference(1)));
        let within = |at: &f64| (low..=high).contains(at);
        // A threshold or a score passes only between neighbours; of a linear rule every crossing in range is looked at.
        let place = match document.rule() {
            WrittenRule::Threshold(_) => cut,
            WrittenRule::Score(_) => cut.and_then(|_| crossing()),
            WrittenRule::Linear(_) => crossing().filter(within),
        };
        return (place, set.thresholds(i, j).map(|plausible| mapped(plausible, to_raw)));
    }
    let step = cut.zip(running);
    let interval = step.map(|(_, running)| mapped(set.cuts(i, j, &running.ladder.direction), |x| x + running.offset));
    (cut, interval)
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

/// The pairs that the data do not tell apart and of which the rule gives at least one option.
fn not_told_apart(
    base: &EvidenceBase<'_>,
    rule: &WrittenRule,
    standing: &Standing,
) -> Result<Vec<VerdictReason>, ReviewError> {
    let played = played(base, rule, base.contexts())?;
    let rows = |option: usize| base.statistics.arm(option).count();
    let open = standing.boundaries.iter().filter(|pair| !pair.told_apart);
    let relevant = open.filter(|pair| played[pair.options.0] || played[pair.options.1]);
    let reason = |pair: &PairBoundary| VerdictReason::NotToldApart {
        options: pair.options,
        rows: (rows(pair.options.0), rows(pair.options.1)),
    };
    Ok(relevant.map(reason).collect())
}

fn played(base: &EvidenceBase<'_>, rule: &WrittenRule, people: Contexts<'_>) -> Result<Vec<bool>, ReviewError> {
    let mut played = vec![false; base.document.options().len()];
    for arm in rarely_core::Rule::new(rule.parameters(base.document)).choose_many(people)? {
        played[arm.index()] = true;
    }
    Ok(played)
}
