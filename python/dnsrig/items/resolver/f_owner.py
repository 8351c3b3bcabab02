"""F-owner: answers belong to the name that was asked for."""

import dns.name
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.items.resolver._usual import judged, usual_responses
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.transparency import alias_behind
from dnsrig.verification.verdicts import Outcome, Severity, inconclusive

OTHERS = tuple(
    Question(dns.name.from_text(name), RdataType.A)
    for name in ("any.wild.secure.nsec.", "any.wildalias.secure.nsec3.", "www.tree.secure.nsec.", "alias.secure.nsec3.")
)
"""Names from wildcards, aliases, and a name below a DNAME record, in the rig's tree."""
ITEM = Item(
    id="F-owner",
    role="resolver",
    group="Messages",
    requirement="An answer is of the name that was asked for, or of the names that aliases in it lead to.",
    references=("RFC 1034 section 3.6.2", "RFC 1034 section 4.3.1", "RFC 1034 section 4.3.3", "RFC 6672 section 3.1"),
    severity=Severity.ERROR,
    consequence=(
        "Stubs, which take no records of other names, and many of which read an answer once from its beginning, find "
        "no address."
    ),
    procedure=(
        "Secure, unsigned and missing names, names from wildcards, aliases, and a name below a DNAME record are asked "
        "for. From the name of the question, the CNAME records of the answer lead to its other records; none is left "
        "over but DNAME records above, and no alias stands behind what it leads to."
    ),
    dig=(
        "dig @{server} -p {port} any.wild.secure.nsec. A +dnssec",
        "dig @{server} -p {port} www.tree.secure.nsec. A +noedns",
    ),
    needs=("names",),
    faults=("answers-as-wildcard", "drops-synthesised-alias", "moves-aliases"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Follow the aliases of each answer."""
    asked = [] if subject.tree is None else [query for one in OTHERS for query in (one.plain, one.with_do)]
    exchanges = [*usual_responses(subject), *map(subject.asker.ask, asked)]
    found = [(one, _complaint(one, one.message.answer)) for one in exchanges if one.message and one.message.answer]
    if not found and subject.plain_control.message is None:
        return subject.unanswered(subject.plain_control)
    if not found:
        return inconclusive("None of the responses has an answer to look at.", *exchanges[:1])
    return judged(found, "each answer is of the name that was asked for")


def _complaint(exchange: Exchange, answer: list[dns.rrset.RRset]) -> str:
    aliases = {rrset.name: rrset[0].target for rrset in answer if rrset.rdtype == RdataType.CNAME}
    names = [exchange.query.name]
    while names[-1] in aliases and len(names) <= len(aliases):
        names.append(aliases[names[-1]])
    for rrset in answer:
        is_above = RdataType.DNAME in {rrset.rdtype, rrset.covers} and any(map(rrset.name.is_superdomain, names))
        if rrset.name not in names and not is_above:
            return f"the answer has {rrset.name} {RdataType.make(rrset.rdtype).name}, to which nothing leads"
    alias = alias_behind(answer)
    return "" if alias is None else f"the alias {alias} stands behind the records that it leads to"
