"""Worlds of Python's own, and what the experiments return of every run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rarely
from rarely import worlds
from rarely.errors import DataError, ExperimentError

SMALL: dict[str, Any] = {"runs": 3, "progress": False}


def threshold(X: Any) -> Any:
    """The second arm is better from a half on."""
    return np.column_stack([np.full(len(X), 0.5), X[:, 1]])


def test_a_function_from_contexts_to_means() -> None:
    world = worlds.from_means(threshold, dimension=2, noise=0.1)
    found = rarely.simulate(world, algorithms=["rarely", "fixed", "random"], rounds=2000, **SMALL)
    regret = dict(zip(found.summary["algorithm"], found.summary["regret_per_step"]))
    # The best arm is 1/8 better than either alone, and than a draw.
    assert regret["fixed"] == pytest.approx(0.125, abs=0.01) and regret["random"] == pytest.approx(0.125, abs=0.01)
    assert regret["rarely"] < 0.03
    assert found.settings["assumptions"]["declared_noise"] == 0.1
    assert found.settings["environment"]["label"] == "threshold" and "threshold" in found.text


def test_the_same_worlds_for_everybody_and_for_the_same_seed() -> None:
    world = worlds.from_means(threshold, dimension=2)
    one = rarely.simulate(world, algorithms=["rarely"], rounds=200, seed=3, **SMALL)
    two = rarely.simulate(world, algorithms=["linucb", "rarely"], rounds=200, seed=3, threads=1, **SMALL)
    assert np.array_equal(one.runs["regret"], two.runs["regret"][3:])


def test_people_to_draw_from_and_a_function_that_draws() -> None:
    people = np.column_stack([np.ones(50), np.linspace(0, 1, 50)])
    for contexts in (people, lambda rng, rows: np.column_stack([np.ones(rows), rng.beta(2, 2, rows)])):
        world = worlds.from_means(threshold, contexts=contexts)
        found = rarely.simulate(world, algorithms=["fixed"], rounds=500, **SMALL)
        assert 0.05 < found.summary["regret_per_step"][0] < 0.2


def test_a_table_as_arrays_as_a_frame_and_as_a_file(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(300), rng.random(300)])
    outcomes = threshold(X) + 0.2 * rng.standard_normal((300, 1))
    frame = pandas.DataFrame({"one": X[:, 0], "x": X[:, 1], "outcome:a": outcomes[:, 0], "outcome:b": outcomes[:, 1]})
    frame.to_csv(tmp_path / "people.csv", index=False)
    settings: dict[str, Any] = {"algorithms": ["rarely", "linucb"], **SMALL}
    of = [
        rarely.simulate(worlds.from_table(X, outcomes), **settings),
        rarely.simulate(worlds.from_table(frame), **settings),
        rarely.simulate(table=tmp_path / "people.csv", **settings),
    ]
    for found in of:
        assert np.allclose(found.runs["regret"], of[0].runs["regret"])
        assert found.settings["assumptions"]["declared_noise"] == pytest.approx(0.2, rel=0.1)
        assert "residuals" in found.settings["declared_noise_source"]
    # With the means the noise is that around them.
    known = rarely.simulate(worlds.from_table(X, outcomes, threshold(X)), **settings)
    assert known.settings["assumptions"]["declared_noise"] == pytest.approx(
        np.sqrt(np.mean((outcomes - threshold(X)) ** 2)), rel=1e-12
    )


def test_wrong_worlds(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"means of the shape \(100,\)"):
        rarely.simulate(worlds.from_means(lambda X: X[:, 0], dimension=2), rounds=100, **SMALL)
    with pytest.raises(DataError, match="shapes"):
        worlds.from_table(np.ones((3, 2)), np.ones((4, 2)))
    with pytest.raises(DataError, match="there are no outcomes"):
        worlds.from_table(np.ones((3, 2)))
    with pytest.raises(DataError, match="there are no classes"):
        worlds.from_classes(np.ones((3, 2)))
    with pytest.raises(ExperimentError, match="arms is given, but the world has its own"):
        rarely.simulate(worlds.from_means(threshold, dimension=2), arms=3, **SMALL)
    with pytest.raises(ExperimentError, match="the noise of the outcomes cannot be estimated"):
        rarely.simulate(worlds.from_table(np.ones((1, 2)), [[0.0, 1.0]]), **SMALL)


def test_every_run_and_every_pair() -> None:
    stats = pytest.importorskip("scipy.stats")
    found = rarely.simulate(rounds=400, runs=12, algorithms="rarely,linucb,random", run_traces=True, progress=False)
    frame: Any = found.runs.to_pandas()
    assert len(frame) == 36 and set(frame["seed"]) == {1} and list(frame["run"][:12]) == list(range(12))
    by = frame.pivot(index="run", columns="algorithm", values="regret_per_step")
    pairs: Any = found.comparisons.to_pandas()
    assert list(zip(pairs["algorithm"], pairs["other"])) == [
        ("rarely", "linucb"),
        ("rarely", "random"),
        ("linucb", "random"),
    ]
    for row in pairs.itertuples():
        difference = by[row.algorithm] - by[row.other]
        assert row.better == (difference < 0).sum() and row.worse == (difference > 0).sum()
        assert row.regret_per_step_difference == pytest.approx(difference.mean(), rel=1e-12)
        low, high = stats.t.interval(0.95, 11, difference.mean(), stats.sem(difference))
        assert (row.regret_per_step_difference_low, row.regret_per_step_difference_high) == pytest.approx((low, high))
        assert row.sign_test_p == pytest.approx(stats.binomtest(int(row.better), int(row.better + row.worse)).pvalue)
        assert row.signed_rank_test_p == pytest.approx(stats.wilcoxon(difference).pvalue)
    summary: Any = found.summary.to_pandas().set_index("algorithm")
    for name in by:
        quantiles = np.quantile(by[name], [0.1, 0.5, 0.9])
        kept = summary.loc[name, ["regret_per_step_p10", "regret_per_step_median", "regret_per_step_p90"]]
        assert list(kept) == pytest.approx(list(quantiles), rel=1e-12)
    assert found.run_traces is not None
    traces: Any = found.run_traces.to_pandas()
    last = traces[traces["round"] == 400]
    assert list(last["regret"]) == list(frame["regret"])
    assert "less regret than linucb in" in found.text


def test_tests_with_ties_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    # Rewards of 0 and 1 give ties and worlds without a difference.
    rng = np.random.default_rng(5)
    X = np.ones((40, 1))
    tables = [worlds.from_table(X, rng.integers(0, 2, (40, 2)).astype(float)) for _ in range(1)]
    found = rarely.simulate(
        tables[0], declared_noise=0.5, rounds=8, runs=60, algorithms="random,fixed,greedy", progress=False
    )
    runs: Any = found.runs.to_pandas()
    by = runs.pivot(index="run", columns="algorithm", values="regret")
    pairs: Any = found.comparisons.to_pandas()
    for row in pairs.itertuples():
        difference = by[row.algorithm] - by[row.other]
        expected = stats.wilcoxon(difference, zero_method="wilcox", correction=False, method="asymptotic").pvalue
        assert row.signed_rank_test_p == pytest.approx(expected, rel=1e-9)


def test_sweep(tmp_path: Path) -> None:
    found = rarely.sweep(
        {"noise": [0.1, 0.5], "arms": [2, 3]},
        rounds=100,
        runs=2,
        algorithms=["rarely", lambda X: np.zeros(len(X), int)],
        out=tmp_path,
        progress=False,
    )
    assert found.cells.rows == 8 and found.runs.rows == 16
    assert set(found.runs["vary_noise"]) == {0.1, 0.5}
    assert "varying noise (0.1, 0.5) and arms (2, 3)" in found.text.splitlines()[0]
    assert "4 arms" not in found.text.splitlines()[0]
    names = {path.name for path in tmp_path.iterdir()}
    assert {"sweep.csv", "runs.parquet", "comparisons.csv", "run.json", "figure.svg"} <= names
    told: Any = found.runs.to_pandas()
    told = told[told["algorithm"] == "rarely"]
    assert (told["declared_noise"] == told["vary_noise"]).all(), "the true noise is declared"


@pytest.mark.parametrize(
    ("vary", "settings", "message"),
    [
        ({"tolerance": [0.1]}, {"algorithms": "rarely"}, "none of the algorithms uses it"),
        ({"strength": [0.5]}, {}, "no strength to vary"),
        ({"speed": [1]}, {}, "there is no setting `speed`"),
        ({}, {}, "vary has 0 settings"),
        ({"missing": [1.0]}, {}, "below 1"),
        ({"arms": [2]}, {"environment": worlds.from_means(threshold, dimension=2)}, "cannot be varied"),
    ],
)
def test_sweeps_that_make_no_sense(vary: Any, settings: Any, message: str) -> None:
    with pytest.raises(ExperimentError, match=message):
        rarely.sweep(vary, rounds=50, runs=1, progress=False, **settings)


def test_frontier(tmp_path: Path) -> None:
    found = rarely.frontier(
        "quadratic",
        rounds=100,
        runs=2,
        algorithms=["rs-linucb", "certified", LinearGuess],
        out=tmp_path,
        progress=False,
    )
    assert set(found.points["algorithm"]) == {"rs-linucb", "certified", "custom"}
    assert "yes" in found.points["on_frontier"]
    assert (tmp_path / "runs.parquet").exists() and found.settings["environment"]["environment"] == "quadratic"


class LinearGuess:
    """Plays the first arm."""

    def decide(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=int)

    def observe(self, X: Any, arms: Any, rewards: Any) -> None:
        pass


def test_options_that_do_nothing_are_errors() -> None:
    for settings, message in [
        ({"strength": 2.0}, "has no strength to set"),
        ({"delay": "independent"}, "every outcome is in at once"),
        ({"tolerance": 0.1, "algorithms": "linucb"}, "none of the algorithms uses it"),
    ]:
        with pytest.raises(ExperimentError, match=message):
            rarely.simulate(rounds=50, runs=1, progress=False, **settings)  # type: ignore[arg-type]


# A log with propensities as a world


def logged(rows: int, seed: int) -> dict[str, Any]:
    """Arms that were drawn with unequal probabilities; the second is 0.4 better."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(rows), rng.random(rows)])
    chance = 0.3 + 0.4 * X[:, 1]
    arms = (rng.random(rows) < chance).astype(np.int64)
    rewards = 0.3 + 0.4 * arms + 0.1 * rng.standard_normal(rows)
    return {"contexts": X, "arms": arms, "rewards": rewards, "propensities": np.where(arms == 1, chance, 1 - chance)}


def test_a_log_is_a_world_of_simulate() -> None:
    world = worlds.from_log(logged(4000, 1), minimum_propensity=0.3, label="a log")
    found = rarely.simulate(world, algorithms=["linucb", "random", LinearGuess], runs=2, seed=3)
    values = dict(zip(found.summary["name"], found.summary["value"]))
    assert values["linucb"] == pytest.approx(0.7, abs=0.03) and values["random"] == pytest.approx(0.5, abs=0.03)
    assert values["LinearGuess"] == pytest.approx(0.3, abs=0.03)
    # The same as the function that is for logs alone.
    again = rarely.replay_log(world.log, ["linucb", "random", LinearGuess], minimum_propensity=0.3, runs=2, seed=3)
    assert again.summary["value"] == found.summary["value"]
    assert found.settings["declared_noise"] == pytest.approx(0.1, rel=0.05)
    assert "residuals" in found.settings["declared_noise_source"], "σ = 1 is not assumed in silence"
    assert "seed" in found.summary.to_csv().splitlines()[0] and repr(world) in found.settings["command"]


@pytest.mark.parametrize(
    "settings",
    [
        {"arms": 3},
        {"noise": 0.5},
        {"late": 3},
        {"drift": 10},
        {"rounds": 10},
        {"block": 5},
        {"profile": "published"},
        {"certificates": True},
    ],
    ids=str,
)
def test_what_does_nothing_on_a_log_is_an_error(settings: dict[str, Any]) -> None:
    world = worlds.from_log(logged(100, 1))
    with pytest.raises(ExperimentError, match="does nothing where a log is replayed"):
        rarely.simulate(world, algorithms=["linucb"], **settings)


def test_a_log_has_no_regret_to_sweep() -> None:
    world: Any = worlds.from_log(logged(100, 1))
    with pytest.raises(ExperimentError, match="a log is no world whose regret is known"):
        rarely.sweep({"penalty": [0.1]}, world)
    with pytest.raises(ExperimentError, match="a log is no world whose regret is known"):
        rarely.frontier(world)


def test_more_options_that_do_nothing_are_errors(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("x,outcome:a,outcome:b\n" + "".join(f"{i / 9},{i % 3},{i % 2}\n" for i in range(10)))
    with pytest.raises(ExperimentError, match="an environment and a table are given"):
        rarely.simulate("quadratic", table=table)
    with pytest.raises(ExperimentError, match="strength is given"):
        rarely.simulate(table=table, strength=2.0)
    with pytest.raises(ExperimentError, match="penalty is given, but a frontier has its own settings"):
        rarely.frontier(penalty=1.0)
    with pytest.raises(ExperimentError, match="a delay is declared"):
        rarely.simulate(delay="independent", rounds=10, runs=1)
    with pytest.raises(ExperimentError, match="none of the algorithms uses it"):
        rarely.simulate(tolerance=0.1, rounds=10, runs=1, algorithms=["linucb"])
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        rarely.sweep({"penalty": [0.1]}, speed=1)  # type: ignore[call-arg]


def test_a_frontier_of_a_table() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack([np.ones(200), rng.random(200)])
    world = worlds.from_table(X, threshold(X) + 0.2 * rng.standard_normal((200, 1)))
    found = rarely.frontier(
        world, algorithms=["rs-linucb", "fixed"], runs=2, late=5, missing=0.1, batch=10, progress=False
    )
    assert set(found.points["algorithm"]) == {"rs-linucb", "fixed"}
    environment = found.settings["environment"]
    assert (environment["late_rounds"], environment["missing_share"], environment["batch_rounds"]) == (5, 0.1, 10)
