"""The native half of `rarely`: types for checkers and editors."""

import os
from collections.abc import Callable, Iterable, Sequence
from types import NotImplementedType
from typing import Any, Final, Literal, Protocol, Union, final, overload, type_check_only

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, TypeAlias, disjoint_base

from ._names import AlgorithmName, SetsName

_Numbers: TypeAlias = npt.NDArray[np.float64]
_Arms: TypeAlias = npt.NDArray[np.int64]
_Mask: TypeAlias = npt.NDArray[np.bool_]

@type_check_only
class _Frame(Protocol):
    """A data frame of any library."""

    @property
    def columns(self) -> Any: ...
    def to_numpy(self) -> Any: ...

_Rows: TypeAlias = Union[Sequence[Sequence[float]], _Frame]

__all__ = [
    "ihdp",
    "Confirmed",
    "confirm",
    "document_arms",
    "document_log",
    "replay",
    "evaluate",
    "first_scan",
    "Document",
    "Boundary",
    "Certificate",
    "Change",
    "Gain",
    "GroupReview",
    "Figure",
    "frontier",
    "reproduce",
    "simulate",
    "sweep",
    "OutcomeQueue",
    "Policy",
    "Interval",
    "Proposal",
    "Review",
    "State",
    "review",
    "review_groups",
    "__version__",
    "ALGORITHMS",
    "ENVIRONMENTS",
]

__version__: Final[str]
ALGORITHMS: Final[tuple[str, ...]]
ENVIRONMENTS: Final[tuple[str, ...]]

@disjoint_base
class Policy:
    """A policy that decides and learns. It holds its rule until the data make it implausible; then it changes, with a certificate."""

    def __new__(
        cls,
        arms: int,
        dimension: int,
        algorithm: AlgorithmName = "rarely",
        *,
        noise: float | Literal["unknown", "unknown-per-arm"] | None = ...,
        norm_bound: float | None = None,
        error_probability: float = 0.001,
        penalty: float = 0.01,
        prior_mean: Any = None,
        deployed: Any = None,
        explore: str | None = None,
        population: Any = None,
        sets: SetsName | None = None,
        tolerance: float = 0.01,
        growth: float = 0.3,
        excluded_share: float = 0.01,
        minimum_gain: float = 0.0,
        deviations: float | None = None,
        safety: float = 0.1,
        posterior_scale: float | None = None,
        epsilon: float = 0.05,
        alpha: float = 1.0,
        gap_scale: float = 10.0,
        bandwidth: float = 0.4,
        discount: float | None = None,
        window: int | None = None,
        arm_features: Any = None,
        baseline: int | None = None,
        baseline_mean: Any = None,
        certificates: bool = True,
        seed: int = 0,
    ) -> Self: ...
    @overload
    def decide(self, X: Sequence[float], *, allowed: Any = None, reasons: Literal[False] = False) -> tuple[int, float]:
        """Chooses an arm for one context or for each row of a block. Returns it with the probability with which it was chosen."""
    @overload
    def decide(self, X: Sequence[float], *, allowed: Any = None, reasons: Literal[True]) -> tuple[int, float, str]: ...
    @overload
    def decide(self, X: _Rows, *, allowed: Any = None, reasons: Literal[False] = False) -> tuple[_Arms, _Numbers]: ...
    @overload
    def decide(self, X: _Rows, *, allowed: Any = None, reasons: Literal[True]) -> tuple[_Arms, _Numbers, list[str]]: ...
    # An array may have one dimension or two.
    @overload
    def decide(self, X: Any, *, allowed: Any = None, reasons: Literal[False] = False) -> tuple[Any, Any]: ...
    @overload
    def decide(self, X: Any, *, allowed: Any = None, reasons: Literal[True]) -> tuple[Any, Any, Any]: ...
    def observe(
        self,
        X: Any,
        arms: Any,
        rewards: Any,
        reasons: str | Iterable[str] | None = None,
        *,
        weights: Any = None,
        once: bool = False,
    ) -> list[Change]:
        """Learns from one outcome or from a block of them. Returns the changes that this led to, each with its certificate."""
    def add_arm(self, *, prior_mean: Any = None, features: Any = None) -> int:
        """Adds an arm, and returns its number. What was learned of the others stays."""
    def remove_arm(self, arm: int) -> None:
        """Removes an arm: it is played no more, and keeps its number and what was learned of it."""
    def restore_arm(self, arm: int) -> None:
        """Restores an arm that was removed."""
    def reconsider(self) -> list[Change]:
        """Tests the rule in force against everything learned so far. Returns the change, if one is justified."""
    def fit(self, X: Any, arms: Any, rewards: Any, *, sample_weight: Any = None) -> Self:
        """Forgets everything, then learns."""
    def partial_fit(self, X: Any, arms: Any, rewards: Any, *, sample_weight: Any = None) -> Self:
        """Learns, and returns the policy itself."""
    def predict(self, X: Any) -> Any:
        """The arms that the rule in force plays, without exploration."""
    def transform(self, X: Any) -> Any:
        """The estimated mean reward of every arm, a column for each: an array, or a frame if `set_output` says so."""
    def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self:
        """Chooses what `transform` returns, as scikit-learn's estimators do."""
    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The columns of `transform`."""
    def plausible(self, X: Any) -> _Mask:
        """Which arms the data have not ruled out: for each row and each arm."""
    def intervals(self, X: Any) -> _Numbers:
        """For each row and each arm the estimated mean reward, and the lower and upper end of its interval."""
    def excluded_share(self, X: Any = None) -> float:
        """The share of rows at which the policy plays an arm that the data rule out."""
    def boundaries(self) -> list[Boundary]:
        """What the data say about the boundary between each pair of arms."""
    def thresholds(self, first: int = 0, second: int = 1) -> list[tuple[float, float]]:
        """The plausible thresholds between two arms when contexts are (1, x): a list of intervals."""
    def gain(self, other: Any, X: Any = None) -> Gain:
        """What playing `other` instead would gain: another policy, parameters with a row for each arm, or arms."""
    def stuck(self) -> list[str]:
        """Arms that the data have not ruled out and that nobody gets, each with what to do about it."""
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, data: bytes) -> Self: ...
    def copy(self) -> Self: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any) -> Self: ...
    def __reduce__(self) -> tuple[Callable[[bytes], Self], tuple[bytes]]: ...
    def __sklearn_clone__(self) -> Self: ...
    def __sklearn_tags__(self) -> Any: ...
    def __sklearn_is_fitted__(self) -> bool: ...
    def _repr_html_(self) -> str: ...
    def __add__(self, other: Policy, /) -> Self: ...
    def __radd__(self, other: object, /) -> NotImplementedType: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]
    @property
    def n_features_in_(self) -> int:
        """How many numbers a context has."""
    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """The columns of the first frame that was learned from."""
    @property
    def algorithm(self) -> str: ...
    @property
    def arms(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def estimates_(self) -> _Numbers:
        """The estimated parameters, a row for each arm."""
    @property
    def renewals_(self) -> int:
        """Renewals of the randomisation around the rule."""
    @property
    def radius_(self) -> float:
        """The radius of the joint confidence set."""
    @property
    def noise_(self) -> _Numbers:
        """The noise of each arm as the confidence sets take it: declared, or a bound on it; NaN while nothing is known."""
    @property
    def rule_(self) -> _Numbers | None:
        """The parameters of the rule in force, a row for each arm; None if the policy holds no rule."""
    @property
    def counts_(self) -> _Arms:
        """Outcomes learned of each arm."""
    @property
    def available_(self) -> _Mask:
        """Which arms may be played: false of those that were removed."""
    @property
    def rounds_(self) -> int:
        """Outcomes observed."""
    @property
    def versions(self) -> list[Change]:
        """Every change so far, oldest first."""
    @property
    def digest(self) -> str:
        """SHA-256 of what was learned."""

@final
class OutcomeQueue:
    """Decisions whose outcomes come late. It gives them back in the order in which they may be learned."""

    def __new__(cls, delay: Literal["any", "independent"] = "any", window: int | None = None) -> Self: ...
    def decided(self, *, time: int | None = None) -> int:
        """Notes a decision and returns its number, under which its outcome is reported."""
    def report(self, number: int, outcome: Any, *, time: int | None = None) -> bool:
        """Takes in what is needed to learn an outcome. Returns False if it will not be learned."""
    def learnable(self, *, time: int | None = None) -> list[tuple[int, Any]]:
        """The outcomes that may be learned now, oldest decision first, each with its number. They leave the queue."""
    @property
    def waiting(self) -> int:
        """Outcomes that are in and wait for those of earlier decisions."""
    @property
    def first_open(self) -> int | None:
        """The number of the first decision without an outcome, which the others wait for."""
    @property
    def timed_out(self) -> int:
        """Decisions that ran out of time before their outcome came."""

@final
class Change:
    """A change of policy: why it happened, what was in force before and after, and what it gains."""

    @property
    def round(self) -> int: ...
    @property
    def version(self) -> int: ...
    @property
    def cause(self) -> str: ...
    @property
    def before(self) -> _Numbers: ...
    @property
    def after(self) -> _Numbers: ...
    @property
    def certificate(self) -> Certificate | None: ...
    def to_dict(self) -> dict[str, Any]: ...
    @staticmethod
    def from_bytes(data: bytes) -> Change: ...
    def to_bytes(self) -> bytes: ...
    def __reduce__(self) -> tuple[Callable[[bytes], Change], tuple[bytes]]: ...
    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Certificate:
    """What a change gains, for whom, and how sure that is."""

    @property
    def gain(self) -> Gain: ...
    @property
    def sample(self) -> int: ...
    @property
    def excluded_before(self) -> float: ...
    @property
    def excluded_after(self) -> float: ...
    @property
    def boundaries(self) -> list[tuple[Boundary, Boundary, float]]: ...
    @property
    def theorem_three(self) -> bool | None: ...
    @property
    def radius(self) -> float | None: ...
    @property
    def digest(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def __reduce__(self) -> tuple[Any, tuple[Change, str]]: ...
    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Gain:
    """The gain of one policy over another on a sample: an interval that contains the true mean gain per decision, if what it assumes holds."""

    def __new__(
        cls, estimate: float, lower: float, upper: float, changed_share: float, assumes: str | None = None
    ) -> Self: ...
    @property
    def estimate(self) -> float: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    @property
    def changed_share(self) -> float: ...
    @property
    def assumes(self) -> str:
        """What the interval assumes, in words."""
    def __reduce__(self) -> tuple[type[Gain], tuple[float, float, float, float, str]]: ...
    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Boundary:
    """What the data say about the boundary between two arms."""

    @property
    def arms(self) -> tuple[int, int]: ...
    @property
    def plausible(self) -> bool: ...
    @property
    def distance(self) -> float: ...
    @property
    def angle_degrees(self) -> float: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Confirmed:
    """The gain of a declared change, with what its interval rests on."""

    @property
    def estimate(self) -> float: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    @property
    def standard(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def timing(self) -> str: ...
    @property
    def standard_error(self) -> float | None: ...
    @property
    def degrees(self) -> float | None: ...
    @property
    def cases(self) -> int: ...
    @property
    def changed_share(self) -> float: ...
    def __eq__(self, other: object, /) -> bool: ...

def confirm(
    X: Any,
    arms: Any,
    rewards: Any,
    before: Any,
    after: Any,
    *,
    error_probability: float = 0.001,
    looks: Sequence[int] | None = None,
    candidates: int = 1,
    timing: Literal["planned", "anytime"] = "planned",
    expected_cases: int | None = None,
    clusters: Any = None,
    propensities: Any = None,
    predictions: Any = None,
    minimum_propensity: float | None = None,
    outcome_range: tuple[float, float] | None = None,
    method: Literal["least-squares", "bounded", "scores", "empirical-bernstein"] | None = None,
    overlap: Literal["refuse", "restrict"] = "refuse",
) -> Confirmed:
    """The gain of playing `after` instead of `before` at these rows, with an interval that need not pay for all coefficients."""

# Off-policy evaluation; `rarely.evaluation` has the public function.

def evaluate(
    arms: Any,
    rewards: Any,
    propensities: Any,
    policy: Any,
    against: Any,
    contexts: Any,
    predictions: Any,
    estimators: list[str],
    interval: str,
    *,
    error_probability: float,
    penalty: float,
    folds: int,
    switch_threshold: float | None,
    outcome_range: tuple[float, float] | None,
    minimum_propensity: float | None,
    expected_cases: int | None,
    resamples: int,
    seed: int,
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], list[tuple[int, bool, str, str]]]: ...
def document_log(
    document: Any, log: Any
) -> tuple[_Numbers, _Arms, _Numbers, _Numbers | None, int, tuple[float, float] | None, float | None]: ...
def document_arms(document: Any, log: Any) -> _Arms: ...
def replay(document: Any, log: Any, *, every: int, propensity: str | None, time: str | None) -> dict[str, Any]: ...

# Simulations; `rarely.lab` has the public functions.

_Progress: TypeAlias = Union[Callable[[int, int], None], None]

_Simulated: TypeAlias = tuple[dict[str, Any], dict[str, dict[str, Any]], Figure, str]

def simulate(given: dict[str, Any], told: dict[str, Any], place: dict[str, Any]) -> _Simulated: ...
def sweep(vary: list[str], given: dict[str, Any], told: dict[str, Any], place: dict[str, Any]) -> _Simulated: ...
def frontier(given: dict[str, Any], told: dict[str, Any], place: dict[str, Any]) -> _Simulated: ...
def reproduce(
    data: Sequence[str | os.PathLike[str]],
    *,
    full: bool,
    runs: int | None,
    rounds: int,
    seed: int,
    threads: int,
    out: str | os.PathLike[str] | None,
    progress: _Progress,
) -> tuple[dict[str, Any], list[Figure], str, str]: ...

# Data sets; `rarely.datasets` has the public function.

def ihdp(realisation: int) -> tuple[_Numbers, _Arms, _Numbers, _Numbers, _Numbers, _Numbers, list[str]]: ...

# A policy document, and the review of a log.

@final
class Document:
    """A policy document that has been checked: its path, or its text."""

    def __new__(cls, path_or_text: str | os.PathLike[str] | Document, option_column: str | None = None, /) -> Self: ...
    @property
    def name(self) -> str: ...
    @property
    def options(self) -> list[str]: ...
    @property
    def features(self) -> list[str]: ...
    @property
    def outcome(self) -> str: ...
    @property
    def option_column(self) -> str: ...
    @property
    def rule(self) -> list[str]:
        """The rule in force, in words."""
    @property
    def text(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Figure:
    """A picture, as SVG, PNG and PDF."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def caption(self) -> str:
        """How to read it."""
    @property
    def svg(self) -> str: ...
    def png(self, scale: float = 2.0) -> bytes: ...
    def pdf(self) -> bytes: ...
    def save(self, path: str | os.PathLike[str], scale: float = 2.0) -> None:
        """Writes the picture to a file whose name ends in `.svg`, `.png` or `.pdf`."""
    def plot(self, ax: Any = None) -> Any:
        """Shows the picture on matplotlib axes, and returns the axes."""
    def _repr_svg_(self) -> str: ...

@final
class Interval:
    """A number with the range that the data allow."""

    @property
    def estimate(self) -> float: ...
    @property
    def lower(self) -> float: ...
    @property
    def upper(self) -> float: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Proposal:
    """A change that is proposed."""

    @property
    def rule(self) -> list[str]:
        """The proposed rule, in words."""
    @property
    def changes(self) -> list[str]: ...
    @property
    def document(self) -> str:
        """The text of the policy document with the proposed rule in it."""
    @property
    def cause(self) -> str: ...
    @property
    def note(self) -> str | None: ...
    @property
    def gain(self) -> Interval:
        """The expected gain per case."""
    @property
    def changed_share(self) -> float: ...
    @property
    def excluded_share_after(self) -> float: ...
    @property
    def certified_by(self) -> list[str]: ...
    @property
    def certificate(self) -> str: ...
    @property
    def against(self) -> list[str]: ...

@final
class Review:
    """The result of a review: the verdict, its reasons, and the proposal, if there is one."""

    @property
    def verdict(self) -> Literal["keep", "change", "cannot tell"]: ...
    @property
    def reasons(self) -> list[str]: ...
    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The rules that were tried, the simplest first, with their gains."""
    @property
    def off_policy(self) -> list[dict[str, Any]]:
        """What the rule in force and the best other rule are worth by the propensities of the log, if the document declares some."""
    @property
    def keeping_costs_at_most(self) -> float | None:
        """The most that keeping the rule can cost per case, against the rules that were tried."""
    @property
    def proposal(self) -> Proposal | None: ...
    @property
    def document(self) -> Document: ...
    @property
    def rows(self) -> int: ...
    @property
    def rejected(self) -> list[str]:
        """What was wrong with the rows that could not be used, the first thousand of them."""
    @property
    def rejected_count(self) -> int: ...
    @property
    def figures(self) -> dict[str, Figure]: ...
    @property
    def state(self) -> bytes:
        """The statistics, to continue from with next month's log."""
    def to_dict(self) -> dict[str, Any]: ...
    def to_json(self) -> str: ...
    def to_html(self) -> str: ...
    def _repr_html_(self) -> str: ...

@final
class State:
    """The statistics of a log, gathered in parts wherever its rows are. States of parts add up to the state of the whole.

    >>> import rarely
    >>> state = rarely.State(document).update(january) + rarely.State(document).update(february)  # doctest: +SKIP
    >>> state.review().verdict  # doctest: +SKIP
    'keep'
    """

    def __new__(cls, document: str | os.PathLike[str] | Document, /) -> Self: ...
    def update(self, frame: Any, /, *, reject_limit: int = 0) -> Self:
        """Adds the rows of a frame or a file."""
    @property
    def rows(self) -> int: ...
    @property
    def document(self) -> Document: ...
    def __add__(self, value: State, /) -> State: ...
    def __radd__(self, value: Any, /) -> Any: ...
    def to_bytes(self) -> bytes:
        """The state as bytes, which `from_bytes` and `review(state=…)` read."""
    @staticmethod
    def from_bytes(document: str | os.PathLike[str] | Document, data: bytes, /) -> State: ...
    @staticmethod
    def from_sums(
        document: str | os.PathLike[str] | Document,
        rows: Sequence[tuple[str, int, int, int, str]],
        /,
        *,
        reject_limit: int = 0,
    ) -> State:
        """The state in the result of `first_scan`."""
    def second_scan(
        self,
        dialect: str,
        table: str,
        /,
        *,
        where: str | None = None,
        latest_by: str | None = None,
        population: Any = None,
    ) -> str | None:
        """The statement by which an engine computes what `review(confirmed_sums=…)` takes; None if there is nothing to read again."""
    def confirm(self, frame: Any, /, *, reject_limit: int = 0) -> tuple[int, list[int | None]]:
        """What a part's rows add to the errors of the gains that this state, of the whole log, proposes."""
    def review(
        self,
        *,
        population: Any = None,
        confirmed: Sequence[tuple[int, list[int | None]]] | None = None,
        confirmed_sums: Sequence[tuple[str, int, int, int, str]] | None = None,
    ) -> Review:
        """Reviews the document against the state. Errors are robust with the sums of `confirm` over all parts, or the result of `second_scan`."""

def first_scan(
    document: str | os.PathLike[str] | Document,
    dialect: str,
    table: str,
    /,
    *,
    where: str | None = None,
    latest_by: str | None = None,
) -> str:
    """The statement by which an engine computes the sums of a log, for `State.from_sums`."""

def review(
    document: str | os.PathLike[str] | Document,
    frame: Any,
    *,
    population: Any = None,
    option_column: str | None = None,
    reject_limit: int = 0,
    state: bytes | Sequence[bytes] | None = None,
    time_column: str | None = None,
) -> Review:
    """Reviews a policy document against past cases: keep the rule or change it, to what, and on what evidence.

    `frame` is a data frame (pandas, polars, pyarrow, anything with `__arrow_c_stream__`), a dict of columns, a list of dicts, or the
    path or paths of a log; None, if there is only `state`. `population` are the people whom the rule is for, in any of these forms.
    With a column of dates or times, further cases are told in months as well; rows must be in its order unless the document says
    `order = "any"`.
    """

@final
class GroupReview:
    """The result of a review of many groups."""

    @property
    def verdict(self) -> Literal["keep", "change", "cannot tell"]:
        """`change` if any group is to change, `keep` if all keep their rules, `cannot tell` otherwise."""
    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of every group, those that change first."""
    @property
    def rejected(self) -> list[str]:
        """What was wrong with the rows that could not be used, the first thousand of them."""
    @property
    def pages(self) -> dict[str, str]:
        """The page of every group, without pictures."""
    def apply(self) -> str | None:
        """The text of the document with the proposed rules of the groups; None if no group is to change."""
    def to_json(self) -> str:
        """The answer as JSON: what `rarely review --by … --format json` prints."""
    def to_dict(self) -> dict[str, Any]:
        """The same as Python objects."""
    def to_html(self) -> str:
        """One page with the table of all groups."""
    def _repr_html_(self) -> str: ...

def review_groups(
    document: str | os.PathLike[str] | Document,
    frame: Any,
    *,
    by: str | None = None,
    option_column: str | None = None,
    reject_limit: int = 0,
    time_column: str | None = None,
) -> GroupReview:
    """Reviews a policy document in every group of past cases at once, such as departments; all groups share the error probability.

    `by` is the column of the groups; None, if the document has `[groups]`. `frame` is as in `review`.
    """
