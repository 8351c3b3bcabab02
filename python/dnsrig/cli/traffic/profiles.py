"""`dnsrig traffic profiles`: which profiles there are, and what is in one."""

import json

import click

from dnsrig import _core
from dnsrig.cli.common import UTF8, json_option, print_json, print_table


@click.command()
@click.argument("profile", type=UTF8, required=False)
@json_option
def profiles(profile: str | None, as_json: bool) -> None:
    """List the profiles that come with dnsrig; print PROFILE, one of them or a file, with where each figure is from.

    \b
    Example:
      dnsrig traffic profiles
      dnsrig traffic profiles root-2006 > mine.toml
    """
    if profile is not None:
        text, figures = _core.traffic_profile(profile)
        if as_json:
            print_json(json.loads(figures))
        else:
            click.echo(text, nl=False)
        return
    known = _core.traffic_profiles()
    if as_json:
        print_json([{"name": name, "title": title} for name, title in known])
    else:
        print_table(("name", "what it describes"), known)
