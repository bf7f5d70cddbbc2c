//! Residuals from the nearest neighbours, which need no model of the outcome.

use std::ops::Range;

/// Neighbours that a residual compares with; more where distances tie.
const NEIGHBOURS: usize = 3;

/// Gaps that differ by less than this share of the larger one tie: rounding must not decide.
const TIE: f64 = 1.5e-8;
/// A smaller residual, as a share of the outcome, is rounding: equal outcomes have no noise.
const ROUNDING: f64 = 1e-13;

/// `√(J/(J+1))·(yᵢ − mean of the J nearest rows)` for each row, distances rising [calonico-2014; abadie-2006].
///
/// Its square has the expectation of the outcome's variance near the row, up to the slope between neighbours. Rows with the same distance
/// are neighbours of each other, all of them, and others join value by value, the nearer first and both where they tie, until there
/// are three.
pub(super) fn residuals(distance: &[f64], outcome: &[f64]) -> Vec<f64> {
    let groups: Vec<Range<usize>> = groups(distance).collect();
    let mut residuals = Vec::with_capacity(distance.len());
    for at in 0..groups.len() {
        let near = neighbourhood(distance, &groups, at);
        let total: f64 = outcome[near.clone()].iter().sum();
        let others = (near.len() - 1) as f64;
        residuals.extend(outcome[groups[at].clone()].iter().map(|own| {
            let mean = (total - own) / others;
            let off = own - mean;
            let is_noise = others > 0.0 && off.abs() > ROUNDING * own.abs().max(mean.abs());
            if is_noise { (others / (others + 1.0)).sqrt() * off } else { 0.0 }
        }));
    }
    residuals
}

/// The rows of each value.
fn groups(distance: &[f64]) -> impl Iterator<Item = Range<usize>> {
    distance.chunk_by(|a, b| a == b).scan(0, |start, group| {
        let range = *start..*start + group.len();
        *start = range.end;
        Some(range)
    })
}

/// The rows that those of a group are compared with, and the group itself.
fn neighbourhood(distance: &[f64], groups: &[Range<usize>], at: usize) -> Range<usize> {
    let gap =
        |group: Option<&Range<usize>>| group.map(|group| (distance[group.start] - distance[groups[at].start]).abs());
    let wanted = NEIGHBOURS.min(distance.len() - 1);
    let (mut first, mut last) = (at, at);
    while groups[last].end - groups[first].start - 1 < wanted {
        let before = gap(first.checked_sub(1).and_then(|before| groups.get(before)));
        let after = gap(groups.get(last + 1));
        let least = before.into_iter().chain(after).fold(f64::INFINITY, f64::min);
        let joins = |gap: Option<f64>| usize::from(gap.is_some_and(|gap| gap - least <= TIE * gap));
        (first, last) = (first - joins(before), last + joins(after));
    }
    groups[first].start..groups[last].end
}
