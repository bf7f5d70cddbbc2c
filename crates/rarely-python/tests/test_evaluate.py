"""`rarely.evaluate`: the numbers of obp's estimators, intervals that cover, and every form of a log and of a policy."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
import rarely
from bent import MIDDLE_VALUE, Array, bent, in_the_middle, softmax
from obp_parts import obp_parts
from rarely import errors
from rarely.errors import EvaluateError, EvaluationWarning
from said import said


@pytest.fixture(scope="module")
def obp() -> Iterator[Callable[[str], Any]]:
    with obp_parts(("obp", "obp.ope", "obp.dataset")) as load:
        yield load


# The same numbers as obp's


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("deterministic", [False, True])
def test_estimates_are_those_of_obp(obp: Callable[[str], Any], seed: int, deterministic: bool) -> None:
    theirs, synthetic = obp("obp.ope.estimators"), obp("obp.dataset.synthetic")
    data = synthetic.SyntheticBanditDataset(n_actions=4, dim_context=3, beta=-2.0, random_state=seed)
    feedback = data.obtain_batch_bandit_feedback(n_rounds=500)
    world = np.random.default_rng(seed)
    scores = 2.0 * feedback["context"] @ world.normal(size=(3, 4))
    pi = np.eye(4)[scores.argmax(axis=1)] if deterministic else softmax(scores)
    q = world.uniform(size=(500, 4))
    threshold = 1.7
    arguments = {
        "reward": feedback["reward"],
        "action": feedback["action"],
        "pscore": feedback["pscore"],
        "action_dist": pi[:, :, None],
        "estimated_rewards_by_reg_model": q[:, :, None],
        "position": np.zeros(500, dtype=int),
    }
    expected = {
        "dm": theirs.DirectMethod(),
        "ips": theirs.InverseProbabilityWeighting(),
        "snips": theirs.SelfNormalizedInverseProbabilityWeighting(),
        "dr": theirs.DoublyRobust(),
        "sndr": theirs.SelfNormalizedDoublyRobust(),
        "switch-dr": theirs.SwitchDoublyRobust(lambda_=threshold),
    }
    # The log is obp's own dictionary, with its names.
    found = rarely.evaluate(feedback, pi, predictions=q, switch_threshold=threshold, weights="refuse")
    assert [value.estimator for value in found.values] == list(expected)
    for name, estimator in expected.items():
        assert found[name].estimate == pytest.approx(estimator.estimate_policy_value(**arguments), abs=1e-9), name
    switched = pi[np.arange(500), feedback["action"]] / feedback["pscore"] > threshold
    assert 0 < switched.sum() < 500, "SWITCH-DR differs from DR"
    # obp's MRDR is DR with the predictions of a model that was fitted for it.
    model = obp("obp.ope.regression_model").RegressionModel(n_actions=4, base_model=ridge(), fitting_method="mrdr")
    keys = ("context", "action", "reward", "pscore")
    fitted = model.fit_predict(**{key: feedback[key] for key in keys}, action_dist=pi[:, :, None], random_state=1)
    arguments["estimated_rewards_by_reg_model"] = fitted
    mrdr = theirs.DoublyRobust().estimate_policy_value(**arguments)
    assert rarely.evaluate(feedback, pi, predictions=fitted[:, :, 0])["dr"].estimate == pytest.approx(mrdr, abs=1e-9)


def ridge() -> Any:
    from sklearn.linear_model import Ridge

    return Ridge()


def test_models_are_those_of_numpy() -> None:
    """Cross-fitted ridge regressions, plain and for MRDR, by numpy: leaving out all rows of a fold one by one."""
    log = bent(200, 3)
    pi = softmax(np.column_stack([log["contexts"][:, 0], -log["contexts"][:, 0]]))
    found = rarely.evaluate(
        log, pi, folds=2, penalty=0.5, estimators=["dm", "dr", "mrdr"], interval="anytime", expected_cases=200
    )
    arms, y, p = log["arms"], log["rewards"], log["propensities"]
    rows = np.arange(200)
    given = p[rows, arms]
    design = np.column_stack([np.ones(200), log["contexts"]])
    fits = {"plain": np.ones(200), "mrdr": pi[rows, arms] ** 2 * (1 - given) / given**2}
    q = {}
    for name, importance in fits.items():
        # Two blocks: the first is predicted by nothing, the second from the first.
        q[name] = np.zeros((200, 2))
        prior = np.array([y[:100].mean(), 0.0])
        for arm in range(2):
            use = (rows < 100) & (arms == arm)
            s, w = design[use], importance[use]
            slope = np.linalg.solve(s.T @ (w[:, None] * s) + 0.5 * np.eye(2), s.T @ (w * (y[use] - s @ prior)))
            q[name][100:, arm] = design[100:] @ (prior + slope)
    weights = pi[rows, arms] / given
    for name, predictions in (("dm", q["plain"]), ("dr", q["plain"]), ("mrdr", q["mrdr"])):
        residual = 0 if name == "dm" else weights * (y - predictions[rows, arms])
        expected = ((pi * predictions).sum(axis=1) + residual).mean()
        assert found[name].estimate == pytest.approx(expected, abs=1e-9), name


def test_intervals_by_definition() -> None:
    log = bent(400, 4)
    weights = np.where(in_the_middle(log["contexts"]) == log["arms"], 1.0, 0.0)
    terms = weights / log["propensities"][np.arange(400), log["arms"]] * log["rewards"]
    found = rarely.evaluate(log, in_the_middle, estimators="ips", error_probability=0.05)["ips"]
    from scipy import stats

    half = stats.t.ppf(0.975, 399) * terms.std(ddof=1) / 20
    assert (found.lower, found.upper) == pytest.approx((terms.mean() - half, terms.mean() + half), abs=1e-9)
    assert (found.degrees, found.standard_error) == pytest.approx((399, terms.std(ddof=1) / 20))
    weighed = rarely.evaluate(log, in_the_middle, estimators="ips").weights[0]
    w = weights / log["propensities"][np.arange(400), log["arms"]]
    assert weighed.effective_rows == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert (weighed.largest_weight, weighed.mean_weight) == pytest.approx((w.max(), w.mean()))
    inverse = (log["arms"] == 1) / log["propensities"][:, 1]
    assert weighed.arms["mean_inverse"][1] == pytest.approx(inverse.mean())
    assert weighed.arms["standard_error"][1] == pytest.approx(inverse.std(ddof=1) / 20)


# Forms of policies and logs


def test_every_form_of_a_policy() -> None:
    log = bent(600, 5)
    x = log["contexts"]
    chosen = (x[:, 0] > 0).astype(int)
    held = rarely.Policy(2, 1, deployed=[[0.0], [1.0]], explore="none")

    class Classifier:
        classes_ = np.array([1, 0])

        def predict_proba(self, X: Array) -> Array:
            return np.column_stack([X[:, 0] > 0, X[:, 0] <= 0]).astype(float)

    class Regressor:
        def predict(self, X: Array) -> Any:
            return [int(value > 0) for value in X[:, 0]]

    forms: list[Any] = [
        np.eye(2)[chosen],
        chosen,
        chosen.tolist(),
        chosen.astype(float),
        chosen == 1,
        lambda X: X[:, 0] > 0,
        lambda X: np.eye(2)[(X[:, 0] > 0).astype(int)],
        held,
        Classifier(),
        Regressor(),
    ]
    expected = rarely.evaluate(log, forms[0])
    for form in forms[1:]:
        assert rarely.evaluate(log, form) == expected
    assert rarely.evaluate(log, 1)["ips"] == rarely.evaluate(log, np.ones(600))["ips"]
    difference = rarely.evaluate(log, chosen, against=forms[7])
    assert difference.kind == "difference" and all(value.estimate == 0 for value in difference.values)
    # The log's own policy is worth the mean reward.
    assert rarely.evaluate(log, "logging")["ips"].estimate == pytest.approx(log["rewards"].mean())
    gain = rarely.evaluate(log, chosen, against="logging")["dr"].estimate
    one, other = rarely.evaluate(log, chosen)["dr"].estimate, rarely.evaluate(log, "logging")["dr"].estimate
    assert gain == pytest.approx(one - other, abs=1e-12)


def test_frames_by_the_names_of_their_columns() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    log = bent(300, 6)
    columns = {
        "x": log["contexts"][:, 0],
        "arm": log["arms"],
        "reward": log["rewards"],
        "propensity": log["propensities"][np.arange(300), log["arms"]],
        "p0": log["propensities"][:, 0],
        "p1": log["propensities"][:, 1],
    }
    whole = rarely.evaluate(log, in_the_middle)
    for frame in (pandas.DataFrame(columns), polars.DataFrame(columns), columns):
        one = rarely.evaluate(frame, lambda rows: in_the_middle(np.asarray(rows).reshape(-1, 1)), contexts=["x"])
        assert one == whole, "of two arms the propensity of one is enough"
        named = rarely.evaluate(
            frame,
            in_the_middle(log["contexts"]),
            contexts=["x"],
            arms="arm",
            rewards="reward",
            propensities=["p0", "p1"],
        )
        assert named == whole
    with pytest.raises(EvaluateError, match="no column 'q'") as caught:
        rarely.evaluate(pandas.DataFrame(columns), 1, propensities="q")
    assert "propensity" in said(caught.value)
    # A function of a frame gets a frame.
    seen = []
    rarely.evaluate(pandas.DataFrame(columns), lambda rows: seen.append(rows) or np.zeros(300), contexts=["x"])
    assert list(seen[0].columns) == ["x"]


DOCUMENT = """
policy = "middle"
options = ["watch", "treat"]
option_column = "arm"
outcome = { column = "reward", range = [0, 1] }

[[features]]
column = "x"
range = [-1, 1]

[evidence]
order = "any"
propensities = { watch = "p0", treat = "p1" }
minimum_propensity = 0.25

[rule]
threshold = { feature = "x", cuts = [0.2], options = ["watch", "treat"] }
"""


def test_policy_documents(tmp_path: Path) -> None:
    log = bent(500, 7)
    frame = {
        "x": log["contexts"][:, 0],
        "arm": np.where(log["arms"] == 1, "treat", "watch"),
        "reward": log["rewards"],
        "p0": log["propensities"][:, 0],
        "p1": log["propensities"][:, 1],
    }
    path = tmp_path / "middle.toml"
    path.write_text(DOCUMENT)
    chosen = (log["contexts"][:, 0] >= 0.2).astype(int)
    expected = rarely.evaluate(log, chosen)
    for document in (rarely.Document(DOCUMENT), path, str(path)):
        found = rarely.evaluate(frame, document)
        assert found["ips"] == expected["ips"] and found["snips"] == expected["snips"]
        # The document's contexts are scaled to its ranges, which the ridge penalty notices a little.
        assert found["dr"].estimate == pytest.approx(expected["dr"].estimate, abs=1e-3)
    assert rarely.evaluate(frame, chosen, against=path)["ips"].estimate == 0
    # What the document declares is enough for a certain interval.
    assert rarely.evaluate(frame, path, interval="empirical-bernstein")["dr"].standard == "certain"
    with pytest.raises(EvaluateError, match="declares no propensities"):
        rarely.evaluate(
            frame, rarely.Document(DOCUMENT.split("propensities")[0] + "\n[rule]" + DOCUMENT.split("[rule]")[1])
        )


# What is said, and what is refused


def test_what_an_evaluation_says() -> None:
    pandas = pytest.importorskip("pandas")
    log = bent(500, 8)
    found = rarely.evaluate(log, in_the_middle)
    assert "500 rows that count as" in repr(found) and "95 % intervals, approximate" in repr(found)
    assert "propensities are true" in repr(found["ips"]) and "model is right" in found["dm"].rests_on
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame["estimator"]) == list(rarely.ESTIMATORS)
    assert frame["estimate"][1] == found["ips"].estimate
    assert found.to_table().rows == 7 and "<table>" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)) == found
    assert "count as" in repr(found.weights[0])
    with pytest.raises(KeyError, match="no value by 'xyz'"):
        found["xyz"]
    certain = rarely.evaluate(
        log, in_the_middle, interval="empirical-bernstein", outcome_range=(0, 1), minimum_propensity=0.3
    )
    assert [value.estimator for value in certain.values] == ["ips", "dr", "mrdr"]
    for value in certain.values:
        assert (value.standard, value.timing) == ("certain", "planned") and "declared range" in value.rests_on
        assert 0 <= value.lower <= MIDDLE_VALUE <= value.upper <= 1
    anytime = rarely.evaluate(log, in_the_middle, interval="anytime", expected_cases=500)["dr"]
    assert (anytime.standard, anytime.timing) == ("approximate", "anytime")
    assert anytime.upper - anytime.lower > found["dr"].upper - found["dr"].lower
    again = [rarely.evaluate(log, 1, interval="bootstrap", resamples=200, seed=seed)["dr"].lower for seed in (3, 3, 4)]
    assert again[0] == again[1] != again[2]


def test_axes() -> None:
    pytest.importorskip("matplotlib").use("agg")
    found = rarely.evaluate(bent(300, 8), in_the_middle)
    ax = found.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == list(rarely.ESTIMATORS)
    assert found.plot(ax) is ax


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"propensities": np.zeros(100)}, "row 0: the propensity of the arm that was given is 0"),
        ({"propensities": np.full((100, 2), 0.6)}, "row 0: the propensities are no probabilities"),
        ({"propensities": np.full(99, 0.5)}, "100 arms, 100 rewards, 99 propensities"),
        ({"rewards": np.full(100, np.nan)}, "row 0: the reward"),
        ({"arms": -np.ones(100)}, "arm -1 does not exist"),
        ({"propensities": None}, "the log has no propensities"),
    ],
)
def test_logs_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    log = {"arms": np.arange(100) % 2, "rewards": np.ones(100), "propensities": np.full(100, 0.5), **changes}
    with pytest.raises((EvaluateError, errors.ObserveError), match=message):
        rarely.evaluate(log, 1, estimators="ips")


def test_what_is_refused() -> None:
    log = bent(400, 9)
    for wrong, message in [
        (np.full((400, 2), 0.4), "row 0: the probabilities of the policy are no probabilities"),
        (np.zeros(3), r"shape \(3,\), but the log has 400 rows"),
        ("nowhere.toml", "nowhere.toml"),
        (True, "policy is True"),
    ]:
        with pytest.raises(errors.Error, match=message):
            rarely.evaluate(log, wrong)
    with pytest.raises(EvaluateError, match="outcome_range and minimum_propensity"):
        rarely.evaluate(log, 1, interval="empirical-bernstein")
    declared = {"interval": "empirical-bernstein", "outcome_range": (0, 1), "minimum_propensity": 0.3}
    with pytest.raises(EvaluateError, match="snips has no interval that is certain"):
        rarely.evaluate(log, 1, estimators="snips", **declared)  # type: ignore[arg-type]
    with pytest.raises(EvaluateError, match="arm 1, whose propensity is 0.3, below the declared minimum of 0.4"):
        rarely.evaluate(log, 1, **{**declared, "minimum_propensity": 0.4})  # type: ignore[arg-type]
    with pytest.raises(EvaluateError, match="expected_cases"):
        rarely.evaluate(log, 1, interval="anytime")
    with pytest.raises(TypeError, match='no estimator "magic"'):
        rarely.evaluate(log, 1, estimators="magic")  # type: ignore[arg-type]
    with pytest.raises(EvaluateError, match="mrdr fits a model of its own"):
        rarely.evaluate(log, 1, estimators="mrdr", predictions=np.zeros((400, 2)))
    with pytest.raises(EvaluateError, match="decides by contexts, but the log has none"):
        rarely.evaluate({**log, "contexts": None}, in_the_middle)


def test_weights_that_cannot_be_trusted() -> None:
    log = bent(400, 10)
    certain = {**log, "propensities": np.ones(400)}
    with pytest.raises(EvaluateError, match="deterministic") as caught:
        rarely.evaluate(certain, 1)
    assert 'weights="warn"' in said(caught.value)
    turned = {**log, "propensities": log["propensities"][:, ::-1]}
    with pytest.raises(EvaluateError, match="propensities do not fit"):
        rarely.evaluate(turned, 1)
    few = {name: part[:40] for name, part in log.items()}
    with pytest.raises(EvaluateError, match="fewer than 30"):
        rarely.evaluate(few, 1)
    with pytest.warns(EvaluationWarning, match="fewer than 30"):
        warned = rarely.evaluate(few, 1, weights="warn")
    assert "fewer than 30" in warned.problems[0]
    # The model alone, and a certain interval, hold with few rows.
    rarely.evaluate(few, 1, estimators="dm")
    rarely.evaluate(few, 1, interval="empirical-bernstein", outcome_range=(0, 1), minimum_propensity=0.3)
