"""Questions that a resolver is asked before a load, to see whether it resolves and validates."""

from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from threading import Event

import dns.exception
import dns.flags
import dns.message
import dns.query
import dns.rcode

from dnsrig.hosts.network.kernel import in_own_thread
from dnsrig.servers.interruption import raise_interruption
from dnsrig.studies.resolving.streams import EDNS_SIZE

PROBES = 8
PROBE_S = 5.0
PROBE_ATTEMPTS = 2
"""As many as stub resolvers make, and as patient ones (resolv.conf(5)): a lost packet is no failure of a cell."""


def ask_probes(
    lines: Sequence[str], address: tuple[str, int], given_up: Event, *, do_bit: bool = True
) -> dict[str, int]:
    """Ask questions at the same time; count those `asked`, `answered` without an error, and `secure` (AD).

    They have DO, or else the AD bit, by which a client without DO asks to be told (RFC 6840 section 5.7).
    """
    # The threads are of the namespace of the thread that makes them. The end of the program waits for none of them, as
    # it would for those of a pool: after Ctrl-C, until the last question was given up.
    asked: list[Future[dns.message.Message | None]] = [Future() for _ in lines]
    for line, outcome in zip(lines, asked, strict=True):
        in_own_thread(partial(_ask_probe, line, address, given_up, do_bit=do_bit), outcome)
    responses = [item for outcome in asked if (item := outcome.result()) is not None]
    return {
        "asked": len(lines),
        "answered": sum(item.rcode() in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN} for item in responses),
        "secure": sum(bool(item.flags & dns.flags.AD) for item in responses),
    }


def _ask_probe(line: str, address: tuple[str, int], given_up: Event, *, do_bit: bool) -> dns.message.Message | None:
    """Ask one question, `name type`, again if need be; None if there is no response, or none that can be read."""
    for _ in range(PROBE_ATTEMPTS):
        if given_up.is_set():
            break
        try:
            return dns.query.udp_with_fallback(probe(line, do_bit=do_bit), address[0], PROBE_S, address[1])[0]
        except (dns.exception.DNSException, OSError) as error:
            raise_interruption(error)
    return None


def probe(line: str, *, do_bit: bool) -> dns.message.Message:
    """Make the query for a question, `name type`."""
    name, _, rtype = line.partition(" ")
    query = dns.message.make_query(name, rtype, use_edns=0, want_dnssec=do_bit, payload=EDNS_SIZE)
    if not do_bit:
        query.flags |= dns.flags.AD
    return query
