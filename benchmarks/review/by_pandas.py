"""Times pandas and numpy beside `rarely-bench review` and prints the ratios. See README.md."""

import os

# One thread, for everybody; this must be said before numpy is loaded.
for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "VECLIB_MAXIMUM", "ARROW"):
    os.environ[f"{name}_NUM_THREADS"] = "1"
os.environ["OMP_THREAD_LIMIT"] = "1"

import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

HERE = Path(__file__).resolve().parent
FEATURES = [f"x{number}" for number in range(1, 20)]
OPTIONS = ["watch", "advise", "treat", "refer"]
RANGE = 100.0  # of every feature, from 0


def learn(frame):
    """Σssᵀ and Σys of every option, with an intercept and the features scaled to [0, 1], as it is usually written."""
    sums = {}
    for option, group in frame.groupby("given"):
        contexts = np.column_stack([np.ones(len(group)), group[FEATURES] / RANGE])
        sums[option] = (contexts.T @ contexts, contexts.T @ group["outcome"].to_numpy())
    return [sums[option] for option in OPTIONS]


def learn_tuned(frame):
    """The same with as little copying as we could find, where the option is a category."""
    codes = frame["given"].cat.set_categories(OPTIONS).cat.codes.to_numpy()
    contexts = np.empty((len(frame), len(FEATURES) + 1))
    contexts[:, 0] = 1.0
    np.divide(frame[FEATURES].to_numpy(), RANGE, out=contexts[:, 1:])
    outcome = frame["outcome"].to_numpy()
    sums = []
    for code in range(len(OPTIONS)):
        rows = np.flatnonzero(codes == code)
        chosen = contexts[rows]
        sums.append((chosen.T @ chosen, chosen.T @ outcome[rows]))
    return sums


def by_c(path):
    return learn(pd.read_csv(path / "log.csv"))


def by_c_tuned(path):
    frame = pd.read_csv(path / "log.csv")
    frame["given"] = frame["given"].astype("category")
    return learn_tuned(frame)


def by_pyarrow(path):
    return learn(pd.read_csv(path / "log.csv", engine="pyarrow"))


def by_parquet(path):
    return learn(pd.read_parquet(path / "log.parquet", use_threads=False))


def by_parquet_tuned(path):
    columns = FEATURES + ["outcome", "given"]
    table = pa.parquet.read_table(path / "log.parquet", columns=columns, use_threads=False, read_dictionary=["given"])
    return learn_tuned(table.to_pandas(use_threads=False, split_blocks=True, self_destruct=True))


# Name, format, and what it does. Targets are about those without "tuned".
CONTESTANTS = [
    ("pandas read_csv, C engine", "csv", by_c),
    ("pandas read_csv, pyarrow engine", "csv", by_pyarrow),
    ("pandas read_csv, C engine, tuned", "csv", by_c_tuned),
    ("pandas read_parquet", "parquet", by_parquet),
    ("pyarrow read_table, tuned", "parquet", by_parquet_tuned),
]
WORK = ("parse", "cases", "learn", "review")


def ours(program, folder, kind, work):
    """Processor seconds of one piece of our work, with the start of the process, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    finished = subprocess.run([program, "review", str(folder), kind, work], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, finished.stdout


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
    # This writes the log, and warms the file cache.
    report = json.loads(ours(options.program, options.folder, "csv", "learn")[1])
    times = {name: [] for name, _, _ in CONTESTANTS} | {(kind, work): [] for kind in ("csv", "parquet") for work in WORK}
    wrong = set()
    for _ in range(options.repetitions):
        for kind in ("csv", "parquet"):
            for work in WORK:
                times[kind, work].append(ours(options.program, options.folder, kind, work)[0])
        for name, _, run in CONTESTANTS:
            start = process_time()
            sums = run(options.folder)
            times[name].append(process_time() - start)
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
    print("| | processor seconds | million rows per second | × our review |\n|---|---:|---:|---:|")
    for kind in ("csv", "parquet"):
        base = times[kind, "review"]
        for work in WORK:
            line(f"ours, {kind}: {work}", times[kind, work], base, rows)
        for name, compared, _ in CONTESTANTS:
            if compared == kind:
                line(name, times[name], base, rows)


def line(name, seconds, base, rows):
    ratio = statistics.median(one / other for one, other in zip(seconds, base))
    middle = statistics.median(seconds)
    print(f"| {name} | {middle:.2f} | {rows / middle / 1e6:.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    sys.exit(main())
