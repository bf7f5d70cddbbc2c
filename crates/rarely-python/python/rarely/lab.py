"""Simulations: algorithms against each other, and the whole paper."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Optional, Union

from . import _rarely
from ._rarely import Figure
from .errors import ExperimentError
from .progress import Progress, Watcher
from .tables import Table

__all__ = ["Reproduction", "Simulation", "reproduce", "simulate"]

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Simulation:
    """The result of a simulation. In a notebook it shows its figure."""

    #: What was run: version, world, seed, assumptions.
    settings: dict[str, Any]
    #: A row for each algorithm.
    summary: Table
    #: Regret and changes by round, mean and standard error.
    traces: Table
    #: Every change, with its certificate if ``certificates`` is true, and its true gain.
    changes: Table
    #: Regret, changes, rounds below the best arm and changes that improve.
    figure: Figure
    #: The summary in words.
    text: str

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<rarely.Simulation: {self.text.splitlines()[0]}>"

    def _repr_svg_(self) -> str:
        return self.figure.svg


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
    environment: str = "linear",
    *,
    arms: int = 4,
    dimension: int = 5,
    noise: float = 0.1,
    strength: float = 1.0,
    table: Optional[Path] = None,
    rounds: Optional[int] = None,
    runs: int = 50,
    algorithms: Union[str, Iterable[str]] = "all",
    profile: str = "rigorous",
    explore: Optional[str] = None,
    sets: Optional[str] = None,
    delay: Optional[str] = None,
    penalty: Optional[float] = None,
    declared_noise: Union[float, str, None] = None,
    norm_bound: Union[float, str, None] = None,
    prior_mean: Optional[float] = None,
    error_probability: Optional[float] = None,
    tolerance: Optional[float] = None,
    certificates: bool = False,
    seed: int = 1,
    threads: int = 0,
    out: Optional[Path] = None,
    progress: Progress = None,
) -> Simulation:
    """Runs algorithms against each other in a simulated world, as ``rarely simulate`` does, with the same numbers.

    ``environment`` is one of ``rarely.ENVIRONMENTS``; it is ignored if there is a ``table``, a CSV file of people whose outcome
    under every arm is known. ``algorithms`` is ``"all"``, names joined by commas, or a list of names. An assumption that is ``None``
    is the profile's: the true noise and norm are declared, δ is 1/rounds. ``declared_noise`` may be ``"unknown"`` (one σ) or
    ``"unknown-per-arm"``: algorithms that hold a rule and have sharp sets then estimate it, the others are told the true one. ``sets`` are ``"joint"``, ``"per-arm"`` or ``"sharp"``;
    ``delay`` says how late outcomes are learned, ``"any"`` (in the order of decisions) or ``"independent"`` (as they arrive). With ``out`` all files are written to that directory,
    and a simulation that was stopped resumes from there. Results do not depend on the number of threads. Ctrl-C stops it.

    >>> import rarely
    >>> found = rarely.simulate(rounds=200, runs=2, algorithms=["rarely", "linucb"], progress=False)
    >>> found.summary["algorithm"]
    ['rarely', 'linucb']
    """
    world = {
        "environment": environment,
        "arms": arms,
        "dimension": dimension,
        "noise": noise,
        "strength": strength,
        "table": table,
    }
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
    _check(rounds=(rounds, 1, 10**9), runs=(runs, 1, 10**6), seed=(seed, 0, 2**64 - 1), threads=(threads, 0, 1024))
    names = algorithms.split(",") if isinstance(algorithms, str) else list(algorithms)
    with Watcher("simulating", progress) as show:
        settings, tables, figure, text = _rarely.simulate(
            world,
            rounds,
            runs,
            [name.strip() for name in names],
            {name: value for name, value in told.items() if value is not None},
            certificates=certificates,
            seed=seed,
            threads=threads,
            out=out,
            progress=show,
        )
    summary, traces, changes = (Table(tables[name]) for name in ("summary", "traces", "changes"))
    return Simulation(settings, summary, traces, changes, figure, text)


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
    _check(rounds=(rounds, 10, 10**8), runs=(runs, 1, 10**6), seed=(seed, 0, 2**64 - 1), threads=(threads, 0, 1024))
    if data is None:
        data = os.environ.get("RARELY_IHDP") or ()
    files = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    with Watcher("reproducing", progress) as show:
        document, figures, page, text = _rarely.reproduce(
            files, full=full, runs=runs, rounds=rounds, seed=seed, threads=threads, out=out, progress=show
        )
    claims, errata = Table.of(document.pop("claims")), Table.of(document.pop("errata"))
    return Reproduction(claims, errata, {figure.name: figure for figure in figures}, page, text, document)


def _check(**numbers: tuple[Optional[int], int, int]) -> None:
    """Checks that whole numbers are in their ranges, which are those of the command line."""
    for name, (value, low, high) in numbers.items():
        if value is not None and not low <= value <= high:
            raise ExperimentError(f"{name} = {value} is outside {low} to {high}")
