"""A-ds-at-cut: DS records stand at delegations."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._contents import Flaw, contents, judge_data
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-ds-at-cut",
    role="authoritative",
    group="Zone data",
    requirement="DS records are at names with NS records only, and not at the zone's apex.",
    references=("RFC 4035 section 2.4", "RFC 4034 section 5"),
    severity=Severity.WARNING,
    consequence="Validators take the name for a zone of its own, and miss the keys: it may be bogus.",
    procedure="The zone's DS records, as far as they are known, are looked at: each name has NS records too.",
    dig=("dig @{server} -p {port} {secure_delegation} DS +norec +dnssec",),
    needs=("zone",),
    faults=("ds-without-ns",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look for the NS records."""
    known = contents(subject)
    # Responses to queries for DS at the apex come from the parent zone, where the server has it.
    judged = [one for one in known.of(RdataType.DS) if one.name != subject.origin or known.is_whole]
    flaws = [
        Flaw(f"{one.name} has DS records and is no delegation.", (one,))
        for one in judged
        if one.name == subject.origin
        or (known.get(one.name, RdataType.NS) is None and one.name not in subject.survey.cuts)
    ]
    return judge_data(subject, flaws, judged, "DS record", "{count} DS RRsets stand at delegations.")
