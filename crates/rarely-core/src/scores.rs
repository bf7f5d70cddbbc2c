//! Model-free scores: the gain of a change from a log with propensities, whatever the shape of the truth (mathematics §14).
//!
//! `X = Σ_a(π′−π)(a|s)q̂(s,a) + [(π′−π)(A|s)/p(A|s)](Y − q̂(s,A))` has the gain as its mean if the propensities are true, for any
//! prediction `q̂` that was made from other rows [dudik-2014]; good predictions only make it less noisy. Its mean is over the distribution of
//! contexts, where that of [`Confirmation`](crate::Confirmation) is over a list.

use crate::anytime::planned_multiplier;
use crate::arm::Arm;
use crate::confidence::Interval;
use crate::confirm::check_counts;
use crate::error::{ConfirmError, ScoreError, SettingsError};
use crate::number::in_range;
use crate::outcome_ends::OutcomeEnds;
use crate::planned::Look;
use crate::sequence::{AsymptoticSequence, EmpiricalBernstein, RunningMean};
use crate::standard::{Confirmed, ErrorBudget, Method, Standard, Timing};

/// Rounding that sums of probabilities and the comparison with the minimum allow.
const SLACK: f64 = 1e-9;

/// A rule's choice at a context.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RuleChoice<'a> {
    /// This arm.
    Arm(Arm),
    /// One arm at random, with these probabilities.
    Random(&'a [f64]),
}

impl RuleChoice<'_> {
    fn probability(&self, arm: usize) -> f64 {
        match self {
            Self::Arm(chosen) => f64::from(u8::from(chosen.index() == arm)),
            Self::Random(probabilities) => probabilities[arm],
        }
    }

    fn check(&self, arms: usize, name: &'static str) -> Result<(), ScoreError> {
        match self {
            Self::Arm(arm) if arm.index() >= arms => Err(ScoreError::UnknownArm { arm: arm.index(), arms }),
            Self::Arm(_) => Ok(()),
            Self::Random(probabilities) => check_probabilities(probabilities, arms, name),
        }
    }
}

/// A logged case, with what two rules would have done and what was predicted from other rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredCase<'a> {
    /// The arm that was given, `A`.
    pub arm: Arm,
    /// Its reward, `Y`.
    pub reward: f64,
    /// `p(a|s)` of every arm. That of the given arm is not enough: it is always positive, even where nothing was random.
    pub propensities: &'a [f64],
    /// `q̂(s,a)` of every arm, from the proposing part only. Clipped to the outcome's range.
    pub predictions: &'a [f64],
    /// The rule in force, `π`.
    pub before: RuleChoice<'a>,
    /// The rule after the change, `π′`.
    pub after: RuleChoice<'a>,
}

/// What is declared about a log before its scores are read.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScoreSettings {
    arms: usize,
    minimum_propensity: f64,
    low: f64,
    high: f64,
    random_rules: bool,
}

impl ScoreSettings {
    /// Deterministic rules on `arms` arms, outcomes from `low` to `high`, and `p_min`: what every arm that changes was given with, at least.
    /// It is declared, never taken from the propensities seen.
    ///
    /// # Errors
    /// [`SettingsError`] names the number that is out of its range.
    pub fn new(arms: usize, minimum_propensity: f64, low: f64, high: f64) -> Result<Self, SettingsError> {
        in_range(
            "minimum propensity",
            minimum_propensity,
            1e-6..=0.5,
            Some("declare what the log was randomised with"),
        )?;
        in_range("lower end of the outcome's range", low, -1e12..=1e12, None)?;
        in_range("upper end of the outcome's range", high, low..=1e12, None)?;
        in_range("length of the outcome's range", high - low, 1e-12..=2e12, Some("declare two different ends"))?;
        if arms < 2 {
            return Err(SettingsError::Arms { arms });
        }
        Ok(Self { arms, minimum_propensity, low, high, random_rules: false })
    }

    /// Rules that draw at random themselves.
    #[must_use]
    pub fn random_rules(self) -> Self {
        Self { random_rules: true, ..self }
    }

    /// The largest magnitude that a score can have: `1/p_min` of the outcome's range for deterministic rules, `1 + 1/p_min` otherwise.
    pub fn bound(&self) -> f64 {
        let bound = 1.0 / self.minimum_propensity + if self.random_rules { 1.0 } else { 0.0 };
        bound * (self.high - self.low)
    }

    /// Whether every arm that changes at this case was probable enough. Where it is not, a candidate may be declared to decide like the
    /// rule in force: its choice there is then no part of the change.
    pub fn overlaps(&self, case: &ScoredCase<'_>) -> bool {
        case.propensities.len() == self.arms && self.improbable(case).is_none()
    }

    /// The declared range of the outcome.
    pub fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// `p_min`.
    pub fn minimum_propensity(&self) -> f64 {
        self.minimum_propensity
    }

    fn improbable(&self, case: &ScoredCase<'_>) -> Option<usize> {
        let changes = |&arm: &usize| case.after.probability(arm) != case.before.probability(arm);
        (0..self.arms).filter(changes).find(|&arm| !is_probable(case.propensities[arm], self.minimum_propensity))
    }

    /// `X`, in units of the outcome.
    ///
    /// # Errors
    /// [`ScoreError`] names what is missing or out of its range.
    pub fn score(&self, case: &ScoredCase<'_>) -> Result<f64, ScoreError> {
        self.check(case)?;
        let change = |arm: usize| case.after.probability(arm) - case.before.probability(arm);
        let prediction = |arm: usize| case.predictions[arm].clamp(self.low, self.high);
        // Changes add up to 0: predictions may be measured from the range's lower end.
        let predicted: f64 = (0..self.arms).map(|arm| change(arm) * (prediction(arm) - self.low)).sum();
        let given = case.arm.index();
        let weight = change(given);
        if weight == 0.0 {
            return Ok(predicted);
        }
        Ok(doubly_robust_term(predicted, weight / case.propensities[given], case.reward - prediction(given)))
    }

    fn check(&self, case: &ScoredCase<'_>) -> Result<(), ScoreError> {
        check_probabilities(case.propensities, self.arms, "propensities")?;
        let (found, arms) = (case.predictions.len(), self.arms);
        if found != arms {
            return Err(ScoreError::Length { name: "predictions", arms, found });
        }
        if let Some(arm) = case.predictions.iter().position(|prediction| prediction.is_nan()) {
            return Err(ScoreError::Prediction { arm });
        }
        RuleChoice::Arm(case.arm).check(arms, "arms")?;
        case.before.check(arms, "probabilities of the rule in force")?;
        case.after.check(arms, "probabilities of the changed rule")?;
        let random = |choice: RuleChoice<'_>| matches!(choice, RuleChoice::Random(_));
        if !self.random_rules && (random(case.before) || random(case.after)) {
            return Err(ScoreError::NotDeterministic);
        }
        if !(self.low..=self.high).contains(&case.reward) {
            return Err(ScoreError::OutcomeRange { reward: case.reward, low: self.low, high: self.high });
        }
        match self.improbable(case) {
            Some(arm) => {
                Err(ScoreError::Overlap { arm, propensity: case.propensities[arm], minimum: self.minimum_propensity })
            }
            None => Ok(()),
        }
    }
}

/// The doubly robust term of a case: what is predicted for the policy, and the residual of the arm given, `y − q̂(s,A)`, times its weight
/// [dudik-2014, eq. 5]. Without predictions it is that of inverse propensities.
///
/// ```
/// assert_eq!(rarely_core::doubly_robust_term(0.5, 2.0, 0.25), 1.0);
/// ```
pub fn doubly_robust_term(predicted: f64, weight: f64, residual: f64) -> f64 {
    predicted + weight * residual
}

/// Whether a propensity is at least the declared minimum, but for rounding.
pub(crate) fn is_probable(propensity: f64, minimum: f64) -> bool {
    propensity >= minimum * (1.0 - SLACK)
}

pub(crate) fn check_probabilities(probabilities: &[f64], arms: usize, name: &'static str) -> Result<(), ScoreError> {
    if probabilities.len() != arms {
        return Err(ScoreError::Length { name, arms, found: probabilities.len() });
    }
    let sum: f64 = probabilities.iter().sum();
    let sound = probabilities.iter().all(|&probability| probability >= 0.0) && (sum - 1.0).abs() <= 1e-6;
    if sound { Ok(()) } else { Err(ScoreError::Probabilities { name }) }
}

/// The model-free gain of one change, as cases arrive.
///
/// ```
/// use rarely_core::*;
/// let budget = ErrorBudget::new(ErrorProbability::new(0.05)?);
/// let mut scores = Scores::new(ScoreSettings::new(2, 0.5, 0.0, 1.0)?, budget, 1000);
/// let (before, after) = (RuleChoice::Arm(Arm::new(0)), RuleChoice::Arm(Arm::new(1)));
/// for (arm, reward) in [(0, 0.0), (1, 1.0), (0, 1.0), (1, 1.0)] {
///     let (propensities, predictions) = (&[0.5, 0.5], &[0.5, 0.5]);
///     scores.add(&ScoredCase { arm: Arm::new(arm), reward, propensities, predictions, before, after })?;
/// }
/// assert_eq!(scores.empirical_bernstein().interval.estimate, 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Scores {
    settings: ScoreSettings,
    budget: ErrorBudget,
    /// For each arm that the change concerned at some case, its outcomes there.
    outcomes: Vec<Option<OutcomeEnds>>,
    bernstein: EmpiricalBernstein,
    asymptotic: AsymptoticSequence,
}

impl Scores {
    /// No case yet. The confidence sequences are sharpest at the number of cases that is expected, and hold at any.
    pub fn new(settings: ScoreSettings, budget: ErrorBudget, expected_cases: u64) -> Self {
        let share = budget.share();
        Self {
            settings,
            budget,
            outcomes: vec![None; settings.arms],
            bernstein: EmpiricalBernstein::new(settings.bound(), share, Some(expected_cases)),
            asymptotic: AsymptoticSequence::new(share, expected_cases.max(1)),
        }
    }

    /// Adds a case, and returns its score.
    ///
    /// # Errors
    /// [`ScoreError`]; nothing is changed in that case.
    pub fn add(&mut self, case: &ScoredCase<'_>) -> Result<f64, ScoreError> {
        let score = self.settings.score(case)?;
        for (arm, outcomes) in self.outcomes.iter_mut().enumerate() {
            if case.after.probability(arm) != case.before.probability(arm) {
                let outcomes = outcomes.get_or_insert_default();
                if arm == case.arm.index() {
                    outcomes.add(case.reward);
                }
            }
        }
        self.bernstein.update(score);
        self.asymptotic.update(score);
        Ok(score)
    }

    /// The mean of the scores.
    pub fn mean(&self) -> &RunningMean {
        self.asymptotic.mean()
    }

    /// The t interval of the mean at a planned look. Approximate.
    ///
    /// # Errors
    /// [`ConfirmError`]: the look is not at these cases, or an arm that changes has too few.
    pub fn planned(&self, look: Look) -> Result<Confirmed, ConfirmError> {
        look.check(self.mean().count())?;
        self.check_counts()?;
        let (error, degrees) = (self.mean().standard_error(), self.mean().count() as f64 - 1.0);
        let multiplier = planned_multiplier(degrees, self.budget.share() / look.looks() as f64);
        let interval = Interval::around(self.mean().mean(), multiplier * error);
        Ok(Confirmed {
            interval,
            standard: Standard::Approximate,
            method: Method::ScoreMean,
            timing: Timing::Planned,
            standard_error: Some(error),
            degrees: Some(degrees),
        })
    }

    /// The empirical-Bernstein interval. Certain, at any number of cases.
    pub fn empirical_bernstein(&self) -> Confirmed {
        Confirmed {
            interval: self.bernstein.interval(),
            standard: Standard::Certain,
            method: Method::EmpiricalBernstein,
            timing: Timing::Anytime,
            standard_error: None,
            degrees: None,
        }
    }

    /// The asymptotic confidence sequence's interval. Approximate.
    ///
    /// # Errors
    /// [`ConfirmError`] if an arm that changes has too few cases.
    pub fn asymptotic(&self) -> Result<Confirmed, ConfirmError> {
        self.check_counts()?;
        Ok(Confirmed {
            interval: self.asymptotic.interval(),
            standard: Standard::Approximate,
            method: Method::AsymptoticSequence,
            timing: Timing::Anytime,
            standard_error: Some(self.mean().standard_error()),
            degrees: None,
        })
    }

    /// The conditions of an approximate interval, in every arm that changes: they have weight in the mean.
    fn check_counts(&self) -> Result<(), ConfirmError> {
        for (arm, outcomes) in self.outcomes.iter().enumerate() {
            if let Some(outcomes) = outcomes {
                check_counts(arm, outcomes.count(), outcomes.rarer())?;
            }
        }
        if self.outcomes.iter().any(Option::is_some) { Ok(()) } else { Err(ConfirmError::NoChange) }
    }
}
