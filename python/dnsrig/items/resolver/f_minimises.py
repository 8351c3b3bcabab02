"""F-minimises: servers above a zone are not told whole names."""

import dns.name

from dnsrig.items.resolver._failures import list_of
from dnsrig.items.resolver._forged import ask_plainly
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.seen import SeenQuery
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

NAMES = 3
TLD = dns.name.from_text("unsigned.")
LABELS = (b"www", b"deep")
"""Before the label that is below the TLD."""
ITEM = Item(
    id="F-minimises",
    role="resolver",
    group="Privacy",
    requirement="The resolver asks servers of TLDs for no more labels of a name than these need to answer.",
    references=("RFC 9156 section 2", "RFC 9076 section 5.1"),
    severity=Severity.NOTICE,
    consequence="Servers of the root and of TLDs, and who listens there, get to know the hosts that users ask for.",
    procedure=(
        f"{NAMES} names with two labels below one that does not exist in an unsigned TLD are asked for. The TLD's "
        "servers are asked for that label first, not for the whole name."
    ),
    dig=("dig @{server} -p {port} www.deep.any.unsigned. A +noedns   # and look at what comes to the tree's servers",),
    needs=("upstream", "seen"),
    faults=("asks-for-whole-names",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask, and look at what comes to the servers first for each name."""
    first: list[SeenQuery] = []
    for _ in range(NAMES):
        label = subject.fresh_name(TLD).labels[0]
        exchange = ask_plainly(subject, dns.name.Name([*LABELS, label, *TLD.labels]))
        seen = [] if subject.seen is None else [*subject.seen.below(dns.name.Name([label, *TLD.labels]))]
        first += seen[:1]
    if len(first) < NAMES:
        return inconclusive(f"Queries for {len(first)} of {NAMES} names came to the tree.", exchange)
    shown = Evidence("the first query for each name at the tree's servers", list_of(first))
    whole = sum(_labels(one) > len(TLD.labels) + 1 for one in first)
    if whole == NAMES:
        return failed(f"The TLD's servers were asked for whole names at once, {whole} of {NAMES}.", shown)
    if whole:
        return inconclusive(f"The TLD's servers were asked for {whole} of {NAMES} whole names at once.", shown)
    return passed("The TLD's servers were asked for one label below the TLD first.", shown)


def _labels(query: SeenQuery) -> int:
    """Count the labels of what is asked for; some put an underscore before the name that they ask about."""
    return len(query.name.labels) - (query.name.labels[0] == b"_")
