"""A-rare-types: types that are seldom asked for."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import rcode_text, type_text
from dnsrig.items.authoritative._with_do import by_tcp, takes_do
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
BY_TCP = tuple(
    RdataType[text]
    for text in ("PTR", "NAPTR", "SSHFP", "SMIMEA", "CDS", "CDNSKEY", "OPENPGPKEY", "CSYNC", "URI", "DS", "DNSKEY")
)
"""Those of them that are in use most."""
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
        "NSEC3, which a server may refuse: without EDNS, and but for the last three with DO where the SOA record and a "
        f"denial come so; {len(BY_TCP)} of them with DO by one TCP connection too. What a parent zone on the same "
        "server says of DS is left aside."
    ),
    dig=(
        "dig @{server} -p {port} {host} SSHFP +norec +noedns   # and the other types",
        "dig @{server} -p {port} {host} SSHFP +norec +dnssec",
        "dig @{server} -p {port} {host} SSHFP +norec +dnssec +tcp",
    ),
    needs=("zone",),
    faults=(
        "drops-rare-types",
        "servfail-to-uri",
        "drops-nsec-queries",
        "trailing-octets",
        "forward-pointer",
        "two-opts",
        "nxdomain-for-nodata",
        "drops-rare-types-with-do",
        "drops-rare-types-with-edns-by-tcp",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for all soon after one another, and again for what was not answered; then with DO, a few by TCP."""
    host = subject.landmarks.host
    name = subject.origin if host is None else host.name
    queries = [Query(name=name, rtype=rtype, payload=None) for rtype in (*TYPES, *PROOFS)]
    if takes_do(subject):
        queries += [Query(name=name, rtype=rtype, do=True) for rtype in TYPES]
    answered: list[Exchange] = []
    for exchange in subject.asker.udp_in_a_row(queries, GAP_S, WAIT_S):
        looked_at = exchange
        if exchange.response is None:
            looked_at = subject.asker.udp(exchange.query)
        if looked_at.is_truncated and looked_at.query.do:
            # It is answered; that it comes whole is the matter of others.
            continue
        if looked_at.is_truncated and looked_at.message is None:
            # What is cut badly is the matter of A-truncated.
            looked_at = subject.asker.tcp(exchange.query)
        wrong = _wrong(subject, looked_at)
        if wrong is not None:
            return wrong
        answered.append(looked_at)
    found = by_tcp(subject, [Query(name=name, rtype=rtype, do=True) for rtype in BY_TCP])
    if isinstance(found, Outcome):
        return found
    wrong = next((said for one in found if (said := _wrong(subject, one)) is not None), None)
    kinds = {exchange.query.rtype for exchange in answered}
    return wrong or passed(f"Queries for {len(kinds)} types are answered.", *answered[:1])


def _wrong(subject: AuthoritativeSubject, exchange: Exchange) -> Outcome | None:
    """Judge a response; None if it is right."""
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.rcode == dns.rcode.NOERROR or _may_be_otherwise(subject, exchange):
        return None
    asked = f"{type_text(exchange.query.rtype)}{' with DO' if exchange.query.do else ''} at {exchange.query.name}"
    return failed(f"The response code for {asked} is {rcode_text(exchange)}, not NOERROR.", exchange)


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
