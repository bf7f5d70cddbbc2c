//! The review: keep the rule or change it, to what, on what evidence.

use rarely_core::{Certificate, Change, Contexts, Parameters, Population, Stuck, Thresholds};
use rarely_policy::{Digits, WrittenRule};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::checks::{Check, checks};
use crate::error::ReviewError;
use crate::ground::Ground;
use crate::moments::Moments;
use crate::own_form::in_form;
use crate::remedy::{Remedy, remedy};
use crate::running::Running;
use crate::simplest::simplest;
use crate::support::{Thin, thin};
use crate::tally::Tally;
use crate::who::{Who, who};
use crate::words;

/// What came of a review.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// Rows of each option.
    pub per_option: Vec<u64>,
    /// Rows that could not be used.
    pub rejected: u64,
    /// People on whom shares and gains are taken.
    pub people: usize,
    /// Where the rule in force stands.
    pub standing: Standing,
    /// Keep, change, or cannot tell.
    pub verdict: Verdict,
    /// Why it cannot be told, or why a change is not proposed after all.
    pub reasons: Vec<String>,
    /// What to change to.
    pub proposal: Option<Proposal>,
    /// What the log cannot say.
    pub gaps: Gaps,
    /// Whether the straight lines are good enough.
    pub checks: Vec<Check>,
}

/// The judgement alone, without what costs a simulation or is about the model: what a live policy asks again and again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Examined {
    /// Where the rule in force stands.
    pub standing: Standing,
    /// Keep, change, or cannot tell.
    pub verdict: Verdict,
    /// Why it cannot be told, or why a change is not proposed after all.
    pub reasons: Vec<String>,
    /// What to change to.
    pub proposal: Option<Proposal>,
}

/// Keep, change, or cannot tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The rule is plausible.
    Keep,
    /// The rule is not, and there is a better one.
    Change,
    /// The data do not tell the rule from its opposite.
    CannotTell,
}

/// Where the rule in force stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Of the confidence set.
    pub radius: f64,
    /// The options' estimates, in context coordinates, of the reward.
    pub estimates: Parameters,
    /// The parameters under which the rule is most plausible.
    pub stance: Parameters,
    /// Every pair of options.
    pub boundaries: Vec<PairBoundary>,
    /// Whether all boundaries are plausible at once.
    pub jointly_plausible: bool,
    /// The largest cosine of a plausible policy with the rule.
    pub max_cosine: f64,
    /// Share of the people given an option that the data rule out.
    pub excluded_share: f64,
}

/// What the data say of the boundary between two options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairBoundary {
    /// The options, as places in the document.
    pub options: (usize, usize),
    /// Whether it is plausible.
    pub plausible: bool,
    /// Degrees to the nearest plausible one.
    pub angle_degrees: f64,
    /// Whether the data tell the two options apart at all: if not, every boundary between them is plausible.
    pub told_apart: bool,
    /// Where it is on the rule's running variable, in the owner's units.
    pub threshold: Option<f64>,
    /// Where it may be.
    pub interval: Option<Thresholds>,
}

/// A change that is proposed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// The simplest rule that is justified; the exact one, where the document asks for all digits.
    pub rule: WrittenRule,
    /// The rule that the algorithm asks for, to all its digits.
    pub exact: WrittenRule,
    /// Why it is of another form than the rule in force, if it is.
    pub note: Option<String>,
    /// What made the rule in force untenable.
    pub cause: String,
    /// The proposed rule's certificate.
    pub certificate: Certificate,
    /// The exact rule's.
    pub exact_certificate: Certificate,
    /// Who changes.
    pub who: Who,
}

/// What the log cannot say.
#[derive(Debug, Clone, PartialEq)]
pub struct Gaps {
    /// Options that may be best for many and that nobody gets.
    pub stuck: Vec<Stuck>,
    /// Where options were never or hardly tried.
    pub thin: Vec<Thin>,
    /// What would settle an open question.
    pub remedy: Option<Remedy>,
}

/// Reviews the rule of the ground's document on the sums of a log: [`examine`], then [`complete`].
///
/// # Errors
/// [`ReviewError`] if the document's settings exclude each other.
pub fn review(ground: &Ground<'_>, tally: &Tally) -> Result<Review, ReviewError> {
    complete(ground, tally, examine(ground, tally)?)
}

/// A judgement that was made, with what the log cannot say and the checks of the model.
///
/// # Errors
/// [`ReviewError`] if the people do not fit.
pub fn complete(ground: &Ground<'_>, tally: &Tally, examined: Examined) -> Result<Review, ReviewError> {
    let Examined { standing, verdict, reasons, proposal } = examined;
    let population = Population::supplied(ground.contexts())?;
    let stuck = ground.set().stuck(&population);
    let open = verdict == Verdict::CannotTell || !stuck.is_empty();
    let gaps = Gaps {
        thin: thin(ground, tally),
        remedy: if open { Some(remedy(ground, &standing, &stuck)?) } else { None },
        stuck,
    };
    Ok(Review {
        per_option: tally.options().iter().map(Moments::rows).collect(),
        rejected: tally.rejected(),
        people: ground.contexts().len(),
        standing,
        verdict,
        reasons,
        proposal,
        gaps,
        checks: checks(ground, tally),
    })
}

/// Judges the rule of the ground's document on the sums of a log: keep it or change it, and to what.
///
/// # Errors
/// [`ReviewError`] if the document's settings exclude each other.
pub fn examine(ground: &Ground<'_>, tally: &Tally) -> Result<Examined, ReviewError> {
    let rule = ground.document.rule();
    let standing = standing(ground, rule)?;
    let mut reasons = Vec::new();
    let proposal = propose(ground, tally, rule, &mut reasons)?;
    let unknown = if proposal.is_some() { Vec::new() } else { not_told_apart(ground, rule, &standing)? };
    let verdict = match (&proposal, unknown.is_empty()) {
        (Some(_), _) => Verdict::Change,
        (None, true) => Verdict::Keep,
        (None, false) => Verdict::CannotTell,
    };
    if verdict == Verdict::Keep && reasons.is_empty() {
        reasons.extend(words::kept_though_implausible(ground.document, &standing));
    }
    reasons.extend(unknown);
    Ok(Examined { standing, verdict, reasons, proposal })
}

impl Review {
    /// Rows that were used.
    pub fn rows(&self) -> u64 {
        self.per_option.iter().sum()
    }
}

impl Proposal {
    /// By what the change is certified: `plausible` (every boundary of the proposed rule is), `gain` (the lower end is above 0),
    /// `theorem-3` (two context variables: it does not raise expected regret whatever the people are).
    pub fn certified_by(&self) -> Vec<&'static str> {
        let certificate = &self.certificate;
        let plausible = certificate.boundaries.iter().all(|boundary| boundary.after.plausible);
        let theorem = certificate.theorem_three.is_some_and(|conditions| conditions.certifies());
        [("plausible", plausible), ("gain", certificate.gain.interval.lower > 0.0), ("theorem-3", theorem)]
            .into_iter()
            .filter_map(|(name, holds)| holds.then_some(name))
            .collect()
    }
}

impl Verdict {
    /// `keep`, `change`, `cannot tell`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Change => "change",
            Self::CannotTell => "cannot tell",
        }
    }
}

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let verdicts = [Self::Keep, Self::Change, Self::CannotTell];
        let unknown = || de::Error::unknown_variant(&name, &["keep", "change", "cannot tell"]);
        verdicts.into_iter().find(|verdict| verdict.name() == name).ok_or_else(unknown)
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The change that the document's algorithm asks for, in the owner's form, if there is one that alters a decision and gains enough;
/// where it falls short, the reason is added.
///
/// # Errors
/// As [`Ground::reconsider`].
pub(crate) fn propose(
    ground: &Ground<'_>,
    tally: &Tally,
    rule: &WrittenRule,
    reasons: &mut Vec<String>,
) -> Result<Option<Proposal>, ReviewError> {
    let Change::Switched(evidence) = ground.reconsider(rule)? else {
        return Ok(None);
    };
    let form = in_form(ground, rule, &evidence.to)?;
    let cause = words::cause(ground.document, &evidence.cause);
    let exact_certificate = ground.certify(rule, &form.rule)?;
    if !ground.gains_enough(exact_certificate.gain.interval) {
        reasons.push(format!(
            "{cause}, but the change would gain too little: {} a case, where the document asks for {}",
            words::gain(exact_certificate.gain.interval),
            words::number(ground.document.change().minimum_gain, 6)
        ));
        return Ok(None);
    }
    let (simple, in_force) = match ground.document.change().digits {
        Digits::Fewest => (
            simplest(ground, rule, &form.rule)?,
            "rounded to as many digits as are justified, the estimate is the rule in force",
        ),
        Digits::All => (form.rule.clone(), "the estimate is the rule in force"),
    };
    if simple == *rule {
        reasons.push(in_force.to_owned());
        return Ok(None);
    }
    Ok(Some(Proposal {
        certificate: if simple == form.rule { exact_certificate.clone() } else { ground.certify(rule, &simple)? },
        who: who(ground, tally, rule, &simple)?,
        rule: simple,
        exact: form.rule,
        note: form.note,
        cause,
        exact_certificate,
    }))
}

fn standing(ground: &Ground<'_>, rule: &WrittenRule) -> Result<Standing, ReviewError> {
    let (set, stance) = (ground.set(), ground.stance(rule));
    let running = Running::of(ground.document, rule);
    let nothing = Parameters::zeros(stance.shape());
    let boundaries = set.boundaries(&stance).into_iter().map(|boundary| {
        let (i, j) = boundary.arms;
        let (threshold, interval) = place(ground, &stance, running.as_ref(), (i, j));
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
        estimates: ground.statistics.estimates(),
        boundaries: boundaries.collect(),
        jointly_plausible: set.is_jointly_plausible(&stance),
        max_cosine: set.conservative(&stance).cosine,
        excluded_share: set.excluded_share(&rarely_core::Rule::new(stance.clone()), ground.contexts())?,
        stance,
    })
}

/// Where a pair's boundary is on the only feature, or on the rule's score, and where it may be; in the owner's units.
fn place(
    ground: &Ground<'_>,
    stance: &Parameters,
    running: Option<&Running>,
    (i, j): (usize, usize),
) -> (Option<f64>, Option<Thresholds>) {
    let (document, set) = (ground.document, ground.set());
    let cut = running.and_then(|running| running.cut_between(i, j));
    let only = document.features().first().and_then(rarely_policy::Feature::range);
    if let (2, true, Some((low, high))) = (document.shape().dimension(), document.has_intercept(), only) {
        let to_raw = |x: f64| low + x * (high - low);
        let difference = |at: usize| stance.arm(i)[at] - stance.arm(j)[at];
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

/// The pairs that the data do not tell apart, of which the rule plays at least one.
fn not_told_apart(ground: &Ground<'_>, rule: &WrittenRule, standing: &Standing) -> Result<Vec<String>, ReviewError> {
    let played = played(ground, rule, ground.contexts())?;
    let names = ground.document.options();
    let count = |option: usize| ground.statistics.arm(option).count();
    let open = standing.boundaries.iter().filter(|pair| !pair.told_apart);
    let relevant = open.filter(|pair| played[pair.options.0] || played[pair.options.1]);
    Ok(relevant
        .map(|pair| {
            let (i, j) = pair.options;
            format!(
                "the log does not tell {} ({} rows) from {} ({} rows): any boundary between them is still plausible",
                names[i],
                count(i),
                names[j],
                count(j)
            )
        })
        .collect())
}

fn played(ground: &Ground<'_>, rule: &WrittenRule, people: Contexts<'_>) -> Result<Vec<bool>, ReviewError> {
    let mut played = vec![false; ground.document.options().len()];
    for arm in rarely_core::Rule::new(rule.parameters(ground.document)).choose_many(people)? {
        played[arm.index()] = true;
    }
    Ok(played)
}
