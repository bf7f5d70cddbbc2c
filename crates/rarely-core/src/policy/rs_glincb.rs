//! RS-GLinCB: optimistic logistic regression that is fitted rarely [sawarni-2024, Alg. 2], with confidence sets after [lee-2024].
//!
//! A context at which some arm's log-odds are not yet known within 1 belongs to the *warm-up*: the least certain arm is played (the source's
//! first criterion). At every other context the arms whose upper bound by the warm-up is below another's lower bound are excluded, and among the
//! rest the largest upper bound by the other outcomes is played. These are fitted again when the determinant of their information has
//! doubled (its second criterion); the weights of that information are `μ'(sᵀθ̂)/e` with the warm-up's estimate.
//!
//! Where we differ: every arm has its own parameters; the source's radii with their constants (`25RS√…`, `150…`) are replaced by those of
//! [`LogisticFit`], each at δ/2k; "within 1" is tested by that radius, where the source bounds it by κ, the largest `1/μ'`; and the
//! warm-up is fitted again when its own determinant has doubled, not in each of its rounds. Fits of either kind count as changes.

use crate::algorithm::Algorithm;
use crate::arm::{Parameters, Shape};
use crate::change::{Cause, Change, Evidence};
use crate::confidence::Confidence;
use crate::context::{Context, Contexts};
use crate::decision::{Decision, Reason};
use crate::error::{DecideError, MAX_ARMS, MergeError, ObserveError};
use crate::logistic::{LogisticAssumptions, LogisticFit, slope};
use crate::policy::{Policy, observe_all_or_none};
use crate::ridge::MAX_ROUNDS;
use crate::rng::Rng;
use crate::settings::{DEFAULT_NORM_BOUND, Settings};
use crate::snapshot::{Snapshot, State};
use crate::statistics::{Statistics, check_share};
use crate::symmetric::dot;

/// Growth of a determinant after which outcomes are fitted again.
const DOUBLED: f64 = 2.0;

/// RS-GLinCB.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RsGlinCb {
    confidence: Confidence,
    /// Outcomes at contexts where some arm is not known well.
    warm_up: Stage,
    /// All others.
    main: Stage,
    changes: u64,
}

/// Outcomes of all arms, their last fit, and what has come since.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Stage {
    fits: Vec<LogisticFit>,
    /// The information as of now; its responses mean nothing.
    information: Statistics,
    /// `ln det` of the information at the last fit.
    log_growth: f64,
}

impl Stage {
    fn new(settings: &Settings, assumptions: LogisticAssumptions) -> Self {
        let information = settings.nothing_learned();
        let penalty = settings.confidence().penalty.get();
        let fits = information.estimates();
        let fits = fits.iter().map(|mean| LogisticFit::new(penalty, mean, assumptions)).collect();
        Self { fits, information, log_growth: 0.0 }
    }

    fn estimates(&self) -> Parameters {
        let values = self.fits.iter().flat_map(|fit| fit.estimate().iter().copied()).collect();
        Parameters::from_computed(self.information.shape(), values)
    }

    /// Growth of the determinant since the last fit.
    fn growth(&self) -> f64 {
        libm::exp(self.information.log_growth() - self.log_growth)
    }

    /// Half the width of an arm's interval, with the information as of now.
    fn half_width_now(&self, arm: usize, context: &[f64]) -> f64 {
        self.fits[arm].radius() * self.information.arm(arm).width_squared(context).sqrt()
    }

    /// Keeps an outcome whose weight in the information is known.
    fn learn(
        &mut self,
        context: Context<'_>,
        decision: &Decision,
        outcome: f64,
        weight: f64,
    ) -> Result<(), ObserveError> {
        self.information.observe_weighted(context, decision.arm, 0.0, weight)?;
        self.fits[decision.arm.index()].push(context.values(), outcome);
        Ok(())
    }

    fn fit(&mut self, assumptions: LogisticAssumptions) {
        for fit in &mut self.fits {
            fit.fit(assumptions);
        }
        self.log_growth = self.information.log_growth();
    }

    /// Computes the information of all outcomes with the weights of the last fit.
    fn weigh_again(&mut self) {
        let mut information = self.information.without_observations();
        for (arm, fit) in self.fits.iter().enumerate() {
            for (context, _) in fit.rows() {
                let weight = slope(fit.predict(context)).max(f64::MIN_POSITIVE);
                information.add_weighted(arm, (context, 0.0, weight));
            }
        }
        information.refresh();
        self.log_growth = information.log_growth();
        self.information = information;
    }

    fn count(&self) -> u64 {
        self.information.rounds()
    }

    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.information.merge(&other.information)?;
        for (mine, theirs) in self.fits.iter_mut().zip(&other.fits) {
            mine.append(theirs);
        }
        Ok(())
    }

    fn is_sound(&self, shape: Shape) -> bool {
        let counts = || self.fits.iter().map(LogisticFit::count).zip(self.information.arms());
        self.information.is_sound()
            && self.information.shape() == shape
            && self.fits.len() == shape.arms()
            && self.fits.iter().all(|fit| fit.is_sound(shape.dimension()))
            && counts().all(|(count, ridge)| count == ridge.count())
            && (0.0..=1e9).contains(&self.log_growth)
    }
}

impl RsGlinCb {
    pub(crate) fn new(settings: &Settings) -> Self {
        let confidence = settings.confidence();
        let assumptions = assumptions(&confidence, settings.shape());
        let stage = Stage::new(settings, assumptions);
        Self { confidence, warm_up: stage.clone(), main: stage, changes: 0 }
    }

    /// The arm whose log-odds are known least, if some are not known within 1.
    fn least_known(&self, context: &[f64]) -> Option<usize> {
        let (mut widest, mut found) = (1.0, None);
        for arm in 0..self.shape().arms() {
            let width = self.warm_up.half_width_now(arm, context);
            if width > widest {
                (widest, found) = (width, Some(arm));
            }
        }
        found
    }

    /// The largest upper bound by the last fit, among the arms that the warm-up has not excluded.
    fn most_optimistic(&self, context: &[f64]) -> usize {
        let mut ends = [(0.0, 0.0); MAX_ARMS];
        let ends = &mut ends[..self.shape().arms()];
        for (end, fit) in ends.iter_mut().zip(&self.warm_up.fits) {
            let (middle, half) = (fit.predict(context), fit.half_width(context));
            *end = (middle - half, middle + half);
        }
        let least = ends.iter().fold(f64::NEG_INFINITY, |least, end| least.max(end.0));
        let (mut best, mut largest) = (0, f64::NEG_INFINITY);
        for (arm, (end, fit)) in ends.iter().zip(&self.main.fits).enumerate() {
            let bound = fit.predict(context) + fit.half_width(context);
            if end.1 >= least && bound > largest {
                (best, largest) = (arm, bound);
            }
        }
        best
    }

    /// Adds the outcomes of another policy. They are fitted together at the next change.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.confidence != other.confidence {
            return Err(MergeError::Settings { what: "norm bounds, error probabilities or penalties" });
        }
        let mut merged = self.clone();
        merged.warm_up.merge(&other.warm_up)?;
        merged.main.merge(&other.main)?;
        *self = merged;
        Ok(())
    }

    pub(crate) fn is_sound(&self) -> bool {
        let shape = self.shape();
        self.warm_up.is_sound(shape)
            && self.main.is_sound(shape)
            && self.warm_up.fits.iter().zip(&self.main.fits).all(|(one, other)| one.same_prior(other))
            && self.rounds() <= MAX_ROUNDS
            && self.changes <= self.rounds()
    }
}

/// Of each of the 2k sets.
fn assumptions(confidence: &Confidence, shape: Shape) -> LogisticAssumptions {
    LogisticAssumptions {
        norm_bound: confidence.norm_bound.unwrap_or(DEFAULT_NORM_BOUND).get(),
        log_inverse_error: confidence.error_probability.log_inverse() + libm::log(2.0 * shape.arms() as f64),
    }
}

impl Policy for RsGlinCb {
    fn algorithm(&self) -> Algorithm {
        Algorithm::RsGlinCb
    }

    fn shape(&self) -> Shape {
        self.main.information.shape()
    }

    fn rounds(&self) -> u64 {
        self.warm_up.count() + self.main.count()
    }

    fn decide(&self, context: Context<'_>, _: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        Ok(match self.least_known(context) {
            Some(arm) => Decision::certain(arm, Reason::Pilot),
            None => Decision::certain(self.most_optimistic(context), Reason::Optimistic),
        })
    }

    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError> {
        let values = context.fitting(self.shape().dimension())?;
        check_share(self.shape(), decision.arm, reward, Algorithm::RsGlinCb)?;
        let squares = dot(values, values);
        self.warm_up.information.check_room_for(decision.arm, squares)?;
        self.main.information.check_room_for(decision.arm, squares)?;
        // Which of the two an outcome belongs to depends on what was known before it, not on itself.
        let is_warm_up = self.least_known(values).is_some();
        let weight = slope(self.warm_up.fits[decision.arm.index()].predict(values)).max(f64::MIN_POSITIVE);
        let weight = if is_warm_up { weight } else { weight / std::f64::consts::E };
        let assumptions = assumptions(&self.confidence, self.shape());
        let stage = if is_warm_up { &mut self.warm_up } else { &mut self.main };
        stage.learn(context, decision, reward, weight)?;
        let growth = stage.growth();
        if growth <= DOUBLED {
            return Ok(Change::Kept);
        }
        let from = stage.estimates();
        stage.fit(assumptions);
        let to = stage.estimates();
        if is_warm_up {
            self.warm_up.weigh_again();
        }
        if from == to {
            return Ok(Change::Kept);
        }
        self.changes += 1;
        let cause = Cause::Information { growth, limit: DOUBLED };
        let (round, version) = (self.rounds(), self.changes);
        Ok(Change::Switched(Box::new(Evidence { round, version, cause, from, to, certificate: None })))
    }

    fn observe_many(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Result<Vec<(usize, Evidence)>, ObserveError> {
        observe_all_or_none(self, contexts, decisions, rewards)
    }

    fn estimates(&self) -> Option<Parameters> {
        Some(self.main.estimates())
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(State::RsGlinCb(Box::new(self.clone())))
    }
}
