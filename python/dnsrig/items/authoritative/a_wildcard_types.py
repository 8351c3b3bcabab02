"""A-wildcard-types: wildcards without NS, DNAME and DS records."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._contents import Flaw, contents, judge_data
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

UNDEFINED = {RdataType.NS, RdataType.DNAME, RdataType.DS, RdataType.SOA}
ITEM = Item(
    id="A-wildcard-types",
    role="authoritative",
    group="Zone data",
    requirement="No wildcard below the apex has NS, DNAME, DS or SOA records.",
    references=("RFC 4592 section 4.2", "RFC 4592 section 4.4", "RFC 4592 section 4.6", "RFC 4592 section 4.1"),
    severity=Severity.WARNING,
    consequence="What such records mean is not defined: each server answers otherwise.",
    procedure="The data of the zone's wildcards, as far as they are known, are looked at.",
    dig=("dig @{server} -p {port} {wildcard} NS +norec",),
    needs=("zone",),
    faults=("wildcard-ns", "wildcard-dname"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the wildcards."""
    judged = [one for one in contents(subject).rrsets.values() if one.name.is_wild() and one.name != subject.origin]
    flaws = [Flaw(f"{one.name} has {one.rtype.name} records.", (one,)) for one in judged if one.rtype in UNDEFINED]
    return judge_data(subject, flaws, judged, "wildcard", "The {count} RRsets of wildcards are of other types.")
