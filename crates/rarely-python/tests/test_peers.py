"""LinUCB beside two other programs that have it: MABWiser and contextualbandits, 10,000 rounds in lockstep.

All three keep `V = λI + Σ ssᵀ` and `θ̂ = V⁻¹ Σ ys` of each arm, and choose the largest `sᵀθ̂ + width·√(sᵀV⁻¹s)`.
What differs:

- *The width.* Theirs is a constant `alpha`; ours is the radius `r_t` of the joint confidence set, which grows with what is
  learned. Each round their `alpha` is set to our `radius_` before they are asked.
- *The start.* MABWiser cannot be asked before it is fitted, and its inverse of an arm without data is `λI`, not `I/λ`;
  contextualbandits draws at random among arms without data. All get the same first outcome of every arm.
- *Rounding.* MABWiser inverts `V` anew each time, the others update. contextualbandits has `float` or `double`; here it has
  double. Where two arms' upper bounds are nearer than `NEAR`, relative to the larger, rounding decides, and such rounds are
  counted: there must be none.
- *Scaling, intercepts, smoothing, priors* are off.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import numpy.typing as npt
import pytest
from rarely import Policy

ROUNDS, ARMS, DIMENSION, PENALTY = 10_000, 4, 5, 0.1
#: Upper bounds this near are one number but for rounding: 10⁴ updates at 10⁻¹⁶ leave 10⁻¹², and V's condition is below 10⁴.
NEAR = 1e-8

Numbers = npt.NDArray[np.float64]
Choose = Callable[[Numbers, float], int]
Learn = Callable[[Numbers, int, float], None]


class World:
    """The same people and the same luck for all: contexts with an intercept, linear means, normal noise."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.slopes = random.normal(size=(ARMS, DIMENSION))
        self.contexts = np.column_stack([np.ones(ROUNDS), random.uniform(size=(ROUNDS, DIMENSION - 1))])
        self.rewards = self.contexts @ self.slopes.T + 0.1 * random.normal(size=(ROUNDS, ARMS))
        self.first = np.column_stack([np.ones(ARMS), random.uniform(size=(ARMS, DIMENSION - 1))])
        self.first_rewards = (self.first * self.slopes).sum(axis=1)


def ours() -> Policy:
    return Policy(ARMS, DIMENSION, "linucb", noise=0.1, norm_bound=5.0, error_probability=0.01, penalty=PENALTY)


def mabwiser(world: World) -> tuple[Choose, Learn, Callable[[], Numbers]]:
    library = pytest.importorskip("mabwiser.mab")
    learning = library.LearningPolicy.LinUCB(alpha=1.0, l2_lambda=PENALTY)
    peer = library.MAB(list(range(ARMS)), learning)
    peer.fit(decisions=list(range(ARMS)), rewards=world.first_rewards, contexts=world.first)
    models = peer._imp.arm_to_model

    def choose(context: Numbers, width: float) -> int:
        for model in models.values():
            model.alpha = width
        return int(peer.predict(context[None]))

    def learn(context: Numbers, arm: int, reward: float) -> None:
        peer.partial_fit([arm], [reward], context[None])

    return choose, learn, lambda: np.array([models[arm].beta for arm in range(ARMS)])


def contextualbandits(world: World) -> tuple[Choose, Learn, Callable[[], Numbers]]:
    library = pytest.importorskip("contextualbandits.online")
    peer = library.LinUCB(
        ARMS,
        alpha=1.0,
        lambda_=PENALTY,
        fit_intercept=False,
        use_float=False,
        method="sm",
        ucb_from_empty=True,
        random_state=1,
    )
    peer.partial_fit(world.first, np.arange(ARMS), world.first_rewards)
    models = peer._oracles.algos

    def choose(context: Numbers, width: float) -> int:
        for model in models:
            model._alpha = (
                width  # `reset_alpha` of 0.3.30 ends in a NameError: its setter names a variable that is not there
            )
        return int(peer.predict(context[None])[0])

    def learn(context: Numbers, arm: int, reward: float) -> None:
        peer.partial_fit(context[None], np.array([arm]), np.array([reward]))

    return choose, learn, lambda: np.array([np.ravel(model.model.coef_)[:DIMENSION] for model in models])


def upper_bounds(policy: Policy, context: Numbers) -> Numbers:
    intervals: Numbers = np.asarray(policy.intervals(context[None])).reshape(ARMS, -1)
    upper: Numbers = intervals.max(axis=1)
    return upper


def test_the_same_arm_in_every_one_of_10_000_rounds() -> None:
    world, policy = World(seed=11), ours()
    policy.observe(world.first, np.arange(ARMS), world.first_rewards)
    peers = {peer.__name__: peer(world) for peer in (mabwiser, contextualbandits)}
    near = 0
    played = np.zeros(ARMS, dtype=int)
    for at, context in enumerate(world.contexts):
        arm, radius = int(policy.decide(context[None])[0][0]), policy.radius_
        theirs = {name: choose(context, radius) for name, (choose, _, _) in peers.items()}
        second, first = np.sort(upper_bounds(policy, context))[-2:]
        if first - second < NEAR * max(1.0, abs(first)):
            near += 1
        else:
            assert set(theirs.values()) == {arm}, (
                f"round {at}: we choose {arm}, they {theirs}; we are sure by {first - second}"
            )
        # Whatever they say, all learn of our arm, so that a tie does not part the histories.
        reward = float(world.rewards[at, arm])
        policy.observe(context[None], [arm], [reward])
        for _, learn, _ in peers.values():
            learn(context, arm, reward)
        played[arm] += 1
    assert near == 0, "the nearest two bounds are 5e-6 apart"
    assert played.sum() == ROUNDS
    assert (played > 20).sum() >= 2, "that arms agree says something only if there is a choice"
    for name, (_, _, estimates) in peers.items():
        np.testing.assert_allclose(estimates(), policy.estimates_, rtol=1e-6, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("peer", [mabwiser, contextualbandits])
def test_with_another_width_they_differ(peer: Any) -> None:
    """So that the agreement above is not an agreement of anything with anything."""
    world, policy = World(seed=11), ours()
    policy.observe(world.first, np.arange(ARMS), world.first_rewards)
    choose, learn, _ = peer(world)
    differing = 0
    for context, rewards in zip(world.contexts[:500], world.rewards):
        arm = int(policy.decide(context[None])[0][0])
        differing += choose(context, 0.5 * policy.radius_) != arm
        policy.observe(context[None], [arm], [rewards[arm]])
        learn(context, arm, float(rewards[arm]))
    assert differing > 5
