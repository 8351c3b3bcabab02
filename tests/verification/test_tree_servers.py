"""What servers of the tree do wrong on purpose: cookies, empty non-terminals, denials for all, going down."""

from pathlib import Path
from types import SimpleNamespace

import dns.edns
import dns.message
import dns.name
import dns.rcode
import pytest
from dns.rdatatype import RdataType
from dnsrig.verification.tree import zones_down
from dnsrig.verification.tree.serve import TreeServer
from dnsrig.verification.tree.zones_cookies import CLIENT_OCTETS, DEMANDED, FORGED, WITH_COOKIES, cookie_of, put_cookie
from dnsrig.verification.tree.zones_down import DOWN_AFTER_S, GOES_DOWN
from dnsrig.verification.tree.zones_empty_names import DENIES_EMPTY, FEW, REFUSES_EMPTY
from dnsrig.verification.tree.zones_spoofing import FORGED_HOST
from dnsrig.verification.tree.zones_unproven import UNPROVEN
from trees import Trees

CLIENT = ("127.0.0.1", 1)
COOKIE = b"dnsrig-c"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, trees: Trees) -> TreeServer:
    folder: Path = tmp_path_factory.mktemp("tree")
    return TreeServer(trees.copy_to(folder))


def responses(
    server: TreeServer, name: str, cookie: bytes = b"", *, index: int = 2, do: bool = False
) -> list[dns.message.Message]:
    query = dns.message.make_query(name, "A", want_dnssec=do, use_edns=0)
    if cookie:
        put_cookie(query, cookie)
    return [dns.message.from_wire(wire) for wire in server.respond(query.to_wire(), "udp", index, CLIENT).messages]


def test_a_server_wants_its_cookie_of_those_that_send_one(server: TreeServer) -> None:
    name = f"any.fresh.{DEMANDED}"
    (without,) = responses(server, name, index=WITH_COOKIES)
    assert without.answer
    assert not cookie_of(without)
    (first,) = responses(server, name, COOKIE, index=WITH_COOKIES)
    assert first.rcode() == dns.rcode.BADCOOKIE
    assert not first.answer
    assert len(cookie_of(first)) == 2 * CLIENT_OCTETS
    (second,) = responses(server, name, cookie_of(first), index=WITH_COOKIES)
    assert second.rcode() == dns.rcode.NOERROR
    assert second.answer


def test_forged_responses_have_another_client_cookie(server: TreeServer) -> None:
    name = f"any.fresh.{FORGED}"
    forged, right = responses(server, name, COOKIE, index=WITH_COOKIES)
    assert str(forged.answer[0][0]) == FORGED_HOST
    assert not cookie_of(forged).startswith(COOKIE)
    assert cookie_of(right).startswith(COOKIE)
    assert str(right.answer[0][0]) != FORGED_HOST
    assert len(responses(server, name, index=WITH_COOKIES)) == 1


@pytest.mark.parametrize(("zone", "rcode"), [(DENIES_EMPTY, dns.rcode.NXDOMAIN), (REFUSES_EMPTY, dns.rcode.REFUSED)])
def test_empty_names_alone_are_denied(server: TreeServer, zone: str, rcode: dns.rcode.Rcode) -> None:
    (empty,) = responses(server, f"{FEW}.{zone}")
    (apex,) = responses(server, zone)
    (name,) = responses(server, f"any.fresh.{FEW}.{zone}")
    assert (empty.rcode(), apex.rcode(), name.rcode()) == (rcode, dns.rcode.NOERROR, dns.rcode.NOERROR)
    assert name.answer


@pytest.mark.parametrize("zone", UNPROVEN)
def test_a_record_denies_all_names_but_those_asked_for_plainly(server: TreeServer, zone: str) -> None:
    (there,) = responses(server, f"any.{zone}", do=True)
    assert there.rcode() == dns.rcode.NOERROR
    proof = RdataType.NSEC3 if zone.endswith("nsec3.") else RdataType.NSEC
    for kind, is_signed in (("unsigned", False), ("signed", True)):
        (forged,) = responses(server, f"{kind}-any.{zone}", do=True)
        assert forged.rcode() == dns.rcode.NXDOMAIN
        (record,) = [one for one in forged.authority if one.rdtype == proof]
        assert any(one.covers == proof for one in forged.authority) == is_signed
        if proof == RdataType.NSEC:
            assert record[0].next == record.name == dns.name.from_text(zone)


def test_a_server_goes_down_after_a_while(server: TreeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 1000.0
    monkeypatch.setattr(zones_down, "time", SimpleNamespace(monotonic=lambda: now_s))
    name = f"any.fresh.{GOES_DOWN}"
    assert responses(server, name)[0].answer
    now_s += DOWN_AFTER_S / 2
    assert responses(server, name)[0].answer
    now_s += DOWN_AFTER_S
    (failing,) = responses(server, name)
    assert failing.rcode() == dns.rcode.SERVFAIL
    assert not failing.answer
    assert responses(server, f"other.fresh.{GOES_DOWN}")[0].answer
