"""Logs whose truth no straight line fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def softmax(scores: Array) -> Array:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    result: Array = weights / weights.sum(axis=1, keepdims=True)
    return result


def bent(rows: int, seed: int) -> dict[str, Any]:
    """A log of two arms, of which one is good only in the middle: a straight line sees nothing of it."""
    world = np.random.default_rng(seed)
    x = world.uniform(-1, 1, (rows, 1))
    p = 0.3 + 0.4 * (x[:, 0] > 0)
    arms = (world.random(rows) < p).astype(int)
    means = np.column_stack([np.full(rows, 0.5), middle(x)])
    rewards = (world.random(rows) < means[np.arange(rows), arms]).astype(float)
    return {"contexts": x, "arms": arms, "rewards": rewards, "propensities": np.column_stack([1 - p, p])}


def middle(x: Array) -> Array:
    chance: Array = np.where(np.abs(x[:, 0]) < 0.5, 0.9, 0.1)
    return chance


def in_the_middle(x: Array) -> npt.NDArray[np.bool_]:
    chosen: npt.NDArray[np.bool_] = np.abs(x[:, 0]) < 0.5
    return chosen


#: Of `in_the_middle`: 0.9 for half of the people, 0.5 for the others; of the log: arm 1 for half of them, on average.
MIDDLE_VALUE, LOG_VALUE = 0.7, 0.5
