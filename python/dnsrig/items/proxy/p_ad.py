"""P-ad: AD."""

import dns.flags
import dns.message
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream, compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import flag_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, Shown, failed, passed

ITEM = Item(
    id="P-ad",
    role="proxy",
    group="EDNS and flags",
    requirement=(
        "AD of the upstream's responses comes to clients that ask with AD or DO, and none where the upstream sets "
        "none; AD of queries comes to the upstream."
    ),
    references=("RFC 6840 section 5.7", "RFC 6840 section 5.8", "RFC 5625 section 4.1", "JPRS-2010 case 7 item 1"),
    severity=Severity.WARNING,
    consequence=(
        "Clients that rely on the upstream's validation, over a network that they trust, do not learn of it (SSHFP, "
        "DANE), or are told of one that was not done."
    ),
    procedure=(
        "Addresses are asked for with AD without EDNS, with DO, and with neither, by UDP and TCP, twice, and a name "
        "and a type that do not exist with AD or DO and with neither; AD is compared at the upstream and at the "
        "client. The upstream sets it where AD or DO asks for it."
    ),
    dig=(
        "dig @{server} -p {port} x.plain.rig.example A +noedns +adflag",
        "dig @{server} -p {port} x.plain.rig.example A +dnssec",
    ),
    needs=("upstream",),
    faults=(
        "proxy-clears-ad",
        "proxy-clears-ad-in-responses",
        "proxy-clears-ad-in-denials",
        "proxy-sets-ad",
        "proxy-sets-ad-in-denials",
        "proxy-cache-loses-ad",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask in each way."""
    shown: tuple[Shown, ...] = ()
    ways: list[tuple[int | None, bool, bool]] = [(None, True, False), (None, False, False)]
    if subject.lacks("edns") is None:
        ways += [(1232, False, True), (1232, True, True)]
    for transport in subject.transports:
        for payload, ad, do in ways:
            query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=payload, ad=ad, do=do)
            through = compare(subject, query, of_query=_lost_ad, of_response=_differences, transport=transport)
            if isinstance(through, Outcome):
                return through
            again = subject.ask(query, transport).client
            if again.message is not None and again.has_flag(dns.flags.AD) != through.client.has_flag(dns.flags.AD):
                return failed("Asked for a second time, the response has another AD.", through.client, again)
            shown = (through.client, *at_upstream(through.upstream))
        for what in (names.ABSENT, names.EMPTY):
            # With DO where there is EDNS, as denials have proofs then; and with neither.
            for payload, ad, do in (next(way for way in reversed(ways) if any(way[1:])), ways[1]):
                query = Query(name=names.fresh(what), rtype=RdataType.A, rd=True, payload=payload, ad=ad, do=do)
                denied = compare(subject, query, of_query=_lost_ad, of_response=_differences, transport=transport)
                if isinstance(denied, Outcome):
                    return denied
    return passed("AD passes in queries and in responses.", *shown)


def _differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    return flag_differences(went_in, came_out, ("AD",))


def _lost_ad(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Let AD be set for a client that did not: it takes what the upstream says of validation out of no answer."""
    return [said for said in _differences(went_in, came_out) if "cleared" in said]
