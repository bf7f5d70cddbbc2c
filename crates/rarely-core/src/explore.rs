//! Exploration: pilot and equipoise, and the diagnostic that says when there is too little of it.
//!
//! A policy that only follows its own estimates can stay wrong forever: an arm that is never played stays plausible, and
//! the paper's Theorem 1 does not hold. Randomising where the data do not already rule an option out repairs it
//! (mathematics §8; econometrics knows it as a tie-breaker design [owen-2020], ethics as clinical equipoise [freedman-1987]).

use std::fmt;
use std::str::FromStr;

use crate::algorithm::Algorithm;
use crate::arm::Arm;
use crate::confidence::ConfidenceSet;
use crate::decision::{Decision, Reason};
use crate::error::SettingsError;
use crate::number::Share;
use crate::population::Population;
use crate::ridge::Ridge;
use crate::rng::Rng;
use crate::statistics::Statistics;

/// An arm is reported as stuck if it is plausible for at least this share of recent contexts …
const STUCK_PLAUSIBLE: f64 = 0.05;
/// … and was played in less than this share of all rounds …
const STUCK_PLAYED: f64 = 0.001;
/// … and there were at least this many rounds: in fewer, a single play is too large a share.
const STUCK_ROUNDS: u64 = 1000;

/// How a switching policy explores.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Exploration {
    /// Until every arm has this many outcomes, the arm with the fewest is played: the first `pilot·k` rounds cycle through the
    /// arms. It advances with outcomes, not with decisions: while outcomes are outstanding, decisions repeat an arm.
    pub pilot: u32,
    /// With this probability an arm is drawn uniformly from the plausible ones.
    pub equipoise: Share,
}

impl Exploration {
    /// None: only the policy.
    pub const NONE: Self = Self { pilot: 0, equipoise: Share::ZERO };
    /// The default of `rarely`: `pilot(6)` and `equipoise(0.02)`.
    pub const HOUSE: Self = Self { pilot: 6, equipoise: Share::constant(0.02) };

    /// The default of an algorithm.
    pub fn of(algorithm: Algorithm) -> Self {
        if algorithm == Algorithm::Rarely { Self::HOUSE } else { Self::NONE }
    }

    /// Whether exploration is over: only the policy decides from now on.
    #[inline]
    pub(crate) fn is_over(&self, statistics: &Statistics) -> bool {
        self.equipoise == Share::ZERO && self.pilot_arm(statistics).is_none()
    }

    /// The arm whose turn it is in the pilot: the lowest of those with the fewest outcomes.
    #[inline]
    fn pilot_arm(&self, statistics: &Statistics) -> Option<usize> {
        if self.pilot == 0 {
            return None;
        }
        let counts = statistics.arms().iter().map(Ridge::count).enumerate();
        let (arm, fewest) = counts.min_by_key(|&(_, count)| count)?;
        (fewest < u64::from(self.pilot)).then_some(arm)
    }

    /// The decision at a context where the policy in force plays `policy_arm`. Draws one random number if there is equipoise.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(crate) fn decide(
        &self,
        set: &ConfidenceSet<'_>,
        context: &[f64],
        policy_arm: usize,
        rng: &mut Rng,
    ) -> Decision {
        if let Some(arm) = self.pilot_arm(set.statistics()) {
            return Decision::certain(arm, Reason::Pilot);
        }
        let equipoise = self.equipoise.get();
        if equipoise == 0.0 {
            return Decision::certain(policy_arm, Reason::Policy);
        }
        let draw = rng.uniform();
        let mut plausible = 0_usize;
        let mut policy_is_plausible = false;
        set.for_each_plausible(context, |arm| {
            plausible += 1;
            policy_is_plausible |= arm == policy_arm;
        });
        let each = equipoise / plausible as f64;
        let (mut arm, mut reason) = (policy_arm, Reason::Policy);
        if draw < equipoise {
            let chosen = ((draw / each) as usize).min(plausible - 1);
            let mut at = 0;
            set.for_each_plausible(context, |candidate| {
                if at == chosen {
                    arm = candidate;
                }
                at += 1;
            });
            reason = Reason::Equipoise;
        }
        let by_policy = if arm == policy_arm { 1.0 - equipoise } else { 0.0 };
        let by_draw = if arm != policy_arm || policy_is_plausible { each } else { 0.0 };
        Decision { arm: Arm::new(arm), reason, propensity: by_policy + by_draw }
    }
}

/// `none`, `equipoise:0.05`, `pilot:10`, or both joined by a plus.
impl FromStr for Exploration {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let mut exploration = Self::NONE;
        if text.trim() == "none" {
            return Ok(exploration);
        }
        for part in text.split('+') {
            let form = || SettingsError::Exploration { found: part.to_owned() };
            match part.trim().split_once(':').ok_or_else(form)? {
                ("equipoise", share) => {
                    exploration.equipoise = Share::named("equipoise", share.parse().map_err(|_| form())?)?;
                }
                ("pilot", count) => exploration.pilot = count.parse().map_err(|_| form())?,
                _ => return Err(form()),
            }
        }
        Ok(exploration)
    }
}

impl fmt::Display for Exploration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.pilot, self.equipoise.get()) {
            (0, 0.0) => f.write_str("none"),
            (pilot, 0.0) => write!(f, "pilot:{pilot}"),
            (0, equipoise) => write!(f, "equipoise:{equipoise}"),
            (pilot, equipoise) => write!(f, "pilot:{pilot}+equipoise:{equipoise}"),
        }
    }
}

/// An arm that the data have not ruled out but that is hardly ever played.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stuck {
    /// The arm.
    pub arm: Arm,
    /// Share of recent contexts at which it is plausible.
    pub plausible_share: f64,
    /// Share of all rounds in which it was played.
    pub played_share: f64,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} may be best for {:.0} % of recent contexts but was played in {:.3} % of rounds: without exploration the data \
             will never tell; add or raise equipoise (for example 0.02), or a longer pilot",
            self.arm,
            100.0 * self.plausible_share,
            100.0 * self.played_share
        )
    }
}

impl ConfidenceSet<'_> {
    /// The arms that are plausible for at least 5 % of a population yet were played in less than 0.1 % of rounds; none before
    /// there were 1000 rounds.
    ///
    /// # Panics
    /// If the population has another number of context variables.
    pub fn stuck(&self, population: &Population) -> Vec<Stuck> {
        let statistics = self.statistics();
        assert_eq!(population.dimension(), statistics.shape().dimension(), "the population fits the statistics");
        if statistics.rounds() < STUCK_ROUNDS {
            return Vec::new();
        }
        let mut plausible = vec![0_u64; statistics.shape().arms()];
        for row in population.rows() {
            self.for_each_plausible(row, |arm| plausible[arm] += 1);
        }
        let share = |count: u64, of: u64| count as f64 / of.max(1) as f64;
        let report = |(arm, count): (usize, u64)| Stuck {
            arm: Arm::new(arm),
            plausible_share: share(count, population.len() as u64),
            played_share: share(statistics.arm(arm).count(), statistics.rounds()),
        };
        let reports = plausible.into_iter().enumerate().map(report);
        reports.filter(|stuck| stuck.plausible_share >= STUCK_PLAUSIBLE && stuck.played_share < STUCK_PLAYED).collect()
    }
}
