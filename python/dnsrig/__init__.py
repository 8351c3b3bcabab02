"""dnsrig: verify what DNS servers, resolvers and proxies do, and measure what it costs."""

from dnsrig._core import __version__

__all__ = ["__version__"]
