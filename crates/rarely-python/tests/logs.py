"""Logs and policies that several tests learn from."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import rarely

Array = npt.NDArray[np.float64]


def log(rows: int, dimension: int = 3, arms: int = 3, seed: int = 0) -> tuple[Array, npt.NDArray[np.int64], Array]:
    world = np.random.default_rng(seed)
    X = np.column_stack([np.ones(rows), world.random((rows, dimension - 1))])
    plays = world.integers(0, arms, rows)
    truth = np.random.default_rng(99).normal(size=(arms, dimension))
    return X, plays, (X * truth[plays]).sum(axis=1) + 0.1 * world.normal(size=rows)


def learned(algorithm: str = "boundary-conservative", rows: int = 2000, seed: int = 0, **more: Any) -> rarely.Policy:
    """A policy with joint sets, unless others are named: what the formulas of the tests are about."""
    more.setdefault("sets", "joint")
    policy = rarely.Policy(3, 3, algorithm, noise=0.1, norm_bound=5.0, **more)
    X, arms, rewards = log(rows, seed=seed)
    policy.observe(X, arms, learnable(algorithm, rewards))
    return policy


def learnable(algorithm: str, rewards: Array) -> Array:
    """Rewards as an algorithm can learn them: from 0 to 1 for the logistic ones."""
    return 1 / (1 + np.exp(-rewards)) if algorithm in ("logistic-thompson", "rs-glincb") else rewards


def all_algorithms() -> list[rarely.Policy]:
    """With each algorithm's own sets."""
    return [learned(name, 500, baseline=0, baseline_mean=[1.0, 0.0, 0.0], sets=None) for name in rarely.ALGORITHMS]
