"""P-additional: the additional section."""

from dnsrig.items.proxy._through import compare, with_and_without_do
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import section_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-additional",
    role="proxy",
    group="Records",
    requirement="The records of the additional section pass the proxy unchanged.",
    references=("RFC 5625 section 3",),
    severity=Severity.NOTICE,
    consequence="Clients have to ask for addresses that were there already.",
    procedure=(
        "A response with records in all sections is compared with what the upstream sent, without EDNS and with DO."
    ),
    dig=("dig @{server} -p {port} x.sections.rig.example A +dnssec",),
    needs=("upstream",),
    faults=("proxy-drops-additional", "proxy-drops-additional-without-do"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    shown: tuple[Exchange, ...] = ()
    for query in with_and_without_do(subject, (names.SECTIONS,)):
        through = compare(subject, query, of_response=lambda sent, came: section_differences(sent, came, "additional"))
        if isinstance(through, Outcome):
            return through
        shown = (through.client,)
    return passed("The section passes whole.", *shown)
