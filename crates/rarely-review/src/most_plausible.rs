//! The parameters under which an owner's rule is most plausible.
//!
//! A threshold or a score says where one option gives way to the next, not by how much it is better there: with three or more
//! options, many parameters make the same decisions. A rule is implausible only if all of them are. So the rule stands for those
//! among them that are nearest to the estimates, `θ_{i} − θ_{i−1} = a_i·(w, −cut_i)` with `a_i > 0` free.

use rarely_core::{Parameters, Shape, Statistics};
use rarely_policy::{PolicyDocument, WrittenRule};

use crate::least_squares::{combine, dot, nearest};

/// The smallest step between two options, relative to the estimates.
const LEAST_STEP: f64 = 1e-6;
/// How far an option that a rule never gives stays below the others, relative to the estimates.
const MARGIN: f64 = 1e-9;

/// The parameters that make the rule's decisions and are nearest to the estimates. Options that the rule does not name keep their
/// estimates, lowered just enough that none of the people gets them. A linear rule is its own parameters.
pub fn most_plausible(
    document: &PolicyDocument,
    rule: &WrittenRule,
    statistics: &Statistics,
    people: &[f64],
) -> Parameters {
    let Some(ladder) = rule.ladder(document) else {
        return rule.parameters(document);
    };
    let (shape, estimates) = (statistics.shape(), statistics.estimates());
    let size = size(&estimates);
    let steps = ladder.cuts.iter().enumerate().map(|(step, &cut)| {
        let mut boundary = ladder.direction.clone();
        boundary[0] = -cut;
        let least = LEAST_STEP * size / dot(&boundary, &boundary).sqrt().max(f64::MIN_POSITIVE);
        (at_options(shape, &ladder.options[step + 1..], &boundary), Some(least))
    });
    let shifts = shifts(shape, &ladder.options).map(|column| (column, None));
    let (columns, floors): (Vec<Vec<f64>>, Vec<Option<f64>>) = steps.chain(shifts).unzip();
    let mut values = combine(&columns, &nearest(statistics, &estimates, &columns, &floors));
    lower_unused(&mut values, &ladder.options, &estimates, people);
    Parameters::new(shape, values).unwrap_or_else(|_| rule.parameters(document))
}

/// A stack of parameters with one vector at some options, and nothing at the others.
pub(crate) fn at_options(shape: Shape, options: &[usize], vector: &[f64]) -> Vec<f64> {
    let d = shape.dimension();
    let mut column = vec![0.0; shape.parameters()];
    for &option in options {
        column[option * d..(option + 1) * d].copy_from_slice(vector);
    }
    column
}

/// A stack for each coordinate by which all used options may be shifted together: no decision depends on it.
pub(crate) fn shifts(shape: Shape, used: &[usize]) -> impl Iterator<Item = Vec<f64>> + '_ {
    (0..shape.dimension()).map(move |at| {
        let mut unit = vec![0.0; shape.dimension()];
        unit[at] = 1.0;
        at_options(shape, used, &unit)
    })
}

/// Gives the options that are not used their estimates, lowered just enough that none of the people gets them.
pub(crate) fn lower_unused(values: &mut [f64], used: &[usize], estimates: &Parameters, people: &[f64]) {
    let d = estimates.shape().dimension();
    for unused in (0..estimates.shape().arms()).filter(|arm| !used.contains(arm)) {
        let lead = people.chunks_exact(d).map(|person| {
            let score = |arm: usize| dot(&values[arm * d..(arm + 1) * d], person);
            let best = used.iter().map(|&option| score(option)).fold(f64::NEG_INFINITY, f64::max);
            dot(estimates.arm(unused), person) - best
        });
        let lead = lead.fold(0.0, f64::max);
        let part = &mut values[unused * d..(unused + 1) * d];
        part.copy_from_slice(estimates.arm(unused));
        part[0] -= lead + MARGIN * size(estimates);
    }
}

fn size(estimates: &Parameters) -> f64 {
    estimates.values().iter().fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()))
}
