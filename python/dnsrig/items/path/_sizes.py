"""What items about size share: responses of certain sizes by UDP."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.path._families import judge_each
from dnsrig.items.path._through import different
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import Family, PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, failed, passed

UNFRAGMENTED = (512, 800, 1220, 1232, 1400, 1452)
"""1452 octets, with headers of IPv6 and UDP, fill a packet of 1500."""
FRAGMENTED = (2000, 4000)
PAYLOAD = 4096


def check_size(subject: PathSubject, octets: int) -> Outcome:
    """Ask by each version of IP as a resolver and as a client of one does, without and with RD, in both zones."""

    def check(subject: PathSubject, family: Family) -> Outcome:
        shown: tuple[Exchange, ...] = ()
        for rd, zone in product((False, True), (names.ORIGIN, names.UNSIGNED)):
            found = _ask(subject, family, octets, zone, rd=rd, do=True)
            if isinstance(found, Outcome):
                return found
            if wrong := wrong_signatures(found):
                return wrong
            shown = (found,)
        return passed("", *shown)

    found = judge_each(subject, check)
    if isinstance(found, Outcome):
        return found
    shown = [evidence for one in found for evidence in one.evidence]
    said = f"Responses of {octets} octets come by UDP over {subject.spoken}, with and without RD, signed and unsigned."
    return passed(said, *shown)


def check_ladder(subject: PathSubject, family: Family, sizes: Sequence[int]) -> Outcome:
    """Ask for responses of rising sizes, until one does not come; say which is the largest that does."""
    largest = 0
    for octets in sizes:
        found = _ask(subject, family, octets, names.ORIGIN, rd=False, do=False)
        if isinstance(found, Outcome):
            passes = f"Responses of up to {largest} octets come by UDP. " if largest else ""
            rest = f"With {octets}, the {'next' if largest else 'smallest'} size that was tried: "
            return replace(found, reason=f"{passes}{rest}{found.reason[:1].lower()}{found.reason[1:]}")
        largest = octets
    return passed(f"Responses of up to {largest} octets, the largest size that was tried, come by UDP.")


def wrong_signatures(exchange: Exchange) -> Outcome | None:
    """Judge a response to a query with DO: it has OPT, and signatures if the zone is signed."""
    message = exchange.message
    if message is None:
        return None
    if message.edns < 0:
        return failed("The response to a query with EDNS has no OPT.", exchange)
    has_signatures = any(rrset.rdtype == RdataType.RRSIG for rrset in message.answer)
    is_signed = names.zone_of(exchange.query.name) == names.ORIGIN
    if is_signed and not has_signatures:
        return failed("The response to a query with DO has no signatures.", exchange)
    if has_signatures and not is_signed:
        return failed("The response from a zone that is not signed has signatures.", exchange)
    return None


def _ask(
    subject: PathSubject, family: Family, octets: int, zone: dns.name.Name, *, rd: bool, do: bool
) -> Exchange | Outcome:
    way = subject.way(family)
    query = Query(name=names.fresh(names.sized(octets), zone), rtype=RdataType.TXT, rd=rd, do=do, payload=PAYLOAD)
    exchange = way.asker.udp(query)
    if exchange.message is None:
        return subject.lost(way, exchange)
    if exchange.octets < octets:
        return different(way, exchange)
    return exchange
