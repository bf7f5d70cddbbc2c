"""Off-policy evaluation: what any policy is worth on a log with propensities, and how sure that is."""

from __future__ import annotations

import html
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _rarely
from ._logs import EvaluationRows, policy_probabilities, read_log
from .errors import EvaluateError, EvaluationWarning
from .tables import Table

if TYPE_CHECKING:
    import pandas

__all__ = ["ESTIMATORS", "Evaluation", "PolicyValue", "PolicyWeights", "evaluate"]

EstimatorName = Literal["dm", "ips", "snips", "dr", "sndr", "switch-dr", "mrdr"]
IntervalName = Literal["t", "bootstrap", "empirical-bernstein", "anytime"]
Numbers = npt.NDArray[np.float64]

#: Every estimator: direct method, inverse propensities, self-normalised, doubly robust, self-normalised doubly robust, SWITCH-DR, MRDR.
ESTIMATORS: tuple[EstimatorName, ...] = ("dm", "ips", "snips", "dr", "sndr", "switch-dr", "mrdr")


@dataclass(frozen=True)
class PolicyValue:
    """What a policy is worth per case by one estimator, or how much more than another, with an interval."""

    #: The estimator, one of ``rarely.ESTIMATORS``.
    estimator: str
    #: The mean reward per case, or the difference of two.
    estimate: float
    #: The lower end of its interval.
    lower: float
    #: The upper end.
    upper: float
    #: How far the interval can be trusted: "certain" or "approximate".
    standard: str
    #: What made the interval, in words.
    method: str
    #: When it holds: "planned" (at this log, read once) or "anytime".
    timing: str
    #: The standard error of the estimate.
    standard_error: Optional[float]
    #: Degrees of freedom of the t interval.
    degrees: Optional[float]
    #: What the interval rests on, in words.
    rests_on: str

    def __repr__(self) -> str:
        ends = f"{self.estimate:.4f} ({self.lower:.4f} to {self.upper:.4f})"
        return f"<rarely.PolicyValue: {self.estimator} {ends}; {self.standard}, {self.timing}, if {self.rests_on}>"


@dataclass(frozen=True)
class PolicyWeights:
    """The importance weights of a policy on a log, and what they leave of it."""

    #: Rows of the log.
    rows: int
    #: Rows with a weight above 0.
    weighted_rows: int
    #: Rows of equal weight that they count as (Kish's effective sample size).
    effective_rows: float
    #: The largest weight.
    largest_weight: float
    #: The mean weight: about 1 if the propensities are true.
    mean_weight: float
    #: Its standard error.
    standard_error: float
    #: A row for each arm: how many rows got it, the mean over all rows of 1/p where it was given (about ``expected``), effective rows.
    arms: Table

    def __repr__(self) -> str:
        return (
            f"<rarely.PolicyWeights: {self.rows} rows count as {self.effective_rows:.1f}, "
            f"largest weight {self.largest_weight:.4g}, mean weight {self.mean_weight:.4g}>"
        )


@dataclass(frozen=True)
class Evaluation:
    """What :func:`evaluate` found: a value for each estimator, and the weights that they rest on. In a notebook it is a table."""

    #: One for each estimator.
    values: tuple[PolicyValue, ...]
    #: Whether the values are those of a policy ("value"), or of one policy less another ("difference").
    kind: Literal["value", "difference"]
    #: The weights of the policy and, for a difference, of the other one.
    weights: tuple[PolicyWeights, ...]
    #: Rows of the log.
    rows: int
    #: The error probability of each interval.
    error_probability: float
    #: What is wrong with the weights, if ``weights="warn"`` let it pass.
    problems: tuple[str, ...] = field(default=())

    def __getitem__(self, estimator: str) -> PolicyValue:
        for value in self.values:
            if value.estimator == estimator:
                return value
        known = ", ".join(value.estimator for value in self.values)
        raise KeyError(f"no value by {estimator!r}; there are {known}")

    def to_table(self) -> Table:
        """A row for each estimator."""
        names = [name for name in PolicyValue.__dataclass_fields__]
        return Table.of({name: getattr(value, name) for name in names} for value in self.values)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each estimator, as a pandas frame."""
        return self.to_table().to_pandas()

    def plot(self, ax: Any = None) -> Any:
        """Draws the estimates with their intervals on matplotlib axes, and returns the axes."""
        from ._axes import axes

        ax = axes(ax)
        places = np.arange(len(self.values))[::-1]
        for place, value in zip(places, self.values):
            dashes = "-" if value.standard == "certain" else "--"
            ax.plot([value.lower, value.upper], [place, place], dashes, color="0.3")
            ax.plot([value.estimate], [place], "o", color="0.1")
        ax.set_yticks(places, [value.estimator for value in self.values])
        ax.set_xlabel("difference in reward per case" if self.kind == "difference" else "reward per case")
        return ax

    def __repr__(self) -> str:
        values = ", ".join(
            f"{value.estimator} {value.estimate:.4f} ({value.lower:.4f} to {value.upper:.4f})" for value in self.values
        )
        effective = " and ".join(f"{weights.effective_rows:.0f}" for weights in self.weights)
        sure = f"{100 * (1 - self.error_probability):g} % intervals, {self.values[0].standard}" if self.values else ""
        return (
            f"<rarely.Evaluation: {self.kind} per case, {self.rows} rows that count as {effective}; {values}; {sure}>"
        )

    def _repr_html_(self) -> str:
        warned = "".join(f"<p>{html.escape(problem)}</p>" for problem in self.problems)
        return f"<p>{html.escape(repr(self))}</p>{self.to_table()._repr_html_()}{warned}"


def evaluate(
    log: Any,
    policy: Any,
    *,
    against: Any = None,
    contexts: Any = None,
    arms: Any = None,
    rewards: Any = None,
    propensities: Any = None,
    predictions: Any = None,
    estimators: Union[EstimatorName, Iterable[EstimatorName], None] = None,
    interval: IntervalName = "t",
    error_probability: float = 0.05,
    outcome_range: Optional[tuple[float, float]] = None,
    minimum_propensity: Optional[float] = None,
    expected_cases: Optional[int] = None,
    penalty: float = 0.01,
    folds: int = 5,
    switch_threshold: Optional[float] = None,
    resamples: int = 2000,
    seed: int = 0,
    weights: Literal["refuse", "warn"] = "refuse",
) -> Evaluation:
    """What `policy` is worth per case on a log that another policy made, or how much more it is worth than `against`.

    Parameters
    ----------
    log : mapping of arrays, or data frame
        A mapping has ``contexts`` (n × d, optional), ``arms``, ``rewards`` and ``propensities``: of the arm that was given (n), or of every
        arm (n × k). The names of the Open Bandit Pipeline (``context``, ``action``, ``reward``, ``pscore``) do too. Of a frame, `arms`, `rewards`,
        `propensities` and `contexts` name the columns; they may also be arrays. For a policy document the document names them.
    policy, against
        Probabilities of every arm (n × k), an arm for each row, one arm for all, a function of the contexts that returns either, a
        :class:`rarely.Policy` (the rule in force, without exploration), a classifier with ``predict_proba`` or ``predict`` whose classes are arms,
        a :class:`rarely.Document` or its path. `against` may also be ``"logging"``, the log's own policy.
    estimators
        Of ``rarely.ESTIMATORS``; all that apply if left out.
    predictions : array of n × k, optional
        Rewards of every arm as a model of yours predicts them, from other rows. Without it, ridge regressions of each arm on the
        contexts are fitted here: cross-fitted in random `folds` or, for intervals that follow the log row by row ("empirical-bernstein" and "anytime"), from
        the blocks before a row's own.
    interval
        ``"t"`` and ``"bootstrap"`` (percentiles of `resamples`, from `seed`) are approximate, for a log that is read once.
        ``"empirical-bernstein"`` is certain if outcomes are within `outcome_range` and every arm that the policies give (or give differently) had at
        least `minimum_propensity`, both declared, never taken from the log; it needs the propensities of every arm, and holds at any time if
        `expected_cases` is given. ``"anytime"`` holds at any time, approximately, and is sharpest at `expected_cases`.
    switch_threshold : float, optional
        The weight above which SWITCH-DR trusts the model; √n if left out.
    weights
        Whether weights that cannot be trusted are refused or warned of: propensities that do not fit, arms that could not have been
        given, or rows that count as fewer than 30.

    Examples
    --------
    >>> import numpy as np, rarely
    >>> world = np.random.default_rng(1)
    >>> x = world.random((2000, 1))
    >>> arms = world.integers(0, 2, 2000)
    >>> rewards = (world.random(2000) < np.where(arms == 1, x[:, 0], 0.4)).astype(float)
    >>> log = {"contexts": x, "arms": arms, "rewards": rewards, "propensities": np.full(2000, 0.5)}
    >>> found = rarely.evaluate(log, lambda x: x[:, 0] > 0.4, against="logging")
    >>> found["dr"].lower < 0.13 < found["dr"].upper, found["dr"].standard
    (True, 'approximate')
    """
    rows = read_log(log, policy, against, contexts=contexts, arms=arms, rewards=rewards, propensities=propensities)
    predicted = None if predictions is None else np.ascontiguousarray(np.asarray(predictions), dtype=np.float64)
    wanted, other, count = _both(rows, policy, against, predicted)
    if predicted is not None and predicted.shape != (rows.count, count):
        raise EvaluateError(
            f"predictions have the shape {predicted.shape}", help=f"give {rows.count} rows of {count} arms"
        )
    names = _estimators(estimators, interval, predicted is not None)
    found, weighed, problems = _rarely.evaluate(
        rows.arms,
        rows.rewards,
        rows.propensities,
        wanted,
        other,
        rows.contexts,
        predicted,
        list(names),
        interval,
        error_probability=error_probability,
        penalty=penalty,
        folds=folds,
        switch_threshold=switch_threshold,
        outcome_range=outcome_range if outcome_range is not None else rows.outcome_range,
        minimum_propensity=minimum_propensity if minimum_propensity is not None else rows.minimum_propensity,
        expected_cases=expected_cases,
        resamples=resamples,
        seed=seed,
    )
    kept = _problems(problems, names, interval, weights, against is not None)
    return Evaluation(
        tuple(_value(row) for row in found),
        "value" if against is None else "difference",
        tuple(_weights(row) for row in weighed),
        rows.count,
        error_probability,
        kept,
    )


def _both(
    rows: EvaluationRows, policy: Any, against: Any, predictions: Optional[Numbers]
) -> tuple[Numbers, Optional[Numbers], int]:
    """The probabilities of both policies, with as many arms as anything names."""
    wanted = policy_probabilities(policy, rows, "policy")
    other = None if against is None else policy_probabilities(against, rows, "against")
    widths = [given.shape[1] for given in (wanted, other, predictions) if given is not None and given.ndim == 2]
    if rows.propensities.ndim == 2:
        widths.append(rows.propensities.shape[1])
    count = max([2, int(rows.arms.max(initial=0)) + 1, *widths, *([rows.arm_count] if rows.arm_count else [])])
    for given in (line for line in (wanted, other) if line is not None and line.ndim == 1):
        count = max(count, int(given.max(initial=0)) + 1)
    return _matrix(wanted, count), None if other is None else _matrix(other, count), count


def _matrix(given: Numbers, count: int) -> Numbers:
    """Arms as probabilities of `count` arms; probabilities as they are."""
    if given.ndim == 2:
        return np.ascontiguousarray(given, dtype=np.float64)
    matrix = np.zeros((len(given), count))
    matrix[np.arange(len(given)), given.astype(np.int64)] = 1.0
    return matrix


def _estimators(given: Union[str, Iterable[str], None], interval: str, has_predictions: bool) -> tuple[str, ...]:
    if given is None:
        names: Sequence[str] = ("ips", "dr", "mrdr") if interval == "empirical-bernstein" else ESTIMATORS
        return tuple(name for name in names if not (has_predictions and name == "mrdr"))
    chosen = (given,) if isinstance(given, str) else tuple(given)
    if has_predictions and "mrdr" in chosen:
        raise EvaluateError(
            "mrdr fits a model of its own, but predictions were given",
            help="leave out one of them; dr with predictions of a model that was fitted so is the same",
        )
    return chosen


def _problems(
    problems: list[tuple[int, bool, str, str]],
    estimators: Sequence[str],
    interval: str,
    weights: str,
    difference: bool,
) -> tuple[str, ...]:
    """What is wrong with the weights: raised, or warned of and returned."""
    if weights not in ("refuse", "warn"):
        raise TypeError(f'weights is {weights!r}, but must be "refuse" or "warn"')
    if all(name == "dm" for name in estimators):
        return ()
    certain = interval == "empirical-bernstein"
    concerned = [(at, text, remedy) for at, approximate, text, remedy in problems if not (approximate and certain)]
    labels = ("policy: ", "against: ") if difference else ("", "")
    if concerned and weights == "refuse":
        at, text, remedy = concerned[0]
        raise EvaluateError(labels[at] + text, help=f'{remedy}; or give weights="warn", to see the values nevertheless')
    kept = tuple(labels[at] + text for at, text, _ in concerned)
    for text in kept:
        warnings.warn(text, EvaluationWarning, stacklevel=3)
    return kept


def _value(row: tuple[Any, ...]) -> PolicyValue:
    estimator, estimate, lower, upper, standard, method, timing, error, degrees, rests_on = row
    return PolicyValue(estimator, estimate, lower, upper, standard, method, timing, error, degrees, rests_on)


def _weights(row: tuple[Any, ...]) -> PolicyWeights:
    rows, weighted, effective, largest, mean, error, arms = row
    names = ("rows", "mean_inverse", "standard_error", "expected", "effective_rows", "largest_inverse")
    # Lists, so that two reports can be compared.
    columns: dict[str, Any] = {"arm": list(range(len(arms)))}
    columns.update({name: [arm[at] for arm in arms] for at, name in enumerate(names)})
    return PolicyWeights(rows, weighted, effective, largest, mean, error, Table(columns))
