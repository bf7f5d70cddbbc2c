"""Outcomes that come late are learned in the order of decisions, as in the core, the lab and the service."""

from __future__ import annotations

import numpy as np
import pytest
import rarely


def test_an_outcome_waits_for_those_of_earlier_decisions() -> None:
    queue = rarely.OutcomeQueue()
    first, second, third = queue.decided(), queue.decided(), queue.decided()
    assert queue.report(third, "c") and queue.report(second, "b")
    assert (queue.learnable(), queue.waiting, queue.first_open) == ([], 2, first)
    assert repr(queue) == "<rarely.OutcomeQueue: any delay, 3 decisions, 2 outcomes wait for decision 0>"
    assert not queue.report(second, "again")
    assert not queue.report(99, "never decided")
    assert queue.report(first, "a")
    assert queue.learnable() == [(first, "a"), (second, "b"), (third, "c")]
    assert (queue.waiting, queue.first_open) == (0, None)


def test_a_decision_runs_out_of_time() -> None:
    queue = rarely.OutcomeQueue(window=10)
    first, second = queue.decided(time=0), queue.decided(time=5)
    assert queue.report(second, "b", time=8)
    assert queue.learnable(time=10) == []
    assert queue.learnable(time=11) == [(second, "b")]
    assert not queue.report(first, "a", time=11)
    assert queue.timed_out == 1
    # Time does not run back.
    assert not queue.report(first, "a", time=3)


def test_an_independent_delay_is_a_declaration() -> None:
    queue = rarely.OutcomeQueue("independent")
    _, second = queue.decided(), queue.decided()
    assert queue.report(second, "b")
    assert queue.learnable() == [(second, "b")]
    with pytest.raises(rarely.Error, match='unknown delay "maybe"'):
        rarely.OutcomeQueue("maybe")  # type: ignore[arg-type]


def test_the_lab_shows_what_arrival_order_does() -> None:
    def held(delay: str) -> float:
        found = rarely.simulate(
            "late-failures",
            arms=2,
            dimension=2,
            noise=1.0,
            strength=2.0,
            rounds=600,
            runs=40,
            algorithms="rarely",
            error_probability=0.1,
            delay=delay,
            progress=False,
        )
        return float(np.asarray(found.summary["coverage"])[0])

    assert held("any") > 0.8
    assert held("independent") < 0.3
