//! The table of algorithms: each is a choice rule, a trigger and an update.

use std::fmt;
use std::str::FromStr;

use crate::confidence::Sets;
use crate::error::SettingsError;

/// The algorithms, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Algorithm {
    /// The default: a held rule with posterior-weighted equipoise, changed when the gain is certain.
    #[default]
    Rarely,
    /// The same, changed when the gain is likely: fewer cases, no guarantee.
    RarelyQuick,
    /// Follows its estimate every round.
    Greedy,
    /// Adopts its estimate at perfect squares.
    Scheduled,
    /// Plays every arm for a while, then adopts its estimate for good.
    ExploreThenCommit,
    /// Adopts its estimate when the parameters leave the set.
    FeasibleGreedy,
    /// Moves to the nearest point of the set when the parameters leave it.
    FeasibleConservative,
    /// Adopts its estimate when no plausible policy is near in angle.
    RsGreedy,
    /// Turns by the least angle when no plausible policy is near.
    RsConservative,
    /// Adopts its estimate when a boundary is implausible.
    BoundaryGreedy,
    /// Turns by the least angle when a boundary is implausible.
    BoundaryConservative,
    /// Adopts its estimate when too many people get an excluded arm.
    PopulationGreedy,
    /// Turns by the least angle when too many people get an excluded arm.
    PopulationConservative,
    /// Changes only when the gain is certain.
    Certified,
    /// The largest upper confidence bound.
    #[cfg_attr(feature = "serde", serde(rename = "linucb"))]
    LinUcb,
    /// LinUCB with estimates adopted rarely.
    #[cfg_attr(feature = "serde", serde(rename = "rs-linucb"))]
    RsLinUcb,
    /// Optimistic only as far as a baseline is safe.
    Clucb,
    /// The same with a tighter bound on what was earned.
    Clucb2,
    /// Best under a random draw.
    Thompson,
    /// Thompson sampling that learns at the end of batches.
    BatchedThompson,
    /// Best under a random replicate of the regression.
    Bootstrap,
    /// The largest estimate, or with probability ε any arm.
    EpsilonGreedy,
    /// The largest estimate plus a constant multiple of its width.
    #[cfg_attr(feature = "serde", serde(rename = "linucb-alpha"))]
    LinUcbAlpha,
    /// Drawn with probabilities that fall with the estimated gap.
    #[cfg_attr(feature = "serde", serde(rename = "squarecb"))]
    SquareCb,
    /// Drawn among the arms that the last batch has not excluded.
    BatchedElimination,
    /// Best under a random draw, for outcomes from 0 to 1.
    LogisticThompson,
    /// Optimistic logistic regression, for outcomes from 0 to 1, fitted rarely.
    #[cfg_attr(feature = "serde", serde(rename = "rs-glincb"))]
    RsGlinCb,
    /// A held rule that moves where regressions near its boundaries show a gain.
    LocalThreshold,
    /// A randomised trial.
    Random,
    /// Always one arm.
    Fixed,
}

/// A row of the table of algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlgorithmInfo {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its name.
    pub name: &'static str,
    /// Which arm it plays.
    pub choice: &'static str,
    /// When it acts.
    pub trigger: &'static str,
    /// What it changes to.
    pub update: &'static str,
    /// Its source: a key of REFERENCES.bib and a place, or "ours".
    pub source: &'static str,
}

const fn row(
    algorithm: Algorithm,
    name: &'static str,
    choice: &'static str,
    trigger: &'static str,
    update: &'static str,
    source: &'static str,
) -> AlgorithmInfo {
    AlgorithmInfo { algorithm, name, choice, trigger, update, source }
}

const HELD: &str = "the policy in force";
const LARGEST_BOUND: &str = "the largest upper bound";

impl Algorithm {
    /// The table.
    pub const TABLE: &[AlgorithmInfo] = &[
        row(
            Self::Rarely,
            "rarely",
            "the policy in force; posterior-weighted equipoise",
            "in question, and the estimate gains more than the minimum, certainly",
            "the estimate",
            "ours",
        ),
        row(
            Self::RarelyQuick,
            "rarely-quick",
            "the policy in force; posterior-weighted equipoise",
            "in question, and the estimate's gain exceeds z posterior deviations",
            "the estimate",
            "ours",
        ),
        row(Self::Greedy, "greedy", HELD, "every round", "the estimate", "bastani-2021"),
        row(
            Self::Scheduled,
            "scheduled",
            HELD,
            "the round is a perfect square",
            "the estimate",
            "lansdell-2019, suppl. C",
        ),
        row(
            Self::ExploreThenCommit,
            "explore-then-commit",
            "uniform, then the policy in force",
            "the end of the pilot",
            "the estimate",
            "lattimore-2020, ch. 6",
        ),
        row(
            Self::FeasibleGreedy,
            "feasible-greedy",
            HELD,
            "the parameters left the confidence set",
            "the estimate",
            "lansdell-2019, §2.4",
        ),
        row(
            Self::FeasibleConservative,
            "feasible-conservative",
            HELD,
            "the parameters left the confidence set",
            "the nearest point of the set",
            "lansdell-2019, §2.4",
        ),
        row(
            Self::RsGreedy,
            "rs-greedy",
            HELD,
            "outside the set, and no plausible policy within Δ",
            "the estimate",
            "lansdell-2019, §2.3",
        ),
        row(
            Self::RsConservative,
            "rs-conservative",
            HELD,
            "outside the set, and no plausible policy within Δ",
            "the nearest plausible angle",
            "lansdell-2019, Alg. 1",
        ),
        row(
            Self::BoundaryGreedy,
            "boundary-greedy",
            HELD,
            "some pair's boundary is implausible",
            "the estimate",
            "ours, after lansdell-2019, Thm 2",
        ),
        row(
            Self::BoundaryConservative,
            "boundary-conservative",
            HELD,
            "some pair's boundary is implausible",
            "the nearest plausible angle",
            "ours, after lansdell-2019, Thm 2",
        ),
        row(
            Self::PopulationGreedy,
            "population-greedy",
            HELD,
            "an excluded arm for more than τ of the population",
            "the estimate",
            "ours",
        ),
        row(
            Self::PopulationConservative,
            "population-conservative",
            HELD,
            "an excluded arm for more than τ of the population",
            "the nearest plausible angle",
            "ours",
        ),
        row(
            Self::Certified,
            "certified",
            HELD,
            "a change gains more than the minimum, certainly",
            "the candidate with the largest certain gain",
            "ours",
        ),
        row(Self::LinUcb, "linucb", LARGEST_BOUND, "every round", "estimate and widths", "abbasi-2011, §4"),
        row(
            Self::RsLinUcb,
            "rs-linucb",
            LARGEST_BOUND,
            "det V grew by a factor of 1+C",
            "estimate and widths",
            "abbasi-2011, §5.1",
        ),
        row(
            Self::Clucb,
            "clucb",
            "the largest upper bound if safe, else the baseline",
            "every round",
            "estimate and widths",
            "kazerouni-2017, Alg. 1",
        ),
        row(
            Self::Clucb2,
            "clucb2",
            "the largest upper bound if safe, else the baseline",
            "every round",
            "estimate and widths",
            "after garcelon-2020",
        ),
        row(
            Self::Thompson,
            "thompson",
            "best under a draw from N(θ̂, v²V⁻¹)",
            "every round",
            "estimate and widths",
            "agrawal-2013",
        ),
        row(
            Self::BatchedThompson,
            "batched-thompson",
            "best under a draw from N(θ̂, v²V⁻¹)",
            "the rounds have doubled",
            "estimate and widths",
            "after karbasi-2021",
        ),
        row(
            Self::Bootstrap,
            "bootstrap",
            "best under a random replicate of the regression",
            "every round",
            "the replicates",
            "eckles-2014",
        ),
        row(
            Self::EpsilonGreedy,
            "epsilon-greedy",
            "the largest estimate, or with probability ε any arm",
            "every round",
            "the estimate",
            "auer-2002, §3",
        ),
        row(
            Self::LinUcbAlpha,
            "linucb-alpha",
            "the largest estimate plus α widths",
            "every round",
            "estimate and widths",
            "li-2010, Alg. 1",
        ),
        row(
            Self::SquareCb,
            "squarecb",
            "drawn with 1/(k + γ·estimated gap)",
            "every round",
            "the estimate",
            "foster-2020, Alg. 1",
        ),
        row(
            Self::BatchedElimination,
            "batched-elimination",
            "uniform among the arms that are not excluded",
            "the rounds have doubled",
            "estimate and widths",
            "after ruan-2021",
        ),
        row(
            Self::LogisticThompson,
            "logistic-thompson",
            "best log-odds under a draw from Laplace's posterior",
            "every round",
            "estimate and widths",
            "chapelle-2011, Alg. 3",
        ),
        row(
            Self::RsGlinCb,
            "rs-glincb",
            "the least known arm, then the largest upper bound of the log-odds",
            "det H grew by a factor of 2",
            "estimate and widths",
            "after sawarni-2024, Alg. 2, and lee-2024",
        ),
        row(
            Self::LocalThreshold,
            "local-threshold",
            HELD,
            "regressions near its boundaries show a gain of z deviations",
            "towards the local estimate, within the bandwidth",
            "ours, after lansdell-2019, §4, and hahn-2001",
        ),
        row(Self::Random, "random", "uniform", "never", "–", "a randomised trial"),
        row(Self::Fixed, "fixed", "one arm", "never", "–", "–"),
    ];

    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::TABLE.iter().map(|row| row.algorithm)
    }

    /// Its row of the table.
    pub fn info(self) -> AlgorithmInfo {
        Self::TABLE[self as usize]
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The confidence sets it uses unless others are named: sharp for ours, joint for those of the literature.
    pub fn default_sets(self) -> Sets {
        match self {
            Self::Rarely
            | Self::RarelyQuick
            | Self::BoundaryGreedy
            | Self::BoundaryConservative
            | Self::PopulationGreedy
            | Self::PopulationConservative
            | Self::Certified => Sets::Sharp,
            _ => Sets::Joint,
        }
    }

    /// Whether it follows its estimates every round, so that changes are not counted.
    pub fn is_continuous(self) -> bool {
        matches!(
            self,
            Self::Greedy
                | Self::LinUcb
                | Self::Clucb
                | Self::Clucb2
                | Self::Thompson
                | Self::Bootstrap
                | Self::EpsilonGreedy
                | Self::LinUcbAlpha
                | Self::SquareCb
                | Self::LogisticThompson
        )
    }

    /// Whether it learns outcomes from 0 to 1, by logistic regression.
    pub fn is_logistic(self) -> bool {
        matches!(self, Self::LogisticThompson | Self::RsGlinCb)
    }

    /// Whether its decisions rest on no confidence set, so that old outcomes may count less and outcomes may have weights.
    pub fn can_forget(self) -> bool {
        use Algorithm::{EpsilonGreedy, LinUcbAlpha, LogisticThompson, SquareCb, Thompson};
        matches!(self, EpsilonGreedy | LinUcbAlpha | LogisticThompson | SquareCb | Thompson)
    }

    /// Whether its arms may have [features](crate::Settings::arm_features), with parameters that all arms share.
    pub fn can_share(self) -> bool {
        use Algorithm::{EpsilonGreedy, LinUcb, LinUcbAlpha, SquareCb, Thompson};
        matches!(self, EpsilonGreedy | LinUcb | LinUcbAlpha | SquareCb | Thompson)
    }

    /// Whether its bound sums contexts of all arms, so that it has joint sets only and needs a baseline.
    pub fn sums_contexts(self) -> bool {
        matches!(self, Self::Clucb | Self::Clucb2)
    }

    /// Whether it holds a policy and switches it, so that exploration can be combined with it.
    pub fn is_switching(self) -> bool {
        (self as usize) <= (Self::Certified as usize)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = SettingsError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::TABLE.iter().find(|row| row.name == name).map(|row| row.algorithm).ok_or_else(|| {
            let known = Self::TABLE.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
            SettingsError::UnknownAlgorithm { name: name.to_owned(), known }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (at, row) in Algorithm::TABLE.iter().enumerate() {
            assert_eq!(row.algorithm as usize, at, "{}", row.name);
            assert_eq!(row.name.parse::<Algorithm>().unwrap(), row.algorithm);
        }
    }
}
