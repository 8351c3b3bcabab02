"""A-alias-target: aliases lead somewhere."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.CNAME import CNAME

from dnsrig.items.authoritative._contents import Contents, Flaw, Published, contents, judge_data
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

MOST = 100
"""Targets that are asked for, where more are known."""
ITEM = Item(
    id="A-alias-target",
    role="authoritative",
    group="Zone data",
    requirement="The canonical name of an alias, where it is within the zone, exists, and is not the alias again.",
    references=("RFC 1034 section 3.6.2", "RFC 1912 section 2.4"),
    severity=Severity.NOTICE,
    consequence="Clients of the alias get NXDOMAIN, or SERVFAIL where aliases lead round in a circle.",
    procedure=(
        "The zone's CNAME records, as far as they are known, are followed within the zone; what they end at is asked"
        " for, and exists or is delegated."
    ),
    dig=("dig @{server} -p {port} {alias} A +norec",),
    needs=("zone",),
    faults=("alias-to-nothing", "aliases-in-circle"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Follow the aliases."""
    known = contents(subject)
    judged: list[Published] = []
    flaws: list[Flaw] = []
    for alias in known.of(RdataType.CNAME):
        if known.delegated(alias.name) or known.redirected(alias.name) or len(judged) >= MOST:
            continue
        end = _end_of(known, alias.name)
        if end is None:
            judged.append(alias)
            flaws.append(Flaw(f"The alias {alias.name} leads to itself.", (alias,)))
        elif end.is_subdomain(subject.origin):
            judged.append(alias)
            exchange = subject.answers.get(end, RdataType.A)
            if exchange.response is None:
                break
            is_nothing = exchange.rcode == dns.rcode.NXDOMAIN and not (exchange.message and exchange.message.answer)
            if is_nothing and not known.at(end):
                flaws.append(Flaw(f"The alias {alias.name} leads to {end}, which does not exist.", (alias, exchange)))
    return judge_data(
        subject, flaws, judged, "alias of a name within the zone", "{count} aliases lead to names that exist."
    )


def _end_of(known: Contents, name: dns.name.Name) -> dns.name.Name | None:
    """Follow CNAME records as far as they are known; None if they come back to where they were."""
    passed_by = {name}
    while (alias := known.get(name, RdataType.CNAME)) is not None and isinstance(alias.records[0], CNAME):
        name = alias.records[0].target
        if name in passed_by:
            return None
        passed_by.add(name)
    return name
