"""Reviews whose rows stay where they are: in DuckDB, in Spark, in a database, or in the partitions of a Dask frame.

The engine sums, two statements or two passes in all; what comes back is a few thousand whole numbers and a sample of rows. The same
rows give the same review, whatever the engine (mathematics, section 17).
"""

from __future__ import annotations

import importlib
import itertools
import os
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional, Union

from . import _rarely
from ._rarely import Document, Review, State
from .errors import ReviewError

__all__ = ["DIALECTS", "review"]

#: The dialects of SQL that statements are written in.
DIALECTS = ("duckdb", "postgres", "spark", "bigquery", "snowflake", "clickhouse")

#: A policy document: checked, or as a path or text.
AnyDocument = Union[str, "os.PathLike[str]", Document]
#: Runs a statement and returns its rows.
Run = Callable[[str], Iterable[Sequence[Any]]]

#: What drivers and SQLAlchemy call a dialect.
_NAMES = {
    "duckdb": "duckdb",
    "postgres": "postgres",
    "postgresql": "postgres",
    "psycopg": "postgres",
    "psycopg2": "postgres",
    "pg8000": "postgres",
    "spark": "spark",
    "databricks": "spark",
    "pyhive": "spark",
    "bigquery": "bigquery",
    "snowflake": "snowflake",
    "clickhouse": "clickhouse",
    "clickhousedb": "clickhouse",
    "clickhouse_connect": "clickhouse",
    "clickhouse_driver": "clickhouse",
}

_views = itertools.count()


def review(
    document: AnyDocument,
    frame: Any,
    *,
    table: Optional[str] = None,
    where: Optional[str] = None,
    latest_by: Optional[str] = None,
    dialect: Optional[str] = None,
    population: Any = None,
    option_column: Optional[str] = None,
    reject_limit: int = 0,
    state: Union[bytes, Sequence[bytes], None] = None,
    time_column: Optional[str] = None,
) -> Review:
    """Reviews a policy document against past cases: keep the rule or change it, to what, and on what evidence.

    ``frame`` is a data frame (pandas, polars, pyarrow, anything with ``__arrow_c_stream__``), a dict of columns, a list of dicts, or the
    path or paths of a log; ``None``, if there is only ``state``. The rows stay where they are if it is

    - a DuckDB relation or a Spark frame: the engine runs two statements;
    - a connection (SQLAlchemy, ADBC or DB-API), with the name of a ``table``, and perhaps a condition ``where``; ``dialect`` is one of
      ``rarely.engines.DIALECTS`` where it cannot be told from the connection. Of rows that share a key, ``latest_by`` keeps the one with the
      largest value of that column;
    - a Dask frame: every partition becomes a :class:`State`, and the states are added.

    The document then declares a ``key`` and the range of the outcome, and a ``time`` or ``order = "any"``, because a table has no order.

    ``population`` are the people whom the rule is for, in any form of a frame. With ``time_column``, a column of dates or times, further
    cases are told in months as well.
    """
    checked = Document(document, option_column)
    kind = type(frame).__module__.split(".")[0].lstrip("_")
    if table is not None:
        name = dialect or _dialect_of(frame)
        return _by_sql(checked, name, table, _runner(frame), where, latest_by, population, reject_limit)
    if kind == "duckdb" and hasattr(frame, "query"):
        view = _view()
        run: Run = lambda text: frame.query(view, text).fetchall()  # noqa: E731
        return _by_sql(checked, "duckdb", view, run, where, latest_by, population, reject_limit)
    if kind == "pyspark" and hasattr(frame, "createOrReplaceTempView"):
        return _by_spark(checked, frame, where, latest_by, population, reject_limit)
    given = {"where": where, "latest_by": latest_by, "dialect": dialect}
    needless = [name for name, value in given.items() if value is not None]
    if needless:
        raise TypeError(f"{needless[0]} needs a table, a DuckDB relation or a Spark frame")
    if kind in ("dask", "dask_expr") and hasattr(frame, "to_delayed"):
        return _by_dask(checked, frame, population, reject_limit)
    return _rarely.review(
        checked, frame, population=population, reject_limit=reject_limit, state=state, time_column=time_column
    )


def _view() -> str:
    return f"rarely_log_{os.getpid()}_{next(_views)}"


def _by_sql(
    document: Document,
    dialect: str,
    table: str,
    run: Run,
    where: Optional[str],
    latest_by: Optional[str],
    population: Any,
    reject_limit: int,
) -> Review:
    """Two statements: the sums that propose, then those that confirm what was proposed."""
    first = _rarely.first_scan(document, dialect, table, where=where, latest_by=latest_by)
    state = State.from_sums(document, _rows(run(first)), reject_limit=reject_limit)
    second = state.second_scan(dialect, table, where=where, latest_by=latest_by, population=population)
    if second is None:
        return state.review(population=population)
    return state.review(population=population, confirmed_sums=_rows(run(second)))


def _rows(rows: Iterable[Sequence[Any]]) -> list[tuple[str, int, int, int, str]]:
    """The rows of a result: its kind, three places, and numbers as text. What is missing is said when it is read."""
    return [(str(row[0]), int(row[1]), int(row[2]), int(row[3]), "" if row[4] is None else str(row[4])) for row in rows]


def _by_spark(
    document: Document, frame: Any, where: Optional[str], latest_by: Optional[str], population: Any, reject_limit: int
) -> Review:
    view, session = _view(), frame.sparkSession
    frame.createOrReplaceTempView(view)
    try:
        run: Run = lambda text: session.sql(text).collect()  # noqa: E731
        return _by_sql(document, "spark", view, run, where, latest_by, population, reject_limit)
    finally:
        session.catalog.dropTempView(view)


def _by_dask(document: Document, frame: Any, population: Any, reject_limit: int) -> Review:
    """A state for every partition, added; then the sums that confirm, from every partition again."""
    # Its functions are not typed.
    dask: Any = importlib.import_module("dask")
    partitions = frame.to_delayed()
    states = [dask.delayed(_state_of)(document, partition, reject_limit) for partition in partitions]
    state = State(document)
    for part in dask.compute(*states):
        state = state + State.from_bytes(document, part)
    whole = dask.delayed(_on_workers(state), traverse=False)
    sums = [dask.delayed(_sums_of)(whole, partition, reject_limit) for partition in partitions]
    return state.review(population=population, confirmed=list(dask.compute(*sums)))


def _on_workers(state: State) -> Any:
    """The state where the workers of a cluster have it: with its sample it is too large to travel in the graph."""
    try:
        client = importlib.import_module("distributed").get_client()
    except (ImportError, ValueError):
        return state
    return client.scatter(state, broadcast=True)


def _state_of(document: Document, partition: Any, reject_limit: int) -> bytes:
    state = State(document)
    return (state.update(partition, reject_limit=reject_limit) if len(partition) else state).to_bytes()


def _sums_of(state: State, partition: Any, reject_limit: int) -> tuple[int, list[Optional[int]]]:
    return state.confirm(partition, reject_limit=reject_limit)


def _dialect_of(connection: Any) -> str:
    """What a connection speaks, by its SQLAlchemy dialect, its vendor or its driver."""
    found = getattr(getattr(connection, "dialect", None), "name", None)
    if found is None and hasattr(connection, "adbc_get_info"):
        found = str(connection.adbc_get_info().get("vendor_name", ""))
    if found is None:
        found = type(connection).__module__.split(".")[0].lstrip("_")
    dialect = _NAMES.get(found.lower())
    if dialect is None:
        raise ReviewError(f"the dialect of {found!r} is not known; give dialect=, one of {', '.join(DIALECTS)}")
    return dialect


def _runner(connection: Any) -> Run:
    """Runs statements on a connection, whatever its kind."""
    if hasattr(connection, "dialect"):
        return _sqlalchemy_runner(connection)

    def run(text: str) -> Iterable[Sequence[Any]]:
        cursor = connection.cursor()
        try:
            cursor.execute(text)
            rows: Iterable[Sequence[Any]] = cursor.fetchall()
            return rows
        finally:
            cursor.close()

    return run


def _sqlalchemy_runner(connection: Any) -> Run:
    def run(text: str) -> Iterable[Sequence[Any]]:
        if hasattr(connection, "connect"):
            with connection.connect() as opened:
                return list(opened.exec_driver_sql(text).fetchall())
        return list(connection.exec_driver_sql(text).fetchall())

    return run
