"""One class for each kind of error, all of them an :class:`Error`.

The message says what is wrong and where. What to do about it, if anything can be done, is a note: ``help: ...``. Another one names the
page of the book that explains more, if there is one: ``see: docs/...``.
"""

from __future__ import annotations

import sys

__all__ = [
    "ConfirmError",
    "ContextError",
    "DataError",
    "DocumentError",
    "Error",
    "EvaluateError",
    "EvaluationWarning",
    "ExperimentError",
    "FigureError",
    "LinearModelWarning",
    "MergeError",
    "ObserveError",
    "RestoreError",
    "ReviewError",
    "ServiceError",
    "SettingsError",
]


class Error(Exception):
    """Any error of this package. ``help`` and ``see`` become notes or, before Python 3.11, the end of the message."""

    def __init__(self, message: str = "", *, help: str | None = None, see: str | None = None) -> None:
        notes = [f"{name}: {text}" for name, text in (("help", help), ("see", see)) if text is not None]
        if sys.version_info >= (3, 11):
            super().__init__(message)
            for note in notes:
                self.add_note(note)
        else:
            super().__init__("\n".join([message, *notes]))


class SettingsError(Error, ValueError):
    """A policy cannot be built: a number out of range, an unknown name, two settings that exclude each other."""


class ContextError(Error, ValueError):
    """Contexts are wrong: another number of variables, NaN, infinity, a column without numbers."""


class ObserveError(Error, ValueError):
    """Outcomes are wrong: an unknown arm, a reward that is not a number, arrays of different lengths. Nothing was learned."""


class MergeError(Error, ValueError):
    """Two policies cannot be added, because their settings differ."""


class RestoreError(Error, ValueError):
    """Bytes are not those of a policy of this version."""


class DocumentError(Error, ValueError):
    """A policy document is wrong; the message has the line and the column."""


class DataError(Error, ValueError):
    """A log is wrong: a missing column, a bad value; the message has the row and the column."""


class ReviewError(Error, ValueError):
    """A log cannot be used for a review: it has no case, or none that fits the policy."""


class ConfirmError(Error, ValueError):
    """A gain cannot be confirmed: too few rows, rare outcomes, a look that was not planned, missing propensities."""


class EvaluateError(Error, ValueError):
    """A policy has no value on a log: parts that do not fit, weights that cannot be trusted, an interval that needs a declaration."""


class EvaluationWarning(UserWarning):
    """The weights of an off-policy value cannot be trusted."""


class LinearModelWarning(UserWarning):
    """A linear model judges a rule that may be of any form."""


class ExperimentError(Error, ValueError):
    """The arguments of a simulation are wrong."""


class FigureError(Error, ValueError):
    """A picture cannot be drawn at this scale."""


class ServiceError(Error):
    """A service answered with an error, or not at all."""

    #: The HTTP status; 0 if there was no answer.
    status: int
    #: The problem document (RFC 9457) that came with it, if any.
    problem: dict[str, object]

    def __init__(
        self,
        message: str,
        status: int = 0,
        problem: dict[str, object] | None = None,
        *,
        help: str | None = None,
        see: str | None = None,
    ) -> None:
        super().__init__(message, help=help, see=see)
        self.status = status
        self.problem = problem or {}
