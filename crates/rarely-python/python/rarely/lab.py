"""Simulations: algorithms against each other, over a range of settings, and the whole paper."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Optional, Union, overload

import numpy as np

from . import _rarely
from ._axes import axes
from ._experiments import AlgorithmChoice, ExperimentSettings, Path, check_ranges, complete, run, shared_parts
from ._names import DelayName, EnvironmentName, ProfileName, SetsName
from ._rarely import Figure
from .errors import ExperimentError
from .progress import Progress, Watcher
from .replays import LogReplay, played_log
from .tables import Table
from .worlds import LogWorld, World

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Frontier", "Reproduction", "Simulation", "Sweep", "frontier", "reproduce", "simulate", "sweep"]


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


@overload
def simulate(environment: LogWorld, **settings: Unpack[ExperimentSettings]) -> LogReplay: ...
@overload
def simulate(
    environment: Union[EnvironmentName, World] = "linear", **settings: Unpack[ExperimentSettings]
) -> Simulation: ...
def simulate(
    environment: Union[EnvironmentName, World, LogWorld] = "linear",
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
    algorithms: AlgorithmChoice = "all",
    block: int = 1,
    profile: ProfileName = "rigorous",
    explore: Optional[str] = None,
    sets: Optional[SetsName] = None,
    delay: Optional[DelayName] = None,
    penalty: Optional[float] = None,
    declared_noise: Union[float, Literal["unknown", "unknown-per-arm"], None] = None,
    norm_bound: Union[float, Literal["auto"], None] = None,
    prior_mean: Optional[float] = None,
    error_probability: Optional[float] = None,
    tolerance: Optional[float] = None,
    certificates: bool = False,
    run_traces: bool = False,
    seed: int = 1,
    threads: int = 0,
    out: Optional[Path] = None,
    progress: Progress = None,
) -> Union[Simulation, LogReplay]:
    """Runs algorithms against each other in a simulated world, as ``rarely simulate`` does, with the same numbers.

    ``environment`` is one of ``rarely.ENVIRONMENTS``, with ``arms`` (4), ``dimension`` (5), ``noise`` (0.1) and ``strength``; or a world
    of :mod:`rarely.worlds`. A log with propensities (:func:`rarely.worlds.from_log`) gives what each algorithm would have earned
    (:class:`LogReplay`), since nobody knows its regret. Instead of it ``table`` names a CSV file of people whose outcome under every arm is known; their noise is
    estimated and ``settings`` says so, unless ``declared_noise`` is given. In any world outcomes may come ``late`` by some rounds, be
    ``missing`` with some probability, come in a ``batch`` of some rounds, and every arm may ``drift`` to the next one's place within some
    rounds.

    ``algorithms`` is ``"all"``, a name, names joined by commas, or a list of names and of policies of your own: see :mod:`rarely.policies`. They
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
    settings = {name: value for name, value in locals().items() if name != "environment"}
    if isinstance(environment, LogWorld):
        return played_log(environment, settings, complete("simulate", {}, simulate))
    return Simulation(**shared_parts(run("simulate", environment, settings, complete("simulate", {}, simulate))))


def sweep(
    vary: Mapping[str, Union[float, Sequence[float]]],
    environment: Union[EnvironmentName, World] = "linear",
    **settings: Unpack[ExperimentSettings],
) -> Sweep:
    """Runs an experiment for every combination of values of one or two settings, as ``rarely sweep`` does.

    ``vary`` has the values by setting: of the world ``arms``, ``dim``, ``noise``, ``rounds``, ``strength``, ``curvature``, ``late``,
    ``missing``, ``drift``, ``batch``; of the algorithms ``penalty``, ``prior-mean``, ``declared-noise`` (times the true one),
    ``norm-bound``, ``error-probability``, ``pilot``, ``equipoise``, ``cap``, ``tolerance``, ``growth``, ``excluded-share``, ``z``,
    ``minimum-gain``, ``renewal``, ``safety``, ``posterior-scale``, ``epsilon``, ``alpha``, ``gap-scale``, ``discount``, ``window``,
    ``bandwidth``. A setting
    that no algorithm uses is an error. Everything else is as in :func:`simulate`, with 20 runs of rarely, rs-greedy,
    rs-conservative and linucb unless you choose others.

    >>> import rarely
    >>> found = rarely.sweep({"noise": [0.1, 1.0]}, rounds=100, runs=2, algorithms=["rarely"], progress=False)
    >>> found.cells["noise"]
    array([0.1, 1. ])
    """
    own: dict[str, Any] = {"runs": 20, "algorithms": ["rarely", "rs-greedy", "rs-conservative", "linucb"]}
    if not 1 <= len(vary) <= 2:
        raise ExperimentError(f"vary has {len(vary)} settings", help="vary one or two")
    lines = []
    for name, values in vary.items():
        listed = [values] if isinstance(values, (int, float)) else list(values)
        lines.append(f"{name.replace('_', '-')}={','.join(repr(float(value)) for value in listed)}")
    everything, defaults = complete("sweep", settings, simulate, **own), complete("sweep", {}, simulate, **own)
    return Sweep(**shared_parts(run("sweep", environment, everything, defaults, lines)))


def frontier(environment: Union[EnvironmentName, World] = "linear", **settings: Unpack[ExperimentSettings]) -> Frontier:
    """Regret against number of changes, as ``rarely frontier`` does: each algorithm over the settings that trade one for the other.

    The settings are those of :func:`simulate`, with 20 runs. Of the assumptions only ``declared_noise`` may be given, in a table: the others
    are what each point is about. A policy of your own is one point, at as many changes as rounds, since
    nobody knows when it changes its mind.

    >>> import rarely
    >>> found = rarely.frontier(rounds=60, runs=2, algorithms=["rs-linucb", "fixed"], progress=False)
    >>> sorted(set(found.points["algorithm"]))
    ['fixed', 'rs-linucb']
    """
    everything, defaults = (
        complete("frontier", settings, simulate, runs=20),
        complete("frontier", {}, simulate, runs=20),
    )
    fixed = ("profile", "explore", "sets", "penalty", "norm_bound", "prior_mean", "error_probability", "tolerance")
    for name in fixed:
        if everything[name] != defaults[name]:
            raise ExperimentError(f"{name} is given, but a frontier has its own settings", help=f"leave out {name}")
    return Frontier(**shared_parts(run("frontier", environment, everything, defaults)))


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
    check_ranges(rounds=(rounds, 10, 10**8), runs=(runs, 1, 10**6), seed=(seed, 0, 2**64 - 1))
    if data is None:
        data = os.environ.get("RARELY_IHDP") or ()
    check_ranges(threads=(threads, 0, 1024))
    files = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    with Watcher("reproducing", progress) as show:
        document, figures, page, text = _rarely.reproduce(
            files, full=full, runs=runs, rounds=rounds, seed=seed, threads=threads, out=out, progress=show
        )
    claims, errata = Table.of(document.pop("claims")), Table.of(document.pop("errata"))
    return Reproduction(claims, errata, {figure.name: figure for figure in figures}, page, text, document)
