"""What a review by sums costs in DuckDB, beside the bare sums of the same products.

    python benchmarks/engines/duckdb_scale.py [--rows 1e6,1e7] [--features 8] [--options 4] [--threads 2] [--stored]

Rows are generated while they are read, so that a table of 10^9 rows needs no disk; with ``--stored`` they are in a table in memory. Of each size, in one run: the first statement of
``rarely sums sql``, the second one, and the floor, a plain ``SELECT sum(x*y), …`` of the same products in double precision, grouped by option,
without checks, without a sample and without anything exact. Times are those of the processor, over all threads, so that other programs on
the machine change them little; the last column is the clock. Memory is the highest of the process so far.
"""

from __future__ import annotations

import argparse
import resource
import time

import duckdb
import rarely
from rarely import _rarely

HEAD = "| rows | floor, s | first statement, s | × floor | second statement, s | × floor | rows per second and core | memory, MB | clock, s |"


def document(features: int, options: int) -> str:
    columns = "".join(f'[[features]]\ncolumn = "x{j}"\nrange = [0, 1]\n' for j in range(features))
    return (
        f'policy = "scale"\noptions = {list("abcdefgh"[:options])}\noutcome = {{ column = "y", range = [0, 1] }}\n{columns}'
        '[evidence]\nkey = "id"\ntime = "seen"\n[rule]\n'
        'threshold = { feature = "x0", cuts = [0.5], options = ["a", "b"] }\n'
    )


def rows_of(rows: int, features: int, options: int) -> str:
    """A query that makes its rows: a few multiplications each."""

    def fraction(j: int) -> str:
        return f"((i * {2654435761 + 2 * j} + {j * 97}) % 1048573) / 1048573.0::DOUBLE"

    columns = ", ".join(f"{fraction(j)} AS x{j}" for j in range(features))
    return (
        f"SELECT i AS id, TIMESTAMP '2024-01-01' + to_seconds(i % 31536000) AS seen, {columns}, "
        f"substr('abcdefgh', ((i * 40503) % 65537 % {options} + 1)::BIGINT, 1) AS option, "
        f"0.5 * {fraction(0)} + 0.5 * {fraction(features + 1)} AS y FROM range({rows}) AS made(i)"
    )


def floor(features: int) -> str:
    names = [
        "1.0",
        *(f"x{j}" for j in range(features)),
        *(f"(x{j} - 0.5) * (x{j} - 0.5)" for j in range(features)),
        "y",
    ]
    products = [f"sum({a} * {b})" for at, a in enumerate(names) for b in names[: at + 1]]
    return f"SELECT option, count(*), {', '.join(products)} FROM log GROUP BY option"


def processor() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def timed(connection: duckdb.DuckDBPyConnection, statement: str) -> tuple[float, list[tuple[object, ...]]]:
    started = processor()
    rows = connection.execute(statement).fetchall()
    return processor() - started, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="1e6,1e7")
    parser.add_argument("--features", type=int, default=8)
    parser.add_argument("--options", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--stored", action="store_true")
    arguments = parser.parse_args()
    kind = "TABLE" if arguments.stored else "VIEW"
    connection = duckdb.connect(config={"threads": arguments.threads})
    policy = rarely.Document(document(arguments.features, arguments.options))
    print(HEAD)
    print("|---" * (HEAD.count("|") - 1) + "|")
    for size in arguments.rows.split(","):
        rows = int(float(size))
        connection.execute(f"CREATE OR REPLACE {kind} log AS {rows_of(rows, arguments.features, arguments.options)}")
        bare, _ = timed(connection, floor(arguments.features))
        started = time.perf_counter()
        first, found = timed(connection, _rarely.first_scan(policy, "duckdb", "log"))
        state = rarely.State.from_sums(policy, rarely.engines._rows(found))
        statement = state.second_scan("duckdb", "log")
        second, confirmed = timed(connection, statement) if statement else (0.0, [])
        state.review(confirmed_sums=rarely.engines._rows(confirmed) if confirmed else None)
        clock = time.perf_counter() - started
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"| {rows:,} | {bare:.2f} | {first:.2f} | {first / bare:.1f} | {second:.2f} | {second / bare:.1f} "
            f"| {rows / (first + second):,.0f} | {memory:,.0f} | {clock:,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
