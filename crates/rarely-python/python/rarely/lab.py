"""Simulations: algorithms against each other, over a range of settings, and the whole paper."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union

import numpy as np

from . import _rarely
from ._axes import axes
from ._names import DelayName, EnvironmentName, ProfileName, SetsName
from ._rarely import Figure
from .errors import ExperimentError
from .policies import contestants
from .progress import Progress, Watcher
from .tables import Table
from .worlds import World

__all__ = ["Frontier", "Reproduction", "Simulation", "Sweep", "frontier", "reproduce", "simulate", "sweep"]

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class _Result:
    """What every experiment has. In a notebook it shows its figure."""

    #: What was run: version, world, seed, and every assumption with the value that it had.
    settings: dict[str, Any]
    #: A row for each run of each algorithm: what it assumed, what came of it, and its cumulative regret at every checkpoint.
    runs: Table
    #: A row for each pair of algorithms: the paired difference of regret per step, how often each is better, and two tests.
    comparisons: Table
    #: Regret and changes by round of each run, if ``run_traces`` is true.
    run_traces: Optional[Table]
    #: The figure.
    figure: Figure
    #: The results in words.
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<rarely.{type(self).__name__}: {self.text.splitlines()[0]}>"

    def _repr_svg_(self) -> str:
        return self.figure.svg


@dataclass(frozen=True, repr=False)
class Simulation(_Result):
    """The result of a simulation. In a notebook it shows its figure."""

    #: A row for each algorithm.
    summary: Table
    #: Regret and changes by round: mean, standard error and quantiles.
    traces: Table
    #: Every change, with its certificate if ``certificates`` is true, and its true gain.
    changes: Table

    def plot(self, ax: Any = None, *, what: Literal["regret_per_step", "changes"] = "regret_per_step") -> Any:
        """Draws the mean by round of every algorithm on matplotlib axes, with a band that holds the middle 80 % of the runs, and returns
        the axes: lines, labels and scales are matplotlib's own, to be changed as you like.

        ``figure.plot()`` shows the figure of ``rarely simulate`` as it is.
        """
        if what not in ("regret_per_step", "changes"):
            raise ExperimentError(f"what = {what!r}", help='choose "regret_per_step" or "changes"')
        ax = axes(ax)
        names = np.asarray(self.traces["algorithm"])
        for name in dict.fromkeys(names.tolist()):
            own = names == name
            rounds, mean = self.traces["round"][own], self.traces[what][own]
            (line,) = ax.plot(rounds, mean, label=name)
            low, high = self.traces[f"{what}_p10"][own], self.traces[f"{what}_p90"][own]
            ax.fill_between(rounds, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
        ax.set_xscale("log")
        if what == "regret_per_step":
            ax.set_yscale("log")
        ax.set_xlabel("round")
        ax.set_ylabel(what.replace("_", " "))
        ax.legend()
        return ax


@dataclass(frozen=True, repr=False)
class Sweep(_Result):
    """The result of a sweep. In a notebook it shows its figure."""

    #: A row for each combination of values and each algorithm.
    cells: Table


@dataclass(frozen=True, repr=False)
class Frontier(_Result):
    """Regret against changes. In a notebook it shows its figure."""

    #: A row for each algorithm and setting, and whether nothing beats it in both.
    points: Table


@dataclass(frozen=True)
class Reproduction:
    """The paper reproduced: its claims judged, its errata shown, its figures drawn."""

    #: A row for each claim: verdict, place in the paper, what it says.
    claims: Table
    #: A row for each erratum.
    errata: Table
    #: Every figure by name.
    figures: dict[str, Figure]
    #: The whole report as one self-contained page.
    html: str
    #: The claims in words.
    text: str
    #: Seed, size and version.
    settings: dict[str, Any]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return (
            f"<rarely.Reproduction: {self.claims.rows} claims, {self.errata.rows} errata, {len(self.figures)} figures>"
        )

    def to_html(self) -> str:
        """The whole report as one self-contained page."""
        return self.html

    def _repr_html_(self) -> str:
        return self.claims._repr_html_()


def simulate(
    environment: Union[EnvironmentName, World] = "linear",
    *,
    arms: Optional[int] = None,
    dimension: Optional[int] = None,
    noise: Optional[float] = None,
    strength: float = 1.0,
    table: Optional[Path] = None,
    late: int = 0,
    missing: float = 0.0,
    drift: int = 0,
    batch: int = 0,
    rounds: Optional[int] = None,
    runs: int = 50,
    algorithms: Union[str, Iterable[Any]] = "all",
    block: int = 1,
    profile: ProfileName = "rigorous",
    explore: Optional[str] = None,
    sets: Optional[SetsName] = None,
    delay: Optional[DelayName] = None,
    penalty: Optional[float] = None,
    declared_noise: Union[float, str, None] = None,
    norm_bound: Union[float, str, None] = None,
    prior_mean: Optional[float] = None,
    error_probability: Optional[float] = None,
    tolerance: Optional[float] = None,
    certificates: bool = False,
    run_traces: bool = False,
    seed: int = 1,
    threads: int = 0,
    out: Optional[Path] = None,
    progress: Progress = None,
) -> Simulation:
    """Runs algorithms against each other in a simulated world, as ``rarely simulate`` does, with the same numbers.

    ``environment`` is one of ``rarely.ENVIRONMENTS``, with ``arms`` (4), ``dimension`` (5), ``noise`` (0.1) and ``strength``; or a world
    of :mod:`rarely.worlds`. Instead of it ``table`` names a CSV file of people whose outcome under every arm is known; their noise is
    estimated and ``settings`` says so, unless ``declared_noise`` is given. In any world outcomes may come ``late`` by some rounds, be
    ``missing`` with some probability, come in a ``batch`` of some rounds, and every arm may ``drift`` to the next one's place within some
    rounds.

    ``algorithms`` is ``"all"``, names joined by commas, or a list of names and of policies of your own: see :mod:`rarely.policies`. They
    meet the same people, noise and luck as ours. They decide ``block`` rows at a time, and learn at the end of the block.

    An assumption that is ``None`` is the profile's: the true noise and norm are declared, δ is 1/rounds. ``declared_noise`` may be
    ``"unknown"`` (one σ) or ``"unknown-per-arm"``: algorithms that hold a rule and have sharp sets then estimate it, the others are told
    the true one. ``sets`` are ``"joint"``, ``"per-arm"`` or ``"sharp"``; ``delay`` says how late outcomes are learned, ``"any"`` (in the
    order of decisions) or ``"independent"`` (as they arrive). With ``out`` all files are written to that directory, and a simulation that
    was stopped resumes from there. Results do not depend on the number of threads. Ctrl-C stops it.

    >>> import rarely
    >>> found = rarely.simulate(rounds=200, runs=2, algorithms=["rarely", "linucb"], progress=False)
    >>> found.summary["algorithm"]
    ['rarely', 'linucb']
    >>> found.runs.rows
    4
    """
    given = _given(environment, arms, dimension, noise, strength, table, rounds, runs, seed)
    given.update(late=late, missing=missing, drift=drift, batch=batch, certificates=certificates)
    given["algorithms"] = contestants(algorithms, block)
    told = {
        "profile": profile,
        "explore": explore,
        "sets": sets,
        "delay": delay,
        "penalty": penalty,
        "declared_noise": declared_noise,
        "norm_bound": norm_bound,
        "prior_mean": prior_mean,
        "error_probability": error_probability,
        "tolerance": tolerance,
    }
    with Watcher("simulating", progress) as show:
        place = {"threads": _threads(threads), "out": out, "progress": show, "run_traces": run_traces}
        settings, tables, figure, text = _rarely.simulate(given, _without_none(told), place)
    shared = _shared(settings, tables, figure, text)
    summary, traces, changes = (Table(tables[name]) for name in ("summary", "traces", "changes"))
    return Simulation(**shared, summary=summary, traces=traces, changes=changes)


def sweep(
    vary: Mapping[str, Union[float, Sequence[float]]],
    environment: Union[EnvironmentName, World] = "linear",
    *,
    arms: Optional[int] = None,
    dimension: Optional[int] = None,
    noise: Optional[float] = None,
    strength: float = 1.0,
    table: Optional[Path] = None,
    late: int = 0,
    missing: float = 0.0,
    drift: int = 0,
    batch: int = 0,
    rounds: Optional[int] = None,
    runs: int = 20,
    algorithms: Union[str, Iterable[Any]] = "rarely,rs-greedy,rs-conservative,linucb",
    block: int = 1,
    run_traces: bool = False,
    seed: int = 1,
    threads: int = 0,
    out: Optional[Path] = None,
    progress: Progress = None,
    **assumptions: Any,
) -> Sweep:
    """Runs an experiment for every combination of values of one or two settings, as ``rarely sweep`` does.

    ``vary`` has the values by setting: of the world ``arms``, ``dim``, ``noise``, ``rounds``, ``strength``, ``curvature``, ``late``,
    ``missing``, ``drift``, ``batch``; of the algorithms ``penalty``, ``prior-mean``, ``declared-noise`` (times the true one),
    ``norm-bound``, ``error-probability``, ``pilot``, ``equipoise``, ``cap``, ``tolerance``, ``growth``, ``excluded-share``, ``z``,
    ``minimum-gain``, ``renewal``, ``safety``, ``posterior-scale``, ``epsilon``, ``alpha``, ``gap-scale``, ``discount``, ``window``. A setting
    that no algorithm uses is an error. Everything else is as in :func:`simulate`, ``assumptions`` too.

    >>> import rarely
    >>> found = rarely.sweep({"noise": [0.1, 1.0]}, rounds=100, runs=2, algorithms=["rarely"], progress=False)
    >>> found.cells["noise"]
    array([0.1, 1. ])
    """
    known = {"profile", "explore", "sets", "delay", "penalty", "declared_noise", "norm_bound", "prior_mean"}
    for name in assumptions:
        if name not in known | {"error_probability", "tolerance"}:
            raise TypeError(f"sweep() got an unexpected keyword argument {name!r}")
    given = _given(environment, arms, dimension, noise, strength, table, rounds, runs, seed)
    given.update(late=late, missing=missing, drift=drift, batch=batch, certificates=False)
    given["algorithms"] = contestants(algorithms, block)
    if not 1 <= len(vary) <= 2:
        raise ExperimentError(f"vary has {len(vary)} settings", help="vary one or two")
    lines = []
    for name, values in vary.items():
        listed = [values] if isinstance(values, (int, float)) else list(values)
        lines.append(f"{name.replace('_', '-')}={','.join(repr(float(value)) for value in listed)}")
    with Watcher("sweeping", progress) as show:
        place = {"threads": _threads(threads), "out": out, "progress": show, "run_traces": run_traces}
        settings, tables, figure, text = _rarely.sweep(lines, given, _without_none(assumptions), place)
    return Sweep(**_shared(settings, tables, figure, text), cells=Table(tables["cells"]))


def frontier(
    environment: Union[EnvironmentName, World] = "linear",
    *,
    arms: Optional[int] = None,
    dimension: Optional[int] = None,
    noise: Optional[float] = None,
    strength: float = 1.0,
    table: Optional[Path] = None,
    late: int = 0,
    missing: float = 0.0,
    drift: int = 0,
    batch: int = 0,
    rounds: Optional[int] = None,
    runs: int = 20,
    algorithms: Union[str, Iterable[Any]] = "all",
    block: int = 1,
    run_traces: bool = False,
    seed: int = 1,
    threads: int = 0,
    out: Optional[Path] = None,
    progress: Progress = None,
) -> Frontier:
    """Regret against number of changes, as ``rarely frontier`` does: each algorithm over the settings that trade one for the other.

    The world and ``algorithms`` are as in :func:`simulate`. A policy of your own is one point, at as many changes as rounds, since
    nobody knows when it changes its mind.

    >>> import rarely
    >>> found = rarely.frontier(rounds=60, runs=2, algorithms=["rs-linucb", "fixed"], progress=False)
    >>> sorted(set(found.points["algorithm"]))
    ['fixed', 'rs-linucb']
    """
    given = _given(environment, arms, dimension, noise, strength, table, rounds, runs, seed)
    given.update(late=late, missing=missing, drift=drift, batch=batch, certificates=False)
    given["algorithms"] = contestants(algorithms, block)
    with Watcher("frontier", progress) as show:
        place = {"threads": _threads(threads), "out": out, "progress": show, "run_traces": run_traces}
        settings, tables, figure, text = _rarely.frontier(given, place)
    return Frontier(**_shared(settings, tables, figure, text), points=Table(tables["points"]))


def reproduce(
    *,
    full: bool = False,
    data: Union[Path, Iterable[Path], None] = None,
    runs: Optional[int] = None,
    rounds: int = 10_000,
    seed: int = 1,
    threads: int = 0,
    out: Optional[Path] = None,
    progress: Progress = None,
) -> Reproduction:
    """Reproduces the paper, as ``rarely reproduce`` does: every figure, every claim checked, every erratum shown.

    Figure 4 is run on the first 100 realisations of IHDP, which are part of this package. ``data`` names files of other ones, or
    their directory (default: ``$RARELY_IHDP``). ``runs`` limits the runs of every experiment. With ``out`` the report is written to that directory, and a
    reproduction that was stopped resumes from there. Ctrl-C stops it.
    """
    _check(rounds=(rounds, 10, 10**8), runs=(runs, 1, 10**6), seed=(seed, 0, 2**64 - 1))
    if data is None:
        data = os.environ.get("RARELY_IHDP") or ()
    files = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    with Watcher("reproducing", progress) as show:
        document, figures, page, text = _rarely.reproduce(
            files, full=full, runs=runs, rounds=rounds, seed=seed, threads=_threads(threads), out=out, progress=show
        )
    claims, errata = Table.of(document.pop("claims")), Table.of(document.pop("errata"))
    return Reproduction(claims, errata, {figure.name: figure for figure in figures}, page, text, document)


def _given(
    environment: Union[EnvironmentName, World],
    arms: Optional[int],
    dimension: Optional[int],
    noise: Optional[float],
    strength: float,
    table: Optional[Path],
    rounds: Optional[int],
    runs: int,
    seed: int,
) -> dict[str, Any]:
    """Where contexts and rewards come from, and how much is run."""
    _check(rounds=(rounds, 1, 10**9), runs=(runs, 1, 10**6), seed=(seed, 0, 2**64 - 1))
    given: dict[str, Any] = {"rounds": rounds, "runs": runs, "seed": seed, "table": table, "tables": None}
    if table is None and isinstance(environment, str):
        given.update(
            environment=environment,
            arms=4 if arms is None else arms,
            dimension=5 if dimension is None else dimension,
            noise=0.1 if noise is None else noise,
            strength=strength,
        )
        return given
    own = "the table" if table is not None else "the world"
    unused = {"arms": arms, "dimension": dimension, "noise": noise, "strength": None if strength == 1.0 else strength}
    for name, value in unused.items():
        if value is not None:
            raise ExperimentError(f"{name} is given, but {own} has its own", help=f"leave out {name}")
    if isinstance(environment, World):
        if table is not None:
            raise ExperimentError("a world and a table are given", help="leave out one of them")
        given.update(tables=environment.tables(runs, rounds, seed), noise=environment.noise)
    return given


def _shared(settings: dict[str, Any], tables: dict[str, dict[str, Any]], figure: Figure, text: str) -> dict[str, Any]:
    traces = tables.get("run_traces")
    return {
        "settings": settings,
        "runs": Table(tables["runs"]),
        "comparisons": Table(tables["comparisons"]),
        "run_traces": None if traces is None else Table(traces),
        "figure": figure,
        "text": text,
    }


def _without_none(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if value is not None}


def _threads(threads: int) -> int:
    _check(threads=(threads, 0, 1024))
    return threads


def _check(**numbers: tuple[Optional[int], int, int]) -> None:
    """Checks that whole numbers are in their ranges, which are those of the command line."""
    for name, (value, low, high) in numbers.items():
        if value is not None and not low <= value <= high:
            raise ExperimentError(f"{name} = {value} is outside {low} to {high}")
