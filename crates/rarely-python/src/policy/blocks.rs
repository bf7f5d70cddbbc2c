//! Many rows at a time: without the interpreter's lock, in parts between which Ctrl-C is checked.

use numpy::{PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use rarely_core::{Arm, Change, Contexts, DecideError, Decision, Evidence, Learner, ObserveError, Reason};

use super::{PyPolicy, PyPolicyState, refusal};
use crate::array::{ContextRows, GivenContexts};
use crate::error;

/// ContextRows between two checks for Ctrl-C.
const STRETCH: usize = 1 << 16;
/// Decisions kept at a time: they stay in the first-level cache.
const FEW: usize = 1024;

/// Decides every row; arms and propensities as arrays, reasons as words.
pub(super) fn decide<'py>(
    py: Python<'py>,
    state: &mut PyPolicyState,
    rows: ContextRows<'_>,
    reasons: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let arms = PyArray1::<i64>::zeros(py, rows.len(), false);
    let propensities = PyArray1::<f64>::zeros(py, rows.len(), false);
    let words = PyList::empty(py);
    {
        let (mut arms, mut propensities) = (arms.try_readwrite()?, propensities.try_readwrite()?);
        let (arms, propensities) = (arms.as_slice_mut()?, propensities.as_slice_mut()?);
        // Draws from a copy, so that after Ctrl-C the generator is as before.
        let mut rng = state.rng.clone();
        let policy = &mut state.policy;
        let before = policy.decisions();
        let mut room = vec![Decision::recorded(Arm::new(0)); FEW.min(rows.len())];
        let stretches = rows.stretches(STRETCH).zip(arms.chunks_mut(STRETCH));
        for ((stretch, arms), propensities) in stretches.zip(propensities.chunks_mut(STRETCH)) {
            let mut said = Vec::new();
            let decided = py.detach(|| {
                let few = stretch.pieces(FEW).zip(arms.chunks_mut(FEW));
                for ((few, arms), propensities) in few.zip(propensities.chunks_mut(FEW)) {
                    let room = &mut room[..arms.len()];
                    policy.decide_many(few.contexts()?, &mut rng, room)?;
                    policy.set_decisions(policy.decisions() + room.len() as u64);
                    for ((decision, arm), propensity) in room.iter().zip(arms).zip(propensities) {
                        (*arm, *propensity) = (whole(decision.arm), decision.propensity);
                    }
                    if reasons {
                        said.extend(room.iter().map(|decision| decision.reason));
                    }
                }
                Ok(())
            });
            let decided = decided.map_err(|error: DecideError| error::CONTEXT.explain(py, &error));
            let said = said.into_iter().try_for_each(|reason| words.append(name(reason)));
            if let Err(error) = decided.and(said).and_then(|()| py.check_signals()) {
                policy.set_decisions(before);
                return Err(error);
            }
        }
        state.rng = rng;
    }
    if reasons { (arms, propensities, words).into_pyobject(py) } else { (arms, propensities).into_pyobject(py) }
}

/// Decides every row among the arms that are allowed there; of a single row as numbers.
pub(super) fn decide_allowed<'py>(
    py: Python<'py>,
    state: &mut PyPolicyState,
    (contexts, single): (Contexts<'_>, bool),
    allowed: &Bound<'py, PyAny>,
    reasons: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let flags = py.import("numpy")?.call_method1("asarray", (allowed, "bool"))?;
    let flags: Vec<bool> = flags.call_method0("ravel")?.extract()?;
    let arms = state.policy.shape().arms();
    let rows = contexts.len();
    if flags.len() != arms && flags.len() != arms * rows {
        let message = format!("allowed has {} flags for {rows} rows and {arms} arms", flags.len());
        return Err(error::CONTEXT.with_help(py, message, "give a flag for each arm, or a row of them for each row"));
    }
    let mut rng = state.rng.clone();
    let mut decisions = Vec::with_capacity(rows);
    for (row, context) in contexts.iter().enumerate() {
        let start = if flags.len() == arms { 0 } else { row * arms };
        let decision = state.policy.decide_among(context, &flags[start..start + arms], &mut rng);
        let decision = decision.map_err(|error| error::CONTEXT.explain_at(py, &format!("row {row}: "), &error))?;
        decisions.push(decision);
        if row.is_multiple_of(STRETCH) {
            py.check_signals()?;
        }
    }
    state.rng = rng;
    state.policy.set_decisions(state.policy.decisions() + rows as u64);
    if let (true, Some(decision)) = (single, decisions.first()) {
        let (arm, propensity) = (decision.arm.index(), decision.propensity);
        return if reasons {
            (arm, propensity, name(decision.reason)).into_pyobject(py)
        } else {
            (arm, propensity).into_pyobject(py)
        };
    }
    let chosen = PyArray1::from_iter(py, decisions.iter().map(|decision| whole(decision.arm)));
    let propensities = PyArray1::from_iter(py, decisions.iter().map(|decision| decision.propensity));
    if reasons {
        let words = PyList::new(py, decisions.iter().map(|decision| name(decision.reason)))?;
        (chosen, propensities, words).into_pyobject(py)
    } else {
        (chosen, propensities).into_pyobject(py)
    }
}

/// Outcomes to learn from, checked as far as that does not depend on what was learned.
pub(super) struct OutcomeBlock<'a> {
    policy: &'a PyPolicy,
    rows: ContextRows<'a>,
    arms: &'a [i64],
    rewards: &'a [f64],
    /// One for each row, or none.
    reasons: Vec<Reason>,
}

impl<'a> OutcomeBlock<'a> {
    pub(super) fn new(
        py: Python<'_>,
        policy: &'a PyPolicy,
        rows: ContextRows<'a>,
        (arms, rewards): (&'a [i64], &'a [f64]),
        reasons: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if arms.len() != rows.len() || rewards.len() != rows.len() {
            let lengths =
                ObserveError::BatchLength { contexts: rows.len(), decisions: arms.len(), rewards: rewards.len() };
            return Err(refusal(py, &lengths));
        }
        if reasons.is_some_and(PyAnyMethods::is_instance_of::<PyString>) {
            return Err(error::OBSERVE.with_help(py, "one reason was given for a block", "give one for each row"));
        }
        let given =
            reasons.map(|reasons| reasons.try_iter()?.map(|given| reason(&given?)).collect::<PyResult<Vec<_>>>());
        let reasons = given.transpose()?.unwrap_or_default();
        if !reasons.is_empty() && reasons.len() != rows.len() {
            let message = format!("{} reasons were given for {} rows", reasons.len(), rows.len());
            return Err(error::OBSERVE.with_help(py, message, "give one for each row"));
        }
        Ok(Self { policy, rows, arms, rewards, reasons })
    }

    /// Learns every row, or none.
    pub(super) fn learn(&self, py: Python<'_>, state: &mut PyPolicyState, once: bool) -> PyResult<Vec<Evidence>> {
        let before = (self.arms.len() > STRETCH).then(|| state.policy.snapshot());
        let once = once && state.policy.algorithm().is_switching();
        let mut learned = self.learn_in_stretches(py, state, once);
        if let (Err(_), Some(before)) = (&learned, before) {
            state.policy = before.restore().map_err(|error| error::RESTORE.explain(py, &error))?;
        }
        if let (Ok(changes), true) = (&mut learned, once)
            && let Change::Switched(evidence) = py.detach(|| state.policy.reconsider())
        {
            changes.push(*evidence);
        }
        learned
    }

    fn learn_in_stretches(&self, py: Python<'_>, state: &mut PyPolicyState, once: bool) -> PyResult<Vec<Evidence>> {
        let mut changes = Vec::new();
        let mut decisions = Vec::with_capacity(self.arms.len().min(STRETCH));
        for stretch in self.rows.stretches(STRETCH) {
            let rows = stretch.start()..(stretch.start() + STRETCH).min(self.arms.len());
            decisions.clear();
            for row in rows.clone() {
                let decision = Decision::recorded(self.policy.arm(py, self.arms[row], Some(row))?);
                let reason = self.reasons.get(row).copied().unwrap_or(decision.reason);
                decisions.push(Decision { reason, ..decision });
            }
            let learned = py.detach(|| {
                let contexts = stretch.contexts()?;
                if once {
                    return state.policy.learn_many(contexts, &decisions, &self.rewards[rows]).map(|()| Vec::new());
                }
                state.policy.observe_many(contexts, &decisions, &self.rewards[rows])
            });
            let found = learned.map_err(|error| refusal(py, &in_block(error, stretch.start())))?;
            changes.extend(found.into_iter().map(|(_, evidence)| evidence));
            py.check_signals()?;
        }
        Ok(changes)
    }
}

/// The same error, with the row counted from the start of the block.
fn in_block(error: ObserveError, start: usize) -> ObserveError {
    match error {
        ObserveError::Row { row, source } => ObserveError::Row { row: start + row, source },
        other => other,
    }
}

/// The rows given or, if none are, the people the policy is judged on.
pub(super) fn people<'a>(
    py: Python<'_>,
    state: &'a PyPolicyState,
    given: Option<&'a GivenContexts<'_>>,
) -> PyResult<Contexts<'a>> {
    let dimension = state.policy.shape().dimension();
    let contexts = if let Some(people) = given {
        people.block(py, dimension)?
    } else {
        let seen = state.policy.population().map_or(&[][..], |population| population.values());
        Contexts::new(seen, dimension).map_err(|error| error::CONTEXT.explain(py, &error))?
    };
    if contexts.is_empty() {
        return Err(error::CONTEXT.with_help(py, "there are no people to judge on", "give rows of contexts as X"));
    }
    Ok(contexts)
}

pub(super) fn plausible<'py>(
    py: Python<'py>,
    learner: &Learner,
    contexts: Contexts<'_>,
) -> PyResult<Bound<'py, PyArray2<bool>>> {
    let arms = learner.statistics().shape().arms();
    let region = learner.region();
    let mask = in_stretches(py, contexts, arms, false, |context, row| {
        for arm in region.plausible_arms(context)? {
            row[arm.index()] = true;
        }
        Ok(())
    })?;
    PyArray1::from_vec(py, mask).reshape([contexts.len(), arms])
}

pub(super) fn intervals<'py>(
    py: Python<'py>,
    learner: &Learner,
    contexts: Contexts<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let arms = learner.statistics().shape().arms();
    let numbers = in_stretches(py, contexts, 3 * arms, 0.0, |context, row| {
        for (arm, numbers) in row.chunks_mut(3).enumerate() {
            let interval = learner.set().arm_interval(context.values(), arm);
            numbers.copy_from_slice(&[interval.estimate, interval.lower, interval.upper]);
        }
        Ok(())
    })?;
    Ok(PyArray1::from_vec(py, numbers).reshape([contexts.len(), arms, 3])?.into_any())
}

/// Fills `width` places for each row.
fn in_stretches<T: Clone + Send>(
    py: Python<'_>,
    contexts: Contexts<'_>,
    width: usize,
    blank: T,
    fill: impl Fn(rarely_core::Context<'_>, &mut [T]) -> Result<(), DecideError> + Sync,
) -> PyResult<Vec<T>> {
    let mut all = vec![blank; contexts.len() * width];
    let dimension = contexts.dimension();
    for (values, room) in contexts.values().chunks(STRETCH * dimension).zip(all.chunks_mut(STRETCH * width)) {
        let filled = py.detach(|| {
            let contexts = Contexts::new(values, dimension)?;
            contexts.iter().zip(room.chunks_mut(width)).try_for_each(|(context, row)| fill(context, row))
        });
        filled.map_err(|error| error::CONTEXT.explain(py, &error))?;
        py.check_signals()?;
    }
    Ok(all)
}

/// The share of rows whose arm the data rule out.
pub(super) fn excluded(learner: &Learner, contexts: Contexts<'_>, arms: &[Arm]) -> Result<f64, DecideError> {
    let mut count = 0_usize;
    let region = learner.region();
    for (context, arm) in contexts.iter().zip(arms) {
        count += usize::from(!region.plausible_arms(context)?.contains(arm));
    }
    Ok(count as f64 / contexts.len() as f64)
}

/// An arm as numpy's integer.
pub(super) fn whole(arm: Arm) -> i64 {
    i64::try_from(arm.index()).unwrap_or(i64::MAX)
}

const REASONS: [(Reason, &str); 9] = [
    (Reason::Policy, "policy"),
    (Reason::Pilot, "pilot"),
    (Reason::Equipoise, "equipoise"),
    (Reason::Optimistic, "optimistic"),
    (Reason::Baseline, "baseline"),
    (Reason::Draw, "draw"),
    (Reason::Uniform, "uniform"),
    (Reason::Fixed, "fixed"),
    (Reason::Recorded, "recorded"),
];

/// A reason's name.
pub(super) fn name(reason: Reason) -> &'static str {
    REASONS.iter().find(|(known, _)| *known == reason).map_or("", |(_, name)| name)
}

/// The reason with this name.
pub(super) fn reason(given: &Bound<'_, PyAny>) -> PyResult<Reason> {
    let text = given.str()?.to_string();
    let found = REASONS.iter().find(|(_, name)| *name == text).map(|(reason, _)| *reason);
    found.ok_or_else(|| {
        let known: Vec<&str> = REASONS.iter().map(|(_, name)| *name).collect();
        let help = format!("choose from {}", known.join(", "));
        error::OBSERVE.with_help(given.py(), format!("there is no reason {text:?}"), help)
    })
}
