"""A-outside: names of other zones."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import LIMITED, is_limited, rcode_text, resolves_names, serves_zone
from dnsrig.verification.asker import random_label
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, inconclusive, not_applicable, passed

REFUSALS = {dns.rcode.REFUSED, dns.rcode.NOTAUTH, dns.rcode.SERVFAIL}
"""SERVFAIL is what older servers gave, and RFC 8906 section 8.1.1 knows it."""
ITEM = Item(
    id="A-outside",
    role="authoritative",
    group="Other zones",
    requirement="A query for a name outside of the server's zones is refused.",
    references=("RFC 1035 section 4.1.1", "RFC 8906 section 8.1.1", "RFC 9499 section 7"),
    severity=Severity.WARNING,
    consequence=(
        "Referrals to the root amplify forged queries, and denials of others' names are taken for true by some "
        "resolvers."
    ),
    procedure=(
        "A name in a top-level domain that does not exist is asked for without RD; the response is REFUSED, or another "
        "error without records. Where the server has the root zone, every name is its own. A server at an address of "
        "this host, or a private one, that offers recursion (RA) may do so for this host alone."
    ),
    dig=("dig @{server} -p {port} www.dnsrig-0 A +norec +noedns",),
    faults=("recurses", "refers-upward", "denies-outside", "drops-outside", "lame-upward"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a name that no zone but the root has an ancestor of."""
    if subject.origin == dns.name.root or serves_zone(subject, dns.name.root):
        return not_applicable("The server has the root zone, which every name is within.")
    # Not below invalid., which RFC 6761 section 6.4 has servers deny by themselves.
    name = dns.name.from_text(f"www.{random_label()}.")
    exchange = subject.asker.udp(Query(name=name, rtype=RdataType.A, payload=None))
    if is_limited(exchange):
        exchange = subject.asker.tcp(exchange.query)
        if exchange.message is None or exchange.is_truncated:
            return inconclusive(LIMITED, exchange)
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.rcode in REFUSALS:
        return passed(f"The response code is {rcode_text(exchange)}.", exchange)
    if exchange.rcode == dns.rcode.NOERROR and exchange.message.authority and not exchange.message.answer:
        owner = exchange.message.authority[0].name
        referral = f"The response is a referral to {owner}, which the server is not authoritative for."
        return resolves_names(subject, exchange, referral)
    return resolves_names(subject, exchange, f"The response code is {rcode_text(exchange)}, not REFUSED.")
