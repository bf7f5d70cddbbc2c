"""Policies of Python's own in `rarely.simulate`, on the same people, noise and luck as ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import rarely
from rarely import policies
from rarely.errors import ExperimentError

Numbers = npt.NDArray[np.float64]
SMALL: dict[str, Any] = {"rounds": 300, "runs": 3, "arms": 3, "dimension": 2, "progress": False}


class LinUcb:
    """LinUCB with a constant width, written with numpy alone."""

    name = "numpy"

    def start(self, arms: int, dimension: int, rounds: int, seed: int) -> None:
        self.V = np.stack([0.01 * np.eye(dimension)] * arms)
        self.b = np.zeros((arms, dimension))

    def decide(self, X: Numbers) -> npt.NDArray[np.int64]:
        inverse = np.linalg.inv(self.V)
        estimates = np.einsum("aij,aj->ai", inverse, self.b)
        widths = np.sqrt(np.einsum("ni,aij,nj->na", X, inverse, X))
        return np.asarray(np.argmax(X @ estimates.T + widths, axis=1), dtype=np.int64)

    def observe(self, X: Numbers, arms: npt.NDArray[np.int64], rewards: Numbers) -> None:
        for row, arm, reward in zip(X, arms, rewards):
            self.V[arm] += np.outer(row, row)
            self.b[arm] += reward * row


def test_the_same_algorithm_inside_and_outside_has_the_same_regret() -> None:
    found = rarely.simulate(algorithms=["linucb-alpha", LinUcb()], **SMALL)
    assert found.summary["algorithm"] == ["linucb-alpha", "numpy"]
    assert found.summary["regret_per_step"][0] == pytest.approx(found.summary["regret_per_step"][1], rel=1e-9)
    regret = found.runs["regret"]
    assert regret[:3] == pytest.approx(regret[3:], rel=1e-9)


def test_a_block_is_a_batch_of_ours() -> None:
    mine = rarely.simulate(algorithms=[LinUcb()], block=20, **SMALL)
    ours = rarely.simulate(algorithms=["linucb-alpha"], batch=20, **SMALL)
    assert mine.runs["regret"] == pytest.approx(ours.runs["regret"], rel=1e-9)


def test_ours_play_as_without_them() -> None:
    alone = rarely.simulate(algorithms=["rarely", "thompson"], **SMALL)
    beside = rarely.simulate(algorithms=["rarely", LinUcb, "thompson"], block=7, **SMALL)
    for name in ("rarely", "thompson"):
        of = [[row == name for row in found.runs["algorithm"]] for found in (alone, beside)]
        assert np.array_equal(alone.runs["regret"][of[0]], beside.runs["regret"][of[1]])


def test_threads_do_not_matter() -> None:
    class Draws:
        def start(self, arms: int, dimension: int, rounds: int, seed: int) -> None:
            self.rng, self.arms = np.random.default_rng(seed), arms

        def decide(self, X: Numbers) -> Numbers:
            return self.rng.dirichlet(np.ones(self.arms), size=len(X))

        def observe(self, X: Numbers, arms: Any, rewards: Any) -> None:
            pass

    one, three = (rarely.simulate(algorithms=[Draws], threads=threads, block=10, **SMALL) for threads in (1, 3))
    assert np.array_equal(one.runs["regret"], three.runs["regret"])
    assert len(set(one.runs["regret"])) == 3, "every run draws its own"


def test_a_function_and_probabilities() -> None:
    def uniform(X: Numbers) -> Numbers:
        return np.full((len(X), 3), 1 / 3)

    found = rarely.simulate(
        algorithms=["random", uniform, lambda X: np.zeros(len(X)), "fixed"], rounds=4000, runs=4, arms=3, progress=False
    )
    names = found.summary["algorithm"]
    assert names == ["random", "uniform", "<lambda>", "fixed"]
    regret = dict(zip(names, found.summary["regret_per_step"]))
    # Both draw uniformly, with other draws: 16,000 rounds of a regret with a standard deviation below 1.
    assert regret["uniform"] == pytest.approx(regret["random"], abs=4 / np.sqrt(16_000))


def test_estimators_of_scikit_learn() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    tree = pytest.importorskip("sklearn.tree")
    models = [linear_model.Ridge(), tree.DecisionTreeRegressor(max_depth=3), linear_model.SGDRegressor()]
    found = rarely.simulate(algorithms=["random", *models], rounds=1500, runs=2, block=50, progress=False)
    regret = dict(zip(found.summary["algorithm"], found.summary["regret_per_step"]))
    assert set(regret) == {"random", "Ridge", "DecisionTreeRegressor", "SGDRegressor"}
    for model in ("Ridge", "DecisionTreeRegressor", "SGDRegressor"):
        assert regret[model] < 0.6 * regret["random"], regret


def test_classifiers_of_scikit_learn() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    datasets = pytest.importorskip("sklearn.datasets")
    world = rarely.worlds.from_classes(datasets.load_iris(), label="iris")
    models = [linear_model.LogisticRegression(max_iter=500), linear_model.SGDClassifier(loss="log_loss")]
    found = rarely.simulate(world, algorithms=["random", "rarely", *models], runs=4, block=10, progress=False)
    regret = dict(zip(found.summary["algorithm"], found.summary["regret_per_step"]))
    # Three classes: drawing at random is wrong in two of three.
    assert regret["random"] == pytest.approx(2 / 3, abs=0.1)
    assert regret["LogisticRegression"] < 0.45 and regret["rarely"] < 0.45


def test_mabwiser() -> None:
    library = pytest.importorskip("mabwiser.mab")
    arms = [0, 1, 2]
    learning = library.LearningPolicy.LinUCB(alpha=1.0, l2_lambda=0.01)
    found = rarely.simulate(algorithms=["random", "linucb-alpha", library.MAB(arms, learning)], block=10, **SMALL)
    regret = dict(zip(found.summary["algorithm"], found.summary["regret_per_step"]))
    assert regret["MAB"] < 0.5 * regret["random"]
    with pytest.raises(ExperimentError, match="the MAB has 2 arms, but the world has 3"):
        rarely.simulate(algorithms=[library.MAB([0, 1], learning)], **SMALL)


def test_contextualbandits() -> None:
    online = pytest.importorskip("contextualbandits.online")
    policy = online.LinUCB(nchoices=3, alpha=1.0, lambda_=0.01, fit_intercept=False)
    found = rarely.simulate(algorithms=["random", policy], block=10, **SMALL)
    assert found.summary["regret_per_step"][1] < 0.5 * found.summary["regret_per_step"][0]


def test_river() -> None:
    linear_model = pytest.importorskip("river.linear_model")
    bandit = pytest.importorskip("river.bandit")
    models = [linear_model.LinearRegression(), bandit.LinUCBDisjoint(alpha=1.0)]
    found = rarely.simulate(algorithms=["random", *models], block=10, **{**SMALL, "rounds": 1000})
    regret = found.summary["regret_per_step"]
    assert regret[1] < 0.6 * regret[0] and regret[2] < 0.6 * regret[0], dict(zip(found.summary["algorithm"], regret))


def test_names_and_blocks() -> None:
    named = policies.Named(LinUcb(), "mine", block=5)
    found = rarely.simulate(algorithms=[LinUcb(), LinUcb, named], **SMALL)
    assert found.summary["algorithm"] == ["numpy", "numpy 2", "mine"]


class Wrong:
    """Returns what it is told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def decide(self, X: Numbers) -> Any:
        return self.answer(X)

    def observe(self, X: Numbers, arms: Any, rewards: Any) -> None:
        raise ZeroDivisionError("it cannot learn")


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda X: [0.5] * len(X), ExperimentError, "not whole numbers"),
        (lambda X: [[0.5, 0.5]] * len(X), ExperimentError, "for 1 rows and 3 arms"),
        (lambda X: [[0.5, 0.5, 0.5]] * len(X), ExperimentError, "do not add up to 1"),
        (lambda X: [7] * len(X), ExperimentError, "chose arm 7 in row 0"),
        (lambda X: [-1] * len(X), ExperimentError, "there are only 3 arms"),
        (lambda X: [0] * len(X), ZeroDivisionError, "it cannot learn"),
        (lambda X: 1 / 0, ZeroDivisionError, "division by zero"),
    ],
)
def test_wrong_answers(answer: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rarely.simulate(algorithms=["rarely", Wrong(answer)], **SMALL)


def test_what_is_no_policy() -> None:
    with pytest.raises(ExperimentError, match="3 is no policy"):
        rarely.simulate(algorithms=["rarely", 3], **SMALL)
    with pytest.raises(ExperimentError, match="block = 0"):
        rarely.simulate(algorithms=[LinUcb], block=0, **SMALL)
