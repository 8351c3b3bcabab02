"""F-dname: DNAME records for validators."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

NAME = dns.name.from_text("www.tree.secure.nsec.")
ITEM = Item(
    id="F-dname",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="An alias that follows from a DNAME record comes with that record, for those who validate.",
    references=("RFC 6672 section 3.1", "RFC 6672 section 5.3.1"),
    severity=Severity.ERROR,
    consequence="Validators behind it take names below DNAME records for bogus: the alias itself has no signature.",
    procedure="A name below a DNAME record is asked for with RD and DO, twice: the answer has the DNAME record.",
    dig=("dig @{server} -p {port} www.tree.secure.nsec. A +dnssec",),
    needs=("upstream", "dnssec"),
    faults=("strips-dname",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask twice, so that what is kept shows too."""
    query = Question(NAME, RdataType.A).with_do
    for _ in range(2):
        exchange = subject.asker.ask(query)
        if exchange.message is None:
            return subject.unanswered(exchange)
        answer = exchange.message.answer
        if not any(rrset.rdtype == RdataType.A for rrset in answer):
            return inconclusive(f"{NAME} is not answered with its address (see F-secure-dname).", exchange)
        # That it is signed is the matter of F-data.
        if not any(rrset.rdtype == RdataType.DNAME for rrset in answer):
            return failed(f"The answer for {NAME}, which is below a DNAME record, does not have that.", exchange)
    return passed("The DNAME record comes with what follows from it.", exchange)
