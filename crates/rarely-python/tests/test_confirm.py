"""`rarely.confirm`: the same numbers as formulas and other libraries, and what is refused."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import rarely
from rarely.errors import ConfirmError

Numbers = npt.NDArray[np.float64]


class Log:
    """Rows of two arms, with the arms before and after a change."""

    def __init__(self, rows: int = 400, seed: int = 1) -> None:
        generator = np.random.default_rng(seed)
        self.X = np.column_stack([np.ones(rows), generator.uniform(size=(rows, 2))])
        self.arms = generator.integers(2, size=rows)
        truth = np.array([[0.3, 0.1, -0.1], [0.4, 0.0, 0.1]])
        noise = (0.1 + self.X[:, 1]) * generator.normal(size=rows) * 0.2
        self.rewards = (self.X * truth[self.arms]).sum(axis=1) + noise
        self.before = np.zeros(rows, dtype=int)
        self.after = (self.X[:, 2] > 0.5).astype(int)
        moved = self.X * self.after[:, None] / rows
        self.functional = np.array([-moved.sum(axis=0), moved.sum(axis=0)])

    def confirm(self, **settings: Any) -> rarely.Confirmed:
        return rarely.confirm(self.X, self.arms, self.rewards, self.before, self.after, **settings)


def test_least_squares_are_those_of_statsmodels() -> None:
    regression = pytest.importorskip("statsmodels.api")
    stats = pytest.importorskip("scipy.stats")
    log = Log()
    design = np.hstack([log.X * (log.arms == arm)[:, None] for arm in (0, 1)])
    fit = regression.OLS(log.rewards, design).fit(cov_type="HC3")
    g = log.functional.ravel()
    error = float(np.sqrt(g @ fit.cov_params() @ g))
    found = log.confirm(error_probability=0.05, looks=[200, 400], candidates=5)
    degrees = np.bincount(log.arms).min() - 3
    assert found.estimate == pytest.approx(float(g @ fit.params), rel=1e-10)
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    assert found.degrees == degrees
    half_width = stats.t.isf(0.05 / 20, degrees) * error
    assert found.upper - found.estimate == pytest.approx(half_width, rel=1e-8)
    assert (found.standard, found.timing, found.cases) == ("approximate", "planned", 400)
    assert found.changed_share == log.after.mean()
    assert "HC3" in repr(found)


def test_anytime_is_wider_and_needs_an_expectation() -> None:
    log = Log()
    with pytest.raises(ConfirmError, match="expected_cases"):
        log.confirm(timing="anytime")
    anytime = log.confirm(timing="anytime", expected_cases=500)
    planned = log.confirm()
    assert anytime.lower < planned.lower and anytime.upper > planned.upper
    assert anytime.timing == "anytime"


def test_clusters_of_any_names() -> None:
    log = Log()
    numbers = np.arange(400) // 4
    by_number = log.confirm(clusters=numbers)
    by_name = log.confirm(clusters=[f"school {number}" for number in numbers])
    # Clusters in another order are summed in another order.
    assert (by_name.lower, by_name.upper) == pytest.approx((by_number.lower, by_number.upper), rel=1e-9)
    assert "CR2" in by_number.method
    assert by_number.degrees is not None and by_number.degrees < 100
    with pytest.raises(ConfirmError, match="degrees of freedom"):
        log.confirm(clusters=np.arange(400) % 4)
    with pytest.raises(ConfirmError, match="3 clusters"):
        log.confirm(clusters=[1, 2, 3])


def test_looks_are_planned() -> None:
    log = Log()
    with pytest.raises(ConfirmError, match="not a planned look; the next one is at 500"):
        log.confirm(looks=[200, 500])
    with pytest.raises(ConfirmError, match="beyond the last"):
        log.confirm(looks=[200])


def test_what_is_refused() -> None:
    with pytest.raises(ConfirmError, match="needs 100"):
        Log(rows=150).confirm()
    log = Log()
    log.rewards = (np.arange(400) % 40 == 0).astype(float)
    with pytest.raises(ConfirmError, match="most frequent"):
        log.confirm()
    certain = log.confirm(method="bounded", outcome_range=(0.0, 1.0))
    assert certain.standard == "certain"
    with pytest.raises(ConfirmError, match="row 1: the outcome is not in the declared range"):
        log.confirm(method="bounded", outcome_range=(0.5, 1.0))
    log = Log()
    log.after = log.before
    with pytest.raises(ConfirmError, match="alters no decision"):
        log.confirm()
    with pytest.raises(TypeError, match="timing"):
        log.confirm(timing="once")
    with pytest.raises(TypeError, match="method"):
        log.confirm(method="guess")
    log.after = log.before[1:]
    with pytest.raises(ConfirmError, match="400 rows, but 399"):
        log.confirm()


def scored(rows: int = 2000, seed: int = 2) -> tuple[Log, dict[str, Any], float]:
    """A world that no line fits, with known propensities."""
    generator = np.random.default_rng(seed)
    s = generator.uniform(size=rows)
    one = 0.2 + 0.6 * s
    log = Log(rows)
    log.X = np.column_stack([np.ones(rows), s])
    log.arms = (generator.uniform(size=rows) < one).astype(int)
    mean = np.where(log.arms == 1, 0.6 - 0.5 * (s - 0.5) ** 2, 0.3 + 0.3 * s**2)
    log.rewards = (generator.uniform(size=rows) < mean).astype(float)
    log.after = (s > 0.5).astype(int)
    settings = {
        "propensities": np.column_stack([1 - one, one]),
        "minimum_propensity": 0.2,
        "outcome_range": (0.0, 1.0),
        "error_probability": 0.01,
    }
    return log, settings, 0.15 - 0.5 * 0.125 / 3 - 0.1 * (1 - 0.125)


def test_scores_without_a_model() -> None:
    log, settings, gain = scored()
    planned = log.confirm(**settings)
    p = settings["propensities"][np.arange(2000), log.arms]
    change = (log.after == log.arms).astype(float) - (log.before == log.arms)
    scores = change / p * (log.rewards - 0.5)
    assert planned.estimate == pytest.approx(scores.mean(), rel=1e-10)
    assert planned.standard_error == pytest.approx(scores.std(ddof=1) / np.sqrt(2000), rel=1e-10)
    certain = log.confirm(**settings, method="empirical-bernstein", expected_cases=2000)
    anytime = log.confirm(**settings, timing="anytime", expected_cases=2000)
    for found in (planned, certain, anytime):
        assert found.lower < gain < found.upper
        assert found.estimate == pytest.approx(planned.estimate, rel=1e-10)
    assert (planned.standard, certain.standard, anytime.standard) == ("approximate", "certain", "approximate")
    assert certain.upper - certain.lower > anytime.upper - anytime.lower > planned.upper - planned.lower
    better = log.confirm(**settings, predictions=np.column_stack([0.3 + 0.2 * log.X[:, 1], 0.6 - 0.1 * log.X[:, 1]]))
    assert better.standard_error is not None and planned.standard_error is not None
    assert better.standard_error < 1.01 * planned.standard_error


def test_scores_need_all_propensities() -> None:
    log, settings, _ = scored()
    with pytest.raises(ConfirmError, match="propensities is needed"):
        log.confirm(method="scores")
    for missing in ("minimum_propensity", "outcome_range"):
        with pytest.raises(ConfirmError, match=missing):
            log.confirm(**{**settings, missing: None})
    certain = settings["propensities"].copy()
    certain[7] = np.eye(2)[log.arms[7]]
    log.after[7] = 1 - log.before[7]
    with pytest.raises(ConfirmError, match="row 7: the change concerns arm ., whose propensity is 0"):
        log.confirm(**{**settings, "propensities": certain})
    restricted = log.confirm(**{**settings, "propensities": certain}, overlap="restrict")
    assert restricted.changed_share == pytest.approx((log.after != log.before).mean() - 1 / 2000)


def test_the_docstring() -> None:
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner()
    runner.run(parser.get_doctest(rarely.confirm.__doc__ or "", {}, "rarely.confirm", None, None))
    assert runner.tries >= 4 and runner.failures == 0
