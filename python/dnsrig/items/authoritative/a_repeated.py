"""A-repeated: no record twice."""

from collections import Counter

import dns.message

from dnsrig.items.authoritative._looked_at import check_responses
from dnsrig.items.authoritative._probes import type_text
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-repeated",
    role="authoritative",
    group="Answers",
    requirement="A response has no record twice.",
    references=("RFC 2181 section 5", "RFC 4034 section 6.3"),
    severity=Severity.WARNING,
    consequence=(
        "Responses are larger than they need be, and are truncated sooner; validators that do not drop the second copy "
        "find the signature wrong."
    ),
    procedure=(
        "Answers, denials and referrals are asked for without EDNS, and with DO a sample of all names that are known; "
        "owner, type and data of their records are compared within each section."
    ),
    dig=("dig @{server} -p {port} {host} {type} +norec +noedns",),
    needs=("zone",),
    faults=("repeats-records",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Count the records that are the same."""

    def trouble(exchange: Exchange) -> str:
        if exchange.message is None:
            return ""
        # Not by octets: the second copy may be compressed more. Parsed together, copies would be one.
        message = dns.message.from_wire(exchange.response or b"", one_rr_per_rrset=True)
        for section in ("answer", "authority", "additional"):
            counts = Counter((one.name, one.rdtype, one[0]) for one in getattr(message, section) if len(one))
            for (name, rtype, _), count in counts.items():
                if count > 1:
                    return f"has {name} {type_text(rtype)} {count} times, the same, in its {section} section"
        return ""

    return check_responses(subject, trouble, "{count} responses have every record once.")
