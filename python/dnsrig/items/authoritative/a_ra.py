"""A-ra: recursion not available."""

import dns.flags

from dnsrig.items.authoritative._answers import sample
from dnsrig.items.authoritative._probes import edns_soa_query, resolves_names, soa_query, wrong_soa
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="A-ra",
    role="authoritative",
    group="RFC 8906",
    requirement="A query with RD is answered from the zone, and the response has no RA.",
    references=("RFC 8906 section 8.1.3.4", "RFC 1035 section 4.1.1"),
    severity=Severity.WARNING,
    consequence=(
        "Clients and scanners take the server for an open resolver; some resolvers take its answers for another's "
        "cache."
    ),
    procedure=(
        "The SOA record is asked for with RD=1, then with RD=0, then with RD=1 and DO; the response is NOERROR with "
        "the record, and RA=0. So are the responses to a sample of all names that are known, with DO. Where the server "
        "is at an address of this host, or a private one, and does not refuse to resolve names of others, RA tells "
        "nothing: it may resolve names for this host alone."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +rec +noedns",),
    needs=("zone",),
    faults=("sets-ra", "sets-ra-without-rd", "sets-ra-with-do", "drops-rd", "drops-rd-with-do"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with RD."""
    exchange = subject.asker.udp(soa_query(subject, rd=True))
    wrong = wrong_soa(subject, exchange)
    if wrong is not None:
        return wrong
    if exchange.has_flag(dns.flags.RA):
        return resolves_names(subject, exchange, "The response has RA: the server says that it offers recursion.")
    without = subject.asker.udp(soa_query(subject))
    if without.has_flag(dns.flags.RA):
        return resolves_names(subject, without, "The response to a query without RD has RA.")
    if subject.asker.udp(edns_soa_query(subject, do=True)).rcode == dns.rcode.NOERROR:
        with_do = subject.asker.ask(edns_soa_query(subject, rd=True, do=True))
        wrong = wrong_soa(subject, with_do)
        if wrong is not None:
            return wrong
        if with_do.has_flag(dns.flags.RA):
            return resolves_names(subject, with_do, "The response to a query with RD and DO has RA.")
    for other in sample(subject):
        if other.has_flag(dns.flags.RA):
            return resolves_names(subject, other, f"The response to {other.title} with DO and without RD has RA.")
    return passed("NOERROR with the SOA record and RA=0.", exchange)
