"""The messy corpus and a million random rows in every engine: the review of the file reader, byte for byte."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pandas as pd
import psycopg
import pytest
import rarely
import tomllib

ROOT = Path(__file__).parents[3]
MESSY = ROOT / "testdata" / "messy"
#: A file as a table, in the words that DuckDB does not guess to be truth values.
READ = "SELECT * FROM read_csv('{}', auto_type_candidates=['BIGINT', 'DOUBLE', 'TIMESTAMP', 'VARCHAR'])"


class Table(NamedTuple):
    """A log as an engine has it, and its review by the file reader."""

    name: str
    document: str
    path: Path
    expected: str

    def parquet(self) -> Path:
        """The same with a type for every column. Where musl is installed beside glibc, Spark loads the wrong library for snappy."""
        path = self.path.with_suffix(".parquet")
        if not path.exists():
            form = "(FORMAT parquet, COMPRESSION uncompressed, ROW_GROUP_SIZE 150_000)"
            duckdb.execute(f"COPY ({READ.format(self.path)}) TO '{path}' {form}")
        return path


def table(name: str, document: str, path: Path) -> Table:
    return Table(name, document, path, rarely.review(document, path).to_json())


@pytest.fixture(scope="module")
def corpus(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    """Every readable file with a document drafted from its contents. Files that differ only in how they are written are one table."""
    as_table = binary.parent / "examples" / "as_table"
    folder = tmp_path_factory.mktemp("messy")
    tables: dict[tuple[str, bytes], Table] = {}
    readable = 0
    for file in tomllib.loads((MESSY / "manifest.toml").read_text())["file"]:
        if "error" in file or "policy" in file:
            continue
        readable += 1
        path, drafted, out = MESSY / file["name"], folder / f"{readable}.draft", folder / f"{readable}.table"
        flags = [word for flag in ("decimal", "sheet") if flag in file for word in (f"--{flag}", file[flag])]
        name = ["--name", "messy"]
        init = [binary, "policy", "init", "--from", path, *name, "--out", drafted, *flags]
        subprocess.run(init, check=True, capture_output=True)
        subprocess.run([as_table, path, drafted, out], check=True)
        log, document = out.with_suffix(".csv"), out.with_suffix(".toml").read_text()
        if "propensity =" in document:
            continue
        key = (document.split("[data]")[0], log.read_bytes())
        if key not in tables:
            tables[key] = table(file["name"], key[0], log)
    assert readable >= 55 and len(tables) >= 15, (readable, len(tables))
    return list(tables.values())


MADE = """
policy = "made"
options = ["none", "some", "much"]
option_column = "given"
outcome = { column = "result", range = [-3, 3] }
[[features]]
column = "age"
range = [18, 90]
[[features]]
column = "dose"
range = [-1, 2.0000001]
[[features]]
column = "region"
levels = ["north", "south", "west"]
[evidence]
key = "id"
time = "at"
[change]
cost = { some = 0.1, much = 0.3 }
[rule]
score = { coefficients = { age = 0.3, dose = -2.5, region = { west = 4.0 } }, cuts = [12, 20], options = ["none", "some", "much"] }
"""


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Random people in no order of time."""
    rows, random = 1_000_000, np.random.default_rng(11)
    age, dose = random.uniform(18, 90, rows).round(1), random.uniform(-1, 2, rows)
    arm, region = random.integers(0, 3, rows), random.integers(0, 3, rows)
    effect = 0.3 * arm * (age - 18) / 72 - 0.1 * arm * dose
    frame = pd.DataFrame(
        {
            "at": pd.Timestamp("2025-01-01") + pd.to_timedelta(random.integers(0, 30_000_000, rows), unit="s"),
            "result": (0.2 + effect + 0.1 * region + random.normal(0, 0.4, rows)).clip(-3, 3),
            "given": np.array(["none", "some", "much"])[arm],
            "region": np.array(["north", "south", "west"])[region],
            "dose": dose,
            "age": age,
            "id": random.permutation(rows),
        }
    )
    path = tmp_path_factory.mktemp("million") / "log.csv"
    duckdb.execute(f"COPY frame TO '{path}' (FORMAT csv, HEADER)")
    assert len(frame) == rows
    return table("million", MADE, path)


@pytest.fixture(scope="module")
def tables(corpus: list[Table], million: Table) -> list[Table]:
    return [*corpus, million]


def test_duckdb(tables: list[Table]) -> None:
    for given in tables:
        found = rarely.review(given.document, duckdb.sql(READ.format(given.path)))
        assert found.to_json() == given.expected, given.name


#: The types of PostgreSQL, by those of DuckDB.
TYPES = {"BIGINT": "bigint", "DOUBLE": "double precision", "TIMESTAMP": "timestamp", "VARCHAR": "text"}


def test_postgres(tables: list[Table], postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        for at, given in enumerate(tables):
            relation = duckdb.sql(READ.format(given.path))
            columns = zip(relation.columns, relation.types)
            described = ", ".join(f'"{name}" {TYPES[str(kind)]}' for name, kind in columns)
            connection.execute(f"CREATE TABLE messy_{at} ({described})")
            with connection.cursor().copy(f"COPY messy_{at} FROM STDIN (FORMAT csv, HEADER)") as copy:
                copy.write(given.path.read_bytes())
            found = rarely.review(given.document, connection, table=f"messy_{at}")
            assert found.to_json() == given.expected, given.name


def test_dask(tables: list[Table]) -> None:
    import dask.dataframe
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        with Client(cluster):
            for given in tables:
                frame = dask.dataframe.read_parquet(given.parquet(), split_row_groups=True)
                if frame.npartitions == 1:
                    frame = dask.dataframe.from_pandas(frame.compute(), npartitions=5, sort=False)
                assert rarely.review(given.document, frame).to_json() == given.expected, given.name


@pytest.mark.filterwarnings("ignore")
def test_spark(tables: list[Table], spark: Any) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "true")
    for given in tables:
        frame = spark.read.parquet(str(given.parquet()))
        assert rarely.review(given.document, frame).to_json() == given.expected, given.name
