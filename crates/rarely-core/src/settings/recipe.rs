//! The recipe of each algorithm that holds a rule: when to act, and what to change to.

use super::{Certificates, Settings};
use crate::algorithm::Algorithm;
use crate::arm::Parameters;
use crate::confidence::{Confidence, Sets, UnknownNoise};
use crate::explore::Exploration;
use crate::number::Deviations;
use crate::population::Population;
use crate::quantile::chi_squared_quantile;
use crate::statistics::Statistics;
use crate::trigger::Trigger;
use crate::update::Update;

impl Settings {
    /// The rows of the table that hold a policy.
    pub(super) fn recipe(&self) -> (Trigger, Update) {
        let solver = self.tuning.solver;
        let angle = Trigger::Angle { tolerance: self.tuning.tolerance.get(), solver };
        let population = Trigger::Population { share: self.tuning.excluded_share.get() };
        let minimum = self.tuning.minimum_gain.get();
        let gain = Trigger::Gain { minimum };
        let conservative = Update::Conservative(solver);
        match self.algorithm {
            Algorithm::Scheduled => (Trigger::Scheduled, Update::Estimate),
            Algorithm::ExploreThenCommit => {
                let pilot = self.exploration.unwrap_or(Exploration::of(self.algorithm)).pilot;
                let after = (u64::from(pilot) * self.shape().arms() as u64).max(1);
                (Trigger::Commit { after }, Update::Estimate)
            }
            Algorithm::FeasibleGreedy => (Trigger::OutsideSet, Update::Estimate),
            Algorithm::FeasibleConservative => (Trigger::OutsideSet, Update::Nearest),
            Algorithm::RsGreedy => (angle, Update::Estimate),
            Algorithm::RsConservative => (angle, conservative),
            Algorithm::Rarely => (Trigger::Question { deviations: None, minimum }, Update::Estimate),
            Algorithm::RarelyQuick => {
                (Trigger::Question { deviations: Some(self.deviations()), minimum }, Update::Estimate)
            }
            Algorithm::BoundaryGreedy => (Trigger::Boundary, Update::Estimate),
            Algorithm::BoundaryConservative => (Trigger::Boundary, conservative),
            Algorithm::PopulationGreedy => (population, Update::Estimate),
            Algorithm::PopulationConservative => (population, conservative),
            Algorithm::Certified => (gain, conservative),
            _ => (Trigger::EveryRound, Update::Estimate),
        }
    }

    pub(crate) fn parts(self) -> Parts {
        let confidence = self.confidence();
        let statistics = self.learned.clone().unwrap_or_else(|| self.nothing_learned());
        // Only sharp sets need marks, and only unknown noise the errors of prediction.
        let statistics = match (confidence.sets, self.tuning.unknown_noise) {
            (Sets::Sharp, Some(_)) => statistics.marked_and_predicting(),
            (Sets::Sharp, None) if statistics.marks().is_none() => statistics.marked(),
            _ => statistics,
        };
        let exploration = self.exploration.unwrap_or(Exploration::of(self.algorithm));
        Parts {
            algorithm: self.algorithm,
            confidence,
            unknown_noise: self.tuning.unknown_noise,
            renewal: self.tuning.renewal.get(),
            statistics,
            deployed: self.deployed,
            exploration,
            population: self.population,
            certificates: self.certificates,
        }
    }

    /// `z`: posterior standard deviations by which a change must be estimated to gain.
    pub(crate) fn deviations(&self) -> f64 {
        let own = || scheffe_deviations(self.shape().dimension());
        self.tuning.deviations.map_or_else(own, Deviations::get)
    }
}

/// `√χ²⁻¹_d(0.95)`: the estimate's rule is the one that looks best among all, and the difference of two arms has d directions to look good
/// in. If two arms do not differ, the square of its gain, in posterior deviations, is at most `χ²_d` [scheffe-1953].
fn scheffe_deviations(dimension: usize) -> f64 {
    chi_squared_quantile(dimension as f64, 0.95).sqrt()
}

/// Settings with every default filled in.
pub(crate) struct Parts {
    pub(crate) algorithm: Algorithm,
    pub(crate) confidence: Confidence,
    pub(crate) unknown_noise: Option<UnknownNoise>,
    pub(crate) renewal: f64,
    pub(crate) statistics: Statistics,
    pub(crate) deployed: Parameters,
    pub(crate) exploration: Exploration,
    pub(crate) population: Population,
    pub(crate) certificates: Certificates,
}
