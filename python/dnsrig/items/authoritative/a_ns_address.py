"""A-ns-address: addresses of the zone's servers."""

import dns.flags
import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._places import names_of_servers
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

MOST = 13
"""Names that are asked for at most."""
ADDRESSES = (RdataType.A, RdataType.AAAA)
ITEM = Item(
    id="A-ns-address",
    role="authoritative",
    group="Zone",
    requirement="Each name in the zone's NS RRset that is within the zone has an address.",
    references=("RFC 1035 section 3.3.11", "RFC 1912 section 2.3"),
    severity=Severity.ERROR,
    consequence="Resolvers ask in vain for a server that does not exist, and may be left with none.",
    procedure=(
        "For each name in the apex's NS RRset that is within the zone, A and AAAA are asked for; one has an "
        "answer. Below a delegation the glue in the referral counts; where the referral is to other servers alone, the "
        "address is theirs to give."
    ),
    dig=(
        "dig @{server} -p {port} {zone} NS +norec +noedns",
        "dig @{server} -p {port} {target} A +norec +noedns",
        "dig @{server} -p {port} {target} AAAA +norec +noedns",
    ),
    needs=("zone",),
    faults=("no-ns-address",),
)


def _has_glue(exchange: Exchange, name: dns.name.Name) -> bool:
    return any(rrset_of(exchange, "additional", name, rtype) is not None for rtype in ADDRESSES)


def _is_theirs(subject: AuthoritativeSubject, exchange: Exchange, name: dns.name.Name) -> bool:
    """Say whether the response refers to others for the name: no glue is due where it is none of those servers itself.

    So it is at a server of the root zone that has not the zone of the root servers' names.
    """
    if exchange.message is None or exchange.rcode != dns.rcode.NOERROR or exchange.has_flag(dns.flags.AA):
        return False
    cuts = [rrset for rrset in exchange.message.authority if rrset.rdtype == RdataType.NS]
    below = [cut for cut in cuts if cut.name != subject.origin and cut.name.is_subdomain(subject.origin)]
    return any(name.is_subdomain(cut.name) and all(one.target != name for one in cut) for cut in below)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at each name that this server knows."""
    names = names_of_servers(subject)
    if not names:
        return not_applicable("No server of the zone has a name within it.")
    for name in names[:MOST]:
        asked = []
        for rtype in ADDRESSES:
            exchange = subject.asker.ask(Query(name=name, rtype=rtype, payload=None))
            if exchange.message is None:
                return subject.unanswered(exchange)
            asked.append(exchange)
            # An alias is another item's concern: A-ns-alias.
            if exchange.message.answer or _has_glue(exchange, name) or _is_theirs(subject, exchange, name):
                break
        else:
            return failed(f"{name} has neither A nor AAAA records.", *asked)
    return passed(f"All {len(names[:MOST])} names have addresses, or are other servers' to give.", *asked)
