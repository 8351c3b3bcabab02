"""F-229: NSEC3PARAM through the resolver."""

import dns.flags
import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="F-229",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="The resolver gives the NSEC3PARAM record of a zone's apex with its signature, and AD.",
    references=("RFC 5155 section 4", "RFC 4035 section 3.2.3", "JPRS-2010 F-229"),
    severity=Severity.WARNING,
    consequence="Who looks at a zone through it cannot tell how its names are hashed.",
    procedure="NSEC3PARAM is asked for with DO at the apex of a zone with NSEC3: the record, RRSIG, AD.",
    dig=("dig @{server} -p {port} secure.nsec3. NSEC3PARAM +dnssec",),
    needs=("validates",),
    faults=("hides-nsec3param-from-clients",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for the parameters."""
    query = Query(name=dns.name.from_text("secure.nsec3."), rtype=RdataType.NSEC3PARAM, rd=True, do=True)
    exchange = subject.asker.ask(query)
    if exchange.message is None:
        return subject.unanswered(exchange)
    found = {rrset.rdtype for rrset in exchange.message.answer}
    lacking = [rtype.name for rtype in (RdataType.NSEC3PARAM, RdataType.RRSIG) if rtype not in found]
    if lacking:
        return failed(f"The response lacks the {' and '.join(lacking)} records.", exchange)
    # That it never sets AD is the matter of F-secure-data.
    if subject.sets_ad and not exchange.has_flag(dns.flags.AD):
        return failed("The response has no AD.", exchange)
    return passed("The record comes with its signature.", exchange)
