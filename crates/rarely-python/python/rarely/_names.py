"""Names as types, so that a type checker finds a misspelt one."""

from __future__ import annotations

from typing import Literal

__all__ = ["AlgorithmName", "SetsName"]

#: `rarely.ALGORITHMS`.
AlgorithmName = Literal[
    "rarely",
    "rarely-quick",
    "greedy",
    "scheduled",
    "feasible-greedy",
    "feasible-conservative",
    "rs-greedy",
    "rs-conservative",
    "boundary-greedy",
    "boundary-conservative",
    "population-greedy",
    "population-conservative",
    "certified",
    "linucb",
    "rs-linucb",
    "clucb",
    "thompson",
    "random",
    "fixed",
]
SetsName = Literal["joint", "per-arm", "sharp"]
