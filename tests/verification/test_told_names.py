"""A zone whose names cannot be found by asking: those that the user names, and transfers that need a TSIG key."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import dns.message
import dns.name
import dns.tsig
import pytest
from dns.rdatatype import RdataType
from dnsrig.cli.app import run_command_line
from dnsrig.errors import InputError
from dnsrig.items.authoritative import a_axfr_complete, a_ixfr
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.verification import discovery
from dnsrig.verification.asker import Asker
from dnsrig.verification.discovery import ToldNames, discover
from dnsrig.verification.exchange import Endpoint, Exchange
from dnsrig.verification.landmarks import Landmarks, find_landmarks
from dnsrig.verification.queries import Query
from dnsrig.verification.said_version import SaidVersion, read_version, said_version, told_version
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.targets import Told, authoritative_target
from dnsrig.verification.transfer import Reader
from dnsrig.verification.tsig_keys import key_of_file, key_of_words
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.zones.making import VARIANTS, RigZone, make_zone
from dnsrig.verification.zones.source import RECORDS
from signing_primary import messages_of, records_of, signing_primary

SIGNLESS_SECRET = base64.b64encode(b"eighteen octets as").decode()
"""One that could be a key's name."""
SECRET = base64.b64encode(b"nobody else knows it: \xff\xff\xff").decode()
KEY_FILE = f"""\
// as tsig-keygen writes it
key "transfer.test" {{
\talgorithm hmac-sha512;   # not the usual one
\tsecret "{SECRET}";
}};
"""
FEW = """\
@ IN SOA ns1 hostmaster 1 7200 900 1209600 300
@ IN NS ns1
ns1 IN A 192.0.2.1
www IN A 192.0.2.2
"""
ORIGIN = dns.name.from_text("example.")
KEY = key_of_words(f"k.example:{SECRET}")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RigZone, Endpoint]]:
    """Serve a zone with NSEC3, which is transferred only to those who have the key."""
    folder = tmp_path_factory.mktemp("served")
    # Without large RRsets it fits into one message of a transfer.
    zone = make_zone(folder, VARIANTS["nsec3"], "told.dnsrig.test.", records=RECORDS.format(serial=1))
    with (
        driver("embedded")([ServedZone(zone.name, zone.path)], ServerSettings(), folder / "server") as server,
        signing_primary(Endpoint(*server.address), zone.path, zone.landmarks.origin, KEY) as primary,
    ):
        yield zone, primary.endpoint


def test_named_names_are_found(served: tuple[RigZone, Endpoint]) -> None:
    zone, endpoint = served
    known, asker = zone.landmarks, Asker(endpoint)
    alone = discover(asker, known.origin)
    assert (alone.delegation, alone.secure_delegation, alone.wildcard, alone.empty) == (None, None, None, None)
    assert known.delegation and known.secure_delegation and known.wildcard and known.empty and known.dname
    told = ToldNames(
        (known.delegation, known.secure_delegation),
        ((known.wildcard.name, known.wildcard.rtype), (known.dname, None)),
        (known.empty,),
    )
    found = discover(asker, known.origin, told)
    assert (found.delegation, found.secure_delegation) == (known.delegation, known.secure_delegation)
    assert found.wildcard and found.wildcard.name == known.wildcard.name
    assert (found.dname, found.empty) == (known.dname, known.empty)


def everything(zone: RigZone) -> ToldNames:
    known = zone.landmarks
    assert known.delegation and known.secure_delegation and known.dname and known.wildcard
    return ToldNames(
        (known.delegation, known.secure_delegation),
        ((known.dname, None), (known.wildcard.name, known.wildcard.rtype)),
    )


def test_named_names_are_asked_for_however_late_it_is(
    served: tuple[RigZone, Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    zone, endpoint = served
    monkeypatch.setattr(discovery, "LONGEST_S", -1.0)
    found = discover(Asker(endpoint), zone.landmarks.origin, everything(zone))
    assert found.host is None
    assert (found.delegation, found.secure_delegation) == (zone.landmarks.delegation, zone.landmarks.secure_delegation)
    assert found.dname == zone.landmarks.dname and found.wildcard


class Forgetful(Asker):
    """Loses what comes for some types."""

    lost: ClassVar[set[RdataType]]

    def ask(self, query: Query) -> Exchange:
        """Ask, but forget the response."""
        exchange = super().ask(query)
        return replace(exchange, response=None, silence="lost") if query.rtype in self.lost else exchange


@pytest.mark.parametrize("variant", ["nsec", "nsec3"])
def test_delegations_whose_ds_records_are_not_known_are_of_neither_kind(tmp_path: Path, variant: str) -> None:
    class WithoutDs(Forgetful):
        lost: ClassVar = {RdataType.DS}

    zone = make_zone(tmp_path, VARIANTS[variant], "told.dnsrig.test.", records=RECORDS.format(serial=1))
    with driver("embedded")([ServedZone(zone.name, zone.path)], ServerSettings(), tmp_path / "server") as server:
        found = discover(WithoutDs(Endpoint(*server.address)), zone.landmarks.origin, everything(zone))
    known = zone.landmarks
    assert {known.delegation, known.secure_delegation} <= found.cuts
    assert found.secure_delegation is None
    # The bitmaps of the chain of NSEC records tell that one has no DS records.
    assert found.delegation == (known.delegation if variant == "nsec" else None)


def test_names_are_not_contradicted_by_what_was_not_answered(served: tuple[RigZone, Endpoint]) -> None:
    class WithoutTxt(Forgetful):
        lost: ClassVar = {RdataType.TXT}

    zone, endpoint = served
    nowhere = dns.name.from_text("none", zone.landmarks.origin)
    for rtype in (RdataType.TXT, None):
        assert discover(WithoutTxt(endpoint), zone.landmarks.origin, ToldNames(there=((nowhere, rtype),))).dname is None
    with pytest.raises(InputError, match=r"has no records of type A \(NXDOMAIN\)"):
        discover(WithoutTxt(endpoint), zone.landmarks.origin, ToldNames(there=((nowhere, RdataType.A),)))


def test_what_is_above_a_named_name_is_not_thought_to_be_empty() -> None:
    there = dns.name.from_text("a.b.example.")
    found = find_landmarks(ORIGIN, [(there, RdataType.A, [])], is_whole=False)
    assert found.empty == dns.name.from_text("b.example.")
    assert ToldNames(there=((there, None),)).believed(found).empty is None
    assert found.empties == []


def command(served: tuple[RigZone, Endpoint], *options: str) -> list[str]:
    zone, endpoint = served
    return ["verify", "authoritative", str(endpoint), "--zone", zone.name, *options]


def test_items_about_delegations_apply_where_one_is_named(
    capsys: pytest.CaptureFixture[str], served: tuple[RigZone, Endpoint]
) -> None:
    options = ["--json", "--item", "A-referral", "--item", "A-proof-ds"]
    named = ["--delegation", str(served[0].landmarks.delegation)]
    assert run_command_line(command(served, *options, *named)) == 0
    assert [one["verdict"] for one in json.loads(capsys.readouterr().out)["items"]] == ["pass", "pass"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--delegation", "none.{zone}"], "the server gives no referral for it, but an answer (NXDOMAIN)"),
        (["--name", "none.{zone}"], "--name none.{zone}: the server has no records of types that names often have"),
        (["--name", "{zone}/A"], "{zone} is no name below {zone}"),
        (["--delegation", "elsewhere.test"], "elsewhere.test. is no name below {zone}"),
        (["--name", "x.{zone}/NOPE"], "'NOPE' is no type of records"),
        (
            ["--tsig", f"hmac-sha3:k:{SECRET}"],
            "--tsig: ALG of [ALG:]NAME:SECRET is no algorithm of TSIG; those are hmac-",
        ),
        (["--tsig", f"{SECRET}:transfer.example"], "--tsig: SECRET of [ALG:]NAME:SECRET is not in Base64"),
        (["--tsig", f"{SECRET}:k:hmac-sha256"], "--tsig: ALG of [ALG:]NAME:SECRET is no algorithm of TSIG"),
        (["--tsig", f"{SECRET * 2}:k.example"], "--tsig: NAME of [ALG:]NAME:SECRET is no domain name"),
        (["--tsig", f"{SECRET}:transfer"], "--tsig: what stands for NAME looks like a secret"),
        (["--tsig", f"hmac-sha256:{SECRET}:transfer"], "--tsig: what stands for NAME looks like a secret"),
        (["--tsig", f"{SIGNLESS_SECRET}:transfer"], "--tsig: what stands for NAME looks like a secret"),
        (["--tsig", SECRET], "--tsig: it is not [ALG:]NAME:SECRET"),
        (["--tsig", "k:no base64!"], "--tsig: SECRET of [ALG:]NAME:SECRET is not in Base64"),
        (["--tsig", f"k:{SECRET}", "--tsig-file", __file__], "one key signs; leave one out"),
        (
            ["--tsig-file", "/dev/null"],
            "--tsig-file /dev/null: it is a device, no plain file; give a key",
        ),
        (["--zone-file", __file__, "--empty", "x.{zone}"], "--zone-file shows the zone's names; leave one out"),
        (["--zone-file", __file__, "--name", "x.{zone}"], "--zone-file shows the zone's names; leave one out"),
        (["--server-version", "djbdns 1.05"], "give the program and its number, such as 'NSD 4.6.1'"),
    ],
)
def test_what_is_wrong_is_said(
    capsys: pytest.CaptureFixture[str], served: tuple[RigZone, Endpoint], options: list[str], said: str
) -> None:
    name = served[0].landmarks.origin.to_text()
    given = [one.replace("{zone}", name) for one in options]
    assert run_command_line(command(served, *given, "--item", "A-soa")) == 2
    shown = capsys.readouterr().err
    assert said.replace("{zone}", name) in shown
    assert SECRET not in shown and SIGNLESS_SECRET not in shown and "no base64" not in shown


def test_keys_as_dig_takes_them(tmp_path: Path) -> None:
    octets = base64.b64decode(SECRET)
    assert dns.tsig.Key("k.example.", octets, dns.tsig.HMAC_SHA256) == KEY
    assert key_of_words(f"{SIGNLESS_SECRET}:{SECRET}").secret == octets
    assert key_of_words(f"{SIGNLESS_SECRET}.:transfer").name.to_text() == f"{SIGNLESS_SECRET}."
    assert key_of_words(f"HMAC-MD5:k:{SECRET}") == dns.tsig.Key("k.", octets, dns.tsig.HMAC_MD5)
    assert "//" in SECRET
    file = tmp_path / "key"
    file.write_text(KEY_FILE)
    assert key_of_file(file) == dns.tsig.Key("transfer.test.", octets, dns.tsig.HMAC_SHA512)


@contextmanager
def target_at(
    endpoint: Endpoint, zone: RigZone, key: dns.tsig.Key | None, folder: Path
) -> Iterator[AuthoritativeSubject]:
    with authoritative_target(str(endpoint), 53, Told(zone.name, tsig=key), folder) as found:
        yield found.subjects[0]


def test_a_transfer_that_needs_a_key(served: tuple[RigZone, Endpoint], tmp_path: Path) -> None:
    zone, endpoint = served
    with target_at(endpoint, zone, None, tmp_path) as subject:
        assert subject.lacks("transfer") and subject.landmarks.delegation is None
    refused = "does not take the TSIG key"
    with (
        pytest.raises(InputError, match=refused),
        target_at(endpoint, zone, key_of_words(f"other:{SECRET}"), tmp_path),
    ):
        pass
    with target_at(endpoint, zone, KEY, tmp_path) as subject:
        assert subject.lacks("transfer") is None
        assert subject.landmarks.delegation == zone.landmarks.delegation
        outcome = a_axfr_complete.check(subject)
        assert outcome.verdict is Verdict.PASS, outcome
        assert SECRET not in repr(subject)
        outcome = a_ixfr.check(subject)
        assert outcome.verdict is Verdict.PASS and "signed by TSIG 2 are answered" in outcome.reason, outcome


def test_what_a_transfer_shows_not_to_be_there_is_not_asked_for(tmp_path: Path) -> None:
    zone = make_zone(tmp_path, VARIANTS["nsec3"], "few.dnsrig.test.", records=FEW)
    with (
        driver("embedded")([ServedZone(zone.name, zone.path)], ServerSettings(), tmp_path / "server") as server,
        signing_primary(Endpoint(*server.address), zone.path, zone.landmarks.origin, KEY) as primary,
    ):
        with target_at(primary.endpoint, zone, None, tmp_path) as subject:
            assert "--name may name one" in (subject.lacks("dname") or "")
        with target_at(primary.endpoint, zone, KEY, tmp_path) as subject:
            assert subject.lacks("dname") == f"The zone {zone.name} has no DNAME record."


@pytest.mark.parametrize(
    ("fault", "said"), [("first unsigned", "no TSIG record"), ("spoiled", "a TSIG record that does not verify")]
)
def test_a_transfer_whose_tsig_is_wrong_fails(
    served: tuple[RigZone, Endpoint], tmp_path: Path, fault: str, said: str
) -> None:
    zone, endpoint = served
    with (
        signing_primary(endpoint, zone.path, zone.landmarks.origin, KEY, fault) as primary,
        target_at(primary.endpoint, zone, KEY, tmp_path) as subject,
    ):
        outcomes = [item.check(subject) for item in (a_axfr_complete, a_ixfr)]
    for outcome in outcomes:
        assert outcome.verdict is Verdict.FAIL and said in outcome.reason, outcome


def test_a_transfer_that_breaks_off_is_none_that_is_answered(served: tuple[RigZone, Endpoint]) -> None:
    zone, endpoint = served
    with signing_primary(endpoint, zone.path, zone.landmarks.origin, KEY, "breaks off") as primary:
        subject = AuthoritativeSubject(Asker(primary.endpoint, tcp_wait_s=0.5), zone.landmarks, tsig=KEY)
        outcome = a_ixfr.check(subject)
    assert outcome.verdict is Verdict.INCONCLUSIVE and "does not come to its end: timed out" in outcome.reason, outcome


def read_all(served: tuple[RigZone, Endpoint], fault: str = "") -> int:
    """Read a transfer of many messages; give how many records came."""
    zone, _ = served
    origin = zone.landmarks.origin
    reader = Reader(dns.message.make_query(origin, "AXFR").to_wire(), KEY)
    query = dns.message.from_wire(reader.sent, keyring=KEY)
    wires = list(messages_of(query, KEY, records_of(zone.path, origin), 10, fault))
    assert len(wires) > 8
    found = 0
    for number, wire in enumerate(wires):
        message, wrong = reader.read(wire)
        reader.check_signed(is_end=number == len(wires) - 1)
        assert not wrong
        found += len(message.answer)
    return found


def test_transfers_of_many_messages_need_not_sign_each(served: tuple[RigZone, Endpoint]) -> None:
    assert read_all(served) == len(records_of(served[0].path, served[0].landmarks.origin))


@pytest.mark.parametrize("fault", ["first unsigned", "last unsigned", "spoiled"])
def test_transfers_of_many_messages_whose_tsig_is_wrong(served: tuple[RigZone, Endpoint], fault: str) -> None:
    with pytest.raises(ValueError, match=r"a message has (no TSIG record|a TSIG record that does not verify)"):
        read_all(served, fault)


def test_without_a_key_queries_are_not_signed() -> None:
    query = dns.message.make_query("example.", "AXFR").to_wire()
    assert Reader(query, None).sent == query


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NSD 4.6.1", SaidVersion("nsd", "4.6.1")),
        ("Knot DNS 3.2.6", SaidVersion("knot", "3.2.6")),
        ("knot 3.2.6", SaidVersion("knot", "3.2.6")),
        ("9.18.49-1~deb12u3-Debian", SaidVersion("bind", "9.18.49")),
        ("BIND 9.20.4-S1", SaidVersion("bind", "9.20.4")),
        ("PowerDNS Authoritative Server 4.7.3 (built Oct 10 2023)", SaidVersion("powerdns", "4.7.3")),
        ("none of your business", None),
    ],
)
def test_versions_as_servers_say_them(text: str, expected: SaidVersion | None) -> None:
    assert read_version(text) == expected
    if expected is not None:
        assert told_version(text) == expected


@pytest.mark.parametrize("name", ["bind", "nsd", "knot", "powerdns"])
def test_servers_say_their_version(name: str, tmp_path: Path) -> None:
    kind = driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    zone = make_zone(tmp_path, VARIANTS["nsec"])
    with kind([ServedZone(zone.name, zone.path)], ServerSettings(), tmp_path / "server") as server:
        said = said_version(Asker(Endpoint(*server.address)))
    assert said is not None and said.server == name and server.version.startswith(said.version)


def test_deviations_are_known_by_what_a_server_is(served: tuple[RigZone, Endpoint], tmp_path: Path) -> None:
    zone, endpoint = served
    for version, known in ((None, False), (told_version("PowerDNS 4.7.3"), True)):
        with authoritative_target(str(endpoint), 53, Told(zone.name, version=version), tmp_path) as found:
            assert bool(found.known) == known
            assert (found.version is not None) == known


def test_landmarks_of_two_looks_are_put_together() -> None:
    first = Landmarks(ORIGIN, alias=dns.name.from_text("a.example."))
    other = Landmarks(ORIGIN, alias=dns.name.from_text("b.example."), dname=dns.name.from_text("d.example."))
    first.filled_from(other)
    assert (first.alias, first.dname) == (dns.name.from_text("a.example."), dns.name.from_text("d.example."))
