"""`rarely.Policy` as its users meet it."""

from __future__ import annotations

import copy
import gc
import pickle
import resource
import signal
import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import rarely
from rarely import errors

Array = npt.NDArray[np.float64]


def log(rows: int, dimension: int = 3, arms: int = 3, seed: int = 0) -> tuple[Array, npt.NDArray[np.int64], Array]:
    world = np.random.default_rng(seed)
    X = np.column_stack([np.ones(rows), world.random((rows, dimension - 1))])
    plays = world.integers(0, arms, rows)
    truth = np.random.default_rng(99).normal(size=(arms, dimension))
    return X, plays, (X * truth[plays]).sum(axis=1) + 0.1 * world.normal(size=rows)


def learned(algorithm: str = "boundary-conservative", rows: int = 2000, seed: int = 0, **more: Any) -> rarely.Policy:
    policy = rarely.Policy(3, 3, algorithm, noise=0.1, norm_bound=5.0, **more)
    policy.observe(*log(rows, seed=seed))
    return policy


def all_algorithms() -> list[rarely.Policy]:
    return [learned(name, 500, baseline=0, baseline_mean=[1.0, 0.0, 0.0]) for name in rarely.ALGORITHMS]


# Deciding


def test_one_row_and_a_block_decide_alike() -> None:
    X, _, _ = log(50, seed=3)
    for policy in all_algorithms():
        block = policy.copy()
        arms, propensities = block.decide(X)
        assert arms.dtype == np.int64 and propensities.dtype == np.float64
        singles = [policy.decide(row) for row in X]
        assert [(int(a), float(p)) for a, p in zip(arms, propensities)] == singles
        assert policy == block, "the generators are at the same place"


def test_deciding_does_not_learn_and_predicting_does_not_draw() -> None:
    X, _, _ = log(20)
    for policy in all_algorithms():
        before = policy.copy()
        arms = policy.predict(X)
        assert policy == before
        assert np.array_equal(policy.predict(X), arms)
        policy.decide(X)
        assert not hasattr(policy, "digest") or policy.digest == before.digest


def test_propensities_are_frequencies() -> None:
    policy = learned("boundary-greedy", 100, explore="equipoise:0.5")
    X = np.repeat(log(1, seed=5)[0], 20_000, axis=0)
    arms, propensities = policy.decide(X)
    for arm in np.unique(arms):
        claimed = propensities[arms == arm][0]
        # Six standard errors.
        assert abs((arms == arm).mean() - claimed) < 6 * np.sqrt(claimed * (1 - claimed) / len(arms)) + 1e-12


def test_reasons() -> None:
    policy = rarely.Policy(2, 1, "rarely")
    assert policy.decide([1.0], reasons=True)[2] == "pilot"
    assert policy.decide([[1.0], [1.0]], reasons=True)[2] == ["pilot", "pilot"]


# Learning


def test_changes_carry_certificates() -> None:
    policy = rarely.Policy(3, 3, noise=0.1, norm_bound=5.0)
    changes = policy.observe(*log(2000))
    assert changes and changes == policy.versions
    first = changes[0]
    assert first.version == 1 and first.round <= 2000 and first.before.shape == (3, 3)
    assert np.array_equal(changes[-1].after, policy.rule_)  # type: ignore[arg-type]
    certificate = first.certificate
    assert certificate is not None
    assert certificate.gain.lower <= certificate.gain.estimate <= certificate.gain.upper
    assert len(certificate.boundaries) == 3 and len(certificate.digest) == 64
    assert str(first).startswith("change 1 after") and "boundary" in str(certificate)
    assert first.to_dict()["version"] == 1
    assert learned(certificates=False).versions[0].certificate is None


def test_a_bad_row_teaches_nothing() -> None:
    X, plays, rewards = log(200_000)
    policy = learned()
    before = policy.copy()
    for row, change in ((0, (7, 1.0)), (150_000, (1, float("nan"))), (199_999, (-1, 1.0))):
        bad_plays, bad_rewards = plays.copy(), rewards.copy()
        bad_plays[row], bad_rewards[row] = change
        with pytest.raises(errors.ObserveError, match=f"row {row}:"):
            policy.observe(X, bad_plays, bad_rewards)
        assert policy == before
    X[123_456, 1] = np.inf
    with pytest.raises(errors.ContextError, match="123456"):
        policy.observe(X, plays, rewards)
    assert policy == before


def test_lengths_must_agree() -> None:
    X, plays, rewards = log(10)
    with pytest.raises(errors.ObserveError, match="10 contexts, 9 decisions and 10 rewards"):
        learned().observe(X, plays[:9], rewards)
    with pytest.raises(errors.ContextError, match="4 variables, the policy 3"):
        learned().observe(np.ones((2, 4)), [0, 1], [1.0, 2.0])


def test_empty_blocks() -> None:
    policy = learned()
    arms, propensities = policy.decide(np.empty((0, 3)))
    assert arms.shape == propensities.shape == (0,)
    assert policy.observe(np.empty((0, 3)), [], []) == []
    with pytest.raises(errors.ContextError, match="no people"):
        policy.excluded_share(np.empty((0, 3)))


# What was learned


def test_estimates_are_those_of_a_ridge_regression() -> None:
    X, plays, rewards = log(2000)
    policy = learned()
    for arm in range(3):
        rows = X[plays == arm]
        expected = np.linalg.solve(rows.T @ rows + 0.01 * np.eye(3), rows.T @ rewards[plays == arm])
        np.testing.assert_allclose(policy.estimates_[arm], expected, rtol=1e-9)
        assert policy.counts_[arm] == len(rows)
    V = [X[plays == arm].T @ X[plays == arm] + 0.01 * np.eye(3) for arm in range(3)]
    log_det = sum(np.linalg.slogdet(each)[1] for each in V) - 9 * np.log(0.01)
    radius = np.sqrt(0.01) * 5.0 + 0.1 * np.sqrt(2 * np.log(1 / 0.001) + log_det)
    assert policy.radius_ == pytest.approx(radius, rel=1e-9)
    interval = policy.intervals(X[:1])[0, 1]
    width = radius * np.sqrt(X[0] @ np.linalg.solve(V[1], X[0]))
    np.testing.assert_allclose(interval, X[0] @ policy.estimates_[1] + np.array([0, -width, width]), rtol=1e-8)


def test_plausible_arms_and_the_excluded_share() -> None:
    policy = learned()
    X = log(500, seed=8)[0]
    mask = policy.plausible(X)
    assert mask.shape == (500, 3) and mask.any(axis=1).all()
    expected = 1 - mask[np.arange(500), policy.predict(X)].mean()
    assert policy.excluded_share(X) == pytest.approx(expected)
    optimist = learned("linucb")
    expected = 1 - optimist.plausible(X)[np.arange(500), optimist.predict(X)].mean()
    assert optimist.excluded_share(X) == pytest.approx(expected)
    assert 0 <= policy.excluded_share() <= 1


def test_thresholds() -> None:
    policy = rarely.Policy(2, 2, noise=0.1, norm_bound=2.0)
    assert policy.thresholds() == [(-np.inf, np.inf)]
    world = np.random.default_rng(4)
    X = np.column_stack([np.ones(5000), world.random(5000)])
    arms = world.integers(0, 2, 5000)
    policy.observe(X, arms, np.where(arms == 1, X[:, 1], 0.4) + 0.1 * world.normal(size=5000))
    [(low, high)] = policy.thresholds()
    assert low < 0.4 < high and high - low < 0.2
    assert policy.boundaries()[0].arms == (0, 1)


def test_gain_of_policies_parameters_and_arms() -> None:
    policy = rarely.Policy(3, 3, "certified", minimum_gain=1e12, noise=0.1, norm_bound=5.0)
    X, plays, rewards = log(2000)
    policy.observe(X, plays, rewards)
    by_parameters = policy.gain(policy.estimates_, X)
    other = learned("greedy")
    assert other.rule_ is not None
    assert policy.gain(other, X) == by_parameters == policy.gain(other.predict(X), X)
    assert by_parameters.lower > 0 and by_parameters.changed_share > 0
    assert policy.gain(policy, X).estimate == 0
    assert policy.gain(other).lower > 0, "on the people seen"


# Copies


def test_copies_go_on_alike() -> None:
    X, plays, rewards = log(300, seed=12)
    for policy in all_algorithms():
        twins = [
            policy.copy(),
            copy.copy(policy),
            copy.deepcopy(policy),
            pickle.loads(pickle.dumps(policy)),
            rarely.Policy.from_bytes(policy.to_bytes()),
        ]
        policy.decide(X)
        policy.observe(X, plays, rewards)
        for twin in twins:
            assert twin != policy
            twin.decide(X)
            twin.observe(X, plays, rewards)
            assert twin == policy


def test_subclasses_stay_what_they_are() -> None:
    twin = copy.deepcopy(Named(3, 3))
    assert isinstance(twin, Named)
    assert isinstance(pickle.loads(pickle.dumps(Named(3, 3))), Named)
    assert isinstance(Named(3, 3) + Named(3, 3), Named)


class Named(rarely.Policy):
    """A policy of somebody's own."""


def test_damaged_bytes() -> None:
    whole = learned(rows=50).to_bytes()
    for at in list(range(0, len(whole), max(1, len(whole) // 200))):
        with pytest.raises(errors.RestoreError):
            rarely.Policy.from_bytes(whole[:at])
    with pytest.raises(errors.RestoreError, match="do not begin"):
        rarely.Policy.from_bytes(b"something else")


def test_adding() -> None:
    for name in rarely.ALGORITHMS:
        more = {"baseline": 0, "baseline_mean": [1.0, 0.0, 0.0]}
        one, two = learned(name, 400, seed=1, **more), learned(name, 600, seed=2, **more)
        both = one + two
        assert both.rounds_ == 1000 and one.rounds_ == 400
        if not hasattr(both, "counts_"):
            continue
        assert np.array_equal(both.counts_, one.counts_ + two.counts_)
        X = np.concatenate([log(400, seed=1)[0], log(600, seed=2)[0]])
        plays = np.concatenate([log(400, seed=1)[1], log(600, seed=2)[1]])
        rewards = np.concatenate([log(400, seed=1)[2], log(600, seed=2)[2]])
        together = rarely.Policy(3, 3, name, noise=0.1, norm_bound=5.0, **more)
        together.observe(X, plays, rewards)
        np.testing.assert_allclose(both.estimates_, together.estimates_, rtol=1e-9, atol=1e-12)
    policy = learned(rows=100)
    assert (policy + policy).rounds_ == 200
    with pytest.raises(errors.MergeError):
        policy + learned("linucb")
    with pytest.raises(TypeError):
        policy + 1  # type: ignore[operator]


# scikit-learn's conventions


def test_scikit_learn() -> None:
    from sklearn.base import clone

    X, plays, rewards = log(500)
    policy = rarely.Policy(3, 3, noise=0.1, prior_mean=0.5, seed=7)
    assert policy.partial_fit(X, plays, rewards) is policy
    assert policy.fit(X, plays, rewards).rounds_ == 500
    assert policy.predict(X).shape == (500,) and policy.predict(X[0]) in range(3)
    fresh = clone(policy)
    assert fresh.rounds_ == 0 and repr(fresh.get_params()) == repr(policy.get_params())
    again = rarely.Policy(**policy.get_params())
    assert again == fresh
    assert fresh.set_params(noise=0.2, algorithm="linucb").get_params()["noise"] == 0.2
    with pytest.raises(errors.SettingsError, match="no setting nose"):
        fresh.set_params(nose=1)
    with pytest.raises(errors.SettingsError, match="has learned"):
        policy.set_params(noise=1.0)


# Errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"arms": 1}, "between 2 and 256"),
        ({"noise": -1.0}, "noise"),
        ({"algorithm": "linucbb"}, "linucb"),
        ({"explore": "much"}, "equipoise"),
        ({"sets": "each"}, "joint"),
        ({"deployed": [1.0]}, "9 are needed"),
        ({"algorithm": "clucb"}, "baseline"),
        ({"algorithm": "linucb", "explore": "pilot:3"}, "pilot"),
        ({"tolerance": 2.0}, "tolerance"),
        ({"population": [[1.0, 2.0]]}, "population"),
    ],
)
def test_settings(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.SettingsError, match=message) as caught:
        rarely.Policy(**{"arms": 3, "dimension": 3, **arguments})
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, errors.Error)


def test_what_does_not_learn_has_no_estimates() -> None:
    assert not hasattr(rarely.Policy(2, 2, "random"), "estimates_")
    assert rarely.Policy(2, 2, "linucb").rule_ is None


# Arrays


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
            policy.estimates_
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
