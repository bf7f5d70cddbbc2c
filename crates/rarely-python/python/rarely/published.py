"""Published data sets, read from files that you have: nothing is downloaded.

Each function checks that the file is laid out as it was published, keeps its SHA-256 so that a paper can name the file, and says where it
is published if it is not there. What you may do with a file is what its licence says.
"""

from __future__ import annotations

import csv
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from .errors import DataError
from .worlds import World, from_classes, from_table

__all__ = ["Acic2016", "OpenBandit", "Twins", "Warfarin", "acic2016", "open_bandit", "twins", "warfarin"]

_Numbers = npt.NDArray[np.float64]
_File = Union[str, "os.PathLike[str]"]

_WHERE = {
    "warfarin": "PharmGKB, International Warfarin Pharmacogenetics Consortium (https://www.pharmgkb.org/downloads): save the sheet "
    '"Subject Data" as CSV',
    "open bandit": "https://research.zozo.com/data.html, and a sample in https://github.com/st-tech/zr-obp under obp/dataset/obd",
    "acic 2016": "https://github.com/vdorie/aciccomp (tree 2016), and as CSV in causallib: x.csv and zymu_1.csv to zymu_10.csv",
    "twins": "https://github.com/AMLab-Amsterdam/CEVAE under datasets/TWINS: twin_pairs_X_, _T_ and _Y_3years_samesex.csv",
}


@dataclass(frozen=True, eq=False)
class Warfarin:
    """Patients with their therapeutic weekly dose of warfarin; the arms are low (below 21 mg), medium, and high (above 49 mg)."""

    x: _Numbers
    #: mg per week.
    dose: _Numbers
    #: 0, 1 or 2.
    arm: npt.NDArray[np.int64]
    columns: tuple[str, ...]
    #: SHA-256 of the file.
    sha256: str

    def world(self) -> World:
        """The right arm has the reward 1, the others 0."""
        return from_classes(self.x, self.arm, label="warfarin")


@dataclass(frozen=True, eq=False)
class OpenBandit:
    """Items that were shown in a fashion shop, with clicks and the probability of the item: a log for :func:`rarely.evaluate`."""

    contexts: _Numbers
    arms: npt.NDArray[np.int64]
    rewards: _Numbers
    propensities: _Numbers
    columns: tuple[str, ...]
    sha256: str

    def log(self) -> dict[str, Any]:
        """As :func:`rarely.evaluate` and :func:`rarely.replay_log` take it."""
        parts = ("contexts", "arms", "rewards", "propensities")
        return {name: getattr(self, name) for name in parts}


@dataclass(frozen=True, eq=False)
class Acic2016:
    """The 2016 causal inference challenge: 58 covariates of real people, and simulated outcomes with and without treatment."""

    x: _Numbers
    treatment: npt.NDArray[np.int64]
    #: Outcomes without and with treatment.
    outcomes: _Numbers
    #: Expected outcomes.
    means: _Numbers
    columns: tuple[str, ...]
    sha256: tuple[str, str]

    def world(self) -> World:
        """Both outcomes of everybody are known."""
        return from_table(_with_ones(self.x), self.outcomes, self.means, label="ACIC 2016")


@dataclass(frozen=True, eq=False)
class Twins:
    """Pairs of twins of one sex; the arm is to be the heavier one, the outcome 1 if the child survives its first year."""

    x: _Numbers
    #: Survival of the lighter and of the heavier twin.
    outcomes: _Numbers
    columns: tuple[str, ...]
    sha256: tuple[str, ...]

    def world(self) -> World:
        """Both outcomes of every pair are known."""
        return from_table(_with_ones(self.x), self.outcomes, label="TWINS")


def warfarin(path: _File, *, sha256: Optional[str] = None) -> Warfarin:
    """Patients of the International Warfarin Pharmacogenetics Consortium, from a CSV file of its sheet "Subject Data".

    Context variables are age in decades, height and weight, an indicator for each race, and for enzyme inducers, amiodarone and smoking;
    rows without dose, age, height or weight are left out. With ``sha256`` the file must have that checksum.
    """
    header, rows, digest = _read(path, "warfarin", sha256)
    needed = ("Therapeutic Dose of Warfarin", "Age", "Height (cm)", "Weight (kg)", "Race")
    at = _places(header, needed, path, "warfarin")
    flags = [
        name
        for name in ("Amiodarone (Cordarone)", "Carbamazepine (Tegretol)", "Phenytoin (Dilantin)", "Current Smoker")
    ]
    flags = [name for name in flags if name in header]
    kept = [row for row in rows if all(_number(row[place].split("-")[0].rstrip(" +")) is not None for place in at[:4])]
    if not kept:
        raise DataError(f"{os.fspath(path)} has no patient with dose, age, height and weight", help=_help("warfarin"))
    races = sorted({row[at[4]] for row in kept})
    numbers = []
    for row in kept:
        age = float(row[at[1]].split("-")[0].rstrip(" +")) / 10
        line = [age, float(row[at[2]]), float(row[at[3]])]
        line += [float(row[at[4]] == race) for race in races[1:]]
        line += [float(_number(row[header.index(flag)]) == 1.0) for flag in flags]
        numbers.append(line)
    dose = np.array([float(row[at[0]]) for row in kept])
    columns = ("age_decades", "height_cm", "weight_kg", *(f"race={race}" for race in races[1:]), *flags)
    arm = np.digitize(dose, [21.0, np.nextafter(49.0, 50.0)]).astype(np.int64)
    return Warfarin(np.array(numbers), dose, arm, columns, digest)


def open_bandit(path: _File, *, sha256: Optional[str] = None) -> OpenBandit:
    """A log of the Open Bandit Dataset, full or sample: one of its files ``all.csv``, ``men.csv`` or ``women.csv``.

    Context variables are a 1 and an indicator for each level of the four hashed user features but the first of each.
    """
    header, rows, digest = _read(path, "open bandit", sha256)
    features = tuple(f"user_feature_{number}" for number in range(4))
    needed = ("item_id", "position", "click", "propensity_score", *features)
    at = dict(zip(needed, _places(header, needed, path, "open bandit")))
    columns, parts = ["1"], [np.ones((len(rows), 1))]
    for feature in features:
        values = np.array([row[at[feature]] for row in rows])
        for level in np.unique(values)[1:]:
            columns.append(f"{feature}={level}")
            parts.append((values == level).astype(np.float64)[:, None])
    column = {name: np.array([float(row[at[name]]) for row in rows]) for name in needed[:4]}
    arms = column["item_id"].astype(np.int64)
    return OpenBandit(np.hstack(parts), arms, column["click"], column["propensity_score"], tuple(columns), digest)


def acic2016(folder: _File, instance: int = 1) -> Acic2016:
    """An instance of the 2016 challenge, from a folder with ``x.csv`` and ``zymu_<instance>.csv``. Columns with words become indicators."""
    header, rows, of_x = _read(Path(folder) / "x.csv", "acic 2016", None)
    names, outcomes, of_outcomes = _read(Path(folder) / f"zymu_{instance}.csv", "acic 2016", None)
    at = _places(names, ("z", "y0", "y1", "mu0", "mu1"), Path(folder) / f"zymu_{instance}.csv", "acic 2016")
    if len(rows) != len(outcomes):
        raise DataError(f"x.csv has {len(rows)} rows, zymu_{instance}.csv {len(outcomes)}", help=_help("acic 2016"))
    parts, columns = [], []
    for place, name in enumerate(header):
        values = [row[place] for row in rows]
        if all(_number(value) is not None for value in values):
            parts.append(np.array(values, dtype=np.float64)[:, None])
            columns.append(name)
            continue
        for level in sorted(set(values))[1:]:
            parts.append(np.array([float(value == level) for value in values])[:, None])
            columns.append(f"{name}={level}")
    table = np.array([[float(row[place]) for place in at] for row in outcomes])
    z = table[:, 0].astype(np.int64)
    return Acic2016(np.hstack(parts), z, table[:, 1:3], table[:, 3:5], tuple(columns), (of_x, of_outcomes))


def twins(folder: _File, *, lighter_than: float = 2000.0) -> Twins:
    """Twins whose two weights are below ``lighter_than`` grams, from a folder with the three published files.

    Values that are missing are taken as the mean of their column.
    """
    files = {part: Path(folder) / f"twin_pairs_{part}_3years_samesex.csv" for part in "XTY"}
    read = {part: _read(path, "twins", None) for part, path in files.items()}
    weights = _columns(read["T"], ("dbirwt_0", "dbirwt_1"), files["T"])
    deaths = _columns(read["Y"], ("mort_0", "mort_1"), files["Y"])
    names = tuple(name for name in read["X"][0] if name and not name.startswith(("Unnamed", "infant_id", "bord")))
    x = _columns(read["X"], names, files["X"])
    if not len(x) == len(weights) == len(deaths):
        raise DataError(f"the files have {len(x)}, {len(weights)} and {len(deaths)} rows", help=_help("twins"))
    known = (weights < lighter_than).all(axis=1) & np.isfinite(deaths).all(axis=1)
    x = x[known]
    means = np.array([column[np.isfinite(column)].mean() if np.isfinite(column).any() else 0.0 for column in x.T])
    x = np.where(np.isfinite(x), x, means)
    return Twins(x, 1.0 - deaths[known], names, tuple(read[part][2] for part in "XTY"))


def _read(path: _File, name: str, sha256: Optional[str]) -> tuple[list[str], list[list[str]], str]:
    """The first line, the other lines, and the checksum of a CSV file."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"{os.fspath(path)} cannot be read: {error.strerror}", help=_help(name)) from None
    digest = hashlib.sha256(content).hexdigest()
    if sha256 is not None and digest != sha256.lower():
        raise DataError(f"{os.fspath(path)} has the SHA-256 {digest}, not {sha256}", help=_help(name))
    try:
        lines = list(csv.reader(content.decode("utf-8-sig").splitlines()))
    except (UnicodeDecodeError, csv.Error):
        raise DataError(f"{os.fspath(path)} is no CSV file in UTF-8", help=_help(name)) from None
    rows = [line for line in lines[1:] if line]
    if not rows:
        raise DataError(f"{os.fspath(path)} has no rows", help=_help(name))
    ragged = next((number for number, line in enumerate(rows) if len(line) != len(lines[0])), None)
    if ragged is not None:
        raise DataError(f"{os.fspath(path)}: row {ragged} has {len(rows[ragged])} fields instead of {len(lines[0])}")
    return lines[0], rows, digest


def _places(header: list[str], names: tuple[str, ...], path: _File, of: str) -> list[int]:
    missing = [name for name in names if name not in header]
    if missing:
        raise DataError(f"{os.fspath(path)} has no column {missing[0]!r}: it is laid out otherwise", help=_help(of))
    return [header.index(name) for name in names]


def _columns(read: tuple[list[str], list[list[str]], str], names: tuple[str, ...], path: Path) -> _Numbers:
    places = _places(read[0], names, path, "twins")
    values = [[_number(row[place]) for place in places] for row in read[1]]
    return np.array([[np.nan if value is None else value for value in row] for row in values], dtype=np.float64)


def _number(text: str) -> Optional[float]:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _with_ones(x: _Numbers) -> _Numbers:
    return np.column_stack([np.ones(len(x)), x])


def _help(name: str) -> str:
    return f"it is published at {_WHERE[name]}"
