"""Turn templates into configuration files, with every value from outside quoted or refused."""

import re
from collections.abc import Mapping
from pathlib import Path

import jinja2

from dnsrig.errors import InputError

TEMPLATES = Path(__file__).with_name("templates")
PLAIN_NAME = re.compile(r"(?:[A-Za-z0-9_*/-]+\.)*\Z")
"""Names of zones that need no escapes in any server's configuration (RFC 2317 names have a slash)."""


def render(template: str, values: Mapping[str, object]) -> str:
    """Fill in a template of the folder `templates`; a value that the template wants and lacks is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["quoted"] = quoted
    environment.filters["doubled_percent"] = doubled_percent
    return environment.get_template(template).render(values)


def quoted(path: Path) -> str:
    r"""Write a path between double quotes.

    Raises:
        InputError: it holds a double quote, a backslash, a control character, or bytes that are not UTF-8.
            The servers' configuration languages disagree about escapes for these; NSD's has none.

    """
    text = str(path)
    bad = next((char for char in text if char in '"\\' or ord(char) < 0x20 or char == "\x7f"), None)
    if bad is None and not text.isprintable():
        bad = next(char for char in text if not char.isprintable())
    if bad is not None:
        raise InputError(
            f"the path {text!r} holds the character {bad!r}, which cannot be written in a server's "
            "configuration: use a copy, or a symbolic link, with a plain name"
        )
    return f'"{text}"'


def doubled_percent(text: str) -> str:
    """Double percent signs, which Knot DNS would expand as formatters (knot.conf(5), `file`)."""
    return text.replace("%", "%%")


def zone_name(origin: str) -> str:
    """Give a zone's name with the final dot, as it stands in a configuration.

    Raises:
        InputError: it holds characters other than letters, digits, hyphen, underscore, asterisk and slash.

    """
    name = origin if origin.endswith(".") else origin + "."
    if name != "." and not PLAIN_NAME.match(name):
        raise InputError(
            f"the zone name {origin!r} holds characters that cannot be written in a server's configuration; "
            "letters, digits, '-', '_', '*' and '/' can"
        )
    return name
