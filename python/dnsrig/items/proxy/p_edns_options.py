"""P-edns-options: EDNS options."""

import dns.edns
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream, compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import option_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.answering import OPTION_OCTETS, UNASSIGNED_OPTION
from dnsrig.verification.verdicts import Outcome, Severity, Shown, passed

ITEM = Item(
    id="P-edns-options",
    role="proxy",
    group="EDNS and flags",
    requirement="EDNS options pass the proxy, known to it or not, in queries and in responses.",
    references=("RFC 5625 section 4.4.2", "RFC 6891 section 6.1.2"),
    severity=Severity.WARNING,
    consequence="What options are for, such as NSID, padding or new ones, does not work behind the proxy.",
    procedure=(
        "A query has NSID and an option that is not assigned, and its response an option that is not assigned, by UDP "
        "and by TCP."
    ),
    dig=(
        "dig @{server} -p {port} x.options.rig.example A +nsid +ednsopt=65001:646e73726967",
        "dig @{server} -p {port} x.options.rig.example A +nsid +ednsopt=65001:646e73726967 +tcp",
    ),
    needs=("edns",),
    faults=(
        "proxy-strips-options",
        "proxy-strips-options-of-responses",
        "proxy-drops-options",
        "proxy-strips-options-by-tcp",
        "proxy-strips-options-of-responses-by-tcp",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    options = (
        dns.edns.GenericOption(dns.edns.OptionType.NSID, b""),
        dns.edns.GenericOption(UNASSIGNED_OPTION, OPTION_OCTETS),
    )
    shown: tuple[Shown, ...] = ()
    for transport in subject.transports:
        query = Query(name=names.fresh(names.OPTIONS), rtype=RdataType.A, rd=True, options=options)
        through = compare(
            subject, query, of_query=option_differences, of_response=option_differences, transport=transport
        )
        if isinstance(through, Outcome):
            return through
        shown = shown or (through.client, *at_upstream(through.upstream))
    return passed("Options pass in both directions.", *shown)
