# %% [markdown]
# # A policy in a loop of one's own
#
# A researcher has a simulator already and wants a policy in it. A policy does two things: it decides, and it observes how a
# decision went. Everything else is the loop's.

# %%
from __future__ import annotations

import numpy as np

import rarely

random = np.random.default_rng(1)
ROUNDS = 5_000


def outcome(arm: int, age: float) -> float:
    """The truth, which the policy does not know: option 1 is better for those above 0.4."""
    mean = 0.4 if arm == 0 else age
    return float(mean + 0.1 * random.normal())


# %% [markdown]
# What is declared: outcomes vary by at most 0.1 around their mean, and all coefficients together are no longer than 2. What is
# in force at first: option 1 for those above 0.7. A few people get an option by lot, where the data do not rule it out.

# %%
policy = rarely.Policy(
    arms=2,
    dimension=2,
    algorithm="boundary-conservative",
    noise=0.1,
    norm_bound=2.0,
    deployed=[[0.7, 0.0], [0.0, 1.0]],
    explore="pilot:6+equipoise:0.05",
    seed=1,
)

# %% [markdown]
# The loop. A change comes with its certificate: what it gains, for how many, and how sure that is.

# %%
regret = 0.0
for _ in range(ROUNDS):
    age = float(random.uniform())
    arm, propensity = policy.decide([1.0, age])
    regret += max(0.4, age) - (0.4 if arm == 0 else age)
    for change in policy.observe([[1.0, age]], [arm], [outcome(arm, age)]):
        print(change)
        print(change.certificate)

# %% [markdown]
# A conservative policy moves its threshold only as far as the evidence asks: from 0.7 towards 0.4, and not past what is
# plausible. Every change was an improvement.

# %%
difference = policy.rule_[1] - policy.rule_[0]
threshold = -difference[0] / difference[1]
print(f"{len(policy.versions)} changes in {ROUNDS} rounds; the threshold is {threshold:.2f}; regret a round is {regret / ROUNDS:.4f}")
assert 1 <= len(policy.versions) <= 30
assert 0.35 < threshold < 0.65, threshold
assert all(change.certificate.gain.upper > 0.0 for change in policy.versions)

# %% [markdown]
# A policy is a value: it can be written down, and what is read back goes on in the same way.

# %%
again = rarely.Policy.from_bytes(policy.to_bytes())
assert again == policy
assert again.digest == policy.digest
