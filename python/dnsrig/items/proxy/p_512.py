"""P-512: clients without EDNS."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

OCTETS = 1200
LIMIT = 512

ITEM = Item(
    id="P-512",
    role="proxy",
    group="Size and TCP",
    requirement="Clients without EDNS get no more than 512 octets by UDP, and TC where there is more.",
    references=("RFC 1035 section 4.2.1", "RFC 6891 section 6.2.5", "RFC 2181 section 9"),
    severity=Severity.WARNING,
    consequence="Old clients cut what is longer than their buffer, or crash, instead of asking by TCP.",
    procedure=(
        "A response of 1200 octets is asked for by UDP without EDNS; another one by TCP at first, from where it may "
        "be in the proxy's cache."
    ),
    dig=("dig @{server} -p {port} x.size-1200.rig.example TXT +noedns +ignore",),
    needs=("upstream",),
    faults=("proxy-ignores-512", "proxy-cache-ignores-transport"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask by UDP, and by TCP and then UDP."""
    queries = [
        Query(name=names.fresh(names.sized(OCTETS)), rtype=RdataType.TXT, rd=True, payload=None) for _ in range(2)
    ]
    found = _judge(subject, subject.ask(queries[0]))
    if found is not None:
        return found
    if subject.has_tcp:
        subject.ask(queries[1], "tcp")
        found = _judge(subject, subject.ask(queries[1]))
    return found or passed(f"{OCTETS} octets are truncated to {LIMIT} or less, with TC.")


def _judge(subject: ProxySubject, through: Through) -> Outcome | None:
    client = through.client
    if client.response is None:
        return subject.unanswered(through)
    if client.octets > LIMIT:
        reason = f"{client.octets} octets come by UDP to a client without EDNS, which takes {LIMIT}."
        return failed(reason, client, *at_upstream(through.upstream))
    if not client.is_truncated and client.rcode not in {None, dns.rcode.NOERROR}:
        rcode = dns.rcode.to_text(client.rcode or dns.rcode.NOERROR)
        return inconclusive(f"The response is {rcode}, whose size tells nothing; P-unchanged is about that.", client)
    if not client.is_truncated:
        return inconclusive("The response is short, and not for truncation; P-tc is about TC.", client)
    return None
