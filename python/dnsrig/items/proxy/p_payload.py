"""P-payload: the client's UDP payload size."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream, changed, compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

PAYLOAD = 1232
LEAST = 1220
"""What security-aware resolvers take at least (RFC 4035 section 4.1)."""
LARGER = 1500

ITEM = Item(
    id="P-payload",
    role="proxy",
    group="Size and TCP",
    requirement=(
        "The client's UDP payload size comes to the upstream without being cut below 1220 octets, and the client gets "
        "no longer responses by UDP than it says."
    ),
    references=("RFC 6891 section 6.2.3", "RFC 6891 section 6.2.5", "RFC 5625 section 4.4.2", "RFC 4035 section 4.1"),
    severity=Severity.WARNING,
    consequence=(
        "Every signed response takes a second query by TCP, or arrives in fragments, or longer than the client takes."
    ),
    procedure=(
        "A query has a payload size of 1232; the upstream sees at least 1220. A response of 1500 octets is asked for "
        "with the same payload size; by UDP it comes truncated."
    ),
    dig=(
        "dig @{server} -p {port} x.plain.rig.example A +bufsize=1232",
        "dig @{server} -p {port} x.size-1500.rig.example TXT +bufsize=1232 +ignore",
    ),
    needs=("edns",),
    faults=("proxy-lowers-payload", "proxy-raises-payload"),
)


def check(subject: ProxySubject) -> Outcome:
    """Look at what the upstream gets, and at what comes of it."""
    query = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=PAYLOAD)
    through = compare(subject, query)
    if isinstance(through, Outcome):
        return through
    asked = None if through.upstream is None else through.upstream.asked
    if asked is not None and asked.edns >= 0 and asked.payload < LEAST:
        return changed(through, [f"in the query, the payload size {PAYLOAD} becomes {asked.payload}"])
    large = subject.ask(Query(name=names.fresh(names.sized(LARGER)), rtype=RdataType.TXT, rd=True, payload=PAYLOAD))
    if large.client.response is None:
        return subject.unanswered(large)
    if large.client.octets > PAYLOAD:
        reason = f"{large.client.octets} octets come by UDP to a client that takes {PAYLOAD}."
        return failed(reason, large.client, *at_upstream(large.upstream))
    if not large.client.is_truncated:
        said = f"A response of {LARGER} octets comes as one of {large.client.octets} without TC"
        return inconclusive(f"{said}; P-3 and P-tc are about that.", large.client)
    return passed("The upstream gets a payload size that is large enough, and the client no more than it takes.")
