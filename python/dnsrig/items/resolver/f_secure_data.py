"""F-secure-data: data of signed zones."""

from dnsrig.items.resolver._table import PROCEDURE, check_table
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="F-secure-data",
    role="resolver",
    group="Validation: signatures and keys",
    requirement="The resolver gives data of signed zones with AD to clients that ask with DO.",
    references=("RFC 4035 section 3.2.3", "RFC 4035 section 5.3.3", "RFC 4034 section 6.2", "RFC 6840 section 5.1"),
    severity=Severity.ERROR,
    consequence="Clients that rely on AD, such as mail servers with DANE or SSH with SSHFP, cannot use the data.",
    procedure=PROCEDURE
    + (
        "Addresses, keys, DS and NS records, a name server's address and an alias of zones signed with NSEC and NSEC3, "
        "data with wrong signatures beside right ones, and data in which names have capitals: NOERROR, the records, AD."
    ),
    dig=("dig @{server} -p {port} www.secure.nsec. A +dnssec",),
    needs=("validates",),
    faults=("fails-secure-data", "never-sets-ad"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask the questions of the table about data of signed zones."""
    return check_table(subject, ITEM.id)
