"""Files of obp 0.5.7, run without torch."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable

import pytest


@contextmanager
def obp_parts(packages: tuple[str, ...]) -> Iterator[Callable[[str], Any]]:
    """Imports modules of obp by name: the real files, with all they use.

    Two things are stand-ins. `torch` is a module with the two names that signatures in `obp.utils` have; nothing here calls
    it. And the `__init__.py` of `packages` are not run, because they import everything, neural networks too.
    """
    found = importlib.util.find_spec("obp")
    if found is None or found.origin is None:
        pytest.skip("obp is not installed: pip install --no-deps --ignore-requires-python obp==0.5.7")
    folder = Path(found.origin).parent
    before = dict(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        torch = types.ModuleType("torch")
        torch.tensor = torch.Tensor = type("Tensor", (), {})  # type: ignore[attr-defined]
        patch.setitem(sys.modules, "torch", torch)
        for name in packages:
            package = types.ModuleType(name)
            package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
            patch.setitem(sys.modules, name, package)
        yield importlib.import_module
        for name in set(sys.modules) - set(before):
            if name.split(".")[0] == "obp":
                del sys.modules[name]
