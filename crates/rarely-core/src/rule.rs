//! A linear policy: play the arm with the largest `sᵀθ̃ᵃ`; ties go to the lowest arm.

use crate::arm::{Arm, Parameters, is_allowed, nth_allowed};
use crate::context::{Context, Contexts};
use crate::error::ContextError;

const LANES: usize = 4;

/// A policy in force: parameters `θ̃`, and the same numbers laid out so that four arms are scored at once.
///
/// One context and a block of contexts go through the same sums in the same order: [`Rule::choose`] and
/// [`Rule::choose_many`] never disagree.
///
/// ```
/// use rarely_core::{Context, Parameters, Rule, Shape};
/// let shape = Shape::new(2, 2).unwrap();
/// let rule = Rule::new(Parameters::new(shape, vec![0.5, 0.0, 0.0, 1.0]).unwrap());
/// let treat = rule.choose(Context::new(&[1.0, 0.7]).unwrap()).unwrap();
/// assert_eq!(treat.index(), 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Parameters", into = "Parameters")
)]
pub struct Rule {
    parameters: Parameters,
    /// For each group of four arms and each context variable, the four coefficients.
    columns: Vec<[f64; LANES]>,
}

impl Rule {
    /// The policy with these parameters.
    pub fn new(parameters: Parameters) -> Self {
        let shape = parameters.shape();
        let mut rule =
            Self { columns: vec![[0.0; LANES]; shape.arms().div_ceil(LANES) * shape.dimension()], parameters };
        for arm in 0..shape.arms() {
            rule.lay_out(arm);
        }
        rule
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The arm played at a context. O(kd).
    ///
    /// # Errors
    /// [`ContextError::DimensionMismatch`].
    pub fn choose(&self, context: Context<'_>) -> Result<Arm, ContextError> {
        let values = context.fitting(self.parameters.shape().dimension())?;
        Ok(Arm::new(self.best(values)))
    }

    /// The arms played at each context of a block.
    ///
    /// # Errors
    /// [`ContextError::DimensionMismatch`].
    pub fn choose_many(&self, contexts: Contexts<'_>) -> Result<Vec<Arm>, ContextError> {
        contexts.check_dimension(self.parameters.shape().dimension())?;
        let mut arms = Vec::with_capacity(contexts.len());
        self.for_each_best(contexts.values(), |arm| arms.push(Arm::new(arm)));
        Ok(arms)
    }

    /// The arm played at a context that is known to fit.
    #[inline]
    pub(crate) fn best(&self, context: &[f64]) -> usize {
        let arms = self.parameters.shape().arms();
        if arms <= LANES {
            return best_lane(scores(context, &self.columns), arms);
        }
        let mut found = 0;
        self.for_each_best(context, |arm| found = arm);
        found
    }

    /// Calls `visit` with the arm played at each row of a block, in order. Small shapes get a copy of the loop whose
    /// length the compiler knows; the arithmetic is the same.
    #[inline]
    pub(crate) fn for_each_best(&self, rows: &[f64], visit: impl FnMut(usize)) {
        let shape = self.parameters.shape();
        match (shape.arms(), shape.dimension()) {
            (arms @ 2..=LANES, 2) => best_of_few::<2>(rows, &self.columns, arms, visit),
            (arms @ 2..=LANES, 3) => best_of_few::<3>(rows, &self.columns, arms, visit),
            (arms @ 2..=LANES, 4) => best_of_few::<4>(rows, &self.columns, arms, visit),
            (arms @ 2..=LANES, 5) => best_of_few::<5>(rows, &self.columns, arms, visit),
            (arms, dimension) => best_of_many(rows, &self.columns, arms, dimension, visit),
        }
    }

    /// Replaces one arm's vector.
    pub(crate) fn set_arm(&mut self, arm: usize, values: &[f64]) {
        let dimension = self.parameters.shape().dimension();
        self.parameters.values_mut()[arm * dimension..(arm + 1) * dimension].copy_from_slice(values);
        self.lay_out(arm);
    }

    fn lay_out(&mut self, arm: usize) {
        let dimension = self.parameters.shape().dimension();
        let (group, lane) = (arm / LANES, arm % LANES);
        for (column, &value) in self.columns[group * dimension..].iter_mut().zip(self.parameters.arm(arm)) {
            column[lane] = value;
        }
    }
}

impl From<Parameters> for Rule {
    fn from(parameters: Parameters) -> Self {
        Self::new(parameters)
    }
}

impl From<Rule> for Parameters {
    fn from(rule: Rule) -> Self {
        rule.parameters
    }
}

/// The arm that parameters, stored arm by arm, play at a context: as [`Rule::best`], without its layout.
pub(crate) fn best_of(parameters: &[f64], context: &[f64]) -> usize {
    best_among(parameters, context, None)
}

/// [`best_of`] the arms that a mask allows.
pub(crate) fn best_among(parameters: &[f64], context: &[f64], mask: Option<&[bool]>) -> usize {
    let score = |coefficients: &[f64]| {
        context.iter().zip(coefficients).fold(0.0, |sum, (variable, coefficient)| sum + variable * coefficient)
    };
    argmax_among(mask, parameters.chunks_exact(context.len()).map(score))
}

/// The arm with the largest score; ties go to the lowest.
#[inline]
pub(crate) fn argmax(scores: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (arm, score) in scores.enumerate() {
        if score > best.1 {
            best = (arm, score);
        }
    }
    best.0
}

/// The allowed arm with the largest score; ties go to the lowest.
#[inline]
pub(crate) fn argmax_among(mask: Option<&[bool]>, scores: impl Iterator<Item = f64>) -> usize {
    let first = nth_allowed(mask, 0);
    let mut best = (first, f64::NEG_INFINITY);
    for (arm, score) in scores.enumerate() {
        if score > best.1 && is_allowed(mask, arm) {
            best = (arm, score);
        }
    }
    best.0
}

/// The four scores `Σⱼ sⱼ·θⱼ`, each summed in the order of the variables.
#[inline]
fn scores(context: &[f64], columns: &[[f64; LANES]]) -> [f64; LANES] {
    let mut scores = [0.0; LANES];
    for (&variable, column) in context.iter().zip(columns) {
        for lane in 0..LANES {
            scores[lane] += variable * column[lane];
        }
    }
    scores
}

#[inline]
fn best_of_few<const D: usize>(rows: &[f64], columns: &[[f64; LANES]], arms: usize, mut visit: impl FnMut(usize)) {
    let mut fixed = [[0.0; LANES]; D];
    fixed.copy_from_slice(&columns[..D]);
    for row in rows.as_chunks::<D>().0 {
        visit(best_lane(scores(row, &fixed), arms));
    }
}

/// The arm with the largest of up to four scores; ties go to the lowest.
#[inline]
fn best_lane(mut scores: [f64; LANES], arms: usize) -> usize {
    // An arm that does not exist repeats arm 0 and, as ties go to the lowest, is never chosen.
    for lane in 2..LANES {
        if lane >= arms {
            scores[lane] = scores[0];
        }
    }
    let low = usize::from(scores[1] > scores[0]);
    let high = 2 + usize::from(scores[3] > scores[2]);
    if scores[high] > scores[low] { high } else { low }
}

#[inline]
fn best_of_many(rows: &[f64], columns: &[[f64; LANES]], arms: usize, dimension: usize, mut visit: impl FnMut(usize)) {
    for row in rows.chunks_exact(dimension) {
        let mut best = (0, f64::NEG_INFINITY);
        for (group, columns) in columns.chunks_exact(dimension).enumerate() {
            let scores = scores(row, columns);
            for (lane, &score) in scores.iter().enumerate().take(arms - group * LANES) {
                if score > best.1 {
                    best = (group * LANES + lane, score);
                }
            }
        }
        visit(best.0);
    }
}
