//! Where the rule in force stands.

use std::fmt::Write as _;

use rarely_core::Thresholds;
use rarely_policy::PolicyDocument;
use serde::Serialize;

use super::numbers::{number, percent, with_unit};
use super::units::running_unit;
use crate::judgement::{PairBoundary, Standing};
use crate::running_variable::RunningVariable;

/// Where the rule in force stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StandingFinding {
    /// The radius of the confidence set at planned looks; null for sharp sets, which have one for each pair and mark.
    pub radius: Option<f64>,
    /// Every pair of options.
    pub boundaries: Vec<BoundaryFinding>,
    /// Whether all boundaries are plausible at once.
    pub jointly_plausible: bool,
    /// The largest cosine of a plausible policy with the rule.
    pub max_cosine: f64,
    /// The people who get an option that the data rule out.
    pub excluded: ExcludedFinding,
}

/// The boundary between two options.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BoundaryFinding {
    /// The options.
    pub options: [String; 2],
    /// Whether it is plausible.
    pub plausible: bool,
    /// Degrees to the nearest plausible one.
    pub angle_degrees: f64,
    /// Whether the data distinguish the two options.
    pub told_apart: bool,
    /// Where it is on the rule's running variable, in the owner's units.
    pub threshold: Option<f64>,
    /// Where it may be.
    pub interval: Option<Thresholds>,
    /// What the data say about it.
    pub sentence: String,
}

/// The people who get an option that the data rule out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExcludedFinding {
    /// Their share.
    pub share: f64,
    /// What that means.
    pub sentence: String,
}

impl StandingFinding {
    pub(super) fn new(document: &PolicyDocument, standing: &Standing) -> Self {
        Self {
            radius: standing.radius,
            boundaries: standing.boundaries.iter().map(|pair| BoundaryFinding::new(document, pair)).collect(),
            jointly_plausible: standing.jointly_plausible,
            max_cosine: standing.max_cosine,
            excluded: ExcludedFinding::new(standing.excluded_share, standing.contradicted_share),
        }
    }
}

impl ExcludedFinding {
    fn new(share: f64, contradicted: f64) -> Self {
        let mut sentence = if share > 0.0 {
            format!(
                "{} of people get an option that the data rule out: for them another option is shown to be better.",
                percent(share)
            )
        } else {
            "Nobody gets an option that the data rule out.".to_owned()
        };
        if contradicted > 0.0 {
            let whom = percent(contradicted);
            let _ = write!(
                sentence,
                " For {whom} the log rules out every option: earlier and later cases contradict each other, so that an assumption of \
                 this review is wrong, or what has the error probability happened."
            );
        }
        Self { share, sentence }
    }
}

impl BoundaryFinding {
    fn new(document: &PolicyDocument, pair: &PairBoundary) -> Self {
        let (i, j) = pair.options;
        let options = [i, j].map(|option| document.options()[option].clone());
        Self {
            sentence: sentence(&options, pair, running_unit(document), declared_span(document)),
            options,
            plausible: pair.plausible,
            angle_degrees: pair.angle_degrees,
            told_apart: pair.told_apart,
            threshold: pair.threshold,
            interval: pair.interval,
        }
    }
}

/// `watch / treat at 140 mmHg: implausible, 12.4 mmHg from the nearest plausible cut. The data allow a cut …`
fn sentence([first, second]: &[String; 2], pair: &PairBoundary, unit: &str, span: Option<(f64, f64)>) -> String {
    let at = pair.threshold.map_or_else(String::new, |at| format!(" at {}", with_unit(&number(at, 5), unit)));
    let state = match (pair.plausible, pair.told_apart) {
        (true, true) => "plausible".to_owned(),
        (true, false) => "plausible, and so is any other".to_owned(),
        (false, _) => match pair.threshold.zip(pair.interval).and_then(|(at, allowed)| distance(at, allowed)) {
            Some(away) => format!("implausible, {} from the nearest plausible cut", with_unit(&number(away, 3), unit)),
            None => "implausible".to_owned(),
        },
    };
    let allowed = pair.interval.map(|allowed| span.map_or(allowed, |span| within(allowed, span)));
    let allowed = allowed.map_or_else(String::new, |allowed| format!(" {}", allowed_cuts(&allowed, unit)));
    format!("{first} / {second}{at}: {state}.{allowed}")
}

/// How far a cut is from the nearest one that the data allow; `None` if they allow none, or this one.
fn distance(at: f64, allowed: Thresholds) -> Option<f64> {
    let away = match allowed {
        Thresholds::Between { low, high } => (low - at).max(at - high),
        Thresholds::AtMost { high } => at - high,
        Thresholds::AtLeast { low } => low - at,
        Thresholds::Outside { low, high } => (at - low).min(high - at),
        Thresholds::Everything | Thresholds::Nothing => return None,
    };
    (away > 0.0).then_some(away)
}

/// The lowest and the highest value along which the rule cuts, as the document declares them.
fn declared_span(document: &PolicyDocument) -> Option<(f64, f64)> {
    let running = RunningVariable::of(document, document.rule());
    let span = running.map(|running| (running.span(), running.offset));
    let only = document.features().first().and_then(rarely_policy::Feature::range);
    span.map(|((low, high), offset)| (low + offset, high + offset)).or(only)
}

/// Cuts within what the document declares. One beyond it gives everyone the same option, wherever it is.
fn within(allowed: Thresholds, (lowest, highest): (f64, f64)) -> Thresholds {
    match allowed {
        Thresholds::Between { low, high } if low <= lowest && highest <= high => Thresholds::Everything,
        Thresholds::Between { low, high } if low <= lowest && lowest <= high => Thresholds::AtMost { high },
        Thresholds::Between { low, high } if low <= highest && highest <= high => Thresholds::AtLeast { low },
        Thresholds::AtMost { high } if highest <= high => Thresholds::Everything,
        Thresholds::AtLeast { low } if low <= lowest => Thresholds::Everything,
        Thresholds::Outside { low, high } if low < lowest && high <= highest => Thresholds::AtLeast { low: high },
        Thresholds::Outside { low, high } if highest < high && lowest <= low => Thresholds::AtMost { high: low },
        other => other,
    }
}

/// `The data allow a cut between 128.3 and 131.7 mmHg.`
fn allowed_cuts(thresholds: &Thresholds, unit: &str) -> String {
    let four = |value: f64| number(value, 4);
    let last = |value: f64| with_unit(&four(value), unit);
    let place = match *thresholds {
        Thresholds::Between { low, high } => format!("between {} and {}", four(low), last(high)),
        Thresholds::AtMost { high } => format!("at or below {}", last(high)),
        Thresholds::AtLeast { low } => format!("at or above {}", last(low)),
        Thresholds::Outside { low, high } => format!("at or below {}, or at or above {}", four(low), last(high)),
        Thresholds::Everything => "anywhere".to_owned(),
        Thresholds::Nothing => return "No cut of this score is plausible.".to_owned(),
    };
    format!("The data allow a cut {place}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_said_within_the_declared_range() {
        use Thresholds::{AtLeast, AtMost, Between, Everything, Nothing, Outside};
        for (allowed, said) in [
            (Between { low: 90.0, high: 130.0 }, Between { low: 90.0, high: 130.0 }),
            (Between { low: -40.0, high: 130.0 }, AtMost { high: 130.0 }),
            (Between { low: 130.0, high: 900.0 }, AtLeast { low: 130.0 }),
            (Between { low: -40.0, high: 900.0 }, Everything),
            // All of them give everyone the same option.
            (Between { low: 230.0, high: 900.0 }, Between { low: 230.0, high: 900.0 }),
            (AtMost { high: 230.0 }, Everything),
            (AtMost { high: 130.0 }, AtMost { high: 130.0 }),
            (AtLeast { low: 70.0 }, Everything),
            (Outside { low: 10.0, high: 130.0 }, AtLeast { low: 130.0 }),
            (Outside { low: 130.0, high: 230.0 }, AtMost { high: 130.0 }),
            (Outside { low: 90.0, high: 130.0 }, Outside { low: 90.0, high: 130.0 }),
            (Nothing, Nothing),
        ] {
            assert_eq!(within(allowed, (80.0, 220.0)), said, "{allowed:?}");
        }
    }
}
