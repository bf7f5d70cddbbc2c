"""Arms that come and go, and arms with features: the same decisions as numpy, MABWiser and a mask."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import rarely
from rarely import errors

VARYING = ("linucb", "rs-linucb", "linucb-alpha", "thompson", "logistic-thompson", "epsilon-greedy", "squarecb")
SHARING = ("linucb", "linucb-alpha", "thompson", "epsilon-greedy", "squarecb")


def world(rounds: int, arms: int, seed: int = 1) -> tuple[Any, Any]:
    """Contexts, and the outcome of every arm, from 0 to 1."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(rounds), rng.random(rounds)])
    means = 1 / (1 + np.exp(-X @ rng.normal(size=(arms, 2)).T))
    return X, np.clip(means + 0.1 * rng.normal(size=(rounds, arms)), 0, 1)


def play(policy: rarely.Policy, X: Any, rewards: Any, allowed: Any = None) -> list[int]:
    chosen = []
    for x, outcome in zip(X, rewards):
        arm, _ = policy.decide(x, allowed=allowed) if allowed is not None else policy.decide(x)
        policy.observe(x, arm, outcome[arm])
        chosen.append(arm)
    return chosen


@pytest.mark.parametrize("algorithm", VARYING)
def test_an_added_arm_is_one_that_was_never_allowed(algorithm: Any) -> None:
    X, rewards = world(400, 4)
    grown, masked = (rarely.Policy(arms, 2, algorithm, noise=0.1, norm_bound=5.0, seed=3) for arms in (3, 4))
    assert play(grown, X[:200], rewards) == play(masked, X[:200], rewards, [True, True, True, False])
    assert grown.add_arm() == 3 and grown.arms == 4 and grown.get_params()["arms"] == 4
    grown = pickle.loads(pickle.dumps(grown))
    assert play(grown, X[200:], rewards[200:]) == play(masked, X[200:], rewards[200:])
    assert np.array_equal(grown.estimates_, masked.estimates_)


@pytest.mark.parametrize("algorithm", VARYING)
def test_a_removed_arm_keeps_what_was_learned(algorithm: Any) -> None:
    X, rewards = world(300, 3)
    policy = rarely.Policy(3, 2, algorithm, noise=0.1, norm_bound=5.0, seed=3)
    play(policy, X[:100], rewards)
    before = policy.estimates_[1].copy()
    policy.remove_arm(1)
    assert list(policy.available_) == [True, False, True]
    for copied in (policy.copy(), pickle.loads(pickle.dumps(policy))):
        assert list(copied.available_) == [True, False, True]
    assert 1 not in play(policy, X[100:200], rewards[100:])
    assert 1 not in policy.decide(X)[0] and np.array_equal(policy.estimates_[1], before)
    # What was still to come is learned.
    policy.observe(X[0], 1, rewards[0, 1])
    assert not np.array_equal(policy.estimates_[1], before)
    assert list(policy.copy().fit(X[:50], [0, 2] * 25, rewards[:50, 0]).available_) == [True, False, True]
    policy.restore_arm(1)
    assert policy.available_.all()


def test_arms_of_mabwiser_are_added_and_removed_alike() -> None:
    library = pytest.importorskip("mabwiser.mab")
    X, rewards = world(300, 3, seed=5)
    policy = rarely.Policy(2, 2, "linucb-alpha", alpha=1.25, penalty=0.1)
    peer = library.MAB([0, 1], library.LearningPolicy.LinUCB(alpha=1.25, l2_lambda=0.1))
    arms = np.arange(100) % 2
    peer.fit(arms, rewards[np.arange(100), arms], X[:100])
    policy.observe(X[:100], arms, rewards[np.arange(100), arms])
    assert list(policy.decide(X)[0]) == list(peer.predict(X))
    policy.add_arm()
    peer.add_arm(2)
    # MABWiser's arm without data has another start: both learn of it first.
    policy.observe(X[100:110], [2] * 10, rewards[100:110, 2])
    peer.partial_fit([2] * 10, rewards[100:110, 2], X[100:110])
    assert list(policy.decide(X)[0]) == list(peer.predict(X))
    policy.remove_arm(0)
    peer.remove_arm(0)
    assert list(policy.decide(X)[0]) == list(peer.predict(X))


def test_changes_of_arms_that_are_refused() -> None:
    with pytest.raises(errors.SettingsError, match="the arms of rarely cannot change"):
        rarely.Policy(2, 1).add_arm()
    policy = rarely.Policy(2, 2, "thompson")
    with pytest.raises(errors.SettingsError, match="1 numbers were given for the prior mean, but 2 are needed"):
        policy.add_arm(prior_mean=[1.0])
    with pytest.raises(errors.SettingsError, match="have 0"):
        policy.add_arm(features=[1.0])
    with pytest.raises(errors.Error, match="arm 2 does not exist"):
        policy.remove_arm(2)
    policy.remove_arm(0)
    with pytest.raises(errors.SettingsError, match="the only one left"):
        policy.remove_arm(1)
    assert policy.add_arm(prior_mean=[0.5, 2.0]) == 2 and list(policy.estimates_[2]) == [0.5, 2.0]
    assert rarely.Policy.from_bytes(policy.to_bytes()) == policy
    assert list(
        rarely.Policy(2, 2, "thompson", prior_mean=3.0).partial_fit([[1.0, 0.0]], [0], [3.0]).estimates_[1]
    ) == [3, 3]


def test_a_constant_prior_mean_is_the_new_arms_too() -> None:
    policy = rarely.Policy(2, 2, "epsilon-greedy", prior_mean=3.0)
    policy.add_arm()
    assert list(policy.estimates_[2]) == [3.0, 3.0]
    assert rarely.Policy.from_bytes(policy.to_bytes()) == policy


# Features of arms


class SharedLinUcb:
    """LinUCB on all products of context variables and features, by numpy alone [Li et al. 2010, with one regression]."""

    def __init__(self, features: Any, dimension: int, alpha: float, penalty: float) -> None:
        width = features.shape[1] * dimension
        self.features, self.alpha = features, alpha
        self.V, self.b = penalty * np.eye(width), np.zeros(width)

    def bounds(self, x: Any) -> Any:
        products = np.stack([np.kron(own, x) for own in self.features])
        inverse = np.linalg.inv(self.V)
        widths = np.sqrt(np.einsum("ai,ij,aj->a", products, inverse, products))
        return products @ inverse @ self.b + self.alpha * widths

    def learn(self, x: Any, arm: int, reward: float) -> None:
        product = np.kron(self.features[arm], x)
        self.V += np.outer(product, product)
        self.b += reward * product


def test_shared_parameters_play_numpys_arms() -> None:
    rng = np.random.default_rng(2)
    features = np.column_stack([np.ones(6), rng.normal(size=(6, 2))])
    X, rewards = world(600, 6, seed=2)
    policy = rarely.Policy(6, 2, "linucb-alpha", alpha=0.5, penalty=0.2, arm_features=features)
    mine = SharedLinUcb(features, 2, 0.5, 0.2)
    for x, outcome in zip(X, rewards):
        bounds = mine.bounds(x)
        arm, _ = policy.decide(x)
        assert bounds.max() - bounds[arm] < 1e-9
        policy.observe(x, arm, outcome[arm])
        mine.learn(x, arm, outcome[arm])
    theta = np.linalg.solve(mine.V, mine.b).reshape(3, 2)
    assert np.allclose(policy.estimates_, features @ theta, rtol=1e-9)


@pytest.mark.parametrize("algorithm", SHARING)
def test_a_feature_for_each_arm_is_the_model_without(algorithm: Any) -> None:
    X, rewards = world(300, 3)
    settings: dict[str, Any] = {"noise": 0.1, "norm_bound": 5.0, "seed": 3}
    one = rarely.Policy(3, 2, algorithm, arm_features=np.eye(3), **settings)
    two = rarely.Policy(3, 2, algorithm, **settings)
    assert play(one, X, rewards) == play(two, X, rewards)
    assert np.allclose(one.estimates_, two.estimates_)
    assert pickle.loads(pickle.dumps(one)) == one and np.array_equal(one.get_params()["arm_features"], np.eye(3))
    assert one.copy().fit(X, [0, 1, 2] * 100, rewards[:, 0]).rounds_ == 300


def test_a_new_arm_is_known_by_its_features() -> None:
    policy = rarely.Policy(2, 1, "thompson", noise=0.1, arm_features=[[1.0, 0.0], [1.0, 1.0]])
    policy.observe(np.ones((200, 1)), [0, 1] * 100, [0.0, 2.0] * 100)
    with pytest.raises(errors.SettingsError, match="have 2"):
        policy.add_arm()
    assert policy.add_arm(features=[1.0, 3.0]) == 2
    assert policy.estimates_[2] == pytest.approx([6.0], abs=0.01)
    assert (policy.decide(np.ones((100, 1)))[0] == 2).all()
    assert rarely.Policy.from_bytes(policy.to_bytes()) == policy


def test_features_that_are_refused() -> None:
    with pytest.raises(errors.SettingsError, match="features of arms cannot be combined with rarely"):
        rarely.Policy(2, 1, arm_features=[[1.0], [2.0]])
    with pytest.raises(errors.SettingsError, match="3 numbers are not as many features for each of 2 arms"):
        rarely.Policy(2, 1, "linucb", arm_features=[1.0, 2.0, 3.0])
    with pytest.raises(AttributeError, match="no linear confidence set"):
        rarely.Policy(2, 1, "linucb", arm_features=[[1.0], [2.0]]).intervals([[1.0]])
