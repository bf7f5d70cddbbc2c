//! What the sums of a document's log are over.

use rarely_core::{Arm, Parameters, Statistics};
use rarely_policy::{FeatureKind, FeatureSource, PolicyDocument};

use crate::fixed_point::RewardGrid;
use crate::jump::{Cut, Jumps};
use crate::moments::Moments;
use crate::running_variable::RunningVariable;
use crate::stretch_sums::Stretch;
use crate::tally_error::TallyError;

/// The regression of every option from its sums.
///
/// # Errors
/// [`TallyError::Sums`] if the sums are too large for the penalty.
pub(crate) fn regression(document: &PolicyDocument, sums: &[Moments]) -> Result<Statistics, TallyError> {
    let mut statistics = Statistics::new(document.evidence().penalty, &Parameters::zeros(document.shape()));
    for (arm, option) in sums.iter().enumerate() {
        let (count, information, moment) = option.base();
        statistics.add_sums(Arm::new(arm), count, &information, &moment)?;
    }
    Ok(statistics)
}

/// Empty sums of each guard-rail.
pub(super) fn guardrail_sums(document: &PolicyDocument, weighted: bool) -> Vec<Stretch> {
    let sums = document.guardrails().iter().map(|guardrail| {
        let (low, high) = guardrail.good_range();
        let moments = Moments::new(document.shape().dimension(), &[], RewardGrid::of_range(low, high));
        let moments = if weighted { moments.weighted() } else { moments };
        Stretch::without_squares(&vec![moments; document.shape().arms()])
    });
    sums.collect()
}

/// The coordinates of numeric columns whose square is not a feature already.
pub(crate) fn numeric_coordinates(document: &PolicyDocument) -> impl Iterator<Item = usize> + '_ {
    bent_features(document).map(|at| document.offset(at))
}

/// The features of these coordinates.
pub(crate) fn bent_features(document: &PolicyDocument) -> impl Iterator<Item = usize> + '_ {
    let is_squared = |at: usize| document.features().iter().any(|feature| feature.source == FeatureSource::Square(at));
    let columns = document.feature_columns().iter().enumerate();
    columns
        .filter(move |(at, feature)| matches!(feature.kind, FeatureKind::Numeric { .. }) && !is_squared(*at))
        .map(|(at, _)| at)
}

/// The coordinates that say that a number is missing.
pub(super) fn missing_flags(document: &PolicyDocument) -> Vec<usize> {
    let features = document.features().iter().enumerate();
    let flags = features.filter(|(_, feature)| matches!(feature.source, FeatureSource::IsMissing(_)));
    flags.map(|(at, _)| document.offset(at)).collect()
}

/// The running variable of a document's rule, and empty sums at its cuts.
pub(super) fn at_the_cuts(document: &PolicyDocument) -> (Option<RunningVariable>, Option<Jumps>) {
    let running = RunningVariable::of(document, document.rule());
    let jumps = running.as_ref().and_then(|running| jumps(running, document));
    (running, jumps)
}

/// Empty sums at the cuts that lie within the span of a running variable.
fn jumps(running: &RunningVariable, document: &PolicyDocument) -> Option<Jumps> {
    let (low, high) = running.span();
    let within = running.steps().filter(|&(_, _, cut)| low < cut && cut < high);
    let cuts: Vec<Cut> = within.map(|(lower, upper, at)| Cut { at, lower, upper }).collect();
    let jumps = Jumps::new((low, high), document.shape().arms(), &cuts).ok()?;
    Some(jumps.of_outcomes(&reward_grids(document)))
}

/// The grid of each option's rewards: that of the outcome's range, less the option's cost.
pub(crate) fn reward_grids(document: &PolicyDocument) -> Vec<RewardGrid> {
    let Some((low, high)) = document.outcome().range else {
        return vec![RewardGrid::open(); document.shape().arms()];
    };
    let sign = document.outcome_sign();
    document.limits().costs().iter().map(|cost| RewardGrid::of_range(sign * low - cost, sign * high - cost)).collect()
}
