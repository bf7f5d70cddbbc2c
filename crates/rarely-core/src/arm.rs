//! Arms, the shape of a problem, and parameters: one vector for each arm.

use std::fmt;

use crate::error::{MAX_ARMS, MAX_DIMENSION, MAX_PARAMETER, SettingsError};

/// Arms for which numbers of each fit on a small stack frame; more need one for [`MAX_ARMS`].
pub(crate) const FEW_ARMS: usize = 16;

/// One of the options a policy chooses between, numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Arm(u32);

impl Arm {
    /// The arm with this number. Whether a policy has it is checked where it is used.
    #[allow(clippy::cast_possible_truncation)]
    pub const fn new(index: usize) -> Self {
        // No policy has an arm beyond u32. Saturating keeps such a number invalid.
        Self(if index > u32::MAX as usize { u32::MAX } else { index as u32 })
    }

    /// Its number, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arm {}", self.0)
    }
}

/// How many arms `k` and context variables `d` a problem has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "(usize, usize)", into = "(usize, usize)")
)]
pub struct Shape {
    arms: usize,
    dimension: usize,
}

impl Shape {
    /// # Errors
    /// [`SettingsError::Arms`] unless 2 ≤ `arms` ≤ [`MAX_ARMS`]; [`SettingsError::Dimension`] unless 1 ≤ `dimension` ≤ [`MAX_DIMENSION`].
    pub fn new(arms: usize, dimension: usize) -> Result<Self, SettingsError> {
        if !(2..=MAX_ARMS).contains(&arms) {
            return Err(SettingsError::Arms { arms });
        }
        if !(1..=MAX_DIMENSION).contains(&dimension) {
            return Err(SettingsError::Dimension { dimension });
        }
        Ok(Self { arms, dimension })
    }

    /// `k`.
    pub fn arms(self) -> usize {
        self.arms
    }

    /// `d`.
    pub fn dimension(self) -> usize {
        self.dimension
    }

    /// `k·d`, the numbers in a [`Parameters`].
    pub fn parameters(self) -> usize {
        self.arms * self.dimension
    }

    /// The pairs `i < j` of arms.
    pub fn pairs(self) -> impl Iterator<Item = (Arm, Arm)> {
        (0..self.arms).flat_map(move |i| (i + 1..self.arms).map(move |j| (Arm::new(i), Arm::new(j))))
    }
}

impl TryFrom<(usize, usize)> for Shape {
    type Error = SettingsError;

    fn try_from((arms, dimension): (usize, usize)) -> Result<Self, SettingsError> {
        Self::new(arms, dimension)
    }
}

impl From<Shape> for (usize, usize) {
    fn from(shape: Shape) -> Self {
        (shape.arms, shape.dimension)
    }
}

/// One parameter vector for each arm, `θ ∈ R^{k·d}`, stored arm by arm.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "(Shape, Vec<f64>)", into = "(Shape, Vec<f64>)")
)]
pub struct Parameters {
    shape: Shape,
    values: Vec<f64>,
}

impl Parameters {
    /// Takes `k·d` numbers, arm by arm.
    ///
    /// # Errors
    /// [`SettingsError::Length`] or [`SettingsError::Parameter`].
    pub fn new(shape: Shape, values: Vec<f64>) -> Result<Self, SettingsError> {
        Self::named("parameters", shape, values)
    }

    /// [`Parameters::new`] with the name that an error uses.
    pub(crate) fn named(name: &'static str, shape: Shape, values: Vec<f64>) -> Result<Self, SettingsError> {
        check_numbers(name, &values, shape.parameters(), |value| value.abs() <= MAX_PARAMETER)?;
        Ok(Self { shape, values })
    }

    /// The same number everywhere.
    pub(crate) fn constant(shape: Shape, value: f64) -> Self {
        Self { shape, values: vec![value; shape.parameters()] }
    }

    pub(crate) fn from_computed(shape: Shape, values: Vec<f64>) -> Self {
        debug_assert_eq!(values.len(), shape.parameters());
        Self { shape, values }
    }

    /// All zeros: a policy that has no preference and, by the rule for ties, plays arm 0.
    pub fn zeros(shape: Shape) -> Self {
        Self::constant(shape, 0.0)
    }

    /// The shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// One arm's vector `θ^a`.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn arm(&self, arm: usize) -> &[f64] {
        let dimension = self.shape.dimension;
        &self.values[arm * dimension..(arm + 1) * dimension]
    }

    /// All numbers, arm by arm.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The vectors in turn.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.shape.dimension)
    }

    /// `Pθ`: the mean over arms subtracted. Two parameters give the same policy if these agree up to a positive factor.
    #[must_use]
    pub fn centred(&self) -> Self {
        let mut values = self.values.clone();
        centre(&mut values, self.shape.dimension);
        Self { shape: self.shape, values }
    }
}

/// Learned parameters may exceed the limit for parameters that a user gives, but sums of their products are finite.
impl TryFrom<(Shape, Vec<f64>)> for Parameters {
    type Error = SettingsError;

    fn try_from((shape, values): (Shape, Vec<f64>)) -> Result<Self, SettingsError> {
        check_numbers("parameters", &values, shape.parameters(), is_sound)?;
        Ok(Self { shape, values })
    }
}

impl From<Parameters> for (Shape, Vec<f64>) {
    fn from(parameters: Parameters) -> Self {
        (parameters.shape, parameters.values)
    }
}

/// Checks the count of the numbers and each number; the error names the first that fails.
pub(crate) fn check_numbers(
    name: &'static str,
    values: &[f64],
    expected: usize,
    good: impl Fn(f64) -> bool,
) -> Result<(), SettingsError> {
    if values.len() != expected {
        return Err(SettingsError::Length { name, expected, found: values.len() });
    }
    match values.iter().position(|&value| !good(value)) {
        Some(index) => Err(SettingsError::Parameter { name, index, value: values[index] }),
        None => Ok(()),
    }
}

/// Whether a number can be part of a policy's state: finite, and small enough that products of a few stay finite.
pub(crate) fn is_sound(value: f64) -> bool {
    value.abs() <= 1e60
}

/// Whether an arm is allowed; without a mask all are.
#[inline]
pub(crate) fn is_allowed(mask: Option<&[bool]>, arm: usize) -> bool {
    mask.is_none_or(|mask| mask[arm])
}

/// The allowed arm with this number among the allowed ones.
pub(crate) fn nth_allowed(mask: Option<&[bool]>, number: usize) -> usize {
    match mask {
        None => number,
        Some(mask) => mask.iter().enumerate().filter(|(_, allowed)| **allowed).nth(number).map_or(0, |(arm, _)| arm),
    }
}

/// How many arms are allowed.
pub(crate) fn count_allowed(mask: Option<&[bool]>, arms: usize) -> usize {
    mask.map_or(arms, |mask| mask.iter().filter(|&&allowed| allowed).count())
}

/// Subtracts the mean over arms, in place: only differences matter.
pub(crate) fn centre(values: &mut [f64], dimension: usize) {
    let arms = values.len() / dimension;
    for j in 0..dimension {
        let mean = (0..arms).map(|a| values[a * dimension + j]).sum::<f64>() / arms as f64;
        for a in 0..arms {
            values[a * dimension + j] -= mean;
        }
    }
}
