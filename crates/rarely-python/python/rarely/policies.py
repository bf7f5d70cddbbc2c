"""Policies of your own in :func:`rarely.simulate`, beside ours: on the same people, noise and luck.

A policy is anything with ``decide(X)``, which returns an arm for each row of contexts, or a row of probabilities for each, and
``observe(X, arms, rewards)``. It is copied for every run, so that runs do not learn from each other. If it has a method ``start(arms,
dimension, rounds, seed)``, that is called first; whoever draws random numbers from ``seed`` gets the same results for any number of
threads. Where ``decide`` returns probabilities, arms are drawn from the run's own stream. A class is a policy too: each run makes its own.

- A function from rows of contexts to arms or probabilities is a policy that does not learn.
- An estimator of scikit-learn is fitted for each arm: see :class:`PerArm`.
- Objects of MABWiser, of contextualbandits and of River's bandits are taken as they are.

None of these libraries is imported here.

>>> import numpy as np, rarely
>>> class Follow:
...     def start(self, arms, dimension, rounds, seed):
...         self.sums, self.counts = np.zeros(arms), np.ones(arms)
...     def decide(self, X):
...         return np.full(len(X), np.argmax(self.sums / self.counts))
...     def observe(self, X, arms, rewards):
...         np.add.at(self.sums, arms, rewards)
...         np.add.at(self.counts, arms, 1)
>>> found = rarely.simulate(algorithms=["rarely", Follow], rounds=500, runs=2, block=50, progress=False)
>>> found.summary["algorithm"]
['rarely', 'Follow']
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from .errors import ExperimentError

__all__ = ["ContextualBandits", "Function", "MABWiser", "Named", "PerArm", "River", "adapted", "policy_name"]

_Rows = npt.NDArray[np.float64]
_Arms = npt.NDArray[np.int64]
_Player = tuple[str, Callable[[int, int, int, int, int], Any], int]


class Named:
    """A policy under another name, or with its own block.

    >>> Named(lambda X: [0] * len(X), "always the first").name
    'always the first'
    """

    def __init__(self, policy: Any, name: str, block: Optional[int] = None) -> None:
        self.policy = policy
        self.name = name
        self.block = block


class Function:
    """A function from rows of contexts to arms or probabilities. It does not learn."""

    def __init__(self, function: Callable[[_Rows], npt.ArrayLike]) -> None:
        self.function = function

    def decide(self, X: _Rows) -> npt.ArrayLike:
        """What the function says."""
        return self.function(X)

    def observe(self, X: _Rows, arms: _Arms, rewards: _Rows) -> None:
        """Nothing is learned."""


class PerArm:
    """An estimator of scikit-learn for each arm, with ε-greedy exploration: the arm with the largest predicted reward.

    A regressor predicts rewards, a classifier the probability of its largest class, for rewards of 0 and 1. Until an arm has been played
    ``first`` times it is drawn uniformly. Estimators with ``partial_fit`` learn block by block; others are fitted to all outcomes of the
    arm at the end of each block.
    """

    def __init__(self, estimator: Any, epsilon: float = 0.05, first: int = 10) -> None:
        self.estimator = estimator
        self.epsilon = epsilon
        self.first = first

    def start(self, arms: int, dimension: int, rounds: int, seed: int) -> None:
        """A fresh estimator for each arm."""
        self._estimators = [copy.deepcopy(self.estimator) for _ in range(arms)]
        self._seen: list[list[tuple[_Rows, _Rows]]] = [[] for _ in range(arms)]
        self._counts = np.zeros(arms, dtype=np.int64)
        self._fitted = np.zeros(arms, dtype=bool)

    def decide(self, X: _Rows) -> npt.ArrayLike:
        """Probabilities: 1 − ε on the arm with the largest prediction, ε spread over all."""
        arms = len(self._estimators)
        if not self._fitted.all() or (self._counts < self.first).any():
            return np.full((len(X), arms), 1.0 / arms)
        best = np.argmax(np.column_stack([self._predicted(arm, X) for arm in range(arms)]), axis=1)
        chances = np.full((len(X), arms), self.epsilon / arms)
        chances[np.arange(len(X)), best] += 1.0 - self.epsilon
        return chances

    def observe(self, X: _Rows, arms: _Arms, rewards: _Rows) -> None:
        """Fits the estimators of the arms that were played."""
        for arm in np.unique(arms):
            own = arms == arm
            self._counts[arm] += int(own.sum())
            self._learn(int(arm), X[own], rewards[own])

    def _learn(self, arm: int, X: _Rows, rewards: _Rows) -> None:
        estimator = self._estimators[arm]
        is_classifier = hasattr(estimator, "predict_proba")
        if hasattr(estimator, "partial_fit"):
            if is_classifier:
                estimator.partial_fit(X, rewards, classes=np.array([0.0, 1.0]))
            else:
                estimator.partial_fit(X, rewards)
            self._fitted[arm] = True
            return
        self._seen[arm].append((X, rewards))
        rows, outcomes = (np.concatenate(part) for part in zip(*self._seen[arm]))
        # A classifier needs two classes.
        if not is_classifier or len(np.unique(outcomes)) > 1:
            estimator.fit(rows, outcomes)
            self._fitted[arm] = True

    def _predicted(self, arm: int, X: _Rows) -> _Rows:
        estimator = self._estimators[arm]
        if hasattr(estimator, "predict_proba"):
            return np.asarray(estimator.predict_proba(X)[:, -1], dtype=np.float64)
        return np.asarray(estimator.predict(X), dtype=np.float64)


class MABWiser:
    """A contextual ``MAB`` of MABWiser. Its arms must be as many as the world's, in their order."""

    def __init__(self, mab: Any) -> None:
        self.mab = mab

    def start(self, arms: int, dimension: int, rounds: int, seed: int) -> None:
        """Seeds it, and checks its arms."""
        if len(self.mab.arms) != arms:
            raise ExperimentError(f"the MAB has {len(self.mab.arms)} arms, but the world has {arms}")
        self._number = {arm: number for number, arm in enumerate(self.mab.arms)}
        self._fitted = False
        self._arms, self._rng = arms, np.random.default_rng(seed)

    def decide(self, X: _Rows) -> npt.ArrayLike:
        """Its predictions; before the first outcome, which it cannot do without, a uniform draw."""
        if not self._fitted:
            return self._rng.integers(self._arms, size=len(X))
        predicted = self.mab.predict(X)
        predicted = predicted if isinstance(predicted, list) else [predicted]
        return [self._number[arm] for arm in predicted]

    def observe(self, X: _Rows, arms: _Arms, rewards: _Rows) -> None:
        """Fits it, then continues."""
        learn = self.mab.partial_fit if self._fitted else self.mab.fit
        learn([self.mab.arms[arm] for arm in arms], rewards, X)
        self._fitted = True


class ContextualBandits:
    """A policy of the package contextualbandits, with ``predict`` and ``fit`` or ``partial_fit``."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy

    def start(self, arms: int, dimension: int, rounds: int, seed: int) -> None:
        """Nothing has been seen."""
        self._arms, self._rng = arms, np.random.default_rng(seed)
        self._seen: list[tuple[_Rows, _Arms, _Rows]] = []

    def decide(self, X: _Rows) -> npt.ArrayLike:
        """Its predictions; before the first outcome a uniform draw."""
        if not self._seen:
            return self._rng.integers(self._arms, size=len(X))
        return np.asarray(self.policy.predict(X)).reshape(-1).astype(np.int64)

    def observe(self, X: _Rows, arms: _Arms, rewards: _Rows) -> None:
        """Continues with the block, or fits it to everything."""
        if hasattr(self.policy, "partial_fit"):
            self._seen = [(X, arms, rewards)]
            self.policy.partial_fit(X, arms, rewards)
            return
        self._seen.append((X, arms, rewards))
        self.policy.fit(*(np.concatenate(part) for part in zip(*self._seen)))


class River:
    """A contextual bandit of River, with ``pull`` and ``update``, row by row; or a regressor of River for each arm, with ε-greedy."""

    def __init__(self, model: Any, epsilon: float = 0.05) -> None:
        self.model = model
        self.epsilon = epsilon

    def start(self, arms: int, dimension: int, rounds: int, seed: int) -> None:
        """A fresh regressor for each arm."""
        self._arms, self._rng = list(range(arms)), np.random.default_rng(seed)
        self._is_bandit = hasattr(self.model, "pull")
        self._models = [] if self._is_bandit else [copy.deepcopy(self.model) for _ in range(arms)]

    def decide(self, X: _Rows) -> npt.ArrayLike:
        """Its pulls."""
        return np.array([self._choose(_named(row)) for row in X], dtype=np.int64)

    def _choose(self, row: dict[str, float]) -> int:
        if self._is_bandit:
            return int(self.model.pull(self._arms, context=row))
        if self._rng.random() < self.epsilon:
            return int(self._rng.integers(len(self._arms)))
        return int(np.argmax([model.predict_one(row) for model in self._models]))

    def observe(self, X: _Rows, arms: _Arms, rewards: _Rows) -> None:
        """Learns row by row."""
        for row, arm, reward in zip(X, arms, rewards):
            if self._is_bandit:
                self.model.update(int(arm), _named(row), float(reward))
            else:
                self._models[int(arm)].learn_one(_named(row), float(reward))


def _named(row: _Rows) -> dict[str, float]:
    return {f"x{number}": float(value) for number, value in enumerate(row)}


def adapted(policy: Any) -> Any:
    """A policy, by the adapter that its kind needs."""
    if hasattr(policy, "decide"):
        return policy
    package = type(policy).__module__.split(".")[0]
    by_package = {"mabwiser": MABWiser, "contextualbandits": ContextualBandits, "river": River}
    if package in by_package:
        return by_package[package](policy)
    if hasattr(policy, "fit") and hasattr(policy, "predict"):
        return PerArm(policy)
    if callable(policy):
        return Function(policy)
    raise ExperimentError(
        f"{policy!r} is no policy",
        help="give an object with decide and observe, a function, an estimator, or a name of rarely.ALGORITHMS",
    )


class _Run:
    """A policy in one run: a fresh copy, whose answers are checked."""

    def __init__(self, policy: Any, arms: int, dimension: int, rounds: int, seed: int, run: int) -> None:
        self._policy = policy() if isinstance(policy, type) else copy.deepcopy(policy)
        self._arms = arms
        start = getattr(self._policy, "start", None)
        if start is not None:
            own = int(np.random.SeedSequence([seed, run]).generate_state(1)[0])
            start(arms=arms, dimension=dimension, rounds=rounds, seed=own)
        self.observe = self._policy.observe

    def decide(self, X: _Rows) -> Union[_Arms, _Rows]:
        """Arms as int64, or probabilities as float64, in C order."""
        answer = np.asarray(self._policy.decide(X))
        if answer.ndim == 1 and len(answer) == len(X):
            if answer.dtype.kind in "iub":
                return np.require(answer, np.int64, ["C"])
            arms = answer.astype(np.int64)
            if answer.dtype.kind == "f" and (arms == answer).all():
                return arms
            raise ExperimentError("decide returned arms that are not whole numbers", help="count arms from 0")
        if answer.shape != (len(X), self._arms):
            raise ExperimentError(
                f"decide returned the shape {answer.shape} for {len(X)} rows and {self._arms} arms",
                help="return an arm for each row, or a row of probabilities for each",
            )
        chances = np.require(answer, np.float64, ["C"])
        if not (chances >= 0).all() or not np.allclose(chances.sum(axis=1), 1.0, atol=1e-6):
            raise ExperimentError("decide returned probabilities that are negative or do not add up to 1")
        return chances


def contestants(given: Union[str, Iterable[Any]], block: int) -> list[Union[str, _Player]]:
    """Names of our algorithms as they are; everything else with its name, what makes it for a run, and its block."""
    if not 1 <= block <= 1_000_000:
        raise ExperimentError(f"block = {block} is outside 1 to 1000000")
    found: list[Union[str, _Player]] = []
    taken: set[str] = set()
    for each in given.split(",") if isinstance(given, str) else given:
        if isinstance(each, str):
            found.append(each.strip())
            continue
        own, name, rows = (
            (each.policy, each.name, each.block) if isinstance(each, Named) else (each, policy_name(each), None)
        )
        name = _free(name, taken)
        found.append((name, _maker(own if isinstance(own, type) else adapted(own)), rows or block))
    return found


def _maker(policy: Any) -> Callable[[int, int, int, int, int], _Run]:
    return lambda arms, dimension, rounds, seed, run: _Run(policy, arms, dimension, rounds, seed, run)


def policy_name(policy: Any) -> str:
    """What tables call a policy of your own."""
    name = getattr(policy, "name", None) or getattr(policy, "__name__", None)
    return name if isinstance(name, str) else type(policy).__name__


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} {number}"
    taken.add(free)
    return free
