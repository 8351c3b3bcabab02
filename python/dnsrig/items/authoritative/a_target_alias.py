"""A-target-alias: MX, SRV and NS records that lead to aliases."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._contents import Flaw, contents, judge_data
from dnsrig.items.authoritative._targets import leads_within
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-target-alias",
    role="authoritative",
    group="Zone data",
    requirement="No MX or SRV record, and no NS record of a delegation, leads to an alias.",
    references=("RFC 2181 section 10.3", "RFC 5321 section 5.1", "RFC 2782"),
    severity=Severity.WARNING,
    consequence="Some mail servers and resolvers do not follow the alias: mail is returned, zones are not found.",
    procedure=(
        "The zone's MX, SRV and NS records, as far as they are known, are looked at: no name within the zone that they"
        " have has a CNAME record. The zone's own servers are the matter of A-ns-alias."
    ),
    dig=("dig @{server} -p {port} {zone} MX +norec", "dig @{server} -p {port} {target} CNAME +norec"),
    needs=("zone",),
    faults=("mx-to-alias", "srv-to-alias", "delegation-to-alias"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look for CNAME records at the targets."""
    known, found = contents(subject), leads_within(subject)
    flaws = [
        Flaw(f"{lead.source.title} leads to {lead.target}, which is an alias.", (lead.source, alias))
        for lead in found
        if (alias := known.get(lead.target, RdataType.CNAME)) is not None
    ]
    return judge_data(
        subject,
        flaws,
        [lead.source for lead in found],
        "MX, SRV or NS record that leads to a name within the zone",
        "None of {count} names is an alias.",
    )
