"""One shard per task of a Dask cluster, then all of them merged.

    python examples/shards/dask_shards.py --shards 100 --scheduler tcp://head:8786 -- simulate --runs 10000

Without a scheduler the tasks run on this machine. The results directory is on a file system that all workers share. A shard that was
finished before is not played again, and one that was stopped resumes: run the same line again after a failure.
"""

import argparse
import subprocess

from dask.distributed import Client


def play(number, count, command, threads, results):
    """Play one shard; what it says is part of the error if it fails."""
    line = ["rarely", *command, f"--shard={number}/{count}", f"--threads={threads}", f"--out={results}"]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"shard {number}/{count}: {done.stderr}")
    return number


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scheduler", help="address of a Dask scheduler")
    parser.add_argument("--shards", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1, help="threads of each shard")
    parser.add_argument("--results", default="results", help="directory for the shards")
    parser.add_argument("--out", default="merged", help="directory for the merged tables and figures")
    parser.add_argument("command", nargs="+", help="a command of rarely with its arguments, after --")
    given = parser.parse_args()
    with Client(given.scheduler) as client:
        numbers = range(1, given.shards + 1)
        tasks = client.map(
            play,
            numbers,
            count=given.shards,
            command=given.command,
            threads=given.threads,
            results=given.results,
            retries=2,
            pure=False,
        )
        client.gather(tasks)
    subprocess.run(["rarely", "lab", "merge", given.results, "--out", given.out], check=True)


# Dask starts its workers as new processes, which import this file.
if __name__ == "__main__":
    main()
