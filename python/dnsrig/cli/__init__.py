"""The command line: one module a command group. These parse and print; they decide nothing."""

import importlib

from dnsrig.cli.signals import quit_on_signals


def main() -> None:
    """Run the command line and exit with its code."""
    # First of all: the imports take a moment, in which Ctrl-C should not show where they stand.
    quit_on_signals()
    importlib.import_module("dnsrig.cli.app").main()
