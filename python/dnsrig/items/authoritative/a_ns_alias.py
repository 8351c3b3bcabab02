"""A-ns-alias: NS records that name aliases."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._places import names_of_servers
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

MOST = 13
"""Names that are asked for at most."""
ITEM = Item(
    id="A-ns-alias",
    role="authoritative",
    group="Zone",
    requirement="No NS record of the zone names an alias.",
    references=("RFC 2181 section 10.3", "RFC 1912 section 2.4"),
    severity=Severity.ERROR,
    consequence="Some resolvers do not follow the alias and find no server; addresses never come as additional data.",
    procedure=(
        "For each name in the apex's NS RRset that is within the zone, A is asked for; no answer begins with "
        "CNAME or DNAME."
    ),
    dig=("dig @{server} -p {port} {zone} NS +norec +noedns", "dig @{server} -p {port} {target} A +norec +noedns"),
    needs=("zone",),
    faults=("ns-alias",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at each name that this server knows."""
    names = names_of_servers(subject)
    if not names:
        return not_applicable("No server of the zone has a name within it.")
    exchanges = []
    for name in names[:MOST]:
        exchange = subject.asker.ask(Query(name=name, rtype=RdataType.A, payload=None))
        if exchange.message is None:
            return subject.unanswered(exchange)
        aliases = [rrset for rrset in exchange.message.answer if rrset.rdtype in {RdataType.CNAME, RdataType.DNAME}]
        if aliases:
            return failed(f"{name} is an alias.", exchange)
        exchanges.append(exchange)
    return passed(f"None of {len(exchanges)} names is an alias.", *exchanges)
