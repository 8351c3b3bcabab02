"""A-axfr-form: messages of zone transfers."""

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-axfr-form",
    role="authoritative",
    group="Zone transfer",
    requirement="Every message of a zone transfer has AA, and the first has the question.",
    references=("RFC 5936 section 2.2.1", "RFC 5936 section 2.2.2"),
    severity=Severity.NOTICE,
    consequence=(
        "Secondaries that look at these reject the transfer, and serve an old version until it expires; those in wide "
        "use do without AA."
    ),
    procedure=(
        "The zone is asked for by AXFR, where the server allows it: AA is set in each message, the question section of "
        "the first has the question, and those of the others have it or nothing."
    ),
    dig=("dig @{server} -p {port} {zone} AXFR +noall +answer +question +comments",),
    needs=("transfer",),
    faults=("axfr-without-aa", "axfr-without-question"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at what was seen as the transfer came."""
    moved = subject.transfer
    if moved.flaw:
        return failed(f"A message of the transfer {moved.flaw}.")
    if moved.trouble:
        return inconclusive(f"The transfer does not come to its end (see A-axfr-complete): {moved.trouble}.")
    if not moved.rrsets:
        return inconclusive("There is no transfer any more.")
    return passed(f"The messages of the transfer, of {moved.octets} octets in all, are as they should be.")
