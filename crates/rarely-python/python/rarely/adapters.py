"""A policy inside the experiments of `coba` and `obp`. Neither is imported here.

>>> from rarely.adapters import CobaLearner                                                   # doctest: +SKIP
>>> coba.Experiment(environments, CobaLearner(rarely.Policy(arms=4, dimension=5))).run()      # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Callable, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from .errors import ContextError, ObserveError, SettingsError

__all__ = ["CobaLearner", "Decider", "ObpPolicy"]


class Decider(Protocol):
    """What decides and learns: a `rarely.Policy`, or anything with the same methods."""

    @property
    def arms(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def decide(self) -> Callable[..., Any]: ...
    @property
    def observe(self) -> Callable[..., Any]: ...
    @property
    def copy(self) -> Callable[[], Any]: ...


P = TypeVar("P", bound=Decider)


class CobaLearner(Generic[P]):
    """A policy as a learner of `coba`.

    An action's arm is its position in ``actions`` or, without it, in the first list that is offered. An action may be anything that
    can be compared. ``intercept`` puts a 1 before every context. A context is None, a number, numbers (nested tuples are
    flattened, as `coba` uses them for categories), or a mapping, in which a missing name is 0. Names get their positions
    from ``features`` or, without it, in the order in which they appear.

    The probability that `coba` gets is the one with which the policy drew the action. The reason goes with it, and comes back
    when the policy learns.
    """

    def __init__(
        self,
        policy: P,
        actions: Sequence[Any] | None = None,
        *,
        intercept: bool = False,
        features: Sequence[Hashable] | None = None,
    ) -> None:
        self.policy = policy
        self.intercept = intercept
        self.actions = None if actions is None else self._fixed(actions)
        self._places: dict[Hashable, int] = {name: at for at, name in enumerate(features or ())}
        self._names_are_fixed = features is not None
        if len(self._places) > self._room:
            count = len(self._places)
            message = f"there are {count} features, but the policy has room for {self._room}"
            raise SettingsError(message, help="build a policy of larger dimension")

    @property
    def params(self) -> dict[str, Any]:
        """The columns of `coba`'s table of learners."""
        return {"family": f"rarely-{self.policy.algorithm}", "intercept": self.intercept}

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, float, dict[str, Any]]:
        """The action, the probability with which it was drawn, and the reason."""
        vector = self._vector(context)
        if self.actions is None:
            self.actions = self._fixed(actions)
        offered = [self._arm(action) for action in actions]
        if sorted(offered) != list(range(len(self.actions))):
            count = len(self.actions)
            message = f"{len(actions)} actions are offered, but the policy has {count}"
            raise ContextError(message, help="offer each of them once")
        arms, propensities, reasons = self.policy.decide(vector, reasons=True)
        return actions[offered.index(int(arms[0]))], float(propensities[0]), {"reason": reasons[0]}

    def learn(
        self, context: Any, action: Any, reward: float, probability: float | None = None, reason: str | None = None
    ) -> None:
        """Learns from one outcome. Linear regression needs no probability; a reason is for decisions of this policy only."""
        vector = self._vector(context)
        if self.actions is None:
            help = "give them as `actions` if learning comes before deciding"
            raise ObserveError("no action is known yet", help=help)
        known = {} if reason is None else {"reasons": [reason]}
        self.policy.observe(vector, [self._arm(action)], [float(reward)], **known)

    @property
    def _room(self) -> int:
        return self.policy.dimension - int(self.intercept)

    def _fixed(self, actions: Sequence[Any]) -> list[Any]:
        if len(actions) != self.policy.arms:
            arms = self.policy.arms
            message = f"there are {len(actions)} actions, but the policy has {arms} arms"
            raise SettingsError(message, help=f"build it with arms={len(actions)}")
        return list(actions)

    def _arm(self, action: Any) -> int:
        assert self.actions is not None, "actions are fixed before they are looked up"
        try:
            return self.actions.index(action)
        except ValueError:
            raise ContextError(
                f"the action {action!r} is not one of the policy's {len(self.actions)}, which are fixed",
                help="use an environment whose actions do not differ from round to round",
            ) from None

    def _vector(self, context: Any) -> npt.NDArray[np.float64]:
        numbers = self._named(context) if isinstance(context, Mapping) else list(_flat(context))
        if len(numbers) != self._room:
            raise ContextError(
                f"the context has {len(numbers)} numbers, but the policy takes {self._room}"
                f"{' and the intercept' if self.intercept else ''}",
                help="build it with another dimension, or change `intercept`",
            )
        return np.array([[1.0] * self.intercept + numbers])

    def _named(self, context: Mapping[Hashable, Any]) -> list[float]:
        numbers = [0.0] * self._room
        for name, value in context.items():
            if name not in self._places and not self._names_are_fixed and len(self._places) < self._room:
                self._places[name] = len(self._places)
            if name not in self._places:
                message = f"{name!r} in a context has no place among {self._room}"
                raise ContextError(message, help="build a policy of larger dimension")
            numbers[self._places[name]] = _number(value)
        return numbers


class ObpPolicy(Generic[P]):
    """A policy as a contextual policy of `obp`, whose contexts are rows of an array.

    ``intercept`` puts a 1 before every context. One action is selected at a time. `obp` has no place for the probability of
    a selection; :attr:`propensity` is that of the last one.
    """

    #: Actions that are selected at a time.
    len_list = 1
    #: Outcomes that are learned from at a time.
    batch_size = 1

    def __init__(self, policy: P, *, intercept: bool = False) -> None:
        if policy.algorithm == "clucb":
            message = "clucb needs the reasons of its decisions, and obp has no place for them"
            raise SettingsError(message, help="use another algorithm")
        self.policy = policy
        self.intercept = intercept
        self._at_first: P = policy.copy()
        self.n_trial = 0
        self.propensity = 1.0

    @property
    def dim(self) -> int:
        """Numbers of a context, without the intercept."""
        return self.policy.dimension - int(self.intercept)

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return self.policy.arms

    @property
    def policy_name(self) -> str:
        """The name in `obp`'s tables."""
        return f"rarely_{self.policy.algorithm}"

    @property
    def policy_type(self) -> _Contextual:
        """The kind of policy: contextual."""
        return _Contextual()

    def initialize(self) -> None:
        """Forgets everything; `obp` calls this before another run."""
        self.policy, self.n_trial, self.propensity = self._at_first.copy(), 0, 1.0

    def select_action(self, context: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The action, in an array of one."""
        arms, propensities = self.policy.decide(self._vector(context))
        self.propensity = float(propensities[0])
        return np.array([int(arms[0])], dtype=np.int64)

    def update_params(self, action: int, reward: float, context: npt.ArrayLike) -> None:
        """Learns from one outcome."""
        self.policy.observe(self._vector(context), [int(action)], [float(np.asarray(reward).item())])
        self.n_trial += 1

    def _vector(self, context: npt.ArrayLike) -> npt.NDArray[np.float64]:
        vector = np.asarray(context, dtype=np.float64)
        if vector.size != self.dim:
            message = f"the context has the shape {vector.shape}, but the policy takes {(1, self.dim)}"
            raise ContextError(message, help="give one context at a time")
        return np.concatenate([np.ones(int(self.intercept)), vector.ravel()]).reshape(1, -1)


class _Contextual:
    """Equals `obp.policy.policy_type.PolicyType.CONTEXTUAL`, which cannot be had without importing `obp`."""

    name = "CONTEXTUAL"

    def __eq__(self, other: object) -> bool:
        return getattr(other, "name", None) == self.name

    def __hash__(self) -> int:
        return hash(self.name)


def _flat(context: Any) -> Iterable[float]:
    if context is None:
        return
    if isinstance(context, (str, bytes)) or not isinstance(context, Iterable):
        yield _number(context)
        return
    for part in context:
        yield from _flat(part)


def _number(value: Any) -> float:
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError("a text, even if it reads like a number")
        return float(value)
    except (TypeError, ValueError):
        raise ContextError(
            f"{value!r} in a context is not a number", help="encode categories as numbers first"
        ) from None
