"""The command line, to compare with; engines that tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from engine_servers import postgres, spark

__all__ = ["postgres", "spark"]


@pytest.fixture(scope="session")
def binary() -> Path:
    """The program `rarely`: `$RARELY_BINARY`, or the workspace's debug build."""
    built = Path(__file__).parents[3] / "target" / "debug" / "rarely"
    path = Path(os.environ.get("RARELY_BINARY", built))
    if not path.exists():
        pytest.skip(f"{path} is not there: build it, or name it in RARELY_BINARY")
    return path
