"""Faults of authoritative servers that show with some types alone, asked for with EDNS or DO, or at absent names."""

import dns.message
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import Test, dropping, dropping_by_tcp, error
from dnsrig.verification.faults.dnssec import AUTHORITATIVE, asks_for, has_do
from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable
from dnsrig.verification.landmarks import UNUSED_TYPE

NEWER_TYPES = (RdataType.CAA, RdataType.TLSA, RdataType.SVCB, RdataType.HTTPS)
RARE_TYPES = (RdataType.SSHFP, RdataType.URI, RdataType.OPENPGPKEY)
OTHER_TYPES = (RdataType.AAAA, RdataType.MX, RdataType.TXT)


def _with_edns(*types: RdataType) -> Test:
    return lambda query: query.edns >= 0 and asks_for(query, *types)


def _is_of_unknown_type(query: dns.message.Message) -> bool:
    return query.edns >= 0 and bool(query.question) and query.question[0].rdtype >= UNUSED_TYPE


def _at_absent_names(is_meant: Test, *, drops: bool = False) -> Change:
    """Answer such queries for other types than A at names that do not exist with SERVFAIL, or drop them."""

    def change(passage: Passage) -> bytes | None:
        query = passage.asked
        if not is_meant(query) or not asks_for(query, *OTHER_TYPES) or passage.answer.rcode() != dns.rcode.NXDOMAIN:
            return passage.response
        return None if drops else error(query, dns.rcode.SERVFAIL)

    return unchanged_if_unreadable(change)


def _dropping(name: str, does: str, on_query: Change) -> Fault:
    return Fault(name=name, does=does, roles=AUTHORITATIVE, on_query=on_query)


def _failing(name: str, does: str, on_response: Change) -> Fault:
    return Fault(name=name, does=does, roles=AUTHORITATIVE, on_response=on_response)


FAULTS = (
    _dropping(
        "drops-aaaa-with-do",
        "drops queries for AAAA with DO",
        dropping(lambda query: has_do(query) and asks_for(query, RdataType.AAAA)),
    ),
    _dropping(
        "drops-newer-types-with-edns",
        "drops queries for CAA, TLSA, SVCB and HTTPS with EDNS",
        dropping(_with_edns(*NEWER_TYPES)),
    ),
    _dropping(
        "drops-newer-types-with-edns-by-tcp",
        "drops queries for CAA, TLSA, SVCB and HTTPS with EDNS by TCP",
        dropping_by_tcp(_with_edns(*NEWER_TYPES)),
    ),
    _dropping(
        "drops-rare-types-with-do",
        "drops queries for SSHFP, URI and OPENPGPKEY with DO",
        dropping(lambda query: has_do(query) and asks_for(query, *RARE_TYPES)),
    ),
    _dropping(
        "drops-rare-types-with-edns-by-tcp",
        "drops queries for SSHFP, URI and OPENPGPKEY with EDNS by TCP",
        dropping_by_tcp(_with_edns(*RARE_TYPES)),
    ),
    _dropping(
        "drops-unknown-types-with-edns",
        "drops queries for types from 65280 on with EDNS",
        dropping(_is_of_unknown_type),
    ),
    _dropping(
        "drops-unknown-types-with-edns-by-tcp",
        "drops queries for types from 65280 on with EDNS by TCP",
        dropping_by_tcp(_is_of_unknown_type),
    ),
    _failing(
        "servfail-to-other-types-of-absent-names",
        "answers queries without EDNS for AAAA, MX and TXT at names that do not exist with SERVFAIL",
        _at_absent_names(lambda query: query.edns < 0),
    ),
    _failing(
        "servfail-to-other-types-of-absent-names-with-do",
        "answers queries with DO for AAAA, MX and TXT at names that do not exist with SERVFAIL",
        _at_absent_names(has_do),
    ),
    _failing(
        "drops-other-types-of-absent-names",
        "gives no response to queries without EDNS for AAAA, MX and TXT at names that do not exist",
        _at_absent_names(lambda query: query.edns < 0, drops=True),
    ),
)
