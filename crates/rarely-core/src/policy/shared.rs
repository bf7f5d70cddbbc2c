//! Index algorithms for arms with features, which share their parameters [li-2010, §3.2, in its most general form; agrawal-2013].
//!
//! The mean outcome of arm `a` at context `s` is `sᵀΘf_a`, linear in `φ(s,a) = f_a ⊗ s`: one regression on all products of a context variable
//! and a feature of the arm. An outcome of one arm says something of every arm with similar features, and of arms that were never played.
//! If each arm has a feature of its own and no other, this is the model with parameters for each arm, and the algorithms decide alike.
//!
//! Thompson sampling draws the arms' means independently, each from its posterior, as it does where arms have their own parameters: a draw of
//! `Θ` would make them dependent, and the probability of an arm would be an integral without a formula.

use crate::algorithm::Algorithm;
use crate::arm::{Parameters, Shape};
use crate::arm_set::{ArmChange, Availability};
use crate::change::{Change, Evidence};
use crate::confidence::{Confidence, Profile, Sets, optimistic};
use crate::context::{Context, Contexts};
use crate::decision::{Decision, Reason};
use crate::error::{ArmsError, DecideError, MAX_INFORMATION_RATIO, MergeError, ObserveError, SettingsError};
use crate::number::Noise;
use crate::policy::constant_width::ConstantWidth;
use crate::policy::epsilon_greedy::EpsilonGreedy;
use crate::policy::indexed::{ArmIndex, IndexChoice as _};
use crate::policy::square_cb::SquareCb;
use crate::policy::thompson::drawn;
use crate::policy::{Policy, check_weights, observe_all_or_none};
use crate::ridge::{MAX_ROUNDS, Ridge};
use crate::rng::Rng;
use crate::rule::argmax_among;
use crate::settings::{ArmFeatures, Settings};
use crate::snapshot::{Snapshot, State};
use crate::statistics::{MAX_WEIGHT, Scratch, check_conditioning, check_outcome};
use crate::symmetric::dot;

/// A policy whose arms share their parameters.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Shared {
    confidence: Confidence,
    shape: Shape,
    features: ArmFeatures,
    ridge: Ridge,
    choice: SharedChoice,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Availability::is_all"))]
    available: Availability,
    /// Products, and room for the update.
    scratch: [Scratch; 2],
}

/// How an arm is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum SharedChoice {
    LinUcb,
    LinUcbAlpha(ConstantWidth),
    Thompson(Noise),
    EpsilonGreedy(EpsilonGreedy),
    SquareCb(SquareCb),
}

impl SharedChoice {
    fn of(settings: &Settings, algorithm: Algorithm) -> Option<Self> {
        let tuning = settings.tuning();
        Some(match algorithm {
            Algorithm::LinUcb => Self::LinUcb,
            Algorithm::LinUcbAlpha => Self::LinUcbAlpha(ConstantWidth { alpha: tuning.alpha }),
            Algorithm::Thompson => Self::Thompson(tuning.posterior_scale.unwrap_or(settings.confidence().noise)),
            Algorithm::EpsilonGreedy => Self::EpsilonGreedy(EpsilonGreedy { epsilon: tuning.epsilon }),
            Algorithm::SquareCb => Self::SquareCb(SquareCb { gap_scale: tuning.gap_scale }),
            _ => return None,
        })
    }
}

/// Every arm at one context.
struct SharedIndex<'a> {
    policy: &'a Shared,
    /// `φ(s,a)`, arm by arm.
    products: Vec<f64>,
}

impl SharedIndex<'_> {
    fn product(&self, arm: usize) -> &[f64] {
        let width = self.policy.ridge.dimension();
        &self.products[arm * width..(arm + 1) * width]
    }
}

impl ArmIndex for SharedIndex<'_> {
    fn arms(&self) -> usize {
        self.policy.shape.arms()
    }

    fn rounds(&self) -> u64 {
        self.policy.ridge.count()
    }

    fn mean(&self, arm: usize) -> f64 {
        self.policy.ridge.predict(self.product(arm))
    }

    fn width_squared(&self, arm: usize) -> f64 {
        self.policy.ridge.width_squared(self.product(arm))
    }
}

impl Shared {
    pub(crate) fn new(settings: &Settings, features: ArmFeatures) -> Result<Self, SettingsError> {
        let (algorithm, confidence) = (settings.named_algorithm(), settings.confidence());
        let refused = |setting, remedy| SettingsError::Incompatible { setting, algorithm: "features of arms", remedy };
        let choice = SharedChoice::of(settings, algorithm).ok_or(SettingsError::Incompatible {
            setting: "features of arms",
            algorithm: algorithm.name(),
            remedy: "leave them out, or use linucb, linucb-alpha, thompson, epsilon-greedy or squarecb",
        })?;
        if settings.tuning().forgetting.is_some() {
            return Err(refused("forgetting", "leave one of them out"));
        }
        if settings.starts_at().values().iter().any(|mean| *mean != 0.0) {
            return Err(refused("a prior mean", "leave it out: the shared parameters start at 0"));
        }
        if confidence.sets != Sets::Joint || confidence.profile != Profile::Rigorous {
            return Err(refused("other than joint confidence sets", "use joint sets: there is one regression"));
        }
        let shape = settings.shape();
        let width = features.count() * shape.dimension();
        let ridge = Ridge::new(confidence.penalty.get(), &vec![0.0; width]);
        let scratch = [Scratch(vec![0.0; width]), Scratch(vec![0.0; width])];
        Ok(Self { confidence, shape, features, ridge, choice, available: Availability::default(), scratch })
    }

    fn choose(&self, context: &[f64], mask: Option<&[bool]>, rng: &mut Rng) -> Decision {
        let mut products = vec![0.0; self.shape.arms() * self.ridge.dimension()];
        for (arm, product) in products.chunks_exact_mut(self.ridge.dimension()).enumerate() {
            multiply(self.features.of(arm), context, product);
        }
        let index = SharedIndex { policy: self, products };
        match &self.choice {
            SharedChoice::LinUcbAlpha(choice) => choice.choose(&index, mask, rng),
            SharedChoice::EpsilonGreedy(choice) => choice.choose(&index, mask, rng),
            SharedChoice::SquareCb(choice) => choice.choose(&index, mask, rng),
            SharedChoice::Thompson(scale) => drawn(&index, *scale, mask, rng),
            SharedChoice::LinUcb => {
                let radius = self.confidence.radius_at(self.ridge.log_growth());
                let bound = |arm| optimistic(index.mean(arm), index.width_squared(arm), radius);
                Decision::certain(argmax_among(mask, (0..self.shape.arms()).map(bound)), Reason::Optimistic)
            }
        }
    }

    fn learn(
        &mut self,
        context: Context<'_>,
        decision: &Decision,
        reward: f64,
        weight: f64,
    ) -> Result<(), ObserveError> {
        let context = context.fitting(self.shape.dimension())?;
        check_outcome(self.shape, decision.arm, reward)?;
        if !(weight > 0.0 && weight <= MAX_WEIGHT) {
            return Err(ObserveError::Weight { weight });
        }
        let [product, direction] = &mut self.scratch;
        let arm = decision.arm.index();
        multiply(self.features.of(arm), context, &mut product.0);
        let squares = self.ridge.squares() + weight * dot(&product.0, &product.0);
        check_conditioning(arm, squares, self.ridge.penalty())?;
        self.ridge.update_weighted(arm, (&product.0, reward, weight), &mut direction.0);
        Ok(())
    }

    /// Adds another policy's statistics.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.features != other.features || self.choice != other.choice || self.confidence != other.confidence {
            return Err(MergeError::Settings { what: "features of arms, tuning or assumptions" });
        }
        let ratio = self.ridge.information_ratio() + other.ridge.information_ratio();
        if ratio > MAX_INFORMATION_RATIO {
            return Err(MergeError::IllConditioned { arm: 0, ratio });
        }
        self.ridge.merge(&other.ridge, &mut self.scratch[0].0);
        Ok(())
    }

    pub(crate) fn is_sound(&self) -> bool {
        let width = self.features.count() * self.shape.dimension();
        self.features.is_sound(self.shape)
            && self.ridge.is_sound(width)
            && self.ridge.penalty() == self.confidence.penalty.get()
            && self.ridge.count() <= MAX_ROUNDS
            && self.scratch.iter().all(|scratch| scratch.0.len() == width)
            && self.available.is_sound(self.shape.arms())
    }
}

/// `f ⊗ s`.
fn multiply(features: &[f64], context: &[f64], product: &mut [f64]) {
    for (part, feature) in product.chunks_exact_mut(context.len()).zip(features) {
        for (out, value) in part.iter_mut().zip(context) {
            *out = feature * value;
        }
    }
}

impl Policy for Shared {
    fn algorithm(&self) -> Algorithm {
        match self.choice {
            SharedChoice::LinUcb => Algorithm::LinUcb,
            SharedChoice::LinUcbAlpha(_) => Algorithm::LinUcbAlpha,
            SharedChoice::Thompson(_) => Algorithm::Thompson,
            SharedChoice::EpsilonGreedy(_) => Algorithm::EpsilonGreedy,
            SharedChoice::SquareCb(_) => Algorithm::SquareCb,
        }
    }

    fn shape(&self) -> Shape {
        self.shape
    }

    fn rounds(&self) -> u64 {
        self.ridge.count()
    }

    fn decide(&self, context: Context<'_>, rng: &mut Rng) -> Result<Decision, DecideError> {
        Ok(self.choose(context.fitting(self.shape.dimension())?, self.available.mask(), rng))
    }

    fn decide_among(&self, context: Context<'_>, allowed: &[bool], rng: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape.dimension())?;
        let allowed = self.available.among(self.shape, allowed)?;
        Ok(self.choose(context, Some(&allowed), rng))
    }

    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError> {
        self.learn(context, decision, reward, 1.0)?;
        Ok(Change::Continuous)
    }

    fn observe_many(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Result<Vec<(usize, Evidence)>, ObserveError> {
        observe_all_or_none(self, contexts, decisions, rewards)
    }

    fn observe_weighted(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
        weights: &[f64],
    ) -> Result<(), ObserveError> {
        if !self.algorithm().can_forget() {
            return Err(ObserveError::Weights { algorithm: self.algorithm().name() });
        }
        check_weights(contexts, self.shape, decisions, rewards, weights)?;
        let mut learned = self.clone();
        let rows = contexts.iter().zip(decisions).zip(rewards.iter().zip(weights)).enumerate();
        for (row, ((context, decision), (&reward, &weight))) in rows {
            learned.learn(context, decision, reward, weight).map_err(|source| source.in_row(row))?;
        }
        *self = learned;
        Ok(())
    }

    fn change_arms(&mut self, change: &ArmChange) -> Result<(), ArmsError> {
        let arms = self.shape.arms();
        match change {
            ArmChange::Remove(arm) => self.available.remove(*arm, arms),
            ArmChange::Restore(arm) => self.available.restore(*arm, arms),
            ArmChange::Add { prior_mean: Some(_), .. } => Err(ArmsError::SharedPrior),
            ArmChange::Add { prior_mean: None, features } => {
                let (given, expected) = (features.as_deref().unwrap_or_default(), self.features.count());
                if given.len() != expected {
                    return Err(ArmsError::Features { expected, found: given.len() });
                }
                let shape = Shape::new(arms + 1, self.shape.dimension())?;
                self.features.push(given)?;
                self.shape = shape;
                self.available.add();
                Ok(())
            }
        }
    }

    fn available(&self) -> Option<&[bool]> {
        self.available.mask()
    }

    /// `Θf_a` of every arm.
    fn estimates(&self) -> Option<Parameters> {
        let dimension = self.shape.dimension();
        let mut values = Vec::with_capacity(self.shape.parameters());
        for arm in 0..self.shape.arms() {
            let features = self.features.of(arm);
            let parts = self.ridge.estimate();
            let of = |variable: usize| -> f64 {
                features.iter().enumerate().map(|(at, feature)| feature * parts[at * dimension + variable]).sum()
            };
            values.extend((0..dimension).map(of));
        }
        Some(Parameters::from_computed(self.shape, values))
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(State::Shared(Box::new(self.clone())))
    }
}
