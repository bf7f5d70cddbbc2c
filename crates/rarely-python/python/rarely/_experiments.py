"""What :func:`rarely.simulate`, :func:`rarely.sweep` and :func:`rarely.frontier` share: their settings, and how one is started."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Optional, Protocol, TypedDict, Union

from . import _rarely
from ._names import AlgorithmName, DelayName, EnvironmentName, ProfileName, SetsName
from .errors import ExperimentError
from .policies import Named, contestants, policy_name
from .progress import Progress, Watcher
from .tables import Table
from .worlds import LogWorld, World

__all__ = ["AlgorithmChoice", "ExperimentSettings", "Path", "check_ranges", "complete", "run", "shared_parts"]

Path = Union[str, "os.PathLike[str]"]


class _Decides(Protocol):
    """A policy of your own."""

    def decide(self, X: Any, /) -> Any: ...
    def observe(self, X: Any, arms: Any, rewards: Any, /) -> Any: ...


class _Fits(Protocol):
    """An estimator of scikit-learn, or of a library like it."""

    def fit(self, X: Any, y: Any, /) -> Any: ...
    def predict(self, X: Any, /) -> Any: ...


#: One algorithm: a name of the table, or a policy of your own. A type checker finds a misspelt name.
_Algorithm = Union[AlgorithmName, Named, _Decides, _Fits, type[Any], Callable[[Any], Any]]
AlgorithmChoice = Union[Literal["all"], AlgorithmName, Iterable[_Algorithm]]


class ExperimentSettings(TypedDict, total=False):
    """The settings of every experiment. :func:`rarely.simulate` says what they mean."""

    arms: Optional[int]
    dimension: Optional[int]
    noise: Optional[float]
    strength: float
    table: Optional[Path]
    late: int
    missing: float
    drift: int
    batch: int
    rounds: Optional[int]
    runs: int
    algorithms: AlgorithmChoice
    block: int
    profile: ProfileName
    explore: Optional[str]
    sets: Optional[SetsName]
    delay: Optional[DelayName]
    penalty: Optional[float]
    declared_noise: Union[float, Literal["unknown", "unknown-per-arm"], None]
    norm_bound: Union[float, Literal["auto"], None]
    prior_mean: Optional[float]
    error_probability: Optional[float]
    tolerance: Optional[float]
    certificates: bool
    run_traces: bool
    seed: int
    threads: int
    out: Optional[Path]
    progress: Progress


#: What algorithms assume; ``None`` is the profile's.
_ASSUMPTIONS = (
    "profile",
    "explore",
    "sets",
    "delay",
    "penalty",
    "declared_noise",
    "norm_bound",
    "prior_mean",
    "error_probability",
    "tolerance",
)
#: Settings on which results do not depend.
_ELSEWHERE = ("threads", "out", "progress", "run_traces")

#: The settings, the tables by name, the figure and the text of an experiment.
_Found = tuple[dict[str, Any], dict[str, dict[str, Any]], Any, str]


def complete(name: str, given: Mapping[str, Any], of: Callable[..., Any], **own: Any) -> dict[str, Any]:
    """All settings: those given, this function's own defaults, and those of the function that documents them."""
    parameters = inspect.signature(of).parameters
    defaults = {each: parameters[each].default for each in ExperimentSettings.__annotations__}
    for each in given:
        if each not in defaults:
            raise TypeError(f"{name}() got an unexpected keyword argument {each!r}")
    return {**defaults, **own, **given}


def run(
    name: str,
    environment: Union[EnvironmentName, World],
    settings: Mapping[str, Any],
    defaults: Mapping[str, Any],
    vary: Optional[list[str]] = None,
) -> _Found:
    """Starts an experiment, and waits for it."""
    players = contestants(settings["algorithms"], settings["block"])
    given = _given(environment, settings)
    given["algorithms"] = players
    given["command"] = _call(name, environment, settings, defaults, vary)
    told = {each: settings[each] for each in _ASSUMPTIONS if settings[each] is not None}
    check_ranges(threads=(settings["threads"], 0, 1024))
    with Watcher({"simulate": "simulating", "sweep": "sweeping"}.get(name, name), settings["progress"]) as show:
        place = {**{each: settings[each] for each in ("threads", "out", "run_traces")}, "progress": show}
        if vary is not None:
            return _rarely.sweep(vary, given, told, place)
        return (_rarely.simulate if name == "simulate" else _rarely.frontier)(given, told, place)


def _given(environment: Union[EnvironmentName, World], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Where contexts and rewards come from, and how much is run."""
    rounds, runs, seed, table = (settings[each] for each in ("rounds", "runs", "seed", "table"))
    check_ranges(rounds=(rounds, 1, 10**9), runs=(runs, 1, 10**6), seed=(seed, 0, 2**64 - 1))
    given: dict[str, Any] = {"tables": None}
    for each in ("rounds", "runs", "seed", "table", "late", "missing", "drift", "batch", "certificates"):
        given[each] = settings[each]
    own = {"arms": 4, "dimension": 5, "noise": 0.1, "strength": 1.0}
    if table is None and isinstance(environment, str):
        chosen = {each: default if settings[each] is None else settings[each] for each, default in own.items()}
        return {**given, "environment": environment, **chosen}
    has = "the table" if table is not None else "the world"
    for each in own:
        if settings[each] is not None and (each, settings[each]) != ("strength", 1.0):
            raise ExperimentError(f"{each} is given, but {has} has its own", help=f"leave out {each}")
    if isinstance(environment, LogWorld):
        raise ExperimentError("a log is no world whose regret is known", help="use it with rarely.simulate alone")
    if isinstance(environment, World):
        if table is not None:
            raise ExperimentError("a world and a table are given", help="leave out one of them")
        given.update(tables=environment.tables(runs, rounds, seed), noise=environment.noise)
    elif environment != "linear":
        raise ExperimentError("an environment and a table are given", help="leave out one of them")
    return given


def _call(
    name: str, environment: Any, settings: Mapping[str, Any], defaults: Mapping[str, Any], vary: Optional[list[str]]
) -> str:
    """The call that gives the same results, as Python writes it. Threads and directory do not change them."""
    parts = (
        []
        if vary is None
        else ["{" + ", ".join(f"{line.split('=')[0]!r}: [{line.split('=')[1]}]" for line in vary) + "}"]
    )
    if environment != "linear":
        parts.append(repr(environment))
    for each, value in settings.items():
        if each not in _ELSEWHERE and value is not defaults[each] and value != defaults[each]:
            parts.append(f"{each}={_written(each, value)}")
    return f"rarely.{name}({', '.join(parts)})"


def _written(name: str, value: Any) -> str:
    if name != "algorithms" or isinstance(value, str):
        return repr(os.fspath(value)) if isinstance(value, os.PathLike) else repr(value)
    names = [repr(each) if isinstance(each, str) else policy_name(each) for each in value]
    return f"[{', '.join(names)}]"


def shared_parts(found: _Found) -> dict[str, Any]:
    """What every result has. Each table knows what made it."""
    settings, tables, figure, text = found
    made_by = {each: settings[each] for each in ("version", "seed", "command")}
    named = {each: Table(columns, made_by=made_by) for each, columns in tables.items()}
    return {"settings": settings, "figure": figure, "text": text, "run_traces": None, **named}


def check_ranges(**numbers: tuple[Optional[int], int, int]) -> None:
    """Checks that whole numbers are in their ranges, which are those of the command line."""
    for name, (value, low, high) in numbers.items():
        if value is not None and not low <= value <= high:
            raise ExperimentError(f"{name} = {value} is outside {low} to {high}")
