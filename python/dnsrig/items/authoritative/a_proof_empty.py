"""A-proof-empty: empty non-terminals."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._denials import judge, unusable
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed

ITEM = Item(
    id="A-proof-empty",
    role="authoritative",
    group="DNSSEC: denial of existence",
    requirement="An empty non-terminal gets NOERROR with the proof that it exists and has not the type.",
    references=("RFC 4592 section 2.2.2", "RFC 4035 section 3.1.3.1", "RFC 5155 section 7.2.3", "RFC 8020 section 2"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers that minimise query names (RFC 9156) or take NXDOMAIN for all below it lose the names below."
    ),
    procedure=(
        "An empty non-terminal is asked for with DO. NSEC: a record covers it and its Next Domain Name lies below "
        "it. NSEC3: a record matches it, with an empty bitmap."
    ),
    dig=("dig @{server} -p {port} {empty} A +norec +dnssec",),
    needs=("signatures", "empty"),
    faults=(
        "strips-denial",
        "strips-nodata-denial",
        "nxdomain-for-empty-with-do",
        "lacks-empty-match",
        "nxdomain-for-empty",
        "nxdomain-for-nodata",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for the name and judge the proof."""
    name = subject.name("empty")
    exchange = subject.answers.get(name, RdataType.A)
    outcome = unusable(subject, exchange)
    if outcome is not None:
        return outcome
    if exchange.rcode == dns.rcode.NXDOMAIN:
        return failed(f"The response says that {name} does not exist, though there are names below it.", exchange)
    what = f"that {name} exists without A"
    return judge(subject, exchange, lambda records: records.no_data(name, RdataType.A), what)
