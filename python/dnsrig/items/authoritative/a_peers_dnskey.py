"""A-peers-dnskey: servers of the zone have the same keys."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._peers import check_agreement
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-peers-dnskey",
    role="authoritative",
    group="Zone transfer",
    requirement="All servers of the zone give the same DNSKEY RRset.",
    references=("RFC 4035 section 2.1", "RFC 6781 section 4.1"),
    severity=Severity.ERROR,
    consequence="A resolver takes keys from one server and signatures from another: data are bogus now and then.",
    procedure="The DNSKEY RRset is asked for at every server of the zone that is known.",
    dig=("dig @{server} -p {port} {zone} DNSKEY +norec +dnssec   # at every server",),
    needs=("signed", "peers"),
    faults=("stale-secondary",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the keys."""
    return check_agreement(subject, RdataType.DNSKEY)
