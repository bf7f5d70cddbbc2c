"""What a policy makes of arrays and frames of every kind, without copies, leaks or locks."""

from __future__ import annotations

import gc
import resource
import signal
import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import rarely
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from logs import learned, log
from rarely import errors


def test_frames() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, _, _ = log(20)
    expected = learned().predict(X)
    names = ["one", "age", "dose"]
    for frame in (pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        assert np.array_equal(learned().predict(frame), expected)
    nullable = pandas.DataFrame(X, columns=names).astype({"age": "Float64"})
    assert np.array_equal(learned().predict(nullable), expected)
    nullable.loc[3, "age"] = pandas.NA
    with pytest.raises(errors.ContextError, match="row 3"):
        learned().predict(nullable)
    words = pandas.DataFrame(X, columns=names).assign(age="old")
    with pytest.raises(errors.ContextError, match="column 'age' .number 2 of 3."):
        learned().predict(words)
    with pytest.raises(errors.ContextError, match="column 'age'"):
        learned().predict(polars.DataFrame(words))
    with pytest.raises(errors.ContextError, match="column 1 holds objects: in row 4 it is 'x'"):
        learned().predict(np.array([[1, 2, 3]] * 4 + [[1, "x", 3]], dtype=object))


def test_other_layouts_and_kinds() -> None:
    policy = learned()
    X = np.round(log(30)[0] * 10)
    expected = policy.predict(X)
    for kind in ("float32", "float16", "int8", "int64", "uint16", ">f8"):
        assert np.array_equal(policy.predict(X.astype(kind)), expected), kind
    wide = np.zeros((30, 6))
    wide[:, ::2] = X
    unaligned = np.zeros(30 * 24 + 1, dtype=np.uint8)[1:].view(np.float64).reshape(30, 3)
    unaligned[:] = X
    for other in (np.asfortranarray(X), wide[:, ::2], X[::-1][::-1], unaligned, X.tolist(), tuple(map(tuple, X))):
        assert np.array_equal(policy.predict(other), expected)
    readonly = X.copy()
    readonly.flags.writeable = False
    assert np.array_equal(policy.predict(readonly), expected)


@settings(deadline=None, max_examples=200)
@given(
    array=arrays.arrays(
        dtype=st.one_of(
            arrays.floating_dtypes(),
            arrays.integer_dtypes(),
            arrays.unsigned_integer_dtypes(),
            arrays.boolean_dtypes(),
            arrays.complex_number_dtypes(),
            arrays.unicode_string_dtypes(max_len=3),
            arrays.datetime64_dtypes(),
        ),
        shape=arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    )
)
def test_any_array_is_decided_or_refused(array: npt.NDArray[Any]) -> None:
    policy = rarely.Policy(2, 3)
    before = policy.copy()
    try:
        arms, _ = policy.decide(array)
    except errors.ContextError:
        assert policy == before
        return
    assert array.dtype.kind in "biuf" and array.shape[-1] == 3
    assert np.shape(arms) == array.shape[:-1]
    values = array.astype(np.float64)
    assert np.isfinite(values).all() and (np.abs(values) <= 1e9).all()


@settings(deadline=None, max_examples=200)
@given(
    plays=st.lists(st.one_of(st.integers(-2, 4), st.floats(), st.booleans(), st.text(max_size=2)), max_size=4),
    rewards=st.lists(st.one_of(st.floats(), st.integers(), st.none(), st.text(max_size=2)), max_size=4),
)
def test_any_log_is_learned_or_refused(plays: list[Any], rewards: list[Any]) -> None:
    policy = rarely.Policy(3, 1)
    before = policy.copy()
    try:
        policy.observe(np.ones((len(plays), 1)), plays, rewards)
    except errors.ObserveError:
        assert policy == before
        return
    assert policy.rounds_ == len(plays) == len(rewards)
    assert all(float(play) in (0, 1, 2) for play in plays)


def test_float64_in_rows_is_not_copied() -> None:
    """Forty million numbers: copying them would show."""
    X = np.ones((8_000_000, 5))
    policy = rarely.Policy(2, 5)
    policy.decide(X[:10])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert policy.excluded_share(X) == 0.0
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * 1024 < X.nbytes / 4


def test_memory_does_not_grow() -> None:
    policy = learned("rarely", rows=100)
    x, X = np.array([1.0, 0.2, 0.3]), log(4)[0]

    def resident() -> int:
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def rounds(count: int) -> None:
        for _ in range(count):
            arm, _ = policy.decide(x)
            policy.observe(x, arm, 0.5)
        for _ in range(count // 100):
            policy.decide(X, reasons=True)
            policy.copy()
            repr(policy)
            assert policy.estimates_.shape == (3, 3)
            with pytest.raises(errors.ContextError):
                policy.decide([1.0])

    rounds(20_000)
    before = resident()
    rounds(500_000)
    # A byte a call would be a megabyte.
    assert resident() - before < 2**20


# Threads and Ctrl-C


def test_threads_share_a_policy() -> None:
    policy = rarely.Policy(3, 3, "rarely", noise=0.1)
    X, plays, rewards = log(20_000)

    def work() -> None:
        for start in range(0, 20_000, 2000):
            rows = slice(start, start + 2000)
            policy.observe(X[rows], plays[rows], rewards[rows])
            policy.decide(X[rows])
            policy.decide(X[start])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert policy.rounds_ == 80_000


def test_the_interpreter_is_free_meanwhile() -> None:
    X, plays, rewards = log(1_000_000)
    policy = rarely.Policy(3, 3, noise=0.1)
    worker = threading.Thread(target=lambda: policy.observe(X, plays, rewards))
    turns = 0
    worker.start()
    while worker.is_alive():
        time.sleep(0.0005)
        turns += 1
    assert turns > 10


def test_control_c_stops_and_nothing_was_learned() -> None:
    X, plays, rewards = log(3_000_000)
    policy = learned()
    before = policy.copy()

    def interrupted(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupted)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.03)
        with pytest.raises(KeyboardInterrupt):
            while True:
                policy = before.copy()
                policy.observe(X, plays, rewards)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert policy.rounds_ in (before.rounds_, before.rounds_ + 3_000_000)
    assert policy == before or policy.rounds_ > before.rounds_


# What a sceptical user found


def test_shapes_of_parameters_are_not_cut_anew() -> None:
    wrong = np.ones((3, 2))
    for name in ("population", "deployed", "prior_mean"):
        with pytest.raises(errors.SettingsError, match=rf"{name} has the shape \(3, 2\)"):
            rarely.Policy(2, 3, **{name: wrong})  # type: ignore[arg-type]
    with pytest.raises(errors.SettingsError, match=r"shape \(3, 2\)"):
        rarely.Policy(2, 3).gain(wrong, np.ones((1, 3)))
    assert rarely.Policy(2, 3, deployed=np.arange(6.0).reshape(2, 3)).rule_ is not None


def test_masked_entries_are_not_learned() -> None:
    X, plays, rewards = log(5)
    policy = rarely.Policy(3, 3)
    hidden = np.ma.masked_array(X, mask=X > 0.9)
    with pytest.raises(errors.ContextError, match="masked"):
        policy.observe(hidden, plays, rewards)
    with pytest.raises(errors.ObserveError, match="masked"):
        policy.observe(X, plays, np.ma.masked_array(rewards, mask=[1, 0, 0, 0, 0]))
    assert policy.rounds_ == 0
    policy.observe(np.ma.masked_array(X), plays, rewards)
    assert policy.rounds_ == 5


def test_words_in_a_frame_are_no_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"one": [1.0], "age": ["2"], "dose": [3.0]})
    for kind in (object, "string"):
        with pytest.raises(errors.ContextError, match="column 'age'"):
            rarely.Policy(2, 3).predict(frame.astype({"age": kind}))


@pytest.mark.parametrize(
    "arguments", [{"arms": -1}, {"dimension": -3}, {"seed": -1}, {"seed": 2**64}, {"baseline": -1}]
)
def test_counts_out_of_range(arguments: dict[str, int]) -> None:
    with pytest.raises(errors.SettingsError, match="whole numbers"):
        rarely.Policy(**{"arms": 2, "dimension": 2, **arguments})  # type: ignore[arg-type]


def test_a_reason_for_each_row() -> None:
    X, plays, rewards = log(3)
    for reasons in ("policy", ["policy"], ["policy", "whim", "policy"], [None] * 3):
        with pytest.raises(errors.ObserveError, match="reason"):
            rarely.Policy(3, 3).observe(X, plays, rewards, reasons)  # type: ignore[arg-type]


def test_edited_bytes_are_refused() -> None:
    head, text = learned(rows=200).to_bytes().split(b"\n", 1)
    edits = [
        (b'"noise":0.1', b'"noise":-1.0'),
        (b'"penalty":0.01', b'"penalty":1.5'),
        (b'"arms":3', b'"arms":4'),
        (b'"algorithm":"boundary-conservative"', b'"algorithm":"linucb"'),
    ]
    for found, instead in edits:
        assert found in text
        with pytest.raises(errors.RestoreError):
            rarely.Policy.from_bytes(head + b"\n" + text.replace(found, instead, 1))
    last = text.rindex(b'"penalty":0.01')
    with pytest.raises(errors.RestoreError):
        rarely.Policy.from_bytes(head + b"\n" + text[:last] + b'"penalty":1.5' + text[last + 14 :])
