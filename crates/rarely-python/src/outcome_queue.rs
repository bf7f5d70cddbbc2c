//! `rarely.OutcomeQueue`: outcomes that come late, in the order in which they may be learned.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use rarely_core::{Delay, OutcomeQueue};

use crate::error;

/// Decisions whose outcomes come late. It gives them back in the order in which they may be learned.
///
/// A policy's confidence sets count outcomes in the order of the decisions. If failures are reported later than successes and
/// outcomes are learned as they arrive, the sets are wrong. So an outcome waits here until every earlier decision has one.
///
/// Parameters
/// ----------
/// delay : ``"any"`` or ``"independent"``
///     ``"independent"`` declares that the delay of an outcome does not depend on the outcome, given the context and the arm: then
///     outcomes may be learned as they arrive.
/// window : int, optional
///     The time after which a decision without an outcome no longer holds up the later ones, in the units of `time`. An outcome that
///     comes after it is not learned. Choose it longer than the longest delay: dropping slow outcomes is a selection too.
///
/// Examples
/// --------
/// >>> import rarely
/// >>> policy, queue = rarely.Policy(2, 1), rarely.OutcomeQueue()
/// >>> first, second = queue.decided(), queue.decided()
/// >>> queue.report(second, ([1.0], 0, 0.7))
/// True
/// >>> queue.learnable()
/// []
/// >>> queue.waiting
/// 1
/// >>> queue.report(first, ([1.0], 1, 0.2))
/// True
/// >>> for number, (x, arm, reward) in queue.learnable():
/// ...     changes = policy.observe(x, arm, reward)
/// >>> policy.rounds_
/// 2
#[pyclass(name = "OutcomeQueue", frozen, module = "rarely")]
pub(crate) struct PyOutcomeQueue {
    state: Mutex<PyQueueState>,
}

struct PyQueueState {
    queue: OutcomeQueue<Py<PyAny>>,
    /// The number of the next decision.
    next: u64,
    /// The latest time that was given. Time does not run back.
    now: u64,
}

impl PyOutcomeQueue {
    /// The state at a time; at the number of decisions so far if none is given.
    fn at(&self, py: Python<'_>, time: Option<u64>) -> MutexGuard<'_, PyQueueState> {
        let mut state = self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        state.now = state.now.max(time.unwrap_or(state.next));
        state
    }
}

#[pymethods]
impl PyOutcomeQueue {
    #[new]
    #[pyo3(signature = (delay = "any", window = None))]
    fn new(py: Python<'_>, delay: &str, window: Option<u64>) -> PyResult<Self> {
        let delay: Delay = delay.parse().map_err(|error| error::SETTINGS.explain(py, &error))?;
        Ok(Self { state: Mutex::new(PyQueueState { queue: OutcomeQueue::new(delay, window), next: 0, now: 0 }) })
    }

    /// Notes a decision and returns its number, under which its outcome is reported.
    #[pyo3(signature = (*, time = None))]
    fn decided(&self, py: Python<'_>, time: Option<u64>) -> u64 {
        let mut state = self.at(py, time);
        let (number, now) = (state.next, state.now);
        state.queue.decided(number, now);
        state.next += 1;
        number
    }

    /// Takes in what is needed to learn an outcome: any value, such as ``(x, arm, reward)``. Returns False if it will not be learned:
    /// the number is unknown, its outcome is in already, or it comes after the window.
    #[pyo3(signature = (number, outcome, *, time = None))]
    fn report(&self, py: Python<'_>, number: u64, outcome: Py<PyAny>, time: Option<u64>) -> bool {
        let mut state = self.at(py, time);
        let now = state.now;
        number < state.next && state.queue.report(number, now, outcome)
    }

    /// The outcomes that may be learned now, oldest decision first, each with its number. They leave the queue.
    #[pyo3(signature = (*, time = None))]
    fn learnable(&self, py: Python<'_>, time: Option<u64>) -> Vec<(u64, Py<PyAny>)> {
        let mut state = self.at(py, time);
        let now = state.now;
        std::iter::from_fn(|| state.queue.learnable(now)).collect()
    }

    /// Outcomes that are in and wait for those of earlier decisions.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> u64 {
        self.at(py, Some(0)).queue.waiting().reported
    }

    /// The number of the first decision without an outcome, which the others wait for.
    #[getter]
    fn first_open(&self, py: Python<'_>) -> Option<u64> {
        self.at(py, Some(0)).queue.waiting().first_open
    }

    /// Decisions that ran out of time before their outcome came.
    #[getter]
    fn timed_out(&self, py: Python<'_>) -> u64 {
        self.at(py, Some(0)).queue.waiting().timed_out
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let state = self.at(py, Some(0));
        let waiting = state.queue.waiting();
        let mut parts = vec![format!("{} delay, {} decisions", state.queue.delay().name(), state.next)];
        if let (Some(first), true) = (waiting.first_open, waiting.reported > 0) {
            parts.push(format!("{} outcomes wait for decision {first}", waiting.reported));
        }
        if waiting.timed_out > 0 {
            parts.push(format!("{} ran out of time", waiting.timed_out));
        }
        format!("<rarely.OutcomeQueue: {}>", parts.join(", "))
    }
}
