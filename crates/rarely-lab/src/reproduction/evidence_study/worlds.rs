//! The worlds in which methods are compared: a truth, a declared change of rule, and a design.

use rarely_core::Arm;
use serde::Serialize;

/// How bent the bent truth is: enough that the change harms.
const BEND: f64 = 0.8;
/// Contexts of the list over which the gain is declared, evenly on `[0,1]`.
const GRID: usize = 1_000;

/// How arms are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArmDesign {
    /// By a fair coin: a fixed design.
    Coin,
    /// By Thompson sampling, which looks at outcomes.
    Thompson,
    /// By somebody who knows the truth and wants the estimate to be wrong: arm 1 is hardly tried any more while its estimate is off.
    Misleading,
}

impl ArmDesign {
    /// Every design, in the order of the report.
    pub const ALL: [Self; 3] = [Self::Coin, Self::Thompson, Self::Misleading];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Coin => "fair coin",
            Self::Thompson => "Thompson",
            Self::Misleading => "misleading",
        }
    }

    /// The least propensity of an arm.
    pub(super) fn floor(self) -> f64 {
        match self {
            Self::Coin => 0.5,
            Self::Thompson => 0.1,
            Self::Misleading => 0.02,
        }
    }

    /// Whether arms depend on earlier outcomes.
    pub fn is_adaptive(self) -> bool {
        self != Self::Coin
    }
}

/// A truth and a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EvidenceWorld {
    /// Whether mean outcomes are bent, not linear.
    pub bent: bool,
    /// How arms are chosen.
    pub design: ArmDesign,
}

impl EvidenceWorld {
    /// Every world, in the order of the report.
    pub fn all() -> impl Iterator<Item = Self> {
        let all = [false, true].into_iter().flat_map(|bent| ArmDesign::ALL.map(|design| Self { bent, design }));
        // Under a bent truth estimates are off without anybody's help.
        all.filter(|world| !(world.bent && world.design == ArmDesign::Misleading))
    }

    /// In words.
    pub fn words(self) -> String {
        format!("{} truth, {}", if self.bent { "bent" } else { "linear" }, self.design.words())
    }

    /// What the declared change truly gains per case.
    pub fn true_gain(self) -> f64 {
        let moved = grid().filter(|&x| declared_change(x)[0] != declared_change(x)[1]);
        let gained: f64 = moved.map(|x| self.difference(x)).sum();
        gained / GRID as f64
    }

    /// What arm 1 is better by at x. Both truths have the same best line: the bend is orthogonal to every line on `[0,1]`.
    fn difference(self, x: f64) -> f64 {
        let bend = if self.bent { BEND * ((2.0 * x - 1.0).powi(2) - 1.0 / 3.0) } else { 0.0 };
        0.1 + 0.25 * (x - 0.5) + bend
    }

    pub(super) fn mean(self, x: f64, arm: usize) -> f64 {
        0.5 + (arm as f64 - 0.5) * self.difference(x)
    }

    /// The parameters of both truths' best line.
    pub(super) fn line() -> [f64; 4] {
        let flat = Self { bent: false, design: ArmDesign::Coin };
        let intercepts = [0, 1].map(|arm| flat.mean(0.0, arm));
        [intercepts[0], flat.mean(1.0, 0) - intercepts[0], intercepts[1], flat.mean(1.0, 1) - intercepts[1]]
    }
}

pub(super) fn grid() -> impl Iterator<Item = f64> {
    (0..GRID).map(|at| (at as f64 + 0.5) / GRID as f64)
}

/// The declared change: the arm at x before and after it.
pub(super) fn declared_change(x: f64) -> [Arm; 2] {
    [0.8, 0.4].map(|cut| Arm::new(usize::from(x >= cut)))
}
