"""Parts that faults are made of: dropping, refusing and changing messages by what they are."""

from collections.abc import Callable, Sequence

import dns.flags
import dns.message
import dns.rcode
import dns.rdata
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.fault import Change, Passage, unchanged_if_unreadable, wire_of

Test = Callable[[dns.message.Message], bool]


def dropping(is_meant: Test) -> Change:
    """Drop such queries."""

    def change(passage: Passage) -> bytes | None:
        return None if is_meant(passage.asked) else passage.query

    return unchanged_if_unreadable(change)


def dropping_by_tcp(is_meant: Test) -> Change:
    """Drop such queries that come by TCP."""
    drop = dropping(is_meant)
    return lambda passage: drop(passage) if passage.transport == "tcp" else passage.query


def refusing(is_meant: Test, rcode: dns.rcode.Rcode) -> Change:
    """Answer such queries with a response code and nothing else, whatever the server that is right says."""

    def change(passage: Passage) -> bytes:
        query = passage.asked
        return error(query, rcode) if is_meant(query) else passage.response

    return unchanged_if_unreadable(change)


def changing(change_message: Callable[[dns.message.Message], None], is_meant: Test = lambda _: True) -> Change:
    """Change responses to such queries in place."""

    def change(passage: Passage) -> bytes:
        if not is_meant(passage.asked):
            return passage.response
        answer = passage.answer
        change_message(answer)
        return wire_of(answer)

    return unchanged_if_unreadable(change)


def changing_by_tcp(change_message: Callable[[dns.message.Message], None], is_meant: Test = lambda _: True) -> Change:
    """Change responses by TCP to such queries in place."""
    change = changing(change_message, is_meant)
    return lambda passage: change(passage) if passage.transport == "tcp" else passage.response


def changing_denials(change_message: Callable[[dns.message.Message], None]) -> Change:
    """Change responses in place that deny a name or a type."""

    def change(passage: Passage) -> bytes:
        answer = passage.answer
        if not is_denial(answer):
            return passage.response
        change_message(answer)
        return wire_of(answer)

    return unchanged_if_unreadable(change)


def clear_do(message: dns.message.Message) -> None:
    """Clear DO of a message."""
    message.ednsflags &= ~int(dns.flags.DO)


def asking(change_message: Callable[[dns.message.Message], None], is_meant: Test = lambda _: True) -> Change:
    """Change such queries in place."""

    def change(passage: Passage) -> bytes:
        query = passage.asked
        if not is_meant(query):
            return passage.query
        change_message(query)
        return wire_of(query)

    return unchanged_if_unreadable(change)


def asking_by_tcp(change_message: Callable[[dns.message.Message], None]) -> Change:
    """Change queries by TCP in place."""
    change = asking(change_message)
    return lambda passage: change(passage) if passage.transport == "tcp" else passage.query


def has_edns(message: dns.message.Message) -> bool:
    """Whether a message has an OPT record."""
    return message.edns >= 0


def error(query: dns.message.Message, rcode: dns.rcode.Rcode) -> bytes:
    """Make a response without records; with EDNS if the query has."""
    refusal = dns.message.make_response(query)
    refusal.set_rcode(rcode)
    return wire_of(refusal)


def replace_rdatas(rrset: dns.rrset.RRset, rdatas: Sequence[dns.rdata.Rdata]) -> None:
    """Give an RRset other data in place; its owner, type and TTL stay."""
    rrset.items.clear()
    for rdata in rdatas:
        rrset.add(rdata, rrset.ttl)


def of_type(section: list[dns.rrset.RRset], *types: RdataType) -> list[dns.rrset.RRset]:
    """Give the RRsets of some types."""
    return [rrset for rrset in section if rrset.rdtype in types]


def without_types(section: list[dns.rrset.RRset], *types: RdataType) -> list[dns.rrset.RRset]:
    """Give the RRsets of other types."""
    return [rrset for rrset in section if rrset.rdtype not in types]


def is_referral(message: dns.message.Message) -> bool:
    """Whether a response of a server that is right is a referral: NS records, and no AA."""
    has_ns = bool(of_type(message.authority, RdataType.NS))
    return has_ns and not message.answer and not message.flags & dns.flags.AA


def is_denial(message: dns.message.Message) -> bool:
    """Whether a response of a server that is right denies the name or the type."""
    return not message.answer and bool(of_type(message.authority, RdataType.SOA))


def move_aliases(message: dns.message.Message) -> None:
    """Put the aliases of an answer behind what they lead to."""
    aliases = [rrset for rrset in message.answer if RdataType.CNAME in {rrset.rdtype, rrset.covers}]
    message.answer = [rrset for rrset in message.answer if rrset not in aliases] + aliases
