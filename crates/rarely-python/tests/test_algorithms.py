"""The algorithms that other libraries have, against numpy and MABWiser: the same estimates, the same arms, the same probabilities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from rarely import Policy

ROUNDS, ARMS, DIMENSION, PENALTY = 2_000, 4, 3, 0.1
Numbers = npt.NDArray[np.float64]


def world(seed: int) -> tuple[Numbers, Numbers]:
    rng = np.random.default_rng(seed)
    contexts = np.column_stack([np.ones(ROUNDS), rng.uniform(size=(ROUNDS, DIMENSION - 1))])
    rewards = contexts @ rng.normal(size=(ARMS, DIMENSION)).T + 0.1 * rng.normal(size=(ROUNDS, ARMS))
    return contexts, rewards


class Ridges:
    """The regressions of all arms, by numpy alone."""

    def __init__(self) -> None:
        self.V = np.stack([PENALTY * np.eye(DIMENSION)] * ARMS)
        self.b = np.zeros((ARMS, DIMENSION))

    def learn(self, context: Numbers, arm: int, reward: float) -> None:
        self.V[arm] += np.outer(context, context)
        self.b[arm] += reward * context

    def at(self, context: Numbers) -> tuple[Numbers, Numbers]:
        inverse = np.linalg.inv(self.V)
        widths = np.sqrt(np.einsum("i,aij,j->a", context, inverse, context))
        return np.einsum("aij,aj,i->a", inverse, self.b, context), widths


def test_linucb_with_a_constant_width_plays_numpys_arms() -> None:
    contexts, rewards = world(1)
    policy = Policy(ARMS, DIMENSION, "linucb-alpha", alpha=0.7, penalty=PENALTY, norm_bound=5.0)
    ridges = Ridges()
    for context, outcome in zip(contexts, rewards):
        means, widths = ridges.at(context)
        bounds = means + 0.7 * widths
        arm, propensity = policy.decide(context)
        best = int(np.argmax(bounds))
        assert arm == best or bounds[best] - bounds[arm] < 1e-9 * abs(bounds[best])
        assert propensity == 1.0
        policy.observe(context, arm, outcome[arm])
        ridges.learn(context, arm, outcome[arm])


def test_linucb_with_a_constant_width_plays_mabwisers_arms() -> None:
    library = pytest.importorskip("mabwiser.mab")
    contexts, rewards = world(2)
    policy = Policy(ARMS, DIMENSION, "linucb-alpha", alpha=1.25, penalty=PENALTY, norm_bound=5.0)
    learning = library.LearningPolicy.LinUCB(alpha=1.25, l2_lambda=PENALTY)
    peer = library.MAB(list(range(ARMS)), learning)
    # MABWiser's arm without data has another start: every arm has an outcome first.
    peer.fit(list(range(ARMS)), rewards[np.arange(ARMS), np.arange(ARMS)], contexts[:ARMS])
    for row in range(ARMS):
        policy.observe(contexts[row], row, rewards[row, row])
    for context, outcome in zip(contexts[ARMS:600], rewards[ARMS:600]):
        arm, _ = policy.decide(context)
        assert arm == peer.predict(context[None])
        policy.observe(context, arm, outcome[arm])
        peer.partial_fit([arm], [outcome[arm]], context[None])


def test_epsilon_greedy_has_mabwisers_estimates_and_numpys_probabilities() -> None:
    library = pytest.importorskip("mabwiser.mab")
    contexts, rewards = world(3)
    epsilon = 0.2
    policy = Policy(ARMS, DIMENSION, "epsilon-greedy", epsilon=epsilon, penalty=PENALTY, norm_bound=5.0, seed=4)
    ridges, arms = Ridges(), []
    explored = 0
    for context, outcome in zip(contexts, rewards):
        means, _ = ridges.at(context)
        arm, propensity = policy.decide(context)
        best = int(np.argmax(means))
        expected = epsilon / ARMS + (1 - epsilon if arm == best else 0.0)
        assert propensity == pytest.approx(expected, abs=1e-12)
        explored += arm != best
        arms.append(arm)
        policy.observe(context, arm, outcome[arm])
        ridges.learn(context, arm, outcome[arm])
    # Another arm than the best comes with ε(k−1)/k = 0.15: 4 standard errors of 2,000 draws are 0.032.
    assert explored / ROUNDS == pytest.approx(0.15, abs=0.032)
    peer = library.MAB(list(range(ARMS)), library.LearningPolicy.LinGreedy(epsilon=0.0, l2_lambda=PENALTY))
    peer.fit(arms, rewards[np.arange(ROUNDS), arms], contexts)
    greedy = Policy(ARMS, DIMENSION, "epsilon-greedy", epsilon=0.0, penalty=PENALTY, norm_bound=5.0)
    greedy.observe(contexts, arms, rewards[np.arange(ROUNDS), arms])
    assert list(greedy.decide(contexts)[0]) == list(peer.predict(contexts))


def test_thompson_with_a_scale_draws_as_numpy_does() -> None:
    contexts, rewards = world(4)
    scale = 0.5
    policy = Policy(ARMS, DIMENSION, "thompson", posterior_scale=scale, penalty=PENALTY, norm_bound=5.0, seed=1)
    ridges = Ridges()
    for row in range(60):
        policy.observe(contexts[row], row % ARMS, rewards[row, row % ARMS])
        ridges.learn(contexts[row], row % ARMS, rewards[row, row % ARMS])
    rng = np.random.default_rng(0)
    draws = 20_000
    for context in contexts[100:104]:
        means, widths = ridges.at(context)
        theirs = np.argmax(means + scale * widths * rng.standard_normal((draws, ARMS)), axis=1)
        expected = np.bincount(theirs, minlength=ARMS) / draws
        arms, propensities = policy.decide(np.tile(context, (draws, 1)))
        found = np.bincount(arms, minlength=ARMS) / draws
        # Two shares of 20,000 draws: 4 standard errors of their difference are at most 0.02.
        assert found == pytest.approx(expected, abs=0.02)
        for arm in np.unique(arms):
            assert propensities[arms == arm][0] == pytest.approx(expected[arm], abs=0.02)


def test_squarecb_has_numpys_probabilities() -> None:
    contexts, rewards = world(5)
    policy = Policy(ARMS, DIMENSION, "squarecb", gap_scale=4.0, penalty=PENALTY, norm_bound=5.0, seed=2)
    ridges = Ridges()
    for seen, (context, outcome) in enumerate(zip(contexts[:800], rewards[:800])):
        means, _ = ridges.at(context)
        best = int(np.argmax(means))
        chances = 1 / (ARMS + 4.0 * np.sqrt(seen) * (means[best] - means))
        chances[best] = 0.0
        chances[best] = 1 - chances.sum()
        arm, propensity = policy.decide(context)
        assert propensity == pytest.approx(chances[arm], rel=1e-6)
        policy.observe(context, arm, outcome[arm])
        ridges.learn(context, arm, outcome[arm])


@pytest.mark.parametrize("algorithm", ["bootstrap", "batched-thompson", "batched-elimination", "explore-then-commit"])
def test_the_others_learn(algorithm: str) -> None:
    contexts, rewards = world(6)
    policy = Policy(ARMS, DIMENSION, algorithm, noise=0.1, penalty=PENALTY, norm_bound=5.0, seed=3)
    best = rewards.max(axis=1)
    lost = []
    for context, outcome, most in zip(contexts, rewards, best):
        arm, propensity = policy.decide(context)
        assert 0 < propensity <= 1
        lost.append(most - outcome[arm])
        policy.observe(context, arm, outcome[arm])
    assert np.mean(lost[-500:]) < 0.2 * np.mean(lost[:50]), (np.mean(lost[:50]), np.mean(lost[-500:]))
