"""Files with trust anchors, as resolvers keep them: zone files, BIND's statements, Unbound's files."""

import re
from collections.abc import Iterator
from pathlib import Path

from dnsrig.errors import InputError
from dnsrig.servers.resolvers.anchors import Anchor, read_anchors

STATEMENT = re.compile(r"\b(trust-anchors|managed-keys|trusted-keys)\s*\{([^{}]*)\}")
"""Of named.conf(5)."""
COMMENT = re.compile(r"/\*.*?\*/|(?://|#)[^\n]*", re.DOTALL)
WORD = re.compile(r'"([^"]*)"|([^\s"]+)')
KINDS = {"static-key": "DNSKEY", "initial-key": "DNSKEY", "static-ds": "DS", "initial-ds": "DS"}
UNBOUND_OPTION = re.compile(r"^\s*trust-anchor:\s*\"([^\"\n]*)\"", re.MULTILINE)
"""Of unbound.conf(5)."""
OTHER_FILE = re.compile(r"^\s*(?:auto-)?trust-anchor-file:\s*\"?([^\"\s]+)", re.MULTILINE)
NOT_TRUSTED = re.compile(r"^[^\n]*;;state=[0145]\b[^\n]*$", re.MULTILINE)
"""Unbound notes the states of keys (RFC 5011 section 4) behind them: 2 is Valid, 3 Missing, others are not trusted."""
NUMBERS = 3
"""A key's flags, protocol and algorithm, or a DS record's tag, algorithm and digest type."""


def read_anchor_file(path: Path) -> tuple[Anchor, ...]:
    """Read the DS and DNSKEY records of a file, in whatever of the forms it has them.

    Raises:
        InputError: it cannot be read, or has none.

    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"--trust-anchor {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"--trust-anchor {path}: it is no text") from error
    try:
        return read_anchors(as_zone_file(text))
    except InputError as error:
        named = OTHER_FILE.search(text)
        advice = (
            f"it names the file {named[1]}: give that one"
            if named
            else "give DS or DNSKEY records as in a zone file, BIND's trust-anchors or Unbound's file"
        )
        raise InputError(f"--trust-anchor {path}: {error}; {advice}") from error


def as_zone_file(text: str) -> str:
    """Give the trust anchors of a text as lines of a zone file.

    Raises:
        InputError: an entry of a statement is not of its form.

    """
    statements = STATEMENT.findall(COMMENT.sub(" ", text))
    if statements:
        return "".join(f"{line}\n" for word, body in statements for line in _entries(word, body))
    options = UNBOUND_OPTION.findall(text)
    if options:
        return "".join(f"{option}\n" for option in options)
    return NOT_TRUSTED.sub("", text)


def _entries(statement: str, body: str) -> Iterator[str]:
    """Give the entries of one of BIND's statements as records."""
    for entry in body.split(";"):
        words = [quoted or bare for quoted, bare in WORD.findall(entry)]
        if not words:
            continue
        name, *rest = words
        kind = "static-key" if statement == "trusted-keys" else rest.pop(0) if rest else ""
        numbers, data = rest[:NUMBERS], "".join("".join(rest[NUMBERS:]).split())
        if kind not in KINDS or not all(number.isdigit() for number in numbers) or not data:
            raise InputError(f"in {statement} the entry for {name} is not of the form that named.conf(5) has")
        yield f"{name.removesuffix('.')}. 3600 IN {KINDS[kind]} {' '.join(numbers)} {data}"
