"""dnsrig: verify what DNS servers, resolvers and proxies do, and measure what it costs."""

import importlib

__version__: str
__all__ = ["__version__"]


def __getattr__(name: str) -> object:
    # The core is loaded when it is needed, so that the command line is ready for Ctrl-C at once.
    if name == "__version__":
        return importlib.import_module("dnsrig._core").__version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
