"""Commands with so many options that their help needs sections."""

from collections.abc import Callable
from typing import Any

import click

from dnsrig.cli.common import Command


class SectionOption(click.Option):
    """An option that stands in a section of the help."""

    def __init__(self, *args: Any, section: str, **kwargs: Any) -> None:  # noqa: ANN401 (click's signature)
        super().__init__(*args, **kwargs)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose help lists options by section, in the order in which sections first appear."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each section; those without one come last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            # Arguments are told of in the command's text.
            if record is not None and isinstance(parameter, click.Option):
                sections.setdefault(getattr(parameter, "section", "Options"), []).append(record)
        sections["Options"] = sections.pop("Options", [])
        for section, records in sections.items():
            if records:
                with formatter.section(section):
                    formatter.write_dl(records)


def section(title: str) -> Callable[..., Callable[[Command], Command]]:
    """Give a decorator like click.option for the options of a section."""

    def option(*names: str, **attributes: Any) -> Callable[[Command], Command]:  # noqa: ANN401 (click's signature)
        return click.option(*names, cls=SectionOption, section=title, **attributes)

    return option
