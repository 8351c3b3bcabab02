"""A-peers-nsec3param: servers of the zone have the same chain."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._peers import check_agreement
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-peers-nsec3param",
    role="authoritative",
    group="Zone transfer",
    requirement="All servers of the zone give the same NSEC3PARAM RRset, or none.",
    references=("RFC 5155 section 4", "RFC 5155 section 7.3"),
    severity=Severity.WARNING,
    consequence="A server holds an older zone: denials from it and from others do not fit together in caches.",
    procedure="NSEC3PARAM is asked for at every server of the zone that is known.",
    dig=("dig @{server} -p {port} {zone} NSEC3PARAM +norec +dnssec   # at every server",),
    needs=("signed", "peers"),
    faults=("stale-secondary", "hides-nsec3param", "wrong-nsec3param"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the parameters."""
    return check_agreement(subject, RdataType.NSEC3PARAM)
