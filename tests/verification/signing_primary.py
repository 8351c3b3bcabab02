"""Zone transfers signed by TSIG (RFC 8945), right ones and wrong ones, and a server of them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import dns.exception
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset
import dns.tsig
import dns.zone
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.fault import Fault, Passage
from dnsrig.verification.faults.relay import Relay

SIGNED_EACH = 3
"""One in so many messages of a transfer is signed, besides the first and the last."""
BADKEY = 17
ELSEWHERE = "elsewhere.test."
"""A zone that no server of the rig has."""
FAULTS = ("first unsigned", "last unsigned", "spoiled")


def messages_of(
    query: dns.message.Message, key: dns.tsig.Key, records: Sequence[dns.rrset.RRset], part: int, fault: str = ""
) -> Iterator[bytes]:
    """Give the messages of a transfer with `part` records each."""
    parts = [records[first : first + part] for first in range(0, len(records), part)]
    context = None
    for number, some in enumerate(parts):
        is_first, is_last = number == 0, number == len(parts) - 1
        message = dns.message.make_response(query)
        message.answer = list(some)
        is_signed = is_first or is_last or number % SIGNED_EACH == 0
        if (fault == "first unsigned" and is_first) or (fault == "last unsigned" and is_last):
            is_signed = False
        if is_signed:
            message.use_tsig(key)
            message.request_mac = query.mac
            wire = message.to_wire(max_size=65_535, multi=True, tsig_ctx=context)
            context = message.tsig_ctx
        else:
            message.tsig = None
            wire = message.to_wire(max_size=65_535)
            if context is not None:
                context.update(wire)
        yield _spoiled(wire) if fault == "spoiled" and is_last else wire


def _spoiled(wire: bytes) -> bytes:
    """Change a flag behind the signature's back."""
    return wire[:3] + bytes([wire[3] ^ 0x10]) + wire[4:]


def records_of(zone: Path, origin: dns.name.Name) -> list[dns.rrset.RRset]:
    """Give a zone's records in the order of a transfer."""
    read = dns.zone.from_file(str(zone), origin, relativize=False, check_origin=False)
    every = [
        dns.rrset.from_rdata(name, rdataset.ttl, record)
        for name, node in read.nodes.items()
        for rdataset in node.rdatasets
        for record in rdataset
    ]
    soa = next(one for one in every if one.rdtype == dns.rdatatype.SOA)
    return [soa, *(one for one in every if one is not soa), soa]


def signing_primary(upstream: Endpoint, zone: Path, origin: dns.name.Name, key: dns.tsig.Key, fault: str = "") -> Relay:
    """Put a relay before a server: it answers signed queries for a transfer, in one message, and passes on the rest.

    Besides the faults of messages it may have that of which nothing more comes: "breaks off".
    """
    records = records_of(zone, origin)
    if fault == "breaks off":
        records.pop()

    def on_query(passage: Passage) -> bytes:
        try:
            query = dns.message.from_wire(passage.query, keyring=key)
        except dns.tsig.BadKey:
            refusal = dns.message.make_response(dns.message.from_wire(passage.query, keyring=False))
            refusal.set_rcode(dns.rcode.NOTAUTH)
            refusal.use_tsig(key, tsig_error=BADKEY)
            passage.instead = refusal.to_wire()
            return passage.query
        except dns.exception.DNSException:
            return passage.query
        if query.had_tsig:
            passage.instead = next(messages_of(query, key, records, len(records), fault))
        elif query.question and query.question[0].rdtype == dns.rdatatype.AXFR:
            # The server behind refuses that.
            return dns.message.make_query(ELSEWHERE, "AXFR", id=query.id).to_wire()
        return passage.query

    return Relay(upstream, Fault(name="signs", does="signs transfers", roles=("authoritative",), on_query=on_query))
