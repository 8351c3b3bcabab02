"""`dnsrig load`, and the sink that shows what the generator itself can do."""

from dnsrig.cli.load.command import load
from dnsrig.cli.load.sink import sink

__all__ = ["load", "sink"]
