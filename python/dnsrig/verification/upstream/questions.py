"""The simplest question to the upstream, by which others are measured."""

from dns.rdatatype import RdataType

from dnsrig.verification.queries import Query
from dnsrig.verification.upstream import names


def plain_query() -> Query:
    """Ask for the address of a name that nobody has asked for, without EDNS."""
    return Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, payload=None)
