"""`rarely.simulate` and `rarely.reproduce`: the command line's numbers, in Python's hands."""

from __future__ import annotations

import csv
import io
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import rarely
from rarely import errors


def test_the_same_numbers_as_the_command_line(binary: Path) -> None:
    options = ["--rounds", "400", "--runs", "3", "--algorithms", "rarely,linucb", "--seed", "7", "--penalty", "0.1"]
    done = subprocess.run([binary, "simulate", *options, "--format", "csv"], capture_output=True, text=True, check=True)
    found = rarely.simulate(rounds=400, runs=3, algorithms=["rarely", "linucb"], seed=7, penalty=0.1, progress=False)
    assert found.summary.to_csv().splitlines()[0] == done.stdout.splitlines()[0]
    for mine, theirs in zip(
        csv.DictReader(io.StringIO(found.summary.to_csv())), csv.DictReader(io.StringIO(done.stdout))
    ):
        assert mine.pop("command").startswith("rarely.simulate(") and theirs.pop("command").startswith(
            "rarely simulate"
        )
        for name, value in theirs.items():
            try:
                assert float(mine[name]) == float(value)
            except ValueError:
                assert mine[name] == value


def test_tables_for_everybody() -> None:
    found = rarely.simulate(rounds=300, runs=2, algorithms=["rarely"], certificates=True, progress=False)
    frame = found.traces.to_pandas()
    assert list(frame.columns) == list(found.traces) and len(frame) == found.traces.rows
    assert found.traces.to_polars().height == found.traces.to_arrow().num_rows == found.traces.rows
    assert frame["round"].iloc[-1] == 300
    assert "<table>" in found.summary._repr_html_()
    assert found.figure.svg.startswith("<svg") and found._repr_svg_() == found.figure.svg
    assert found.figure.png()[:4] == b"\x89PNG"
    assert found.settings["rounds"] == 300 and "rarely" in str(found)


def test_threads_do_not_matter() -> None:
    one, two = (
        rarely.simulate(rounds=300, runs=4, algorithms=["rarely", "thompson"], threads=threads, progress=False)
        for threads in (1, 2)
    )
    for name in one.traces:
        assert np.array_equal(one.traces[name], two.traces[name])


def test_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []
    rarely.simulate(
        rounds=2000, runs=20, algorithms=["rarely"], progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (20, 20) and all(done <= total for done, total in seen)


def test_an_exception_of_the_progress_goes_on() -> None:
    def stop(done: int, total: int) -> None:
        raise RuntimeError("enough")

    started = time.monotonic()
    with pytest.raises(RuntimeError, match="enough"):
        rarely.simulate(rounds=1_000_000, runs=100, progress=stop)
    assert time.monotonic() - started < 30


def test_control_c_stops_and_the_rest_comes_later(tmp_path: Path) -> None:
    settings = {"rounds": 20_000, "runs": 60, "algorithms": ["rarely", "certified"], "out": tmp_path, "progress": False}
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            rarely.simulate(**settings)  # type: ignore[arg-type]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert not (tmp_path / "summary.csv").exists()
    resumed = rarely.simulate(**settings)  # type: ignore[arg-type]
    assert (tmp_path / "summary.csv").exists() and (tmp_path / "figure.svg").exists()
    whole = rarely.simulate(**{**settings, "out": None})  # type: ignore[arg-type]
    assert resumed.summary.to_csv() == whole.summary.to_csv()


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"environment": "lineer"}, errors.ExperimentError, "linear"),
        ({"algorithms": ["linucbb"]}, errors.SettingsError, "linucb"),
        ({"algorithms": []}, errors.ExperimentError, "there is no algorithm to run"),
        ({"profile": "strict"}, errors.ExperimentError, "rigorous"),
        ({"rounds": 0}, errors.ExperimentError, "rounds = 0"),
        ({"runs": -1}, errors.ExperimentError, "runs = -1"),
        ({"threads": 10_000}, errors.ExperimentError, "threads = 10000"),
        ({"norm_bound": "large"}, errors.ExperimentError, "auto"),
        ({"penalty": -1.0}, errors.ExperimentError, "penalty"),
        ({"table": "nowhere.csv"}, errors.DataError, "nowhere.csv"),
    ],
)
def test_errors(settings: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rarely.simulate(**{"rounds": 100, "runs": 1, **settings})  # type: ignore[arg-type]


def test_reproduce(tmp_path: Path) -> None:
    found = rarely.reproduce(runs=1, rounds=200, out=tmp_path, progress=False)
    assert set(found.claims["verdict"]) <= {"holds", "does not hold", "not settled"}
    assert "rarely.reproduce(full=False, runs=1, rounds=200, seed=1)" in found.html
    assert found.claims.rows >= 35 and found.errata.rows >= 20 and len(found.figures) >= 15
    assert (tmp_path / "report.html").read_text() == found.to_html()
    assert 'src="http' not in found.html
    assert next(iter(found.figures.values())).svg.startswith("<svg")


def test_a_simulation_draws_on_matplotlibs_axes() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found = rarely.simulate(rounds=200, runs=3, algorithms=["rarely", "linucb"], progress=False)
    figure, given = pyplot.subplots()
    ax = found.plot(given)
    assert ax is given and [line.get_label() for line in ax.get_lines()] == ["rarely", "linucb"]
    line = ax.get_lines()[1]
    own = np.asarray(found.traces["algorithm"]) == "linucb"
    assert np.array_equal(line.get_ydata(), found.traces["regret_per_step"][own])
    assert ax.get_xscale() == "log" and ax.get_ylabel() == "regret per step"
    assert found.plot(what="changes").get_ylabel() == "changes"
    with pytest.raises(errors.ExperimentError, match="what"):
        found.plot(what="certainty")  # type: ignore[arg-type]
    pyplot.close("all")


def test_figures_as_pdf(tmp_path: Path) -> None:
    found = rarely.simulate(rounds=100, runs=2, algorithms=["rarely"], out=tmp_path, progress=False)
    assert found.figure.pdf().startswith(b"%PDF-1.4") and (tmp_path / "figure.pdf").read_bytes() == found.figure.pdf()
    columns = np.genfromtxt(tmp_path / "traces.dat", names=True, skip_header=1)
    assert columns["round"][-1] == 100
    assert columns["rarely"] == pytest.approx(found.traces["regret_per_step"])
    head = (tmp_path / "traces.dat").read_text().splitlines()[0]
    assert head.startswith(f"# rarely {rarely.__version__}") and "seed 1" in head
