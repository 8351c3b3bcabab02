"""A-rare-types: types that are seldom asked for."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import rcode_text, type_text
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

TYPES = tuple(
    RdataType[text]
    for text in (
        *("PTR", "HINFO", "RP", "AFSDB", "LOC", "NAPTR", "CERT", "DNAME", "SSHFP", "SMIMEA", "HIP", "CDS", "CDNSKEY"),
        *("OPENPGPKEY", "CSYNC", "ZONEMD", "SPF", "NID", "L64", "EUI48", "URI", "NULL", "DS", "DNSKEY", "NSEC3PARAM"),
        *("CNAME", "NS", "SOA"),
    )
)
PROOFS = (RdataType.RRSIG, RdataType.NSEC, RdataType.NSEC3)
"""Servers may refuse to give these alone (RFC 8482 section 7), but not be silent."""
GAP_S, WAIT_S = 0.01, 1.0
ITEM = Item(
    id="A-rare-types",
    role="authoritative",
    group="Answers",
    requirement="Queries for all types are answered at a name that exists, with NOERROR whether it has them or not.",
    references=("RFC 8906 section 2", "RFC 3597 section 3", "RFC 2308 section 2.2", "RFC 4035 section 3.1"),
    severity=Severity.ERROR,
    consequence=(
        "Who asks for such a type waits; resolvers count the server as dead meanwhile, for types in wide use too."
    ),
    procedure=(
        f"{len(TYPES)} types that are not in wide use are asked for at a host, or at the apex, and RRSIG, NSEC and "
        "NSEC3, which a server may refuse. What a parent zone on the same server says of DS is left aside."
    ),
    dig=("dig @{server} -p {port} {host} SSHFP +norec +noedns   # and the other types",),
    needs=("zone",),
    faults=(
        "drops-rare-types",
        "servfail-to-uri",
        "drops-nsec-queries",
        "trailing-octets",
        "forward-pointer",
        "nxdomain-for-nodata",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for all soon after one another, and again for what was not answered."""
    host = subject.landmarks.host
    name = subject.origin if host is None else host.name
    queries = [Query(name=name, rtype=rtype, payload=None) for rtype in (*TYPES, *PROOFS)]
    answered: list[Exchange] = []
    for exchange in subject.asker.udp_in_a_row(queries, GAP_S, WAIT_S):
        looked_at = exchange
        if exchange.response is None:
            looked_at = subject.asker.udp(exchange.query)
        if looked_at.is_truncated and looked_at.message is None:
            # What is cut badly is the matter of A-truncated.
            looked_at = subject.asker.tcp(exchange.query)
        if looked_at.message is None:
            return subject.unanswered(looked_at)
        if looked_at.rcode != dns.rcode.NOERROR and not _may_be_otherwise(subject, looked_at):
            said = f"{type_text(looked_at.query.rtype)} at {name} is {rcode_text(looked_at)}"
            return failed(f"The response code for {said}, not NOERROR.", looked_at)
        answered.append(looked_at)
    return passed(f"Queries for {len(answered)} types are answered.", *answered[:1])


def _may_be_otherwise(subject: AuthoritativeSubject, exchange: Exchange) -> bool:
    """Say whether the code need not be NOERROR: proofs may be refused, and DS at the apex is the parent zone's.

    Where the server has the parent zone too, and this zone is not delegated there, that zone denies the name.
    """
    query, message = exchange.query, exchange.message
    if query.rtype in PROOFS:
        return True
    if query.rtype != RdataType.DS or query.name != subject.origin or message is None:
        return False
    soas = [rrset.name for rrset in message.authority if rrset.rdtype == RdataType.SOA]
    return exchange.rcode == dns.rcode.NXDOMAIN and any(
        query.name.is_subdomain(name) and query.name != name for name in soas
    )
