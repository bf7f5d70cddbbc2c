//! Thompson sampling: the best arm under a draw of the parameters [agrawal-2013].
//!
//! `V` is block diagonal, so that at one context the arms' drawn means are independent, `N(sᵀθ̂_a, v²‖s‖²_{V_a⁻¹})`: one normal
//! number per arm instead of a draw of `k·d` parameters, with the same distribution.

use crate::algorithm::Algorithm;
use crate::arm::{Arm, FEW_ARMS, Shape};
use crate::change::{Change, Evidence};
use crate::context::{Context, Contexts};
use crate::decision::{Decision, Reason};
use crate::error::{DecideError, MAX_ARMS, MergeError, ObserveError};
use crate::number::Noise;
use crate::policy::{Learner, Policy};
use crate::rng::Rng;
use crate::rule::argmax;
use crate::settings::Settings;
use crate::snapshot::{Snapshot, State};

/// Standard deviations beyond which a normal has no mass that a double can see.
const TAIL: f64 = 8.3;

/// Thompson sampling with a normal posterior.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Thompson {
    learner: Learner,
    scale: Noise,
}

impl Thompson {
    pub(crate) fn new(settings: &Settings) -> Self {
        let scale = settings.tuning().posterior_scale.unwrap_or(settings.confidence().noise);
        Self { learner: Learner::new(settings.confidence(), settings.nothing_learned()), scale }
    }

    fn draw<const MOST: usize>(&self, context: &[f64], rng: &mut Rng) -> Decision {
        let mut normals = [Normal { mean: 0.0, deviation: 0.0 }; MOST];
        let ridges = self.learner.statistics().arms();
        for (normal, ridge) in normals.iter_mut().zip(ridges) {
            normal.mean = ridge.predict(context);
            normal.deviation = self.scale.get() * ridge.width_squared(context).sqrt();
        }
        let normals = &normals[..ridges.len()];
        let arm = argmax(normals.iter().map(|normal| normal.mean + normal.deviation * rng.normal()));
        Decision { arm: Arm::new(arm), reason: Reason::Draw, propensity: chance_of_being_largest(normals, arm) }
    }

    /// Adds another policy's statistics.
    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        if self.scale != other.scale {
            return Err(MergeError::Settings { what: "posterior scales" });
        }
        self.learner.merge(&other.learner)
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.learner.statistics().is_sound()
    }
}

impl Policy for Thompson {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Thompson
    }

    fn shape(&self) -> Shape {
        self.learner.statistics().shape()
    }

    fn rounds(&self) -> u64 {
        self.learner.statistics().rounds()
    }

    fn decide(&self, context: Context<'_>, rng: &mut Rng) -> Result<Decision, DecideError> {
        let context = context.fitting(self.shape().dimension())?;
        Ok(if self.shape().arms() <= FEW_ARMS {
            self.draw::<FEW_ARMS>(context, rng)
        } else {
            self.draw::<MAX_ARMS>(context, rng)
        })
    }

    fn observe(&mut self, context: Context<'_>, decision: &Decision, reward: f64) -> Result<Change, ObserveError> {
        self.learner.statistics_mut().observe(context, decision.arm, reward)?;
        Ok(Change::Continuous)
    }

    fn observe_many(
        &mut self,
        contexts: Contexts<'_>,
        decisions: &[Decision],
        rewards: &[f64],
    ) -> Result<Vec<(usize, Evidence)>, ObserveError> {
        self.learner.learn_block(contexts, decisions, rewards)?;
        Ok(Vec::new())
    }

    fn learner(&self) -> Option<&Learner> {
        Some(&self.learner)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::new(State::Thompson(Box::new(self.clone())))
    }
}

#[derive(Debug, Clone, Copy)]
struct Normal {
    mean: f64,
    deviation: f64,
}

impl Normal {
    /// `P(X ≤ x)`.
    fn below(&self, x: f64) -> f64 {
        if self.deviation == 0.0 {
            return if x >= self.mean { 1.0 } else { 0.0 };
        }
        0.5 * libm::erfc((self.mean - x) / (self.deviation * std::f64::consts::SQRT_2))
    }

    fn density(&self, x: f64) -> f64 {
        const ROOT: f64 = 0.398_942_280_401_432_7;
        let z = (x - self.mean) / self.deviation;
        ROOT * libm::exp(-0.5 * z * z) / self.deviation
    }

    fn low(&self) -> f64 {
        self.mean - TAIL * self.deviation
    }

    fn high(&self) -> f64 {
        self.mean + TAIL * self.deviation
    }
}

/// `P(arm's normal is the largest)`, to about 1e-10: 1 if no other can reach it, the normal distribution function if one can,
/// else the integral of its density times the others' distribution functions, in panels that end where they bend.
fn chance_of_being_largest(normals: &[Normal], arm: usize) -> f64 {
    /// Nodes and weights of the 8-point Gauss–Legendre rule on [0, 1], half of it.
    const NODES: [(f64, f64); 4] = [
        (0.091_717_321_247_824_9, 0.181_341_891_689_181),
        (0.262_766_204_958_164_5, 0.156_853_322_938_943_64),
        (0.398_333_238_706_813_37, 0.111_190_517_226_687_24),
        (0.480_144_928_248_768_12, 0.050_614_268_145_188_13),
    ];
    let floor = normals.iter().map(Normal::low).fold(f64::NEG_INFINITY, f64::max);
    let rival = |other: &usize| *other != arm && normals[*other].high() > floor;
    let mut rivals = (0..normals.len()).filter(rival);
    let Some(first) = rivals.next() else {
        return 1.0;
    };
    let own = normals[arm];
    if rivals.next().is_none() {
        let other = normals[first];
        let spread = own.deviation.hypot(other.deviation);
        return Normal { mean: other.mean, deviation: spread }.below(own.mean);
    }
    let others_below = |x: f64| (0..normals.len()).filter(rival).map(|other| normals[other].below(x)).product::<f64>();
    if own.deviation == 0.0 {
        return others_below(own.mean);
    }
    // From the highest point that some other is certain to exceed: panels of at most one standard deviation of the
    // narrowest normal that still varies there.
    let mut x = own.low().max(floor);
    let end = own.high();
    let mut total = 0.0;
    while x < end {
        let mut step = own.deviation;
        for other in (0..normals.len()).filter(rival) {
            let normal = normals[other];
            if normal.deviation > 0.0 && x < normal.high() {
                step = step.min(if x >= normal.low() { normal.deviation } else { normal.low() - x });
            } else if normal.deviation == 0.0 && x < normal.mean {
                step = step.min(normal.mean - x);
            }
        }
        // Advance even if the other distributions are very narrow.
        let step = step.max(1e-9 * own.deviation + 8.0 * f64::EPSILON * x.abs()).min(end - x);
        for (offset, weight) in NODES {
            for node in [x + (0.5 - offset) * step, x + (0.5 + offset) * step] {
                total += weight * step * own.density(node) * others_below(node);
            }
        }
        x += step;
    }
    total.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_add_up_and_agree_with_closed_forms() {
        let normal = |mean, deviation| Normal { mean, deviation };
        let cases: [&[Normal]; 6] = [
            &[normal(0.0, 1.0), normal(0.0, 1.0), normal(0.0, 1.0)],
            &[normal(0.3, 1.0), normal(0.0, 0.2), normal(-0.5, 3.0), normal(0.1, 0.05)],
            &[normal(0.0, 1.0), normal(9.0, 1.0), normal(9.1, 0.01)],
            &[normal(0.0, 1.0), normal(0.5, 2.0)],
            &[normal(5.0, 0.1), normal(0.0, 0.1)],
            &[normal(1.0, 1e-4), normal(1.0, 1.0), normal(0.9, 10.0)],
        ];
        for case in cases {
            let total: f64 = (0..case.len()).map(|arm| chance_of_being_largest(case, arm)).sum();
            assert!((total - 1.0).abs() < 1e-8, "{case:?}: {total}");
        }
        for arm in 0..3 {
            assert!((chance_of_being_largest(cases[0], arm) - 1.0 / 3.0).abs() < 1e-10);
        }
    }
}
