"""Names as types, so that a type checker finds a misspelt one."""

from __future__ import annotations

from typing import Literal

__all__ = ["AlgorithmName", "DelayName", "EnvironmentName", "ProfileName", "SetsName"]

#: `rarely.ALGORITHMS`.
AlgorithmName = Literal[
    "rarely",
    "rarely-quick",
    "greedy",
    "scheduled",
    "explore-then-commit",
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
    "clucb2",
    "thompson",
    "batched-thompson",
    "bootstrap",
    "epsilon-greedy",
    "linucb-alpha",
    "squarecb",
    "batched-elimination",
    "logistic-thompson",
    "rs-glincb",
    "local-threshold",
    "random",
    "fixed",
]
SetsName = Literal["joint", "per-arm", "sharp"]
#: `rarely.ENVIRONMENTS`.
EnvironmentName = Literal[
    "linear",
    "quadratic",
    "logistic",
    "binary",
    "heavy-tailed",
    "understated-noise",
    "drifting",
    "late-failures",
]
ProfileName = Literal["rigorous", "published"]
DelayName = Literal["any", "independent"]
