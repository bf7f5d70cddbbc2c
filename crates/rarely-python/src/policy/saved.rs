//! A policy as bytes: JSON after one line that says what it is.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use rarely_core::{Evidence, Policy, Rng, Snapshot};
use serde::{Deserialize, Serialize};

use super::params::Params;
use super::{PyPolicy, PyPolicyState, no_policy};
use crate::error;

/// What the bytes begin with.
const HEAD: &[u8] = b"rarely policy 1\n";

#[derive(Serialize, Deserialize)]
struct Saved {
    params: Params,
    policy: Snapshot,
    rng: Rng,
    versions: Vec<Evidence>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feature_names: Option<Vec<String>>,
}

pub(super) fn write(state: &PyPolicyState) -> PyResult<Vec<u8>> {
    let saved = Saved {
        params: state.params.clone(),
        policy: state.policy.snapshot(),
        rng: state.rng.clone(),
        versions: state.versions.iter().map(|evidence| Evidence::clone(evidence)).collect(),
        feature_names: state.feature_names.clone(),
    };
    let mut bytes = HEAD.to_vec();
    serde_json::to_writer(&mut bytes, &saved).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(bytes)
}

pub(super) fn read(py: Python<'_>, bytes: &[u8]) -> PyResult<PyPolicyState> {
    let says = |message: String| error::RESTORE.says(py, message);
    let body = bytes.strip_prefix(HEAD).ok_or_else(|| {
        says(
            "these are not the bytes of a policy of this version: they do not begin with \"rarely policy 1\""
                .to_owned(),
        )
    })?;
    let saved: Saved =
        serde_json::from_slice(body).map_err(|error| says(format!("the bytes of the policy are damaged: {error}")))?;
    let policy = saved.policy.restore().map_err(|error| error::RESTORE.explain(py, &error))?;
    let params = saved.params;
    check(py, &params, &*policy).map_err(|error| {
        says(format!("the bytes of the policy are damaged, its settings and its state disagree: {}", error.value(py)))
    })?;
    Ok(PyPolicyState {
        params,
        policy,
        rng: saved.rng,
        versions: saved.versions.into_iter().map(Arc::new).collect(),
        feature_names: saved.feature_names,
    })
}

/// Checks that a policy with these settings could have reached this state.
fn check(py: Python<'_>, params: &Params, policy: &dyn Policy) -> PyResult<()> {
    let mut fresh = params.build(py)?.snapshot();
    fresh.merge(&policy.snapshot()).map_err(|error| error::RESTORE.explain(py, &error))?;
    for state in [fresh, policy.snapshot()] {
        state.restore().map_err(|error| error::RESTORE.explain(py, &error))?;
    }
    Ok(())
}

/// An object of this class, which may be a subclass, with this state.
pub(super) fn into_class<'py>(class: &Bound<'py, PyType>, state: PyPolicyState) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let base = py.get_type::<PyPolicy>();
    if class.is(&base) {
        return Ok(Bound::new(py, PyPolicy::holding(state))?.into_any());
    }
    let shape = state.policy.shape();
    let made = base.getattr("__new__")?.call1((class, shape.arms(), shape.dimension()))?;
    let policy = made.cast::<PyPolicy>().map_err(|_| no_policy(class))?;
    *policy.get().lock(py) = state;
    Ok(made)
}
