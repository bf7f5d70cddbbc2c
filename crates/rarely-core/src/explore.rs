//! Exploration: pilot and equipoise, and the diagnostic that says when there is too little of it.
//!
//! A policy that only follows its own estimates can stay wrong forever: an arm that is never played stays plausible, and
//! the paper's Theorem 1 does not hold. Randomising where the data do not already rule an option out repairs it
//! (mathematics §8; econometrics knows it as a tie-breaker design [owen-2020], ethics as clinical equipoise [freedman-1987]).

use std::fmt;
use std::str::FromStr;

use crate::algorithm::Algorithm;
use crate::arm::{Arm, Shape, count_allowed, is_allowed, nth_allowed};
use crate::confidence::ConfidenceSet;
use crate::decision::{Decision, Reason};
use crate::error::SettingsError;
use crate::number::Share;
use crate::policy::Learner;
use crate::population::Population;
use crate::randomisation::{Randomisation, Renewal};
use crate::ridge::MAX_ROUNDS;
use crate::rng::Rng;
use crate::statistics::Statistics;

/// An arm is reported as stuck if it is plausible for at least this share of recent contexts …
const STUCK_PLAUSIBLE: f64 = 0.05;
/// … and was played in less than this share of all rounds …
const STUCK_PLAYED: f64 = 0.001;
/// … and there were at least this many rounds: in fewer, a single play is too large a share.
const STUCK_ROUNDS: u64 = 1000;

/// Outcomes of each arm before explore-then-commit commits, on average.
const COMMIT_PILOT: u32 = 50;

/// How a switching policy explores.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Exploration {
    /// The first `pilot·k` decisions draw an arm uniformly. It counts decisions made, not outcomes received: late or batched outcomes do
    /// not prolong it.
    pub pilot: u32,
    /// With this probability an arm is drawn uniformly from the plausible ones.
    pub equipoise: Share,
    /// Posterior-weighted equipoise: the most that may be randomised away from the rule at any context. People are randomised where
    /// the posterior leaves open which arm is best, with the probabilities that it gives.
    #[cfg_attr(feature = "serde", serde(default))]
    pub posterior: Share,
}

impl Exploration {
    /// None: only the policy.
    pub const NONE: Self = Self { pilot: 0, equipoise: Share::ZERO, posterior: Share::ZERO };
    /// The default of `rarely`: posterior-weighted equipoise, capped at one half.
    pub const HOUSE: Self = Self { posterior: Share::constant(0.5), ..Self::NONE };

    /// The default of an algorithm.
    pub fn of(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Rarely | Algorithm::RarelyQuick => Self::HOUSE,
            Algorithm::ExploreThenCommit => Self { pilot: COMMIT_PILOT, ..Self::NONE },
            _ => Self::NONE,
        }
    }
}

/// Exploration under way: what was agreed, and how far it has come.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Explorer {
    pilot: u32,
    equipoise: Share,
    #[cfg_attr(feature = "serde", serde(default))]
    posterior: Share,
    /// Decisions made, as far as the caller has said so.
    #[cfg_attr(feature = "serde", serde(default))]
    decided: u64,
    #[cfg_attr(feature = "serde", serde(default))]
    randomisation: Option<Randomisation>,
}

/// What a decision is drawn from.
pub(crate) struct Question<'a> {
    pub(crate) context: &'a [f64],
    /// The arm that the policy in force plays.
    pub(crate) policy_arm: usize,
    /// Decisions made before this one.
    pub(crate) decided: u64,
    /// Which arms are allowed, if not all are.
    pub(crate) mask: Option<&'a [bool]>,
}

impl Explorer {
    pub(crate) fn new(exploration: Exploration, learner: &Learner) -> Self {
        let Exploration { pilot, equipoise, posterior } = exploration;
        let randomisation = (posterior != Share::ZERO).then(|| Randomisation::new(learner));
        Self { pilot, equipoise, posterior, decided: learner.statistics().rounds(), randomisation }
    }

    /// What was agreed.
    pub(crate) fn settings(&self) -> Exploration {
        Exploration { pilot: self.pilot, equipoise: self.equipoise, posterior: self.posterior }
    }

    /// Decisions made so far: those reported, and at least one for each outcome.
    #[inline]
    pub(crate) fn decided(&self, statistics: &Statistics) -> u64 {
        self.decided.max(statistics.rounds())
    }

    /// Sets the number of decisions made.
    pub(crate) fn set_decided(&mut self, decided: u64) {
        self.decided = decided;
    }

    /// Rebuilds what a snapshot omits.
    pub(crate) fn revive(&mut self, shape: Shape) {
        if let Some(randomisation) = &mut self.randomisation {
            randomisation.lay_out(shape);
        }
    }

    /// Renewals of the randomisation so far.
    pub(crate) fn renewals(&self) -> u64 {
        self.randomisation.as_ref().map_or(0, Randomisation::renewals)
    }

    /// Renews the randomisation if the information has grown enough.
    pub(crate) fn renew(&mut self, learner: &Learner, limit: f64) -> Option<Renewal> {
        self.randomisation.as_mut()?.renew(learner, limit)
    }

    /// Whether decisions consult the confidence set.
    pub(crate) fn asks_the_set(&self) -> bool {
        self.equipoise != Share::ZERO
    }

    /// Whether exploration is over: only the policy decides from now on.
    #[inline]
    pub(crate) fn is_over(&self, decided: u64, arms: usize) -> bool {
        self.equipoise == Share::ZERO && self.posterior == Share::ZERO && !self.is_pilot(decided, arms)
    }

    #[inline]
    fn is_pilot(&self, decided: u64, arms: usize) -> bool {
        self.pilot > 0 && decided < u64::from(self.pilot) * arms as u64
    }

    /// The decision at a context. `for_each_plausible` calls its argument with every plausible arm there, in order.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    #[inline]
    pub(crate) fn decide(
        &self,
        question: &Question<'_>,
        shape: Shape,
        noise: f64,
        for_each_plausible: impl Fn(&mut dyn FnMut(usize)),
        rng: &mut Rng,
    ) -> Decision {
        let mask = question.mask;
        if self.is_pilot(question.decided, shape.arms()) {
            let arms = count_allowed(mask, shape.arms());
            let arm = ((rng.uniform() * arms as f64) as usize).min(arms - 1);
            let arm = Arm::new(nth_allowed(mask, arm));
            return Decision { arm, reason: Reason::Pilot, propensity: 1.0 / arms as f64 };
        }
        if let Some(randomisation) = &self.randomisation {
            return randomisation.decide(self.posterior.get(), noise, question, rng);
        }
        let equipoise = self.equipoise.get();
        if equipoise == 0.0 {
            return Decision::certain(question.policy_arm, Reason::Policy);
        }
        let allowed = |visit: &mut dyn FnMut(usize)| {
            for_each_plausible(&mut |arm| {
                if is_allowed(mask, arm) {
                    visit(arm);
                }
            });
        };
        uniform_equipoise(equipoise, question.policy_arm, allowed, rng)
    }

    pub(crate) fn is_sound(&self, shape: Shape, rounds: u64) -> bool {
        self.decided <= MAX_ROUNDS
            && self.randomisation.is_some() == (self.posterior != Share::ZERO)
            && self.randomisation.as_ref().is_none_or(|randomisation| randomisation.is_sound(shape, rounds))
    }
}

/// With probability `equipoise` an arm drawn uniformly from the plausible ones, else the policy's. Draws one random number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn uniform_equipoise(
    equipoise: f64,
    policy_arm: usize,
    for_each_plausible: impl Fn(&mut dyn FnMut(usize)),
    rng: &mut Rng,
) -> Decision {
    let draw = rng.uniform();
    let mut plausible = 0_usize;
    let mut policy_is_plausible = false;
    for_each_plausible(&mut |arm| {
        plausible += 1;
        policy_is_plausible |= arm == policy_arm;
    });
    if plausible == 0 {
        // Sharp sets that contradict each other exclude every arm.
        return Decision::certain(policy_arm, Reason::Policy);
    }
    let each = equipoise / plausible as f64;
    let (mut arm, mut reason) = (policy_arm, Reason::Policy);
    if draw < equipoise {
        let chosen = ((draw / each) as usize).min(plausible - 1);
        let mut at = 0;
        for_each_plausible(&mut |candidate| {
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

/// `none`, or any of `pilot:10`, `equipoise:0.05` and `posterior:0.5`, joined by a plus.
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
                ("posterior", cap) => {
                    exploration.posterior = Share::named("posterior", cap.parse().map_err(|_| form())?)?;
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
        if *self == Self::NONE {
            return f.write_str("none");
        }
        let mut plus = "";
        let shares = [("equipoise", self.equipoise.get()), ("posterior", self.posterior.get())];
        for (name, value) in [("pilot", f64::from(self.pilot))].into_iter().chain(shares) {
            if value != 0.0 {
                write!(f, "{plus}{name}:{value}")?;
                plus = "+";
            }
        }
        Ok(())
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
             will never tell; add exploration (for example posterior-weighted equipoise with a cap of 0.5)",
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
        stuck_arms(self.statistics(), population, |row, visit| self.for_each_plausible(row, visit))
    }
}

/// Whether an arm was played seldom enough to be stuck, after enough rounds to tell.
pub(crate) fn may_be_stuck(statistics: &Statistics) -> bool {
    let seldom = |arm| played_share(statistics, arm) < STUCK_PLAYED;
    statistics.rounds() >= STUCK_ROUNDS && (0..statistics.shape().arms()).any(seldom)
}

fn played_share(statistics: &Statistics, arm: usize) -> f64 {
    statistics.arm(arm).count() as f64 / statistics.rounds().max(1) as f64
}

/// The arms that are stuck, given what calls its argument with every plausible arm at a context.
pub(crate) fn stuck_arms(
    statistics: &Statistics,
    population: &Population,
    for_each_plausible: impl Fn(&[f64], &mut dyn FnMut(usize)),
) -> Vec<Stuck> {
    assert_eq!(population.dimension(), statistics.shape().dimension(), "the population fits the statistics");
    if !may_be_stuck(statistics) {
        return Vec::new();
    }
    let mut plausible = vec![0_u64; statistics.shape().arms()];
    for row in population.rows() {
        for_each_plausible(row, &mut |arm| plausible[arm] += 1);
    }
    let report = |(arm, count): (usize, u64)| Stuck {
        arm: Arm::new(arm),
        plausible_share: count as f64 / population.len().max(1) as f64,
        played_share: played_share(statistics, arm),
    };
    let reports = plausible.into_iter().enumerate().map(report);
    reports.filter(|stuck| stuck.plausible_share >= STUCK_PLAUSIBLE && stuck.played_share < STUCK_PLAYED).collect()
}
