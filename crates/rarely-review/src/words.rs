//! Sentences about a review, with the owner's names and units.

use rarely_core::{Algorithm, Cause, Interval, Thresholds};
use rarely_policy::number::{round, short};
use rarely_policy::{Better, PolicyDocument};

use crate::review::{PairBoundary, Proposal, Standing};
use crate::who::Who;

/// Why a rule was reconsidered.
pub fn cause(document: &PolicyDocument, cause: &Cause) -> String {
    let names = document.options();
    match cause {
        Cause::Boundary { arms: (i, j), .. } => {
            format!("the boundary between {} and {} is implausible", names[*i], names[*j])
        }
        Cause::Population { share, limit } => format!(
            "{:.1} % of people get an option that the data rule out; {:.1} % are allowed",
            100.0 * share,
            100.0 * limit
        ),
        Cause::Gain { lower, minimum } => {
            format!(
                "a change is certain to gain {} a case, more than the minimum of {}",
                short(*lower),
                short(*minimum)
            )
        }
        Cause::Scheduled => "the algorithm follows the estimate at every review".to_owned(),
        other => other.to_string(),
    }
}

/// `between 128.3 and 131.7 mmHg`: where a boundary may be.
pub fn interval(thresholds: &Thresholds, unit: &str) -> String {
    let with_unit = |value: f64| with(&number(value, 4), unit);
    match *thresholds {
        Thresholds::Between { low, high } => format!("between {} and {}", number(low, 4), with_unit(high)),
        Thresholds::AtMost { high } => format!("at most {}", with_unit(high)),
        Thresholds::AtLeast { low } => format!("at least {}", with_unit(low)),
        Thresholds::Outside { low, high } => format!("at most {} or at least {}", number(low, 4), with_unit(high)),
        Thresholds::Everything => "anywhere".to_owned(),
        Thresholds::Nothing => "nowhere: no cut of this score is plausible".to_owned(),
    }
}

/// What the data say of one pair of options.
pub fn boundary(document: &PolicyDocument, pair: &PairBoundary) -> String {
    let names = document.options();
    let unit = unit(document);
    let (first, second) = (&names[pair.options.0], &names[pair.options.1]);
    let at = pair.threshold.map_or_else(String::new, |at| format!(" at {}", with(&number(at, 5), unit)));
    let allowed = pair
        .interval
        .as_ref()
        .map_or_else(String::new, |allowed| format!("; the data allow it {}", interval(allowed, unit)));
    let state = match (pair.plausible, pair.told_apart) {
        (true, true) => "plausible".to_owned(),
        (true, false) => "plausible, but so is any other: the data do not tell the two apart".to_owned(),
        (false, _) => format!("implausible, {:.1}° from the nearest plausible one", pair.angle_degrees),
    };
    format!("{first} / {second}{at}: {state}{allowed}")
}

/// What speaks against a proposal: bands whose interval includes harm, and gains that rest on extrapolation.
pub fn against(document: &PolicyDocument, proposal: &Proposal) -> Vec<String> {
    let Who { changed, untried, untried_gain, bands, .. } = &proposal.who;
    let mut found = Vec::new();
    if *untried > 0 {
        let gain = proposal.certificate.gain.interval.estimate;
        let part = if gain > 0.0 { 100.0 * (untried_gain.estimate / gain).clamp(0.0, 1.0) } else { 0.0 };
        found.push(format!(
            "extrapolation: {:.1} % of those who change get an option that was hardly ever tried on people like them; {part:.1} % of the gain rests on this",
            100.0 * *untried as f64 / *changed as f64,
        ));
    }
    for feature in 0..document.features().len() {
        let harmed =
            bands.iter().filter(|band| band.band.feature == feature && band.changed > 0 && band.gain.lower < 0.0);
        let places: Vec<String> =
            harmed.map(|band| format!("{} ({})", band.band.members(document), gain(band.gain))).collect();
        if !places.is_empty() {
            found.push(format!(
                "by {}, the gain may be harm at {}",
                document.features()[feature].column,
                places.join(", ")
            ));
        }
    }
    if proposal.certificate.gain.interval.lower < 0.0 {
        found.push(
            "over all people together the gain may still be harm: the lower end of its interval is below 0".to_owned(),
        );
    }
    found
}

/// `0.0106, −0.0032 to 0.0245`: three digits are enough to read.
pub fn gain(interval: Interval) -> String {
    format!("{}, {} to {}", number(interval.estimate, 3), number(interval.lower, 3), number(interval.upper, 3))
}

/// A number with so many digits, and a minus that is one.
pub fn number(value: f64, digits: usize) -> String {
    let text = short(round(value, digits));
    match text.strip_prefix('-') {
        Some(size) => format!("−{size}"),
        None => text,
    }
}

/// A share as `12.3 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// An estimate with its range, as `0.031 (0.021 to 0.041)`.
pub fn range(interval: Interval) -> String {
    let Interval { estimate, lower, upper } = interval;
    format!("{} ({} to {})", number(estimate, 3), number(lower, 3), number(upper, 3))
}

/// Why a rule is kept although a boundary of it is implausible, where that is so.
pub(crate) fn kept_though_implausible(document: &PolicyDocument, standing: &Standing) -> Option<String> {
    let pair = standing.boundaries.iter().find(|pair| !pair.plausible)?;
    let names = document.options();
    let algorithm = document.change().algorithm;
    let why = match algorithm {
        Algorithm::Rarely
        | Algorithm::BoundaryGreedy
        | Algorithm::BoundaryConservative
        | Algorithm::Greedy
        | Algorithm::Scheduled => "a plausible rule would give every one of these people the same option".to_owned(),
        _ => format!("{algorithm} acts only when {}", algorithm.info().trigger),
    };
    Some(format!(
        "the boundary between {} and {} is implausible, but {why}",
        names[pair.options.0], names[pair.options.1]
    ))
}

/// The unit of the rule's running variable: a threshold's feature's.
pub fn unit(document: &PolicyDocument) -> &str {
    let column = match document.rule() {
        rarely_policy::WrittenRule::Threshold(threshold) => Some(threshold.feature.as_str()),
        _ if document.features().len() == 1 => Some(document.features()[0].column.as_str()),
        _ => None,
    };
    let feature = column.and_then(|column| document.feature(column));
    feature.and_then(|(_, feature)| feature.unit()).unwrap_or_default()
}

fn with(value: &str, unit: &str) -> String {
    if unit.is_empty() { value.to_owned() } else { format!("{value} {unit}") }
}

/// What everything rests on: each statement of the document, its value, and what it means.
pub fn assumptions(document: &PolicyDocument) -> Vec<(&'static str, String, String)> {
    let evidence = document.evidence();
    let column = &document.outcome().column;
    let noise = if evidence.noise.is_none() { " It is half the outcome's range, which is always enough." } else { "" };
    let bound =
        if evidence.norm_bound.is_none() { format!(" {}.", document.norm_bound_reason()) } else { String::new() };
    vec![
        (
            "noise",
            format!("{} {column}", short(document.noise())),
            format!("How much the {column} of people with the same features and the same option differs (a standard deviation or more).{noise}"),
        ),
        (
            "norm bound",
            short(document.norm_bound()),
            format!("How large the options' coefficients can be together, with every feature's range taken as one unit.{bound}"),
        ),
        (
            "penalty",
            short(evidence.penalty),
            "How strongly estimates are drawn to 0 while there are few cases; with many cases it does not matter.".to_owned(),
        ),
        (
            "error probability",
            short(evidence.error_probability),
            "The probability that a range on this page misses the truth anywhere, for all reviews of this policy together, however often it is reviewed.".to_owned(),
        ),
        (
            "algorithm",
            document.change().algorithm.to_string(),
            "What says when the rule may change, and to what.".to_owned(),
        ),
        (
            "minimum gain",
            format!("{} {column}", short(document.change().minimum_gain)),
            "A change that is expected to gain less a case is not proposed.".to_owned(),
        ),
    ]
}

/// What the lines of a certificate are called, and what they mean; `surety` is the probability with which they hold.
pub fn certificate(surety: &str) -> [(&'static str, String); 4] {
    [
        (
            "gain a case",
            format!("Over all people, changed or not. With probability {surety} the true gain is within the range."),
        ),
        ("people who change", "They get another option than now.".to_owned()),
        ("given a ruled-out option", "For them another option is certainly better.".to_owned()),
        ("certified", format!("Each holds with probability {surety}, given the assumptions below.")),
    ]
}

/// By what a change is certified, in words; the names are those of [`Proposal::certified_by`].
pub fn certified<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let reasons: Vec<&str> = names
        .into_iter()
        .map(|name| match name {
            "plausible" => "every boundary of it is plausible",
            "gain" => "it is certain to gain",
            "theorem-3" => "it cannot do harm, whoever the people are (Theorem 3)",
            other => other,
        })
        .collect();
    if reasons.is_empty() { "by nothing: it is the best guess, and no more".to_owned() } else { reasons.join("; ") }
}

/// What a gain is measured in.
pub fn gain_unit(document: &PolicyDocument) -> String {
    let outcome = document.outcome();
    if outcome.better == Better::Lower { format!("{} less", outcome.column) } else { outcome.column.clone() }
}
