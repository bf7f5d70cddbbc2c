"""Times the way from the lab to a policy of Python's and back, by the size of the block. See README.md."""

import argparse
import sys
from time import perf_counter

import numpy as np
import rarely

#: What a round may cost at blocks of 1,000, in microseconds.
LIMIT = 2.0


class Nothing:
    """Plays the first arm and learns nothing, so that only the way is timed."""

    def decide(self, X):
        return np.zeros(len(X), dtype=np.int64)

    def observe(self, X, arms, rewards):
        pass


class Probabilities(Nothing):
    """The same with probabilities, from which the lab draws."""

    def decide(self, X):
        chances = np.zeros((len(X), 4))
        chances[:, 0] = 1.0
        return chances


def seconds(policy, rounds, block, repetitions):
    """The best time of a run."""
    best = float("inf")
    for _ in range(repetitions):
        started = perf_counter()
        rarely.simulate(algorithms=[policy], rounds=rounds, runs=1, block=block, threads=1, progress=False)
        best = min(best, perf_counter() - started)
    return best


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=1_000_000)
    options.add_argument("--repetitions", type=int, default=5)
    given = options.parse_args()
    inside = seconds("fixed", given.rounds, 1, given.repetitions)
    print(f"fixed, inside: {inside / given.rounds * 1e6:.3f} µs per round, k=4, d=5")
    worst = 0.0
    for block in (10, 100, 1_000, 10_000):
        rounds = max(given.rounds * min(block, 1_000) // 1_000, block)
        for policy in (Nothing, Probabilities):
            own = seconds(policy, rounds, block, given.repetitions) / rounds - inside / given.rounds
            print(f"{policy.__name__:14} in blocks of {block:6}: {own * 1e6:7.3f} µs per round more")
            if block == 1_000:
                worst = max(worst, own * 1e6)
    if worst > LIMIT:
        sys.exit(f"{worst:.2f} µs per round at blocks of 1,000: more than {LIMIT}")


if __name__ == "__main__":
    main()
