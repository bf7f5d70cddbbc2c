//! Pictures of what a policy with two context variables knows: the paper's Figures 1b and 2, drawn from real state.

mod cone;
mod threshold;

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use rarely_core::Parameters;

pub use cone::{ConeState, cone_picture};
pub use threshold::{ThresholdState, threshold_picture};

/// An arm's name: given, or its number.
fn name_of(names: &[String], arm: usize) -> String {
    names.get(arm).cloned().unwrap_or_else(|| format!("arm {arm}"))
}

fn reward(policy: &Parameters, arm: usize, context: [f64; 2]) -> f64 {
    let vector = policy.arm(arm);
    vector[0] * context[0] + vector[1] * context[1]
}

/// The arm that a policy plays; ties go to the lowest, as everywhere.
fn best(policy: &Parameters, context: [f64; 2]) -> usize {
    let rewards = (0..policy.shape().arms()).map(|arm| reward(policy, arm, context));
    rewards.enumerate().fold((0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best }).0
}

/// A stretch of contexts at which one arm is played.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stretch {
    arm: usize,
    from: f64,
    to: f64,
}

/// Joins stretches between sorted places at which the same arm is played.
fn stretches(places: &[f64], played: impl Fn(f64) -> usize) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for pair in places.windows(2) {
        let arm = played(0.5 * (pair[0] + pair[1]));
        match found.last_mut() {
            Some(last) if last.arm == arm => last.to = pair[1],
            _ => found.push(Stretch { arm, from: pair[0], to: pair[1] }),
        }
    }
    found
}

/// The arms played along `x` when contexts are `(1, x)`.
fn along(policy: &Parameters, (low, high): (f64, f64)) -> Vec<Stretch> {
    let cuts = policy.shape().pairs().filter_map(|(i, j)| {
        let (first, second) = (policy.arm(i.index()), policy.arm(j.index()));
        let cut = -(first[0] - second[0]) / (first[1] - second[1]);
        (low < cut && cut < high).then_some(cut)
    });
    let mut places: Vec<f64> = cuts.chain([low, high]).collect();
    places.sort_by(f64::total_cmp);
    stretches(&places, |x| best(policy, [1.0, x]))
}

/// The arms played in each direction of the context, counter-clockwise; angles in radians, the first in `[0, 2π)`.
/// Empty if one arm is played everywhere.
fn around(policy: &Parameters) -> Vec<Stretch> {
    let mut angles: Vec<f64> = policy
        .shape()
        .pairs()
        .filter_map(|(i, j)| {
            let (first, second) = (policy.arm(i.index()), policy.arm(j.index()));
            let (x, y) = (first[0] - second[0], first[1] - second[1]);
            (x != 0.0 || y != 0.0).then(|| y.atan2(x) + FRAC_PI_2)
        })
        .flat_map(|angle| [angle.rem_euclid(TAU), (angle + PI).rem_euclid(TAU)])
        .collect();
    angles.sort_by(f64::total_cmp);
    angles.extend(angles.first().map(|first| first + TAU));
    let mut found = stretches(&angles, |angle| best(policy, [angle.cos(), angle.sin()]));
    if found.len() > 1 && found[0].arm == found[found.len() - 1].arm {
        // The first and the last are one stretch through the start.
        let first = found.remove(0);
        if let Some(last) = found.last_mut() {
            last.to = first.to + TAU;
        }
    }
    if found.len() < 2 { Vec::new() } else { found }
}

/// The convex hull of points in the plane, counter-clockwise (Andrew's monotone chain).
fn hull(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let half = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        let mut chain: Vec<(f64, f64)> = Vec::new();
        for point in points {
            while let [.., before, last] = chain[..] {
                let turn = (last.0 - before.0) * (point.1 - before.1) - (last.1 - before.1) * (point.0 - before.0);
                if turn > 0.0 {
                    break;
                }
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut corners = half(&mut sorted.iter().copied());
    corners.extend(half(&mut sorted.iter().rev().copied()));
    corners
}
