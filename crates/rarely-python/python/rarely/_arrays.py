"""Conversion to row-major float64. The native half calls these functions only where it cannot borrow an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import ContextError, ObserveError

__all__ = ["arms", "by_name", "clusters", "contexts", "rewards"]

#: Kinds of numpy dtypes that hold real numbers: booleans, integers, unsigned integers, floats.
_NUMBERS = "biuf"


def contexts(X: Any) -> npt.NDArray[np.float64]:
    """One row or rows of numbers as float64, without a copy where that is possible."""
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        return _frame(X)
    array = _array(X, ContextError, "X")
    if array.dtype.kind not in _NUMBERS:
        message, remedy = _refusal(array)
        raise ContextError(message, help=remedy)
    if array.ndim not in (1, 2):
        raise ContextError(f"X has {array.ndim} dimensions", help="give one row (1-D) or rows of contexts (2-D)")
    return np.require(array, np.float64, ["C", "A"])


def by_name(frame: Any, known: list[str] | None) -> tuple[Any, list[str] | None]:
    """A frame with its columns in the order of `known`, and its names; columns without names stay where they are."""
    names = list(frame.columns)
    if not all(isinstance(name, str) for name in names):
        return frame, None
    if known is None or names == known:
        return frame, names
    if sorted(names) == sorted(known) and len(set(names)) == len(names):
        return frame[known], known
    missing = [name for name in known if name not in names]
    extra = [name for name in names if name not in known]
    found = ", ".join([*(f"no column {name!r}" for name in missing), *(f"a column {name!r}" for name in extra)])
    raise ContextError(
        f"the frame has {found or 'a column twice'}, but the policy learned from {', '.join(map(repr, known))}",
        help="give the same columns, in any order",
    )


def arms(given: Any) -> npt.NDArray[np.int64]:
    """A one-dimensional array of arms, as int64."""
    array = _line(given, "arms")
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (array == np.floor(array))
        if not whole.all():
            row = int(np.argmin(whole))
            raise ObserveError(f"row {row}: arm {array[row]} is not a whole number", help="count arms from 0")
    if array.dtype.kind in "uf" and array.size:
        row = int(np.argmax(np.abs(array)))
        if abs(array[row]) >= 2**53:
            raise ObserveError(f"row {row}: arm {array[row]} does not exist")
    return np.require(array, np.int64, ["C", "A"])


def clusters(given: Any) -> npt.NDArray[np.int64]:
    """A one-dimensional array of names, of any kind, as numbers."""
    if hasattr(given, "to_numpy"):
        given = given.to_numpy()
    array = np.asarray(given)
    if array.ndim != 1:
        raise ObserveError(f"clusters have the shape {array.shape}", help="give one name for each row")
    return np.require(np.unique(array, return_inverse=True)[1], np.int64, ["C", "A"])


def rewards(given: Any) -> npt.NDArray[np.float64]:
    """A one-dimensional array of rewards, as float64."""
    return np.require(_line(given, "rewards"), np.float64, ["C", "A"])


def _line(given: Any, name: str) -> npt.NDArray[Any]:
    if hasattr(given, "to_numpy"):
        given = given.to_numpy()
    array = _array(given, ObserveError, name)
    if array.size == 0 and array.ndim == 1:
        return array.astype(np.float64) if array.dtype.kind not in _NUMBERS else array
    if array.dtype.kind not in _NUMBERS:
        raise ObserveError(f"{name} hold {_what(array)}, not numbers", help="give one number for each row")
    if array.ndim > 1 and array.size != max(array.shape):
        raise ObserveError(f"{name} have the shape {array.shape}", help="give one number for each row")
    return array.reshape(-1)


def _array(given: Any, error: type[ContextError] | type[ObserveError], name: str) -> npt.NDArray[Any]:
    if np.ma.is_masked(given):
        raise error(f"{name} is a masked array with masked entries", help="fill them, or leave their rows out")
    try:
        return np.asarray(given)
    except (ValueError, OverflowError) as problem:
        raise error(f"{name} is not an array of numbers: {problem}") from None


def _frame(frame: Any) -> npt.NDArray[np.float64]:
    """The rows of a pandas or polars frame; each column must hold numbers."""
    columns = []
    names = list(frame.columns)
    for position, name in enumerate(names):
        # By position: names may occur twice.
        column = frame.iloc[:, position] if hasattr(frame, "iloc") else frame[name]
        values = _column(column)
        if values is None:
            kind = getattr(column, "dtype", "objects")
            raise ContextError(
                f"column {name!r} (number {position + 1} of {len(names)}) holds {kind}, not numbers",
                help="encode it as numbers, or leave it out",
            )
        columns.append(values)
    if not columns:
        raise ContextError("the frame has no columns")
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.float64)


def _column(column: Any) -> npt.NDArray[np.float64] | None:
    """A column's numbers, missing ones as NaN; ``None`` if it holds something else."""
    values = np.asarray(column.to_numpy())
    if values.dtype.kind == "O" and getattr(column.dtype, "kind", "O") in _NUMBERS:
        # Nullable numbers with missing values.
        try:
            values = np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        except (TypeError, ValueError):
            return None
    if values.dtype.kind not in _NUMBERS:
        return None
    return values.astype(np.float64, copy=False)


def _refusal(array: npt.NDArray[Any]) -> tuple[str, str]:
    """Which column of an array holds no numbers, and what to do."""
    remedy = "convert it to numbers, or leave it out"
    if array.ndim == 0 and array.dtype.kind == "O":
        return f"X is a {type(array[()]).__name__}, not rows of numbers", "convert it to an array or a frame"
    if array.dtype.kind == "O" and array.ndim == 2:
        for column in range(array.shape[1]):
            for row in range(array.shape[0]):
                value = array[row, column]
                if not isinstance(value, (bool, int, float, np.number)):
                    return f"column {column} holds objects: in row {row} it is {value!r}", remedy
        return "the array holds Python objects", "convert it with X.astype(float)"
    if array.dtype.names:
        return f"X has named fields ({', '.join(array.dtype.names)})", "give rows of numbers"
    return f"X holds {_what(array)}, not numbers", remedy


def _what(array: npt.NDArray[Any]) -> str:
    kinds = {"O": "objects", "U": "words", "S": "bytes", "c": "complex numbers", "M": "dates", "m": "durations"}
    return kinds.get(array.dtype.kind, str(array.dtype))
