"""`rarely.review`: the answers of the command line, from any frame."""

from __future__ import annotations

import csv
import ctypes
import gc
import json
import os
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rarely
from rarely.errors import DataError, DocumentError, ReviewError
from reviewed import SMALL, WithoutArrow, log, policy, small, table

NAMES = ["clinical", "pricing"]


def records(name: str) -> list[dict[str, Any]]:
    """The rows of a log, with numbers as numbers."""

    def typed(text: str) -> Any:
        try:
            return float(text)
        except ValueError:
            return text

    with log(name).open(newline="") as file:
        return [{key: typed(value) for key, value in row.items()} for row in csv.DictReader(file)]


def categorical(name: str) -> pd.DataFrame:
    frame = pd.read_csv(log(name))
    words = frame.columns[frame.dtypes.map(lambda dtype: not pd.api.types.is_numeric_dtype(dtype))]
    return frame.astype(dict.fromkeys(words, "category"))


FRAMES = {
    "pandas": lambda name: pd.read_csv(log(name)),
    "pandas, categories": categorical,
    "pandas, objects": lambda name: pd.DataFrame(records(name), dtype=object),
    "pandas without pyarrow": lambda name: WithoutArrow(pd.read_csv(log(name))),
    "pandas without pyarrow, categories": lambda name: WithoutArrow(categorical(name)),
    "polars": lambda name: pl.read_csv(log(name)),
    "polars, chunks": lambda name: pl.concat([part for part in pl.read_csv(log(name)).iter_slices(777)], rechunk=False),
    "pyarrow": lambda name: pa.Table.from_pandas(pd.read_csv(log(name))),
    "pyarrow, batches": lambda name: pa.RecordBatchReader.from_batches(
        pa.Table.from_pandas(pd.read_csv(log(name))).schema,
        pa.Table.from_pandas(pd.read_csv(log(name))).to_batches(max_chunksize=500),
    ),
    "dict of arrays": lambda name: {key: np.asarray(column) for key, column in pd.read_csv(log(name)).items()},
    "dict of lists": lambda name: pd.read_csv(log(name)).to_dict("list"),
    "list of dicts": records,
    "path": log,
    "text path": lambda name: str(log(name)),
    "paths": lambda name: [log(name)],
}


def command(binary: Path, *arguments: object) -> Any:
    done = subprocess.run(
        [binary, "review", *map(str, arguments), "--format", "json"], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answers(binary: Path) -> dict[str, Any]:
    return {name: command(binary, "--policy", policy(name), "--data", log(name)) for name in NAMES}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_the_command_lines(answers: dict[str, Any], name: str, kind: str) -> None:
    found = rarely.review(policy(name), FRAMES[kind](name))
    assert found.to_dict() == answers[name]
    assert json.loads(found.to_json()) == answers[name]
    assert found.verdict == answers[name]["verdict"]


def test_the_population_and_the_option_column(binary: Path, tmp_path: Path) -> None:
    frame = pl.read_csv(log("clinical")).rename({"treatment": "given"})
    people = frame.filter(pl.col("systolic") > 130).select("systolic")
    frame.write_csv(tmp_path / "log.csv")
    people.write_csv(tmp_path / "people.csv")
    expected = command(
        binary, "--policy", policy("clinical"), "--data", tmp_path / "log.csv", "--option-column", "given",
        "--population", tmp_path / "people.csv",
    )  # fmt: skip
    for population in (people, tmp_path / "people.csv", people.to_pandas()):
        found = rarely.review(policy("clinical"), frame, population=population, option_column="given")
        assert found.to_dict() == expected


def test_the_table_and_the_page_are_the_command_lines(binary: Path, tmp_path: Path) -> None:
    arguments = ["--policy", policy("clinical"), "--data", log("clinical"), "--out", tmp_path]
    done = subprocess.run([binary, "review", *map(str, arguments)], capture_output=True, text=True, check=False)
    found = rarely.review(policy("clinical"), log("clinical"))
    assert str(found) == done.stdout

    def body(page: str) -> str:
        return page.split("How this page was made")[0]

    page = (tmp_path / "review.html").read_text()
    assert body(found.to_html()) == body(page)
    assert "rarely.review(" in found.to_html()
    for name, figure in found.figures.items():
        assert figure.svg == (tmp_path / "figures" / f"{name}.svg").read_text()
        assert figure.png() == (tmp_path / "figures" / f"{name}.png").read_bytes()


def test_a_wrong_document_has_a_line_and_a_column(tmp_path: Path) -> None:
    wrong = SMALL.replace("[0, 100]", "[100, 0]")
    with pytest.raises(DocumentError, match=r"the document, line 8, column \d+: "):
        rarely.review(wrong, table())
    path = tmp_path / "wrong.toml"
    path.write_text(wrong)
    with pytest.raises(DocumentError, match=r"wrong.toml, line 8, column \d+: "):
        rarely.review(path, table())
    with pytest.raises(DocumentError, match="nowhere.toml cannot be read"):
        rarely.review("nowhere.toml", table())
    with pytest.raises(TypeError, match="a policy document is of type int"):
        rarely.review(7, table())
    with pytest.raises(TypeError, match="the frame is of type int"):
        rarely.review(SMALL, 7)


def test_a_document_is_an_object(tmp_path: Path) -> None:
    document = rarely.Document(policy("clinical"))
    assert (document.name, document.options, document.features) == (
        "hypertension-treatment",
        ["watch", "treat"],
        ["systolic"],
    )
    assert document.rule == ["watch below 140 mmHg", "treat from 140 mmHg"]
    assert document.text == policy("clinical").read_text()
    assert (document.outcome, document.option_column) == ("wellbeing", "treatment")
    assert repr(document) == 'Document("hypertension-treatment", options=[watch, treat], features=[systolic])'
    assert document == rarely.Document(document.text) and hash(document) == hash(rarely.Document(document.text))
    assert rarely.review(document, log("clinical")).verdict == rarely.review(document.text, log("clinical")).verdict


def growth(frame: Any) -> int:
    """Bytes of memory that a review of a frame takes at most, besides what is there before it."""
    import resource

    pages = Path("/proc/self/statm")
    stop = threading.Event()
    gc.collect()
    # Memory that is freed but not given back would hide what is taken.
    getattr(ctypes.CDLL(None), "malloc_trim", lambda _: 0)(0)
    seen = [int(pages.read_text().split()[1])]

    def look() -> None:
        while not stop.wait(0.002):
            seen.append(int(pages.read_text().split()[1]))

    thread = threading.Thread(target=look)
    thread.start()
    rarely.review(SMALL, frame)
    stop.set()
    thread.join()
    return (max(seen) - seen[0]) * resource.getpagesize()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is looked at as Linux shows it")
def test_no_column_is_copied(request: pytest.FixtureRequest) -> None:
    if "RARELY_TEST_ALONE" not in os.environ:
        # In a process of its own: what earlier tests hold and have freed would change what is seen.
        alone = {**os.environ, "RARELY_TEST_ALONE": "1"}
        test = [sys.executable, "-m", "pytest", "--quiet", f"{__file__}::{request.node.name}"]
        found = subprocess.run(test, env=alone, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout
        return
    rows = 4_000_000
    generator = np.random.default_rng(1)
    columns = {
        "x": generator.uniform(0, 100, rows),
        "level": pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), ["true"]),
        "given": pa.DictionaryArray.from_arrays(pa.array(np.arange(rows) % 2, pa.int8()), ["no", "yes"]),
        "outcome": generator.uniform(0, 1, rows),
    }
    frame = pa.table(columns)
    rarely.review(SMALL, frame.slice(0, 100_000))
    # A copy of one column of numbers is 32 MB. What a review keeps, at most 200,000 rows next to the cuts, is less on one processor; each
    # further one keeps as many of its own.
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    request.addfinalizer(lambda: os.sched_setaffinity(0, processors))
    assert growth(frame) < 30_000_000
    own = {"x": columns["x"], "outcome": columns["outcome"], "level": ["true"] * rows, "given": ["no"] * rows}
    assert growth(pl.DataFrame(own)) < 30_000_000
    copied = growth(own)
    assert copied > 64_000_000, "the way through Python's own objects copies, and this test would see it"


def test_a_stream_is_given_back_when_it_was_read() -> None:
    pool = pa.default_memory_pool()
    gc.collect()
    before = pool.bytes_allocated()
    frame = table()
    for _ in range(20):
        rarely.review(SMALL, frame)
    del frame
    gc.collect()
    assert pool.bytes_allocated() <= before
    reader = table().to_reader()
    rarely.review(SMALL, reader)
    with pytest.raises(DataError):
        rarely.review(SMALL, reader)


def test_states_add_up(binary: Path, tmp_path: Path) -> None:
    frame = pl.read_csv(log("clinical"))
    whole = rarely.review(policy("clinical"), frame)
    first, second = frame[:3000], frame[3000:]
    one = rarely.review(policy("clinical"), first)
    then = rarely.review(policy("clinical"), second, state=one.state)
    both = rarely.review(policy("clinical"), None, state=[one.state, rarely.review(policy("clinical"), second).state])
    for found in (then, both):
        assert (found.rows, found.verdict) == (whole.rows, whole.verdict)
        assert found.proposal is not None and whole.proposal is not None
        assert found.proposal.rule == whole.proposal.rule
    first.write_csv(tmp_path / "first.csv")
    second.write_csv(tmp_path / "second.csv")
    saved = tmp_path / "state"
    command(binary, "--policy", policy("clinical"), "--data", tmp_path / "first.csv", "--save-state", saved)
    assert saved.read_bytes() == one.state
    expected = command(binary, "--policy", policy("clinical"), "--data", tmp_path / "second.csv", "--state", saved)
    assert then.to_dict() == expected
    with pytest.raises(ReviewError, match="nothing to review"):
        rarely.review(policy("clinical"), None)
    with pytest.raises(ReviewError, match="state: "):
        rarely.review(SMALL, table(), state=one.state)
    with pytest.raises(ReviewError, match="state: "):
        rarely.review(SMALL, table(), state=b"{}")
    with pytest.raises(ReviewError):
        rarely.review(policy("clinical"), first, state=one.state)
    with pytest.raises(TypeError, match="state is of type str"):
        rarely.review(SMALL, table(), state="text")


def test_a_proposal_can_be_used() -> None:
    found = rarely.review(policy("clinical"), pl.read_csv(log("clinical")))
    proposal = found.proposal
    assert found.verdict == "change" and proposal is not None
    expected = found.to_dict()["proposal"]
    assert [rule["kind"] for rule in found.candidates] == ["constant", "moved-cuts"]
    assert found.keeping_costs_at_most == max(rule["gain"]["upper"] for rule in found.candidates)
    assert (proposal.gain.estimate, proposal.gain.lower, proposal.gain.upper) == tuple(expected["gain"].values())
    assert (proposal.changed_share, proposal.certified_by) == (expected["changed_share"], expected["certified_by"])
    assert proposal.rule[0].startswith("watch below ") and proposal.cause and proposal.changes
    changed = rarely.Document(proposal.document)
    assert changed.rule == proposal.rule
    # The comments of the owner stay.
    assert "# the arms, in order" in changed.text
    assert "gain per case: " in proposal.certificate and "assumed: noise: 0.1 wellbeing" in proposal.certificate
    assert "digest of the statistics: " in proposal.certificate
    assert rarely.review(changed, log("clinical")).verdict == "keep"
    assert isinstance(proposal.against, list)


def test_pictures_can_be_saved(tmp_path: Path) -> None:
    figures = rarely.review(policy("clinical"), log("clinical")).figures
    assert next(iter(figures)) == "decision-boundary"
    figure = figures["decision-boundary"]
    assert figure.name == "decision-boundary" and figure.title and figure.caption
    assert figure._repr_svg_() == figure.svg
    ElementTree.fromstring(figure.svg)
    figure.save(tmp_path / "picture.svg")
    figure.save(str(tmp_path / "picture.PNG"), scale=1.0)
    assert (tmp_path / "picture.svg").read_text() == figure.svg
    assert (tmp_path / "picture.PNG").read_bytes() == figure.png(1.0) != figure.png()
    figure.save(tmp_path / "picture.pdf")
    assert (tmp_path / "picture.pdf").read_bytes().startswith(b"%PDF-")
    with pytest.raises(ValueError, match="must end in .svg, .png or .pdf"):
        figure.save(tmp_path / "picture.jpg")
    with pytest.raises(ValueError, match="choose a scale"):
        figure.png(-1.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_it(name: str) -> None:
    found = rarely.review(policy(name), log(name))
    html = found._repr_html_()
    root = ElementTree.fromstring(html.replace("<br>", "<br/>"))
    assert root.tag == "div"
    assert found.verdict in "".join(root.itertext())
    for element in root.iter():
        assert "id" not in element.attrib, "several of these may be on one page"
        assert element.tag.split("}")[-1] not in ("script", "link", "style", "image", "img")
    without_names = html.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "http" not in without_names and "url(" not in without_names


def test_words_in_a_notebook_are_escaped() -> None:
    text = SMALL.replace('policy = "small"', 'policy = "<small> & co"').replace('"no"', '"<no>"')
    given = pa.array(["<no>" if word == "no" else word for word in small()["given"].to_pylist()])
    html = rarely.review(text, table(given=given))._repr_html_()
    assert "&lt;small&gt; &amp; co" in html and "<no>" not in html
    ElementTree.fromstring(html.replace("<br>", "<br/>"))


def test_it_does_not_hold_the_interpreter() -> None:
    rows = 3_000_000
    frame = pa.table({
        "x": np.linspace(0, 100, rows),
        "level": pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), ["true"]),
        "given": pa.DictionaryArray.from_arrays(pa.array(np.arange(rows) % 2, pa.int8()), ["no", "yes"]),
        "outcome": np.linspace(0, 1, rows),
    })  # fmt: skip
    beats: list[float] = []
    stop = threading.Event()

    def beat() -> None:
        while not stop.is_set():
            beats.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=beat)
    thread.start()
    start = time.perf_counter()
    rarely.review(SMALL, frame)
    end = time.perf_counter()
    stop.set()
    thread.join()
    within = [at for at in beats if start < at < end]
    assert len(within) > 10 * (end - start), "another thread goes on meanwhile"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_it_can_be_interrupted(tmp_path: Path) -> None:
    script = (
        "import numpy as np, os, pyarrow as pa, signal, sys, threading, time\n"
        "from rarely import _rarely as rarely\n"
        f"document = {SMALL!r}\n"
        "rows = 40_000_000\n"
        "words = lambda keys: pa.DictionaryArray.from_arrays(pa.array(keys), ['true', 'no', 'yes'])\n"
        "frame = pa.table({'x': np.zeros(rows, np.int8), 'level': words(np.zeros(rows, np.int8)),\n"
        "    'given': words(np.ones(rows, np.int8)), 'outcome': np.zeros(rows, np.int8)})\n"
        "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "start = time.perf_counter()\n"
        "try:\n"
        "    rarely.review(document, frame)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped', time.perf_counter() - start)\n"
        "else:\n"
        "    print('done', time.perf_counter() - start)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    word, seconds = done.stdout.split()
    assert word == "stopped" or float(seconds) < 0.3, done.stdout + done.stderr
    assert float(seconds) < 2


def test_a_review_says_what_it_is() -> None:
    found = rarely.review(policy("clinical"), log("clinical"))
    assert repr(found) == 'Review("hypertension-treatment": change, 8000 rows)'
    assert found.document.name == "hypertension-treatment"
    assert found.rejected == [] and isinstance(found.reasons, list)
