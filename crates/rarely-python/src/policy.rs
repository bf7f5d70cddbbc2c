//! `rarely.Policy`: the core's policies, with a generator of their own and the list of their changes.

mod blocks;
mod judged;
mod learning;
mod params;
mod saved;
mod state;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use rarely_core::{ArmChange, ObserveError, Rule};

use self::params::{NoiseParam, Params, TuningParams, numbers};
use self::state::PyPolicyState;
use crate::array::{self, GivenContexts};
use crate::error;
use crate::evidence::{self, PyBoundary, PyChange, PyGain};

/// A policy that decides and learns. It holds its rule until the data make it implausible; then it changes, with a certificate.
///
/// Parameters
/// ----------
/// arms, dimension : int
///     How many arms there are to choose from (2 to 256), and how many numbers a context has (1 to 4096).
/// algorithm : str
///     One of `rarely.ALGORITHMS`.
/// noise : float, ``"unknown"`` or ``"unknown-per-arm"``, or None
///     The noise is σ-sub-gaussian. If it is unknown, which None says too, it is taken as Gaussian and estimated from the outcomes, by
///     algorithms that hold a rule and have sharp sets; per arm if the arms' noise may differ. Outcomes that are merely bounded, such as
///     0 and 1, need half their range here.
/// norm_bound, error_probability, penalty : float
///     What is assumed: the parameters of all arms together are at most L away from `prior_mean` (not
///     needed by sharp sets; 10 where another set needs it and none is given), the confidence sets may fail with probability δ; λ
///     of the ridge regressions. With many arms give sharp sets a bound too, however loose: without one, a few people whose arm was
///     hardly ever played keep a certified change waiting.
/// prior_mean, deployed : array of arms × dimension, or one number for `prior_mean`
///     Where the estimates start, and the rule in force at the start; 0 unless given.
/// explore : str, optional
///     ``"none"``, ``"posterior:0.5"``, ``"pilot:6"``, ``"equipoise:0.02"`` or several joined by a plus; each algorithm's own if
///     left out. A pilot counts the decisions made, whether or not their outcomes are in.
/// population : rows of contexts, optional
///     The people a change is judged on, instead of the last thousand seen.
/// sets : ``"joint"``, ``"per-arm"`` or ``"sharp"``, optional
///     The confidence sets; sharp for our algorithms and joint for the others if left out.
/// tolerance, growth, excluded_share, minimum_gain, deviations, safety, posterior_scale, epsilon, alpha, gap_scale, bandwidth : float
///     Of the rs algorithms, rs-linucb, the population algorithms, rarely and certified, rarely-quick and local-threshold (√χ²⁻¹(0.95) with as many degrees
///     of freedom as context variables if left out), clucb and clucb2, thompson and batched-thompson (σ if left out) and
///     logistic-thompson (1 if left out), epsilon-greedy, linucb-alpha, squarecb, and local-threshold.
/// discount, window : float and int, optional
///     Old outcomes count less: by this factor for each later outcome, or only the last so many count. Of algorithms whose decisions rest
///     on no confidence set (thompson, logistic-thompson, epsilon-greedy, linucb-alpha, squarecb); the others refuse it, since what they
///     guarantee is for outcomes that count once. Such a policy offers no intervals.
/// arm_features : array of arms × features, optional
///     Arms share their parameters: the mean outcome is linear in all products of a context variable and a feature of the arm. For linucb,
///     linucb-alpha, thompson, epsilon-greedy and squarecb. A feature that is 1 for all arms has what they have in common.
/// baseline, baseline_mean
///     The arm that `fixed` plays, and that is `clucb`'s baseline, with the parameters of its known mean reward.
/// certificates : bool
///     Whether changes carry a full certificate.
/// seed : int
///     Of the policy's own random numbers.
///
/// Examples
/// --------
/// >>> import numpy as np, rarely
/// >>> policy = rarely.Policy(arms=2, dimension=2, algorithm="rarely", noise=0.1, norm_bound=2.0)
/// >>> world = np.random.default_rng(1)
/// >>> for _ in range(1000):
/// ...     x = np.array([1.0, world.random()])
/// ...     arm, propensity = policy.decide(x)
/// ...     reward = (x[1] if arm == 1 else 0.4) + 0.1 * world.normal()
/// ...     for change in policy.observe(x, arm, reward):
/// ...         assert change.certificate.gain.upper > 0
/// >>> len(policy.versions) >= 1
/// True
/// >>> policy
/// <rarely.Policy: rarely, 2 arms, 2 context variables, 1000 outcomes, ...>
// scikit-learn leaves notes on the estimators of a pipeline, so that instances need a `__dict__`.
#[pyclass(name = "Policy", frozen, subclass, weakref, dict, module = "rarely")]
pub(crate) struct PyPolicy {
    dimension: usize,
    /// As many as the state's policy has, to be read without its lock.
    arms: AtomicUsize,
    state: Mutex<PyPolicyState>,
}

impl PyPolicy {
    fn holding(state: PyPolicyState) -> Self {
        let shape = state.policy.shape();
        Self { dimension: shape.dimension(), arms: AtomicUsize::new(shape.arms()), state: Mutex::new(state) }
    }

    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, PyPolicyState> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// How many arms there are.
    fn arm_count(&self) -> usize {
        self.arms.load(Ordering::Relaxed)
    }
}

#[pymethods]
#[allow(non_snake_case, reason = "scikit-learn's name for rows of contexts")]
impl PyPolicy {
    #[new]
    #[pyo3(signature = (
        arms, dimension, algorithm = "rarely", *, noise = NoiseParam::Declared(1.0), norm_bound = None, error_probability = 0.001,
        penalty = 0.01, prior_mean = None, deployed = None, explore = None, population = None, sets = None, tolerance = 0.01,
        growth = 0.3, excluded_share = 0.01, minimum_gain = 0.0, deviations = None, safety = 0.1, posterior_scale = None, epsilon = 0.05,
        alpha = 1.0, gap_scale = 10.0, bandwidth = 0.4, discount = None, window = None, arm_features = None, baseline = None, baseline_mean = None, certificates = true, seed = 0
    ))]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = params::count)] arms: usize,
        #[pyo3(from_py_with = params::count)] dimension: usize,
        algorithm: &str,
        #[pyo3(from_py_with = params::noise)] noise: NoiseParam,
        norm_bound: Option<f64>,
        error_probability: f64,
        penalty: f64,
        prior_mean: Option<Bound<'_, PyAny>>,
        deployed: Option<Bound<'_, PyAny>>,
        explore: Option<String>,
        population: Option<Bound<'_, PyAny>>,
        sets: Option<String>,
        tolerance: f64,
        growth: f64,
        excluded_share: f64,
        minimum_gain: f64,
        deviations: Option<f64>,
        safety: f64,
        posterior_scale: Option<f64>,
        epsilon: f64,
        alpha: f64,
        gap_scale: f64,
        bandwidth: f64,
        discount: Option<f64>,
        #[pyo3(from_py_with = params::optional_whole)] window: Option<u64>,
        arm_features: Option<Bound<'_, PyAny>>,
        #[pyo3(from_py_with = params::optional_count)] baseline: Option<usize>,
        baseline_mean: Option<Bound<'_, PyAny>>,
        certificates: bool,
        #[pyo3(from_py_with = params::whole)] seed: u64,
    ) -> PyResult<Self> {
        let params = Params {
            arms,
            dimension,
            algorithm: algorithm.to_owned(),
            noise,
            norm_bound,
            error_probability,
            penalty,
            prior_mean: numbers(prior_mean.as_ref(), "prior_mean", dimension)?,
            deployed: numbers(deployed.as_ref(), "deployed", dimension)?,
            explore,
            population: numbers(population.as_ref(), "population", dimension)?,
            sets,
            tuning: TuningParams {
                tolerance,
                growth,
                excluded_share,
                minimum_gain,
                deviations,
                safety,
                posterior_scale,
                epsilon,
                alpha,
                gap_scale,
                bandwidth,
                discount,
                window,
            },
            arm_features: params::rows_of_any_length(arm_features.as_ref())?,
            baseline,
            baseline_mean: numbers(baseline_mean.as_ref(), "baseline_mean", dimension)?,
            certificates,
            seed,
        };
        Ok(Self::holding(PyPolicyState::new(py, params)?))
    }

    /// Chooses an arm for one context or for each row of a block. Returns it with the probability with which it was chosen.
    ///
    /// The columns of a frame are taken by name, if the policy has learned from a frame. Deciding never learns. One row gives `(arm, propensity)`, a block two
    /// arrays; with ``reasons=True`` the reasons come third. `allowed` says which arms may be chosen: a flag for each arm, or a row of
    /// flags for each row of X. The propensities are those of the choice among them.
    ///
    /// >>> import rarely
    /// >>> rarely.Policy(2, 1, "greedy").decide([1.0])
    /// (0, 1.0)
    #[pyo3(signature = (X, *, allowed = None, reasons = false))]
    fn decide<'py>(
        &self,
        X: &Bound<'py, PyAny>,
        allowed: Option<&Bound<'py, PyAny>>,
        reasons: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let py = X.py();
        if let Some(allowed) = allowed {
            let people = GivenContexts::take(&self.ordered(X)?.0)?;
            let contexts = people.block(py, self.dimension)?;
            let single = matches!(people, GivenContexts::One(_));
            return blocks::decide_allowed(py, &mut self.lock(py), (contexts, single), allowed, reasons);
        }
        match GivenContexts::take(&self.ordered(X)?.0)? {
            GivenContexts::One(line) => {
                let context = array::one(py, &line)?;
                let mut guard = self.lock(py);
                let PyPolicyState { policy, rng, .. } = &mut *guard;
                let decision = policy.decide(context, rng).map_err(|error| error::CONTEXT.explain(py, &error))?;
                policy.set_decisions(policy.decisions() + 1);
                let (arm, propensity) = (decision.arm.index(), decision.propensity);
                if reasons {
                    (arm, propensity, blocks::name(decision.reason)).into_pyobject(py)
                } else {
                    (arm, propensity).into_pyobject(py)
                }
            }
            people @ GivenContexts::Many(_) => {
                let rows = people.rows(py, self.dimension)?;
                blocks::decide(py, &mut self.lock(py), rows, reasons)
            }
        }
    }

    /// Learns from one outcome or from a block of them, row by row. Returns the changes that this led to, each with its certificate.
    /// If a row is wrong, or Ctrl-C is pressed, nothing is learned.
    ///
    /// `reasons` are those that `decide` returned; only `clucb` uses them, to know its baseline's rounds. With ``once=True`` all rows
    /// are learned first and the rule in force is tested once, after the last: a review of a log, and several times as fast.
    /// `weights` say how often each outcome counts; algorithms whose decisions rest on confidence sets refuse them.
    ///
    /// >>> import rarely
    /// >>> policy = rarely.Policy(2, 1)
    /// >>> policy.observe([[1.0], [1.0]], [0, 1], [0.2, 0.7])
    /// []
    /// >>> policy.rounds_
    /// 2
    #[pyo3(signature = (X, arms, rewards, reasons = None, *, weights = None, once = false))]
    fn observe(
        &self,
        X: &Bound<'_, PyAny>,
        arms: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        reasons: Option<&Bound<'_, PyAny>>,
        weights: Option<&Bound<'_, PyAny>>,
        once: bool,
    ) -> PyResult<Vec<PyChange>> {
        if let Some(weights) = weights {
            return self.learn_weighted(X, arms, rewards, weights);
        }
        self.learn(X, arms, rewards, reasons, once)
    }

    /// Tests the rule in force against everything learned so far. Returns the change, if one is justified.
    fn reconsider(&self, py: Python<'_>) -> Vec<PyChange> {
        let mut guard = self.lock(py);
        let state = &mut *guard;
        match py.detach(|| state.policy.reconsider()) {
            rarely_core::Change::Switched(evidence) => vec![state.changed(*evidence)],
            rarely_core::Change::Kept | rarely_core::Change::Continuous | rarely_core::Change::Renewed(_) => Vec::new(),
        }
    }

    /// Adds an arm, and returns its number. What was learned of the others stays. `prior_mean` is where its estimate starts; `features` are
    /// those of the arm, where arms have features. Only algorithms that choose afresh at every row can do it: linucb, rs-linucb, linucb-alpha,
    /// thompson, logistic-thompson, epsilon-greedy and squarecb.
    ///
    /// >>> import rarely
    /// >>> policy = rarely.Policy(2, 1, "linucb")
    /// >>> policy.add_arm()
    /// 2
    /// >>> policy.remove_arm(0)
    /// >>> policy.available_
    /// array([False,  True,  True])
    #[pyo3(signature = (*, prior_mean = None, features = None))]
    fn add_arm(
        &self,
        py: Python<'_>,
        prior_mean: Option<&Bound<'_, PyAny>>,
        features: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let prior_mean = params::rows_of_any_length(prior_mean)?;
        self.grow(py, prior_mean, params::rows_of_any_length(features)?)
    }

    /// Removes an arm: it is played no more. It keeps its number and what was learned of it, and outcomes that are still to come are learned.
    fn remove_arm(&self, py: Python<'_>, arm: i64) -> PyResult<()> {
        self.change_arms(py, &ArmChange::Remove(self.arm(py, arm, None)?))
    }

    /// Restores an arm that was removed.
    fn restore_arm(&self, py: Python<'_>, arm: i64) -> PyResult<()> {
        self.change_arms(py, &ArmChange::Restore(self.arm(py, arm, None)?))
    }

    /// Learns, and returns the policy itself, as scikit-learn's estimators do.
    #[pyo3(signature = (X, arms, rewards, *, sample_weight = None))]
    fn partial_fit<'py>(
        slf: &Bound<'py, Self>,
        X: &Bound<'_, PyAny>,
        arms: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        sample_weight: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        slf.get().observe(X, arms, rewards, None, sample_weight, false)?;
        Ok(slf.clone())
    }

    /// Forgets everything, then learns.
    #[pyo3(signature = (X, arms, rewards, *, sample_weight = None))]
    fn fit<'py>(
        slf: &Bound<'py, Self>,
        X: &Bound<'_, PyAny>,
        arms: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        sample_weight: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let policy = slf.get();
        let fresh = Self::holding(policy.lock(slf.py()).forgotten(slf.py())?);
        fresh.observe(X, arms, rewards, None, sample_weight, false)?;
        let state = fresh.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        *policy.lock(slf.py()) = state;
        Ok(slf.clone())
    }

    /// The arms that the rule in force plays, without exploration; where a policy holds no rule, what `decide` would answer
    /// next. Neither learns nor draws.
    fn predict<'py>(&self, X: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = X.py();
        let X = self.ordered(X)?.0;
        let people = GivenContexts::take(&X)?;
        let contexts = people.block(py, self.dimension)?;
        let guard = self.lock(py);
        let state = &*guard;
        let arms = py.detach(|| state.predicted(contexts)).map_err(|error| error::CONTEXT.explain(py, &error))?;
        Ok(match people {
            GivenContexts::One(_) => arms[0].index().into_pyobject(py)?.into_any(),
            GivenContexts::Many(_) => PyArray1::from_iter(py, arms.iter().map(|arm| blocks::whole(*arm))).into_any(),
        })
    }

    /// The estimated mean reward of every arm, a column for each: an array, or a frame if ``set_output`` says so.
    fn transform<'py>(slf: &Bound<'py, Self>, X: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("rarely._output")?.getattr("transformed")?.call1((slf, X))
    }

    /// Chooses what ``transform`` returns, as scikit-learn's estimators do: ``"pandas"``, ``"polars"`` or ``"default"``, an array.
    #[pyo3(signature = (*, transform = None))]
    fn set_output<'py>(slf: &Bound<'py, Self>, transform: Option<&str>) -> PyResult<Bound<'py, Self>> {
        slf.py().import("rarely._output")?.getattr("choose")?.call1((slf, transform))?;
        Ok(slf.clone())
    }

    /// The columns of ``transform``.
    #[pyo3(signature = (input_features = None))]
    fn get_feature_names_out<'py>(
        slf: &Bound<'py, Self>,
        input_features: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = input_features;
        slf.py().import("rarely._output")?.getattr("names")?.call1((slf,))
    }

    /// Which arms the data have not ruled out: for each row and each arm, true or false.
    fn plausible<'py>(&self, X: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let py = X.py();
        let X = self.ordered(X)?.0;
        let people = GivenContexts::take(&X)?;
        let contexts = people.block(py, self.dimension)?;
        let guard = self.lock(py);
        blocks::plausible(py, guard.learner()?, contexts)
    }

    /// For each row and each arm the estimated mean reward, and the lower and upper end of its interval.
    fn intervals<'py>(&self, X: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = X.py();
        let X = self.ordered(X)?.0;
        let people = GivenContexts::take(&X)?;
        let contexts = people.block(py, self.dimension)?;
        let guard = self.lock(py);
        blocks::intervals(py, guard.learner()?, contexts)
    }

    /// The share of rows at which the policy plays an arm that the data rule out; of the people it is judged on, if none are given.
    #[pyo3(signature = (X = None))]
    fn excluded_share(&self, py: Python<'_>, X: Option<&Bound<'_, PyAny>>) -> PyResult<f64> {
        let X = X.map(|rows| self.ordered(rows)).transpose()?;
        let people = X.as_ref().map(|(rows, _)| GivenContexts::take(rows)).transpose()?;
        let guard = self.lock(py);
        let state = &*guard;
        let contexts = blocks::people(py, state, people.as_ref())?;
        let learner = state.learner()?;
        let share = py.detach(|| match state.policy.deployed() {
            Some(rule) => learner.region().excluded_share(&Rule::new(rule.clone()), contexts).map_err(Into::into),
            None => blocks::excluded(learner, contexts, &state.predicted(contexts)?),
        });
        share.map_err(|error: rarely_core::DecideError| error::CONTEXT.explain(py, &error))
    }

    /// What the data say about the boundary between each pair of arms of the rule in force.
    fn boundaries(&self, py: Python<'_>) -> PyResult<Vec<PyBoundary>> {
        let guard = self.lock(py);
        let state = &*guard;
        let learner = state.learner()?;
        let rule = state.policy.deployed().cloned().unwrap_or_else(|| learner.statistics().estimates());
        Ok(py.detach(|| learner.region().boundaries(&rule)).into_iter().map(Into::into).collect())
    }

    /// The plausible thresholds between two arms when contexts are (1, x): a list of intervals, infinite where open.
    #[pyo3(signature = (first = 0, second = 1))]
    fn thresholds(&self, py: Python<'_>, first: i64, second: i64) -> PyResult<Vec<(f64, f64)>> {
        let (i, j) = (self.arm(py, first, None)?.index(), self.arm(py, second, None)?.index());
        if i == j || self.dimension != 2 {
            let message = "thresholds are between two arms, of a policy with two context variables (1, x)";
            return Err(error::CONTEXT.says(py, message));
        }
        let guard = self.lock(py);
        Ok(guard.learner()?.region().thresholds(i, j).unwrap_or_default())
    }

    /// What playing `other` instead would gain at these rows, or on the people the policy is judged on, as an interval.
    ///
    /// `other` is another policy, parameters with a row for each arm, or an arm for each row. The interval assumes that mean outcomes are linear in
    /// the context (`Gain.assumes`). An arm for each row may be any rule's, such as a forest's, whose advantage a linear model does not see:
    /// a `LinearModelWarning` says so. `rarely.evaluate` judges any rule by the propensities of a log, without a model.
    #[pyo3(signature = (other, X = None))]
    fn gain(&self, other: &Bound<'_, PyAny>, X: Option<&Bound<'_, PyAny>>) -> PyResult<PyGain> {
        self.gain_over(other, X)
    }

    /// Arms that the data have not ruled out and that nobody gets, each with what to do about it.
    fn stuck(&self, py: Python<'_>) -> Vec<String> {
        self.lock(py).policy.stuck().iter().map(ToString::to_string).collect()
    }

    /// The settings, by name, as scikit-learn's estimators give them.
    #[pyo3(signature = (deep = true))]
    fn get_params<'py>(&self, py: Python<'py>, deep: bool) -> PyResult<Bound<'py, PyDict>> {
        let _ = deep;
        self.lock(py).params.to_dict(py)
    }

    /// Changes settings of a policy that has not learned anything yet.
    #[pyo3(signature = (**params))]
    fn set_params<'py>(slf: &Bound<'py, Self>, params: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, Self>> {
        slf.get().rebuild(params)?;
        Ok(slf.clone())
    }

    /// The whole state: settings, what was learned, the rule in force, the changes so far, the generator.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &saved::write(&self.lock(py))?))
    }

    /// A policy from its bytes, which continues exactly where it was.
    ///
    /// >>> import rarely
    /// >>> policy = rarely.Policy(2, 1).partial_fit([[1.0]], [1], [0.5])
    /// >>> rarely.Policy.from_bytes(policy.to_bytes()) == policy
    /// True
    #[classmethod]
    fn from_bytes<'py>(class: &Bound<'py, PyType>, data: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let state = saved::read(class.py(), data)?;
        saved::into_class(class, state)
    }

    /// An independent policy in the same state.
    fn copy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let state = slf.get().lock(slf.py()).copied();
        like(slf, saved::into_class(&slf.get_type(), state)?)
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::copy(slf)
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let _ = memo;
        Self::copy(slf)
    }

    /// scikit-learn's `clone`: the same settings, nothing learned.
    fn __sklearn_clone__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let params = slf.get().lock(slf.py()).params.clone();
        like(slf, saved::into_class(&slf.get_type(), PyPolicyState::new(slf.py(), params)?)?)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().to_bytes(slf.py())?;
        Ok((slf.get_type().getattr("from_bytes")?, (bytes,)))
    }

    /// A policy that has learned from the outcomes of both. Rule, versions and generator are the first one's; `reconsider()` tests the
    /// rule against both logs.
    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Ok(other) = other.cast::<Self>() else {
            return Ok(py.NotImplemented().into_bound(py));
        };
        // Locked one after the other: no thread holds two locks, and a policy may be added to itself.
        let theirs = other.get().lock(py).policy.snapshot();
        let mut state = slf.get().lock(py).copied();
        let mut merged = state.policy.snapshot();
        py.detach(|| merged.merge(&theirs)).map_err(|error| error::MERGE.explain(py, &error))?;
        state.policy = merged.restore().map_err(|error| error::RESTORE.explain(py, &error))?;
        saved::into_class(&slf.get_type(), state)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else { return false };
        let theirs = other.get().lock(py).copied();
        let mine = self.lock(py);
        mine.params == theirs.params
            && mine.rng == theirs.rng
            && mine.versions == theirs.versions
            && mine.policy.snapshot() == theirs.policy.snapshot()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.described(py)
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        py.import("rarely._notebook")?.getattr("policy")?.call1((slf,))?.extract()
    }

    /// scikit-learn's tags.
    #[allow(clippy::unused_self, reason = "scikit-learn calls it as a method")]
    fn __sklearn_tags__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("rarely._tags")?.getattr("policy_tags")?.call0()
    }

    /// Whether anything was learned, as scikit-learn asks.
    fn __sklearn_is_fitted__(&self, py: Python<'_>) -> bool {
        self.lock(py).policy.rounds() > 0
    }

    /// How many numbers a context has, by scikit-learn's name.
    #[getter]
    fn n_features_in_(&self) -> usize {
        self.dimension
    }

    /// The columns of the first frame that was learned from; there is no such attribute if it was none.
    #[getter]
    fn feature_names_in_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let names = self.lock(py).feature_names.clone();
        let names = names
            .ok_or_else(|| PyAttributeError::new_err("the policy has not learned from a frame with named columns"))?;
        py.import("numpy")?.getattr("array")?.call1((names, py.get_type::<PyAny>()))
    }

    /// Renewals of the randomisation around the rule.
    #[getter]
    fn renewals_(&self, py: Python<'_>) -> u64 {
        self.lock(py).policy.renewals()
    }

    /// The name of its algorithm.
    #[getter]
    fn algorithm(&self, py: Python<'_>) -> &'static str {
        self.lock(py).policy.algorithm().name()
    }

    /// How many arms there are.
    #[getter]
    fn arms(&self) -> usize {
        self.arm_count()
    }

    /// How many numbers a context has.
    #[getter]
    fn dimension(&self) -> usize {
        self.dimension
    }

    /// The estimated parameters, a row for each arm. Of a logistic regression they are log-odds.
    #[getter]
    fn estimates_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let state = self.lock(py);
        let name = state.policy.algorithm().name();
        let nothing = || PyAttributeError::new_err(format!("`{name}` learns nothing from outcomes"));
        evidence::parameters(py, &state.policy.estimates().ok_or_else(nothing)?)
    }

    /// The radius of the joint confidence set.
    #[getter]
    fn radius_(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.lock(py).learner()?.set().radius())
    }

    /// The noise of each arm as the confidence sets take it: what was declared or, where it is unknown, a bound on it; NaN while
    /// nothing is known.
    #[getter]
    fn noise_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let noise = self.lock(py).learner()?.noise();
        Ok(PyArray1::from_iter(py, noise.into_iter().map(|noise| noise.unwrap_or(f64::NAN))))
    }

    /// The parameters of the rule in force, a row for each arm; `None` if the policy holds no rule.
    #[getter]
    fn rule_<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.lock(py).policy.deployed().map(|rule| evidence::parameters(py, rule)).transpose()
    }

    /// Outcomes learned of each arm.
    #[getter]
    fn counts_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let state = self.lock(py);
        let ridges = state.learner()?.statistics().arms().iter();
        Ok(PyArray1::from_iter(py, ridges.map(|ridge| i64::try_from(ridge.count()).unwrap_or(i64::MAX))))
    }

    /// Which arms may be played: false of those that were removed.
    #[getter]
    fn available_<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        let state = self.lock(py);
        let flags = state.policy.available().map_or_else(|| vec![true; self.arm_count()], <[bool]>::to_vec);
        PyArray1::from_vec(py, flags)
    }

    /// Outcomes observed.
    #[getter]
    fn rounds_(&self, py: Python<'_>) -> u64 {
        self.lock(py).policy.rounds()
    }

    /// Every change so far, oldest first.
    #[getter]
    fn versions(&self, py: Python<'_>) -> Vec<PyChange> {
        self.lock(py).versions.iter().cloned().map(PyChange).collect()
    }

    /// SHA-256 of what was learned, in hexadecimal digits: the same outcomes in the same order give the same.
    #[getter]
    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.lock(py).learner()?.statistics().digest().to_string())
    }
}

/// The exception for an outcome that was refused.
fn refusal(py: Python<'_>, refused: &ObserveError) -> PyErr {
    let family = if matches!(refused, ObserveError::Context(_)) { &error::CONTEXT } else { &error::OBSERVE };
    family.explain(py, refused)
}

/// A new policy with what scikit-learn was told of the old one.
fn like<'py>(old: &Bound<'py, PyPolicy>, new: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    old.py().import("rarely._output")?.getattr("carried")?.call1((old, &new))?;
    Ok(new)
}

fn no_policy(class: &Bound<'_, PyType>) -> PyErr {
    PyTypeError::new_err(format!("{class} cannot be made from a policy's state"))
}
