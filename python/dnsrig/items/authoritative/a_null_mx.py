"""A-null-mx: an MX record that says that there is no mail stands alone."""

import dns.name
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.MX import MX

from dnsrig.items.authoritative._contents import Flaw, contents, judge_data
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-null-mx",
    role="authoritative",
    group="Zone data",
    requirement="An MX record with the root for its name has preference 0, and no other MX record beside it.",
    references=("RFC 7505 section 3",),
    severity=Severity.WARNING,
    consequence="Some mail servers give mail up that others deliver.",
    procedure="The zone's MX RRsets, as far as they are known, are looked at.",
    dig=("dig @{server} -p {port} {zone} MX +norec",),
    needs=("zone",),
    faults=("null-mx-beside-others",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the MX RRsets."""
    judged, flaws = [], []
    for rrset in contents(subject).of(RdataType.MX):
        records = [record for record in rrset.records if isinstance(record, MX)]
        nulls = [record for record in records if record.exchange == dns.name.root]
        if not nulls:
            continue
        judged.append(rrset)
        if len(records) > 1:
            flaws.append(Flaw(f"{rrset.title} says that there is no mail, and names mail servers.", (rrset,)))
        elif nulls[0].preference:
            sentence = f"{rrset.title} has the root for its name with preference {nulls[0].preference}, not 0."
            flaws.append(Flaw(sentence, (rrset,)))
    return judge_data(
        subject, flaws, judged, "MX record that says that there is no mail", "{count} such records stand alone."
    )
