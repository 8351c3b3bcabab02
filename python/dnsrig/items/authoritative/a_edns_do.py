"""A-edns-do: the DO flag."""

import dns.flags

from dnsrig.items.authoritative._probes import edns_flags, soa_query, without_opt, wrong_rcode
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-edns-do",
    role="authoritative",
    group="RFC 8906",
    requirement="The DO flag of a query comes back in the response.",
    references=("RFC 3225 section 3", "RFC 8906 section 8.2.8"),
    severity=Severity.WARNING,
    consequence="Validators cannot tell a server without DNSSEC from one that has it, and may ask in vain again.",
    procedure="The SOA record is asked for with DO; the response is NOERROR, and OPT has DO.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +edns=0 +nocookie +dnssec",),
    needs=("zone", "edns"),
    faults=("clears-do", "clears-do-in-responses", "drops-do"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with DO."""
    # Small, so that the size of a signed response is of no account here.
    exchange = subject.asker.udp(soa_query(subject, do=True, payload=512))
    wrong = wrong_rcode(subject, exchange) or without_opt(exchange)
    if wrong is not None:
        return wrong
    if not edns_flags(exchange) & dns.flags.DO:
        return failed("The response has no DO.", exchange)
    return passed("NOERROR, and OPT with DO.", exchange)
