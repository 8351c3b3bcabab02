"""Groups of commands of which each is imported when it is called: so `--help` is quick, and so is every command."""

from collections.abc import Mapping
from typing import Any

import click

from dnsrig.cli.imported import imported
from dnsrig.cli.signals import raise_on_signals


class CommandList(click.Group):
    """Commands by name: each one's module in dnsrig.cli, and its line in the list; `hidden` ones are not listed."""

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401 (click's own)
        modules: Mapping[str, tuple[str, str]],
        hidden: Mapping[str, str] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*arguments, **options)
        self._modules = modules
        self._hidden = hidden or {}

    def list_commands(self, _context: click.Context) -> list[str]:
        """Give the names in their order."""
        return list(self._modules)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Import the command called `name`."""
        module = self._modules[name][0] if name in self._modules else self._hidden.get(name)
        if module is None:
            return None
        command: click.Command = getattr(imported(f"dnsrig.cli.{module}"), name.replace("-", "_"))
        if not isinstance(command, CommandList):
            # All is imported.
            raise_on_signals()
        return command

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._modules.items()])
