"""The help of `dnsrig run`: which studies have which options."""

from collections.abc import Iterable
from typing import Any

import click

from dnsrig.studies.base import Study
from dnsrig.studies.registry import studies

SINGLES = {"transports": "transport", "threads": "server_threads", "rates": "rate_qps"}
"""Options with a list that some studies take one value of, with the name of their setting for it."""
_ASKED = "dnsrig.study"


def choices_of(study: Study[Any]) -> set[str]:
    """Name what a user may choose in a study, as its settings and the option for its programs are called."""
    return {*study.settings_type.setting_names() - {"servers"}, f"{study.subject}s"}


class StudyCommand(click.Command):
    """A command whose help lists options by the studies that have them; after a study's name, that study's alone."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Look for a study's name first: `--help` ends the parsing wherever it stands."""
        names = {study.name for study in studies()}
        ctx.meta[_ASKED] = next((argument for argument in args if argument in names), None)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of runs first, then those that most studies have."""
        asked = ctx.meta.get(_ASKED)
        every = studies()
        sections: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            having = tuple(study.name for study in every if _has(study, parameter.name or ""))
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option) and (not asked or _fits(asked, having)):
                sections.setdefault(() if asked else having, []).append(record)
        # Of equally many studies those come first whose options do.
        for having in sorted(sections, key=lambda having: (bool(having), -len(having))):
            with formatter.section(_title(having, [study.name for study in every])):
                formatter.write_dl(sections[having])


def _has(study: Study[Any], option: str) -> bool:
    return not choices_of(study).isdisjoint({option, SINGLES.get(option, option)}) or option in {"seed", "quick"}


def _fits(asked: str, having: tuple[str, ...]) -> bool:
    return not having or asked in having


def _title(having: tuple[str, ...], every: Iterable[str]) -> str:
    lacking = [name for name in every if name not in having]
    if not having:
        return "Options"
    if not lacking:
        return "Of all studies"
    return f"Of all but {', '.join(lacking)}" if len(lacking) < len(having) else f"Of {', '.join(having)}"
