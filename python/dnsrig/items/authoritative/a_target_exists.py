"""A-target-exists: MX, SRV and NS records lead to hosts."""

import dns.name

from dnsrig.items.authoritative._contents import Flaw, judge_data
from dnsrig.items.authoritative._targets import Targets, leads_within
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-target-exists",
    role="authoritative",
    group="Zone data",
    requirement="MX and SRV records, and NS records of delegations, lead to names with addresses.",
    references=("RFC 5321 section 5.1", "RFC 2782", "RFC 1034 section 4.2.1", "RFC 1912 section 2.3"),
    severity=Severity.ERROR,
    consequence="Mail is returned, services and delegated zones are not found, or are slow to reach by what is left.",
    procedure=(
        "The zone's MX, SRV and NS records, as far as they are known, are looked at: A or AAAA of each name within the"
        " zone gets an answer. The zone's own servers are the matter of A-ns-address, names at or below a delegation"
        " that of A-delegation-glue."
    ),
    dig=("dig @{server} -p {port} {zone} MX +norec", "dig @{server} -p {port} {target} A +norec +noedns"),
    needs=("zone",),
    faults=("mx-to-nothing", "srv-to-nothing", "delegation-to-nothing"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for the targets' addresses."""
    # The root says that there is no service (RFC 7505, RFC 2782); it is within the root zone.
    found = [lead for lead in leads_within(subject) if lead.target != dns.name.root]
    targets = Targets(subject)
    flaws = [
        Flaw(
            f"{lead.source.title} leads to {lead.target}, which has neither A nor AAAA records.",
            (lead.source, *targets.asked(lead.target)),
        )
        for lead in found
        if targets.has_address(lead.target) is False
    ]
    return judge_data(
        subject,
        flaws,
        [lead.source for lead in found],
        "MX, SRV or NS record that leads to a name within the zone",
        "None of {count} names is without address.",
    )
