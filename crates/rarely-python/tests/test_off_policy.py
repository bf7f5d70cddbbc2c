"""Values by propensities, against formulas of our own in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import rarely

Array = npt.NDArray[np.float64]

DOCUMENT = """
policy = "doses"
options = ["none", "half", "full"]
option_column = "dose"
outcome = { column = "pain", range = [0, 10], better = "lower" }

[[features]]
column = "age"
range = [20, 80]

[[features]]
column = "smoker"
levels = ["no", "yes"]

[evidence]
penalty = 0.5
order = "any"
PROPENSITIES

[rule]
threshold = { feature = "age", cuts = [40, 60], options = ["none", "half", "full"] }
"""
OPTIONS = np.array(["none", "half", "full"])


def document(propensities: str) -> rarely.Document:
    return rarely.Document(DOCUMENT.replace("PROPENSITIES", propensities))


def log(rows: int, seed: int) -> tuple[dict[str, Any], Array]:
    """A log, and the probability of every option."""
    world = np.random.default_rng(seed)
    age, smoker = world.uniform(20, 80, rows), world.random(rows) < 0.3
    scores = np.column_stack([np.ones(rows), 0.5 + age / 80, 1.5 - smoker])
    p = scores / scores.sum(axis=1, keepdims=True)
    arm = (p.cumsum(axis=1) < world.random(rows)[:, None]).sum(axis=1)
    mean = 5 - arm * (age / 40) + 0.02 * (age - 50) ** 2 / 10 + smoker
    pain = np.clip(mean + world.normal(size=rows), 0, 10)
    frame = {"age": age, "smoker": np.where(smoker, "yes", "no"), "dose": OPTIONS[arm], "pain": pain}
    return frame, p


def proposes(rows: int) -> npt.NDArray[np.bool_]:
    """The third of the rows that proposes: a hash of their numbers."""
    with np.errstate(over="ignore"):
        value = np.arange(rows, dtype=np.uint64) ^ np.uint64(0x5BD1E9959D1C3F6B)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (value ^ (value >> np.uint64(31))) % np.uint64(3) == 0


def interval(terms: Array, low: float = 0.0, high: float = 10.0) -> tuple[float, float, float]:
    half = 1.959963984540054 * terms.std(ddof=1) / np.sqrt(len(terms))
    mean = terms.mean()
    return float(np.clip(mean, low, high)), float(max(mean - half, low)), float(min(mean + half, high))


def by_numpy(frame: dict[str, Any], p: Array, choice: npt.NDArray[np.int64]) -> dict[str, tuple[float, float, float]]:
    arm = np.array([list(OPTIONS).index(dose) for dose in frame["dose"]])
    x = np.column_stack([np.ones(len(arm)), (frame["age"] - 20) / 60, frame["smoker"] == "yes"])
    first = proposes(len(arm))
    # Less pain is better: the regressions are of its negative.
    q = np.empty((len(arm), 3))
    for option in range(3):
        rows = first & (arm == option)
        theta = np.linalg.solve(x[rows].T @ x[rows] + 0.5 * np.eye(3), x[rows].T @ -frame["pain"][rows])
        q[:, option] = np.clip(x @ theta, -10, 0)
    rows = ~first
    y, p, arm, choice, q = frame["pain"][rows], p[rows], arm[rows], choice[rows], -q[rows]
    every = np.arange(len(y))
    w = (choice == arm) / p[every, arm]
    normalised = (w * y).sum() / w.sum()
    return {
        "inverse_propensity": interval(w * y),
        "self_normalised": interval(normalised + w * (y - normalised) / w.mean()),
        "doubly_robust": interval(q[every, choice] + w * (y - q[every, arm])),
    }


def chosen(rule: dict[str, Any], frame: dict[str, Any]) -> npt.NDArray[np.int64]:
    threshold = rule["threshold"]
    assert threshold["feature"] == "age"
    steps = np.searchsorted(threshold["cuts"], frame["age"], side="right")
    return np.array([list(OPTIONS).index(option) for option in threshold["options"]])[steps]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_numpy(seed: int, whole: bool) -> None:
    frame, p = log(1500, seed)
    arm = np.array([list(OPTIONS).index(dose) for dose in frame["dose"]])
    if whole:
        frame |= {f"p_{option}": p[:, at] for at, option in enumerate(OPTIONS)}
        columns = ", ".join(f'{option} = "p_{option}"' for option in OPTIONS)
        found = rarely.review(document(f"propensities = {{ {columns} }}"), frame)
    else:
        frame["p"] = p[np.arange(len(arm)), arm]
        found = rarely.review(document('propensity = "p"'), frame)
    values = found.off_policy
    assert [value["name"] for value in values][0] == "the rule in force" and len(values) == 2
    compared = 0
    for value in values:
        if "threshold" not in value["rule"]:
            continue
        for name, expected in by_numpy(frame, p, chosen(value["rule"], frame)).items():
            interval = value[name]
            assert (interval["estimate"], interval["lower"], interval["upper"]) == pytest.approx(expected, abs=1e-9), (
                name
            )
            compared += 1
    assert compared >= 3
    # What the page and the text show is the same tree.
    assert "What rules are worth by propensities" in str(found)
    assert "overlap" in found.figures


def test_a_document_without_propensities_has_no_values() -> None:
    frame, _ = log(600, 9)
    assert rarely.review(document(""), frame).off_policy == []


def test_further_cases_are_told_in_days() -> None:
    frame, _ = log(600, 4)
    frame["pain"] = np.random.default_rng(5).uniform(0, 10, 600)
    # Two rows a day on the first 28 days of a month: the last is 20 November, 323 days after the first.
    frame["day"] = [f"2025-{1 + row // 56:02}-{1 + row // 2 % 28:02}" for row in range(600)]
    [reason] = rarely.review(document(""), frame, time_column="day").to_dict()["reasons"]
    assert reason["further_days"] == pytest.approx(reason["further_cases"] * 323 / 600)
    assert "further_days" not in rarely.review(document(""), frame).to_dict()["reasons"][0]
