"""A policy as an estimator of scikit-learn (1.6 or later), for `Pipeline`, `GridSearchCV`, `clone` and `set_output`."""

from __future__ import annotations

from typing import Any, Literal, Optional, Union

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ._names import AlgorithmName, SetsName
from ._rarely import Policy
from .errors import ObserveError
from .evaluation import evaluate

__all__ = ["PolicyClassifier"]

Numbers = npt.NDArray[np.float64]


class PolicyClassifier(TransformerMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A policy whose arms are classes: it learns which class to give to whom.

    With `rewards`, ``fit(X, y, rewards)`` learns from a log: `y` is what was given, in any words, and `rewards` what came of it. Without, `y` is the
    right answer: it earns 1, every other class 0. ``transform`` gives the estimated reward of every class, and with
    ``set_output(transform="pandas")`` as a frame. ``score`` is the accuracy or, with `rewards` and `propensities`, the self-normalised
    off-policy value. `GridSearchCV` passes them on if metadata routing is enabled and they are requested (``set_fit_request``,
    ``set_score_request``).

    Parameters
    ----------
    algorithm, noise, norm_bound, error_probability, penalty, explore, sets, seed
        As in :class:`rarely.Policy`.
    intercept : bool
        Whether contexts get a leading 1.

    Examples
    --------
    >>> from rarely.sklearn import PolicyClassifier
    >>> fitted = PolicyClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["wait", "wait", "treat", "treat"])
    >>> list(fitted.predict([[0.5], [2.5]]))
    [np.str_('wait'), np.str_('treat')]
    """

    def __init__(
        self,
        algorithm: AlgorithmName = "greedy",
        *,
        noise: Union[float, Literal["unknown", "unknown-per-arm"], None] = 1.0,
        norm_bound: Optional[float] = None,
        error_probability: float = 0.001,
        penalty: float = 0.01,
        explore: Optional[str] = None,
        sets: Optional[SetsName] = None,
        seed: int = 0,
        intercept: bool = True,
    ) -> None:
        self.algorithm = algorithm
        self.noise = noise
        self.norm_bound = norm_bound
        self.error_probability = error_probability
        self.penalty = penalty
        self.explore = explore
        self.sets = sets
        self.seed = seed
        self.intercept = intercept

    def fit(self, X: Any, y: Any, rewards: Any = None) -> PolicyClassifier:
        """Forgets everything, then learns: of the classes that were given and their `rewards`, or of the right classes."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, arms = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class, {self.classes_[0]!r}, but there must be two to choose from")
        contexts = self._contexts(X)
        policy = Policy(
            len(self.classes_),
            contexts.shape[1],
            self.algorithm,
            noise=self.noise,
            norm_bound=self.norm_bound,
            error_probability=self.error_probability,
            penalty=self.penalty,
            explore=self.explore,
            sets=self.sets,
            seed=self.seed,
        )
        if rewards is None:
            every = np.arange(len(self.classes_))
            earned = (arms[:, None] == every[None, :]).astype(np.float64)
            rows = np.repeat(contexts, len(every), axis=0)
            policy.observe(rows, np.tile(every, len(contexts)), earned.reshape(-1), once=True)
        else:
            earned = np.asarray(rewards, dtype=np.float64)
            if earned.shape != arms.shape:
                raise ObserveError(f"rewards have the shape {earned.shape}", help="give one number for each row")
            policy.observe(contexts, arms.astype(np.int64), earned, once=True)
        self.policy_ = policy
        return self

    def predict(self, X: Any) -> Any:
        """The class that the rule in force gives."""
        rows = self._rows(X)
        return self.classes_[self.policy_.predict(rows)]

    def decision_function(self, X: Any) -> Numbers:
        """The estimated reward of every class; of two classes, how much more the second earns."""
        earned = self._estimates(X)
        difference: Numbers = earned[:, 1] - earned[:, 0]
        return difference if len(self.classes_) == 2 else earned

    def transform(self, X: Any) -> Numbers:
        """The estimated reward of every class, a column for each."""
        return self._estimates(X)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The columns of ``transform``: ``reward_`` and the class."""
        check_is_fitted(self)
        return np.array([f"reward_{name}" for name in self.classes_], dtype=object)

    def score(self, X: Any, y: Any, sample_weight: Any = None, rewards: Any = None, propensities: Any = None) -> float:
        """The accuracy or, of a log with `rewards` and `propensities`, the self-normalised value of the rule in force."""
        if rewards is None:
            return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        if propensities is None or sample_weight is not None:
            raise ObserveError("the value of a log needs propensities, and no sample_weight", help="give propensities")
        given = np.searchsorted(self.classes_, column_or_1d(y))
        log = {"arms": given, "rewards": rewards, "propensities": propensities}
        chosen = np.searchsorted(self.classes_, self.predict(X))
        return evaluate(log, chosen, estimators="snips", weights="warn")["snips"].estimate

    def _estimates(self, X: Any) -> Numbers:
        rows = self._rows(X)
        estimates: Numbers = rows @ self.policy_.estimates_.T
        return estimates

    def _rows(self, X: Any) -> Numbers:
        check_is_fitted(self)
        return self._contexts(validate_data(self, X, dtype=np.float64, reset=False))

    def _contexts(self, X: Numbers) -> Numbers:
        return np.column_stack([np.ones(len(X)), X]) if self.intercept else np.ascontiguousarray(X)
