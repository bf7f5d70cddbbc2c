"""What would a new rule have been worth? A log of a randomised service answers, whatever the form of the rule."""

from __future__ import annotations

import numpy as np
import rarely

# A service drew one of two offers at random, more often the second for people with a high score. The second works in the middle only.
world = np.random.default_rng(7)
score = world.uniform(-1, 1, 4000)
chance = np.where(score > 0, 0.7, 0.3)
offer = (world.random(4000) < chance).astype(int)
works = np.where(offer == 1, np.where(np.abs(score) < 0.5, 0.9, 0.1), 0.5)
bought = (world.random(4000) < works).astype(float)
log = {
    "contexts": score[:, None],
    "arms": offer,
    "rewards": bought,
    "propensities": np.column_stack([1 - chance, chance]),
}


def middle(contexts: np.ndarray) -> np.ndarray:
    """The new rule: the second offer in the middle. No straight line would find it."""
    return np.abs(contexts[:, 0]) < 0.5


# Its value by every estimator, and how much more than what the service did. The true gain is 0.2.
found = rarely.evaluate(log, middle, against="logging")
print(found.to_table().to_csv())
assert found["dr"].lower < 0.2 < found["dr"].upper
assert not found["dm"].lower < 0.2 < found["dm"].upper, "the direct method believes its straight lines"

# How far the weights can be trusted: rows that count, and the mean of 1/p for every arm, about 1.
print(found.weights[0], dict(found.weights[0].arms))

# An interval that is certain, if the range of the outcome and the least propensity are as declared.
certain = rarely.evaluate(
    log, middle, against="logging", interval="empirical-bernstein", outcome_range=(0, 1), minimum_propensity=0.3
)
print(certain["dr"])
assert certain["dr"].lower > 0
