//! The methods that are compared, and what each promises.

use serde::Serialize;

use super::worlds::EvidenceWorld;

/// A method that puts an interval around the gain of a declared change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GainMethod {
    /// The joint set.
    Joint,
    /// A set for each arm.
    PerArm,
    /// Sharp sets.
    Sharp,
    /// Sets that hold at planned looks.
    Planned,
    /// Least squares with HC3 errors at planned looks.
    Confirmed,
    /// The same interval, looked at again and again: a mistake, shown as one.
    Peeked,
    /// Least squares with HC3 errors and the multiplier that holds at any time.
    AnytimeT,
    /// The mean of model-free scores at planned looks.
    ScoreMean,
    /// Model-free scores with an asymptotic confidence sequence.
    Asymptotic,
    /// Model-free scores with an empirical-Bernstein confidence sequence.
    Bernstein,
}

impl GainMethod {
    /// Every method, in the order of the report.
    pub const ALL: [Self; 10] = [
        Self::Joint,
        Self::PerArm,
        Self::Sharp,
        Self::Planned,
        Self::Confirmed,
        Self::Peeked,
        Self::AnytimeT,
        Self::ScoreMean,
        Self::Asymptotic,
        Self::Bernstein,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Joint => "joint set",
            Self::PerArm => "per-arm sets",
            Self::Sharp => "sharp sets",
            Self::Planned => "planned sets",
            Self::Confirmed => "confirmed (HC3)",
            Self::Peeked => "confirmed, but peeked at",
            Self::AnytimeT => "anytime t",
            Self::ScoreMean => "model-free, planned t",
            Self::Asymptotic => "model-free, asymptotic",
            Self::Bernstein => "model-free, Bernstein",
        }
    }

    /// What it needs, beyond independent cases.
    pub fn needs(self) -> &'static str {
        match self {
            Self::Joint | Self::PerArm => "linear means, declared σ and L",
            Self::Sharp => "linear means, declared σ",
            Self::Planned => "linear means, fixed design, normal noise",
            Self::Confirmed | Self::AnytimeT => "linear means, fixed design, many cases",
            Self::Peeked => "nothing makes it valid",
            Self::ScoreMean | Self::Asymptotic => "logged propensities, many cases",
            Self::Bernstein => "logged propensities, declared range",
        }
    }

    /// Whether it rests on linear means.
    pub fn is_linear(self) -> bool {
        !matches!(self, Self::ScoreMean | Self::Asymptotic | Self::Bernstein)
    }

    /// Whether it holds only at looks that were planned.
    pub fn is_planned(self) -> bool {
        matches!(self, Self::Planned | Self::Confirmed | Self::ScoreMean)
    }

    /// Whether it promises to miss in at most δ of the runs of a world.
    pub fn promises(self, world: EvidenceWorld) -> bool {
        let fixed_only = matches!(self, Self::Planned | Self::Confirmed | Self::AnytimeT);
        self != Self::Peeked && !(self.is_linear() && world.bent) && !(fixed_only && world.design.is_adaptive())
    }
}
