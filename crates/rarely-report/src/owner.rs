//! Numbers with the owner's names and units.

use rarely_core::{Arm, Interval, Rule as Decide};
use rarely_policy::{Better, Feature, PolicyDocument, WrittenRule, number};
use rarely_review::EvidenceBase;

/// Digits of a number beside a picture.
const DIGITS: usize = 4;

/// `systolic (mmHg)`.
pub(super) fn axis(feature: &Feature) -> String {
    feature.unit().map_or_else(|| feature.column.clone(), |unit| format!("{} ({unit})", feature.column))
}

/// `140 mmHg`.
pub(super) fn with_unit(value: f64, unit: Option<&str>) -> String {
    let value = number::short(number::round(value, DIGITS));
    unit.map_or_else(|| value.clone(), |unit| format!("{value} {unit}"))
}

/// `wellbeing (higher is better)`.
pub(super) fn outcome(document: &PolicyDocument) -> String {
    let better = if document.outcome().better == Better::Lower { "lower" } else { "higher" };
    format!("{} ({better} is better)", document.outcome().column)
}

/// An interval of rewards as one of outcomes.
pub(super) fn of_outcome(document: &PolicyDocument, interval: Interval) -> Interval {
    let sign = document.outcome_sign();
    let ends = [sign * interval.lower, sign * interval.upper];
    Interval { estimate: sign * interval.estimate, lower: ends[0].min(ends[1]), upper: ends[0].max(ends[1]) }
}

/// The lowest and the highest outcome that a picture can show: those of the declared range, less the costs of options where they have
/// some. `None` if no range is declared.
pub(super) fn outcome_range(document: &PolicyDocument) -> Option<(f64, f64)> {
    let (low, high) = document.outcome().range?;
    let shifts = document.limits().costs().iter().map(|cost| document.outcome_sign() * cost);
    let (least, most) = shifts.fold((0.0_f64, 0.0_f64), |(least, most), shift| (least.min(shift), most.max(shift)));
    Some((low - most, high - least))
}

/// An interval, cut off where outcomes end.
pub(super) fn within_range(document: &PolicyDocument, interval: Interval) -> Interval {
    let (low, high) = outcome_range(document).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    let inside = |end: f64| end.clamp(low, high);
    Interval { estimate: interval.estimate, lower: inside(interval.lower), upper: inside(interval.upper) }
}

/// What a rule gives to each of the people.
pub(super) fn given(base: &EvidenceBase<'_>, rule: &WrittenRule) -> Vec<Arm> {
    Decide::new(rule.parameters(base.document)).choose_many(base.contexts()).expect("checked with the base")
}
