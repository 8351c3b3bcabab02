"""A-target-name: records that lead to hosts have names, not addresses."""

import ipaddress

import dns.name

from dnsrig.items.authoritative._contents import Flaw, contents, judge_data
from dnsrig.items.authoritative._targets import leads
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

OCTETS_OF_ADDRESS = 4
ITEM = Item(
    id="A-target-name",
    role="authoritative",
    group="Zone data",
    requirement="MX, SRV and NS records have names of hosts, not their addresses.",
    references=("RFC 1035 section 3.3.9", "RFC 1035 section 3.3.11", "RFC 5321 section 5.1", "RFC 2782"),
    severity=Severity.ERROR,
    consequence="Nobody finds the host: its address is taken for a name, which does not exist.",
    procedure=(
        "The zone's MX, SRV and NS records, as far as they are known, are looked at: none has a name that begins with"
        " the four numbers of an address."
    ),
    dig=("dig @{server} -p {port} {zone} MX +norec",),
    needs=("zone",),
    faults=("mx-to-address",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the names."""
    found = list(leads(contents(subject)))
    flaws = [
        Flaw(f"{lead.source.title} leads to {lead.target}, which is an address written as a name.", (lead.source,))
        for lead in found
        if _is_address(lead.target, subject.origin)
    ]
    judged = [lead.source for lead in found]
    return judge_data(subject, flaws, judged, "MX, SRV or NS record", "The records lead to {count} names.")


def _is_address(name: dns.name.Name, origin: dns.name.Name) -> bool:
    """Say whether a name is nothing but an address, perhaps with the zone's name behind it for want of a final dot."""
    outer = origin if name.is_subdomain(origin) else dns.name.root
    labels = name.relativize(outer).labels
    if len(labels) != OCTETS_OF_ADDRESS:
        return False
    try:
        ipaddress.IPv4Address(b".".join(labels).decode("ascii"))
    except ValueError:
        return False
    return True
