"""P-names: names of any form."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import owner_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

LONGEST_NAME = 255
"""Octets on the wire (RFC 1035 section 3.1)."""
LONGEST_LABEL = 63
MANY_LABELS = 60
UNUSUAL_LABELS = (b"my printer", rb"back\slash", b"\xc3\xa9t\xc3\xa9", b"*", b'"@$;(')

ITEM = Item(
    id="P-names",
    role="proxy",
    group="Records",
    requirement="Names of any form pass the proxy: with any octets in them, and as long as names can be.",
    references=("RFC 2181 section 11", "RFC 8552 section 1", "RFC 5625 section 3"),
    severity=Severity.ERROR,
    consequence=(
        "Mail policies, certificates and services, whose names begin with underscores, and long names such as those of "
        "reverse lookups and content networks, do not exist behind the proxy."
    ),
    procedure=(
        "Names with underscores, with labels of 63 octets, of 255 octets, of 60 labels, and with spaces, "
        "backslashes and octets beyond ASCII are asked for; those with a dot or a zero octet in a label are left alone."
    ),
    dig=(
        "dig @{server} -p {port} _25._tcp.x.plain.rig.example TXT",
        "dig @{server} -p {port} {label_63}.{label_63}.x.plain.rig.example TXT",
    ),
    needs=("upstream",),
    faults=(
        "proxy-drops-underscores",
        "proxy-drops-long-names",
        "proxy-drops-many-labels",
        "proxy-drops-binary-names",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask for each name."""
    shown: tuple[Exchange, ...] = ()
    asked = (
        dns.name.Name((b"_25", b"_tcp", *names.fresh(names.PLAIN).labels)),
        dns.name.Name((b"x" * LONGEST_LABEL, *names.fresh(names.PLAIN).labels)),
        longest(names.fresh(names.PLAIN)),
        dns.name.Name((*[b"x"] * MANY_LABELS, *names.fresh(names.PLAIN).labels)),
        *(dns.name.Name((label, *names.fresh(names.PLAIN).labels)) for label in UNUSUAL_LABELS),
    )
    for name in asked:
        query = Query(name=name, rtype=RdataType.TXT, rd=True, payload=None)
        through = compare(subject, query, of_response=owner_differences)
        if isinstance(through, Outcome):
            return through
        shown = (*shown, through.client)
    return passed("Names with underscores, long and unusual ones pass.", *shown)


def longest(name: dns.name.Name) -> dns.name.Name:
    """Put labels before a name until it has as many octets as names can have, or one less."""
    while (left := LONGEST_NAME - len(name.to_wire() or b"")) > 1:
        name = dns.name.Name((b"x" * min(left - 1, LONGEST_LABEL), *name.labels))
    return name
