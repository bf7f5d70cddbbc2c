//! Judging: gains, settings that change, and a policy in a line.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rarely_core::{Algorithm, Arm, Parameters, Rule};

use super::{PyPolicy, blocks};
use crate::array::{self, GivenContexts};
use crate::error;
use crate::evidence::PyGain;

impl PyPolicy {
    /// What playing `other` instead would gain.
    pub(super) fn gain_over(&self, other: &Bound<'_, PyAny>, people: Option<&Bound<'_, PyAny>>) -> PyResult<PyGain> {
        let py = other.py();
        let rows = people.map(|rows| self.ordered(rows)).transpose()?;
        let people = rows.as_ref().map(|(rows, _)| GivenContexts::take(rows)).transpose()?;
        // Locked one after the other: no thread holds two locks.
        let mine = self.lock(py).copied();
        let contexts = blocks::people(py, &mine, people.as_ref())?;
        let wrong = |error: rarely_core::DecideError| error::CONTEXT.explain(py, &error);
        let mut any_rule = false;
        let after = if let Ok(other) = other.cast::<Self>() {
            other.get().lock(py).predicted(contexts).map_err(wrong)?
        } else if let Ok(GivenContexts::Many(array)) = GivenContexts::take(other) {
            drop(array);
            let values = array::flat(other, "the parameters", self.dimension)?;
            let rule =
                Parameters::new(mine.policy.shape(), values).map_err(|error| error::SETTINGS.explain(py, &error))?;
            Rule::new(rule).choose_many(contexts).map_err(|error| wrong(error.into()))?
        } else {
            any_rule = true;
            let arms = array::arms(other)?;
            let rows = arms.values().iter().enumerate();
            rows.map(|(row, arm)| self.arm(py, *arm, Some(row))).collect::<PyResult<Vec<Arm>>>()?
        };
        if after.len() != contexts.len() {
            let message = format!("{} arms were given for {} contexts", after.len(), contexts.len());
            return Err(error::CONTEXT.with_help(py, message, "give one for each"));
        }
        let learner = mine.learner()?;
        let gain = py.detach(|| {
            let before = mine.predicted(contexts)?;
            learner.region().gain(contexts, &before, &after).map_err(Into::into)
        });
        let gain: PyGain = gain.map(Into::into).map_err(wrong)?;
        if any_rule {
            error::warn_linear_model(py)?;
            return Ok(gain.of_any_rule());
        }
        Ok(gain)
    }

    /// Builds a policy that has not learned anything anew, with some settings changed.
    pub(super) fn rebuild(&self, params: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let Some(params) = params else { return Ok(()) };
        let py = params.py();
        let all = self.get_params(py, true)?;
        for (name, value) in params {
            if !all.contains(&name)? {
                let message = format!("there is no setting {name}");
                return Err(error::SETTINGS.with_help(py, message, "get_params() lists the settings"));
            }
            all.set_item(name, value)?;
        }
        let rebuilt = py.get_type::<Self>().call((), Some(&all))?.cast_into::<Self>()?;
        let mut state = self.lock(py);
        let rounds = state.policy.rounds();
        if rounds > 0 || rebuilt.get().arm_count() != self.arm_count() || rebuilt.get().dimension != self.dimension {
            let message = format!(
                "the policy has learned from {rounds} outcomes of {} arms and {} context variables",
                self.arm_count(),
                self.dimension
            );
            return Err(error::SETTINGS.with_help(py, message, "build a new one with rarely.Policy(**params)"));
        }
        *state = rebuilt.get().lock(py).copied();
        Ok(())
    }

    pub(super) fn described(&self, py: Python<'_>) -> String {
        let state = self.lock(py);
        let algorithm = state.policy.algorithm();
        let many = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let changes = if algorithm.is_switching() || algorithm == Algorithm::RsLinUcb {
            format!(", {}", many(state.policy.changes(), "change"))
        } else {
            String::new()
        };
        let bound = state.params.norm_bound.map_or_else(String::new, |bound| format!(", norm bound {bound}"));
        let stuck: Vec<String> = state.policy.stuck().iter().map(|stuck| stuck.arm.index().to_string()).collect();
        let stuck = if stuck.is_empty() {
            String::new()
        } else {
            format!(", stuck: arm {} may be best but is hardly ever played", stuck.join(" and "))
        };
        format!(
            "<rarely.Policy: {algorithm}, {} arms, {}, {}{changes}, noise {}{bound}{stuck}>",
            self.arm_count(),
            many(self.dimension as u64, "context variable"),
            many(state.policy.rounds(), "outcome"),
            state.params.noise,
        )
    }
}
