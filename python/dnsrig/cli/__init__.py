"""The command line: one module a command group. These parse and print; they decide nothing."""

from dnsrig.cli.imported import imported
from dnsrig.cli.signals import quit_on_signals


def main() -> None:
    """Run the command line and exit with its code."""
    # First of all: the imports take a moment, in which Ctrl-C should not show where they stand.
    quit_on_signals()
    imported("dnsrig.cli.app").main()
