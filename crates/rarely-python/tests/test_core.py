"""The package says what the Rust core says, bit for bit."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rarely

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SEQUENCES = 1000


def core(sequences: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the core makes of sequences, played by a program without Python."""
    program = os.environ.get("RARELY_TRANSCRIPT", str(ROOT / "target/debug/examples/transcript"))
    lines = "".join(json.dumps(sequence) + "\n" for sequence in sequences)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def policy_of(sequence: dict[str, Any]) -> rarely.Policy:
    settings = {name: value for name, value in sequence.items() if name not in ("contexts", "rewards", "plays")}
    return rarely.Policy(**settings)


def check(policy: rarely.Policy, expected: dict[str, Any]) -> None:
    """Equal, not close."""
    if expected["estimates"] is None:
        assert not hasattr(policy, "estimates_")
    else:
        assert policy.estimates_.ravel().tolist() == expected["estimates"]
    if expected["learned"] is None:
        assert not hasattr(policy, "radius_")
    else:
        assert policy.estimates_.ravel().tolist() == expected["learned"]["estimates"]
        # JSON has no infinity: without a norm bound the joint set rules nothing out.
        radius = expected["learned"]["radius"]
        assert policy.radius_ == (float("inf") if radius is None else radius)
        assert policy.digest == expected["learned"]["digest"]
    rule = policy.rule_
    assert (None if rule is None else rule.ravel().tolist()) == expected["rule"]
    assert [change.round for change in policy.versions] == [change["round"] for change in expected["changes"]]
    for change, said in zip(policy.versions, expected["changes"]):
        assert change.cause == said["cause"]
        assert change.after.ravel().tolist() == said["after"]
        lower = change.certificate.gain.lower if change.certificate else None
        assert (None if lower == float("-inf") else lower) == said["gain"]


#: These hold no rule, or do not explore, so that exploration cannot be set.
WITHOUT_A_RULE = {"linucb", "rs-linucb", "linucb-alpha", "clucb", "clucb2", "thompson", "batched-thompson", "bootstrap"}
WITHOUT_A_RULE |= {"epsilon-greedy", "squarecb", "batched-elimination", "random", "fixed", "local-threshold"}
#: These learn outcomes from 0 to 1.
LOGISTIC = {"logistic-thompson", "rs-glincb"}
WITHOUT_A_RULE |= LOGISTIC


def random_sequence(number: int) -> dict[str, Any]:
    draw = random.Random(number)
    arms, dimension, rounds = draw.randint(2, 6), draw.randint(1, 8), draw.randint(10, 120)
    algorithm = rarely.ALGORITHMS[number % len(rarely.ALGORITHMS)]
    sequence: dict[str, Any] = {
        "arms": arms,
        "dimension": dimension,
        "algorithm": algorithm,
        "seed": draw.randrange(2**64),
        "noise": 10 ** draw.uniform(-2, 0.5),
        "norm_bound": draw.uniform(0, 5),
        "error_probability": 10 ** draw.uniform(-6, -0.5),
        "penalty": 10 ** draw.uniform(-3, 1),
    }
    matrix = [[draw.gauss(0, 1) for _ in range(dimension)] for _ in range(arms)]
    if draw.random() < 0.3:
        sequence["prior_mean"] = [[draw.gauss(0, 1) for _ in range(dimension)] for _ in range(arms)]
    if draw.random() < 0.3:
        sequence["deployed"] = [[draw.gauss(0, 1) for _ in range(dimension)] for _ in range(arms)]
    if algorithm not in WITHOUT_A_RULE and draw.random() < 0.5:
        sequence["explore"] = draw.choice(["none", "pilot:2", "equipoise:0.3", "pilot:3+equipoise:0.1"])
    if algorithm in ("linucb", "thompson", "feasible-greedy") and draw.random() < 0.3:
        sequence["sets"] = "per-arm"
    if algorithm in ("clucb", "clucb2", "fixed"):
        sequence["baseline"] = draw.randrange(arms)
        sequence["baseline_mean"] = [draw.random() for _ in range(dimension)]
    contexts = [[1.0] + [draw.uniform(-1, 1) for _ in range(dimension - 1)] for _ in range(rounds)]
    mean = [[sum(a * x for a, x in zip(row, context)) for row in matrix] for context in contexts]
    sequence["contexts"] = contexts
    sequence["rewards"] = [[m + draw.gauss(0, sequence["noise"]) for m in row] for row in mean]
    if algorithm in LOGISTIC:
        sequence["rewards"] = [[1 / (1 + math.exp(-reward)) for reward in row] for row in sequence["rewards"]]
    return sequence


@pytest.fixture(scope="module")
def played() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    sequences = [random_sequence(number) for number in range(SEQUENCES)]
    return list(zip(sequences, core(sequences)))


def test_a_thousand_sequences_round_by_round(played: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    changes = 0
    for number, (sequence, expected) in enumerate(played):
        policy = policy_of(sequence)
        if number % 2:
            # Half of them survive being pickled half-way.
            policy = rarely.Policy.from_bytes(policy.to_bytes())
        contexts = np.array(sequence["contexts"])
        for row, context in enumerate(contexts):
            arm, propensity, reason = policy.decide(context, reasons=True)
            assert (arm, propensity) == (expected["arms"][row], expected["propensities"][row])
            policy.observe(context, arm, sequence["rewards"][row][arm], reason)
            if row == len(contexts) // 2 and number % 2:
                policy = rarely.Policy.from_bytes(policy.to_bytes())
        check(policy, expected)
        changes += len(policy.versions)
    # Sequences in which nothing happens would show nothing.
    assert changes > SEQUENCES / 4


def test_a_thousand_logs_as_blocks(played: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    for sequence, expected in played:
        if sequence["algorithm"] == "clucb":
            # Which rounds were the baseline's is not in a log of arms.
            continue
        policy = policy_of(sequence)
        arms = np.array(expected["arms"])
        rewards = np.array(sequence["rewards"])[np.arange(len(arms)), arms]
        half = len(arms) // 2
        contexts = np.array(sequence["contexts"])
        found = policy.observe(contexts[:half], arms[:half], rewards[:half])
        found += policy.observe(contexts[half:], arms[half:], rewards[half:])
        check(policy, expected)
        assert found == policy.versions


def vectors() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((ROOT / "testdata" / "test-vectors.json").read_text())
    return found


def test_the_test_vectors() -> None:
    cases = vectors()
    sequences = []
    for case in cases:
        names = ("arms", "dimension", "noise", "norm_bound", "error_probability", "penalty", "deployed")
        sequence = {name: case[name] for name in names}
        log = case["log"]
        sequence["contexts"] = [row["context"] for row in log]
        sequence["plays"] = [row["arm"] for row in log]
        sequence["rewards"] = [[row["reward"]] * case["arms"] for row in log]
        # Holds the rule that the vectors are about, whatever comes.
        sequence.update(algorithm="certified", sets="joint")
        sequences.append(sequence)
    for case, sequence, expected in zip(cases, sequences, core(sequences)):
        held = policy_of({**sequence, "minimum_gain": 1e12})
        policy = policy_of(sequence)
        X = np.array(sequence["contexts"])
        rewards = [row["reward"] for row in case["log"]]
        for each in (held, policy):
            each.observe(X, sequence["plays"], rewards)
        check(policy, expected)
        said = case["expected"]
        np.testing.assert_allclose(held.estimates_, said["estimates"], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(held.radius_, said["radius"], rtol=1e-9)
        assert not held.versions
        boundaries = {boundary.arms: boundary.plausible for boundary in held.boundaries()}
        assert boundaries == {tuple(pair["arms"]): pair["plausible"] for pair in said["pairs"]}
        mask = held.plausible(np.array(case["probe_contexts"]))
        assert [np.flatnonzero(row).tolist() for row in mask] == said["plausible_arms"]
        gain = held.gain(held.estimates_, X)
        about = said["gain_of_estimates_over_deployed_on_logged_contexts"]
        for name in ("estimate", "lower", "upper", "changed_share"):
            np.testing.assert_allclose(getattr(gain, name), about[name], rtol=1e-7, atol=1e-7)
