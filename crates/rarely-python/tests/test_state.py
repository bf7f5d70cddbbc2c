"""States of parts of a log, and what they say together."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import rarely

DOCUMENT = """
policy = "screening"
options = ["wait", "invite"]
outcome = { column = "benefit", range = [-1, 2] }
[[features]]
column = "age"
range = [40, 90]
[[features]]
column = "smoker"
levels = ["no", "yes"]
[evidence]
key = "case"
time = "day"
error_probability = 0.05
[rule]
threshold = { feature = "age", cuts = [75], options = ["wait", "invite"] }
"""


def cases(rows: int, seed: int) -> pd.DataFrame:
    """Inviting helps from 60 on."""
    random = np.random.default_rng(seed)
    age = random.uniform(40, 90, rows).round(1)
    given = random.integers(0, 2, rows)
    benefit = 0.3 + given * (age - 60) / 60 + 0.1 * random.standard_normal(rows)
    return pd.DataFrame(
        {
            "case": [f"c{number}" for number in range(rows)],
            "day": pd.Timestamp("2025-01-01") + pd.to_timedelta(random.integers(0, 400, rows), unit="D"),
            "age": age,
            "smoker": random.choice(["no", "yes"], rows),
            "option": np.where(given == 1, "invite", "wait"),
            "benefit": benefit.clip(-1, 2),
        }
    )


def test_states_of_parts_say_what_the_whole_log_says() -> None:
    log = cases(6000, 1)
    whole = rarely.review(DOCUMENT, log)
    shuffled = log.sample(frac=1.0, random_state=2)
    parts = [shuffled.iloc[start : start + 1700] for start in range(0, 6000, 1700)]
    state = rarely.State(DOCUMENT)
    for part in parts:
        state = state + pickle.loads(pickle.dumps(rarely.State(DOCUMENT).update(part)))
    assert state.rows == 6000
    again = rarely.State.from_bytes(DOCUMENT, state.to_bytes())
    confirmed = [again.confirm(part) for part in parts]
    together = again.review(confirmed=confirmed)
    assert together.to_json() == whole.to_json()
    assert together.verdict == "change"
    # Without the rows a second time, errors rest on each option's variance, and the answer says so.
    assert json.loads(again.review().to_json()) != json.loads(whole.to_json())


def test_a_part_that_is_missing_or_there_twice_is_found() -> None:
    log = cases(2000, 3)
    first, second = log.iloc[:1000], log.iloc[1000:]
    state = rarely.State(DOCUMENT).update(first).update(second)
    with pytest.raises(rarely.errors.ReviewError, match="included twice"):
        state.update(first)
    assert state.rows == 2000
    told = state.review(confirmed=[state.confirm(first)])
    assert "rows in the second reading" in json.dumps(told.to_dict())


def test_a_bad_row_leaves_the_state_as_it_was() -> None:
    log = cases(100, 4)
    state = rarely.State(DOCUMENT).update(log.iloc[:50])
    bad = log.iloc[50:].assign(age=200.0)
    with pytest.raises(rarely.errors.DataError, match="age"):
        state.update(bad)
    assert state.rows == 50


def test_a_key_that_is_no_key_is_refused() -> None:
    log = cases(500, 5).assign(case=lambda frame: frame["case"].str[:2])
    with pytest.raises(rarely.errors.ReviewError, match="does not tell rows apart"):
        rarely.review(DOCUMENT, log)
