"""F-do: DNSSEC records to those who ask for them."""

from dataclasses import replace

import dns.flags
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

DENIALS = {RdataType.NSEC, RdataType.NSEC3}
ITEM = Item(
    id="F-do",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="The resolver answers queries with DO with an OPT record, DO, signatures and proofs.",
    references=("RFC 4035 section 3.2.1", "RFC 3225 section 3", "RFC 6891 section 6.1.1"),
    severity=Severity.ERROR,
    consequence="Validators behind it, in stubs, applications and forwarders, cannot validate anything.",
    procedure=(
        "A secure name and one that does not exist are asked for with RD and DO: both responses have an OPT "
        "record with DO, the first an RRSIG record, the second NSEC or NSEC3 and RRSIG records."
    ),
    dig=(
        "dig @{server} -p {port} www.control.nsec. A +dnssec",
        "dig @{server} -p {port} absent.control.nsec. A +dnssec",
    ),
    needs=("names",),
    faults=("strips-opt", "ignores-edns", "drops-edns", "formerr-to-edns", "clears-do"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for a name that exists and for one that does not."""
    there = subject.control
    absent = subject.asker.ask(subject.names.denied[0].with_do)
    for exchange, section in ((there, "answer"), (absent, "authority")):
        message = exchange.message
        if message is None:
            return subject.unanswered(exchange)
        if message.edns < 0:
            return failed("The response has no OPT record, though the query had one.", exchange)
        if exchange.rcode == dns.rcode.SERVFAIL:
            return _servfail(subject, exchange)
        types = {rrset.rdtype for rrset in getattr(message, section)}
        lacking = [] if RdataType.RRSIG in types else ["RRSIG"]
        if section == "authority" and not types & DENIALS:
            lacking = ["NSEC or NSEC3", *lacking]
        if lacking:
            return failed(f"The response lacks {' and '.join(lacking)} records in its {section} section.", exchange)
        if not message.ednsflags & dns.flags.DO:
            return failed("The response has the records, but not the DO flag of the query.", exchange)
    return passed("The responses have OPT with DO, signatures and proofs.", there, absent)


def _servfail(subject: ResolverSubject, exchange: Exchange) -> Outcome:
    """Judge SERVFAIL, which tells something of DO only where it does not come without."""
    name, rtype = exchange.query.name, exchange.query.rtype.name
    plain = subject.asker.ask(replace(exchange.query, do=False, payload=None))
    if plain.rcode == dns.rcode.SERVFAIL:
        return inconclusive(f"{name} {rtype} is answered with SERVFAIL, also without DO.", exchange, plain)
    return failed(f"{name} {rtype} is answered with SERVFAIL where the query has DO.", exchange, plain)
