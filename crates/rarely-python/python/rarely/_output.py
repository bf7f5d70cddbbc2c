"""What a policy's ``transform`` returns: an array, or a frame of pandas or polars, as scikit-learn's ``set_output`` says."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import _arrays
from .errors import SettingsError

__all__ = ["carried", "choose", "names", "transformed"]

#: The attribute that scikit-learn uses itself.
_CONFIG = "_sklearn_output_config"
_KINDS = ("default", "pandas", "polars")


def choose(policy: Any, transform: Optional[str]) -> None:
    """Remembers what ``transform`` returns; ``None`` changes nothing."""
    if transform is None:
        return
    if transform not in _KINDS:
        raise SettingsError(f"transform = {transform!r}", help=f"choose one of {', '.join(_KINDS)}")
    setattr(policy, _CONFIG, {"transform": transform})


def carried(old: Any, new: Any) -> None:
    """Tells a copy what the original was told."""
    if hasattr(old, _CONFIG):
        setattr(new, _CONFIG, dict(getattr(old, _CONFIG)))


def names(policy: Any) -> npt.NDArray[np.object_]:
    """The columns of ``transform``."""
    return np.array([f"reward_{arm}" for arm in range(policy.arms)], dtype=object)


def transformed(policy: Any, X: Any) -> Any:
    """The estimated mean reward of every arm at every row."""
    known = getattr(policy, "feature_names_in_", None)
    ordered = X
    if hasattr(X, "columns"):
        ordered = _arrays.by_name(X, None if known is None else [str(name) for name in known])[0]
    rows = np.atleast_2d(np.asarray(_arrays.contexts(ordered), dtype=np.float64))
    # Checks the rows as every other method does.
    policy.predict(rows)
    means = rows @ policy.estimates_.T
    if policy.algorithm in ("logistic-thompson", "rs-glincb"):
        means = 1 / (1 + np.exp(-means))
    return _contained(policy, means, X)


def _contained(policy: Any, means: npt.NDArray[np.float64], X: Any) -> Any:
    kind = getattr(policy, _CONFIG, {}).get("transform") or _global()
    if kind == "pandas":
        import pandas

        index = X.index if isinstance(X, pandas.DataFrame) else None
        return pandas.DataFrame(means, columns=names(policy), index=index)
    if kind == "polars":
        import polars

        return polars.DataFrame(means, schema=list(names(policy)), orient="row")
    return means


def _global() -> str:
    """What scikit-learn is set to for everybody, where it is imported."""
    import sys

    sklearn = sys.modules.get("sklearn")
    return "default" if sklearn is None else str(sklearn.get_config().get("transform_output", "default"))
