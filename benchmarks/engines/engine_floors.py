"""What a review by sums costs in PostgreSQL and in Spark, each beside its own bare sums of the same products.

    python benchmarks/engines/engine_floors.py --postgres postgresql://owner@127.0.0.1/postgres [--rows 200000]
    python benchmarks/engines/engine_floors.py --spark [--rows 1000000]

The log is the one of ``duckdb_scale.py``, loaded into a table or a Parquet file first. Each engine has one core. Times are those of the
processor of the engine's process (Linux, on this machine), so that other programs change them little; Spark runs every statement once
before, so that its compilers are not measured.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import duckdb
import rarely
from duckdb_scale import document, floor, rows_of
from rarely import _rarely

Run = Callable[[str], Iterable[Any]]


def processor_of(pid: int) -> float:
    """The seconds of processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(
    engine: str, policy: rarely.Document, dialect: str, rows: int, features: int, pid: int, run: Run, repeat: int
) -> None:
    def timed(statement: str) -> tuple[float, list[Any]]:
        for _ in range(repeat):
            started = processor_of(pid)
            found = list(run(statement))
            spent = processor_of(pid) - started
        return spent, found

    bare, _ = timed(floor(features))
    first, found = timed(_rarely.first_scan(policy, dialect, "log"))
    state = rarely.State.from_sums(policy, rarely.engines._rows(found))
    statement = state.second_scan(dialect, "log")
    second = timed(statement)[0] if statement else 0.0
    print(
        "| engine | rows | floor, s | first statement, s | × floor | second statement, s | × floor | rows per second and core |"
    )
    print("|---|---|---|---|---|---|---|---|")
    print(
        f"| {engine} | {rows:,} | {bare:.2f} | {first:.2f} | {first / bare:.1f} | {second:.2f} | {second / bare:.1f} "
        f"| {rows / (first + second):,.0f} |"
    )


def in_postgres(address: str, policy: rarely.Document, rows: int, features: int, options: int) -> None:
    import psycopg

    with psycopg.connect(address) as connection:
        numbers = "".join(f"x{j} float8, " for j in range(features))
        connection.execute(f"CREATE TEMPORARY TABLE log (id bigint, seen timestamp, {numbers}option text, y float8)")
        with connection.cursor() as cursor, cursor.copy("COPY log FROM STDIN") as copy:
            for row in duckdb.sql(rows_of(rows, features, options)).fetchall():
                copy.write_row(row)
        connection.execute("ANALYZE log")
        connection.execute("SET max_parallel_workers_per_gather = 0")
        connection.execute("SET jit = off")
        measure(
            "PostgreSQL",
            policy,
            "postgres",
            rows,
            features,
            connection.info.backend_pid,
            lambda text: connection.execute(text),
            1,
        )


def in_spark(policy: rarely.Document, rows: int, features: int, options: int) -> None:
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1", "spark.sql.session.timeZone": "UTC"}
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        duckdb.sql(rows_of(rows, features, options)).write_parquet(f"{folder}/log.parquet")
        session.read.parquet(f"{folder}/log.parquet").createOrReplaceTempView("log")
        process = session._jvm.java.lang.ProcessHandle.current().pid()
        measure("Spark", policy, "spark", rows, features, process, lambda text: session.sql(text).collect(), 2)
    session.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", metavar="ADDRESS")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--rows", type=float, default=2e5)
    parser.add_argument("--features", type=int, default=8)
    parser.add_argument("--options", type=int, default=4)
    arguments = parser.parse_args()
    policy = rarely.Document(document(arguments.features, arguments.options))
    log = (int(arguments.rows), arguments.features, arguments.options)
    if arguments.postgres:
        in_postgres(arguments.postgres, policy, *log)
    if arguments.spark:
        in_spark(policy, *log)


if __name__ == "__main__":
    main()
