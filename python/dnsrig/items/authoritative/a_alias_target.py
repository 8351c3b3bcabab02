"""A-alias-target: aliases lead somewhere."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.CNAME import CNAME
from dns.rdtypes.ANY.DNAME import DNAME

from dnsrig.items.authoritative._contents import Contents, Flaw, Published, contents, judge_data
from dnsrig.verification.asker import name_below
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity

MOST = 100
"""Targets that are asked for, where more are known."""
MOST_STEPS = 50
"""Aliases of aliases that are followed: a DNAME record that leads below itself makes a longer name each time."""
BELOW = b"dnsrig"
ITEM = Item(
    id="A-alias-target",
    role="authoritative",
    group="Zone data",
    requirement="The canonical name of an alias, where it is within the zone, exists, and is not the alias again.",
    references=("RFC 1034 section 3.6.2", "RFC 1912 section 2.4"),
    severity=Severity.NOTICE,
    consequence="Clients of the alias get NXDOMAIN, or SERVFAIL where aliases lead round in a circle.",
    procedure=(
        "The zone's CNAME records, as far as they are known, are followed within the zone, by its DNAME records, too;"
        " what they end at is asked for, and exists or is delegated, and is no alias of itself by a wildcard. A name"
        " below each DNAME record is followed likewise, and does not come back."
    ),
    dig=("dig @{server} -p {port} {alias} A +norec",),
    needs=("zone",),
    faults=("alias-to-nothing", "aliases-in-circle", "dnames-in-circle", "wildcard-alias-of-itself"),
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
            again = rrset_of(exchange, "answer", end, RdataType.CNAME)
            if again is not None and end in {record.target for record in again}:
                flaws.append(Flaw(f"The alias {alias.name} leads to {end}, which leads to itself.", (alias, exchange)))
            is_nothing = exchange.rcode == dns.rcode.NXDOMAIN and not (exchange.message and exchange.message.answer)
            if is_nothing and not known.at(end):
                flaws.append(Flaw(f"The alias {alias.name} leads to {end}, which does not exist.", (alias, exchange)))
    for dname in known.of(RdataType.DNAME):
        if known.delegated(dname.name) or known.redirected(dname.name):
            continue
        judged.append(dname)
        if _end_of(known, name_below(dname.name, BELOW)) is None:
            flaws.append(Flaw(f"Names below {dname.name} lead round in a circle by its DNAME record.", (dname,)))
    return judge_data(
        subject, flaws, judged, "alias of a name within the zone", "{count} aliases lead to names that exist."
    )


def _end_of(known: Contents, name: dns.name.Name) -> dns.name.Name | None:
    """Follow CNAME and DNAME records as far as they are known.

    None if they come back to where they were, or go on to longer and longer names.
    """
    passed_by = {name}
    while (target := _next_of(known, name)) is not None:
        if target in passed_by or len(passed_by) > MOST_STEPS:
            return None
        name = target
        passed_by.add(name)
    return name


def _next_of(known: Contents, name: dns.name.Name) -> dns.name.Name | None:
    """Give what a name is an alias of, if it is one."""
    owner = known.redirected(name)
    dname = None if owner is None else known.get(owner, RdataType.DNAME)
    if owner is not None and dname is not None and isinstance(dname.records[0], DNAME):
        try:
            return name.relativize(owner).derelativize(dname.records[0].target)
        except dns.name.NameTooLong:
            # As good as itself: there is no way on.
            return name
    alias = known.get(name, RdataType.CNAME)
    return alias.records[0].target if alias is not None and isinstance(alias.records[0], CNAME) else None
