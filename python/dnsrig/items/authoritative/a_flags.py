"""A-flags: the flags RD and AD in responses."""

import dns.flags
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import edns_soa_query
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-flags",
    role="authoritative",
    group="Header",
    requirement="A response has the RD flag of its query, and AD=0 where nobody asked for AD.",
    references=("RFC 1035 section 4.1.1", "RFC 6840 section 5.8", "RFC 4035 section 3.1.6"),
    severity=Severity.WARNING,
    consequence=(
        "Stub resolvers that compare RD drop the response; those that trust AD take data for validated that nobody "
        "validated."
    ),
    procedure=(
        "The SOA record and a name that does not exist are asked for without EDNS, with RD=0 and RD=1; the responses "
        "have the same RD, and AD=0; RD=1 is tried with EDNS, too. A-ad-asked is about queries with AD or DO."
    ),
    dig=(
        "dig @{server} -p {port} {zone} SOA +norec +noad +noedns",
        "dig @{server} -p {port} {zone} SOA +rec +noad +noedns",
    ),
    needs=("zone",),
    faults=("sets-ad", "clears-rd", "clears-rd-with-edns", "sets-rd"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with and without RD, and compare."""
    exchanges = []
    for name, rtype in ((subject.origin, RdataType.SOA), (subject.absent_name(), RdataType.A)):
        for rd in (False, True):
            exchange = subject.asker.udp(Query(name=name, rtype=rtype, rd=rd, payload=None))
            if exchange.message is None:
                # Whether queries with RD are answered is the matter of A-ra.
                return inconclusive(f"There is {exchange.trouble}; A-plain and A-ra are about that.", exchange)
            if exchange.has_flag(dns.flags.RD) != rd:
                return failed(f"The query has RD={rd:d}, the response to {exchange.title} has not.", exchange)
            if exchange.has_flag(dns.flags.AD):
                return failed(f"The response to {exchange.title} has AD, which was not asked for.", exchange)
            exchanges.append(exchange)
    with_edns = subject.asker.udp(edns_soa_query(subject, rd=True))
    if with_edns.message is not None and not with_edns.has_flag(dns.flags.RD):
        return failed(f"The query has RD=1 and EDNS, the response to {with_edns.title} has RD=0.", with_edns)
    return passed("The responses have the RD flag of their queries, and AD=0.", *exchanges[:2])
