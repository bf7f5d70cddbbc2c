"""How often the intervals of `rarely.evaluate` miss, on obp's logs and on bent truths; and a rule that is no linear one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

import numpy as np
import pytest
import rarely
from bent import LOG_VALUE, MIDDLE_VALUE, Array, bent, in_the_middle, middle, softmax
from obp_parts import obp_parts
from rarely import errors


@pytest.fixture(scope="module")
def obp() -> Iterator[Callable[[str], Any]]:
    with obp_parts(("obp", "obp.ope", "obp.dataset")) as load:
        yield load


#: δ, and three standard errors of a share of 1,000 logs: 3·√(0.1·0.9/1000) = 0.0285.
DELTA, LOGS, AT_MOST = 0.1, 1000, 0.1285


def test_coverage_on_the_synthetic_logs_of_obp(obp: Callable[[str], Any]) -> None:
    synthetic = obp("obp.dataset.synthetic")
    data = synthetic.SyntheticBanditDataset(
        n_actions=4,
        dim_context=3,
        reward_type="binary",
        reward_function=synthetic.logistic_polynomial_reward_function,
        beta=1.0,
        random_state=12,
    )
    slopes = np.random.default_rng(2).normal(size=(3, 4))

    def policy(context: Array) -> Array:
        return softmax(1.5 * context @ slopes)

    large = data.obtain_batch_bandit_feedback(n_rounds=400_000)
    truth = (policy(large["context"]) * large["expected_reward"]).sum(axis=1).mean()
    logged = (large["pi_b"][:, :, 0] * large["expected_reward"]).sum(axis=1).mean()
    misses: dict[str, int] = {}
    for _ in range(LOGS):
        feedback = data.obtain_batch_bandit_feedback(n_rounds=300)
        feedback["pscore"] = feedback["pi_b"][:, :, 0]
        value = rarely.evaluate(feedback, policy, error_probability=DELTA, weights="warn")
        gain = rarely.evaluate(feedback, policy, against="logging", estimators=["ips", "dr"], error_probability=DELTA)
        certain = rarely.evaluate(
            feedback,
            policy,
            interval="empirical-bernstein",
            outcome_range=(0, 1),
            minimum_propensity=0.05,
            error_probability=DELTA,
        )
        for kind, found, true in (("t", value, truth), ("gain", gain, truth - logged), ("certain", certain, truth)):
            for one in found.values:
                name = f"{kind} {one.estimator}"
                misses[name] = misses.get(name, 0) + (not one.lower <= true <= one.upper)
    rates = {name: count / LOGS for name, count in misses.items()}
    print(rates)
    assert max(rate for name, rate in rates.items() if not name.endswith((" dm", "switch-dr"))) <= AT_MOST, rates
    assert all(rate <= DELTA for name, rate in rates.items() if name.startswith("certain")), rates


def test_the_direct_method_lies_where_weights_cover() -> None:
    """The advantage of the middle is invisible to a straight line."""
    misses: dict[str, int] = {}
    for seed in range(LOGS):
        found = rarely.evaluate(bent(300, seed), in_the_middle, against="logging", error_probability=DELTA, seed=seed)
        for value in found.values:
            missed = not value.lower <= MIDDLE_VALUE - LOG_VALUE <= value.upper
            misses[value.estimator] = misses.get(value.estimator, 0) + missed
    rates = {name: count / LOGS for name, count in misses.items()}
    print(rates)
    assert rates.pop("dm") > 0.9, "its interval does not know that the model is wrong"
    assert max(rates.values()) <= AT_MOST, rates


def test_bootstrap_and_anytime_intervals_cover() -> None:
    misses = {"bootstrap": 0, "anytime": 0}
    for seed in range(LOGS):
        log = bent(250, seed)
        drawn = rarely.evaluate(
            log,
            in_the_middle,
            estimators="snips",
            interval="bootstrap",
            resamples=300,
            error_probability=DELTA,
            seed=seed,
        )["snips"]
        misses["bootstrap"] += not drawn.lower <= MIDDLE_VALUE <= drawn.upper
        # Looked at four times, at different sizes.
        for size in (100, 150, 200, 250):
            early = {name: part[:size] for name, part in log.items()}
            one = rarely.evaluate(
                early, in_the_middle, estimators="dr", interval="anytime", expected_cases=200, error_probability=DELTA
            )["dr"]
            if not one.lower <= MIDDLE_VALUE <= one.upper:
                misses["anytime"] += 1
                break
    print({name: count / LOGS for name, count in misses.items()})
    # Percentiles of 300 resamples are off by half a percent at each end.
    assert misses["bootstrap"] / LOGS <= AT_MOST + 0.01 and misses["anytime"] / LOGS <= AT_MOST, misses


# A rule that is no linear one


def forest(log: dict[str, Any]) -> Any:
    """A forest for each arm; the rule takes the arm with the higher prediction."""
    from sklearn.ensemble import RandomForestRegressor

    models = []
    for arm in range(2):
        rows = log["arms"] == arm
        models.append(
            RandomForestRegressor(30, min_samples_leaf=20, random_state=1).fit(
                log["contexts"][rows], log["rewards"][rows]
            )
        )
    return lambda x: np.argmax([model.predict(x) for model in models], axis=0)


def test_the_gain_of_a_forest_says_what_it_assumes() -> None:
    """A forest with a gain well above 0 was judged by the linear model alone, which said that it loses."""
    train, log = bent(3000, 1), bent(3000, 2)
    rule = forest(train)
    policy = rarely.Policy(2, 2, "greedy", noise=0.5)
    design = np.column_stack([np.ones(3000), log["contexts"]])
    policy.observe(design, log["arms"], log["rewards"])
    held = policy.predict(design)
    fresh = np.random.default_rng(9).uniform(-1, 1, (100_000, 1))
    means = np.column_stack([np.full(len(fresh), 0.5), middle(fresh)])
    both = (rule(fresh), policy.predict(np.column_stack([np.ones(len(fresh)), fresh])))
    truth = float(np.subtract(*(means[np.arange(len(fresh)), arms].mean() for arms in both)))
    assert truth > 0.1
    with pytest.warns(errors.LinearModelWarning, match="linear model.*rarely.evaluate"):
        gain = policy.gain(rule(log["contexts"]), design)
    assert gain.upper < truth, "the linear model cannot see it"
    assert "linear in the context" in gain.assumes and "rarely.evaluate" in gain.assumes
    assert "assumes=" in repr(gain) and "rarely.evaluate" in str(rarely.Gain.__doc__)
    found = rarely.evaluate(log, rule, against=held)
    assert all(
        value.lower < truth < value.upper and value.lower > 0 for value in found.values if value.estimator != "dm"
    )
    # The gain of a linear rule says what it assumes, without a warning.
    assert "linear in the context" in policy.gain(policy.estimates_, design).assumes
