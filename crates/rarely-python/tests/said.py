"""What the reader of a traceback sees of an error."""

from __future__ import annotations


def said(error: BaseException) -> str:
    """The message and its notes."""
    return "\n".join([str(error), *getattr(error, "__notes__", ())])
