"""P-1: OPT and flags."""

import dns.message
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream, changed, compare
from dnsrig.verification.exchange import Transport
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import edns_differences, flag_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, Shown, passed

COMBINATIONS = (
    (True, False, False),
    (True, True, True),
    (True, False, True),
    (False, True, False),
    (False, False, True),
)
"""Of DO, AD and CD."""

ITEM = Item(
    id="P-1",
    role="proxy",
    group="EDNS and flags",
    requirement=(
        "OPT and the flags RD, CD and DO pass the proxy unchanged, in queries and in responses; for AD see P-ad."
    ),
    references=("RFC 5625 section 4.1", "RFC 5625 section 4.4.2", "RFC 6840 section 5.7", "JPRS-2010 case 7 item 1"),
    severity=Severity.ERROR,
    consequence=(
        "Validating clients behind the proxy get no signatures, or cannot turn the upstream's validation off."
    ),
    procedure=(
        "Queries with DO, AD and CD in several combinations, for names and types that do not exist too, and without "
        "EDNS, by UDP and TCP; flags but AD, and OPT, are compared at the upstream and at the client. AA may not be "
        "set where the upstream did not set it."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A +dnssec +adflag +cdflag",),
    needs=("upstream",),
    faults=(
        "strips-opt",
        "ignores-edns",
        "drops-edns",
        "formerr-to-edns",
        "clears-do",
        "proxy-clears-cd",
        "proxy-clears-cd-in-responses",
        "proxy-clears-do-in-responses",
        "proxy-adds-opt",
        "proxy-sets-aa",
        "proxy-strips-opt-by-tcp",
        "proxy-clears-do-by-tcp",
        "proxy-clears-do-in-denials",
        "proxy-strips-opt-of-denials",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask with the flags in several combinations."""
    shown: tuple[Shown, ...] = ()
    for transport in subject.transports:
        questions = [(names.PLAIN, flags) for flags in COMBINATIONS]
        questions += [(what, COMBINATIONS[0]) for what in (names.ABSENT, names.EMPTY)]
        for what, (do, ad, cd) in questions:
            query = Query(name=names.fresh(what), rtype=RdataType.A, rd=True, do=do, ad=ad, cd=cd)
            passage = compare(
                subject, query, of_query=_query_differences, of_response=_response_differences, transport=transport
            )
            if isinstance(passage, Outcome):
                return passage
            shown = (passage.client, *at_upstream(passage.upstream))
        wrong = _without_edns(subject, transport)
        if wrong is not None:
            return wrong
    return passed("Queries and responses pass with OPT, RD, CD and DO as they were sent.", *shown)


def _without_edns(subject: ProxySubject, transport: Transport) -> Outcome | None:
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None)
    bare = compare(subject, query, of_query=_flag_differences, of_response=_flag_differences, transport=transport)
    if isinstance(bare, Outcome):
        return bare
    if bare.client.message is not None and bare.client.message.edns >= 0:
        return changed(bare, ["the response to a query without EDNS has OPT"])
    return None


def _flag_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Compare flags alone: a proxy that asks with EDNS for others does no harm, as long as those get no OPT.

    The upstream sets RA and never AA. A proxy that offers recursion by its upstream may say so with RA itself.
    """
    return flag_differences(went_in, came_out, ("QR", "AA", "RD", "RA", "CD"))


def _query_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    return _flag_differences(went_in, came_out) + edns_differences(went_in, came_out)


_response_differences = _query_differences
