"""P-authority: the authority section."""

from dnsrig.items.proxy._through import compare, with_and_without_do
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import section_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-authority",
    role="proxy",
    group="Records",
    requirement="The records of the authority section pass the proxy unchanged.",
    references=("RFC 5625 section 3",),
    severity=Severity.ERROR,
    consequence=(
        "Denials cannot be validated, and negative answers not be kept in caches, for want of the SOA record."
    ),
    procedure=(
        "A response with records in all sections is compared with what the upstream sent, and denials are; without "
        "EDNS, and with DO."
    ),
    dig=("dig @{server} -p {port} x.sections.rig.example A +dnssec",),
    needs=("upstream",),
    faults=(
        "proxy-drops-authority",
        "proxy-drops-authority-without-do",
        "proxy-rewrites-nxdomain",
        "proxy-strips-proofs",
        "proxy-strips-nsec",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    shown: tuple[Exchange, ...] = ()
    for query in with_and_without_do(subject, (names.SECTIONS, names.ABSENT, names.EMPTY)):
        through = compare(subject, query, of_response=lambda sent, came: section_differences(sent, came, "authority"))
        if isinstance(through, Outcome):
            return through
        shown = (through.client,)
    return passed("The section passes whole.", *shown)
