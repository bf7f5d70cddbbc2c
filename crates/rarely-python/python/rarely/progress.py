"""Progress of a long call: a bar in a notebook or on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Optional, Union

__all__ = ["Progress", "Watcher"]

#: ``None`` shows a bar in a notebook or on a terminal, ``True`` always, ``False`` never; a function is called with done and total.
Progress = Union[None, bool, Callable[[int, int], object]]


class Watcher:
    """Shows progress while the context is open.

    >>> seen = []
    >>> with Watcher("simulating", lambda done, total: seen.append((done, total))) as show:
    ...     show(1, 2)
    >>> seen
    [(1, 2)]
    """

    def __init__(self, what: str, progress: Progress = None) -> None:
        self._what = what
        self._progress = progress
        self._bar: Any = None
        self._text = False

    def __enter__(self) -> Optional[Callable[[int, int], None]]:
        if callable(self._progress):
            called = self._progress
            return lambda done, total: void(called(done, total))
        if self._progress is False:
            return None
        notebook = "ipykernel" in sys.modules
        if self._progress is None and not notebook and not sys.stderr.isatty():
            return None
        return self._show

    def _show(self, done: int, total: int) -> None:
        if self._bar is None and not self._text:
            try:
                from tqdm.auto import tqdm

                self._bar = tqdm(total=total, desc=self._what, unit="run")
            except ImportError:
                self._text = True
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
        else:
            sys.stderr.write(f"\r{self._what}: {done} of {total} runs")
            sys.stderr.flush()

    def __exit__(
        self, kind: Optional[type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._text:
            sys.stderr.write("\n")


def void(_: object) -> None:
    """Discards a result."""
