"""What scikit-learn is told about a policy."""

from __future__ import annotations

from typing import Any

__all__ = ["policy_tags"]


def policy_tags() -> Any:
    """The tags of `rarely.Policy`: rows of finite numbers in, a target is needed (the arms that were given), nothing is transformed."""
    from sklearn.utils import InputTags, Tags, TargetTags

    return Tags(
        estimator_type=None,
        target_tags=TargetTags(required=True),
        input_tags=InputTags(sparse=False, allow_nan=False),
        requires_fit=False,
        non_deterministic=False,
    )
