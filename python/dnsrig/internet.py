"""The simulated Internet as a place: a network namespace in which one process answers for every server address."""

import ipaddress
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dnsrig import _core
from dnsrig.errors import InputError
from dnsrig.hosts.namespace import Namespace
from dnsrig.runs.writing import DiskFullError, unwritable, write_text, write_texts

DNS_PORT = 53
ROOT_HINTS = "root.hints"
TRUST_ANCHOR = "root.ds"
BIND_KEYS = "bind.keys"
INDEX = "index.json"
DEFAULT_MEMORY_OCTETS = 1 << 30
"""What zones, signatures and answers may take if nobody says otherwise."""
REBUILT_PREFIXES = ("198.18.0.0/24", "2001:2::/64")
"""Where resolvers are that ask a rebuilt Internet, and its root server if the capture has none."""


@dataclass(frozen=True, slots=True)
class InternetFiles:
    """What a resolver must be told, written out."""

    root_hints: Path
    """Names and addresses of the root's servers, for any resolver."""
    trust_anchor: Path
    """The root's DS record, for Unbound, Knot Resolver and others that read zone file format."""
    bind_keys: Path
    """The same as BIND's `trust-anchors`, also for delv."""


def write_files(internet: _core.Internet | _core.RebuiltInternet, folder: Path) -> InternetFiles:
    """Write root hints and trust anchors into a folder, which is made if need be: all of them, or none.

    Raises:
        InputError: there can be no such folder.
        EnvironmentLacksError: it cannot be written to.

    """
    files = InternetFiles(folder / ROOT_HINTS, folder / TRUST_ANCHOR, folder / BIND_KEYS)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        anchor = internet.trust_anchor
        # Hints and anchors of different Internets would not fit together.
        texts = {files.root_hints: internet.root_hints, files.trust_anchor: anchor, files.bind_keys: bind_keys(anchor)}
        write_texts(texts)
    except (DiskFullError, OSError) as error:
        raise unwritable(folder, error, "choose another folder with -o") from error
    return files


def bind_keys(trust_anchor: str) -> str:
    """Give the DS records of a trust anchor as BIND's configuration has them."""
    anchors = []
    for line in trust_anchor.splitlines():
        owner, _, rest = line.partition(" ") if "\t" not in line else line.partition("\t")
        fields = re.split(r"\s+", rest)
        tag, algorithm, digest_type, *digest = fields[fields.index("DS") + 1 :]
        anchors.append(f'    "{owner}" static-ds {tag} {algorithm} {digest_type} "{"".join(digest)}";\n')
    return f"trust-anchors {{\n{''.join(anchors)}}};\n" if anchors else ""


def resolver_addresses(prefixes: Sequence[str]) -> tuple[str, ...]:
    """Give the addresses that resolvers and clients in the namespace send from: the first of each prefix."""
    first = []
    for prefix in prefixes:
        base = prefix.partition("/")[0]
        first.append(f"{base}1" if ":" in base else re.sub(r"\d+$", lambda last: str(int(last[0]) + 1), base))
    return tuple(first)


def read_rebuilt(
    folder: Path, seed: int, signed_at_s: int, memory_octets: int = DEFAULT_MEMORY_OCTETS
) -> _core.RebuiltInternet:
    """Read the Internet that `dnsrig internet from-capture` wrote into a folder, if it needs no more memory."""
    path = folder / INDEX
    try:
        index = path.read_text()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}; give a folder that 'dnsrig internet from-capture' wrote"
        ) from error
    return _core.RebuiltInternet(folder, index, seed=seed, signed_at_s=signed_at_s, memory_octets=memory_octets)


@contextmanager
def internet_namespace(prefixes: Sequence[str], servers: Sequence[str] = ()) -> Iterator[Namespace]:
    """Give a network namespace in which every address of some prefixes is its own, and which no other route leaves.

    Resolvers in it send from the first address of each prefix, also to `servers`, single addresses beside the prefixes.

    Raises:
        EnvironmentLacksError: namespaces cannot be made, or `ip` is not installed.

    """
    with Namespace("simulated Internet") as namespace:
        sources = [
            (prefix, source)
            for prefix, source in zip(prefixes, resolver_addresses(prefixes), strict=True)
            if ":" not in prefix or namespace.has_ipv6
        ]
        namespace.add_addresses([source for _, source in sources])
        for prefix, source in sources:
            destinations = [prefix, *_without_route(servers, prefix)]
            commands = [f"route add local {destination} dev lo src {source}" for destination in destinations]
            namespace.run_ip_batch("-6" if ":" in prefix else "-4", commands)
        yield namespace


def _without_route(servers: Sequence[str], prefix: str) -> Iterator[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Give the servers of the family of a prefix that are not in it, nor at the loopback device since that is up."""
    network = ipaddress.ip_network(prefix)
    for server in map(ipaddress.ip_address, servers):
        if server.version == network.version and server not in network and not server.is_loopback:
            yield server


def write_accounts(path: Path, accounts: Sequence[Mapping[str, Any]], state: Mapping[str, Any]) -> None:
    """Write the accounts of an Internet as JSON: the schema dnsrig-accounts/1."""
    write_object(path, {"schema": "dnsrig-accounts/1", **state, "accounts": list(accounts)})


def write_object(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object, whole or not at all; raises as `write_files` does."""
    try:
        write_text(path, json.dumps(value, indent=1) + "\n")
    except (DiskFullError, OSError) as error:
        raise unwritable(path, error, "choose another") from error


def totals(accounts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, int, int, int, int]]:
    """Add the accounts of each operator: operator, transport, queries, answers, octets of queries and of answers."""
    sums: dict[tuple[str, str], list[int]] = {}
    for account in accounts:
        row = sums.setdefault((account["operator"], account["transport"]), [0, 0, 0, 0])
        for place, field in enumerate(("queries", "answers", "query_octets", "answer_octets")):
            row[place] += account[field]
    most_first = sorted(sums.items(), key=lambda item: (-item[1][0], item[0]))
    return [(operator, transport, *row) for (operator, transport), row in most_first]  # type: ignore[misc]
