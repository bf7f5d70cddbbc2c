//! Numbers that only some algorithms use, each with its default.

use crate::confidence::UnknownNoise;
use crate::gradient::Solver;
use crate::number::{Deviations, Growth, MinimumGain, Noise, Share};
use crate::statistics::Forgetting;

/// Numbers that only some algorithms use.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tuning {
    /// `Δ` of the rs algorithms.
    pub tolerance: Share,
    /// `C` of rs-linucb.
    pub growth: Growth,
    /// `τ` of the population algorithms.
    pub excluded_share: Share,
    /// Of `rarely` and `certified`.
    pub minimum_gain: MinimumGain,
    /// `z` of rarely-quick and local-threshold: posterior standard deviations by which a change must be estimated to gain; `None` is Scheffé's for
    /// as many context variables, `√χ²⁻¹_d(0.95)`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub deviations: Option<Deviations>,
    /// `c`: growth of `Σ ln det V` per parameter after which the randomisation is renewed.
    #[cfg_attr(feature = "serde", serde(default = "default_renewal"))]
    pub renewal: Growth,
    /// `α` of clucb and clucb2.
    pub safety: Share,
    /// `ε` of epsilon-greedy.
    #[cfg_attr(feature = "serde", serde(default = "default_epsilon"))]
    pub epsilon: Share,
    /// `α` of linucb-alpha: widths that are added to the estimate.
    #[cfg_attr(feature = "serde", serde(default = "default_alpha"))]
    pub alpha: Deviations,
    /// `c` of squarecb, whose `γ` is `c√t`.
    #[cfg_attr(feature = "serde", serde(default = "default_gap_scale"))]
    pub gap_scale: Growth,
    /// The share of the outcomes, those nearest to a boundary, from which local-threshold learns.
    #[cfg_attr(feature = "serde", serde(default = "default_bandwidth"))]
    pub bandwidth: Share,
    /// `v` of thompson and batched-thompson; `None` is `σ`. Of logistic-thompson; `None` is 1.
    pub posterior_scale: Option<Noise>,
    /// Of algorithms that hold a rule and have sharp sets: the noise is Gaussian and estimated, instead of declared.
    #[cfg_attr(feature = "serde", serde(default))]
    pub unknown_noise: Option<UnknownNoise>,
    /// How old outcomes count less, of the algorithms that [can forget](crate::Algorithm::can_forget).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub forgetting: Option<Forgetting>,
    /// Of conservative updates.
    pub solver: Solver,
}

const fn default_renewal() -> Growth {
    Growth::constant(0.25)
}

const fn default_epsilon() -> Share {
    Share::constant(0.05)
}

const fn default_alpha() -> Deviations {
    Deviations::constant(1.0)
}

const fn default_gap_scale() -> Growth {
    Growth::constant(10.0)
}

const fn default_bandwidth() -> Share {
    Share::constant(0.4)
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            tolerance: Share::constant(0.01),
            growth: Growth::constant(0.3),
            excluded_share: Share::constant(0.01),
            minimum_gain: MinimumGain::constant(0.0),
            deviations: None,
            renewal: default_renewal(),
            safety: Share::constant(0.1),
            epsilon: default_epsilon(),
            alpha: default_alpha(),
            gap_scale: default_gap_scale(),
            bandwidth: default_bandwidth(),
            posterior_scale: None,
            unknown_noise: None,
            forgetting: None,
            solver: Solver::Exact,
        }
    }
}
