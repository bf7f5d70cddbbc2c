"""The same three tasks for `rarely` and for other people's tools: deciding and learning, judging a rule on a log, the jump at a cut. See README.md."""

# ruff: noqa: E402

from __future__ import annotations

import os

# One thread, for everybody; this must be said before numpy is loaded.
for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "VECLIB_MAXIMUM"):
    os.environ[f"{name}_NUM_THREADS"] = "1"

import argparse
import importlib
import importlib.util
import json
import platform
import sys
import tempfile
import types
import warnings
from importlib import metadata
from pathlib import Path
from time import process_time
from typing import Any, Callable

import numpy as np
import rarely

Array = Any
NOISE, PEOPLE, LOOKS = 0.1, 200, 100
PACKAGES = (
    "rarely vowpalwabbit vw-estimators mabwiser contextualbandits coba obp river rdrobust numpy scikit-learn".split()
)


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(*cells: str) -> None:
    row(*cells)
    print("|---|" + "---:|" * (len(cells) - 1))


def trouble(error: Exception) -> str:
    return f"not run: {type(error).__name__}: {' '.join(str(error).split())[:80]}"


# Task 1: deciding and learning


class World:
    """People, and their outcomes under every option, drawn beforehand. The noise of a person is the same under every option."""

    def __init__(self, theta: Array, rounds: int, rng: np.random.Generator) -> None:
        self.theta = theta
        self.arms, self.dimension = theta.shape
        self.contexts = np.hstack([np.ones((rounds, 1)), rng.random((rounds, self.dimension - 1))])
        self.panel = np.hstack([np.ones((PEOPLE, 1)), rng.random((PEOPLE, self.dimension - 1))])
        self.means = self.contexts @ theta.T
        self.rewards = self.means + NOISE * rng.standard_normal((rounds, 1))
        # What is told to whoever can use it: the length of all coefficients, and the range of the means.
        self.norm = float(np.linalg.norm(theta))
        self.low, self.high = float(self.means.min()), float(self.means.max())


def threshold_world(seed: int, rounds: int) -> World:
    """Two options, one feature: the second is better above a cut between 0.3 and 0.7."""
    rng = np.random.default_rng([1, seed])
    cut = rng.uniform(0.3, 0.7)
    return World(np.array([[0.5, 0.0], [0.5 - 0.5 * cut, 0.5]]), rounds, rng)


def paper_world(seed: int, rounds: int) -> World:
    """Four options, four features: the paper's. N(0,1) truncated to [-2, 2], and 1 added to the intercepts."""
    rng = np.random.default_rng([2, seed])
    theta = rng.standard_normal((4, 5))
    while (outside := np.abs(theta) > 2).any():
        theta[outside] = rng.standard_normal(int(outside.sum()))
    theta[:, 0] += 1
    return World(theta, rounds, rng)


class Ours:
    def __init__(self, world: World, algorithm: str, told: bool = True) -> None:
        known = {"noise": NOISE, "norm_bound": world.norm} if told else {"noise": "unknown"}
        self.policy = rarely.Policy(world.arms, world.dimension, algorithm, seed=1, **known)

    def decide(self, x: Array) -> int:
        return int(self.policy.decide(x)[0])

    def observe(self, x: Array, arm: int, reward: float) -> None:
        self.policy.observe(x, arm, reward)

    def rule(self, X: Array) -> Array:
        return self.policy.predict(X)


class VowpalWabbit:
    """Costs are rewards turned round and scaled to 0 to 1, as its algorithms expect."""

    def __init__(self, world: World, options: str, actions: bool = False) -> None:
        module = importlib.import_module("vowpalwabbit")
        self.workspace = module.Workspace(f"{options} --quiet --random_seed 1")
        self.rng, self.world, self.actions, self.given = np.random.default_rng(1), world, actions, 1.0

    def example(self, x: Array, label: str = "", arm: int = -1) -> Any:
        features = " ".join(f"x{at}:{value:.6f}" for at, value in enumerate(x) if at > 0)
        if not self.actions:
            return f"{label.replace('@', str(arm + 1))} | {features}"
        lines = [f"{label.replace('@', '0') if a == arm else ''} |a arm{a}" for a in range(self.world.arms)]
        return [f"shared |s {features}", *lines]

    def probabilities(self, x: Array) -> Array:
        found = np.array(self.workspace.predict(self.example(x)))
        return found / found.sum()

    def decide(self, x: Array) -> int:
        found = self.probabilities(x)
        arm = int(self.rng.choice(len(found), p=found))
        self.given = float(found[arm])
        return arm

    def observe(self, x: Array, arm: int, reward: float) -> None:
        cost = (self.world.high - reward) / (self.world.high - self.world.low)
        self.workspace.learn(self.example(x, f"@:{cost:.6f}:{self.given:.6f}", arm))

    def rule(self, X: Array) -> Array:
        return np.array([int(self.probabilities(x).argmax()) for x in X])


class MABWiser:
    def __init__(self, world: World, policy: str, **settings: float) -> None:
        module = importlib.import_module("mabwiser.mab")
        learning = getattr(module.LearningPolicy, policy)(**settings)
        self.arms = list(range(world.arms))
        self.bandit = module.MAB(self.arms, learning, seed=1)
        self.draws = policy != "LinUCB"
        # It must be fitted before it decides: one outcome of each arm, which no row counts.
        first = world.contexts[: world.arms]
        self.bandit.fit(self.arms, [float(world.rewards[arm][arm]) for arm in self.arms], first)

    def decide(self, x: Array) -> int:
        return int(self.bandit.predict(x[None, :]))

    def observe(self, x: Array, arm: int, reward: float) -> None:
        self.bandit.partial_fit([arm], [reward], x[None, :])

    def rule(self, X: Array) -> Array:
        if not self.draws:
            return np.array(self.bandit.predict(X))
        # Its answers are draws; the rule is the arm with the best estimate.
        models = self.bandit._imp.arm_to_model
        return np.column_stack([X @ models[arm].beta for arm in self.arms]).argmax(axis=1)


class ContextualBandits:
    def __init__(self, world: World) -> None:
        module = importlib.import_module("contextualbandits.online")
        self.bandit = module.LinUCB(world.arms, fit_intercept=False, use_float=False, random_state=1)

    def decide(self, x: Array) -> int:
        return int(self.bandit.predict(x[None, :])[0])

    def observe(self, x: Array, arm: int, reward: float) -> None:
        self.bandit.partial_fit(x[None, :], np.array([arm]), np.array([reward]))

    def rule(self, X: Array) -> Array:
        return self.bandit.predict(X)


class Coba:
    def __init__(self, world: World) -> None:
        module = importlib.import_module("coba")
        self.learner = module.LinUCBLearner(features=["ax"], seed=1)
        self.actions = [tuple(float(a == b) for b in range(world.arms)) for a in range(world.arms)]

    def decide(self, x: Array) -> int:
        return self.actions.index(self.learner.predict(x.tolist(), self.actions)[0])

    def observe(self, x: Array, arm: int, reward: float) -> None:
        self.learner.learn(x.tolist(), self.actions[arm], reward, 1.0)

    def rule(self, X: Array) -> Array:
        return np.array([self.decide(x) for x in X])


class River:
    def __init__(self, world: World, **settings: float) -> None:
        self.bandit = importlib.import_module("river.bandit").LinUCBDisjoint(**settings, seed=1)
        self.arms = list(range(world.arms))

    def decide(self, x: Array) -> int:
        return int(self.bandit.pull(self.arms, dict(enumerate(x.tolist()))))

    def observe(self, x: Array, arm: int, reward: float) -> None:
        self.bandit.update(arm, dict(enumerate(x.tolist())), reward)

    def rule(self, X: Array) -> Array:
        return np.array([self.decide(x) for x in X])


class Obp:
    def __init__(self, world: World, policy: str, **settings: float) -> None:
        module = obp_part("obp.policy.linear")
        self.policy = getattr(module, policy)(dim=world.dimension, n_actions=world.arms, random_state=1, **settings)
        self.draws = policy == "LinTS"

    def decide(self, x: Array) -> int:
        return int(self.policy.select_action(x[None, :])[0])

    def observe(self, x: Array, arm: int, reward: float) -> None:
        self.policy.update_params(action=arm, reward=reward, context=x[None, :])

    def rule(self, X: Array) -> Array:
        if self.draws:
            return (X @ self.policy.theta_hat).argmax(axis=1)
        return np.array([self.decide(x) for x in X])


def obp_part(name: str) -> Any:
    """A module of obp. Its packages import neural networks; the two names of torch that signatures have are stood in for."""
    if "torch" not in sys.modules:
        spec = importlib.util.find_spec("obp")
        if spec is None or spec.origin is None:
            raise ImportError("obp is not installed")
        torch = types.ModuleType("torch")
        torch.tensor = torch.Tensor = type("Tensor", (), {})  # type: ignore[attr-defined]
        sys.modules["torch"] = torch
        for package in ("obp", "obp.ope", "obp.policy", "obp.dataset"):
            module = types.ModuleType(package)
            module.__path__ = [str(Path(spec.origin).parent.joinpath(*package.split(".")[1:]))]
            sys.modules[package] = module
    return importlib.import_module(name)


PLAYERS: dict[str, Callable[[World], Any]] = {
    "rarely, `rarely`": lambda world: Ours(world, "rarely"),
    "rarely, `rarely`, noise not told": lambda world: Ours(world, "rarely", told=False),
    "rarely, `linucb`": lambda world: Ours(world, "linucb"),
    "rarely, `thompson`": lambda world: Ours(world, "thompson"),
    "Vowpal Wabbit, `--cb_explore`": lambda world: VowpalWabbit(world, f"--cb_explore {world.arms}"),
    "Vowpal Wabbit, `--cb_explore_adf --squarecb`": lambda world: VowpalWabbit(
        world, "--cb_explore_adf --squarecb --quadratic sa", actions=True
    ),
    "MABWiser, `LinUCB`": lambda world: MABWiser(world, "LinUCB"),
    "MABWiser, `LinTS`": lambda world: MABWiser(world, "LinTS"),
    "MABWiser, `LinTS`, told the noise": lambda world: MABWiser(world, "LinTS", alpha=NOISE, l2_lambda=NOISE**2),
    "contextualbandits, `LinUCB`": ContextualBandits,
    "coba, `LinUCBLearner`": Coba,
    "River, `LinUCBDisjoint`": River,
    "River, `LinUCBDisjoint`, told the noise": lambda world: River(world, beta=NOISE**-2),
    "obp, `LinUCB`": lambda world: Obp(world, "LinUCB", epsilon=1.0),
    "obp, `LinTS`": lambda world: Obp(world, "LinTS"),
}


def play(player: Any, world: World) -> tuple[float, float, float, float, float]:
    """Regret per round, what the last rule loses per person, looks at which somebody's option had changed, changes per person, µs per round."""
    rounds = len(world.contexts)
    regret, seconds, changed, moved = 0.0, 0.0, 0, 0
    before = None
    for t, (x, rewards) in enumerate(zip(world.contexts, world.rewards)):
        started = process_time()
        arm = player.decide(x)
        player.observe(x, arm, float(rewards[arm]))
        seconds += process_time() - started
        regret += world.means[t].max() - world.means[t, arm]
        if (t + 1) % (rounds // LOOKS) == 0:
            rule = np.asarray(player.rule(world.panel)).astype(int)
            if before is not None:
                differing = int((rule != before).sum())
                changed, moved = changed + (differing > 0), moved + differing
            before = rule
    panel = world.panel @ world.theta.T
    lost = float((panel.max(axis=1) - panel[np.arange(PEOPLE), before]).mean())
    return regret / rounds, lost, changed, moved / PEOPLE, seconds / rounds * 1e6


def online(seeds: int) -> None:
    for title, make, rounds in (
        ("two options, one feature, 1,000 rounds", threshold_world, 1000),
        ("four options, four features, 2,000 rounds", paper_world, 2000),
    ):
        print(f"\n{title}, {seeds} worlds\n")
        head(
            "tool",
            "regret per round",
            "in the worst world",
            "the last rule loses",
            f"looks with a change, of {LOOKS - 1}",
            "changes per person",
            "µs per round",
        )
        for name, player in PLAYERS.items():
            try:
                worlds = [make(seed, rounds) for seed in range(seeds)]
                found = np.array([play(player(world), world) for world in worlds])
            except Exception as error:  # another tool's trouble is a row of the table, not the end of the run
                row(name, trouble(error), "", "", "", "", "")
                continue
            mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(seeds)
            row(
                name,
                f"{mean[0]:.4f} ± {error[0]:.4f}",
                f"{found[:, 0].max():.3f}",
                f"{mean[1]:.4f}",
                f"{mean[2]:.1f}",
                f"{mean[3]:.2f}",
                f"{mean[4]:.1f}",
            )


# Task 2: judging a rule on the log of another


def logged(seed: int, rows: int = 2000) -> tuple[dict[str, Any], Array, float]:
    """A log of three options with known propensities and outcomes 0 or 1, a rule, and what the rule is worth in truth.

    The mean outcome bends in the first feature, so that linear models are wrong.
    """
    rng = np.random.default_rng([3, seed])
    theta, kind, target = rng.standard_normal((3, 4, 3))[:3, :3]
    bend = rng.standard_normal(3)

    def with_one(X: Array) -> Array:
        return np.hstack([np.ones((len(X), 1)), X])

    def means(X: Array) -> Array:
        return 1 / (1 + np.exp(-(with_one(X) @ theta.T + X[:, :1] ** 2 * bend)))

    def rule(X: Array) -> Array:
        return (with_one(X) @ target.T).argmax(axis=1)

    def given(X: Array) -> Array:
        scores = np.exp(0.7 * with_one(X) @ kind.T)
        return scores / scores.sum(axis=1, keepdims=True)

    X = rng.uniform(-1, 1, (rows, 2))
    propensities = given(X)
    # Known before the log is: the least propensity of all is in a corner.
    least = given(np.array([[a, b] for a in (-1, 1) for b in (-1, 1)])).min()
    arms = (rng.random(rows)[:, None] > propensities.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    rewards = (rng.random(rows) < means(X)[np.arange(rows), arms]).astype(float)
    people = rng.uniform(-1, 1, (200_000, 2))
    truth = float(means(people)[np.arange(len(people)), rule(people)].mean())
    return (
        {"contexts": X, "arms": arms, "rewards": rewards, "propensities": propensities, "least": least},
        np.eye(3)[rule(X)],
        truth,
    )


Values = dict[str, tuple[float, float, float]]  # an estimate and its interval; NaN where there is none
NONE = float("nan")


REFUSED: set[str] = set()


def evaluated(log: dict[str, Any], chances: Array, **settings: Any) -> Any:
    """Unless told otherwise, `rarely.evaluate` refuses propensities that do not seem to fit. It is then told to warn; refusals are counted."""
    try:
        return rarely.evaluate(log, chances, **settings)
    except rarely.errors.EvaluateError as error:
        REFUSED.add(str(error))
        return rarely.evaluate(log, chances, weights="warn", **settings)


def by_rarely(log: dict[str, Any], chances: Array) -> Values:
    found = evaluated(log, chances, estimators=["ips", "snips", "dr"])
    return {name: (found[name].estimate, found[name].lower, found[name].upper) for name in ("ips", "snips", "dr")}


def by_rarely_certain(log: dict[str, Any], chances: Array) -> Values:
    found = evaluated(
        log,
        chances,
        estimators=["dr"],
        interval="empirical-bernstein",
        outcome_range=(0, 1),
        minimum_propensity=float(log["least"]),
    )["dr"]
    return {"dr, interval without approximation": (found.estimate, found.lower, found.upper)}


def by_obp(log: dict[str, Any], chances: Array) -> Values:
    theirs = obp_part("obp.ope.estimators")
    model = obp_part("obp.ope.regression_model").RegressionModel(
        n_actions=3, base_model=importlib.import_module("sklearn.linear_model").LogisticRegression()
    )
    arms = log["arms"]
    given = log["propensities"][np.arange(len(arms)), arms]
    fitted = model.fit_predict(
        context=log["contexts"], action=arms, reward=log["rewards"], pscore=given, n_folds=5, random_state=1
    )
    rest = {"reward": log["rewards"], "action": arms, "pscore": given, "action_dist": chances[:, :, None]}
    rest["position"] = np.zeros(len(arms), dtype=int)
    found = {}
    for name, estimator in (
        ("`InverseProbabilityWeighting`", theirs.InverseProbabilityWeighting()),
        ("`SelfNormalizedInverseProbabilityWeighting`", theirs.SelfNormalizedInverseProbabilityWeighting()),
        ("`DoublyRobust`", theirs.DoublyRobust()),
    ):
        more = {"estimated_rewards_by_reg_model": fitted} if "Doubly" in name else {}
        interval = estimator.estimate_interval(**rest, **more, alpha=0.05, n_bootstrap_samples=500, random_state=1)
        ends = [interval[key] for key in interval if "lower" in key or "upper" in key]
        found[name] = (float(estimator.estimate_policy_value(**rest, **more)), *map(float, ends))
    return found


def by_vw_estimators(log: dict[str, Any], chances: Array) -> Values:
    names = {"ips, `gaussian`": ("ips", "gaussian"), "cressieread": ("cressieread", "cressieread")}
    rows = np.arange(len(log["arms"]))
    weights = list(zip(log["propensities"][rows, log["arms"]], log["rewards"], chances[rows, log["arms"]]))
    found = {}
    for name, (point, interval) in names.items():
        estimator = importlib.import_module(f"estimators.bandits.{point}").Estimator()
        ends = importlib.import_module(f"estimators.bandits.{interval}").Interval()
        for p_log, reward, p_rule in weights:
            estimator.add_example(p_log, reward, p_rule)
            ends.add_example(p_log, reward, p_rule)
        found[name] = (float(estimator.get()), *map(float, ends.get(0.05)))
    return found


def by_contextualbandits(log: dict[str, Any], chances: Array) -> Values:
    evaluate = importlib.import_module("contextualbandits.evaluation").evaluateDoublyRobust
    logistic = importlib.import_module("sklearn.linear_model").LogisticRegression()
    arms = log["arms"]
    given = log["propensities"][np.arange(len(arms)), arms]
    value = evaluate(
        chances.argmax(axis=1), log["contexts"], arms, log["rewards"], given, logistic, nchoices=3, random_state=1
    )
    return {"`evaluateDoublyRobust`": (float(value), NONE, NONE)}


JUDGES = {
    "rarely": by_rarely,
    "rarely, ": by_rarely_certain,
    "obp": by_obp,
    "vw-estimators": by_vw_estimators,
    "contextualbandits": by_contextualbandits,
}


def summarise(found: Array, truths: Array) -> list[str]:
    estimates, lower, upper = found.T
    inside = (lower <= truths) & (truths <= upper)
    error = estimates - truths
    cells = [f"{error.mean():+.4f}", f"{np.sqrt((error**2).mean()):.4f}"]
    return [
        *cells,
        *(["–", "–"] if np.isnan(lower).all() else [f"{(upper - lower).mean():.3f}", f"{inside.mean():.1%}"]),
    ]


def value(seeds: int) -> None:
    logs = [logged(seed) for seed in range(seeds)]
    print(f"\n{seeds} logs of 2,000 rows, three options, outcomes 0 or 1\n")
    head(
        "tool and estimator",
        "mean error",
        "root mean squared error",
        "width of the 95 % interval",
        "has the truth in",
        "ms per log",
    )
    for tool, judge in JUDGES.items():
        try:
            started = process_time()
            each = [judge(log, chances) for log, chances, _ in logs]
            spent = (process_time() - started) / seeds * 1e3
        except Exception as error:
            row(tool.strip(", "), trouble(error), "", "", "", "")
            continue
        truths = np.array([truth for _, _, truth in logs])
        for name in each[0]:
            cells = summarise(np.array([found[name] for found in each]), truths)
            row(f"{tool.strip(', ')}, {name}", *cells, "" if spent is None else f"{spent:.0f}")
            spent = None
    print(
        "\nThe time is that of all estimators of a tool together, with the model; only the first line of a tool has it."
    )
    print(f"`rarely` refused {len(REFUSED)} of the logs at first; it was then told to warn instead.")


# Task 3: the jump at a cut

CUT, JUMP = 140.0, 0.08
DOCUMENT = """
policy        = "cut"
options       = ["watch", "treat"]
option_column = "option"
outcome       = { column = "outcome", range = [-1, 2] }
[[features]]
column = "x"
range  = [80, 220]
[evidence]
noise = 0.1
[rule]
threshold = { feature = "x", cuts = [140], options = ["watch", "treat"] }
"""


def at_the_cut(seed: int, rows: int = 2000) -> tuple[Array, Array]:
    """A log in which the rule was always followed; the outcome bends, and jumps at the cut."""
    rng = np.random.default_rng([4, seed])
    x = rng.uniform(80, 220, rows)
    u = (x - CUT) / 40
    return x, 0.5 - 0.1 * u - 0.05 * u**2 + 0.03 * u**3 + JUMP * (x >= CUT) + 0.1 * rng.standard_normal(rows)


def review_of(x: Array, y: Array) -> Any:
    with tempfile.TemporaryDirectory() as place:
        document = Path(place) / "policy.toml"
        document.write_text(DOCUMENT)
        return rarely.review(document, {"x": x, "outcome": y, "option": np.where(x >= CUT, "treat", "watch")})


def jump_by_review(x: Array, y: Array) -> Values:
    checks = json.loads(review_of(x, y).to_json())["checks"]
    check = next(check for check in checks if check.get("from_rows"))
    found = check["from_rows"]
    return {
        "`review`, next to the cut": (found["bias_corrected"], *found["interval"]),
        "`review`, the straight lines of the whole log": (check["model"], NONE, NONE),
    }


def jump_by_rdrobust(x: Array, y: Array) -> Values:
    found = importlib.import_module("rdrobust").rdrobust(y, x, c=CUT)
    ends = found.ci.to_numpy()
    estimates = found.coef.to_numpy().ravel()
    return {"robust": (estimates[2], *ends[2]), "conventional": (estimates[0], *ends[0])}


def cut(seeds: int) -> None:
    logs = [at_the_cut(seed) for seed in range(seeds)]
    print(f"\n{seeds} logs of 2,000 rows that followed a cut\n")
    head(
        "tool", "mean error", "root mean squared error", "width of the 95 % interval", "has the truth in", "ms per log"
    )
    kept = {}
    for tool, measure in (("rarely", jump_by_review), ("rdrobust", jump_by_rdrobust)):
        try:
            started = process_time()
            each = [measure(x, y) for x, y in logs]
            spent = (process_time() - started) / seeds * 1e3
        except Exception as error:
            row(tool, trouble(error), "", "", "", "")
            continue
        for at, name in enumerate(each[0]):
            found = np.array([values[name] for values in each], dtype=float)
            if at == 0:
                kept[tool] = found
            row(f"{tool}, {name}", *summarise(found, np.full(seeds, JUMP)), f"{spent:.1f}")
    if len(kept) == 2:
        print(
            f"\nThe largest difference between the two robust answers, in any log: {np.abs(kept['rarely'] - kept['rdrobust']).max():.1e}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    tasks = {"online": (online, 20), "value": (value, 200), "cut": (cut, 200)}
    parser.add_argument("tasks", nargs="*", help=f"of {', '.join(tasks)}; all if left out")
    parser.add_argument("--seeds", type=int, help="worlds or logs, from seed 0 on")
    arguments = parser.parse_args()
    if unknown := set(arguments.tasks) - set(tasks):
        parser.error(f"no such task: {', '.join(unknown)}")
    warnings.filterwarnings("ignore")
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{package} not installed")
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {', '.join(versions)}"
    )
    for name in arguments.tasks or tasks:
        task, seeds = tasks[name]
        task(arguments.seeds or seeds)


if __name__ == "__main__":
    main()
