"""The algorithms for outcomes from 0 to 1, against numpy, scipy and scikit-learn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import rarely
from rarely import Policy, errors
from scipy.optimize import brentq, minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

Numbers = npt.NDArray[np.float64]
ARMS, DIMENSION, PENALTY = 3, 3, 0.5


def world(rounds: int, seed: int) -> tuple[Numbers, Numbers, Numbers]:
    """Contexts, the outcome of every arm, and the log-odds' parameters."""
    rng = np.random.default_rng(seed)
    contexts = np.column_stack([np.ones(rounds), rng.uniform(-1, 1, size=(rounds, DIMENSION - 1))])
    theta = rng.normal(size=(ARMS, DIMENSION))
    outcomes = (rng.uniform(size=(rounds, 1)) < expit(contexts @ theta.T)).astype(float)
    return contexts, outcomes, theta


def slope(x: float | Numbers) -> Numbers:
    mean = expit(x)
    return np.asarray(mean * (1 - mean))


def test_laplaces_posterior_is_the_one_of_scipy() -> None:
    """Chapelle and Li's Algorithm 3 with batches of one: the mode by a root finder, the precision by addition."""
    contexts, outcomes, _ = world(300, 1)
    policy = Policy(ARMS, DIMENSION, "logistic-thompson", penalty=PENALTY, seed=1)
    means, precisions = np.zeros((ARMS, DIMENSION)), np.stack([PENALTY * np.eye(DIMENSION)] * ARMS)
    for row, context in enumerate(contexts):
        arm = row % ARMS
        outcome = outcomes[row, arm]
        policy.observe(context, arm, outcome)
        direction = np.linalg.solve(precisions[arm], context)
        at, width = context @ means[arm], context @ direction
        step = brentq(lambda c, at=at, width=width, y=outcome: c - (y - expit(at + width * c)), -1, 1, xtol=1e-15)
        means[arm] += step * direction
        precisions[arm] += slope(context @ means[arm]) * np.outer(context, context)
    assert policy.estimates_ == pytest.approx(means, abs=1e-9)
    # It is near the mode of the whole likelihood, which scikit-learn finds from all outcomes together.
    for arm in range(ARMS):
        rows = np.arange(arm, 300, ARMS)
        fitted = LogisticRegression(C=1 / PENALTY, fit_intercept=False, tol=1e-10, max_iter=1000)
        fitted.fit(contexts[rows], outcomes[rows, arm])
        assert policy.estimates_[arm] == pytest.approx(fitted.coef_[0], abs=0.25)
    # The draws are those of the posterior.
    rng, draws = np.random.default_rng(0), 20_000
    for context in contexts[:3]:
        widths = np.sqrt([context @ np.linalg.solve(precision, context) for precision in precisions])
        drawn = np.argmax(means @ context + widths * rng.standard_normal((draws, ARMS)), axis=1)
        arms, _ = policy.decide(np.tile(context, (draws, 1)))
        expected, found = (np.bincount(of, minlength=ARMS) / draws for of in (drawn, arms))
        # 4 standard errors of the difference of two shares are at most 0.02.
        assert found == pytest.approx(expected, abs=0.02)


class Fit:
    """One arm's outcomes and their penalised likelihood, by scipy alone."""

    def __init__(self, bound: float, log_inverse_error: float) -> None:
        self.bound, self.log_inverse_error = bound, log_inverse_error
        self.rows: list[Numbers] = []
        self.outcomes: list[float] = []
        self.fit()

    def fit(self) -> None:
        self.theta = np.zeros(DIMENSION)
        hessian = PENALTY * np.eye(DIMENSION)
        if not self.rows:
            self.inverse, self.radius = np.linalg.inv(hessian), np.sqrt(PENALTY) * self.bound
            return
        X, y = np.array(self.rows), np.array(self.outcomes)

        def objective(theta: Numbers) -> tuple[float, Numbers]:
            x = X @ theta
            value = np.logaddexp(0, x).sum() - y @ x + 0.5 * PENALTY * theta @ theta
            return float(value), X.T @ (expit(x) - y) + PENALTY * theta

        found = minimize(objective, self.theta, jac=True, method="BFGS", options={"gtol": 1e-12})
        self.theta = np.asarray(found.x)
        assert np.linalg.norm(self.theta) < self.bound, "the bound is loose here"
        self.inverse = np.linalg.inv(hessian + (X.T * slope(X @ self.theta)) @ X)
        norms = np.linalg.norm(X, axis=1)
        slack = 2 * self.bound * norms.sum()
        volume = slack if slack <= DIMENSION else DIMENSION * (np.log(slack / DIMENSION) + 1)
        b = self.log_inverse_error + volume + 0.5 * PENALTY * (self.bound**2 - self.theta @ self.theta)
        w = np.sqrt(max(x @ self.inverse @ x for x in X))
        own = 0.5 * (w * b + np.sqrt(w**2 * b**2 + 8 * b))
        self.radius = min(own, np.sqrt((2 + 2 * self.bound * norms.max()) * b))

    def ends(self, context: Numbers) -> tuple[float, float]:
        middle, half = context @ self.theta, self.radius * np.sqrt(context @ self.inverse @ context)
        return middle - half, middle + half


class RsGlinCb:
    """The whole algorithm once more."""

    def __init__(self, bound: float, delta: float) -> None:
        error = np.log(1 / delta) + np.log(2 * ARMS)
        self.fits = [[Fit(bound, error) for _ in range(ARMS)] for _ in range(2)]
        self.information = [np.stack([PENALTY * np.eye(DIMENSION)] * ARMS) for _ in range(2)]
        self.log_det = [self.log_dets(0), self.log_dets(1)]

    def log_dets(self, stage: int) -> float:
        return float(np.linalg.slogdet(self.information[stage])[1].sum())

    def widths(self, context: Numbers) -> Numbers:
        inverse = np.linalg.inv(self.information[0])
        return np.array(
            [fit.radius * np.sqrt(context @ inverse[arm] @ context) for arm, fit in enumerate(self.fits[0])]
        )

    def decide(self, context: Numbers) -> int:
        widths = self.widths(context)
        if widths.max() > 1:
            return int(np.argmax(widths))
        ends = np.array([fit.ends(context) for fit in self.fits[0]])
        bounds = np.array([fit.ends(context)[1] for fit in self.fits[1]])
        bounds[ends[:, 1] < ends[:, 0].max()] = -np.inf
        return int(np.argmax(bounds))

    def observe(self, context: Numbers, arm: int, outcome: float) -> None:
        stage = 0 if self.widths(context).max() > 1 else 1
        weight = float(slope(context @ self.fits[0][arm].theta)) / (np.e if stage else 1.0)
        self.information[stage][arm] += weight * np.outer(context, context)
        self.fits[stage][arm].rows.append(context)
        self.fits[stage][arm].outcomes.append(outcome)
        if self.log_dets(stage) - self.log_det[stage] <= np.log(2):
            return
        for own in self.fits[stage]:
            own.fit()
        if stage == 0:
            self.information[0] = np.array([np.linalg.inv(fit.inverse) for fit in self.fits[0]])
        self.log_det[stage] = self.log_dets(stage)


def test_rs_glincb_plays_numpys_arms() -> None:
    contexts, outcomes, _ = world(6_000, 2)
    policy = Policy(ARMS, DIMENSION, "rs-glincb", penalty=PENALTY, norm_bound=4.0, error_probability=0.2)
    peer = RsGlinCb(4.0, 0.2)
    reasons = set()
    for context, outcome in zip(contexts, outcomes):
        arm, _, reason = policy.decide(context, reasons=True)
        reasons.add(reason)
        assert arm == peer.decide(context)
        policy.observe(context, arm, outcome[arm])
        peer.observe(context, arm, outcome[arm])
    assert policy.estimates_ == pytest.approx(np.array([fit.theta for fit in peer.fits[1]]), abs=1e-5)
    assert reasons == {"pilot", "optimistic"}, "both criteria were met"
    assert 0 < len(policy.versions) < 100, "it is fitted rarely"


def test_outcomes_that_are_no_shares_are_refused() -> None:
    for algorithm in ("logistic-thompson", "rs-glincb"):
        policy = Policy(2, 1, algorithm)  # type: ignore[arg-type]
        with pytest.raises(errors.ObserveError, match="outcomes from 0 to 1"):
            policy.observe([[1.0], [1.0]], [0, 1], [1.0, 1.5])
        assert policy.rounds_ == 0
        with pytest.raises(AttributeError, match="no linear confidence set"):
            policy.intervals([[1.0]])


def test_they_learn_in_the_binary_world() -> None:
    found = rarely.simulate(
        "binary",
        algorithms=["logistic-thompson", "rs-glincb", "thompson", "random"],
        arms=3,
        dimension=3,
        rounds=3_000,
        runs=10,
        progress=False,
    )
    regret = dict(zip(found.summary["algorithm"], found.summary["regret_per_step"]))
    assert regret["logistic-thompson"] < 0.5 * regret["random"], regret
    assert regret["rs-glincb"] < regret["random"], regret
    # σ of outcomes from 0 to 1 is at most a half, and this is what the linear algorithms are told.
    assert found.settings["assumptions"]["declared_noise"] == 0.5
    with pytest.raises(errors.ExperimentError, match="no noise to set"):
        rarely.simulate("binary", noise=0.3, rounds=10, runs=1, progress=False)


def test_the_radius_holds() -> None:
    """The truth is within the radius of every fit along 150 sequences, but for at most δ = 10 % of them."""
    missed = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        theta = rng.normal(size=DIMENSION)
        fit = Fit(6.0, np.log(10))
        inside = True
        for rows in (5, 20, 100, 300):
            for _ in range(rows - len(fit.rows)):
                # Where to look next depends on the outcomes so far, as a policy's choices do.
                candidates = np.column_stack([np.ones(4), rng.uniform(-1, 1, size=(4, DIMENSION - 1))])
                context = candidates[int(np.argmax(candidates @ fit.theta))]
                fit.rows.append(context)
                fit.outcomes.append(float(rng.random() < expit(context @ theta)))
            fit.fit()
            apart = theta - fit.theta
            inside &= bool(apart @ np.linalg.solve(fit.inverse, apart) <= fit.radius**2)
        missed += not inside
    # 15 of 150 are allowed; 4 standard errors above would be 30.
    assert missed <= 15, missed
