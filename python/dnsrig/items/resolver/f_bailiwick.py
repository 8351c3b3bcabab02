"""F-bailiwick: addresses of other zones' names."""

import dns.name

from dnsrig.items.resolver._forged import check_forged
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_spoofing import BAILIWICK, VICTIM
from dnsrig.verification.verdicts import Outcome, Severity

SECTIONS = (
    ("answer", "in the answer section"),
    ("additional", "in the additional section"),
    ("alias", "behind an alias"),
)

ITEM = Item(
    id="F-bailiwick",
    role="resolver",
    group="Spoofing and bailiwick",
    requirement="The resolver believes a server nothing about names of zones that it was not asked for.",
    references=("RFC 2181 section 5.4.1", "RFC 5452 section 6"),
    severity=Severity.CRITICAL,
    consequence="The servers of any zone can put addresses of others into its cache, such as those of a bank.",
    procedure=(
        "A server of the tree tells the address of a name of another zone, in the answer section, as the address "
        "of its "
        "name server, and behind an alias. Then that name is asked for: its address is its own server's."
    ),
    dig=(
        "dig @{server} -p {port} any.answer.bailiwick.unsigned. A +noedns",
        "dig @{server} -p {port} any.victim.unsigned. A +noedns   # not 198.18.2.66",
    ),
    needs=("upstream",),
    faults=("believes-other-zones", "takes-any-name"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names of a server that tells of others, and for those."""
    forgeries = []
    for section, what in SECTIONS:
        name = subject.fresh_name(dns.name.from_text(section, dns.name.from_text(BAILIWICK)))
        victim = dns.name.Name([name.labels[0], *dns.name.from_text(VICTIM).labels])
        forgeries.append((name, victim, f"the address of a name of another zone {what}"))
    return check_forged(subject, forgeries)
