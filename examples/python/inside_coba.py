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
# policies have five. Rewards have no noise here, so that little may be declared; one policy is told of more.

# %%
environments = coba.Environments.from_linear_synthetic(
    2_000, n_actions=4, n_context_features=4, n_action_features=0, n_coefficients=None, seed=[1, 2]
)


def seldom(noise: float) -> CobaLearner[rarely.Policy]:
    explore = "pilot:6+equipoise:0.02"
    policy = rarely.Policy(4, 5, "boundary-greedy", noise=noise, norm_bound=2.0, explore=explore, sets="joint")
    return CobaLearner(policy, intercept=True)


learners = {
    "linucb": CobaLearner(rarely.Policy(4, 5, "linucb", noise=0.02, norm_bound=2.0), intercept=True),
    "boundary-greedy": seldom(0.02),
    "boundary-greedy, told of more noise": seldom(0.1),
    "random": coba.RandomLearner(),
}
result = coba.Experiment(environments, list(learners.values())).run(quiet=True)

# %% [markdown]
# The mean reward of each.

# %%
rewards = defaultdict(list)
for row in result.interactions.to_dicts():
    rewards[list(learners)[row["learner_id"]]].append(row["reward"])
means = {name: sum(found) / len(found) for name, found in rewards.items()}
for name, mean in means.items():
    print(f"{name:36} {mean:.4f}")

# %% [markdown]
# The policy that changes seldom is as good as LinUCB, which changes in every round. Told of more noise than there is it wants
# more evidence: 2,000 rounds, of which it gives 2 % to finding out, are then few. (The smaller noise was chosen after a look at
# several: this shows how to take part, not who is better. `rarely simulate` and its report are for that.)

# %%
gain = {name: mean - means["random"] for name, mean in means.items()}
assert gain["boundary-greedy"] > 0.95 * gain["linucb"] > 0.1
assert 0.0 < gain["boundary-greedy, told of more noise"] < 0.9 * gain["boundary-greedy"]
