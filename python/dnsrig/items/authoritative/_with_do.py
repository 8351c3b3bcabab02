"""What items share that ask for types with DO too, by UDP and by TCP."""

from collections.abc import Sequence

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import edns_soa_query
from dnsrig.verification.exchange import Exchange, Transport
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome


def takes_do(subject: AuthoritativeSubject, transport: Transport = "udp") -> bool:
    """Say whether the SOA record, and a denial of an address, come with DO; where they do not, other items say so.

    A denial of a name is about the longest of all: what is silent only for its length is no matter of types.
    """

    def ask() -> bool:
        queries = edns_soa_query(subject, do=True), Query(name=subject.absent_name(), rtype=RdataType.A, do=True)
        ask_one = subject.asker.tcp if transport == "tcp" else subject.asker.udp
        return all(ask_one(query).rcode in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN} for query in queries)

    return subject.once(f"takes DO by {transport}", ask)


def by_tcp(subject: AuthoritativeSubject, queries: Sequence[Query]) -> Outcome | Sequence[Exchange]:
    """Ask by one connection; give the responses, or the failure of what is not answered while others are.

    Where DO is not taken by TCP at all, and behind a connection that ends, nothing more is asked.
    """
    if not takes_do(subject, "tcp"):
        return []
    answered: list[Exchange] = []
    for exchange in subject.asker.tcp_in_turn(queries, 0.0):
        looked_at = exchange
        if looked_at.response is None:
            silent = subject.silent_by_tcp(looked_at)
            if silent is not None:
                return silent
            # A server may close a connection after each response.
            looked_at = subject.asker.tcp(exchange.query)
        if looked_at.malformed:
            return subject.unanswered(looked_at)
        if looked_at.message is None:
            break
        answered.append(looked_at)
    return answered
