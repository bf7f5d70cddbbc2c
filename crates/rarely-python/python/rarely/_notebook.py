"""What a notebook shows of a policy."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from .tables import Table

if TYPE_CHECKING:
    from ._rarely import Policy

__all__ = ["policy"]

#: Context variables and changes that are shown.
_SHOWN = 8


def policy(shown: Policy) -> str:
    """The policy in a line, a table of its arms, and its latest changes."""
    lines = [f"<p>{html.escape(repr(shown))}</p>"]
    columns: dict[str, Any] = {"arm": list(range(shown.arms))}
    try:
        counts, estimates = shown.counts_, shown.estimates_
    except AttributeError:
        return lines[0]
    columns["outcomes"] = counts
    names = list(getattr(shown, "feature_names_in_", [f"x{at}" for at in range(shown.dimension)]))
    for at, name in list(enumerate(names))[:_SHOWN]:
        columns[f"estimate of {name}"] = estimates[:, at]
    lines.append(Table(columns)._repr_html_())
    if shown.dimension > _SHOWN:
        lines.append(f"<p>and {shown.dimension - _SHOWN} more context variables</p>")
    changes = shown.versions
    if changes:
        items = "".join(f"<li>{html.escape(str(change))}</li>" for change in changes[-_SHOWN:])
        earlier = f"<p>{len(changes)} changes, the latest {_SHOWN}:</p>" if len(changes) > _SHOWN else ""
        lines.append(f"{earlier}<ul>{items}</ul>")
    return "".join(lines)
