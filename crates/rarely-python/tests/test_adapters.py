"""A policy in the real loops of `coba` and `obp`: it learns there, and learns exactly what it learns by hand."""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from obp_parts import obp_parts
from rarely import Policy
from rarely.adapters import CobaLearner, ObpPolicy
from rarely.errors import ContextError, ObserveError, SettingsError


def linucb(arms: int, dimension: int, **settings: Any) -> Policy:
    return Policy(arms, dimension, "linucb", **{"noise": 0.1, "norm_bound": 2.0, "penalty": 0.1, **settings})


#: What some algorithms want to know besides.
MORE: dict[str, dict[str, Any]] = {
    "clucb": {"baseline": 0, "baseline_mean": [0.5, 0.0, 0.0, 0.0, 0.0]},
    "boundary-conservative": {"explore": "pilot:6+equipoise:0.1"},
}


class TestCoba:
    """`coba` as it is on PyPI; nothing of it is replaced."""

    def test_an_experiment_is_better_with_it_than_at_random(self) -> None:
        coba = pytest.importorskip("coba")
        environments = coba.Environments.from_linear_synthetic(
            2000, n_actions=4, n_context_features=4, n_action_features=0, n_coefficients=None, seed=[1, 2]
        )
        learners = [CobaLearner(linucb(4, 5), intercept=True), coba.RandomLearner()]
        result = coba.Experiment(environments, learners).run(quiet=True)
        rewards: dict[int, list[float]] = {}
        for row in result.interactions.to_dicts():
            rewards.setdefault(row["learner_id"], []).append(row["reward"])
        best = [max(interaction["rewards"]) for one in environments for interaction in raw(one)]
        assert len(rewards[0]) == len(rewards[1]) == len(best) == 4000
        ours, random = (np.mean(best) - np.mean(rewards[at]) for at in (0, 1))
        assert ours < 0.1 * random, (ours, random)
        families = {row["family"] for row in result.learners.to_dicts()}
        assert "rarely-linucb" in families

    @pytest.mark.parametrize("algorithm", ["linucb", "random", "clucb", "boundary-conservative"])
    def test_the_policy_inside_equals_one_fed_by_hand(self, algorithm: str) -> None:
        coba = pytest.importorskip("coba")
        environment = coba.Environments.from_linear_synthetic(
            1000, n_actions=3, n_context_features=4, n_action_features=0, n_coefficients=None, seed=3
        )[0]
        settings: dict[str, Any] = {"noise": 0.1, "norm_bound": 2.0, "penalty": 0.1, "seed": 5}
        settings.update(MORE.get(algorithm, {}))
        learner = CobaLearner(Policy(3, 5, algorithm, **settings), intercept=True)
        seen = list(coba.SequentialCB(["reward", "action", "probability"]).evaluate(environment, learner))
        by_hand = Policy(3, 5, algorithm, **settings)
        for interaction, row in zip(raw(environment), seen):
            context = np.array([[1.0, *interaction["context"]]])
            arms, propensities, reasons = by_hand.decide(context, reasons=True)
            arm = int(arms[0])
            assert row["action"] == interaction["actions"][arm]
            assert row["probability"] == propensities[0]
            assert propensities[0] == {"linucb": 1.0, "random": 1.0 / 3.0}.get(algorithm, propensities[0])
            assert row["reward"] == interaction["rewards"][arm]
            by_hand.observe(context, [arm], [interaction["rewards"][arm]], reasons=reasons)
        assert len(seen) == 1000
        assert learner.policy == by_hand
        assert learner.policy.to_bytes() == by_hand.to_bytes()

    def test_a_bandit_without_contexts(self) -> None:
        coba = pytest.importorskip("coba")
        environment = coba.Environments.from_linear_synthetic(
            500, n_actions=3, n_context_features=0, n_action_features=0
        )[0]
        learner = CobaLearner(linucb(3, 1), intercept=True)
        rewards = [row["reward"] for row in coba.SequentialCB().evaluate(environment, learner)]
        best = max(np.mean([interaction["rewards"][arm] for interaction in raw(environment)]) for arm in range(3))
        assert np.mean(rewards[100:]) > best - 0.05

    def test_batches_are_taken_one_by_one(self) -> None:
        coba = pytest.importorskip("coba")
        made = coba.Environments.from_linear_synthetic(
            300, n_actions=3, n_context_features=4, n_action_features=0, seed=3
        )
        learner = CobaLearner(linucb(3, 5), intercept=True)
        list(coba.SequentialCB().evaluate(made.batch(10)[0], learner))
        assert learner.policy.rounds_ == 300

    def test_actions_are_arms_by_their_place(self) -> None:
        learner = CobaLearner(linucb(3, 2), ["a", ("b", 1), None])
        for _ in range(5):
            learner.learn((1.0, 0.0), ("b", 1), 1.0)
        chosen = CobaLearner(greedy(learner.policy), learner.actions).predict((1.0, 0.0), [None, ("b", 1), "a"])
        assert chosen == (("b", 1), 1.0, {"reason": "greedy"})
        for offered in (["a", "b", None], ["a", None], ["a", "a", None, ("b", 1)]):
            with pytest.raises(ContextError):
                learner.predict((1.0, 0.0), offered)
        with pytest.raises(SettingsError, match="2 actions"):
            CobaLearner(linucb(3, 2), ["a", "b"])
        with pytest.raises(ObserveError, match="no action is known"):
            CobaLearner(linucb(3, 2)).learn((1.0, 0.0), "a", 1.0)

    def test_contexts_of_every_kind(self) -> None:
        def vectors(learner: CobaLearner[Policy], *contexts: Any) -> list[Any]:
            return [learner._vector(context)[0].tolist() for context in contexts]

        assert vectors(CobaLearner(linucb(2, 1), intercept=True), None) == [[1.0]]
        assert vectors(CobaLearner(linucb(2, 1)), 3, (3,), [3.0]) == [[3.0]] * 3
        assert vectors(CobaLearner(linucb(2, 4), intercept=True), (5, (0, 1))) == [[1.0, 5.0, 0.0, 1.0]]
        sparse = CobaLearner(linucb(2, 3), intercept=True)
        assert vectors(sparse, {"y": 2}, {"x": 1}, {"x": 3, "y": 4}, {}) == [[1, 2, 0], [1, 0, 1], [1, 4, 3], [1, 0, 0]]
        assert vectors(CobaLearner(linucb(2, 2), features=["x", "y"]), {"y": 2}) == [[0.0, 2.0]]
        for context in (None, (1,), (1, 2, 3), ("high", 1), {"x": 1, "y": 2, "z": 3}, {"x": "1"}):
            with pytest.raises(ContextError):
                CobaLearner(linucb(2, 2)).predict(context, [0, 1])
        with pytest.raises(ContextError, match="'z'"):
            CobaLearner(linucb(2, 2), features=["x"]).predict({"z": 1}, [0, 1])


def raw(environment: Any) -> list[dict[str, Any]]:
    """What happens in an environment, with the rewards as a list in the order of the actions."""
    found = [dict(interaction) for interaction in environment.read()]
    return [{**one, "rewards": [one["rewards"](action) for action in one["actions"]]} for one in found]


def greedy(policy: Policy) -> Any:
    """The estimates of a policy as something that decides."""

    class Greedy:
        arms, dimension, algorithm = policy.arms, policy.dimension, "greedy"

        def decide(self, X: Any, *, reasons: bool) -> tuple[Any, Any, list[str]]:
            return np.argmax(X @ policy.estimates_.T, axis=1), np.ones(len(X)), ["greedy"] * len(X)

    return Greedy()


#: Of the chance of a reward of 1, by arm; contexts are within ±1, so that it is one.
SLOPES = np.array([[0.2, 0.0, -0.1], [-0.2, 0.1, 0.0], [0.0, -0.2, 0.1]])
STAND_INS = ("obp", "obp.dataset", "obp.policy", "obp.simulator")


@pytest.fixture
def simulator() -> Iterator[Any]:
    """`obp.simulator.simulator`; the two base classes that it wants from `obp.policy` are the real ones."""
    with obp_parts(STAND_INS) as load:
        base = load("obp.policy.base")
        for name in ("BaseContextFreePolicy", "BaseContextualPolicy"):
            setattr(sys.modules["obp.policy"], name, getattr(base, name))
        yield load("obp.simulator.simulator")


class TestObp:
    """obp 0.5.7 has no `run_bandit_simulation` any more; its loops are `BanditPolicySimulator.steps` and
    `calc_ground_truth_policy_value`."""

    @staticmethod
    def environment(simulator: Any) -> Any:
        def linear(context: Any, action_context: Any, **_: Any) -> Any:
            return 0.5 + context @ SLOPES.T

        class Environment(simulator.BanditEnvironmentSimulator):  # type: ignore[misc]
            def _sample_context(self, size: Any) -> Any:
                return np.tanh(super()._sample_context(size))

        return Environment(n_actions=3, dim_context=3, reward_function=linear, random_state=7)

    def test_the_loop_learns_exactly_what_is_learned_by_hand(self, simulator: Any) -> None:
        rounds = self.environment(simulator).next_bandit_round_batch(n_rounds=3000)
        policy = ObpPolicy(linucb(3, 4, noise=0.5, error_probability=0.1), intercept=True)
        run = simulator.BanditPolicySimulator(policy=policy)
        run.steps(batch_bandit_rounds=rounds)
        expected = rounds.expected_rewards
        regret = expected.max(axis=1) - expected[np.arange(3000), run.selected_actions]
        random = (expected.max(axis=1) - expected.mean(axis=1)).mean()
        assert regret[1500:].mean() < 0.5 * random, (regret[1500:].mean(), random)
        by_hand = linucb(3, 4, noise=0.5, error_probability=0.1)
        for context, rewards, selected in zip(rounds.context, rounds.rewards, run.selected_actions):
            vector = np.array([[1.0, *context]])
            arm = int(by_hand.decide(vector)[0][0])
            assert arm == selected
            by_hand.observe(vector, [arm], [float(rewards[arm])])
        assert policy.policy == by_hand
        assert policy.policy.to_bytes() == by_hand.to_bytes()
        assert (policy.n_trial, policy.propensity) == (3000, 1.0)
        policy.initialize()
        assert policy.policy == linucb(3, 4, noise=0.5, error_probability=0.1)

    def test_delayed_rewards_arrive_too(self, simulator: Any) -> None:
        environment = self.environment(simulator)
        environment.delay_function = lambda n_rounds, n_actions, **_: np.full((n_rounds, n_actions), 5)
        run = simulator.BanditPolicySimulator(policy=ObpPolicy(linucb(3, 3)))
        run.steps(batch_bandit_rounds=environment.next_bandit_round_batch(n_rounds=100))
        assert run.policy.n_trial == 95
        run.clear_delayed_queue()
        assert run.policy.n_trial == 100

    def test_the_value_of_a_policy_by_simulation(self, simulator: Any) -> None:
        rounds = self.environment(simulator).next_bandit_round_batch(n_rounds=500)
        feedback = {
            "n_rounds": 500,
            "action": np.zeros(500, dtype=int),
            "position": np.zeros(500, dtype=int),
            "reward": rounds.rewards[:, 0].astype(float),
            "expected_reward": rounds.expected_rewards,
            "context": rounds.context,
        }
        outcomes = iter(np.tile(np.random.default_rng(1).random(500), 2))

        def sampler(context: Any, action: Any) -> Any:
            mean = 0.5 + context @ SLOPES.T
            return (next(outcomes) < mean[0, action]).astype(float)

        policy = ObpPolicy(linucb(3, 4, noise=0.2, error_probability=0.1), intercept=True)
        value = simulator.calc_ground_truth_policy_value(feedback, sampler, policy, n_sim=2)
        assert value > rounds.expected_rewards.mean()
        assert policy.n_trial == 0, "it works with copies"

    def test_the_type_is_that_of_obp(self, simulator: Any) -> None:
        kind = importlib.import_module("obp.policy.policy_type").PolicyType
        found = ObpPolicy(linucb(3, 4)).policy_type
        assert found == kind.CONTEXTUAL
        assert found != kind.CONTEXT_FREE
        assert found != kind.OFFLINE

    def test_clucb_is_refused(self) -> None:
        with pytest.raises(SettingsError, match="reasons"):
            ObpPolicy(Policy(3, 4, "clucb", baseline=0, baseline_mean=[0.5, 0.0, 0.0, 0.0]))

    def test_contexts_must_fit(self) -> None:
        policy = ObpPolicy(linucb(3, 4), intercept=True)
        assert (policy.dim, policy.n_actions, policy.policy_name) == (3, 3, "rarely_linucb")
        assert copy.deepcopy(policy).policy == policy.policy
        for context in ([[1.0, 2.0]], [[1.0, 2.0, 3.0]] * 2, []):
            with pytest.raises(ContextError, match="shape"):
                policy.select_action(context)
