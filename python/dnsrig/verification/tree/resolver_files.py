"""Files by which resolvers that the rig does not start are pointed at the tree, and how each resolver reads them."""

from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True, slots=True)
class Use:
    """How one resolver reads the files."""

    where: str
    """The resolver and its file."""
    lines: str
    """What stands there."""


def write_resolver_files(tree: Tree, folder: Path) -> None:
    """Write FILES for a tree into `folder`, each whole or not at all."""
    lua = "".join(f'addTA(".", "{data}")\n' for data in _ds_data(tree.trust_anchor_ds))
    texts = {
        HINTS: tree.root_hints,
        DS: tree.trust_anchor_ds,
        DNSKEY: tree.trust_anchor_dnskey,
        BIND_KEYS: bind_keys(tree.trust_anchor_ds),
        LUA: f"clearTA()\n{lua}",
    }
    for name, text in texts.items():
        write_text(folder / name, text)


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
        )
    ]


def _ds_data(records: str) -> list[str]:
    """Give the data of DS records that stand in lines of a zone file."""
    return [line.split(" DS ", 1)[1].strip() for line in records.splitlines() if " DS " in line]
