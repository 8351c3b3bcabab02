"""A-recursion: open resolvers."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import rcode_text, resolves_names, serves_zone
from dnsrig.verification.asker import random_label
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, not_applicable, passed

ITEM = Item(
    id="A-recursion",
    role="authoritative",
    group="Other zones",
    requirement="A query with RD for a name of another zone is not resolved.",
    references=("RFC 5358 section 4", "RFC 1034 section 4.3.1"),
    severity=Severity.CRITICAL,
    consequence=(
        "Anyone can use the server to amplify attacks, and to poison a cache that answers for the zone as well."
    ),
    procedure=(
        "A name in a top-level domain that does not exist is asked for with RD; the response has no answer, and is no "
        "denial. The host that asks should be one that the server does not know: at an address of this host, or a "
        "private one, a server that offers recursion (RA) may do so for this host alone. Where the server has the root "
        "zone, every name is its own."
    ),
    dig=("dig @{server} -p {port} www.dnsrig-0 A +rec +noedns",),
    faults=("recurses", "denies-outside"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a name that the root denies."""
    if subject.origin == dns.name.root or serves_zone(subject, dns.name.root):
        return not_applicable("The server has the root zone, which every name is within.")
    # Not below invalid., which RFC 6761 section 6.4 has servers deny by themselves.
    name = dns.name.from_text(f"www.{random_label()}.")
    exchange = subject.asker.udp(Query(name=name, rtype=RdataType.A, rd=True, payload=None))
    if exchange.response is None and not subject.silence():
        return passed("The query is not answered, while others are.", exchange)
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.message.answer:
        return resolves_names(subject, exchange, "The response has an answer: the server resolves names for anyone.")
    if exchange.rcode == dns.rcode.NXDOMAIN:
        denied = "The response is NXDOMAIN: the server resolved the name, or claims to know it."
        return resolves_names(subject, exchange, denied)
    return passed(f"The response code is {rcode_text(exchange)}, and there is no answer.", exchange)
