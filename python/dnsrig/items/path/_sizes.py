"""What items about size share: responses of certain sizes by UDP."""

from collections.abc import Sequence

from dns.rdatatype import RdataType

from dnsrig.items.path._families import judge_each
from dnsrig.items.path._through import different
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.path import Family, PathSubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, passed

UNFRAGMENTED = (512, 800, 1220, 1232, 1400, 1452)
"""1452 octets, with headers of IPv6 and UDP, fill a packet of 1500."""
FRAGMENTED = (2000, 4000)
PAYLOAD = 4096


def check_size(subject: PathSubject, octets: int) -> Outcome:
    """Ask by each version of IP as a resolver and as a client of one does: without and with RD."""

    def check(subject: PathSubject, family: Family) -> Outcome:
        shown: tuple[Exchange, ...] = ()
        for rd in (False, True):
            found = _ask(subject, family, octets, rd=rd, do=True)
            if isinstance(found, Outcome):
                return found
            shown = (found,)
        return passed("", *shown)

    found = judge_each(subject, check)
    if isinstance(found, Outcome):
        return found
    shown = [evidence for one in found for evidence in one.evidence]
    said = f"Responses of {octets} octets come by UDP over {subject.spoken}, with and without RD."
    return passed(said, *shown)


def check_ladder(subject: PathSubject, family: Family, sizes: Sequence[int]) -> Outcome:
    """Ask for responses of rising sizes, until one does not come."""
    for octets in sizes:
        found = _ask(subject, family, octets, rd=False, do=False)
        if isinstance(found, Outcome):
            return found
    return passed(f"Responses of {sizes[0]} to {sizes[-1]} octets come by UDP.")


def _ask(subject: PathSubject, family: Family, octets: int, *, rd: bool, do: bool) -> Exchange | Outcome:
    way = subject.way(family)
    query = Query(name=names.fresh(names.sized(octets)), rtype=RdataType.TXT, rd=rd, do=do, payload=PAYLOAD)
    exchange = way.asker.udp(query)
    if exchange.message is None:
        return subject.lost(way, exchange)
    if exchange.octets < octets:
        return different(way, exchange)
    return exchange
