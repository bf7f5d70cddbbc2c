"""Times the Python package beside numpy and other people's libraries, in one run, and prints ratios. See README.md."""

import argparse
import math
import os
import platform
import sys
from pathlib import Path
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peers"))

# This says, before numpy is loaded, that everybody has one thread.
import numpy as np
import peers
import rarely
from peers import ARMS, DIM, NOISE, PENALTY, World


def settings(world, algorithm):
    return {
        "arms": ARMS,
        "dimension": DIM,
        "algorithm": algorithm,
        "noise": NOISE,
        "norm_bound": world.norm,
        "penalty": PENALTY,
        "error_probability": 1 / world.rounds,
    }


def ours(algorithm):
    def play(world, rounds):
        policy = rarely.Policy(**settings(world, algorithm))
        contexts, rewards = list(world.contexts[:rounds]), world.rewards[:rounds].tolist()
        decide, observe, chosen = policy.decide, policy.observe, []
        started = process_time()
        for context, reward in zip(contexts, rewards):
            arm, _ = decide(context)
            chosen.append(arm)
            observe(context, arm, reward[arm])
        return process_time() - started, chosen

    return play


def best_of(repetitions, *works):
    """The best time of each, taking turns."""
    best = [math.inf] * len(works)
    for _ in range(repetitions):
        for at, work in enumerate(works):
            started = perf_counter()
            work()
            best[at] = min(best[at], perf_counter() - started)
    return best


def rounds_table(rounds, slow_rounds, repetitions):
    world = World(1, 10_000)
    contestants = [
        ("rarely.Policy " + name, ours(name), rounds) for name in ("linucb", "rarely", "boundary-conservative")
    ]
    contestants += [
        ("numpy LinUCB, as usually written", peers.numpy_plain, rounds),
        ("numpy LinUCB, tuned", peers.numpy_tuned, rounds),
        ("MABWiser LinUCB", peers.mabwiser, slow_rounds),
        ("contextualbandits LinUCB", peers.contextualbandits, slow_rounds),
        ("River LinUCBDisjoint", peers.river, slow_rounds),
    ]
    best = {}
    for _ in range(repetitions):
        for name, play, count in contestants:
            try:
                seconds, chosen = play(world, count)
            except ImportError as missing:
                best[name] = (math.nan, str(missing))
                continue
            each = seconds / count * 1e6
            if name not in best or each < best[name][0]:
                best[name] = (each, world.regret(chosen))
    same = ours("linucb")(world, rounds)[1] == peers.numpy_plain(world, rounds)[1]
    base = best["rarely.Policy linucb"][0]
    print(
        f"one round at a time, k = {ARMS}, d = {DIM} ({rounds:,} rounds; MABWiser, contextualbandits, River {slow_rounds:,})\n"
    )
    print("| | µs per round | × ours | regret per round |\n|---|---:|---:|---:|")
    for name, (each, regret) in best.items():
        shown = f"{regret:.4f}" if isinstance(regret, float) else regret
        print(f"| {name} | {each:.2f} | {each / base:.1f} | {shown} |")
    print(f"\nours and numpy's LinUCB choose the same arms in all {rounds:,} rounds: {'yes' if same else 'NO'}\n")
    return same


def numpy_block(X, plays, rewards, penalty=PENALTY):
    """What a numpy user writes to learn from a log: the normal equations of each arm."""
    estimates = np.empty((ARMS, X.shape[1]))
    for arm in range(ARMS):
        rows = X[plays == arm]
        V = rows.T @ rows + penalty * np.eye(X.shape[1])
        estimates[arm] = np.linalg.solve(V, rows.T @ rewards[plays == arm])
    return estimates


def numpy_ucb(X, estimates, inverses, radius):
    widths = np.sqrt(np.einsum("nd,ade,ne->na", X, inverses, X, optimize=True))
    return np.argmax(X @ estimates.T + radius * widths, axis=1)


def blocks_table(rows, repetitions):
    print(f"blocks of {rows:,} rows, k = {ARMS}\n")
    print("| | d | ours, ms | numpy, ms | numpy / ours |\n|---|---:|---:|---:|---:|")
    same = [blocks_rows(rows, dimension, repetitions) for dimension in (5, 25)]
    print(f"\nthe same arms and the same estimates: {'yes' if all(same) else 'NO'}")
    return all(same)


def blocks_rows(rows, dimension, repetitions):
    world = np.random.default_rng(7)
    X = np.column_stack([np.ones(rows), world.random((rows, dimension - 1))])
    plays = world.integers(0, ARMS, rows)
    truth = world.normal(size=(ARMS, dimension))
    rewards = np.einsum("nd,nd->n", X, truth[plays]) + NOISE * world.normal(size=rows)

    def fresh(algorithm):
        return rarely.Policy(ARMS, dimension, algorithm, noise=NOISE, norm_bound=10.0, penalty=PENALTY)

    def observe(algorithm, **how):
        return lambda: fresh(algorithm).observe(X, plays, rewards, **how)

    held, optimist = fresh("boundary-greedy"), fresh("linucb")
    held.observe(X[:5000], plays[:5000], rewards[:5000])
    optimist.observe(X, plays, rewards)
    own = [X[plays == arm] for arm in range(ARMS)]
    inverses = np.stack([np.linalg.inv(each.T @ each + PENALTY * np.eye(dimension)) for each in own])
    estimates, radius, rule = optimist.estimates_, optimist.radius_, held.rule_
    works = [
        ("decide, a held rule", lambda: held.decide(X), lambda: np.argmax(X @ rule.T, axis=1)),
        ("decide, linucb", lambda: optimist.decide(X), lambda: numpy_ucb(X, estimates, inverses, radius)),
        ("observe, linucb", observe("linucb"), lambda: numpy_block(X, plays, rewards)),
    ]
    for algorithm in ("boundary-greedy", "rarely"):
        works.append((f"observe, {algorithm}", observe(algorithm), lambda: numpy_block(X, plays, rewards)))
        work = observe(algorithm, once=True)
        works.append((f"observe(once=True), {algorithm}", work, lambda: numpy_block(X, plays, rewards)))
    for name, ours_work, numpy_work in works:
        mine, theirs = best_of(repetitions, ours_work, numpy_work)
        print(f"| {name} | {dimension} | {1e3 * mine:.1f} | {1e3 * theirs:.1f} | {theirs / mine:.2f} |")
    same_arms = np.array_equal(held.decide(X)[0], np.argmax(X @ rule.T, axis=1))
    return same_arms and np.allclose(estimates, numpy_block(X, plays, rewards), rtol=1e-8, atol=1e-10)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--slow-rounds", type=int, default=1_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"rarely {rarely.__version__}, Python {platform.python_version()}, numpy {np.__version__}, load {load:.1f}\n")
    good = rounds_table(options.rounds, options.slow_rounds, options.repetitions)
    good &= blocks_table(options.rows, options.repetitions)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
