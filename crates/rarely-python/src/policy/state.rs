//! What a `rarely.Policy` holds: its settings, the core's policy, its generator, and the changes so far.

use std::sync::Arc;

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use rarely_core::{Arm, ArmChange, Contexts, DecideError, Decision, Evidence, Learner, Policy, Rng, Rule};

use super::params::Params;
use crate::error;
use crate::evidence::PyChange;

/// What the lock of a policy protects.
pub(super) struct PyPolicyState {
    pub(super) params: Params,
    pub(super) policy: Box<dyn Policy>,
    pub(super) rng: Rng,
    pub(super) versions: Vec<Arc<Evidence>>,
    /// The columns of the first frame that was learned from.
    pub(super) feature_names: Option<Vec<String>>,
}

impl PyPolicyState {
    pub(super) fn new(py: Python<'_>, params: Params) -> PyResult<Self> {
        let policy = params.build(py)?;
        Ok(Self { policy, rng: Rng::new(params.seed, 0), versions: Vec::new(), feature_names: None, params })
    }

    pub(super) fn copied(&self) -> Self {
        let policy = self.policy.snapshot().restore().expect("a policy's own state is sound");
        Self {
            params: self.params.clone(),
            policy,
            rng: self.rng.clone(),
            versions: self.versions.clone(),
            feature_names: self.feature_names.clone(),
        }
    }

    /// The same policy with nothing learned. Removed arms stay removed: that is no evidence.
    pub(super) fn forgotten(&self, py: Python<'_>) -> PyResult<Self> {
        let mut fresh = Self::new(py, self.params.clone())?;
        for (arm, available) in self.policy.available().unwrap_or_default().iter().enumerate() {
            if !available {
                let removed = fresh.policy.change_arms(&ArmChange::Remove(Arm::new(arm)));
                removed.map_err(|error| error::SETTINGS.explain(py, &error))?;
            }
        }
        Ok(fresh)
    }

    /// Records a change.
    pub(super) fn changed(&mut self, evidence: Evidence) -> PyChange {
        let evidence = Arc::new(evidence);
        self.versions.push(evidence.clone());
        PyChange(evidence)
    }

    pub(super) fn learner(&self) -> PyResult<&Learner> {
        let name = self.policy.algorithm().name();
        self.policy.learner().ok_or_else(|| {
            PyAttributeError::new_err(if self.policy.estimates().is_none() {
                format!("`{name}` learns nothing from outcomes")
            } else {
                format!(
                    "`{name}` has no linear confidence set here: these are for linear regressions in which every outcome counts once"
                )
            })
        })
    }

    /// The arms played at a block: by the rule in force or, where there is none, as `decide` would answer next.
    pub(super) fn predicted(&self, contexts: Contexts<'_>) -> Result<Vec<Arm>, DecideError> {
        if let Some(rule) = self.policy.deployed() {
            return Ok(Rule::new(rule.clone()).choose_many(contexts)?);
        }
        let mut decisions = vec![Decision::recorded(Arm::new(0)); contexts.len()];
        self.policy.decide_many(contexts, &mut self.rng.clone(), &mut decisions)?;
        Ok(decisions.into_iter().map(|decision| decision.arm).collect())
    }
}
