"""What a review by sums costs in DuckDB, beside the bare sums of the same products.

    python benchmarks/engines/duckdb_scale.py [--rows 1e6,1e7] [--features 8] [--threads 2]

Rows are generated while they are read, so that a table of 10^9 rows needs no disk. Of each size, in one run: the first statement of
``rarely sums sql``, the second one, and the floor, a plain ``SELECT sum(x*y), …`` of the same products in double precision, grouped by option,
without checks, without a sample and without anything exact. Times are wall clock over all threads; memory is the highest of the process.
"""

from __future__ import annotations

import argparse
import resource
import time

import duckdb

import rarely
from rarely import _rarely

OPTIONS = ["a", "b", "c", "d"]


def document(features: int) -> str:
    columns = "".join(f'[[features]]\ncolumn = "x{j}"\nrange = [0, 1]\n' for j in range(features))
    return (
        f'policy = "scale"\noptions = {OPTIONS}\noutcome = {{ column = "y", range = [0, 1] }}\n{columns}'
        '[evidence]\nkey = "id"\ntime = "seen"\n[rule]\n'
        f'threshold = {{ feature = "x0", cuts = [0.5], options = ["a", "b"] }}\n'
    )


def table(connection: duckdb.DuckDBPyConnection, rows: int, features: int) -> None:
    """A view that makes its rows: a few multiplications each, far cheaper than reading them."""

    def fraction(j: int) -> str:
        return f"((i * {2654435761 + 2 * j} + {j * 97}) % 1048573) / 1048573.0::DOUBLE"

    columns = ", ".join(f"{fraction(j)} AS x{j}" for j in range(features))
    connection.execute(
        f"CREATE OR REPLACE VIEW log AS SELECT i AS id, TIMESTAMP '2024-01-01' + to_seconds(i % 31536000) AS seen, {columns}, "
        f"(CASE (i * 40503) % 65537 % 4 WHEN 0 THEN 'a' WHEN 1 THEN 'b' WHEN 2 THEN 'c' ELSE 'd' END) AS option, "
        f"0.5 * {fraction(0)} + 0.5 * {fraction(features + 1)} AS y FROM range({rows}) AS made(i)"
    )


def floor(features: int) -> str:
    names = ["1.0", *(f"x{j}" for j in range(features)), *(f"(x{j} - 0.5) * (x{j} - 0.5)" for j in range(features)), "y"]
    products = [f"sum({a} * {b})" for at, a in enumerate(names) for b in names[: at + 1]]
    return f"SELECT option, count(*), {', '.join(products)} FROM log GROUP BY option"


def timed(connection: duckdb.DuckDBPyConnection, statement: str) -> tuple[float, list[tuple[object, ...]]]:
    started = time.perf_counter()
    rows = connection.execute(statement).fetchall()
    return time.perf_counter() - started, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="1e6,1e7")
    parser.add_argument("--features", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    connection = duckdb.connect(config={"threads": arguments.threads})
    policy = rarely.Document(document(arguments.features))
    print("| rows | floor, s | first statement, s | × floor | second statement, s | × floor | rows per second and core | memory, MB |")
    print("|---|---|---|---|---|---|---|---|")
    for size in arguments.rows.split(","):
        rows = int(float(size))
        table(connection, rows, arguments.features)
        bare, _ = timed(connection, floor(arguments.features))
        first, found = timed(connection, _rarely.first_scan(policy, "duckdb", "log"))
        state = rarely.State.from_sums(policy, rarely.engines._rows(found))
        statement = state.second_scan("duckdb", "log")
        second, confirmed = timed(connection, statement) if statement else (0.0, [])
        state.review(confirmed_sums=rarely.engines._rows(confirmed) if confirmed else None)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        pace = rows / (first + second) / arguments.threads
        print(
            f"| {rows:,} | {bare:.2f} | {first:.2f} | {first / bare:.1f} | {second:.2f} | {second / bare:.1f} | {pace:,.0f} | {memory:,.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
