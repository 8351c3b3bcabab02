"""The command line: one module a command group. These parse and print; they decide nothing."""

from dnsrig.cli.app import main

__all__ = ["main"]
