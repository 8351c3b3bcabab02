"""A-names: names of any form."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items._odd_names import ODD_OCTETS, odd_names
from dnsrig.items.authoritative._probes import rcode_text
from dnsrig.verification.asker import LONGEST_NAME
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ROOM = 100
"""Octets that must be left below the apex for names to differ from usual ones."""
RIGHT_CODES = {dns.rcode.NOERROR, dns.rcode.NXDOMAIN, dns.rcode.YXDOMAIN}
"""YXDOMAIN where a DNAME record makes the name too long (RFC 6672 section 2.2)."""
ITEM = Item(
    id="A-names",
    role="authoritative",
    group="Robustness",
    requirement="Names of any form are answered: of 255 octets, of many labels, with underscores and with any octets.",
    references=("RFC 2181 section 11", "RFC 1035 section 3.1", "RFC 8552 section 1"),
    severity=Severity.ERROR,
    consequence=(
        "Certificates, mail policies and services, whose names begin with underscores, do not resolve; who asks for odd"
        " names makes resolvers take the server to be dead."
    ),
    procedure=(
        "Names below the apex that do not exist are asked for: with underscores, with a label of 63 octets, of 255 "
        "octets, and of many labels: the responses are NXDOMAIN, NOERROR or YXDOMAIN. To one with octets that "
        "no host name has there is a response, of whatever code."
    ),
    dig=(
        "dig @{server} -p {port} _25._tcp.absent.{zone} TLSA +norec +noedns",
        "dig @{server} -p {port} '\\000\\032\\233.{zone}' A +norec +noedns",
    ),
    needs=("zone",),
    faults=("drops-long-names", "drops-odd-names", "servfail-to-underscores", "drops-many-labels"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for each."""
    if LONGEST_NAME - len(subject.origin.to_wire() or b"") < ROOM:
        return not_applicable(f"The zone's name {subject.origin} leaves too little room for such names.")
    exchanges = []
    for name in odd_names(subject.origin):
        exchange = subject.asker.ask(Query(name=name, rtype=RdataType.A, payload=None))
        if exchange.message is None:
            return subject.unanswered(exchange)
        # Servers may refuse octets that no host name has, as PowerDNS does (8bit-dns), but not be silent.
        is_odd = ODD_OCTETS in name.labels
        if not is_odd and exchange.rcode not in RIGHT_CODES:
            return failed(f"The response code to {exchange.title} is {rcode_text(exchange)}.", exchange)
        exchanges.append(exchange)
    return passed(f"{len(exchanges)} names of unusual form are answered.", *exchanges[:2])
