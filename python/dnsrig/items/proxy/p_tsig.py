"""P-tsig: TSIG."""

import dns.exception
import dns.message
import dns.tsig
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream
from dnsrig.verification.item import Item
from dnsrig.verification.queries import CraftedMessage
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="P-tsig",
    role="proxy",
    group="Integrity",
    requirement="Messages with TSIG pass the proxy with their signatures intact.",
    references=("RFC 5625 section 4.5", "RFC 8945 section 5.5"),
    severity=Severity.WARNING,
    consequence="Dynamic updates, zone transfers and queries that are signed with TSIG fail behind the proxy.",
    procedure="A query with TSIG is sent; the upstream can verify it, and the client the signed response.",
    dig=("dig @{server} -p {port} x.plain.rig.example A -y hmac-sha256:dnsrig-key.:{secret}",),
    needs=("upstream",),
    faults=("proxy-strips-tsig", "proxy-adds-to-signed"),
)


def check(subject: ProxySubject) -> Outcome:
    """Sign a query, and verify what comes."""
    if subject.upstream is None:
        return inconclusive("The key is not known.")
    key = subject.upstream.tsig_key
    name = names.fresh(names.PLAIN)
    signed = dns.message.make_query(name, RdataType.A, use_edns=False)
    signed.use_tsig(key)
    wire = signed.to_wire()
    # Another ID than the signed one does no harm: TSIG keeps the original (RFC 8945 section 4.2).
    through = subject.ask(CraftedMessage(name=name, rtype=RdataType.A, rd=True, payload=None, after_id=wire[2:]))
    if through.client.response is None:
        return subject.unanswered(through)
    if through.upstream is None:
        return failed("The proxy answers without having asked its upstream.", through.client)
    at_server = _trouble(through.upstream.query, key)
    if at_server:
        return failed(f"The upstream cannot verify the query: {at_server}.", *at_upstream(through.upstream))
    at_client = _trouble(through.client.response, key, signed.mac)
    if at_client:
        return failed(f"The client cannot verify the response: {at_client}.", *at_upstream(through.upstream))
    return passed("Query and response are verified.", *at_upstream(through.upstream))


def _trouble(wire: bytes, key: dns.tsig.Key, request_mac: bytes | None = b"") -> str:
    """Verify a message; say why it cannot be."""
    try:
        message = dns.message.from_wire(wire, keyring=key, request_mac=request_mac or b"")
    except (dns.exception.DNSException, ValueError) as error:
        # dnspython breaks its lines, and ends them as sentences.
        return " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return "" if message.had_tsig else "it has no TSIG"
