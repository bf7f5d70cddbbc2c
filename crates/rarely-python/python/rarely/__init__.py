"""Decision policies that change seldom, and only on evidence."""

from ._rarely import __version__

__all__ = ["__version__"]
