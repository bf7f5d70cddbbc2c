"""scikit-learn for real: its own checks, pipelines, searches, frames by name."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import rarely
from rarely import errors

sklearn = pytest.importorskip("sklearn", minversion="1.6")
from rarely.sklearn import PolicyClassifier  # noqa: E402

#: Checks that cannot apply, each with the reason. None fails.
SKIPPED = {
    "check_array_api_input": "needs SCIPY_ARRAY_API in the environment before scipy is imported; the policy takes numpy arrays"
}


def log(rows: int, seed: int) -> tuple[Any, Any, Any, Any]:
    """A randomised log: contexts, arms, rewards, propensities."""
    world = np.random.default_rng(seed)
    X = world.random((rows, 2))
    arms = world.integers(0, 2, rows)
    rewards = np.where(arms == 1, X[:, 0], 0.5) + 0.1 * world.normal(size=rows)
    return X, arms, rewards, np.full(rows, 0.5)


def test_the_checks_of_sklearn() -> None:
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(PolicyClassifier(), on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed
    others = {result["check_name"] for result in results if result["status"] != "passed"}
    assert others <= set(SKIPPED) and len(results) > 50


def test_a_pipeline_with_a_policy_itself() -> None:
    from sklearn.base import clone
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    X, arms, rewards, _ = log(500, 1)
    pipeline = Pipeline([("scale", StandardScaler()), ("policy", rarely.Policy(2, 2, "greedy", noise=0.1))])
    copied = clone(pipeline)
    pipeline.fit(X, arms, policy__rewards=rewards)
    assert pipeline["policy"].rounds_ == 500 and copied["policy"].rounds_ == 0
    assert set(pipeline.predict(X)) == {0, 1}
    pipeline.set_params(policy=rarely.Policy(2, 2), scale__with_mean=False)
    assert pipeline.get_params()["policy__algorithm"] == "rarely"


def test_a_search_over_settings_by_the_value_of_the_log() -> None:
    from sklearn import config_context
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, arms, rewards, propensities = log(900, 2)
    with config_context(enable_metadata_routing=True):
        policy = (
            PolicyClassifier(noise=0.1).set_fit_request(rewards=True).set_score_request(rewards=True, propensities=True)
        )
        search = GridSearchCV(
            make_pipeline(StandardScaler(), policy),
            {"policyclassifier__penalty": [0.01, 1e6]},
            cv=3,
            error_score="raise",
        )
        words = np.where(arms == 1, "treat", "wait")
        search.fit(X, words, rewards=rewards, propensities=propensities)
    # With a penalty of a million nothing is learned, and everybody gets the first class, worth about 0.5; the best rule is worth 0.625.
    assert search.best_params_ == {"policyclassifier__penalty": 0.01}
    assert search.best_score_ == pytest.approx(0.625, abs=0.03)
    assert set(search.predict(X)) == {"treat", "wait"}


def test_pandas_in_pandas_out() -> None:
    pandas = pytest.importorskip("pandas")
    X, arms, rewards, _ = log(300, 3)
    frame = pandas.DataFrame(X, columns=["age", "dose"], index=np.arange(300) + 1000)
    fitted = PolicyClassifier(noise=0.1).set_output(transform="pandas").fit(frame, arms, rewards)
    out = fitted.transform(frame)
    assert list(out.columns) == ["reward_0", "reward_1"] and list(out.index) == list(frame.index)
    assert list(fitted.feature_names_in_) == ["age", "dose"] and fitted.n_features_in_ == 2
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[["dose", "age"]])


def test_a_policy_itself_gives_frames() -> None:
    from sklearn import config_context
    from sklearn.base import clone
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, arms, rewards, _ = log(300, 3)
    frame = pandas.DataFrame(X, columns=["age", "dose"], index=np.arange(300) + 1000)
    policy = rarely.Policy(2, 2, "greedy", noise=0.1).fit(frame, arms, rewards)
    plain = policy.transform(X)
    assert isinstance(plain, np.ndarray) and np.allclose(plain, X @ policy.estimates_.T)
    assert policy.set_output(transform="pandas") is policy
    out = policy.transform(frame)
    assert list(out.columns) == ["reward_0", "reward_1"] and list(out.index) == list(frame.index)
    assert np.array_equal(out.to_numpy(), plain)
    assert np.array_equal(policy.transform(frame[["dose", "age"]]).to_numpy(), plain), "columns by name"
    for copied in (clone(policy), policy.copy()):
        copied.fit(frame, arms, rewards)
        assert isinstance(copied.transform(frame), pandas.DataFrame)
    assert isinstance(policy.set_output(transform="polars").transform(frame), polars.DataFrame)
    assert isinstance(policy.set_output(transform="default").transform(frame), np.ndarray)
    with config_context(transform_output="pandas"):
        assert isinstance(rarely.Policy(2, 2, "greedy").fit(X, arms, rewards).transform(X), pandas.DataFrame)
    with pytest.raises(errors.SettingsError, match="choose one of"):
        policy.set_output(transform="arrow")  # type: ignore[arg-type]
    pipeline = Pipeline([("scale", StandardScaler()), ("policy", rarely.Policy(2, 2, "greedy", noise=0.1))])
    pipeline.set_output(transform="pandas").fit(frame, arms, policy__rewards=rewards)
    assert list(pipeline.transform(frame).index) == list(frame.index)
    logistic = rarely.Policy(2, 2, "logistic-thompson").fit(X, arms, (rewards > 0.5).astype(float))
    assert ((logistic.transform(X) > 0) & (logistic.transform(X) < 1)).all()


def test_columns_of_a_policy_by_name() -> None:
    """Reordered columns were taken by position."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, arms, rewards, _ = log(300, 4)
    for library in (pandas, polars):
        frame = library.DataFrame({"age": X[:, 0], "dose": X[:, 1]})
        turned = frame[["dose", "age"]]
        policy = rarely.Policy(2, 2, "greedy", noise=0.1)
        with pytest.raises(AttributeError, match="named columns"):
            policy.feature_names_in_  # noqa: B018
        policy.observe(frame, arms, rewards)
        assert list(policy.feature_names_in_) == ["age", "dose"] and policy.n_features_in_ == 2
        expected = policy.predict(frame)
        assert len(set(expected)) == 2
        for rows in (turned, X):
            assert (policy.predict(rows) == expected).all()
            assert (policy.decide(rows)[0] == expected).all()
            assert (policy.intervals(rows) == policy.intervals(X)).all()
            assert policy.gain(policy, rows).estimate == 0
        both = (
            rarely.Policy(2, 2, "greedy", noise=0.1)
            .partial_fit(frame, arms, rewards)
            .partial_fit(turned, arms, rewards)
        )
        twice = rarely.Policy(2, 2, "greedy", noise=0.1).partial_fit(X, arms, rewards).partial_fit(X, arms, rewards)
        assert both.digest == twice.digest
        for copied in (pickle.loads(pickle.dumps(policy)), policy.copy()):
            assert list(copied.feature_names_in_) == ["age", "dose"]
        with pytest.raises(errors.ContextError, match="no column 'dose', a column 'weight'"):
            policy.predict(library.DataFrame({"age": X[:, 0], "weight": X[:, 1]}))
    assert list(policy.fit(X, arms, rewards).predict(X)) == list(expected)
    assert not hasattr(policy, "feature_names_in_"), "fit begins afresh"


def test_tags() -> None:
    from sklearn.utils import get_tags

    tags = get_tags(rarely.Policy(2, 2))
    assert tags.target_tags.required and not tags.input_tags.allow_nan
    assert get_tags(PolicyClassifier()).estimator_type == "classifier"


def test_pickles_of_changes_and_gains() -> None:
    X, arms, rewards, _ = log(2000, 5)
    X = np.column_stack([np.ones(2000), X[:, 0]])
    policy = rarely.Policy(2, 2, noise=0.1, norm_bound=2.0)
    policy.observe(X, arms, rewards)
    change = policy.versions[-1]
    gain = policy.gain(policy.estimates_, X)
    assert change.certificate is not None
    for thing in (change, change.certificate, change.certificate.gain, gain):
        copied = pickle.loads(pickle.dumps(thing))
        assert copied == thing and repr(copied) == repr(thing) and type(copied) is type(thing)
    assert pickle.loads(pickle.dumps(change)).to_dict() == change.to_dict()
    with pytest.raises(errors.RestoreError, match="damaged"):
        rarely.Change.from_bytes(b"{}")


def test_notebook_views() -> None:
    X, arms, rewards, _ = log(2000, 5)
    policy = rarely.Policy(2, 2, noise=0.1, norm_bound=2.0)
    policy.observe(np.column_stack([np.ones(2000), X[:, 0]]), arms, rewards)
    assert "<table>" in policy._repr_html_() and "<li>" in policy._repr_html_()
    change = policy.versions[-1]
    assert "Change" in change._repr_html_() and change.certificate is not None
    assert "<pre>" in change.certificate._repr_html_()
    assert "linear in the context" in policy.gain(policy.estimates_, X)._repr_html_()
    assert "rarely.Policy" in rarely.Policy(2, 1, "random")._repr_html_()


def test_a_figure_on_axes() -> None:
    pytest.importorskip("matplotlib").use("agg")
    found = rarely.simulate(rounds=50, runs=1, algorithms=["rarely"], progress=False)
    ax = found.figure.plot()
    assert len(ax.images) == 1 and found.figure.plot(ax) is ax
