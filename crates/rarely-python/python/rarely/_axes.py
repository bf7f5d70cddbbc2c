"""Matplotlib, where it is installed."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from .errors import FigureError

if TYPE_CHECKING:
    from ._rarely import Figure

__all__ = ["axes", "show"]


def axes(given: Any = None) -> Any:
    """The axes to draw on: those given, or new ones."""
    if given is not None:
        return given
    try:
        from matplotlib import pyplot
    except ImportError:
        raise FigureError("plot() needs matplotlib", help="pip install matplotlib") from None
    return pyplot.subplots()[1]


def show(figure: Figure, given: Any = None) -> Any:
    """The picture of a figure on axes: those given, or new ones of its shape."""
    ax = axes(given)
    from matplotlib import image

    pixels = image.imread(io.BytesIO(figure.png(3.0)))
    if given is None:
        height, width = pixels.shape[:2]
        ax.figure.set_size_inches(10, 10 * height / width)
    ax.imshow(pixels)
    ax.set_axis_off()
    ax.set_title(figure.title)
    return ax
