"""Tables of results: columns by name, ready for pandas, polars and Arrow."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Table"]

#: Rows that a notebook shows.
_SHOWN = 20


class Table(dict[str, Any]):
    """Columns by name, each of one length: numpy arrays of numbers, lists of words.

    It is a ``dict``, so that ``pandas.DataFrame(table)`` and ``polars.DataFrame(table)`` take it as it is.

    >>> table = Table({"arm": ["a", "b"], "regret": np.array([0.1, 0.2])})
    >>> table.rows
    2
    >>> table["regret"].mean().round(2)
    np.float64(0.15)
    """

    #: Version, seed and command that made it; it is written with the table. ``None`` if nobody said so.
    made_by: Optional[Mapping[str, Any]]

    def __init__(self, columns: Mapping[str, Any], made_by: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(columns)
        self.made_by = made_by

    def __reduce__(self) -> tuple[type[Table], tuple[dict[str, Any], Optional[Mapping[str, Any]]]]:
        return type(self), (dict(self), self.made_by)

    @classmethod
    def of(cls, records: Iterable[Mapping[str, Any]]) -> Table:
        """A table with a row for each record; what a record lacks is ``None``."""
        rows = list(records)
        names = dict.fromkeys(name for row in rows for name in row)
        return cls({name: [row.get(name) for row in rows] for name in names})

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.values()), ()))

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas frame."""
        import pandas

        return pandas.DataFrame(dict(self))

    def to_polars(self) -> polars.DataFrame:
        """As a polars frame."""
        import polars

        return polars.DataFrame(dict(self))

    def to_arrow(self) -> pyarrow.Table:
        """As an Arrow table."""
        import pyarrow

        return pyarrow.table(dict(self))

    def to_csv(self) -> str:
        """As CSV with a header, every number with all its digits; missing ones are empty. The last columns say what made it."""
        about = {name: str(part) for name, part in (self.made_by or {}).items() if name not in self}
        lines = [",".join(map(_quoted, [*self, *about]))]
        for row in range(self.rows):
            cells = [_cell(column[row], full=True) for column in self.values()]
            lines.append(",".join(map(_quoted, [*cells, *about.values()])))
        return "\n".join(lines) + "\n"

    def to_markdown(self) -> str:
        """As a Markdown table, numbers with four digits that count.

        >>> print(Table({"arm": ["a", "b"], "regret": np.array([0.12345, 0.2])}).to_markdown())
        | arm | regret |
        |---|---|
        | a | 0.1235 |
        | b | 0.2 |
        <BLANKLINE>
        """
        lines = [list(self), *([_cell(column[row]) for column in self.values()] for row in range(self.rows))]
        rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
        # Two hyphens end a comment; a word joiner between them does not show.
        about = (
            [] if self.made_by is None else [f"<!-- {self._origin().replace('--', '-' + chr(0x2060) + '-')} -->", ""]
        )
        return "\n".join([*about, rows[0], "|" + "---|" * len(self), *rows[1:]]) + "\n"

    def to_latex(self) -> str:
        """As a LaTeX ``tabular``, with the rules of the package booktabs; numbers are aligned to the right.

        >>> print(Table({"arm": ["a_1"], "regret": np.array([0.12345])}).to_latex())
        \\begin{tabular}{lr}
        \\toprule
        arm & regret \\\\
        \\midrule
        a\\_1 & 0.1235 \\\\
        \\bottomrule
        \\end{tabular}
        <BLANKLINE>
        """
        aligned = "".join("l" if isinstance(column, list) else "r" for column in self.values())
        lines = [list(self), *([_cell(column[row]) for column in self.values()] for row in range(self.rows))]
        rows = [" & ".join(map(_escaped, line)) + r" \\" for line in lines]
        body = [r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule"]
        about = [] if self.made_by is None else [f"% {self._origin()}"]
        return "\n".join([*about, rf"\begin{{tabular}}{{{aligned}}}", *body, r"\end{tabular}"]) + "\n"

    def _origin(self) -> str:
        made_by = self.made_by or {}
        return f"rarely {made_by.get('version')}, seed {made_by.get('seed')}: {made_by.get('command')}".replace(
            "\n", " "
        )

    def __repr__(self) -> str:
        return f"<rarely.Table: {self.rows} rows, columns {', '.join(self)}>"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(column[row]))}</td>" for column in self.values()) + "</tr>"
            for row in range(min(self.rows, _SHOWN))
        )
        more = f"<p>and {self.rows - _SHOWN} more rows</p>" if self.rows > _SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any, full: bool = False) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, (float, np.floating)):
        return repr(float(value)) if full else f"{value:.4g}"
    return str(value)


def _escaped(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(letter, "\\" + letter if letter in "&%$#_{}" else letter) for letter in text)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n\r') else text
