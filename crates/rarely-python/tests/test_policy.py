"""`rarely.Policy` as its users meet it."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import rarely
from logs import all_algorithms, learnable, learned, log
from rarely import errors
from said import said

# Deciding


def test_one_row_and_a_block_decide_alike() -> None:
    X, _, _ = log(50, seed=3)
    for policy in all_algorithms():
        block = policy.copy()
        arms, propensities = block.decide(X)
        assert arms.dtype == np.int64 and propensities.dtype == np.float64
        singles = [policy.decide(row) for row in X]
        assert [(int(a), float(p)) for a, p in zip(arms, propensities)] == singles
        assert policy == block, "the generators are at the same place"


def test_deciding_does_not_learn_and_predicting_does_not_draw() -> None:
    X, _, _ = log(20)
    for policy in all_algorithms():
        before = policy.copy()
        arms = policy.predict(X)
        assert policy == before
        assert np.array_equal(policy.predict(X), arms)
        policy.decide(X)
        assert not hasattr(policy, "digest") or policy.digest == before.digest


def test_propensities_are_frequencies() -> None:
    policy = learned("boundary-greedy", 100, explore="equipoise:0.5")
    X = np.repeat(log(1, seed=5)[0], 20_000, axis=0)
    arms, propensities = policy.decide(X)
    for arm in np.unique(arms):
        claimed = propensities[arms == arm][0]
        # Six standard errors.
        assert abs((arms == arm).mean() - claimed) < 6 * np.sqrt(claimed * (1 - claimed) / len(arms)) + 1e-12


def test_reasons() -> None:
    policy = rarely.Policy(2, 1, "boundary-greedy", explore="pilot:6")
    assert policy.decide([1.0], reasons=True)[2] == "pilot"
    assert policy.decide([[1.0], [1.0]], reasons=True)[2] == ["pilot", "pilot"]


def test_a_pilot_counts_decisions_without_outcomes() -> None:
    """A block of 2,000 rows once got one arm for all of them, with propensity 1."""
    policy = rarely.Policy(2, 1, "boundary-greedy", explore="pilot:10", deployed=[[0.0], [1.0]])
    arms, propensities, reasons = policy.decide(np.ones((2000, 1)), reasons=True)
    assert reasons[:20] == ["pilot"] * 20 and set(reasons[20:]) == {"policy"}
    assert set(arms[:20]) == {0, 1} and (propensities[:20] == 0.5).all()
    assert (arms[20:] == 1).all() and (propensities[20:] == 1).all()
    assert policy.decide([1.0], reasons=True)[2] == "policy", "the block counts"


def test_sharp_sets_are_sharper_and_need_no_norm_bound() -> None:
    X, plays, rewards = log(2000)
    joint, sharp = (
        rarely.Policy(3, 3, "certified", minimum_gain=1e12, noise=0.1, norm_bound=5.0, sets=sets)
        for sets in ("joint", "sharp")
    )
    free = rarely.Policy(3, 3, "certified", minimum_gain=1e12, noise=0.1)
    widths = []
    for policy in (joint, sharp, free):
        policy.observe(X, plays, rewards)
        gain = policy.gain(policy.estimates_, X)
        widths.append(gain.upper - gain.lower)
    assert widths[1] < widths[0] and widths[2] < widths[0]


def test_the_default_holds_a_rule_and_renews_its_randomisation() -> None:
    policy = rarely.Policy(2, 2, noise=0.1)
    world = np.random.default_rng(3)
    for _ in range(1000):
        x = np.array([1.0, world.random()])
        arm, propensity = policy.decide(x)
        assert 0 < propensity <= 1
        policy.observe(x, arm, (x[1] if arm == 1 else 0.4) + 0.1 * world.normal())
    assert policy.algorithm == "rarely" and 1 <= len(policy.versions) <= 3
    assert policy.renewals_ > len(policy.versions)
    assert all(change.certificate is not None and change.certificate.gain.lower > 0 for change in policy.versions)
    assert "stuck" not in repr(policy)


def test_a_stuck_policy_says_so() -> None:
    policy = rarely.Policy(2, 1, "boundary-greedy", noise=1.0, deployed=[[1.0], [0.0]])
    policy.observe(np.ones((2000, 1)), np.zeros(2000, dtype=int), np.zeros(2000))
    assert "stuck: arm 1" in repr(policy)


# Learning


def test_changes_carry_certificates() -> None:
    policy = rarely.Policy(3, 3, noise=0.1, norm_bound=5.0)
    changes = policy.observe(*log(2000))
    assert changes and changes == policy.versions
    first = changes[0]
    assert first.version == 1 and first.round <= 2000 and first.before.shape == (3, 3)
    assert np.array_equal(changes[-1].after, policy.rule_)  # type: ignore[arg-type]
    certificate = first.certificate
    assert certificate is not None
    assert certificate.gain.lower <= certificate.gain.estimate <= certificate.gain.upper
    assert len(certificate.boundaries) == 3 and len(certificate.digest) == 64
    assert str(first).startswith("change 1 after") and "boundary" in str(certificate)
    assert first.to_dict()["version"] == 1
    assert learned(certificates=False).versions[0].certificate is None


def test_a_bad_row_teaches_nothing() -> None:
    X, plays, rewards = log(200_000)
    policy = learned()
    before = policy.copy()
    for row, change in ((0, (7, 1.0)), (150_000, (1, float("nan"))), (199_999, (-1, 1.0))):
        bad_plays, bad_rewards = plays.copy(), rewards.copy()
        bad_plays[row], bad_rewards[row] = change
        with pytest.raises(errors.ObserveError, match=f"row {row}:"):
            policy.observe(X, bad_plays, bad_rewards)
        assert policy == before
    X[123_456, 1] = np.inf
    with pytest.raises(errors.ContextError, match="123456"):
        policy.observe(X, plays, rewards)
    assert policy == before


def test_lengths_must_agree() -> None:
    X, plays, rewards = log(10)
    with pytest.raises(errors.ObserveError, match="10 contexts, 9 decisions and 10 rewards"):
        learned().observe(X, plays[:9], rewards)
    with pytest.raises(errors.ContextError, match="4 variables, but the policy has 3"):
        learned().observe(np.ones((2, 4)), [0, 1], [1.0, 2.0])


def test_empty_blocks() -> None:
    policy = learned()
    arms, propensities = policy.decide(np.empty((0, 3)))
    assert arms.shape == propensities.shape == (0,)
    assert policy.observe(np.empty((0, 3)), [], []) == []
    with pytest.raises(errors.ContextError, match="no people"):
        policy.excluded_share(np.empty((0, 3)))


# What was learned


def test_estimates_are_those_of_a_ridge_regression() -> None:
    X, plays, rewards = log(2000)
    policy = learned()
    for arm in range(3):
        rows = X[plays == arm]
        expected = np.linalg.solve(rows.T @ rows + 0.01 * np.eye(3), rows.T @ rewards[plays == arm])
        np.testing.assert_allclose(policy.estimates_[arm], expected, rtol=1e-9)
        assert policy.counts_[arm] == len(rows)
    V = [X[plays == arm].T @ X[plays == arm] + 0.01 * np.eye(3) for arm in range(3)]
    log_det = sum(np.linalg.slogdet(each)[1] for each in V) - 9 * np.log(0.01)
    radius = np.sqrt(0.01) * 5.0 + 0.1 * np.sqrt(2 * np.log(1 / 0.001) + log_det)
    assert policy.radius_ == pytest.approx(radius, rel=1e-9)
    interval = policy.intervals(X[:1])[0, 1]
    width = radius * np.sqrt(X[0] @ np.linalg.solve(V[1], X[0]))
    np.testing.assert_allclose(interval, X[0] @ policy.estimates_[1] + np.array([0, -width, width]), rtol=1e-8)


def test_plausible_arms_and_the_excluded_share() -> None:
    policy = learned()
    X = log(500, seed=8)[0]
    mask = policy.plausible(X)
    assert mask.shape == (500, 3) and mask.any(axis=1).all()
    expected = 1 - mask[np.arange(500), policy.predict(X)].mean()
    assert policy.excluded_share(X) == pytest.approx(expected)
    optimist = learned("linucb")
    expected = 1 - optimist.plausible(X)[np.arange(500), optimist.predict(X)].mean()
    assert optimist.excluded_share(X) == pytest.approx(expected)
    assert 0 <= policy.excluded_share() <= 1


def test_thresholds() -> None:
    policy = rarely.Policy(2, 2, noise=0.1, norm_bound=2.0)
    assert policy.thresholds() == [(-np.inf, np.inf)]
    world = np.random.default_rng(4)
    X = np.column_stack([np.ones(5000), world.random(5000)])
    arms = world.integers(0, 2, 5000)
    policy.observe(X, arms, np.where(arms == 1, X[:, 1], 0.4) + 0.1 * world.normal(size=5000))
    [(low, high)] = policy.thresholds()
    assert low < 0.4 < high and high - low < 0.2
    assert policy.boundaries()[0].arms == (0, 1)


def test_gain_of_policies_parameters_and_arms() -> None:
    policy = rarely.Policy(3, 3, "certified", minimum_gain=1e12, noise=0.1, norm_bound=5.0)
    X, plays, rewards = log(2000)
    policy.observe(X, plays, rewards)
    by_parameters = policy.gain(policy.estimates_, X)
    other = learned("greedy")
    assert other.rule_ is not None
    assert policy.gain(other, X) == by_parameters
    with pytest.warns(errors.LinearModelWarning, match="rarely.evaluate"):
        assert policy.gain(other.predict(X), X) == by_parameters
    assert by_parameters.lower > 0 and by_parameters.changed_share > 0
    assert policy.gain(policy, X).estimate == 0
    assert policy.gain(other).lower > 0, "on the people seen"


# Copies


def test_copies_go_on_alike() -> None:
    X, plays, rewards = log(300, seed=12)
    for policy in all_algorithms():
        twins = [
            policy.copy(),
            copy.copy(policy),
            copy.deepcopy(policy),
            pickle.loads(pickle.dumps(policy)),
            rarely.Policy.from_bytes(policy.to_bytes()),
        ]
        outcomes = learnable(policy.algorithm, rewards)
        policy.decide(X)
        policy.observe(X, plays, outcomes)
        for twin in twins:
            assert twin != policy
            twin.decide(X)
            twin.observe(X, plays, outcomes)
            assert twin == policy


def test_subclasses_stay_what_they_are() -> None:
    twin = copy.deepcopy(Named(3, 3))
    assert isinstance(twin, Named)
    assert isinstance(pickle.loads(pickle.dumps(Named(3, 3))), Named)
    assert isinstance(Named(3, 3) + Named(3, 3), Named)


class Named(rarely.Policy):
    """A policy of somebody's own."""


def test_damaged_bytes() -> None:
    whole = learned(rows=50).to_bytes()
    for at in list(range(0, len(whole), max(1, len(whole) // 200))):
        with pytest.raises(errors.RestoreError):
            rarely.Policy.from_bytes(whole[:at])
    with pytest.raises(errors.RestoreError, match="do not begin"):
        rarely.Policy.from_bytes(b"something else")


def test_adding() -> None:
    for name in rarely.ALGORITHMS:
        more = {"baseline": 0, "baseline_mean": [1.0, 0.0, 0.0]}
        one, two = learned(name, 400, seed=1, **more), learned(name, 600, seed=2, **more)
        both = one + two
        assert both.rounds_ == 1000 and one.rounds_ == 400
        if not hasattr(both, "counts_"):
            continue
        assert np.array_equal(both.counts_, one.counts_ + two.counts_)
        X = np.concatenate([log(400, seed=1)[0], log(600, seed=2)[0]])
        plays = np.concatenate([log(400, seed=1)[1], log(600, seed=2)[1]])
        rewards = np.concatenate([log(400, seed=1)[2], log(600, seed=2)[2]])
        together = rarely.Policy(3, 3, name, noise=0.1, norm_bound=5.0, **more)
        together.observe(X, plays, rewards)
        np.testing.assert_allclose(both.estimates_, together.estimates_, rtol=1e-9, atol=1e-12)
    policy = learned(rows=100)
    assert (policy + policy).rounds_ == 200
    with pytest.raises(errors.MergeError):
        policy + learned("linucb")
    with pytest.raises(TypeError):
        policy + 1  # type: ignore[operator]


# scikit-learn's conventions


def test_scikit_learn() -> None:
    from sklearn.base import clone

    X, plays, rewards = log(500)
    policy = rarely.Policy(3, 3, noise=0.1, prior_mean=0.5, seed=7)
    assert policy.partial_fit(X, plays, rewards) is policy
    assert policy.fit(X, plays, rewards).rounds_ == 500
    assert policy.predict(X).shape == (500,) and policy.predict(X[0]) in range(3)
    fresh = clone(policy)
    assert fresh.rounds_ == 0 and repr(fresh.get_params()) == repr(policy.get_params())
    again = rarely.Policy(**policy.get_params())
    assert again == fresh
    assert fresh.set_params(noise=0.2, algorithm="linucb").get_params()["noise"] == 0.2
    with pytest.raises(errors.SettingsError, match="no setting nose"):
        fresh.set_params(nose=1)
    with pytest.raises(errors.SettingsError, match="has learned"):
        policy.set_params(noise=1.0)


# Errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"arms": 1}, "from 2 to 256"),
        ({"noise": -1.0}, "noise"),
        ({"algorithm": "linucbb"}, "linucb"),
        ({"explore": "much"}, "way to explore"),
        ({"sets": "each"}, "joint"),
        ({"deployed": [1.0]}, "9 are needed"),
        ({"algorithm": "clucb"}, "baseline"),
        ({"algorithm": "linucb", "explore": "pilot:3"}, "exploration"),
        ({"tolerance": 2.0}, "tolerance"),
        ({"population": [[1.0, 2.0]]}, "population"),
    ],
)
def test_settings(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.SettingsError, match=message) as caught:
        rarely.Policy(**{"arms": 3, "dimension": 3, **arguments})
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, errors.Error)


def test_what_to_do_is_a_note() -> None:
    with pytest.raises(errors.SettingsError) as caught:
        rarely.Policy(2, 2, sets="each")
    assert said(caught.value) == (
        'unknown confidence sets "each"\nhelp: choose joint, per-arm or sharp\nsee: docs/reference/algorithms.md'
    )
    assert said(pickle.loads(pickle.dumps(caught.value))) == said(caught.value)


def test_what_does_not_learn_has_no_estimates() -> None:
    assert not hasattr(rarely.Policy(2, 2, "random"), "estimates_")
    assert rarely.Policy(2, 2, "linucb").rule_ is None


def test_arms_that_are_not_allowed_are_not_chosen() -> None:
    X = log(300)[0]
    masks = np.random.default_rng(3).random((300, 3)) < 0.6
    masks[~masks.any(axis=1), 1] = True
    for name in ("rarely", "linucb", "thompson", "epsilon-greedy", "squarecb", "random"):
        policy = learned(name, 100, sets=None)
        arms, propensities = policy.decide(X, allowed=masks)
        assert masks[np.arange(300), arms].all() and ((propensities > 0) & (propensities <= 1)).all()
        one, chance, _ = policy.decide(X[0], allowed=[False, True, False], reasons=True)
        assert (one, chance) == (1, 1.0)
    with pytest.raises(errors.ContextError, match="row 0.*one must be allowed"):
        policy.decide(X, allowed=np.zeros((300, 3)))
    with pytest.raises(errors.ContextError, match="4 flags"):
        policy.decide(X, allowed=[True] * 4)
    with pytest.raises(errors.ContextError, match="all arms only"):
        learned("bootstrap", 100).decide(X, allowed=masks)
