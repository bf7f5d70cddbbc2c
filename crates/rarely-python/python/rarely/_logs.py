"""Logs and policies as :func:`rarely.evaluate` takes them, turned into arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import _arrays, _rarely
from ._rarely import Document, Policy
from .errors import EvaluateError

__all__ = ["EvaluationRows", "policy_probabilities", "read_log"]

Numbers = npt.NDArray[np.float64]

#: What the parts of a mapping or the columns of a frame may be called.
_NAMES = {
    "contexts": ("contexts", "context"),
    "arms": ("arms", "arm", "action"),
    "rewards": ("rewards", "reward"),
    "propensities": ("propensities", "propensity", "pscore"),
}


@dataclass(frozen=True)
class EvaluationRows:
    """A log as arrays."""

    arms: npt.NDArray[np.int64]
    rewards: Numbers
    #: Of the arm that was given, or of every arm.
    propensities: Numbers
    contexts: Optional[Numbers]
    #: As functions get them: a frame stays a frame.
    given_contexts: Any = None
    #: As far as a document says so.
    arm_count: Optional[int] = None
    outcome_range: Optional[tuple[float, float]] = None
    minimum_propensity: Optional[float] = None
    #: The log itself, for documents.
    source: Any = None

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.arms)


def read_log(log: Any, policy: Any, against: Any, **given: Any) -> EvaluationRows:
    """The rows of a log; a document among the policies names its columns, unless they are given."""
    documents = [one for one in (policy, against) if _is_document(one)]
    if documents and all(part is None for part in given.values()):
        return _by_document(documents[0], log)
    arms = _part(log, "arms", given)
    rewards = _part(log, "rewards", given)
    propensities = _part(log, "propensities", given)
    for name, part in (("arms", arms), ("rewards", rewards), ("propensities", propensities)):
        if part is None:
            raise EvaluateError(
                f"the log has no {name}", help=f"give {name}=..., as an array or by the name of its column"
            )
    contexts = _part(log, "contexts", given)
    numbers = np.asarray(propensities, dtype=np.float64)
    if numbers.ndim not in (1, 2):
        raise EvaluateError(
            f"propensities have the shape {numbers.shape}", help="give one for each row, or one for each row and arm"
        )
    rows = None if contexts is None else _arrays.contexts(contexts)
    if rows is not None and rows.ndim == 1:
        rows = np.ascontiguousarray(rows[:, None])
    lines = _arrays.arms(arms)
    lengths = {"arms": len(lines), "rewards": len(rewards), "propensities": len(numbers)}
    lengths.update({} if rows is None else {"contexts": len(rows)})
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{count} {name}" for name, count in lengths.items())
        raise EvaluateError(
            f"the parts of the log have different lengths: {found}", help="give one of each for every row"
        )
    return EvaluationRows(
        lines,
        _arrays.rewards(rewards),
        np.ascontiguousarray(numbers),
        rows,
        given_contexts=rows if contexts is None or not hasattr(contexts, "columns") else contexts,
        source=log,
    )


def _part(log: Any, name: str, given: Mapping[str, Any]) -> Any:
    """A part of a log: what is given, a column or columns by name, or the part of that name."""
    wanted = given.get(name)
    is_frame = hasattr(log, "columns")
    is_mapping = isinstance(log, Mapping)
    if wanted is not None:
        if isinstance(wanted, str):
            return _named(log, [wanted], name)[0]
        if isinstance(wanted, (list, tuple)) and wanted and all(isinstance(one, str) for one in wanted):
            if is_frame and name == "contexts":
                _named(log, wanted, name)
                return log[list(wanted)]
            return np.column_stack([np.asarray(column, dtype=np.float64) for column in _named(log, wanted, name)])
        return wanted
    if not (is_frame or is_mapping):
        raise EvaluateError(
            f"the log is of type {type(log).__name__}",
            help="give a mapping with arms, rewards, propensities and contexts, or a data frame",
        )
    known = set(log.columns) if is_frame else set(log)
    return next((log[one] for one in _NAMES[name] if one in known and log[one] is not None), None)


def _named(log: Any, names: Any, part: str) -> list[Any]:
    known = list(log.columns) if hasattr(log, "columns") else list(log)
    missing = [name for name in names if name not in known]
    if missing:
        raise EvaluateError(
            f"{part}: the log has no column {missing[0]!r}", help=f"it has {', '.join(map(str, known))}"
        )
    return [log[name] for name in names]


def _is_document(policy: Any) -> bool:
    return isinstance(policy, (Document, os.PathLike)) or (isinstance(policy, str) and policy != "logging")


def _by_document(document: Any, log: Any) -> EvaluationRows:
    """The rows of a log as a document encodes them."""
    read = _rarely.document_log(document, log)
    contexts, arms, rewards, propensities, count, outcome_range, minimum = read
    if propensities is None:
        raise EvaluateError(
            "the document declares no propensities",
            help="name their column under [evidence], or give arms, rewards and propensities yourself",
        )
    return EvaluationRows(arms, rewards, propensities, contexts, contexts, count, outcome_range, minimum, source=log)


def policy_probabilities(policy: Any, rows: EvaluationRows, name: str) -> Numbers:
    """What a policy does at every row: probabilities (n × k), or arms (n) as numbers."""
    if isinstance(policy, str) and policy == "logging":
        if rows.propensities.ndim == 2:
            return rows.propensities
        if int(rows.arms.max(initial=0)) <= 1:
            given = rows.propensities
            first = np.where(rows.arms == 0, given, 1.0 - given)
            return np.column_stack([first, 1.0 - first])
        raise EvaluateError(
            f"{name}: the probability of every arm is needed",
            help="log the propensities of all arms, a column for each",
        )
    if _is_document(policy):
        return _checked(_rarely.document_arms(policy, rows.source), rows, name)
    if isinstance(policy, Policy):
        return _checked(policy.predict(_contexts(rows, name)), rows, name)
    if hasattr(policy, "predict_proba"):
        return _by_classes(policy, policy.predict_proba(_contexts(rows, name)), rows, name)
    if hasattr(policy, "predict"):
        return _checked(policy.predict(_contexts(rows, name)), rows, name)
    if callable(policy):
        return _checked(policy(_contexts(rows, name)), rows, name)
    return _checked(policy, rows, name)


def _contexts(rows: EvaluationRows, name: str) -> Any:
    if rows.contexts is None:
        raise EvaluateError(f"{name} decides by contexts, but the log has none", help="give contexts")
    return rows.given_contexts


def _by_classes(policy: Any, found: Any, rows: EvaluationRows, name: str) -> Numbers:
    """The probabilities of a classifier, each in the column of its class."""
    classes = np.asarray(getattr(policy, "classes_", np.arange(np.shape(found)[1])))
    if classes.dtype.kind not in "iub":
        raise EvaluateError(
            f"{name}: the classes are {list(classes)}, not arms", help="train it on the numbers of arms"
        )
    count = max(int(classes.max(initial=0)) + 1, int(rows.arms.max(initial=0)) + 1)
    matrix = np.zeros((rows.count, count))
    matrix[:, classes.astype(np.int64)] = np.asarray(found, dtype=np.float64)
    return _checked(matrix, rows, name)


def _checked(found: Any, rows: EvaluationRows, name: str) -> Numbers:
    if isinstance(found, (bool, np.bool_)) or (np.ndim(found) == 0 and not isinstance(found, (int, np.integer))):
        raise EvaluateError(
            f"{name} is {found!r}", help="give probabilities (n × k), arms (n), or something that returns them"
        )
    array = np.asarray(_values(found))
    if array.ndim == 0:
        array = np.full(rows.count, int(array))
    if array.ndim == 1:
        arms = _arrays.arms(array)
        if (arms < 0).any():
            raise EvaluateError(f"{name}: row {int(np.argmax(arms < 0))} has a negative arm", help="count arms from 0")
        array = arms
    if array.ndim not in (1, 2) or len(array) != rows.count:
        raise EvaluateError(
            f"{name} has the shape {array.shape}, but the log has {rows.count} rows",
            help="give the probability of every arm (n × k), or an arm for each row",
        )
    return array.astype(np.float64)


def _values(found: Any) -> Any:
    return found.to_numpy() if hasattr(found, "to_numpy") else found
