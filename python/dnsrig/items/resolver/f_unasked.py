"""F-unasked: queries without RD."""

from dns.rdatatype import RdataType

from dnsrig.items.resolver._failures import list_of
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.resolver import UNSIGNED_FRESH, ResolverSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

LATER_S = 1.0
"""So long after the response queries may still come to the tree."""
WAITS_S = (2.0, 2.0)
"""Some do not answer such queries: nothing has to come."""
NAMES = 2
ITEM = Item(
    id="F-unasked",
    role="resolver",
    group="Messages",
    requirement="The resolver asks nobody for clients that do not desire recursion.",
    references=("RFC 1035 section 4.1.1", "RFC 1034 section 4.3.1"),
    severity=Severity.WARNING,
    consequence=(
        "Who looks into its cache from outside, or checks a delegation with RD clear, fills the cache and makes it ask "
        "others; loops between servers that ask one another are not broken."
    ),
    procedure=(
        "Two names that are not in the cache are asked for without RD. No query for them comes to the tree's servers "
        "then, nor for a second after. With RD they are resolved."
    ),
    dig=("dig @{server} -p {port} any.fresh.control.unsigned. A +norecurse   # and look at the tree's servers",),
    needs=("upstream", "seen"),
    faults=("recurses-unasked",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask without RD, wait, and look; then with it."""
    names = [subject.fresh_name(UNSIGNED_FRESH) for _ in range(NAMES)]
    asker = type(subject.asker)(subject.asker.server, subject.asker.make_socket, WAITS_S)
    exchanges = [asker.udp(Query(name=name, rtype=RdataType.A, payload=None)) for name in names]
    pause(LATER_S)
    seen = [one for name in names for one in subject.seen_of(name)]
    if seen:
        shown = Evidence("queries for them at the tree's servers", list_of(seen))
        return failed(f"{len(seen)} queries went upstream for {NAMES} without RD.", exchanges[0], shown)
    after = subject.asker.ask(Query(name=names[0], rtype=RdataType.A, rd=True, payload=None))
    if not subject.seen_of(names[0]):
        return inconclusive("With RD no query came to the tree either.", after)
    return passed("Without RD nobody was asked.", exchanges[0], after)
