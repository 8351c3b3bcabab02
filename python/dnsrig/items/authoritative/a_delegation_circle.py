"""A-delegation-circle: delegations that do not need each other."""

from collections.abc import Container

import dns.name
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NS import NS

from dnsrig.items.authoritative._contents import ADDRESSES, Contents, contents, referrals
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-delegation-circle",
    role="authoritative",
    group="Zone data",
    requirement="Each delegation has a server whose address can be found before the delegated zone is reached.",
    references=("RFC 9471 section 2.3", "RFC 1034 section 4.2.2", "RFC 4697 section 2.3"),
    severity=Severity.ERROR,
    consequence="Resolvers go round in a circle from one delegated zone to the other, and reach none of them.",
    procedure=(
        "Every delegation that is known, or 100 of them, is asked for NS. Names of servers that lie below other"
        " delegations are followed there, unless their addresses are known; they do not lead back. Servers below the"
        " delegation itself are the matter of A-delegation-glue."
    ),
    dig=("dig @{server} -p {port} {delegation} NS +norec +dnssec",),
    needs=("zone",),
    faults=("delegations-in-circle",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Follow the servers from delegation to delegation."""
    known = contents(subject)
    shown = dict(referrals(subject))
    servers = {
        cut: [one.target for one in rrset_of(exchange, "authority", cut, RdataType.NS) or () if isinstance(one, NS)]
        for cut, exchange in shown.items()
    }
    outside = {cut: names for cut, names in servers.items() if not any(name.is_subdomain(cut) for name in names)}
    if not outside:
        return not_applicable(subject.unknown("delegation whose servers all lie outside of it"))
    found = {cut for cut in servers if cut not in outside}
    while more := {
        cut for cut in outside.keys() - found if any(_leads(known, name, found, servers) for name in outside[cut])
    }:
        found |= more
    circle = sorted(outside.keys() - found)
    if circle:
        names = ", ".join(str(name) for name in outside[circle[0]])
        reason = f"{circle[0]} is delegated to {names}, which cannot be found but by way of {circle[0]}."
        return failed(reason, *(shown[cut] for cut in circle[:2]))
    return passed(f"The servers of {len(outside)} delegations can be found.", shown[min(outside)])


def _leads(known: Contents, name: dns.name.Name, found: set[dns.name.Name], servers: Container[dns.name.Name]) -> bool:
    """Say whether a server can be found: elsewhere, in the zone, by glue, or below a delegation that can."""
    above = known.delegated(name) if name.is_subdomain(known.origin) else None
    # Delegations beyond the first, and those of zones that this server has too, were not followed.
    if above is None or above not in servers or above in found:
        return True
    return any(known.get(name, rtype) is not None for rtype in ADDRESSES)
