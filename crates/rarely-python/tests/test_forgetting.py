"""Outcomes that count less: weights, a discount, a window, against numpy's weighted ridge regression."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import rarely
from logs import log
from rarely import Policy, errors

Numbers = npt.NDArray[np.float64]
ARMS, DIMENSION, PENALTY = 3, 3, 0.2
FORGETFUL = ["thompson", "epsilon-greedy", "linucb-alpha", "squarecb"]


def ridge(X: Numbers, y: Numbers, weights: Numbers) -> Numbers:
    V = PENALTY * np.eye(DIMENSION) + (X.T * weights) @ X
    return np.linalg.solve(V, X.T @ (weights * y))


def by_numpy(X: Numbers, arms: npt.NDArray[np.int64], rewards: Numbers, weights: Numbers) -> Numbers:
    own = [arms == arm for arm in range(ARMS)]
    return np.stack([ridge(X[rows], rewards[rows], weights[rows]) for rows in own])


@pytest.mark.parametrize("algorithm", FORGETFUL)
def test_weights_are_numpys(algorithm: str) -> None:
    X, arms, rewards = log(500)
    weights = np.random.default_rng(1).exponential(size=500)
    policy = Policy(ARMS, DIMENSION, algorithm, penalty=PENALTY)  # type: ignore[arg-type]
    policy.observe(X[:200], arms[:200], rewards[:200], weights=weights[:200])
    policy.partial_fit(X[200:], arms[200:], rewards[200:], sample_weight=weights[200:])
    assert policy.estimates_ == pytest.approx(by_numpy(X, arms, rewards, weights), abs=1e-10)
    # A weight of 2 is an outcome that came twice.
    twice, weighted = (Policy(ARMS, DIMENSION, algorithm, penalty=PENALTY) for _ in range(2))  # type: ignore[arg-type]
    twice.observe(np.repeat(X, 2, axis=0), np.repeat(arms, 2), np.repeat(rewards, 2))
    weighted.observe(X, arms, rewards, weights=np.full(500, 2.0))
    assert weighted.estimates_ == pytest.approx(twice.estimates_, abs=1e-10)


@pytest.mark.parametrize("algorithm", FORGETFUL)
@pytest.mark.parametrize("block", [1, 100])
def test_a_discount_is_numpys(algorithm: str, block: int) -> None:
    X, arms, rewards = log(600)
    policy = Policy(ARMS, DIMENSION, algorithm, penalty=PENALTY, discount=0.98)  # type: ignore[arg-type]
    for start in range(0, 600, block):
        rows = slice(start, start + block)
        policy.observe(X[rows], arms[rows], rewards[rows])
    weights = 0.98 ** np.arange(599, -1, -1.0)
    assert policy.estimates_ == pytest.approx(by_numpy(X, arms, rewards, weights), abs=1e-9)
    assert policy.rounds_ == 600


def test_a_window_is_numpys() -> None:
    X, arms, rewards = log(3_000)
    policy = Policy(ARMS, DIMENSION, "linucb-alpha", penalty=PENALTY, window=250)
    for until in (100, 250, 251, 700, 3_000):
        policy.observe(X[policy.rounds_ : until], arms[policy.rounds_ : until], rewards[policy.rounds_ : until])
        weights = (np.arange(until) >= until - 250).astype(float)
        expected = by_numpy(X[:until], arms[:until], rewards[:until], weights)
        assert policy.estimates_ == pytest.approx(expected, abs=1e-9)


def test_a_policy_that_forgets_is_saved_and_goes_on() -> None:
    X, arms, rewards = log(400)
    for more in ({"discount": 0.95}, {"window": 50}):
        policy = Policy(ARMS, DIMENSION, "thompson", penalty=PENALTY, seed=3, **more)  # type: ignore[arg-type]
        policy.observe(X[:200], arms[:200], rewards[:200])
        copy = Policy.from_bytes(policy.to_bytes())
        for own in (policy, copy):
            own.observe(X[200:], arms[200:], rewards[200:])
        assert np.array_equal(policy.estimates_, copy.estimates_)
        assert copy.get_params()["discount"] == more.get("discount")
        with pytest.raises(errors.MergeError, match="forget"):
            policy + copy


def test_it_follows_a_world_that_changes() -> None:
    """After the arms have changed places, a policy that forgets loses less."""
    rng = np.random.default_rng(5)
    policies = {"all": Policy(2, 2, "linucb-alpha", alpha=0.1)}
    policies["discounted"] = Policy(2, 2, "linucb-alpha", alpha=0.1, discount=0.99)
    lost = dict.fromkeys(policies, 0.0)
    for row in range(3_000):
        context = np.array([1.0, rng.random()])
        means = np.array([0.3, 0.7]) if row < 1_500 else np.array([0.7, 0.3])
        noise = 0.1 * rng.normal()
        for name, policy in policies.items():
            arm, _ = policy.decide(context)
            policy.observe(context, arm, means[arm] + noise)
            lost[name] += means.max() - means[arm]
    assert lost["discounted"] < 0.5 * lost["all"], lost


def test_what_rests_on_confidence_sets_refuses() -> None:
    X, arms, rewards = log(50)
    for algorithm in set(rarely.ALGORITHMS) - set(FORGETFUL) - {"logistic-thompson"}:
        more = {"baseline": 0, "baseline_mean": [1.0, 0.0, 0.0]}
        with pytest.raises(errors.SettingsError, match="forgetting cannot be combined"):
            Policy(3, 3, algorithm, discount=0.9, **more)
        policy = Policy(3, 3, algorithm, **more)
        with pytest.raises(errors.ObserveError, match="learns no weights"):
            policy.observe(X, arms, rewards, weights=np.ones(50))
        assert policy.rounds_ == 0
    with pytest.raises(errors.SettingsError, match="one of them"):
        Policy(3, 3, "thompson", discount=0.9, window=10)
    policy = Policy(3, 3, "thompson")
    policy.observe(X, arms, rewards)
    assert policy.intervals(X).shape == (50, 3, 3)
    policy.observe(X, arms, rewards, weights=np.ones(50))
    with pytest.raises(AttributeError, match="every outcome counts once"):
        policy.intervals(X)
    for weights, message in ((np.zeros(50), "above 0"), (np.ones(49), "49 weights"), (np.full(50, np.nan), "NaN")):
        with pytest.raises(errors.ObserveError, match=message):
            policy.observe(X, arms, rewards, weights=weights)
    assert policy.rounds_ == 100
