"""Setups that operators run, and the rig does not: limiters, a parent zone beside, names that a wildcard stands for."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import dns.dnssec
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
import pytest
from behind_relay import served, subject_at
from dns.rdatatype import RdataType
from dnsrig.items.authoritative import (
    a_ns_address,
    a_peers_serial,
    a_proof_nodata,
    a_proof_nxdomain,
    a_rare_types,
    a_repeated,
    a_rrset_ttl,
    a_unrelated,
)
from dnsrig.items.catalogue import items
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import known_deviations, why_known
from dnsrig.verification.discovery import ToldNames, discover
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.changes import changing, replace_rdatas
from dnsrig.verification.faults.fault import Fault, Passage, wire_of
from dnsrig.verification.faults.relay import Relay
from dnsrig.verification.landmarks import Landmarks
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Verdict
from dnsrig.verification.zones.making import VARIANTS, make_zone

SOA_HEAD = "$TTL 3600\n@ SOA ns1 hostmaster 1 7200 900 1209600 300\n"
WITH_NS = f"{SOA_HEAD}@ NS ns1\nns1 A 192.0.2.1\n"
WITH_MAIL = f"{WITH_NS}@ MX 10 mail\nmail A 192.0.2.2\n_25._tcp.mail TLSA 3 1 1 {'ab' * 32}\n"


def answering(change: object, name: str = "otherwise") -> Fault:
    return Fault(name=name, does="answers otherwise", roles=("authoritative",), on_response=changing(change))


def turning_back(per_second: int) -> Fault:
    """Give queries by UDP back beyond so many a second, with QR and TC, whatever is asked (dnsdist's TCAction)."""
    given: list[float] = []

    def turn_back(passage: Passage) -> bytes:
        now = time.monotonic()
        given[:] = [*(at for at in given if at > now - 1.0), now]
        if passage.transport != "udp" or len(given) <= per_second or len(passage.query) < 12:
            return passage.response
        query = bytearray(passage.query)
        query[2] |= 0x82
        query[3] = 0
        try:
            # Of a query, dnsdist keeps the question alone.
            message = dns.message.from_wire(bytes(query))
            is_query = message.opcode() == 0
            if is_query:
                message.answer, message.authority, message.additional = [], [], []
                message.use_edns(False)
                return wire_of(message)
        except (dns.exception.DNSException, ValueError):
            return passage.response
        return bytes(query)

    return Fault(name="turns-back", does="limits its rate", roles=("authoritative",), on_response=turn_back)


@pytest.mark.parametrize("per_second", [0, 3])
def test_a_limiter_before_the_server_is_no_fault_of_it(per_second: int, tmp_path: Path) -> None:
    """Least of all has a server taken an update that a limiter turned back."""
    zone = make_zone(tmp_path, VARIANTS["unsigned"])
    with served(tmp_path, zone, turning_back(per_second)) as relay:
        results = run_items(items("authoritative"), subject_at(relay, zone.landmarks))
    failed = {one.item.id: one.outcome.reason for one in results if one.outcome.verdict is Verdict.FAIL}
    judged = ("A-update", "A-outside", "A-edns-version", "A-edns-version-do", "A-edns-version-flags")
    assert not failed.keys() & {*judged, "A-edns-version-option", "A-unknown-opcode"}, failed


@pytest.mark.parametrize("variant", ["nsec", "nsec3"])
def test_a_name_that_a_wildcard_stands_for_may_be_named(variant: str, tmp_path: Path) -> None:
    """It has no NSEC or NSEC3 record, so its denials are the wildcard's."""
    zone = make_zone(tmp_path, VARIANTS[variant], records=f"{WITH_NS}*.w A 192.0.2.2\n")
    named = dns.name.from_text("www.w", zone.origin)
    with served(tmp_path, zone) as relay:
        marks = discover(Asker(relay.endpoint), zone.origin, ToldNames(there=((named, None),)))
        assert marks.wildcard is not None
        assert marks.host is None or marks.host.name != named
        assert a_proof_nodata.check(subject_at(relay, marks)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("owner", "verdict"),
    [("_25._tcp.mail", Verdict.PASS), ("_25._tcp.other", Verdict.FAIL), ("_25.mail", Verdict.FAIL)],
)
def test_tlsa_records_of_mail_servers_may_come_with_mx_records(owner: str, verdict: Verdict, tmp_path: Path) -> None:
    """BIND adds them where responses are not minimal."""
    zone = make_zone(tmp_path, VARIANTS["unsigned"], records=WITH_MAIL)

    def add(message: dns.message.Message) -> None:
        if any(rrset.rdtype == RdataType.MX for rrset in message.answer):
            name = dns.name.from_text(owner, zone.origin)
            message.additional.append(dns.rrset.from_text(name, 3600, "IN", "TLSA", f"3 1 1 {'ab' * 32}"))

    with served(tmp_path, zone, answering(add)) as relay:
        outcome = a_unrelated.check(subject_at(relay, zone.landmarks))
    assert outcome.verdict is verdict, outcome.reason


@pytest.mark.parametrize(("asked", "verdict"), [("DS", Verdict.PASS), ("LOC", Verdict.FAIL)])
def test_a_parent_zone_beside_that_does_not_delegate(asked: str, verdict: Verdict, tmp_path: Path) -> None:
    """DS at the apex is its matter: that it denies the name says nothing of the types that the server knows."""
    zone = make_zone(tmp_path, VARIANTS["unsigned"], records=WITH_NS)

    def deny(message: dns.message.Message) -> None:
        if message.question[0].name == zone.origin and message.question[0].rdtype == RdataType[asked]:
            message.set_rcode(dns.rcode.NXDOMAIN)
            soa = dns.rrset.from_text(zone.origin.parent(), 300, "IN", "SOA", ". . 1 1 1 1 1")
            message.answer, message.authority = [], [soa]

    with served(tmp_path, zone, answering(deny)) as relay:
        outcome = a_rare_types.check(subject_at(relay, Landmarks(zone.origin)))
    assert outcome.verdict is verdict, outcome.reason


@pytest.mark.parametrize(
    ("delegation", "verdict"), [("sub NS ns.elsewhere.\n", Verdict.PASS), ("sub NS ns1.sub\n", Verdict.FAIL)]
)
def test_servers_with_names_in_a_zone_of_others(delegation: str, verdict: Verdict, tmp_path: Path) -> None:
    """As in the root zone, whose servers' names are in a zone below."""
    zone = make_zone(tmp_path, VARIANTS["unsigned"], records=f"{SOA_HEAD}@ NS ns1.sub\n{delegation}")
    with served(tmp_path, zone) as relay:
        outcome = a_ns_address.check(subject_at(relay, Landmarks(zone.origin)))
    assert outcome.verdict is verdict, outcome.reason


def test_a_zone_without_rrsets_of_several_records(tmp_path: Path) -> None:
    zone = make_zone(tmp_path, VARIANTS["unsigned"], records=WITH_NS)
    with served(tmp_path, zone) as relay:
        assert a_rrset_ttl.check(subject_at(relay, Landmarks(zone.origin))).verdict is Verdict.NOT_APPLICABLE


BELOW_OPT_OUT = f"{WITH_NS}x.ent NS ns.elsewhere.\n"
TRIES = 12
TWO_TO_ONE = f"{WITH_NS}two MX 10 ns1\ntwo MX 20 ns1\n"


@pytest.mark.parametrize("name", ["bind", "nsd", "knot", "powerdns"])
@pytest.mark.parametrize(
    ("item", "check", "records", "deviating"),
    [
        ("A-proof-nxdomain", a_proof_nxdomain.check, BELOW_OPT_OUT, {"nsd", "powerdns"}),
        ("A-repeated", a_repeated.check, TWO_TO_ONE, {"knot"}),
    ],
)
def test_what_servers_do_otherwise_in_such_zones_is_known(  # noqa: PLR0917 (those of pytest)
    item: str,
    check: Callable[[AuthoritativeSubject], Outcome],
    records: str,
    deviating: set[str],
    name: str,
    tmp_path: Path,
) -> None:
    kind = driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    zone = make_zone(tmp_path, VARIANTS["opt-out"], records=records)
    with kind([ServedZone(zone.name, zone.path)], ServerSettings(), tmp_path / "server") as server:
        # The names that are asked for are chance; not each shows what the server does otherwise.
        subjects = (AuthoritativeSubject(Asker(Endpoint(*server.address)), zone.landmarks) for _ in range(TRIES))
        failures = [said for subject in subjects if (said := check(subject)).verdict is Verdict.FAIL]
        known = known_deviations("authoritative", name, server.version, is_of_rig=False)
    assert bool(failures) == (name in deviating), [said.reason for said in failures]
    assert all(why_known(known, item, said.reason) for said in failures), [said.reason for said in failures]


@pytest.mark.parametrize(("is_other_signer", "verdict"), [(True, Verdict.INCONCLUSIVE), (False, Verdict.FAIL)])
def test_providers_that_sign_with_keys_of_their_own_may_count_for_themselves(
    is_other_signer: bool, verdict: Verdict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(a_peers_serial, "PATIENCE_S", (0.0,))
    zone = make_zone(tmp_path, VARIANTS["nsec"])

    def count(message: dns.message.Message) -> None:
        for rrset in message.answer:
            if rrset.rdtype == RdataType.SOA:
                replace_rdatas(rrset, [record.replace(serial=record.serial + 1) for record in rrset])
            if rrset.covers == RdataType.SOA and is_other_signer:
                replace_rdatas(rrset, [record.replace(key_tag=other) for record in rrset])

    with served(tmp_path, zone) as relay, Relay(relay.endpoint, answering(count)) as peer:
        subject = subject_at(relay, zone.landmarks)
        keys = rrset_of(subject.answers.get(zone.origin, RdataType.DNSKEY), "answer", zone.origin, RdataType.DNSKEY)
        soa = subject.answers.get(zone.origin, RdataType.SOA)
        (signature,) = rrset_of(soa, "answer", zone.origin, RdataType.RRSIG, RdataType.SOA) or ()
        other = next(tag for tag in map(dns.dnssec.key_id, keys or ()) if tag != signature.key_tag)
        outcome = a_peers_serial.check(replace(subject, peers=(Asker(peer.endpoint),)))
    assert outcome.verdict is verdict, outcome.reason
