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
    "Artist": "matplotlib.artist",
    "Axes": "matplotlib.axes",
    "Figure": "matplotlib.figure",
    "FixedLocator": "matplotlib.ticker",
    "FuncFormatter": "matplotlib.ticker",
    "Line2D": "matplotlib.lines",
    "LogLocator": "matplotlib.ticker",
    "MaxNLocator": "matplotlib.ticker",
    "NullLocator": "matplotlib.ticker",
    "Patch": "matplotlib.patches",
    "dates": "matplotlib.dates",
    "matplotlib": "matplotlib",
}
"""Where each name is: in a module, or the module itself."""


def __getattr__(name: str) -> object:
    """Import what is asked for (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(name)
    module = importlib.import_module(_MODULES[name])
    return module if module.__name__.endswith(name) else getattr(module, name)
