"""What pictures take of matplotlib, which takes half a second to import: it is, when the first picture is drawn."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import matplotlib
    from matplotlib import dates
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

__all__ = (
    "Artist",
    "Axes",
    "Figure",
    "FixedLocator",
    "FuncFormatter",
    "Line2D",
    "LogLocator",
    "MaxNLocator",
    "NullLocator",
    "Patch",
    "dates",
    "matplotlib",
)
_MODULES = {
    "Artist": "artist",
    "Axes": "axes",
    "Figure": "figure",
    "FixedLocator": "ticker",
    "FuncFormatter": "ticker",
    "Line2D": "lines",
    "LogLocator": "ticker",
    "MaxNLocator": "ticker",
    "NullLocator": "ticker",
    "Patch": "patches",
}


def __getattr__(name: str) -> object:
    """Import what is asked for (PEP 562)."""
    if name == "matplotlib":
        return importlib.import_module(name)
    if name == "dates":
        return importlib.import_module("matplotlib.dates")
    if name not in _MODULES:
        raise AttributeError(name)
    return getattr(importlib.import_module(f"matplotlib.{_MODULES[name]}"), name)
