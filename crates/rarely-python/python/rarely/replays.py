"""Logs played again: by a document's rule, and by any algorithm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _rarely
from ._logs import EvaluationRows, read_log
from ._rarely import Policy
from .errors import EvaluateError, ExperimentError
from .policies import contestants
from .tables import Table
from .worlds import LogWorld

__all__ = ["LogReplay", "Replay", "played_log", "replay", "replay_log"]


@dataclass(frozen=True)
class Replay:
    """When a document's rule would have changed along a log, and what that would have been worth."""

    #: Rows of the log.
    rows: int
    #: A row for each change: after which row of the log, when, why, and its certified gain.
    changes: Table
    #: The rule at the end, as the document writes it.
    rule: dict[str, Any]
    #: The mean outcome that was logged.
    logged: dict[str, float]
    #: What the rule at the start is worth, held to the end: by the model, and by propensities where the log has them.
    held: dict[str, dict[str, Any]]
    #: What the rule as it would have changed is worth.
    replayed: dict[str, dict[str, Any]]

    def __repr__(self) -> str:
        return f"<rarely.Replay: {self.rows} rows, {self.changes.rows} changes>"


def replay(
    document: Any, log: Any, *, every: int = 100, propensity: Optional[str] = None, time: Optional[str] = None
) -> Replay:
    """Replays a log in time order, as ``rarely replay`` does, with the same numbers.

    The document's rule is reviewed after every ``every`` rows, and changed where that is justified. ``log`` is a file or a frame;
    ``propensity`` names the column with the probability of the option that was given, ``time`` the column by which rows are sorted
    (unless the document does; without one, rows stay in their order).
    """
    if every < 1:
        raise ExperimentError(f"every = {every}, but it is a number of rows", help="give a whole number from 1")
    found = _rarely.replay(document, log, every=every, propensity=propensity, time=time)
    changes = [
        {
            "row": change["row"],
            "time": change["time"],
            "cause": change["cause"],
            "gain": change["gain"]["estimate"],
            "gain_lower": change["gain"]["lower"],
            "gain_upper": change["gain"]["upper"],
            "changed_share": change["changed_share"],
            "from": change["from"],
            "to": change["to"],
        }
        for change in found["changes"]
    ]
    parts = (found[name] for name in ("rule", "logged", "held", "replayed"))
    return Replay(found["rows"], Table.of(changes), *parts)


@dataclass(frozen=True)
class LogReplay:
    """What algorithms would have earned on a log."""

    #: A row for each algorithm: its mean reward per accepted row with a 95 % interval, and how many rows were accepted. All are means over
    #: the runs.
    summary: Table
    #: A row for each run of each algorithm.
    runs: Table
    #: The probability with which every arm was accepted where a policy chose it as the log did.
    floor: float
    #: What the values rest on.
    assumes: str
    #: What was run: version, seed, command, and the noise that was declared to our algorithms with where it comes from.
    settings: dict[str, Any]

    def __repr__(self) -> str:
        values = ", ".join(f"{name} {value:.3g}" for name, value in zip(self.summary["name"], self.summary["value"]))
        return f"<rarely.LogReplay: {values}>"


def replay_log(
    log: Any,
    algorithms: Union[str, Iterable[Any]],
    *,
    contexts: Any = None,
    arms: Any = None,
    rewards: Any = None,
    propensities: Any = None,
    arm_count: Optional[int] = None,
    minimum_propensity: Optional[float] = None,
    runs: int = 5,
    seed: int = 1,
    command: Optional[str] = None,
    **settings: Any,
) -> LogReplay:
    """Lets algorithms that learn meet a log with propensities as if it were a world.

    A policy decides at each row. The row counts, and is learned, if the policy's arm is the logged one and a coin falls in its favour, with
    the probability floor / propensity; otherwise it is as if the row had not come. Then each policy meets people as they come and gets the
    arms that it chose, with the probability ``floor`` whichever arm that is: its mean reward over the accepted rows estimates what it would
    have earned in as many rounds, without bias. For a log of uniformly drawn arms this is the replay of Li et al. (2011); the coin corrects
    for propensities that differ. ``floor`` is ``minimum_propensity``, the least probability of any arm at any row; if it is not given, the
    least one in the log.

    The log and its parts are as in :func:`evaluate`; ``algorithms`` as in :func:`simulate`, and policies of :class:`Policy`. Names are built
    with ``settings``; their noise is estimated from the log unless it is given, and ``LogReplay.settings`` says so. The interval of a value is normal, from the accepted rows of one run: runs share their rows, so that more of them do
    not make it narrower.

    >>> import numpy as np, rarely
    >>> rng = np.random.default_rng(1)
    >>> arms = rng.integers(2, size=2000)
    >>> log = {"contexts": np.ones((2000, 1)), "arms": arms, "rewards": (rng.random(2000) < 0.3 + 0.4 * arms).astype(float),
    ...        "propensities": np.full(2000, 0.5)}
    >>> found = rarely.replay_log(log, ["thompson"], noise=0.5, runs=1)
    >>> bool(abs(found.summary["value"][0] - 0.7) < 0.05)
    True
    """
    if runs < 1:
        raise ExperimentError(f"runs = {runs}, but at least one is needed")
    rows = read_log(log, None, None, contexts=contexts, arms=arms, rewards=rewards, propensities=propensities)
    if rows.contexts is None:
        raise EvaluateError("the log has no contexts", help="give contexts=..., as an array or by the names of columns")
    chances, floor = _chances(rows, minimum_propensity)
    count = int(rows.arms.max(initial=0)) + 1 if arm_count is None else arm_count
    if rows.propensities.ndim == 2:
        count = rows.propensities.shape[1]
    source = None
    if settings.get("noise") is None:
        settings["noise"], source = _noise(rows, count), _NOISE_SOURCE
    players = contestants(_listed(algorithms), 1)
    records: list[dict[str, Any]] = []
    for run in range(runs):
        # The same coins for all, as in a simulation.
        luck = np.random.default_rng([seed, run, _COINS]).random(rows.count) < chances
        for player in players:
            name, policy = _player(player, (count, rows.contexts.shape[1], rows.count), (seed, run), settings)
            records.append(
                {"name": name, "run": run, **_played(policy, rows, luck, np.random.default_rng([seed, run, _DRAWS]))}
            )
    about = {
        "version": _rarely.__version__,
        "seed": seed,
        "command": command or f"rarely.replay_log(runs={runs}, seed={seed})",
    }
    summary, table = _summary(records), Table.of(records)
    summary.made_by = table.made_by = about
    own = {"runs": runs, "rows": rows.count, "declared_noise": settings.get("noise"), "declared_noise_source": source}
    return LogReplay(summary, table, floor, _ASSUMES, {**about, **own})


_NOISE_SOURCE = "estimated from the residuals of least squares for each arm"


def _noise(rows: EvaluationRows, arms: int) -> float:
    """The standard deviation of the rewards around least squares, for each arm."""
    assert rows.contexts is not None, "checked by the caller"
    squares, freedom = 0.0, 0
    for arm in range(arms):
        X, y = rows.contexts[rows.arms == arm], rows.rewards[rows.arms == arm]
        if len(y) > X.shape[1]:
            residuals = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
            squares, freedom = squares + float(residuals @ residuals), freedom + len(y) - int(np.linalg.matrix_rank(X))
    if not (freedom > 0 and squares > 0):
        raise EvaluateError(
            "the noise cannot be estimated from the log: too few rows, or no noise", help="give noise=..."
        )
    return float(np.sqrt(squares / freedom))


#: Settings of :func:`rarely.simulate` that mean something on a log, with what :class:`Policy` calls them.
_ON_A_LOG = {
    "declared_noise": "noise",
    "explore": "explore",
    "sets": "sets",
    "penalty": "penalty",
    "norm_bound": "norm_bound",
    "prior_mean": "prior_mean",
    "error_probability": "error_probability",
    "tolerance": "tolerance",
}


def played_log(world: LogWorld, settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> LogReplay:
    """A log as a world of :func:`rarely.simulate`. A setting that does nothing there is an error."""
    used = {*_ON_A_LOG, "algorithms", "runs", "seed", "progress", "threads"}
    for name, value in settings.items():
        if name not in used and value is not defaults[name] and value != defaults[name]:
            raise ExperimentError(f"{name} does nothing where a log is replayed", help=f"leave out {name}")
    told = {own: settings[name] for name, own in _ON_A_LOG.items() if settings[name] is not None}
    if told.get("norm_bound") == "auto":
        raise ExperimentError('norm_bound = "auto", but nobody knows the true norm of a log', help="give a number")
    algorithms = settings["algorithms"]
    if algorithms == "all":
        algorithms = [name for name in _rarely.ALGORITHMS if name not in _NOT_ON_A_LOG]
    given = [f"{name}={settings[name]!r}" for name in (*_ON_A_LOG, "runs", "seed") if settings[name] != defaults[name]]
    command = f"rarely.simulate({', '.join([repr(world), *given])})"
    return replay_log(
        world.log, algorithms, runs=settings["runs"], seed=settings["seed"], command=command, **world.parts, **told
    )


#: They need a baseline, or outcomes from 0 to 1.
_NOT_ON_A_LOG = ("clucb", "clucb2", "logistic-thompson", "rs-glincb")

#: Streams of their own: a log that was drawn from the same seed must not share its random numbers with the coins. They are not 0 or small,
#: because numpy takes [1, 0] and 1 for the same seed.
_COINS, _DRAWS = 0x11_2011, 0x11_2012

_ASSUMES = (
    "the propensities are the true ones, at least the floor for every arm at every row, and a row does not depend on what was done at earlier "
    "rows"
)


def _chances(rows: EvaluationRows, minimum: Optional[float]) -> tuple[npt.NDArray[np.float64], float]:
    """The probability with which a match is accepted, row by row, and the floor."""
    table = rows.propensities
    given = table if table.ndim == 1 else table[np.arange(rows.count), rows.arms]
    if not (given > 0).all() or not (given <= 1).all():
        raise EvaluateError(
            f"row {int(np.argmax(~((given > 0) & (given <= 1))))} has a propensity that is not above 0 and at most 1"
        )
    floor = float(table.min()) if minimum is None else minimum
    if not 0 < floor <= given.min():
        raise EvaluateError(
            f"the least propensity is {float(given.min())}, the floor {floor}",
            help="give minimum_propensity: the least probability of any arm at any row, above 0",
        )
    return floor / given, floor


def _listed(algorithms: Union[str, Iterable[Any]]) -> list[Any]:
    given: Sequence[Any] = algorithms.split(",") if isinstance(algorithms, str) else list(algorithms)
    # A policy of ours decides with its own random numbers, which `contestants` does not know.
    return [_Ours(each) if isinstance(each, Policy) else each for each in given]


class _Ours:
    """A policy of ours, as one from outside."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.name = policy.algorithm

    def __deepcopy__(self, memo: Any) -> _Ours:
        return _Ours(Policy.from_bytes(self.policy.to_bytes()))

    def decide(self, X: Any) -> Any:
        return self.policy.decide(X)[0]

    def observe(self, X: Any, arms: Any, rewards: Any) -> None:
        self.policy.observe(X, arms, rewards)


def _player(
    player: Any, size: tuple[int, int, int], luck: tuple[int, int], settings: dict[str, Any]
) -> tuple[str, Any]:
    arms, dimension, rounds = size
    if isinstance(player, str):
        own = dict(settings)
        own.setdefault("seed", int(np.random.SeedSequence(luck).generate_state(1)[0]))
        return player, _Ours(Policy(arms, dimension, player, **own))  # type: ignore[arg-type]
    name, make, _ = player
    return name, make(arms, dimension, rounds, *luck)


def _played(policy: Any, rows: EvaluationRows, luck: npt.NDArray[np.bool_], rng: np.random.Generator) -> dict[str, Any]:
    """What a policy earns, row by row."""
    earned = []
    contexts = rows.contexts
    assert contexts is not None, "checked by the caller"
    for row in range(rows.count):
        context = contexts[row : row + 1]
        answer = np.asarray(policy.decide(context))
        arm = int(answer[0]) if answer.ndim == 1 else int(rng.choice(answer.shape[1], p=answer[0]))
        if arm == rows.arms[row] and luck[row]:
            earned.append(rows.rewards[row])
            policy.observe(context, rows.arms[row : row + 1], rows.rewards[row : row + 1])
    value, error = float("nan"), float("nan")
    if earned:
        value = float(np.mean(earned))
    if len(earned) > 1:
        error = float(np.std(earned, ddof=1) / np.sqrt(len(earned)))
    return {"accepted": len(earned), "value": value, "standard_error": error}


def _summary(records: list[dict[str, Any]]) -> Table:
    names = list(dict.fromkeys(record["name"] for record in records))
    summary = []
    for name in names:
        own = [record for record in records if record["name"] == name]
        value, error = (float(np.mean([record[part] for record in own])) for part in ("value", "standard_error"))
        accepted = float(np.mean([record["accepted"] for record in own]))
        low, high = value - 1.96 * error, value + 1.96 * error
        summary.append({"name": name, "value": value, "lower": low, "upper": high, "accepted": accepted})
    return Table.of(summary)
