//! Options that one weighted sum distinguishes: lines over it, and their upper envelope.

use indexmap::IndexMap;
use rarely_core::Parameters;

use super::{SAME, play};
use crate::document::PolicyDocument;
use crate::document::raw::ROUNDING;
use crate::number::snap;
use crate::rule::Coefficient;
use crate::rule::ladder::{HAIR, ScaledSum};

/// Options as lines over one direction: each scores `slope·u + height`, up to what is common to all, with `u = direction·s`.
pub(super) struct Lines {
    /// Over context coordinates, the intercept's 0.
    pub(super) direction: Vec<f64>,
    lines: Vec<Line>,
}

#[derive(Clone, Copy)]
struct Line {
    arm: usize,
    slope: f64,
    height: f64,
}

impl Lines {
    /// All options if their differences are parallel, else those in play if there are at most two.
    pub(super) fn of(document: &PolicyDocument, parameters: &Parameters) -> Option<Self> {
        let all: Vec<usize> = (0..parameters.shape().arms()).collect();
        Self::parallel(parameters, &all)
            .or_else(|| Self::parallel(parameters, &play::at_most_two(document, parameters)?))
    }

    fn parallel(parameters: &Parameters, arms: &[usize]) -> Option<Self> {
        let base = parameters.arm(arms[0]);
        let from_base = |arm: usize| -> Vec<f64> {
            let mut difference: Vec<f64> = parameters.arm(arm).iter().zip(base).map(|(a, b)| a - b).collect();
            difference[0] = 0.0;
            difference
        };
        let furthest = arms.iter().map(|&arm| from_base(arm)).max_by(|a, b| largest(a).total_cmp(&largest(b)));
        let mut direction = furthest.unwrap_or_default();
        if largest(&direction) <= ROUNDING * arms.iter().map(|&arm| largest(parameters.arm(arm))).fold(0.0, f64::max) {
            direction.fill(0.0);
        }
        let size = largest(&direction);
        // Scale first, so that no square overflows or underflows.
        let unit: Vec<f64> = direction.iter().map(|value| if size > 0.0 { value / size } else { 0.0 }).collect();
        let squared: f64 = unit.iter().map(|value| value * value).sum();
        let mut lines = Vec::new();
        for &arm in arms {
            let difference = from_base(arm);
            let along: f64 = difference.iter().zip(&unit).map(|(a, b)| a * b).sum();
            let slope = if size > 0.0 { along / squared / size } else { 0.0 };
            let astray = difference.iter().zip(&direction).any(|(a, b)| (a - slope * b).abs() > SAME * size);
            if size > 0.0 && astray {
                return None;
            }
            lines.push(Line { arm, slope, height: parameters.arm(arm)[0] - base[0] });
        }
        Some(Self { direction, lines })
    }

    /// The coordinate that matters most; `None` if none does.
    pub(super) fn main_coordinate(&self) -> Option<usize> {
        let size = largest(&self.direction);
        self.direction.iter().position(|value| value.abs() == size && size > 0.0)
    }

    /// The option that everyone gets where no coordinate matters.
    pub(super) fn highest(&self) -> usize {
        let first = self.lines[0];
        self.lines.iter().fold(first, |best, line| if line.height > best.height { *line } else { best }).arm
    }

    /// Keeps one coordinate only; `None` if another matters too.
    pub(super) fn keep_only(&mut self, at: usize) -> Option<()> {
        let size = self.direction[at].abs();
        let mut others = self.direction.iter_mut().enumerate().filter(|(place, _)| *place != at);
        others
            .all(|(_, value)| {
                let negligible = value.abs() <= SAME * size;
                *value = 0.0;
                negligible
            })
            .then_some(())
    }

    /// Scales the direction; a negative factor reverses it.
    pub(super) fn rescale(&mut self, factor: f64) {
        self.direction.iter_mut().for_each(|value| *value *= factor);
        self.lines.iter_mut().for_each(|line| line.slope /= factor);
    }

    /// Where one arm passes to the next, in raw units of these coefficients, and the arms from below; only within reach.
    pub(super) fn steps(
        &self,
        document: &PolicyDocument,
        coefficients: &IndexMap<String, Coefficient>,
    ) -> (Vec<f64>, Vec<usize>) {
        let scaled = ScaledSum::of(document, coefficients);
        let (low, high) = play::reach(document, &self.direction);
        // A cut at the lower edge was lowered beyond it.
        let low = low - 4.0 * HAIR * scaled.size;
        let value = |line: &Line, u: f64| line.slope * u + line.height;
        let mut current = self.lines[0];
        for line in &self.lines {
            let (new, old) = (value(line, low), value(&current, low));
            if new > old || new == old && line.slope > current.slope {
                current = *line;
            }
        }
        let (mut cuts, mut arms) = (Vec::new(), vec![current.arm]);
        while let Some((u, next)) = self.next(&current, low, high) {
            let cut = raised(u, &scaled);
            if cuts.last().is_some_and(|&last| cut <= last) {
                // No case is between the two cuts.
                arms.pop();
            } else {
                cuts.push(cut);
            }
            arms.push(next.arm);
            current = next;
        }
        (cuts, arms)
    }

    /// The next line to take over, and where.
    fn next(&self, current: &Line, low: f64, high: f64) -> Option<(f64, Line)> {
        let crossing = |line: &Line| (current.height - line.height) / (line.slope - current.slope);
        self.lines
            .iter()
            .filter(|line| line.slope > current.slope)
            .map(|line| (crossing(line).max(low), *line))
            .filter(|(u, _)| *u <= high)
            .min_by(|a, b| a.0.total_cmp(&b.0).then(b.1.slope.total_cmp(&a.1.slope)))
    }
}

/// A cut inside, which was lowered by a hair, in raw units and with the fewest digits within that hair.
fn raised(u: f64, scaled: &ScaledSum) -> f64 {
    let cut = u + scaled.constant;
    let hair = HAIR * (cut.abs() + scaled.size);
    snap(cut + hair, 0.5 * hair)
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |size, value| size.max(value.abs()))
}
