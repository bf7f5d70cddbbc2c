# %% [markdown]
# # A policy in a loop of one's own
#
# A researcher has a simulator already and wants a policy in it. A policy does two things: it decides, and it observes how a
# decision went. Everything else is the loop's.

# %%
from __future__ import annotations

import numpy as np
import rarely

ROUNDS = 5_000
TRUTH = 0.4  # option 1 is better for those above it; the policy does not know


def simulate(policy: rarely.Policy, seed: int) -> float:
    """Lets a policy decide for people, and tells it how that went; what a decision cost on average."""
    random = np.random.default_rng(seed)
    regret = 0.0
    for age, noise in zip(random.uniform(size=ROUNDS), 0.1 * random.normal(size=ROUNDS)):
        means = [TRUTH, age]
        arm, _propensity = policy.decide([1.0, age])
        policy.observe([[1.0, age]], [arm], [means[arm] + noise])
        regret += max(means) - means[arm]
    return regret / ROUNDS


def threshold(rule: np.ndarray) -> float:
    """From where a rule gives option 1."""
    intercept, slope = rule[1] - rule[0]
    return float(-intercept / slope)


# %% [markdown]
# What is declared: outcomes vary by at most 0.1 around their mean, and all coefficients together are no longer than 2. What is
# in force at first: option 1 for those above 0.7. A few people get an option by lot, where the data do not rule it out.
# Joint sets, because the paper's Theorem 3, below, is about one ellipsoid.

# %%
declared = {
    "noise": 0.1,
    "norm_bound": 2.0,
    "deployed": [[0.7, 0.0], [0.0, 1.0]],
    "explore": "pilot:6+equipoise:0.05",
    "sets": "joint",
    "seed": 1,
}
greedy = rarely.Policy(2, 2, "boundary-greedy", **declared)
cost = simulate(greedy, seed=1)
print(f"{len(greedy.versions)} changes; the threshold is {threshold(greedy.rule_):.3f}; a decision cost {cost:.4f}")

# %% [markdown]
# The policy waited until its boundary was implausible, and went to the best estimate, once. The change comes with its
# certificate: what it gains, for how many, and how sure that is. So early it is not sure that there is a gain, and says so.

# %%
change = greedy.versions[0]
print(change)
print(change.certificate)
assert len(greedy.versions) <= 5
assert abs(threshold(greedy.rule_) - TRUTH) < 0.05
assert change.certificate.gain.lower < 0.0 < change.certificate.gain.upper

# %% [markdown]
# `boundary-conservative` moves its boundary only as far as the evidence asks. Each step is small and certified by the paper's
# Theorem 3, and never passes the truth; but held against the evidence after every outcome, it takes many steps, and costs
# more on the way. Where changes are dear, take the greedy one.

# %%
conservative = rarely.Policy(2, 2, "boundary-conservative", **declared)
cost_of_caution = simulate(conservative, seed=1)
steps = [threshold(change.after) for change in conservative.versions]
print(f"{len(steps)} changes; the threshold is {steps[-1]:.3f}; a decision cost {cost_of_caution:.4f}")
print(conservative.versions[-1])
assert len(steps) > 10 * len(greedy.versions)
assert all(later < earlier for earlier, later in zip([0.7, *steps], steps))
assert steps[-1] > TRUTH
assert all(change.certificate.theorem_three for change in conservative.versions)
assert cost < cost_of_caution

# %% [markdown]
# A policy is a value: it can be written down, and what is read back goes on in the same way.

# %%
again = rarely.Policy.from_bytes(greedy.to_bytes())
assert again == greedy
assert again.digest == greedy.digest
