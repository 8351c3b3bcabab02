"""Files by which resolvers that the rig does not start are pointed at the tree, and how each resolver reads them."""

from dataclasses import dataclass
from pathlib import Path

from dnsrig.errors import InputError
from dnsrig.internet import bind_keys
from dnsrig.runs.writing import write_text
from dnsrig.verification.tree.making import Tree

HINTS = "root.hints"
DS = "root.ds"
DNSKEY = "root.key"
BIND_KEYS = "bind.keys"
LUA = "recursor.lua"
FILES = {
    HINTS: "root hints, as a zone file",
    DS: "trust anchor, as a DS record",
    DNSKEY: "trust anchor, as a DNSKEY record",
    BIND_KEYS: "trust anchor, as BIND's trust-anchors",
    LUA: "trust anchor, as PowerDNS Recursor's script",
}
MARK = "Written by dnsrig verify serve-tree"
"""Stands in the first line of each, as a comment: files of others are not replaced."""
COMMENTS = {BIND_KEYS: "//", LUA: "--"}
"""What begins comments, where that is not the semicolon of zone files."""
UNBOUND = """\
server:
    root-hints: "{folder}/root.hints"
    trust-anchor-file: "{folder}/root.key"
    do-not-query-localhost: no
"""
BIND = """\
include "{folder}/bind.keys";
zone "." { type hint; file "{folder}/root.hints"; };
options { dnssec-validation yes; recursion yes; };
"""
KNOT = """\
modules.load('hints > iterate')
hints.root_file('{folder}/root.hints')
trust_anchors.remove('.')
trust_anchors.add_file('{folder}/root.key', true)
"""
RECURSOR = """\
hint-file={folder}/root.hints
lua-config-file={folder}/recursor.lua
dnssec=validate
dont-query=
"""
HICKORY = """\
[[zones]]
zone = "."
zone_type = "External"
[zones.stores]
type = "recursor"
roots = "{folder}/root.hints"
deny_server = []
[zones.stores.dnssec_policy.ValidateWithStaticKey]
path = "{folder}/root.key"
"""


@dataclass(frozen=True, slots=True)
class Use:
    """How one resolver reads the files."""

    where: str
    """The resolver and its file."""
    lines: str
    """What stands there."""


def write_resolver_files(tree: Tree, folder: Path) -> None:
    """Write FILES for a tree into `folder`, each whole or not at all.

    Raises:
        InputError: there is one that is not ours.

    """
    require_ours(folder)
    lua = "".join(f'addTA(".", "{data}")\n' for data in _ds_data(tree.trust_anchor_ds))
    texts = {
        HINTS: tree.root_hints,
        DS: tree.trust_anchor_ds,
        DNSKEY: tree.trust_anchor_dnskey,
        BIND_KEYS: bind_keys(tree.trust_anchor_ds),
        LUA: f"clearTA()\n{lua}",
    }
    for name, text in texts.items():
        write_text(folder / name, f"{COMMENTS.get(name, ';')} {MARK}\n{text}")


def require_ours(folder: Path) -> None:
    """Make sure that what FILES would replace was written by `write_resolver_files`.

    Raises:
        InputError: a file of the same name is somebody else's.

    """
    for name in FILES:
        path = folder / name
        if path.exists() and not _is_ours(path):
            raise InputError(f"{path} was not written by dnsrig and is not replaced; name another folder for the tree")


def _is_ours(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return MARK.encode() in file.readline()
    except OSError:
        return False


def uses(folder: Path) -> list[Use]:
    """Say how the files in `folder` are used."""
    place = str(folder.resolve())
    return [
        Use(where, lines.replace("{folder}", place))
        for where, lines in (
            ("Unbound, unbound.conf; no other trust-anchor-file or auto-trust-anchor-file", UNBOUND),
            ("BIND, named.conf; options and the zone . stand there once", BIND),
            ("Knot Resolver 5, kresd.conf; it asks no server in 127.0.0.0/8: see --prefix", KNOT),
            ("PowerDNS Recursor, recursor.conf", RECURSOR),
            ("Hickory DNS 0.26, built with features recursor and dnssec-aws-lc-rs; its TOML file", HICKORY),
        )
    ]


def _ds_data(records: str) -> list[str]:
    """Give the data of DS records that stand in lines of a zone file."""
    return [line.split(" DS ", 1)[1].strip() for line in records.splitlines() if " DS " in line]
