"""A-uncompressed: no compression in newer types."""

from dnsrig.items.authoritative._looked_at import check_responses
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity
from dnsrig.verification.wire import compressed_name, read_wire

ITEM = Item(
    id="A-uncompressed",
    role="authoritative",
    group="Answers",
    requirement="Names in the data of types that came after RFC 1035 are not compressed.",
    references=("RFC 3597 section 4", "RFC 4034 section 3.1.7", "RFC 2782", "RFC 9460 section 2.2"),
    severity=Severity.ERROR,
    consequence=(
        "Clients that do not know the type keep a pointer into a message that is gone, and hand it on; signatures are "
        "not valid."
    ),
    procedure=(
        "A sample of all names that are known is asked for; the data of SRV, DNAME, RRSIG, NSEC, SVCB, HTTPS and others"
        " are looked through for pointers."
    ),
    dig=("dig @{server} -p {port} {host} SRV +norec +noedns   # and a capture of the response",),
    needs=("zone",),
    faults=("compresses-signer",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look for pointers."""

    def trouble(exchange: Exchange) -> str:
        records = read_wire(exchange.response or b"").records
        title = next((record.title for record in records if compressed_name(record)), "")
        return f"has a compressed name in the data of {title}" if title else ""

    return check_responses(subject, trouble, "{count} responses have no compressed name where there must be none.")
