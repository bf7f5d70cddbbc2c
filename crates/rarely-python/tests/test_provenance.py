"""Version, seed and command in every file that the lab writes."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest
import rarely

SMALL: dict[str, Any] = {"rounds": 60, "runs": 2, "algorithms": ["rarely", "linucb"], "seed": 7, "progress": False}


def says(path: Path) -> str:
    """What a file says of its origin, read as its format's own readers do."""
    data = path.read_bytes()
    if path.suffix == ".csv":
        rows = list(csv.DictReader(data.decode().splitlines()))
        assert rows
        return f"rarely {rows[0]['version']}, seed {rows[0]['seed']}: {rows[0]['command']}"
    if path.suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        about = {name.decode(): value.decode() for name, value in parquet.read_metadata(path).metadata.items()}
        return f"rarely {about['rarely.version']}, seed {about['rarely.seed']}: {about['rarely.command']}"
    if path.suffix == ".json":
        about = json.loads(data)
        return f"rarely {about['version']}, seed {about['seed']}: {about['command']}"
    if path.suffix == ".png":
        return png_comment(data)
    if path.suffix == ".pdf":
        found = re.search(rb"/Keywords <FEFF([0-9A-F]*)>", data)
        assert found
        return bytes.fromhex(found[1].decode()).decode("utf-16-be")
    text = data.decode()
    if path.suffix == ".svg":
        found_text = re.search("<metadata>(.*)</metadata>", text)
        assert found_text
        return found_text[1].replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return text.splitlines()[0].replace("\u2060", "").removeprefix("<!--").removesuffix("-->").strip("#% ")


def png_comment(data: bytes) -> str:
    """The comment of a PNG, whose checksums are checked."""
    place, comment = 8, ""
    while place < len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        chunk = data[place + 4 : place + 8 + length]
        assert zlib.crc32(chunk) == int.from_bytes(data[place + 8 + length : place + 12 + length], "big")
        if chunk.startswith(b"iTXtComment\0"):
            comment = chunk[4:].split(b"\0\0\0\0\0", 1)[1].decode()
        place += 12 + length
    return comment


def files(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    assert {path.suffix for path in found} >= {".csv", ".parquet", ".json", ".svg", ".png", ".pdf", ".tex", ".md"}
    return found


@pytest.mark.parametrize(
    ("run", "call"),
    [
        (lambda out: rarely.simulate(out=out, run_traces=True, **SMALL), "rarely.simulate("),
        (lambda out: rarely.sweep({"noise": [0.1, 1.0]}, out=out, **SMALL), "rarely.sweep({'noise': [0.1,1.0]}, "),
        (
            lambda out: rarely.frontier("quadratic", out=out, **{**SMALL, "algorithms": ["rs-linucb"]}),
            "rarely.frontier('quadratic', ",
        ),
    ],
    ids=["simulate", "sweep", "frontier"],
)
def test_every_file_of_python(run: Any, call: str, tmp_path: Path) -> None:
    found = run(tmp_path)
    expected = f"rarely {rarely.__version__}, seed 7: {call}rounds=60, runs=2, algorithms=["
    for path in files(tmp_path):
        assert says(path).startswith(expected), path.name
    assert "<metadata>" in found.figure.svg and found.settings["command"].startswith(call)
    assert found.runs.to_latex().startswith("% rarely ") and found.runs.to_markdown().startswith("<!-- rarely ")


def test_a_call_gives_the_same_results(tmp_path: Path) -> None:
    first = rarely.simulate("heavy-tailed", strength=0.5, late=3, penalty=0.1, out=tmp_path, **SMALL)
    again = eval(first.settings["command"])
    assert again.summary.to_csv() == first.summary.to_csv()


@pytest.mark.parametrize(
    "command",
    [
        "simulate --runs 2 --rounds 60 --algorithms rarely,linucb --seed 7",
        "frontier --runs 2 --rounds 50 --algorithms rs-linucb --seed 7",
    ],
)
def test_every_file_of_the_command_line(binary: Path, command: str, tmp_path: Path) -> None:
    subprocess.run([binary, *command.split(), "--out", tmp_path, "--threads", "2"], capture_output=True, check=True)
    words = command.split()
    for path in files(tmp_path):
        said = says(path)
        assert said.startswith(f"rarely {rarely.__version__}, seed 7: rarely {words[0]} --"), path.name
        assert "--out" not in said and "--threads" not in said and "--runs=2" in said
    again = subprocess.run(
        [binary, *said.split(": rarely ")[1].split(), "--format", "csv"], capture_output=True, check=True
    )
    name = {"simulate": "summary", "frontier": "frontier"}[words[0]]
    assert again.stdout == (tmp_path / f"{name}.csv").read_bytes()
