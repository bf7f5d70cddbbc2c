"""What a frame may hold, and what is said of what it may not."""

from __future__ import annotations

import datetime
import decimal
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rarely
from rarely.errors import DataError, Error
from reviewed import ROWS, SMALL, WithoutArrow, policy, small, table
from said import said

NUMBERS = [
    pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
    pa.float16(), pa.float32(), pa.float64(), pa.decimal128(10, 3), pa.decimal256(50, 3),
]  # fmt: skip


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_every_width_of_numbers(kind: pa.DataType) -> None:
    values: Any = [np.float16(row) if kind == pa.float16() else row for row in range(ROWS)]
    if pa.types.is_decimal(kind):
        values = [decimal.Decimal(row) for row in range(ROWS)]
    expected = rarely.review(SMALL, table()).to_dict()
    assert rarely.review(SMALL, table(x=pa.array(values, kind))).to_dict() == expected
    coded = pa.array(range(ROWS), pa.int64()).dictionary_encode()
    assert rarely.review(SMALL, table(x=coded)).to_dict() == expected


WORDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())] + [
    pa.dictionary(key, pa.large_string()) for key in (pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32())
]


@pytest.mark.parametrize("kind", WORDS, ids=str)
def test_every_kind_of_words(kind: pa.DataType) -> None:
    expected = rarely.review(SMALL, table()).to_dict()
    words = small()["given"].to_pylist()
    assert rarely.review(SMALL, table(given=pa.array(words, kind))).to_dict() == expected
    # A number that is written as words is a number, as in a CSV file; blanks around it do not matter.
    spelt = pa.array([f" {row} " for row in range(ROWS)], pa.string()).cast(kind)
    assert rarely.review(SMALL, table(x=spelt)).to_dict() == expected


def test_booleans_are_words() -> None:
    expected = rarely.review(SMALL, table()).to_dict()
    truths = [row % 3 == 0 for row in range(ROWS)]
    for frame in (
        table(level=pa.array(truths)),
        pd.DataFrame(table().to_pydict()).assign(level=truths),
        {**table().to_pydict(), "level": np.array(truths)},
        {**table().to_pydict(), "level": truths},
    ):
        assert rarely.review(SMALL, frame).to_dict() == expected


def test_slices_of_a_table_are_read_where_they_begin() -> None:
    longer = pa.concat_tables([table(), table(), table()]).combine_chunks().slice(ROWS, ROWS)
    assert rarely.review(SMALL, longer).to_dict() == rarely.review(SMALL, table()).to_dict()


TIMED = SMALL.replace('column = "level"\nlevels = ["false", "true"]', 'column = "day"\nlevels = ["{0}", "{1}"]')


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        (pa.date32(), "2026-11-16", "2026-11-17"),
        (pa.date64(), "2026-11-16", "2026-11-17"),
        (pa.timestamp("s"), "2026-11-16T00:00:00.000", "2026-11-17T00:00:00.000"),
        (pa.timestamp("ms", "UTC"), "2026-11-16T00:00:00.000Z", "2026-11-17T00:00:00.000Z"),
        (pa.timestamp("us"), "2026-11-16T00:00:00.000000", "2026-11-17T00:00:00.000000"),
        (pa.timestamp("ns"), "2026-11-16T00:00:00.000000000", "2026-11-17T00:00:00.000000000"),
    ],
    ids=str,
)
def test_times_are_the_words_of_a_parquet_file(kind: pa.DataType, first: str, second: str, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    days = [datetime.datetime(2026, 11, 16 + row % 2, tzinfo=datetime.timezone.utc) for row in range(ROWS)]
    frame = table(day=pa.array([day.replace(tzinfo=None) for day in days], pa.timestamp("us")).cast(kind))
    text = TIMED.replace("{0}", first).replace("{1}", second)
    found = rarely.review(text, frame).to_dict()
    pq.write_table(frame, tmp_path / "log.parquet")
    assert found == rarely.review(text, tmp_path / "log.parquet").to_dict()


def test_dates_in_a_list_are_words() -> None:
    days = [datetime.date(2026, 11, 16 + row % 2) for row in range(ROWS)]
    text = TIMED.replace("{0}", "2026-11-16").replace("{1}", "2026-11-17")
    expected = rarely.review(text, table(day=pa.array(days))).to_dict()
    assert rarely.review(text, {**table().to_pydict(), "day": days}).to_dict() == expected
    assert rarely.review(text, pd.DataFrame({**table().to_pydict(), "day": days})).to_dict() == expected


def test_blanks_around_names_do_not_matter() -> None:
    expected = rarely.review(SMALL, table()).to_dict()
    padded = table().rename_columns([f" {name} " for name in table().column_names])
    for frame in (padded, WithoutArrow(padded.to_pandas()), padded.to_pydict(), padded.to_pylist()):
        assert rarely.review(SMALL, frame).to_dict() == expected


def test_damaged_words_are_an_error() -> None:
    offsets = pa.py_buffer(np.arange(ROWS + 1, dtype=np.int32).tobytes())
    words = pa.Array.from_buffers(pa.string(), ROWS, [None, offsets, pa.py_buffer(b"\xff" * ROWS)])
    with pytest.raises(DataError, match="the frame, column `given`: it holds damaged data"):
        rarely.review(SMALL, table(given=words))


def test_what_is_missing_is_missing() -> None:
    holes = [None if row == 7 else float(row) for row in range(ROWS)]
    expected = "the frame, row 7 (from 0), column `x`: x is empty, but must be a number"
    plain = table().to_pydict()
    for frame in (
        table(x=pa.array(holes)),
        table(x=pa.array(holes).dictionary_encode()),
        pd.DataFrame({**plain, "x": holes}),
        pd.DataFrame({**plain, "x": pd.array(holes, dtype="Float64")}),
        WithoutArrow(pd.DataFrame({**plain, "x": holes})),
        WithoutArrow(pd.DataFrame({**plain, "x": pd.array(holes, dtype="Float64")})),
        pl.DataFrame({**plain, "x": holes}),
        {**plain, "x": holes},
        {**plain, "x": np.array([np.nan if hole is None else hole for hole in holes])},
        [{**row, "x": hole} for row, hole in zip(table().to_pylist(), holes)],
        [{key: value for key, value in row.items() if key != "x" or row["x"] != 7} for row in table().to_pylist()],
    ):
        with pytest.raises(DataError, match=re.escape(expected)) as caught:
            rarely.review(SMALL, frame)
        assert said(caught.value).endswith("see: docs/reference/errors.md#bad-rows")
        found = rarely.review(SMALL, frame, reject_limit=1)
        assert (found.rows, found.rejected_count) == (ROWS - 1, 1)
        assert found.rejected[0].startswith(expected)
    words = [None if row == 3 else "no" for row in range(ROWS)]
    for given in (pa.array(words), pa.array(words, pa.string_view()), pa.array(words).dictionary_encode()):
        with pytest.raises(DataError, match=r"the frame, row 3 \(from 0\), column `given`: given is empty"):
            rarely.review(SMALL, table(given=given))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (lambda: table(x=pa.array([[1]] * ROWS)), "the frame, column `x`: it holds values of type List"),
        (lambda: table(x=pa.array([b"1"] * ROWS)), "the frame, column `x`: it holds values of type Binary"),
        (lambda: table(x=pa.array([{"a": 1}] * ROWS)), "the frame, column `x`: it holds values of type Struct"),
        (lambda: {**table().to_pydict(), "x": [1, "a"] * (ROWS // 2)}, "the frame, column `x`: it holds a mix: numbers, and from row 1"),
        (lambda: pd.DataFrame({**table().to_pydict(), "x": [1, "a"] * (ROWS // 2)}), "the frame, column `x`: it holds a mix: numbers"),
        (lambda: {**table().to_pydict(), "x": [object()] * ROWS}, "the frame, column `x`: it holds objects of type object"),
        (lambda: {**table().to_pydict(), "x": np.zeros(ROWS, complex)}, "the frame, column `x`: it holds values of type complex128"),
        (lambda: {**table().to_pydict(), "x": np.zeros((ROWS, 2))}, "the frame, column `x`: it holds an array of 2 dimensions"),
        (lambda: {**table().to_pydict(), "x": "abc"}, "the frame, column `x`: it holds one text"),
        (lambda: {**table().to_pydict(), "x": 7}, "the frame, column `x`: it holds one value of type int"),
        (lambda: {**table().to_pydict(), "x": [1]}, "the frame: column `x` has 1 values and column `level` 40"),
        (lambda: table().rename_columns(["y", "levels", "given", "outcome"]), 'the frame: no column "x"'),
        (lambda: table().rename_columns(["x", "levels", "given", "outcome"]), 'did you mean "levels"?'),
        (lambda: pd.concat([table().to_pandas()] * 2, axis=1), "both named"),
        (lambda: table().slice(0, 0), "the frame: there is no row"),
        (lambda: {key: [] for key in table().to_pydict()}, "the frame: there is no row"),
        (lambda: table(x=pa.array([150] * ROWS)), "the frame, row 0 (from 0), column `x`: x is 150, above its range 0–100"),
        (lambda: table(given=pa.array(["yess"] * ROWS)), "the frame, row 0 (from 0), column `given`: given is \"yess\", which is not an option"),
        (lambda: [{"x": 1}, 3], "the frame, row 1 (from 0): it is not a dict"),
        (lambda: "nowhere.csv", "nowhere.csv: cannot be read"),
        (lambda: policy("clinical"), "policy.toml: the name ends in none of .csv"),
    ],
)  # fmt: skip
def test_an_error_says_where(frame: Any, message: str) -> None:
    with pytest.raises(DataError) as raised:
        rarely.review(SMALL, frame())
    assert message in said(raised.value)
    assert isinstance(raised.value, Error) and isinstance(raised.value, ValueError)


def test_a_column_that_is_not_needed_may_be_anything() -> None:
    expected = rarely.review(SMALL, table()).to_dict()
    mixed = pd.DataFrame(table().to_pydict()).assign(other=[1, "a"] * (ROWS // 2))
    for frame in (table(other=pa.array([[1]] * ROWS)), mixed, {**table().to_pydict(), "other": object()}):
        assert rarely.review(SMALL, frame).to_dict() == expected
