"""The upstream of the roles proxy and path answers what names say, and differences are told from what is none."""

import dns.dnssec
import dns.exception
import dns.flags
import dns.message
import dns.rcode
import pytest
from dns.rdatatype import RdataType
from dnsrig.verification import transparency
from dnsrig.verification.denial import denial_records
from dnsrig.verification.queries import Query
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.garbling import KINDS, garble
from dnsrig.verification.upstream.server import Endpoint, Upstream
from hypothesis import given
from hypothesis import strategies as st

SOURCE = Endpoint("127.0.0.1", 5300)
UPSTREAM = Upstream()


def respond(query: Query, transport: str = "udp") -> dns.message.Message:
    wire = UPSTREAM.respond(query.wire(7), "tcp" if transport == "tcp" else "udp", SOURCE)
    assert wire is not None
    return dns.message.from_wire(wire)


@given(st.integers(520, 65_000), st.booleans())
def test_sizes_are_exact(octets: int, do: bool) -> None:
    query = Query(name=names.fresh(names.sized(octets)), rtype=RdataType.TXT, rd=True, do=do)
    wire = UPSTREAM.respond(query.wire(7), "tcp", SOURCE)
    assert wire is not None
    assert len(wire) == octets
    dns.message.from_wire(wire)


@pytest.mark.parametrize("what", [names.PLAIN, names.ABSENT, names.EMPTY, names.ALIAS, names.SECTIONS])
def test_all_rrsets_validate(what: str) -> None:
    response = respond(Query(name=names.fresh(what), rtype=RdataType.A, rd=True, do=True))
    rrsets = [*response.answer, *response.authority, *response.additional]
    signed = [rrset for rrset in rrsets if rrset.rdtype != RdataType.RRSIG]
    assert signed
    for rrset in signed:
        rrsig = next(one for one in rrsets if one.covers == rrset.rdtype and one.name == rrset.name)
        dns.dnssec.validate(rrset, rrsig, {names.ORIGIN: UPSTREAM.signer.keys})


@pytest.mark.parametrize("label", ["dnsrig-0", "www.dnsrig-0", "x" * 63, "*"])
@pytest.mark.parametrize("what", [names.ABSENT, names.EMPTY])
def test_denials_are_proven(what: str, label: str) -> None:
    name = dns.name.from_text(f"{label}.{what}", names.ORIGIN)
    response = respond(Query(name=name, rtype=RdataType.A, rd=True, do=True))
    records = denial_records(response.authority, names.ORIGIN)
    assert records is not None
    is_absent = what == names.ABSENT
    assert response.rcode() == (dns.rcode.NXDOMAIN if is_absent else dns.rcode.NOERROR)
    assert (records.no_name(name).problem == "") is is_absent
    assert (records.no_data(name, RdataType.A).problem == "") is not is_absent


@pytest.mark.parametrize("do", [False, True])
def test_signatures_are_given_to_who_asks_for_them(do: bool) -> None:
    asked = Query(name=names.fresh(names.PLAIN), rtype=RdataType.RRSIG, rd=True, do=do)
    assert {rrset.covers for rrset in respond(asked).answer} == {RdataType.A, RdataType.TXT}
    unsigned = Query(name=names.fresh(names.PLAIN, names.UNSIGNED), rtype=RdataType.RRSIG, rd=True, do=do)
    assert not respond(unsigned).answer and respond(unsigned).authority


def test_truncates_to_the_payload_size() -> None:
    query = Query(name=names.fresh(names.sized(2000)), rtype=RdataType.TXT, rd=True, payload=None)
    assert respond(query).flags & dns.flags.TC
    assert not respond(query, "tcp").flags & dns.flags.TC


def test_bogus_with_cd_alone() -> None:
    name = names.fresh(names.BOGUS)
    assert respond(Query(name=name, rtype=RdataType.A, rd=True)).rcode() == dns.rcode.SERVFAIL
    assert respond(Query(name=name, rtype=RdataType.A, rd=True, cd=True)).answer
    assert [one.asked.flags & dns.flags.CD for one in UPSTREAM.seen(name)] == [0, dns.flags.CD]


@pytest.mark.parametrize("kind", range(len(KINDS)), ids=list(KINDS))
def test_garbled_responses_cannot_be_parsed(kind: int) -> None:
    query = Query(name=names.fresh(names.garbled(kind)), rtype=RdataType.A, rd=True, payload=None).wire(7)
    response = UPSTREAM.respond(query, "udp", SOURCE)
    assert response is not None and dns.message.from_wire(response).answer
    garbled = garble(response, kind)
    assert garbled[:2] in {b"", query[:2]}
    with pytest.raises((dns.exception.DNSException, ValueError)):
        dns.message.from_wire(garbled)


@given(st.binary(max_size=80))
def test_garbage_raises_nothing(wire: bytes) -> None:
    UPSTREAM.respond(wire, "udp", SOURCE)


def test_same_message_has_no_differences() -> None:
    response = respond(Query(name=names.fresh(names.SECTIONS), rtype=RdataType.A, rd=True, do=True))
    again = dns.message.from_wire(response.to_wire())
    assert not transparency.flag_differences(response, again, transparency.HEADER_FLAGS)
    assert not transparency.edns_differences(response, again)
    assert not any(transparency.section_differences(response, again, section) for section in transparency.SECTIONS)
    again.answer[0].ttl -= 1
    assert not transparency.raised_ttls(response, again)
    again.answer[0].ttl += 2
    assert transparency.raised_ttls(response, again)
