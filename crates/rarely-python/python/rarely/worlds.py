"""Worlds of your own, for :func:`rarely.simulate`, :func:`rarely.sweep` and :func:`rarely.frontier`.

Every outcome of every arm is known in advance, so that all algorithms meet the same people and the same noise:

- :func:`from_means`: a function from contexts to mean outcomes, with noise;
- :func:`from_table`: a data frame or arrays with the outcome of every arm;
- :func:`from_classes`: a classification data set, with a reward of 1 for the right class;
- :func:`from_log`: a log with propensities, of which only what was done is known. It is replayed honestly, and only what algorithms would
  have earned comes out, for :func:`rarely.simulate`.

>>> import numpy as np, rarely
>>> from rarely import worlds
>>> world = worlds.from_means(lambda X: np.column_stack([X[:, 1], 1 - X[:, 1] ** 2]), dimension=2, noise=0.1)
>>> found = rarely.simulate(world, rounds=200, runs=2, algorithms=["rarely"], progress=False)
>>> found.settings["environment"]["arms"]
2
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional, Union

import numpy as np
import numpy.typing as npt

from ._arrays import contexts as as_contexts
from .errors import DataError

__all__ = ["LogWorld", "World", "from_classes", "from_log", "from_means", "from_table"]

_Numbers = npt.NDArray[np.float64]
#: A label, and rows of contexts, outcomes and mean outcomes.
_People = tuple[str, _Numbers, _Numbers, _Numbers]

#: Rounds of a run that names none.
_ROUNDS = 10_000


class World:
    """Tables of people with the outcome of every arm. Run r plays table r mod n, in its own random order."""

    def __init__(
        self,
        label: str,
        noise: Optional[float],
        tables: Callable[[int, Optional[int], int], list[_People]],
        classes: Optional[npt.NDArray[Any]] = None,
    ) -> None:
        #: What titles call it.
        self.label = label
        #: Standard deviation of the noise, which is declared to the algorithms; ``None``: it is estimated from the tables.
        self.noise = noise
        #: The classes of :func:`from_classes`, by arm.
        self.classes = classes
        self._tables = tables

    def tables(self, runs: int, rounds: Optional[int], seed: int) -> list[_People]:
        """The tables of an experiment."""
        return self._tables(runs, rounds, seed)

    def __repr__(self) -> str:
        return f"<rarely.worlds.World: {self.label}>"


def from_means(
    means: Callable[[_Numbers], npt.ArrayLike],
    *,
    dimension: Optional[int] = None,
    contexts: Union[npt.ArrayLike, Callable[[np.random.Generator, int], npt.ArrayLike], None] = None,
    noise: float = 0.1,
    label: Optional[str] = None,
) -> World:
    """Worlds whose mean outcomes are a function of the context: rows of contexts in, a row with the mean of every arm out.

    ``contexts`` are people to draw from with replacement, or a function of a random generator and a number of rows; by default they are
    rows of ``dimension`` numbers (5), a 1 and uniform ones, as in our own worlds. The noise is normal, and the same whichever arm is
    played. The function is called once for each run, before anything is played.
    """
    name = str(label or getattr(means, "__name__", type(means).__name__))
    drawn = _drawer(contexts, dimension)

    def tables(runs: int, rounds: Optional[int], seed: int) -> list[_People]:
        people = []
        for run in range(runs):
            rng = np.random.default_rng([seed, run])
            rows = np.ascontiguousarray(drawn(rng, _ROUNDS if rounds is None else rounds), dtype=np.float64)
            expected = np.ascontiguousarray(np.asarray(means(rows)), dtype=np.float64)
            if expected.ndim != 2 or len(expected) != len(rows):
                raise DataError(
                    f"{name} gives means of the shape {expected.shape} for contexts of the shape {rows.shape}",
                    help="return one row for each context, with a number for each arm",
                )
            people.append((name, rows, expected + noise * rng.standard_normal((len(rows), 1)), expected))
        return people

    return World(name, noise, tables)


def from_table(
    X: Any,
    outcomes: Optional[npt.ArrayLike] = None,
    means: Optional[npt.ArrayLike] = None,
    *,
    noise: Optional[float] = None,
    label: str = "table",
) -> World:
    """People for whom the outcome under every arm is known.

    ``X`` are rows of contexts, ``outcomes`` rows with the outcome of every arm, ``means`` the expected outcomes where they are known. Or
    ``X`` is a data frame with columns ``outcome:<arm>`` and, if you like, ``mean:<arm>``, as in the CSV files of ``rarely simulate
    --table``; all other columns are context variables. Without ``noise`` it is estimated.

    >>> import numpy as np
    >>> from_table(np.eye(3), [[0, 1], [1, 0], [1, 1]], label="three people")
    <rarely.worlds.World: three people>
    """
    if outcomes is None:
        X, outcomes, means = _split(X)
    rows = np.ascontiguousarray(as_contexts(X))
    seen = np.ascontiguousarray(np.asarray(outcomes, dtype=np.float64))
    expected = seen if means is None else np.ascontiguousarray(np.asarray(means, dtype=np.float64))
    if rows.ndim != 2 or seen.ndim != 2 or len(rows) != len(seen) or seen.shape != expected.shape:
        raise DataError(
            f"contexts, outcomes and means have the shapes {rows.shape}, {seen.shape} and {expected.shape}",
            help="give one row for each person, and a column for each arm",
        )
    return World(label, noise, lambda runs, rounds, seed: [(label, rows, seen, expected)])


def from_classes(X: Any, y: Optional[npt.ArrayLike] = None, *, intercept: bool = True, label: str = "classes") -> World:
    """A classification data set as a bandit: the arms are the classes, and the right one has the reward 1, the others 0.

    ``X`` and ``y`` are arrays, or ``X`` is a data set of scikit-learn with ``data`` and ``target``. A column of ones is put in front
    unless ``intercept`` is false. ``World.classes`` has the class of each arm.

    >>> from_classes([[0.1], [0.9], [0.2]], ["no", "yes", "no"]).classes
    array(['no', 'yes'], dtype='<U3')
    """
    if y is None:
        if not (hasattr(X, "data") and hasattr(X, "target")):
            raise DataError("there are no classes", help="give y, or a data set with data and target")
        X, y = X.data, X.target
    rows = np.asarray(as_contexts(X))
    if intercept:
        rows = np.column_stack([np.ones(len(rows)), rows])
    classes, number = np.unique(np.asarray(y), return_inverse=True)
    rewards = np.eye(len(classes))[number]
    world = from_table(rows, rewards, label=label)
    world.classes = classes
    return world


class LogWorld:
    """A log with propensities, as a world: see :func:`from_log`."""

    def __init__(self, log: Any, parts: dict[str, Any], label: str) -> None:
        #: What titles call it.
        self.label = label
        self.log = log
        self.parts = parts

    def __repr__(self) -> str:
        return f"<rarely.worlds.LogWorld: {self.label}>"


def from_log(
    log: Any,
    *,
    contexts: Any = None,
    arms: Any = None,
    rewards: Any = None,
    propensities: Any = None,
    arm_count: Optional[int] = None,
    minimum_propensity: Optional[float] = None,
    label: str = "log",
) -> LogWorld:
    """A log with propensities. The log and its parts are as in :func:`rarely.evaluate`, ``minimum_propensity`` as in :func:`rarely.replay_log`.

    An algorithm meets the rows of the log. A row counts if it chose what was done, with a probability that corrects for the propensities
    (Li et al. 2011). Nobody knows what another arm would have brought, so that there is no regret: :func:`rarely.simulate` returns a
    :class:`rarely.LogReplay`, with what each algorithm earned and its interval.

    >>> import numpy as np, rarely
    >>> rng = np.random.default_rng(1)
    >>> arms = rng.integers(2, size=2000)
    >>> log = {"contexts": np.ones((2000, 1)), "arms": arms, "rewards": 0.3 + 0.4 * arms + 0.1 * rng.normal(size=2000),
    ...        "propensities": np.full(2000, 0.5)}
    >>> found = rarely.simulate(from_log(log), algorithms=["thompson", "random"], runs=1)
    >>> [round(float(value), 1) for value in found.summary["value"]]
    [0.7, 0.5]
    """
    parts = {"contexts": contexts, "arms": arms, "rewards": rewards, "propensities": propensities}
    return LogWorld(log, {**parts, "arm_count": arm_count, "minimum_propensity": minimum_propensity}, label)


def _drawer(
    contexts: Union[npt.ArrayLike, Callable[[np.random.Generator, int], npt.ArrayLike], None], dimension: Optional[int]
) -> Callable[[np.random.Generator, int], npt.ArrayLike]:
    if contexts is None:
        width = 5 if dimension is None else dimension
        return lambda rng, rows: np.column_stack([np.ones(rows), rng.random((rows, width - 1))])
    if dimension is not None:
        raise DataError("dimension is given, but the contexts have their own", help="leave out dimension")
    if callable(contexts):
        return contexts
    people = as_contexts(contexts)
    return lambda rng, rows: people[rng.integers(len(people), size=rows)]


def _split(frame: Any) -> tuple[Any, _Numbers, Optional[_Numbers]]:
    """The contexts, outcomes and means of a data frame."""
    names = [str(name) for name in getattr(frame, "columns", ())]
    arms = [name.removeprefix("outcome:") for name in names if name.startswith("outcome:")]
    if len(arms) < 2:
        raise DataError(
            "there are no outcomes", help="give outcomes, or a frame with columns outcome:<arm> for two arms or more"
        )
    others = [name for name in names if not name.startswith(("outcome:", "mean:"))]

    def column(name: str) -> _Numbers:
        return np.asarray(frame[name].to_numpy(), dtype=np.float64)

    outcomes = np.column_stack([column(f"outcome:{arm}") for arm in arms])
    has_means = [f"mean:{arm}" in names for arm in arms]
    if any(has_means) and not all(has_means):
        raise DataError(
            f"mean:{arms[has_means.index(False)]} is missing", help="give the means of all arms, or of none"
        )
    means = np.column_stack([column(f"mean:{arm}") for arm in arms]) if all(has_means) else None
    return frame[others], outcomes, means
