# %% [markdown]
# # A policy inside coba
#
# A researcher compares learners with `coba` (pip install coba). A policy takes part as one of them.

# %%
from __future__ import annotations

from collections import defaultdict

import coba

import rarely
from rarely.adapters import CobaLearner

# %% [markdown]
# Two linear worlds with four fixed actions and four variables each. `intercept=True` puts a 1 before every context, so that the
# policy has five.

# %%
environments = coba.Environments.from_linear_synthetic(
    2_000, n_actions=4, n_context_features=4, n_action_features=0, n_coefficients=None, seed=[1, 2]
)
settings = {"noise": 0.1, "norm_bound": 2.0, "penalty": 0.1}
learners = [
    CobaLearner(rarely.Policy(4, 5, "linucb", **settings), intercept=True),
    CobaLearner(rarely.Policy(4, 5, "boundary-greedy", explore="pilot:6+equipoise:0.02", **settings), intercept=True),
    coba.RandomLearner(),
]
result = coba.Experiment(environments, learners).run(quiet=True)

# %% [markdown]
# The mean reward of each.

# %%
names = {row["learner_id"]: row["family"] for row in result.learners.to_dicts()}
rewards: dict[str, list[float]] = defaultdict(list)
for row in result.interactions.to_dicts():
    rewards[names[row["learner_id"]]].append(row["reward"])
means = {name: sum(found) / len(found) for name, found in rewards.items()}
for name, mean in means.items():
    print(f"{name:24} {mean:.4f}")

# %% [markdown]
# Both policies are far better than chance, and the one that changes seldom is near the one that changes in every round.

# %%
chance = means.pop("random") if "random" in means else means.pop("Random")
best = max(means.values())
assert all(mean - chance > 0.5 * (best - chance) > 0.02 for mean in means.values()), means
