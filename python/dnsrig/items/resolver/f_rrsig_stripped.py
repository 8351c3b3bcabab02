"""F-rrsig-stripped: no DNSSEC records to those who did not ask for them."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import CONTROL, ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ABSENT = tuple(dns.name.from_text(name) for name in ("absent.control.nsec.", "absent.secure.nsec3."))
DNSSEC_TYPES = {RdataType.RRSIG, RdataType.NSEC, RdataType.NSEC3}
ITEM = Item(
    id="F-rrsig-stripped",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="The resolver gives signatures and proofs of denial only to clients that set DO.",
    references=("RFC 4035 section 3.2.1", "RFC 3225 section 3"),
    severity=Severity.WARNING,
    consequence="Old stubs and routers that cannot take large responses, or records that they do not know, fail.",
    procedure=(
        "A secure name, and two that do not exist, in a zone with NSEC and in one with NSEC3, are asked for with RD "
        "and without EDNS, and with EDNS but without DO, after queries with DO filled the cache: no RRSIG, NSEC or "
        "NSEC3 records."
    ),
    dig=(
        "dig @{server} -p {port} www.control.nsec. A +noedns",
        "dig @{server} -p {port} absent.control.nsec. A +noedns",
        "dig @{server} -p {port} absent.secure.nsec3. A +noedns",
    ),
    needs=("dnssec",),
    faults=("keeps-rrsig-without-do", "keeps-nsec-without-do"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask without DO."""
    exchanges = []
    for name in (CONTROL, *ABSENT):
        subject.asker.ask(Query(name=name, rtype=RdataType.A, rd=True, do=True))
        for payload in (None, 1232):
            exchange = subject.asker.ask(Query(name=name, rtype=RdataType.A, rd=True, payload=payload))
            if exchange.message is None:
                return subject.unanswered(exchange)
            rrsets = [*exchange.message.answer, *exchange.message.authority, *exchange.message.additional]
            found = {rrset.rdtype for rrset in rrsets} & DNSSEC_TYPES
            if found:
                words = " and ".join(sorted(rtype.name for rtype in found))
                return failed(f"The response to a query without DO has {words} records.", exchange)
            exchanges.append(exchange)
    return passed("Without DO no RRSIG, NSEC or NSEC3 records came.", exchanges[0], exchanges[-1])
