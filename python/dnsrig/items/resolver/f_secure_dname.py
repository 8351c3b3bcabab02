"""F-secure-dname: DNAME records."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-secure-dname",
    role="resolver",
    group="Validation: chains of trust",
    requirement="The resolver validates DNAME records and what they lead to.",
    references=("RFC 6672 section 5.3.1",),
    severity=Severity.ERROR,
    consequence="Names of subtrees that were moved by DNAME do not resolve.",
    procedure=PROCEDURE
    + ("A name below a DNAME record that leads from one signed zone to another: NOERROR, the address, AD."),
    dig=("dig @{server} -p {port} www.tree.secure.nsec. A +dnssec",),
    needs=("validates",),
    faults=("fails-secure-dname",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about DNAME records."""
    return check_table(subject, ITEM.id)
