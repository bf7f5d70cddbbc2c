"""Times pandas and numpy beside `rarely-bench review` and prints the ratios. See README.md."""

import os

# One thread, for everybody; this must be said before numpy is loaded.
for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "VECLIB_MAXIMUM", "ARROW"):
    os.environ[f"{name}_NUM_THREADS"] = "1"
os.environ["OMP_THREAD_LIMIT"] = "1"

import argparse
import json
import platform
import statistics
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

HERE = Path(__file__).resolve().parent
FEATURES = [f"x{number}" for number in range(1, 20)]
OPTIONS = ["watch", "advise", "treat", "refer"]
RANGE = 100.0  # of every feature, from 0


def learn(frame):
    """Σssᵀ and Σys of every option, with an intercept and the features scaled to [0, 1]."""
    contexts = np.empty((len(frame), len(FEATURES) + 1))
    contexts[:, 0] = 1.0
    np.divide(frame[FEATURES].to_numpy(), RANGE, out=contexts[:, 1:])
    given, outcome = frame["given"].to_numpy(), frame["outcome"].to_numpy()
    sums = []
    for option in OPTIONS:
        rows = np.flatnonzero(given == option)
        chosen = contexts[rows]
        sums.append((chosen.T @ chosen, chosen.T @ outcome[rows]))
    return sums


def learn_categories(frame):
    """The same where the option was read as a category: codes are compared, not words."""
    frame = frame.assign(given=frame["given"].cat.set_categories(OPTIONS).cat.codes)
    contexts = np.empty((len(frame), len(FEATURES) + 1))
    contexts[:, 0] = 1.0
    np.divide(frame[FEATURES].to_numpy(), RANGE, out=contexts[:, 1:])
    given, outcome = frame["given"].to_numpy(), frame["outcome"].to_numpy()
    sums = []
    for code in range(len(OPTIONS)):
        rows = np.flatnonzero(given == code)
        chosen = contexts[rows]
        sums.append((chosen.T @ chosen, chosen.T @ outcome[rows]))
    return sums


def by_c(path):
    return learn(pd.read_csv(path / "log.csv", engine="c"))


def by_c_tuned(path):
    types = dict.fromkeys(FEATURES + ["outcome"], "float64") | {"given": "category"}
    return learn_categories(pd.read_csv(path / "log.csv", engine="c", dtype=types))


def by_pyarrow(path):
    return learn(pd.read_csv(path / "log.csv", engine="pyarrow"))


def by_parquet(path):
    return learn(pd.read_parquet(path / "log.parquet", engine="pyarrow", use_threads=False))


def by_parquet_tuned(path):
    columns = FEATURES + ["outcome", "given"]
    table = pa.parquet.read_table(path / "log.parquet", columns=columns, use_threads=False, read_dictionary=["given"])
    return learn_categories(table.to_pandas(use_threads=False, split_blocks=True, self_destruct=True))


# Name, which of ours it is compared with, and what it does.
CONTESTANTS = [
    ("pandas read_csv, C engine", "csv", by_c),
    ("pandas read_csv, C engine, types given, option as category", "csv", by_c_tuned),
    ("pandas read_csv, pyarrow engine", "csv", by_pyarrow),
    ("pandas read_parquet, pyarrow", "parquet", by_parquet),
    ("pyarrow read_table, option as dictionary, blocks not copied", "parquet", by_parquet_tuned),
]


def ours(program, folder):
    finished = subprocess.run([program, "review", str(folder), "--json"], check=True, capture_output=True, text=True)
    return json.loads(finished.stdout)


def agrees(sums, report):
    """Whether Σys is the same to eleven digits."""
    theirs = np.array([moment for _, moment in sums])
    return np.allclose(theirs, np.array(report["moments"]), rtol=1e-11, atol=1e-9)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--program", type=Path, default=HERE.parents[1] / "target/release/rarely-bench")
    parser.add_argument("--folder", type=Path, default=HERE / "data", help="where the log is written, about 400 MB")
    return parser.parse_args()


def main():
    options = arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    report = ours(options.program, options.folder)  # writes the log, and warms the file cache
    times = {name: [] for name, _, _ in CONTESTANTS} | {name: [] for name in report if " " in name}
    wrong = set()
    for _ in range(options.repetitions):
        for name, seconds in ours(options.program, options.folder).items():
            if name in times:
                times[name].append(seconds)
        for name, _, run in CONTESTANTS:
            start = perf_counter()
            sums = run(options.folder)
            times[name].append(perf_counter() - start)
            if not agrees(sums, report):
                wrong.add(name)
    show(times, report["rows"])
    for name in sorted(wrong):
        print(f"\n{name}: other sums than ours", file=sys.stderr)
    return 1 if wrong else 0


def show(times, rows):
    versions = f"Python {platform.python_version()}, pandas {pd.__version__}, numpy {np.__version__}, pyarrow {pa.__version__}"
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{versions}; one core{load}; {rows} rows, d = {len(FEATURES) + 1}, k = {len(OPTIONS)}\n")
    print("| | seconds | million rows a second | × ours |\n|---|---:|---:|---:|")
    for kind in ("csv", "parquet"):
        base = times[f"{kind} review"]
        for what in ("parse", "cases", "review"):
            line(f"ours, {kind}: {what}", times[f"{kind} {what}"], base, rows)
        for name, compared, _ in CONTESTANTS:
            if compared == kind:
                line(name, times[name], base, rows)


def line(name, seconds, base, rows):
    ratio = statistics.median(one / other for one, other in zip(seconds, base))
    middle = statistics.median(seconds)
    print(f"| {name} | {middle:.2f} | {rows / middle / 1e6:.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    sys.exit(main())
