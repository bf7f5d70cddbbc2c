//! Finds the options that are played somewhere within the features' ranges.

use rarely_core::Parameters;

use super::SAME;
use crate::document::PolicyDocument;
use crate::feature::FeatureKind;

/// Halvings of the interval in which two options' best mixture is sought.
const STEPS: usize = 100;
/// The golden section.
const SECTION: f64 = 0.618_033_988_749_894_9;

/// The options in play if there are one or two; `None` if there are more.
///
/// An option `c` is never played beside `a` and `b` if and only if some mixture `w·a + (1−w)·b` is nowhere below `c` (minimax, over
/// the convex hull of the contexts): the best mixture is sought, and its lowest point looked up feature by feature.
pub(super) fn at_most_two(document: &PolicyDocument, parameters: &Parameters) -> Option<Vec<usize>> {
    let arms = parameters.shape().arms();
    let size = spread(parameters);
    let first = leader(parameters, &document.encoder().blank());
    let challenger = (0..arms).find_map(|arm| {
        let (lead, context) = lowest(document, &difference(parameters.arm(first), parameters.arm(arm)));
        (lead < -SAME * size).then(|| leader(parameters, &context))
    });
    let Some(second) = challenger else { return Some(vec![first]) };
    let pair = vec![first.min(second), first.max(second)];
    let (a, b) = (parameters.arm(pair[0]), parameters.arm(pair[1]));
    let mut others = (0..arms).filter(|arm| !pair.contains(arm));
    let covered = others.all(|arm| best_mixture(document, a, b, parameters.arm(arm)) >= -SAME * size);
    covered.then_some(pair)
}

/// The lowest and the highest of `direction·s` over all possible contexts.
pub(super) fn reach(document: &PolicyDocument, direction: &[f64]) -> (f64, f64) {
    let negative: Vec<f64> = direction.iter().map(|value| -value).collect();
    (lowest(document, direction).0, -lowest(document, &negative).0)
}

/// The lowest of `vector·s` over all possible contexts, and where it is.
fn lowest(document: &PolicyDocument, vector: &[f64]) -> (f64, Vec<f64>) {
    let mut context = vec![0.0; vector.len()];
    let mut value = 0.0;
    if document.has_intercept() {
        context[0] = 1.0;
        value = vector[0];
    }
    for (index, feature) in document.features().iter().enumerate() {
        let at = document.offset(index);
        let count = match &feature.kind {
            FeatureKind::Numeric { .. } => 1,
            FeatureKind::Levels(levels) => levels.len() - 1,
        };
        let own = &vector[at..at + count];
        let best = (0..count).min_by(|&i, &j| own[i].total_cmp(&own[j])).filter(|&place| own[place] < 0.0);
        if let Some(place) = best {
            context[at + place] = 1.0;
            value += own[place];
        }
    }
    (value, context)
}

/// `max_w min_s (w·a + (1−w)·b − c)·s`, concave in `w`.
fn best_mixture(document: &PolicyDocument, a: &[f64], b: &[f64], c: &[f64]) -> f64 {
    let value = |w: f64| {
        let mixed: Vec<f64> = (0..a.len()).map(|at| w * a[at] + (1.0 - w) * b[at] - c[at]).collect();
        lowest(document, &mixed).0
    };
    let (mut low, mut high) = (0.0, 1.0);
    let mut best = value(0.0).max(value(1.0));
    for _ in 0..STEPS {
        let (left, right) = (high - SECTION * (high - low), low + SECTION * (high - low));
        let (at_left, at_right) = (value(left), value(right));
        best = best.max(at_left).max(at_right);
        if at_left < at_right {
            low = left;
        } else {
            high = right;
        }
    }
    best
}

fn leader(parameters: &Parameters, context: &[f64]) -> usize {
    let score = |vector: &[f64]| vector.iter().zip(context).map(|(a, b)| a * b).sum::<f64>();
    let (mut best, mut highest) = (0, f64::NEG_INFINITY);
    for (arm, vector) in parameters.iter().enumerate() {
        if score(vector) > highest {
            (best, highest) = (arm, score(vector));
        }
    }
    best
}

/// The largest difference between two options' coefficients.
fn spread(parameters: &Parameters) -> f64 {
    let dimension = parameters.shape().dimension();
    let of = |at: usize| {
        let values: Vec<f64> = parameters.iter().map(|vector| vector[at]).collect();
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - values.iter().copied().fold(f64::INFINITY, f64::min)
    };
    (0..dimension).map(of).fold(0.0, f64::max)
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
