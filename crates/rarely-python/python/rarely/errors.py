"""What can go wrong: one class for each family of errors, all of them :class:`Error`.

The messages are those of the command line: what was wrong, where, and what to do.
"""

from __future__ import annotations

__all__ = [
    "ContextError",
    "DataError",
    "DocumentError",
    "Error",
    "MergeError",
    "ObserveError",
    "RestoreError",
    "ReviewError",
    "ServiceError",
    "SettingsError",
    "TaskError",
]


class Error(Exception):
    """Any error of this package."""


class SettingsError(Error, ValueError):
    """A policy cannot be built: a number out of range, an unknown name, two settings that exclude each other."""


class ContextError(Error, ValueError):
    """Contexts do not fit: another number of variables, NaN, infinity, a column that holds no numbers."""


class ObserveError(Error, ValueError):
    """Outcomes do not fit: an unknown arm, a reward that is no number, arrays of different lengths. Nothing was learned."""


class MergeError(Error, ValueError):
    """Two policies cannot be added: they were not built alike."""


class RestoreError(Error, ValueError):
    """Bytes are no policy, or one of another version."""


class DocumentError(Error, ValueError):
    """A policy document is wrong; the message has the line and the column."""


class DataError(Error, ValueError):
    """A log is wrong: a missing column, a bad value; the message has the row and the column."""


class ReviewError(Error, ValueError):
    """A log says nothing of a policy: it has no case, or none that fits."""


class TaskError(Error, ValueError):
    """A simulation cannot be run as asked."""


class ServiceError(Error):
    """A service answered with an error, or not at all."""

    #: The HTTP status; 0 if there was no answer.
    status: int
    #: The problem document (RFC 9457) that came with it, if any.
    problem: dict[str, object]

    def __init__(self, message: str, status: int = 0, problem: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.problem = problem or {}
