"""Names below which the rig's upstream answers as a resolver would: the second label says what is to be answered.

So `dnsrig-1f.size-1220.rig.example.` has a response of 1220 octets, for whichever first label.
"""

import dns.name

from dnsrig.verification.asker import random_label

ORIGIN = dns.name.from_text("rig.example.")
"""The signed zone that the upstream answers from; RFC 6761 section 6.5 keeps the name free."""
UNSIGNED = dns.name.from_text("unsigned.example.")
"""A zone beside it that is not signed, whose names say the same."""
PLAIN = "plain"
"""One record of the type that is asked for."""
ABSENT = "absent"
"""NXDOMAIN, with SOA and, with DO, NSEC records."""
EMPTY = "empty"
"""NOERROR without the type, with SOA and, with DO, NSEC records."""
ALIAS = "alias"
"""A CNAME record and what it points to."""
SECTIONS = "sections"
"""A record with NS records in the authority section and their addresses in the additional one."""
SERVFAIL = "servfail"
REFUSED = "refused"
EXPLAINED = "explained"
"""SERVFAIL with an extended DNS error (RFC 8914)."""
BOGUS = "bogus"
"""SERVFAIL, as from a validator; with CD the records."""
OPTIONS = "options"
"""The response's OPT has an option that is not assigned."""
PRIVATE = "private"
"""Addresses for private use (RFC 1918, RFC 4193) and of loopback."""
TRUNCATED = "truncated"
"""Always truncated by UDP, with some of the records."""
CASE = "case"
"""Owner names come back in upper case, whatever the question's."""
MANY = "many"
"""More addresses than a small table has room for."""
CHAIN = "chain"
"""Three CNAME records, one after the other, and what the last points to."""
FORGED_ID = "forged-id"
"""The response comes after a forged one with another ID; as below, by UDP."""
FORGED_QUESTION = "forged-question"
"""The response comes after a forged one with another question."""
FORGED_SOURCE = "forged-source"
"""The response comes after a forged one from another port."""
FORGED_HOST = "forged-host"
"""The response comes after a forged one from another address and the right port, where this machine can send one."""
FORGED = frozenset({FORGED_ID, FORGED_QUESTION, FORGED_SOURCE, FORGED_HOST})
"""All that have a forged response before theirs."""
SUBNET = "subnet"
"""The address depends on the client subnet of the query (RFC 7871), and the response says so."""
PIECES = "pieces"
"""By TCP the response comes in three segments, the first of which has half of its length."""
ADDRESS = "address"
"""An IPv4 address, and records of no other type."""
LATE = "late"
"""By UDP the response comes after some milliseconds."""
GARBLED = "garbled"
"""By UDP the response is a message that cannot be parsed, of a kind (`garbling.KINDS`)."""
TTL_S = 300


def sized(octets: int) -> str:
    """Give the label of a response of so many octets."""
    return f"size-{octets}"


def living(ttl_s: int) -> str:
    """Give the label of a record with this TTL."""
    return f"ttl-{ttl_s}"


def absent_for(ttl_s: int) -> str:
    """Give the label of NXDOMAIN that may be kept for so long (RFC 2308 section 5)."""
    return f"{ABSENT}-{ttl_s}"


def empty_for(ttl_s: int) -> str:
    """Give the label of a name without the type, whose denial may be kept for so long."""
    return f"{EMPTY}-{ttl_s}"


def late_by(milliseconds: int) -> str:
    """Give the label of a record that comes so much later by UDP."""
    return f"{LATE}-{milliseconds}"


def garbled(kind: int) -> str:
    """Give the label of a response that cannot be parsed, by the place of its kind."""
    return f"{GARBLED}-{kind}"


def fresh(what: str, zone: dns.name.Name = ORIGIN) -> dns.name.Name:
    """Make a name that nobody has asked for, in one of the two zones."""
    return dns.name.from_text(f"{random_label()}.{what}", zone)


def zone_of(name: dns.name.Name) -> dns.name.Name:
    """Give the zone that a name is answered from."""
    return UNSIGNED if name.is_subdomain(UNSIGNED) else ORIGIN


def said(name: dns.name.Name) -> tuple[str, int]:
    """Read what a name is to be answered with, and the number behind it; PLAIN where it says nothing."""
    zone = zone_of(name)
    if not name.is_subdomain(zone) or len(name.labels) < len(zone.labels) + 2:
        return PLAIN, 0
    label = name.labels[-len(zone.labels) - 1].decode("ascii", "replace").lower()
    word, _, number = label.partition("-")
    if number and not (number.isascii() and number.isdigit()):
        return label, 0
    return word, int(number or 0)
