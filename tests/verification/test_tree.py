"""The tree without resolvers: what is made, what is answered, what is seen."""

import re
import threading
from pathlib import Path

import dns.dnssec
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
import pytest
from dns.rdatatype import RdataType
from dnsrig import _core
from dnsrig.cli.zone_reading import Reading
from dnsrig.errors import EnvironmentLacksError
from dnsrig.items.catalogue import items
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.resolvers import FAULTS
from dnsrig.verification.lateness import SERVER
from dnsrig.verification.queries import Query
from dnsrig.verification.tree import making
from dnsrig.verification.tree.answering import answer
from dnsrig.verification.tree.cases import BOGUS
from dnsrig.verification.tree.making import STEPS_TO_MAKE, Tree, make_tree
from dnsrig.verification.tree.plan import PLANS
from dnsrig.verification.tree.serve import STEPS, TreeServer, prepare_tree, serve_tree
from dnsrig.verification.tree.zones_spoofing import FORGED_HOST
from free_ports import free_port
from trees import Trees


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, trees: Trees) -> Tree:
    return trees.copy_to(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def server(tree: Tree) -> TreeServer:
    return TreeServer(tree)


@pytest.fixture
def free_udp_and_tcp_port() -> int:
    """Find a port that is free on the addresses of the tree, which nobody else uses."""
    return free_port("127.53.0.1")


def ask(server: TreeServer, name: str, rtype: RdataType, *, do: bool = True) -> dns.message.Message:
    return answer(dns.message.make_query(name, rtype, want_dnssec=do), server.zones)


def types(section: list[dns.rrset.RRset]) -> list[RdataType]:
    return [rrset.rdtype for rrset in section]


def test_no_address_is_one_that_lists_of_private_ones_have(tree: Tree) -> None:
    """Unbound with the `private-address` lists in use takes those for documentation (RFC 5737, RFC 3849) out too."""
    kept_back = re.compile(r"\b(192\.0\.2|198\.51\.100|203\.0\.113)\.\d|2001:db8:", re.IGNORECASE)
    texts = {zone.plan.name: zone.path.read_text() for zone in tree.zones} | {"forged": FORGED_HOST}
    assert [name for name, text in texts.items() if kept_back.search(text)] == []


def test_names_are_unique_and_items_known() -> None:
    assert len({plan.name for plan in PLANS}) == len(PLANS)
    ids = {known.item.id for known in items("resolver")}
    assert {case.item for plan in PLANS for case in plan.cases if case.item} <= ids


def test_each_fault_is_named_by_an_item_and_each_named_fault_exists() -> None:
    named = {name for known in items("resolver") for name in known.item.faults}
    assert {fault.name for fault in FAULTS} <= named


def test_a_tree_is_made_once_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "PLANS", [plan for plan in PLANS if plan.name == "."])
    first = make_tree(tmp_path, now_s=1_700_000_000)
    path = first.zones[0].path
    made = path.stat().st_mtime_ns
    assert make_tree(tmp_path, now_s=1_700_000_000 + 3600).zones[0].path.stat().st_mtime_ns == made
    assert make_tree(tmp_path, now_s=1_700_000_000 + 90_000).made_s == 1_700_090_000
    assert [path.name for path in tmp_path.iterdir()] == [first.folder.name]


@pytest.mark.parametrize(
    "name", [".", "nsec.", "opt-out.", "secure.nsec.", "secure.nsec3.", "zone-opt-out.nsec.", "letters.nsec."]
)
def test_zones_that_are_right_verify(tree: Tree, name: str) -> None:
    zone = next(zone for zone in tree.zones if zone.plan.name == name)
    # The parents of broken delegations are changed, and not verified here.
    found = _core.verify_zone(zone.path, Reading(name, None, 1), now_s=tree.made_s, most=3)
    expected = {"nsec.": True}.get(name, False)
    assert bool(found["fault_count"]) == expected, found["faults"]


@pytest.mark.parametrize("name", ["bad-signature.nsec.", "no-proofs.nsec3.", "expired.nsec.", "no-zone-flag.nsec."])
def test_zones_that_are_broken_do_not_verify(tree: Tree, name: str) -> None:
    zone = next(zone for zone in tree.zones if zone.plan.name == name)
    assert _core.verify_zone(zone.path, Reading(name, None, 1), now_s=tree.made_s)["fault_count"] > 0


def test_two_may_make_the_tree_in_the_same_folder(tmp_path: Path) -> None:
    has_begun = threading.Event()

    def make_it_meanwhile() -> None:
        if not has_begun.is_set():
            has_begun.set()
            make_tree(tmp_path, now_s=1_700_000_000)

    assert make_tree(tmp_path, now_s=1_700_000_001, step=make_it_meanwhile).made_s == 1_700_000_000
    assert [path.name.partition("-")[0] for path in tmp_path.iterdir()] == ["tree"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("nowhere")
    with pytest.raises(EnvironmentLacksError, match="link: no folder can be made: File exists; name another one"):
        make_tree(link)


def test_keys_of_the_trap_have_one_tag(server: TreeServer) -> None:
    keys = ask(server, "keytrap.nsec.", RdataType.DNSKEY).answer[0]
    tags = [dns.dnssec.key_id(key) for key in keys if key.flags == 256]
    assert len(tags) == 81
    assert len(set(tags)) == 1


def test_negative_answers(server: TreeServer) -> None:
    absent = ask(server, "absent.secure.nsec3.", RdataType.A)
    assert absent.rcode() == dns.rcode.NXDOMAIN
    assert set(types(absent.authority)) == {RdataType.SOA, RdataType.NSEC3, RdataType.RRSIG}
    no_type = ask(server, "empty.secure.nsec.", RdataType.A)
    assert no_type.rcode() == dns.rcode.NOERROR
    assert not no_type.answer
    assert RdataType.NSEC in types(no_type.authority)
    assert types(ask(server, "absent.secure.nsec.", RdataType.A, do=False).authority) == [RdataType.SOA]


def test_denials_of_online_signing_cover_one_name(server: TreeServer) -> None:
    for zone, rcode in (("compact.nsec.", dns.rcode.NOERROR), ("minimal.nsec.", dns.rcode.NXDOMAIN)):
        denied = ask(server, f"absent.{zone}", RdataType.A)
        assert denied.rcode() == rcode
        shown = [one for one in denied.authority if one.rdtype == RdataType.NSEC]
        name = dns.name.from_text(f"absent.{zone}")
        assert any(one.name <= name < one[0].next for one in shown)
        assert not any(one.name < dns.name.from_text(f"leaf.empty.{zone}") < one[0].next for one in shown)
    compact = ask(server, "absent.compact.nsec.", RdataType.A).authority
    assert any(one[0].to_text().endswith(("NXNAME", "TYPE128")) for one in compact if one.rdtype == RdataType.NSEC)
    narrow = ask(server, "absent.narrow.nsec3.", RdataType.A)
    assert narrow.rcode() == dns.rcode.NXDOMAIN
    assert types(narrow.authority).count(RdataType.NSEC3) == 3


def test_names_in_data_keep_their_capitals(server: TreeServer) -> None:
    for name, rtype, what in (("mail", RdataType.MX, "exchange"), ("alias", RdataType.A, "target")):
        given = dns.message.from_wire(ask(server, f"{name}.letters.nsec.", rtype).to_wire())
        assert getattr(given.answer[0][0], what).labels[0] == b"WwW"
    denied = dns.message.from_wire(ask(server, "before-it.letters.nsec.", RdataType.A).to_wire())
    following = {rdata.next.labels[0] for one in denied.authority if one.rdtype == RdataType.NSEC for rdata in one}
    assert b"Between" in following


def test_denials_have_no_longer_ttl_than_the_minimum(server: TreeServer) -> None:
    for name, ttl_s in (("absent.secure.nsec3.", 60), ("absent.short.unsigned.", 6)):
        soa = [one for one in ask(server, name, RdataType.A).authority if RdataType.SOA in {one.rdtype, one.covers}]
        assert {one.ttl for one in soa} == {ttl_s}
    assert ask(server, "secure.nsec3.", RdataType.SOA).answer[0].ttl == 300


@pytest.mark.parametrize("zone", ["no-next-closer.nsec3.", "no-encloser.nsec3."])
def test_proofs_that_lack_one_record_have_the_other_two(server: TreeServer, zone: str) -> None:
    plan = next(plan for plan in PLANS if plan.name == zone)
    query = dns.message.make_query(f"{plan.cases[0].name}.{zone}", "A", want_dnssec=True)
    whole = answer(query, server.zones)
    [wire] = server.respond(query.to_wire(), "udp", 2, ("127.0.0.1", 1)).messages
    given = dns.message.from_wire(wire)
    assert given.rcode() == dns.rcode.NXDOMAIN
    assert types(whole.authority).count(RdataType.NSEC3) == 3
    assert types(given.authority).count(RdataType.NSEC3) == 2


def test_wildcards_come_with_proof(server: TreeServer) -> None:
    response = ask(server, "any.wild.secure.nsec.", RdataType.A)
    assert response.answer[0].name == dns.name.from_text("any.wild.secure.nsec.")
    assert response.answer[1][0].labels == 3
    assert RdataType.NSEC in types(response.authority)


def test_referrals_and_ds(tree: Tree) -> None:
    zones = TreeServer(tree).zones_of[1]
    query = dns.message.make_query("www.secure.nsec.", "A", want_dnssec=True)
    referral = answer(query, zones)
    assert not referral.flags & dns.flags.AA
    assert types(referral.authority) == [RdataType.NS, RdataType.DS, RdataType.RRSIG]
    assert types(referral.additional) == [RdataType.A]
    ds = answer(dns.message.make_query("secure.nsec.", "DS", want_dnssec=True), zones)
    assert ds.flags & dns.flags.AA
    assert types(ds.answer) == [RdataType.DS, RdataType.RRSIG]
    unsigned = answer(dns.message.make_query("www.plain.nsec.", "A", want_dnssec=True), zones)
    assert types(unsigned.authority) == [RdataType.NS, RdataType.NSEC, RdataType.RRSIG]


def test_dname_is_followed_by_a_cname(server: TreeServer) -> None:
    response = ask(server, "www.tree.secure.nsec.", RdataType.A)
    assert types(response.answer)[:3] == [RdataType.DNAME, RdataType.RRSIG, RdataType.CNAME]
    assert str(response.answer[2][0].target) == "www.secure.nsec3."


def test_misbehaviour_is_bound_to_names_and_addresses(server: TreeServer) -> None:
    wire = dns.message.make_query("www.wrong-id.nsec.", "A").to_wire()
    right = server.respond(wire, "udp", 2, ("127.0.0.1", 1)).messages
    wrong = server.respond(wire, "udp", 3, ("127.0.0.1", 1)).messages
    assert right[0][:2] == wire[:2]
    assert wrong[0][:2] != wire[:2]
    silent = dns.message.make_query("www.silent.nsec.", "A").to_wire()
    assert not server.respond(silent, "udp", 3, ("127.0.0.1", 1)).messages
    assert len(server.respond(silent, "udp", 2, ("127.0.0.1", 1)).messages) == 1
    flood = dns.message.make_query("www.spoof-id.unsigned.", "A").to_wire()
    sent = server.respond(flood, "udp", 2, ("127.0.0.1", 1)).messages
    assert len(sent) > 200
    assert [message[:2] for message in sent if message[:2] == flood[:2]] == [flood[:2]]


def test_what_is_no_query_gets_no_answer(server: TreeServer) -> None:
    for wire in (b"", b"\0" * 11, dns.message.make_response(dns.message.make_query(".", "NS")).to_wire()):
        assert not server.respond(wire, "udp", 0, ("127.0.0.1", 1)).messages
    garbled = server.respond(b"\x12\x34\x01\x00\x00\x01" + bytes(6) + b"\xff", "udp", 0, ("127.0.0.1", 1)).messages
    assert garbled[0][:2] == b"\x12\x34"
    assert garbled[0][3] & 0xF == dns.rcode.FORMERR


def test_served_on_loopback_and_seen(tree: Tree, free_udp_and_tcp_port: int) -> None:
    with TreeServer(tree, port=free_udp_and_tcp_port) as server:
        asker = Asker(Endpoint(tree.addresses[2], free_udp_and_tcp_port))
        name = dns.name.from_text("LARGE4000.secure.nsec.")
        query = Query(name=name, rtype=RdataType.TXT, do=True)
        assert asker.udp(query).is_truncated
        assert asker.tcp(query).octets > 3600
        seen = server.seen.since(0)
    # A query is sent again where a busy machine is slow to answer.
    once = dict.fromkeys((one.transport, one.name.labels[0], one.do, one.payload) for one in seen)
    assert list(once) == [
        ("udp", b"LARGE4000", True, 1232),
        ("tcp", b"LARGE4000", True, 1232),
    ]


def test_an_address_that_is_taken_is_told(tree: Tree, free_udp_and_tcp_port: int) -> None:
    with (
        TreeServer(tree, port=free_udp_and_tcp_port),
        pytest.raises(EnvironmentLacksError, match=tree.addresses[0]),
        TreeServer(tree, port=free_udp_and_tcp_port),
    ):
        pass


def test_serve_tree_tells_what_to_point_a_resolver_at(tree: Tree, free_udp_and_tcp_port: int) -> None:
    told: list[str] = []
    shown: list[int] = []
    stop = threading.Event()

    def tell(line: str) -> None:
        told.append(line)
        if "Ctrl-C ends serving" in line and prepared is not None:
            prepared.lateness.note(SERVER, 0.4)
        if " late: " in line:
            stop.set()

    prepared = prepare_tree(tree.folder.parent, stop, shown.append, port=free_udp_and_tcp_port)
    assert prepared is not None
    assert shown == list(range(STEPS_TO_MAKE + 1, STEPS + 1)), "it is found, so that its zones are read alone"
    serve_tree(prepared, tree.folder.parent, stop, tell)
    assert "127.53.0.1" in told[0]
    assert any(" DS " in line for line in told)
    assert any(" DNSKEY " in line for line in told)
    assert "answered 0.4 s late: the machine is busy. What failed just now may not be the resolver's fault" in told[-1]


@pytest.mark.parametrize("at", [1, len(PLANS) + 1])
def test_a_tree_that_is_not_wanted_any_more_is_not_made(tmp_path: Path, free_udp_and_tcp_port: int, at: int) -> None:
    stop = threading.Event()
    shown: list[int] = []

    def show(done: int) -> None:
        shown.append(done)
        if done == at:
            stop.set()

    assert prepare_tree(tmp_path, stop, show, port=free_udp_and_tcp_port) is None
    assert shown == list(range(1, at + 1))
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_the_table_says_what_is_bogus() -> None:
    assert sum(case.right == BOGUS for plan in PLANS for case in plan.cases) > 60


def test_upper_case_stays_on_the_wire(server: TreeServer) -> None:
    query = dns.message.make_query("www.mixed-case.nsec.", "A", want_dnssec=True)
    (wire,) = server.respond(query.to_wire(), "udp", 2, ("127.0.0.1", 1)).messages
    response = dns.message.from_wire(wire)
    assert {rrset.name.labels[0] for rrset in response.answer} == {b"WWW"}
    assert response.question[0].name.labels[0] == b"www"
    assert response.ednsflags & dns.flags.DO
    assert len(response.answer) == 2


def test_what_is_told_of_other_zones(server: TreeServer) -> None:
    told = {}
    for section in ("answer", "additional", "alias", "servers"):
        query = dns.message.make_query(f"x.{section}.bailiwick.unsigned.", "A")
        told[section] = dns.message.from_wire(server.respond(query.to_wire(), "udp", 2, ("127.0.0.1", 1)).messages[0])
    victim = dns.name.from_text("x.victim.unsigned.")
    assert [rrset.name for rrset in told["answer"].answer][1:] == [victim]
    assert [rrset.name for rrset in told["additional"].additional] == [victim]
    # The zone keeps its servers.
    (ns,) = told["additional"].authority
    assert str(ns.name) == "x.additional.bailiwick.unsigned." and ns[0].target == victim
    assert [rrset.rdtype for rrset in told["alias"].answer] == [RdataType.CNAME, RdataType.A]
    assert str(told["servers"].authority[0].name) == "hijacked.unsigned."
