"""Times other people's bandit libraries beside `rarely simulate` and prints the ratios. See README.md."""

import os

# One thread, for everybody; this must be said before numpy is loaded.
for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "VECLIB_MAXIMUM"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import json
import math
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from time import process_time

try:
    import numpy as np
except ImportError:
    np = None

ARMS, DIM, NOISE = 4, 5, 0.1
PENALTY = 0.01  # the default of `rarely simulate`
OURS = ("linucb", "rs-greedy", "rs-conservative", "rarely", "greedy", "feasible-greedy")
# What most libraries have besides LinUCB, with the peer's row that it is compared with.
LATER = {
    "linucb-alpha": "LinUCB",
    "thompson": "LinTS",
    "epsilon-greedy": "LinGreedy",
    "squarecb": None,
    "bootstrap": None,
    "explore-then-commit": None,
    "batched-thompson": None,
    "batched-elimination": None,
    "clucb2": None,
}
# CPU µs per round of the authors' program, ported to Python 3 and run once. Quoted: nothing here measures them.
AUTHORS = {"linucb": 144, "rs-greedy": 1800, "rs-conservative": 1800, "greedy": 54, "feasible-greedy": 62}


class World:
    """One draw of the arms, with every round's context and outcomes drawn beforehand."""

    def __init__(self, seed, rounds):
        rng = np.random.default_rng([20190530, seed])
        self.theta = truncated_normal(rng, (ARMS, DIM))
        self.theta[:, 0] += 1
        self.contexts = np.hstack([np.ones((rounds, 1)), rng.random((rounds, DIM - 1))])
        self.means = self.contexts @ self.theta.T
        self.rewards = self.means + NOISE * rng.standard_normal((rounds, 1))
        self.norm = float(np.linalg.norm(self.theta))
        self.rounds = rounds

    def regret(self, chosen):
        """Expected regret per round played."""
        means = self.means[: len(chosen)]
        return float(np.mean(means.max(axis=1) - means[np.arange(len(chosen)), chosen]))


def truncated_normal(rng, shape):
    values = rng.standard_normal(shape)
    while (outside := np.abs(values) > 2).any():
        values[outside] = rng.standard_normal(int(outside.sum()))
    return values


def radius(norm, rounds, growth):
    """r = √λ·L + σ·√(2 ln(1/δ) + Σ ln det V − kd·ln λ), with δ = 1/T; growth is the sum of all ln(1+q) so far."""
    return math.sqrt(PENALTY) * norm + NOISE * math.sqrt(2 * math.log(rounds) + growth)


# Each contestant gets a world and the number of rounds to play, and gives back the seconds that deciding and learning took and
# the arms that it chose. The clock is processor time: their rounds take seconds, which a busy machine would interrupt and lengthen.
# What is converted to the form that a library wants is converted before the clock starts.


def numpy_plain(world, rounds):
    """LinUCB as it is usually written: vectorised over the arms, one statement for each formula."""
    inverse = np.stack([np.eye(DIM) / PENALTY] * ARMS)
    theta = np.zeros((ARMS, DIM))
    growth, chosen = 0.0, []
    contexts, rewards = world.contexts[:rounds], world.rewards[:rounds].tolist()
    started = process_time()
    for s, reward in zip(contexts, rewards):
        r = radius(world.norm, world.rounds, growth)
        directions = inverse @ s
        q = directions @ s
        means = theta @ s
        arm = int(np.argmax(means + r * np.sqrt(q)))
        chosen.append(arm)
        g, scale = directions[arm], 1 + q[arm]
        theta[arm] += g * ((reward[arm] - means[arm]) / scale)
        inverse[arm] -= np.outer(g, g) / scale
        growth += math.log(scale)
    return process_time() - started, chosen


def numpy_tuned(world, rounds):
    """The same with as few calls of numpy as we could find, and no allocation by them.

    An arm is one block [V⁻¹; θ̂ᵀ] of d+1 rows: a single product with s gives every arm's g = V⁻¹s and mean sᵀθ̂, and one
    rank-one step [g; sᵀθ̂−y]·gᵀ/(1+q) updates both. Four scores are compared faster by Python than by numpy.
    """
    blocks = np.zeros((ARMS, DIM + 1, DIM))
    blocks[:, :DIM] = np.eye(DIM) / PENALTY
    products = np.empty((ARMS, DIM + 1))
    flat, directions, means = products.reshape(-1), products[:, :DIM], products[:, DIM]
    q, step, change = np.empty(ARMS), np.empty(DIM), np.empty((DIM + 1, DIM))
    arms = [(blocks[a], products[a], products[a].reshape(-1, 1), directions[a]) for a in range(ARMS)]
    all_times, directions_times = blocks.reshape(-1, DIM).dot, directions.dot
    sqrt, log, divide, multiply, subtract = math.sqrt, math.log, np.divide, np.multiply, np.subtract
    bias, confidence = math.sqrt(PENALTY) * world.norm, 2 * math.log(world.rounds)
    growth, chosen = 0.0, []
    contexts, rewards = list(world.contexts[:rounds]), world.rewards[:rounds].tolist()
    started = process_time()
    for s, reward in zip(contexts, rewards):
        r = bias + NOISE * sqrt(confidence + growth)
        all_times(s, flat)
        directions_times(s, q)
        squares = q.tolist()
        scores = [mean + r * sqrt(square) for mean, square in zip(means.tolist(), squares)]
        arm = scores.index(max(scores))
        chosen.append(arm)
        scale = 1 + squares[arm]
        block, product, column, g = arms[arm]
        product[DIM] -= reward[arm]
        divide(g, scale, step)
        multiply(column, step, change)
        subtract(block, change, block)
        growth += log(scale)
    return process_time() - started, chosen


def final_width(world):
    """The radius after all rounds if every arm is played equally: the constant for libraries that take a constant."""
    gram = world.contexts.T @ world.contexts / ARMS
    growth = ARMS * (np.linalg.slogdet(gram + PENALTY * np.eye(DIM))[1] - DIM * math.log(PENALTY))
    return radius(world.norm, world.rounds, growth)


def mabwiser(world, rounds):
    from mabwiser.mab import LearningPolicy

    return with_mabwiser(LearningPolicy.LinUCB(alpha=final_width(world), l2_lambda=PENALTY), world, rounds)


def mabwiser_thompson(world, rounds):
    from mabwiser.mab import LearningPolicy

    return with_mabwiser(LearningPolicy.LinTS(alpha=NOISE, l2_lambda=PENALTY), world, rounds)


def mabwiser_greedy(world, rounds):
    from mabwiser.mab import LearningPolicy

    # ε of ours is 0.05.
    return with_mabwiser(LearningPolicy.LinGreedy(epsilon=0.05, l2_lambda=PENALTY), world, rounds)


def with_mabwiser(policy, world, rounds):
    from mabwiser.mab import MAB

    bandit = MAB(arms=list(range(ARMS)), learning_policy=policy, seed=1)
    contexts, rewards = [world.contexts[t : t + 1] for t in range(rounds)], world.rewards[:rounds].tolist()
    # It must be fitted before it can decide, and holds λI for the inverse of λI until an arm has data: one outcome of each arm.
    bandit.fit(list(range(ARMS)), [rewards[a][a] for a in range(ARMS)], world.contexts[:ARMS])
    chosen = []
    started = process_time()
    for context, reward in zip(contexts, rewards):
        arm = bandit.predict(context)
        chosen.append(arm)
        bandit.partial_fit([arm], [reward[arm]], context)
    return process_time() - started, chosen


def contextualbandits(world, rounds):
    from contextualbandits.online import LinUCB

    bandit = LinUCB(
        ARMS,
        alpha=final_width(world),
        lambda_=PENALTY,
        fit_intercept=False,  # the contexts have one
        use_float=False,
        method="sm",  # Sherman and Morrison: the mode for few observations at a time
        random_state=1,
    )
    contexts, rewards = [world.contexts[t : t + 1].copy() for t in range(rounds)], world.rewards[:rounds]
    names, chosen = [np.array([arm]) for arm in range(ARMS)], []
    started = process_time()
    for context, reward in zip(contexts, rewards):
        arm = int(bandit.predict(context)[0])
        chosen.append(arm)
        bandit.partial_fit(context, names[arm], reward[arm : arm + 1])
    return process_time() - started, chosen


def river(world, rounds):
    from river.bandit import LinUCBDisjoint

    # A precision 1/σ² of the noise and 1 of the prior are a penalty σ²/1 = 0.01, ours. It has no multiplier of the width.
    bandit = LinUCBDisjoint(alpha=1, beta=NOISE**-2, seed=1)
    contexts = [dict(enumerate(context)) for context in world.contexts[:rounds].tolist()]
    rewards = world.rewards[:rounds].tolist()
    arms, chosen = list(range(ARMS)), []
    started = process_time()
    for context, reward in zip(contexts, rewards):
        arm = bandit.pull(arms, context)
        chosen.append(arm)
        bandit.update(arm, context, reward[arm])
    return process_time() - started, chosen


class Peer:
    """One row of the table: the best repetition, or why there is none."""

    def __init__(self, package, algorithm, play, worlds, rounds):
        self.algorithm, self.play, self.worlds, self.rounds = algorithm, play, worlds, rounds
        self.best, self.chosen, self.trouble = math.inf, [], None
        try:
            self.name = f"{package} {metadata.version(package)}"
        except metadata.PackageNotFoundError:
            self.name, self.trouble = package, "not installed"
        if np is None and self.trouble is None:
            self.trouble = "not run: needs numpy"

    def repeat(self):
        if self.trouble:
            return
        try:
            played = [self.play(world, self.rounds) for world in self.worlds]
        except ImportError as error:
            self.trouble = f"not run: {one_line(error)}"
        except Exception as error:  # another library's trouble is a row of the table, not the end of the run
            self.trouble = f"failed: {type(error).__name__}: {one_line(error)}"
        else:
            seconds = sum(seconds for seconds, _ in played)
            self.best = min(self.best, seconds / (len(self.worlds) * self.rounds) * 1e6)
            self.chosen = [chosen for _, chosen in played]

    def regrets(self):
        return [world.regret(chosen) for world, chosen in zip(self.worlds, self.chosen)]


def one_line(error):
    return " ".join(str(error).split()).replace("|", "/")[:120]


def ours(program, rounds, runs):
    """One repetition of `rarely simulate`: name → its row."""
    command = [program, "simulate", "--arms", str(ARMS), "--dim", str(DIM), "--rounds", str(rounds), "--runs", str(runs)]
    command += ["--noise", str(NOISE), "--penalty", str(PENALTY), "--threads", "1"]
    command += ["--algorithms", ",".join([*OURS, *LATER]), "--format", "json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return {row["name"]: row for row in json.loads(done.stdout)["algorithms"]}


def main():
    arguments = parse()
    program = find_program(arguments.rarely)
    rounds, slow = arguments.rounds, min(arguments.rounds, arguments.slow_rounds)
    worlds = [World(seed, rounds) for seed in range(arguments.runs)] if np else []
    tuned = Peer("numpy", "LinUCB by us, tuned", numpy_tuned, worlds, rounds)
    plain = Peer("numpy", "LinUCB by us, as usually written", numpy_plain, worlds, rounds)
    others = [
        Peer("mabwiser", "LinUCB", mabwiser, worlds[:1], slow),
        Peer("mabwiser", "LinTS", mabwiser_thompson, worlds[:1], slow),
        Peer("mabwiser", "LinGreedy", mabwiser_greedy, worlds[:1], slow),
        Peer("contextualbandits", "LinUCB", contextualbandits, worlds[:1], slow),
        Peer("river", "LinUCBDisjoint", river, worlds[:1], slow),
    ]
    peers = [tuned, plain, *others]
    load = [os.getloadavg()[0]]
    best = {}
    # Everybody in turn, so that a busy minute of the machine meets everybody.
    for repetition in range(arguments.repetitions):
        print(f"repetition {repetition + 1} of {arguments.repetitions}", file=sys.stderr)
        rows = ours(program, rounds, arguments.runs)
        for name, row in rows.items():
            best[name] = min(best.get(name, math.inf), 1e6 / row["rounds_per_second"])
        for peer in peers:
            peer.repeat()
    load.append(os.getloadavg()[0])

    print(f"k = {ARMS}, d = {DIM}, T = {rounds:,}, noise {NOISE}, λ = {PENALTY}, δ = 1/T, one thread; "
          f"best of {arguments.repetitions}, Python {platform.python_version()}, "
          f"{os.cpu_count()} cores, load {load[0]:.1f} at the start and {load[1]:.1f} at the end.\n")
    print_libraries(best, peers, rows, tuned, worlds[:1], slow)
    print_later(best, rows, peers)
    print_authors(best)
    sys.exit(0 if same_algorithm(rows["linucb"], tuned, plain) else 1)


def print_libraries(best, peers, rows, tuned, first, slow):
    print("| library | algorithm | µs per round | × `rarely` linucb | rounds timed | regret per step | tuned numpy's on the same rounds |")
    print("|---|---|---:|---:|---:|---:|---:|")
    line = "| {} | {} | {} | {} | {} | {} | {} |".format
    row = rows["linucb"]
    timed = round(row["seconds"] * row["rounds_per_second"])
    print(line("`rarely simulate`", "linucb", f"{best['linucb']:.3f}", "1", f"{timed:,}", f"{row['regret_per_step']['mean']:.4f}", "other draws"))
    yardstick = None
    if first and not tuned.trouble:
        yardstick = first[0].regret(tuned.chosen[0][:slow])
    for peer in peers:
        if peer.trouble:
            print(line(peer.name, peer.algorithm, peer.trouble, "–", "–", "–", "–"))
            continue
        same = np.mean(tuned.regrets()) if peer.worlds is tuned.worlds else yardstick
        shown = "–" if same is None or tuned.trouble else f"{same:.4f}"
        timed = len(peer.worlds) * peer.rounds
        print(line(peer.name, peer.algorithm, f"{peer.best:.1f}", times(peer.best / best["linucb"]), f"{timed:,}",
                   f"{np.mean(peer.regrets()):.4f}", shown))
    quoted = AUTHORS["linucb"]
    print(line("the authors' Python", "LinUCB", f"{quoted} (quoted, not measured)", times(quoted / best["linucb"]), "–", "–", "–"))
    print("\nOurs includes drawing contexts and noise, counting regret, checking whether the set holds the truth and judging every"
          "\nchange (linucb has none to judge); theirs is deciding and learning alone. MABWiser and contextualbandits get the last radius as a constant width;"
          "\nRiver's width has no multiplier and is narrower: its arithmetic is LinUCB's, its regret is not to be compared.\n")


def print_later(best, rows, peers):
    """The other algorithms, each beside MABWiser's where it has the same one."""
    print("| `rarely simulate` | µs per round | regret per step | MABWiser, µs per round | ratio |")
    print("|---|---:|---:|---:|---:|")
    theirs = {peer.algorithm: peer for peer in peers if peer.name.startswith("mabwiser")}
    for name, same in LATER.items():
        peer = theirs.get(same)
        timed = peer is not None and not peer.trouble
        shown = (f"{peer.algorithm} {peer.best:.1f}", times(peer.best / best[name])) if timed else ("–", "–")
        print(f"| {name} | {best[name]:.3f} | {rows[name]['regret_per_step']['mean']:.4f} | {shown[0]} | {shown[1]} |")
    print("\nEach with its defaults; MABWiser's LinTS draws all parameters of an arm, ours one number for each arm with the same distribution.\n")


def print_authors(best):
    print("| `rarely simulate` | µs per round | the authors' Python, µs per round (quoted, not measured) | ratio |")
    print("|---|---:|---:|---:|")
    for name in OURS:
        quoted = AUTHORS.get(name)
        theirs = "–" if quoted is None else f"about {quoted:,}"
        print(f"| {name} | {best[name]:.3f} | {theirs} | {'–' if quoted is None else times(quoted / best[name])} |")
    print("\nThe authors' program is Python 2 and not on PyPI: it is not run here. The figures are CPU time of a port to Python 3 at the"
          "\nsame k, d and T, with the authors' own sets and projected gradient; ours are valid sets and the exact solution.\n")


def times(ratio):
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def same_algorithm(row, tuned, plain):
    """Whether our numpy LinUCB is the algorithm that `rarely` runs, by its regret on other draws of the same setting."""
    if tuned.trouble or plain.trouble:
        print("Check not made: numpy's LinUCB was not run.")
        return True
    regrets, mean = tuned.regrets(), row["regret_per_step"]["mean"]
    error = np.std(regrets, ddof=1) / math.sqrt(len(regrets)) if len(regrets) > 1 else 0.0
    ratio = np.mean(regrets) / mean
    decisions = sum(len(chosen) for chosen in tuned.chosen)
    differing = sum(a != b for one, other in zip(tuned.chosen, plain.chosen) for a, b in zip(one, other))
    fine = 0.5 <= ratio <= 2 and differing <= decisions / 1000
    print(f"Check: regret per step of numpy's LinUCB {np.mean(regrets):.4f} ± {error:.4f}, of `rarely`'s {mean:.4f} ± "
          f"{row['regret_per_step']['se']:.4f}; the two numpy versions differ in {differing:,} of {decisions:,} decisions: "
          f"{'the same algorithm' if fine else 'NOT THE SAME ALGORITHM, do not compare times'}.")
    return fine


def find_program(given):
    root = Path(__file__).resolve().parents[2]
    program = given or root / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "rarely"
    if not program.is_file():
        sys.exit("no release build of rarely: run without --no-build, or say where it is with --rarely")
    return program.resolve()


def parse():
    parser = argparse.ArgumentParser(prog="benchmarks/peers/run", description=__doc__,
                                     epilog="--no-build: take the release build that is there")
    parser.add_argument("--rounds", type=positive, default=10_000, help="rounds T [%(default)s]")
    parser.add_argument("--slow-rounds", type=positive, default=2_000,
                        help="rounds that MABWiser, contextualbandits and River are timed for [%(default)s]")
    parser.add_argument("--runs", type=positive, default=20, help="draws of the arms, for rarely and numpy [%(default)s]")
    parser.add_argument("--repetitions", type=positive, default=3, help="of which the best counts [%(default)s]")
    parser.add_argument("--rarely", type=Path, metavar="PROGRAM", help="the program to time, if not the release build")
    arguments = parser.parse_args()
    if min(arguments.rounds, arguments.slow_rounds) < ARMS:
        parser.error(f"at least {ARMS} rounds")
    return arguments


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


if __name__ == "__main__":
    main()
