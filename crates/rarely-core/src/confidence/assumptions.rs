//! What confidence sets are derived from: which sets, what is declared, and the radii that follow.

use std::fmt;
use std::str::FromStr;

use crate::arm::Shape;
use crate::confidence::ConfidenceSet;
use crate::error::SettingsError;
use crate::noise_bound::Variance;
use crate::number::{ErrorProbability, Noise, NormBound, Penalty};
use crate::ridge::Ridge;
use crate::sharp::SharpSet;
use crate::statistics::Statistics;

/// One ellipsoid for all arms, one for each, or some for each pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Sets {
    /// `Σ_a ‖θ_a − θ̂_a‖²_{V_a} ≤ r²`.
    #[default]
    Joint,
    /// `‖θ_a − θ̂_a‖_{V_a} ≤ r_a` for every arm, `r_a = √λ·L + σ·√(2 ln(k/δ) + ln det V_a − d·ln λ)`.
    PerArm,
    /// For each pair of arms, one ellipsoid for the outcomes since each mark: [`SharpSet`]. The index algorithms (linucb), which need
    /// one arm's radius, have `r_a² = λL² + σ²(2 ln(k/δ) + ln det V_a − d·ln λ)`.
    Sharp,
}

impl Sets {
    /// `joint`, `per-arm`, `sharp`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Joint => "joint",
            Self::PerArm => "per-arm",
            Self::Sharp => "sharp",
        }
    }
}

impl fmt::Display for Sets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Sets {
    type Err = SettingsError;

    fn from_str(name: &str) -> Result<Self, SettingsError> {
        [Self::Joint, Self::PerArm, Self::Sharp]
            .into_iter()
            .find(|sets| sets.name() == name)
            .ok_or_else(|| SettingsError::UnknownSets { name: name.to_owned() })
    }
}

/// Gaussian noise whose variance is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum UnknownNoise {
    /// One variance for all arms. Nothing is known of it before there are `4kd` outcomes.
    OfAllArms,
    /// A variance for each arm. An arm says nothing before it has `4d` outcomes.
    OfEachArm,
}

impl UnknownNoise {
    /// `unknown`, `unknown-per-arm`.
    pub fn name(self) -> &'static str {
        match self {
            Self::OfAllArms => "unknown",
            Self::OfEachArm => "unknown-per-arm",
        }
    }
}

impl fmt::Display for UnknownNoise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for UnknownNoise {
    type Err = SettingsError;

    fn from_str(name: &str) -> Result<Self, SettingsError> {
        [Self::OfAllArms, Self::OfEachArm]
            .into_iter()
            .find(|unknown| unknown.name() == name)
            .ok_or_else(|| SettingsError::Noise { found: name.to_owned() })
    }
}

/// Valid sets, or the sets that the paper's authors used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Profile {
    /// As derived: the sets hold with probability `1−δ`.
    #[default]
    Rigorous,
    /// What the authors' program computes, for comparison only: `β = √λ·L + σ·√(2 ln(1/δ) + ln det V − d·ln λ)`, which counts
    /// `ln λ` d times instead of kd, is compared with *squared* distances and, unsquared, used as LinUCB's width; a point
    /// outside is "projected" to `θ̂ + (β/‖φ−θ̂‖²)(φ−θ̂)`. Where the root is of a negative number (their NaN) nothing is ever
    /// outside. The sets do not hold.
    Published,
}

/// The declared assumptions from which radii follow.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Confidence {
    /// `σ`: the noise is conditionally σ-sub-gaussian.
    pub noise: Noise,
    /// `L ≥ ‖θ* − θ₀‖`, all arms stacked. Sharp sets do not need it; without it the others rule nothing out.
    pub norm_bound: Option<NormBound>,
    /// `δ`.
    pub error_probability: ErrorProbability,
    /// `λ`.
    pub penalty: Penalty,
    /// Joint, per arm or sharp.
    pub sets: Sets,
    /// Rigorous or published.
    pub profile: Profile,
}

impl Confidence {
    /// The confidence set of some statistics. For sharp sets this is the joint one: see [`Confidence::sharp`].
    ///
    /// # Panics
    /// If the statistics have another penalty.
    #[inline]
    pub fn set<'a>(&self, statistics: &'a Statistics) -> ConfidenceSet<'a> {
        assert_eq!(statistics.arm(0).penalty(), self.penalty.get(), "the radius and the sums have one penalty");
        let radius = match self.sets {
            Sets::Joint | Sets::Sharp => self.joint_radius(statistics),
            // The smallest ball around all arms' own: tests that need one ellipsoid hold, if not as sharply.
            Sets::PerArm => {
                let arms = statistics.arms().iter();
                arms.map(|ridge| self.arm_radius(statistics.shape().arms(), ridge).powi(2)).sum::<f64>().sqrt()
            }
        };
        ConfidenceSet { statistics, confidence: *self, radius }
    }

    /// The ellipsoid of all arms' parameters around the estimates with a radius that was derived elsewhere, such as that of planned looks.
    ///
    /// # Panics
    /// If the statistics have another penalty.
    pub fn set_of_radius<'a>(&self, statistics: &'a Statistics, radius: f64) -> ConfidenceSet<'a> {
        ConfidenceSet { radius, ..self.set(statistics) }
    }

    /// The sharp set of some statistics. Statistics without [marks](Statistics::marked) have mark 0 only.
    ///
    /// # Panics
    /// If the statistics have another penalty.
    pub fn sharp(&self, statistics: &Statistics) -> SharpSet {
        assert_eq!(statistics.arm(0).penalty(), self.penalty.get(), "the radius and the sums have one penalty");
        SharpSet::new(self, statistics, Variance::Declared(self.variance()))
    }

    /// The sharp set where the noise is Gaussian with an unknown variance: a tenth of the error probability goes to a bound on it, from
    /// the errors of predicting each outcome from those before it ([`Statistics::marked_and_predicting`]); the declared noise is not
    /// used. `None` if nothing is known of the noise of any arm: those errors are not kept, or too few. Outcomes that are merely bounded
    /// need half their range as noise instead.
    ///
    /// # Panics
    /// If the statistics have another penalty.
    pub fn sharp_with_unknown_noise(&self, statistics: &Statistics, unknown: UnknownNoise) -> Option<SharpSet> {
        assert_eq!(statistics.arm(0).penalty(), self.penalty.get(), "the radius and the sums have one penalty");
        let bounds = unknown.variance_bounds(self, statistics);
        let known = bounds.iter().any(Option::is_some);
        known.then(|| SharpSet::new(self, statistics, Variance::Bounded(bounds.into())))
    }

    /// `σ²`.
    pub(crate) fn variance(&self) -> f64 {
        self.noise.get() * self.noise.get()
    }

    fn joint_radius(&self, statistics: &Statistics) -> f64 {
        let growth = statistics.log_growth();
        match self.profile {
            Profile::Rigorous => self.radius_at(growth),
            Profile::Published => self.published_beta(statistics.shape(), self.evidence(growth)).sqrt(),
        }
    }

    fn evidence(&self, log_growth: f64) -> f64 {
        2.0 * self.error_probability.log_inverse() + log_growth
    }

    /// `√λ·L + σ·√(2 ln(1/δ) + g)`, the radius of one ellipsoid whose information has grown by `g = ln det V − ln det λI`.
    pub(crate) fn radius_at(&self, log_growth: f64) -> f64 {
        self.bias() + self.noise.get() * self.evidence(log_growth).sqrt()
    }

    fn published_beta(&self, shape: Shape, evidence: f64) -> f64 {
        let miscounted = (shape.parameters() - shape.dimension()) as f64 * libm::log(self.penalty.get());
        let inside = evidence + miscounted;
        if inside < 0.0 { f64::INFINITY } else { self.bias() + self.noise.get() * inside.sqrt() }
    }

    /// `√λ·L`; infinite where no bound is declared.
    fn bias(&self) -> f64 {
        self.declared_bias().unwrap_or(f64::INFINITY)
    }

    /// `√λ·L`, where a bound is declared.
    pub(crate) fn declared_bias(&self) -> Option<f64> {
        self.norm_bound.map(|bound| self.penalty.get().sqrt() * bound.get())
    }

    pub(super) fn arm_radius(&self, arms: usize, ridge: &Ridge) -> f64 {
        let evidence = 2.0 * (self.error_probability.log_inverse() + libm::log(arms as f64)) + ridge.log_growth();
        let spread = self.noise.get() * evidence.sqrt();
        match self.sets {
            Sets::Joint | Sets::PerArm => self.bias() + spread,
            Sets::Sharp => self.bias().hypot(spread),
        }
    }
}
