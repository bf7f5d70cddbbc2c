//! Whether a straight line is good enough: the F test of the squared terms.
//!
//! The straight model is `y = sᵀθ`, the bent one `y = sᵀθ + Σⱼ γⱼ(xⱼ − ½)²`. If the straight one is right and the noise is
//! normal with one variance, then
//!
//! ```text
//! F = ((RSS_straight − RSS_bent)/m) / (RSS_bent/(n − r))   has the F distribution with (m, n − r) degrees of freedom
//! ```
//!
//! with `m` squares that are columns of their own and `r` columns of the bent model in all; for noise that is not normal
//! this holds in the limit of many rows. [seber-2003, §4.3]

use rarely_error::{Explain, Remedy};
use serde::Serialize;
use statrs::function::beta::beta_reg;
use thiserror::Error;

use crate::moments::{Moments, square};
use crate::normal_equations::NormalEquations;

/// Rows that must be left over once every coefficient has used up one.
const LEAST_RESIDUAL_DEGREES: u64 = 10;
/// Share of `Σy²` below which a residual sum of squares is rounding.
const ROUNDING_SHARE: f64 = 1e-14;

/// The test of one option's straight line against the bent one, and the bent one.
///
/// ```
/// use rarely_review::{Moments, RewardGrid};
///
/// let mut moments = Moments::new(2, &[1], RewardGrid::open());
/// for i in 0..100 {
///     let x = f64::from(i) / 100.0;
///     let noise = if i % 2 == 0 { 0.1 } else { -0.1 };
///     moments.add(&[1.0, x], 2.0 * x * x + noise);
/// }
/// let curvature = moments.curvature()?;
/// assert_eq!(curvature.degrees, (1, 97));
/// assert!(curvature.p_value < 1e-6 && (curvature.terms[0].coefficient - 2.0).abs() < 0.2);
/// assert!((curvature.predict(&[1.0, 0.5]) - 0.5).abs() < 0.05);
/// # Ok::<(), rarely_review::NoCurvature>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curvature {
    /// Rows of the option.
    pub rows: u64,
    /// Degrees of freedom: squares that are columns of their own; rows minus columns of the bent model.
    pub degrees: (u64, u64),
    /// `F`.
    pub statistic: f64,
    /// The probability of so large an `F` if the straight line is right.
    pub p_value: f64,
    /// The estimate of the noise's variance around the bent model, `RSS_bent/(n − r)`.
    pub residual_variance: f64,
    /// The squares that are columns of their own.
    pub terms: Vec<Term>,
    /// The bent model: the coefficients of the context's d numbers, then of the squares. A column that is a sum of those before
    /// it has 0.
    pub bent: Vec<f64>,
    /// The squared coordinates, in the order of the last numbers of `bent`.
    pub squares: Vec<usize>,
}

/// The square of one coordinate in the bent model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Term {
    /// The coordinate of the context, from 0.
    pub coordinate: usize,
    /// The coefficient of `(x − ½)²`.
    pub coefficient: f64,
    /// Its standard error under noise of one variance.
    pub standard_error: f64,
}

/// Why there is no test of an option's straight line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NoCurvature {
    /// Fewer rows than the bent model needs.
    #[error("{rows} rows are too few to tell a bent line from a straight one: it takes {needed}")]
    TooFewRows {
        /// Rows of the option.
        rows: u64,
        /// Rows that it needs.
        needed: u64,
    },
    /// No square is a column of its own.
    #[error(
        "no feature takes three or more values in these rows, so every line through them is as good as a straight one"
    )]
    NothingToBend,
}

impl Explain for NoCurvature {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::TooFewRows { needed, .. } => {
                Some(Remedy::new(format!("collect at least {needed} rows of each option")))
            }
            Self::NothingToBend => None,
        }
    }
}

impl Moments {
    /// Tests the straight line against the bent one, from the sums. O((d+p)³).
    ///
    /// # Errors
    /// If there are too few rows, or no feature with three values.
    pub fn curvature(&self) -> Result<Curvature, NoCurvature> {
        let (rows, dimension, width) = (self.rows(), self.dimension(), self.dimension() + self.squares().len());
        let equations = NormalEquations::new(&self.information(), &self.moment());
        // With too few rows the rank is that of the rows, not of the columns: then every column counts.
        let rank = if rows > width as u64 { equations.rank(0..width) } else { width } as u64;
        let needed = rank + LEAST_RESIDUAL_DEGREES;
        if rows < needed {
            return Err(NoCurvature::TooFewRows { rows, needed });
        }
        let bends = equations.rank(dimension..width) as u64;
        if bends == 0 {
            return Err(NoCurvature::NothingToBend);
        }
        let degrees = (bends, rows - rank);
        let residual = self.reward_squares() - equations.explained(0..width);
        let residual_variance = residual.max(ROUNDING_SHARE * self.reward_squares()) / degrees.1 as f64;
        let mean_explained = equations.explained(dimension..width) / bends as f64;
        // All outcomes 0: the straight line is right, and nothing is left to divide by.
        let statistic = if residual_variance > 0.0 { mean_explained / residual_variance } else { 0.0 };
        let bent = equations.coefficients();
        let terms = self.terms(&equations, &bent, residual_variance);
        let p_value = upper_tail(statistic, degrees);
        Ok(Curvature {
            rows,
            degrees,
            statistic,
            p_value,
            residual_variance,
            terms,
            bent,
            squares: self.squares().to_vec(),
        })
    }

    fn terms(&self, equations: &NormalEquations, bent: &[f64], residual_variance: f64) -> Vec<Term> {
        (self.dimension()..bent.len())
            .zip(self.squares())
            .filter(|(column, _)| equations.keeps(*column))
            .map(|(column, &coordinate)| Term {
                coordinate,
                coefficient: bent[column],
                standard_error: (residual_variance * equations.variance(column)).sqrt(),
            })
            .collect()
    }
}

impl Curvature {
    /// The bent model's outcome at a context.
    ///
    /// # Panics
    /// If there are not d numbers.
    pub fn predict(&self, context: &[f64]) -> f64 {
        assert_eq!(context.len() + self.squares.len(), self.bent.len(), "one number for each context variable");
        let squares = self.squares.iter().map(|coordinate| square(context[*coordinate]));
        context.iter().copied().chain(squares).zip(&self.bent).map(|(value, coefficient)| value * coefficient).sum()
    }
}

/// `P(F > statistic)`: a beta integral. Right to 1e-7 of itself at ten million rows, and better at fewer.
pub(crate) fn upper_tail(statistic: f64, (numerator, denominator): (u64, u64)) -> f64 {
    let (numerator, denominator) = (numerator as f64, denominator as f64);
    let share = denominator / (denominator + numerator * statistic);
    beta_reg(denominator / 2.0, numerator / 2.0, share).clamp(0.0, 1.0)
}
