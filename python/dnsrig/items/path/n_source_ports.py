"""N-source-ports: queries from whatever port."""

import random
import socket
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from dnsrig.items.path._families import judge_each
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.path import VERSIONS, Family, PathSubject
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

LOWEST, HIGHEST = 1024, 65_535
RANGES = 16
"""Parts of the ports, of some 4000 each."""
PORTS = 4
"""Of a part, at most, until a query from one of them is answered."""
ENOUGH = 3
"""Of so many of a part that the path answers none of: without it that many are answered."""
BIND_TRIES = 20
AT_ONCE = 4

ITEM = Item(
    id="N-source-ports",
    role="path",
    group="Changes",
    requirement=f"Queries by UDP come through the path from whatever port from {LOWEST} to {HIGHEST} they are sent.",
    references=("RFC 5452 section 9.2", "RFC 6056 section 3.2"),
    severity=Severity.WARNING,
    consequence=(
        "Resolvers draw ports from all of these, so some of their queries are lost, and others not: names resolve after"
        " seconds, now and then, and whoever looks for it from a port that the system draws finds nothing."
    ),
    procedure=(
        f"By each version of IP an address is asked for from a port of each of {RANGES} ranges, and where that is not "
        f"answered from {PORTS - 1} others. Where none of these is, and those of other ranges are, they are sent "
        "without the path as well."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A +noedns   # with -b 0.0.0.0#1053, and with other ports",),
    faults=("path-blocks-low-ports",),
)


def check(subject: PathSubject) -> Outcome:
    """Ask from ports of all ranges."""
    found = judge_each(subject, _check)
    if isinstance(found, Outcome):
        return found
    return passed(f"Queries from ports of all ranges are answered over {subject.spoken}.", *found[-1].evidence)


def _check(subject: PathSubject, family: Family) -> Outcome:
    if shut := subject.shut(family):
        return inconclusive(shut)
    way = subject.way(family)
    bounds = [LOWEST + (HIGHEST + 1 - LOWEST) * place // RANGES for place in range(RANGES + 1)]
    ranges = [range(begin, end) for begin, end in pairwise(bounds)]
    with thread_pool(AT_ONCE, "ports") as pool:
        asked = list(pool.map(lambda ports: _ask_from(way.asker, ports), ranges))
    silent = [ports for ports, exchanges in zip(ranges, asked, strict=True) if not _answered(exchanges)]
    if not silent:
        return passed("", *asked[0][-1:])
    shown = next(exchanges for exchanges in asked if not _answered(exchanges))
    said = f"By {VERSIONS[family]} none of {PORTS} queries from ports between {silent[0][0]} and {silent[0][-1]}"
    more = f", nor of {len(silent) - 1} more ranges," if len(silent) > 1 else ""
    if len(silent) == RANGES:
        return inconclusive(f"{said}{more} is answered: it is not the port that matters.", shown[0])
    direct = [_ask_once(way.direct, silent[0]) for _ in range(PORTS)]
    if len(_answered(direct)) < ENOUGH:
        return inconclusive(f"{said} is answered; without the path {len(_answered(direct))} are.", shown[0])
    reached = sum(bool(subject.seen(way, one.query)) for one in shown)
    way_in = f"{reached} came to the server" if reached else "none came to the server"
    return failed(
        f"{said}{more} is answered, of which {way_in}; those of {RANGES - len(silent)} other ranges are, and without "
        f"the path {len(_answered(direct))}.",
        shown[0],
        _answered(direct)[0],
    )


def _ask_from(asker: Asker, ports: range) -> list[Exchange]:
    """Ask from one port after the other until a query is answered."""
    exchanges: list[Exchange] = []
    while len(exchanges) < PORTS and not _answered(exchanges):
        exchanges.append(_ask_once(asker, ports))
    return exchanges


def _ask_once(asker: Asker, ports: range) -> Exchange:
    """Ask from a port of a range, in all tries another: lost messages are no matter of the port."""

    def bound(family: socket.AddressFamily, kind: socket.SocketKind) -> socket.socket:
        channel = asker.make_socket(family, kind)
        try:
            _bind(channel, _drawn(ports))
        except BaseException:
            channel.close()
            raise
        return channel

    # What is known of this server's habits is of other ports.
    return replace(asker, make_socket=bound, habits=None).udp(plain_query())


def _drawn(ports: range) -> Iterator[int]:
    return (random.choice(ports) for _ in range(BIND_TRIES))


def _bind(channel: socket.socket, ports: Iterator[int]) -> None:
    """Take the first port that is free.

    Raises:
        OSError: none is.

    """
    failure: OSError | None = None
    for port in ports:
        try:
            channel.bind(("", port))
        except OSError as error:
            failure = error
        else:
            return
    raise failure or OSError("no port")


def _answered(exchanges: Sequence[Exchange]) -> list[Exchange]:
    return [exchange for exchange in exchanges if exchange.message is not None]
