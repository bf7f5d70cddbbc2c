"""The same review, byte for byte, whichever engine sums the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
import rarely

#: Three options, a score, words, a cost, values that are missing, derived features, and an outcome of which less is better.
DOCUMENT = """
policy = "dosing"
options = ["low", "middle", "high"]
outcome = { column = "days in hospital", range = [0, 30], better = "lower" }
[[features]]
column = "age"
range = [20, 95]
unit = "years"
[[features]]
column = "weight"
range = [40, 160]
unit = "kg"
[[features]]
column = "ward"
levels = ["north", "south", "it's west"]
missing = "level"
[[features]]
column = "creatinine"
range = [20, 400]
missing = "indicator"
[[features]]
square = "age"
[[features]]
interaction = ["weight", "ward"]
[evidence]
key = "case"
time = "admitted"
missing = "drop"
error_probability = 0.05
[change]
worth = 0.2
cost = { high = 0.25 }
[rule]
score = { coefficients = { age = 1.0, weight = 0.5 }, cuts = [80, 120], options = ["low", "middle", "high"] }
"""

ROWS = 20_000


@pytest.fixture(scope="module")
def log() -> pd.DataFrame:
    random = np.random.default_rng(7)
    age, weight = random.uniform(20, 95, ROWS).round(1), random.uniform(40, 160, ROWS).round(2)
    arm = random.integers(0, 3, ROWS)
    creatinine = np.where(random.random(ROWS) < 0.1, np.nan, random.uniform(20, 400, ROWS).round(1))
    ward = np.where(random.random(ROWS) < 0.05, None, random.choice(["north", "south", "it's west"], ROWS))
    days = 10 + 0.04 * age + arm * (1.5 - 0.03 * age) + random.normal(0, 2, ROWS)
    return pd.DataFrame(
        {
            "case": np.arange(ROWS),
            "admitted": pd.Timestamp("2024-03-01") + pd.to_timedelta(random.integers(0, 50_000_000, ROWS), unit="s"),
            "age": age,
            "weight": weight,
            "ward": ward,
            "creatinine": creatinine,
            "option": np.where(random.random(ROWS) < 0.01, None, np.array(["low", "middle", "high"])[arm]),
            "days in hospital": np.where(random.random(ROWS) < 0.02, np.nan, days.clip(0, 30)),
        }
    )


@pytest.fixture(scope="module")
def expected(log: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the file reader says."""
    path = tmp_path_factory.mktemp("log") / "log.csv"
    log.to_csv(path, index=False)
    review = rarely.review(DOCUMENT, path)
    assert review.verdict == "change" and ROWS * 0.9 < review.rows < ROWS
    assert rarely.review(DOCUMENT, log).to_json() == review.to_json()
    return review.to_json()


def test_duckdb(log: pd.DataFrame, expected: str) -> None:
    relation = duckdb.from_df(log.sample(frac=1.0, random_state=1))
    assert rarely.review(DOCUMENT, relation).to_json() == expected


def test_a_table_of_a_connection(log: pd.DataFrame, expected: str) -> None:
    connection = duckdb.connect()
    connection.register("frame", log)
    connection.execute("CREATE TABLE admissions AS SELECT *, 1 AS version FROM frame")
    assert rarely.review(DOCUMENT, connection, table="admissions").to_json() == expected
    # Rows that were written twice, the second time with another outcome; and rows that the condition leaves out.
    connection.execute(
        'INSERT INTO admissions SELECT * REPLACE (0 AS version, 30 AS "days in hospital") FROM admissions LIMIT 500'
    )
    connection.execute(
        'INSERT INTO admissions SELECT * REPLACE (2 AS version, -"case" - 1 AS "case") FROM admissions LIMIT 50'
    )
    found = rarely.review(DOCUMENT, connection, table="admissions", where="version < 2", latest_by="version")
    assert found.to_json() == expected


def test_what_a_table_lacks_is_counted_and_named(log: pd.DataFrame) -> None:
    bad = log.astype({"age": object})
    bad.loc[:2, "age"] = [None, 500.0, 96.0]
    bad.loc[3, "ward"] = "east"
    bad.loc[4, "option"] = "none"
    relation = duckdb.from_df(bad.astype({"age": float}))
    with pytest.raises(rarely.errors.ReviewError) as caught:
        rarely.review(DOCUMENT, relation)
    for word in ["5 rows", "age", "ward", "option"]:
        assert word in str(caught.value), caught.value
    whole = rarely.review(DOCUMENT, duckdb.from_df(log.drop(index=range(5))))
    review = rarely.review(DOCUMENT, relation, reject_limit=5)
    assert (review.rows, review.rejected_count) == (whole.rows, 5)


def test_what_sums_cannot_say_is_refused(log: pd.DataFrame) -> None:
    relation = duckdb.from_df(log)
    for key, word in [('key = "case"\n', "key"), ('time = "admitted"\n', "time"), (", range = [0, 30]", "range")]:
        with pytest.raises(rarely.errors.ReviewError, match=word):
            rarely.review(DOCUMENT.replace(key, ""), relation)


def test_dask(log: pd.DataFrame, expected: str) -> None:
    import dask.dataframe
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        with Client(cluster):
            frame = dask.dataframe.from_pandas(log.sample(frac=1.0, random_state=2), npartitions=7, sort=False)
            assert rarely.review(DOCUMENT, frame).to_json() == expected


def test_postgres(log: pd.DataFrame, expected: str, postgres: str) -> None:
    import psycopg
    import sqlalchemy

    engine = sqlalchemy.create_engine(postgres.replace("postgresql://", "postgresql+psycopg://"))
    log.sample(frac=1.0, random_state=3).to_sql("admissions", engine, index=False, chunksize=2000)
    assert rarely.review(DOCUMENT, engine, table="admissions").to_json() == expected
    with psycopg.connect(postgres) as connection:
        assert rarely.review(DOCUMENT, connection, table="admissions").to_json() == expected
    engine.dispose()


@pytest.mark.filterwarnings("ignore")
def test_spark(log: pd.DataFrame, expected: str, spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    shuffled = log.sample(frac=1.0, random_state=4).astype({"admitted": "datetime64[us]"})
    # Where musl is installed beside glibc, Spark loads the wrong library for snappy.
    shuffled.to_parquet(path, index=False, compression=None)
    frame = spark.read.parquet(str(path)).repartition(6)
    for ansi in ["true", "false"]:
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        assert rarely.review(DOCUMENT, frame).to_json() == expected
