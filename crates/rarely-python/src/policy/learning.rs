//! Learning: rows by name, one outcome or a block, weights, and arms that come and go.

use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use rarely_core::{Arm, ArmChange, Decision, Reason};

use super::{PyPolicy, blocks, refusal};
use crate::array::{self, GivenContexts};
use crate::error;
use crate::evidence::PyChange;

impl PyPolicy {
    /// The rows with their columns in the order in which they were learned, if both have names.
    pub(super) fn ordered<'py>(&self, rows: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Option<Vec<String>>)> {
        if !array::has_columns(rows)? {
            return Ok((rows.clone(), None));
        }
        let names = self.lock(rows.py()).feature_names.clone();
        array::by_name(rows, names)
    }

    /// Learns from one outcome.
    pub(super) fn observe_one(
        &self,
        py: Python<'_>,
        line: &array::NumberLine<'_, f64>,
        decision: &Decision,
        reward: f64,
    ) -> PyResult<Option<PyChange>> {
        let context = array::one(py, line)?;
        let mut state = self.lock(py);
        let change = state.policy.observe(context, decision, reward).map_err(|error| refusal(py, &error))?;
        Ok(match change {
            rarely_core::Change::Switched(evidence) => Some(state.changed(*evidence)),
            rarely_core::Change::Kept | rarely_core::Change::Continuous | rarely_core::Change::Renewed(_) => None,
        })
    }

    /// Learns from all rows or, if one is wrong or Ctrl-C comes, from none.
    pub(super) fn learn(
        &self,
        rows: &Bound<'_, PyAny>,
        arms: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        reasons: Option<&Bound<'_, PyAny>>,
        once: bool,
    ) -> PyResult<Vec<PyChange>> {
        let py = rows.py();
        let (rows, names) = self.ordered(rows)?;
        let people = GivenContexts::take(&rows)?;
        if let GivenContexts::One(line) = &people
            && let (Ok(arm), Ok(reward)) = (arms.extract::<i64>(), rewards.extract::<f64>())
        {
            let reason = reasons.map_or(Ok(Reason::Recorded), blocks::reason)?;
            let decision = Decision { reason, ..Decision::recorded(self.arm(py, arm, None)?) };
            return Ok(self.observe_one(py, line, &decision, reward)?.into_iter().collect());
        }
        let (arms, rewards) = (array::arms(arms)?, array::rewards(rewards)?);
        let rows = people.rows(py, self.dimension)?;
        let log = blocks::OutcomeBlock::new(py, self, rows, (arms.values(), rewards.values()), reasons)?;
        let mut state = self.lock(py);
        let found = log.learn(py, &mut state, once)?;
        if state.feature_names.is_none() {
            state.feature_names = names;
        }
        Ok(found.into_iter().map(|evidence| state.changed(evidence)).collect())
    }

    /// Learns from all rows, each counting as often as its weight says, or from none.
    pub(super) fn learn_weighted(
        &self,
        rows: &Bound<'_, PyAny>,
        arms: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<PyChange>> {
        let py = rows.py();
        let (rows, names) = self.ordered(rows)?;
        let people = GivenContexts::take(&rows)?;
        let contexts = people.block(py, self.dimension)?;
        let (arms, rewards) = (array::arms(arms)?, array::rewards(rewards)?);
        let weights = array::rewards(weights)?;
        let decided = arms.values().iter().enumerate();
        let decided = decided.map(|(row, &arm)| Ok(Decision::recorded(self.arm(py, arm, Some(row))?)));
        let decisions = decided.collect::<PyResult<Vec<_>>>()?;
        let mut state = self.lock(py);
        let policy = &mut state.policy;
        let (rewards, weights) = (rewards.values(), weights.values());
        py.detach(|| policy.observe_weighted(contexts, &decisions, rewards, weights))
            .map_err(|error| refusal(py, &error))?;
        if state.feature_names.is_none() {
            state.feature_names = names;
        }
        Ok(Vec::new())
    }

    /// An arm that exists.
    pub(super) fn arm(&self, py: Python<'_>, arm: i64, row: Option<usize>) -> PyResult<Arm> {
        let known = usize::try_from(arm).ok().filter(|arm| *arm < self.arm_count());
        known.map(Arm::new).ok_or_else(|| {
            let place = row.map_or_else(String::new, |row| format!("row {row}: "));
            let last = self.arm_count() - 1;
            error::OBSERVE.says(py, format!("{place}arm {arm} does not exist: the policy has arms 0 to {last}"))
        })
    }

    /// Adds an arm; its number.
    pub(super) fn grow(
        &self,
        py: Python<'_>,
        prior_mean: Option<Vec<f64>>,
        features: Option<Vec<f64>>,
    ) -> PyResult<usize> {
        let prior_mean = prior_mean.or_else(|| self.lock(py).params.common_prior_mean());
        let change = ArmChange::Add { prior_mean, features };
        self.change_arms(py, &change)?;
        let mut state = self.lock(py);
        state.params.grown(&change);
        self.arms.store(state.policy.shape().arms(), Ordering::Relaxed);
        Ok(state.policy.shape().arms() - 1)
    }

    pub(super) fn change_arms(&self, py: Python<'_>, change: &ArmChange) -> PyResult<()> {
        self.lock(py).policy.change_arms(change).map_err(|error| error::SETTINGS.explain(py, &error))
    }
}
