"""Decision policies that change seldom, and only on evidence."""

from __future__ import annotations

from . import errors
from ._rarely import (
    ALGORITHMS,
    ENVIRONMENTS,
    Boundary,
    Certificate,
    Change,
    Gain,
    Policy,
    __version__,
)
from .errors import Error

__all__ = [
    "ALGORITHMS",
    "ENVIRONMENTS",
    "Boundary",
    "Certificate",
    "Change",
    "Error",
    "Gain",
    "Policy",
    "__version__",
    "errors",
]
