//! Which settings exclude each other, and what an algorithm needs.

use crate::confidence::{Profile, Sets};
use crate::error::SettingsError;
use crate::gradient::Solver;
use crate::policy::Baseline;
use crate::settings::Settings;

impl Settings {
    pub(super) fn known_baseline(&self) -> Result<Baseline, SettingsError> {
        if self.baseline.is_known() {
            Ok(self.baseline.clone())
        } else {
            Err(SettingsError::Missing {
                algorithm: self.algorithm.name(),
                what: "a baseline",
                remedy: "name the baseline arm and the parameters of its known mean reward",
            })
        }
    }

    pub(super) fn check_sets(&self) -> Result<(), SettingsError> {
        let sets = self.confidence().sets;
        let setting = match sets {
            Sets::Joint => return Ok(()),
            Sets::PerArm => "per-arm confidence sets",
            Sets::Sharp => "sharp confidence sets",
        };
        if self.confidence.profile == Profile::Published {
            let remedy = "use joint sets, as the authors did";
            return Err(SettingsError::Incompatible { setting, algorithm: "the published profile", remedy });
        }
        if self.algorithm.sums_contexts() {
            let remedy = "use joint sets: its bound sums contexts of all arms";
            return Err(SettingsError::Incompatible { setting, algorithm: self.algorithm.name(), remedy });
        }
        if sets == Sets::Sharp && self.tuning.solver != Solver::Exact {
            let remedy = "use joint sets: the projected gradient is defined on one ellipsoid";
            return Err(SettingsError::Incompatible { setting, algorithm: "the projected gradient", remedy });
        }
        Ok(())
    }

    /// Whether a policy of these settings can do without declared noise.
    pub fn can_estimate_noise(&self) -> bool {
        self.algorithm.is_switching() && self.confidence().sets == Sets::Sharp
    }

    pub(super) fn check_noise(&self) -> Result<(), SettingsError> {
        if self.tuning.unknown_noise.is_none() || self.can_estimate_noise() {
            return Ok(());
        }
        Err(SettingsError::Incompatible {
            setting: "unknown noise",
            algorithm: self.algorithm.name(),
            remedy: "declare the noise, or choose an algorithm that holds a rule, with sharp confidence sets",
        })
    }

    pub(super) fn check_forgetting(&self) -> Result<(), SettingsError> {
        if self.tuning.forgetting.is_none() || self.algorithm.can_forget() {
            return Ok(());
        }
        Err(SettingsError::Incompatible {
            setting: "forgetting",
            algorithm: self.algorithm.name(),
            remedy: "leave it out, or use thompson, logistic-thompson, epsilon-greedy, linucb-alpha or squarecb: what the others \
                     guarantee is for outcomes that count once, in a world that does not change",
        })
    }

    pub(super) fn check_learned(&self) -> Result<(), SettingsError> {
        let Some(learned) = &self.learned else {
            return Ok(());
        };
        if !self.algorithm.is_switching() {
            return Err(SettingsError::Incompatible {
                setting: "statistics learned before",
                algorithm: self.algorithm.name(),
                remedy: "choose an algorithm that holds a policy: only those can start from learned statistics",
            });
        }
        if learned.shape() != self.shape() || !learned.is_built_like(&self.nothing_learned()) {
            return Err(SettingsError::Incompatible {
                setting: "statistics learned before",
                algorithm: "this shape, penalty and prior mean",
                remedy: "give the shape, penalty and prior mean with which they were collected",
            });
        }
        Ok(())
    }
}
