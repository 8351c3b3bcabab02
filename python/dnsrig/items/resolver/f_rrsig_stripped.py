"""F-rrsig-stripped: no DNSSEC records to those who did not ask for them."""

from dataclasses import replace

from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

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
        "dig @{server} -p {port} none.secure.nsec3. A +noedns",
    ),
    needs=("dnssec",),
    faults=("keeps-rrsig-without-do", "keeps-nsec-without-do"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask without DO."""
    exchanges = []
    for question in (subject.names.secure, *subject.names.denied):
        subject.asker.ask(question.with_do)
        for query in (question.plain, replace(question.with_do, do=False)):
            exchange = subject.asker.ask(query)
            if exchange.message is None:
                return subject.unanswered(exchange)
            rrsets = [*exchange.message.answer, *exchange.message.authority, *exchange.message.additional]
            found = {rrset.rdtype for rrset in rrsets} & DNSSEC_TYPES
            if found:
                words = " and ".join(sorted(rtype.name for rtype in found))
                return failed(f"The response to a query without DO has {words} records.", exchange)
            exchanges.append(exchange)
    return passed("Without DO no RRSIG, NSEC or NSEC3 records came.", exchanges[0], exchanges[-1])
