"""`rarely.replay` and `rarely.replay_log`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import rarely
from rarely import errors

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_the_same_numbers_as_the_command_line(binary: Path) -> None:
    for example in ("clinical", "pricing"):
        document, rows = EXAMPLES / example / "policy.toml", EXAMPLES / example / "log.csv"
        command = [binary, "replay", "--policy", document, "--data", rows, "--every", "250", "--format", "json"]
        expected = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        found = rarely.replay(document, rows, every=250)
        assert found.rows == expected["rows"]
        assert found.rule == expected["rule"] and found.logged == expected["logged"]
        assert [found.held["direct"], found.replayed["direct"]] == [
            expected[name]["direct"] for name in ("held", "replayed")
        ]
        assert found.changes.rows == len(expected["changes"])
        for row, change in enumerate(expected["changes"]):
            assert (
                found.changes["row"][row] == change["row"] and found.changes["gain"][row] == change["gain"]["estimate"]
            )
    with pytest.raises(errors.ExperimentError, match="every"):
        rarely.replay(document, rows, every=0)


def log(rows: int, seed: int) -> dict[str, Any]:
    """Arms that depend on the context: those who gain least from arm 1 get it most often."""
    rng = np.random.default_rng(seed)
    x = rng.random(rows)
    first = np.where(x > 0.5, 0.8, 0.2)
    arms = (rng.random(rows) >= first).astype(np.int64)
    means = np.column_stack([np.full(rows, 0.5), 0.2 + 0.6 * x])
    rewards = (rng.random(rows) < means[np.arange(rows), arms]).astype(float)
    contexts = np.column_stack([np.ones(rows), x])
    propensities = np.where(arms == 0, first, 1 - first)
    return {"contexts": contexts, "arms": arms, "rewards": rewards, "propensities": propensities}


def always(arm: int) -> Any:
    def policy(X: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        return np.full(len(X), arm)

    return policy


def test_a_fixed_policy_is_worth_its_mean() -> None:
    """Arm 1 is worth 0.2 + 0.6·E x = 0.5 on all people; on those who got it in the log, 0.41 (x is below a half for 80 % of them)."""
    given = log(20_000, 1)
    found = rarely.replay_log(given, [always(1)], runs=2)
    values = found.summary
    # 4 standard errors of a share of 0.2 · 20,000 rows: 0.032.
    assert values["value"][0] == pytest.approx(0.5, abs=0.032)
    assert values["accepted"][0] == pytest.approx(0.2 * 20_000, rel=0.1)
    assert found.floor == pytest.approx(0.2)
    naive = given["rewards"][given["arms"] == 1].mean()
    assert naive < 0.45, "without the coin the value is that of other people"


def test_intervals_cover() -> None:
    covered = 0
    for seed in range(200):
        found = rarely.replay_log(log(1_000, seed), [always(1)], runs=1, seed=seed).summary
        covered += int(found["lower"][0] <= 0.5 <= found["upper"][0])
    # 95 % of 200, less 4 standard errors of 3.1.
    assert covered >= 178, covered


def test_a_policy_learns_from_what_it_is_given() -> None:
    given = log(6_000, 3)
    found = rarely.replay_log(given, ["thompson", rarely.Policy(2, 2, "linucb-alpha"), always(0)], noise=0.5, runs=2)
    value = dict(zip(found.summary["name"], found.summary["value"]))
    # The best rule, arm 1 from x = 1/2 on, is worth 0.5 + 0.3·(1/2)²= 0.575; arm 0 always 0.5.
    assert value["thompson"] > 0.52 and value["linucb-alpha"] > 0.52
    assert value["policy"] == pytest.approx(0.5, abs=0.05)
    again = rarely.replay_log(given, ["thompson"], noise=0.5, runs=2)
    assert again.summary["value"][0] == value["thompson"], "the same seed, the same luck"


def test_what_a_log_must_have() -> None:
    given = log(50, 4)
    with pytest.raises(errors.EvaluateError, match="propensity"):
        rarely.replay_log({**given, "propensities": np.zeros(50)}, ["thompson"])
    with pytest.raises(errors.EvaluateError, match="floor"):
        rarely.replay_log(given, ["thompson"], minimum_propensity=0.5)
    with pytest.raises(errors.EvaluateError, match="contexts"):
        rarely.replay_log({**given, "contexts": None}, ["thompson"])
