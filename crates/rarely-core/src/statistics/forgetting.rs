//! Outcomes that count less than one: sample weights, and forgetting by a discount or a window.
//!
//! With any of them `V` and `b` are weighted sums, `V = λI + Σwssᵀ`, `b = λθ₀ + Σwys`. The confidence sets of this crate are for outcomes
//! that count once, so that none is offered of such statistics.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use super::{Statistics, check_conditioning, check_outcome};
use crate::arm::{Arm, is_sound};
use crate::context::Context;
use crate::error::{MergeError, ObserveError, SettingsError};
use crate::number::in_range;
use crate::ridge::{Ridge, Step};
use crate::symmetric::dot;

/// The largest weight of an outcome.
pub const MAX_WEIGHT: f64 = 1e6;

/// Rows of a window, at most.
const MAX_WINDOW: f64 = 1e7;

/// How old outcomes count less.
///
/// ```
/// use rarely_core::Forgetting;
/// assert_eq!("discount:0.99".parse(), Forgetting::discount(0.99));
/// assert_eq!("window:500".parse(), Forgetting::window(500));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Forgetting {
    /// Every outcome counts this much less for each outcome of any arm that comes after it [russac-2019]. O(k·d³) per outcome.
    Discount(f64),
    /// Only so many outcomes of all arms count, the latest ones [garivier-2011, §3, for regressions]. O(d³) per outcome, and memory for all
    /// of them.
    Window(u64),
}

impl Forgetting {
    /// A factor strictly between 0 and 1.
    ///
    /// # Errors
    /// [`SettingsError::OutOfRange`].
    pub fn discount(factor: f64) -> Result<Self, SettingsError> {
        let remedy = Some("choose a factor below 1; with 0.99 the last 100 outcomes count most");
        in_range("discount", factor, 1e-3..=1.0 - 1e-12, remedy).map(Self::Discount)
    }

    /// The number of outcomes that count.
    ///
    /// # Errors
    /// [`SettingsError::OutOfRange`].
    pub fn window(outcomes: u64) -> Result<Self, SettingsError> {
        in_range("window", outcomes as f64, 1.0..=MAX_WINDOW, Some("give the number of latest outcomes that count"))?;
        Ok(Self::Window(outcomes))
    }

    fn is_sound(self) -> bool {
        match self {
            Self::Discount(factor) => Self::discount(factor).is_ok(),
            Self::Window(outcomes) => Self::window(outcomes).is_ok(),
        }
    }
}

impl fmt::Display for Forgetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Discount(factor) => write!(f, "discount:{factor}"),
            Self::Window(outcomes) => write!(f, "window:{outcomes}"),
        }
    }
}

impl FromStr for Forgetting {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let unknown = || SettingsError::Forgetting { found: text.to_owned() };
        match text.split_once(':').ok_or_else(unknown)? {
            ("discount", factor) => Self::discount(factor.parse().map_err(|_| unknown())?),
            ("window", outcomes) => Self::window(outcomes.parse().map_err(|_| unknown())?),
            _ => Err(unknown()),
        }
    }
}

/// What statistics remember beside their sums where outcomes do not count once.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Memory {
    forgetting: Option<Forgetting>,
    /// The outcomes of the window.
    window: VecDeque<Row>,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Row {
    arm: usize,
    context: Vec<f64>,
    reward: f64,
    weight: f64,
}

impl Memory {
    pub(super) fn is_sound(&self, arms: usize, dimension: usize) -> bool {
        let most = match self.forgetting {
            Some(Forgetting::Window(outcomes)) => outcomes,
            _ => 0,
        };
        self.forgetting.is_none_or(Forgetting::is_sound)
            && self.window.len() as u64 <= most
            && self.window.iter().all(|row| {
                row.arm < arms
                    && row.context.len() == dimension
                    && is_sound(row.reward)
                    && (0.0..=MAX_WEIGHT).contains(&row.weight)
                    && row.context.iter().all(|value| is_sound(*value))
            })
    }
}

impl Statistics {
    /// The same, forgetting old outcomes from now on.
    #[must_use]
    pub fn forgetting(mut self, forgetting: Option<Forgetting>) -> Self {
        if forgetting.is_some() {
            self.memory = Some(Box::new(Memory { forgetting, window: VecDeque::new() }));
        }
        self
    }

    /// Whether every outcome counts once, so that confidence sets hold.
    pub fn counts_all_once(&self) -> bool {
        self.memory.is_none()
    }

    /// Adds statistics that forget, which is possible where one of the two has nothing to forget.
    pub(super) fn merge_forgetting(&mut self, other: &Self) -> Result<(), MergeError> {
        let way = |statistics: &Self| statistics.memory.as_ref().and_then(|memory| memory.forgetting);
        if way(self) != way(other) || (self.rounds > 0 && other.rounds > 0) {
            return Err(MergeError::Forgetting);
        }
        if self.rounds == 0 {
            self.clone_from(other);
        }
        Ok(())
    }

    pub(crate) fn forgets(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.forgetting.is_some())
    }

    /// [`Statistics::observe`] for an outcome that counts as often as its weight says.
    ///
    /// # Errors
    /// [`ObserveError`] names the problem; the statistics are unchanged.
    pub fn observe_weighted(
        &mut self,
        context: Context<'_>,
        arm: Arm,
        reward: f64,
        weight: f64,
    ) -> Result<Step, ObserveError> {
        let context = context.fitting(self.shape.dimension())?;
        check_outcome(self.shape, arm, reward)?;
        if !(weight > 0.0 && weight <= MAX_WEIGHT) {
            return Err(ObserveError::Weight { weight });
        }
        let arm = arm.index();
        let ridge = &self.ridges[arm];
        check_conditioning(arm, ridge.squares() + weight * dot(context, context), ridge.penalty())?;
        let forgetting = self.memory.get_or_insert_default().forgetting;
        let step = match forgetting {
            None => self.ridges[arm].update_weighted(arm, (context, reward, weight), &mut self.direction.0),
            Some(forgetting) => self.observe_forgetting(forgetting, arm, (context, reward, weight)),
        };
        self.count_round(Some((arm, step.residual)));
        Ok(step)
    }

    fn observe_forgetting(&mut self, forgetting: Forgetting, arm: usize, row: (&[f64], f64, f64)) -> Step {
        match forgetting {
            Forgetting::Discount(factor) => {
                for (other, ridge) in self.ridges.iter_mut().enumerate() {
                    ridge.scale(factor);
                    if other != arm {
                        ridge.refresh(&mut self.direction.0);
                    }
                }
            }
            Forgetting::Window(outcomes) => self.forget_before(outcomes, arm, row),
        }
        let ridge = &mut self.ridges[arm];
        ridge.refresh(&mut self.direction.0);
        ridge.update_weighted(arm, row, &mut self.direction.0)
    }

    /// Takes the oldest outcome out of the sums if the window is full. Once in a while its arm's sums are added up afresh, so that what
    /// subtraction rounds cannot pile up.
    fn forget_before(&mut self, outcomes: u64, arm: usize, (context, reward, weight): (&[f64], f64, f64)) {
        let Some(memory) = &mut self.memory else { return };
        if memory.window.len() as u64 == outcomes
            && let Some(row) = memory.window.pop_front()
        {
            let ridge = &mut self.ridges[row.arm];
            ridge.subtract((&row.context, row.reward, row.weight));
            if self.rounds.is_multiple_of(outcomes.max(REBUILD_PERIOD)) {
                for (arm, ridge) in self.ridges.iter_mut().enumerate() {
                    let own = memory.window.iter().filter(|row| row.arm == arm);
                    ridge.add_up(own.map(|row| (row.context.as_slice(), row.reward, row.weight)));
                    ridge.refresh(&mut self.direction.0);
                }
            } else {
                ridge.refresh(&mut self.direction.0);
            }
        }
        memory.window.push_back(Row { arm, context: context.to_vec(), reward, weight });
    }

    /// Adds an outcome to the sums only; [`Statistics::refresh`] computes what is derived.
    pub(crate) fn add_weighted(&mut self, arm: usize, row: (&[f64], f64, f64)) {
        self.memory.get_or_insert_default();
        self.ridges[arm].add_weighted(row);
        self.rounds += 1;
    }

    /// The same arms without their observations.
    pub(crate) fn without_observations(&self) -> Self {
        Self { ridges: self.ridges.iter().map(Ridge::before_the_first).collect(), rounds: 0, ..self.clone() }
    }
}

/// Outcomes after which the sums of a window are added up afresh, at least.
const REBUILD_PERIOD: u64 = 256;
