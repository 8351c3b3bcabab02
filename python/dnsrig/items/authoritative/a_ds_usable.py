"""A-ds-usable: DS records of delegations that validators can use."""

from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DS import DS

from dnsrig.items.authoritative._contents import Flaw, contents, judge_data
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ALGORITHMS = {5, 7, 8, 10, 13, 14, 15, 16}
DIGESTS = {1, 2, 4}
"""Those that validators have (RFC 9904), SHA-1 among them: that it is not to be used is A-ds-digest's matter."""
ITEM = Item(
    id="A-ds-usable",
    role="authoritative",
    group="Zone data",
    requirement="Each secure delegation has a DS record whose algorithm and digest type validators know.",
    references=("RFC 4035 section 5.2", "RFC 4509 section 3", "RFC 9904"),
    severity=Severity.WARNING,
    consequence="Validators take the delegated zone for unsigned: its signatures protect nobody.",
    procedure="The zone's DS RRsets, as far as they are known, are looked at.",
    dig=("dig @{server} -p {port} {secure_delegation} DS +norec +dnssec",),
    needs=("zone",),
    faults=("ds-of-unknown-algorithm",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at algorithms and digest types."""
    known = contents(subject)
    judged = [one for one in known.of(RdataType.DS) if one.name != subject.origin]
    flaws = [
        Flaw(f"No record of {one.title} has an algorithm and a digest type that validators know.", (one,))
        for one in judged
        if not any(
            isinstance(record, DS) and record.algorithm in ALGORITHMS and record.digest_type in DIGESTS
            for record in one.records
        )
    ]
    return judge_data(subject, flaws, judged, "secure delegation", "{count} secure delegations can be validated.")
