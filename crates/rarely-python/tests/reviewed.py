"""Policies and logs for reviews: the examples, and a small one of which any column can be another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

EXAMPLES = Path(__file__).parents[3] / "examples"


def policy(name: str) -> Path:
    return EXAMPLES / name / "policy.toml"


def log(name: str) -> Path:
    return EXAMPLES / name / "log.csv"


class WithoutArrow:
    """A frame as pandas gives it where there is no pyarrow."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self.columns = frame.columns

    def __getitem__(self, key: str) -> Any:
        return self.frame[key]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise ImportError("pyarrow is required")


SMALL = """
policy = "small"
options = ["no", "yes"]
option_column = "given"
outcome = { column = "outcome", range = [0, 1] }
[[features]]
column = "x"
range = [0, 100]
[[features]]
column = "level"
levels = ["false", "true"]
[rule]
threshold = { feature = "x", cuts = [50], options = ["no", "yes"] }
"""
ROWS = 40


def small(**columns: Any) -> dict[str, Any]:
    """Columns of a log, some of them replaced."""
    base: dict[str, Any] = {
        "x": pa.array(range(ROWS), pa.int64()),
        "level": pa.array([str(row % 3 == 0).lower() for row in range(ROWS)]),
        "given": pa.array([["no", "yes"][row % 2] for row in range(ROWS)]),
        "outcome": pa.array([row % 5 / 5 for row in range(ROWS)]),
    }
    return {**base, **columns}


def table(**columns: Any) -> pa.Table:
    return pa.table(small(**columns))
