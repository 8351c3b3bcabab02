"""Zones of more RRsets than are asked for: what is wrong with one of many is found, and runs are alike."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace

import dns.name
import pytest
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC
from dnsrig.items.authoritative import (
    a27_inception,
    a28_expiration,
    a58_signer_key,
    a_axfr_complete,
    a_bitmap_honest,
    a_original_ttl,
    a_rrsig,
    a_rrsig_labels,
    a_signatures_valid,
)
from dnsrig.servers.base import ServedZone
from dnsrig.servers.registry import driver
from dnsrig.verification import doubts
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.zone_chains import change_types
from dnsrig.verification.landmarks import PLACES_KEPT, Landmarks, find_landmarks
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.targets import Told, authoritative_target, settings_of
from dnsrig.verification.tsig_keys import key_of_settings
from dnsrig.verification.verdicts import Outcome, Verdict
from dnsrig.verification.zones.editing import ZoneEditor
from dnsrig.verification.zones.making import VARIANTS, RigZone, make_zone

HOSTS = 600


def _spoil(zone: ZoneEditor, host: dns.name.Name) -> None:
    """Change the data under their signature."""
    there = zone.rdataset(host, RdataType.A)
    zone.put(host, RdataType.A, there.ttl, [one.replace(address="192.0.2.77") for one in there])


SPOILT = {
    # Each at a host of its own.
    "expired": (lambda zone, host: zone.sign(host, RdataType.A, is_expired=True), a28_expiration),
    "bad": (_spoil, a_signatures_valid),
    "unsigned": (lambda zone, host: zone.data.delete_rdataset(host, RdataType.RRSIG, RdataType.A), a_rrsig),
    "labels": (lambda zone, host: zone.sign(host, RdataType.A, as_wildcard=True), a_rrsig_labels),
    "ttl": (lambda zone, host: zone.sign(host, RdataType.A, original_ttl_s=60), a_original_ttl),
    "bitmap": (lambda zone, host: change_types(zone, host, {RdataType.A}, set()), a_bitmap_honest),
}


def make_large(folder: Path, name: str, *wrong: str) -> RigZone:
    """Make a zone of many hosts, and spoil some, named by what is wrong with them, none of which is drawn by lot."""
    lines = ["$TTL 3600", "@ SOA ns1 hostmaster 1 7200 900 604800 300", "@ NS ns1", "ns1 A 192.0.2.1"]
    lines += [f"host-{number} A 192.0.2.2" for number in range(HOSTS)]
    lines += [f"{one} A 192.0.2.3" for one in wrong]
    zone = make_zone(folder, VARIANTS["nsec"], f"{name}.dnsrig.test.", records="\n".join(lines) + "\n")
    if not wrong:
        return zone
    editor = ZoneEditor(zone)
    for one in wrong:
        SPOILT[one][0](editor, editor.name(one))
    return editor.finish(digests=False)


@dataclass(frozen=True)
class Served:
    """A server of large zones."""

    endpoint: Endpoint
    zones: dict[str, RigZone]
    tsig: object

    def by_transfer(self, name: str) -> AuthoritativeSubject:
        return AuthoritativeSubject(Asker(self.endpoint), Landmarks(self.zones[name].origin), tsig=self.tsig)

    def by_file(self, name: str) -> AuthoritativeSubject:
        return AuthoritativeSubject(Asker(self.endpoint), self.zones[name].landmarks, tsig=self.tsig)


@pytest.fixture(scope="module", params=["embedded", "nsd"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    kind = driver(request.param)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    folder = tmp_path_factory.mktemp(request.param)
    zones = {"wrong": make_large(folder, "wrong", *SPOILT), "right": make_large(folder, "right")}
    started = [ServedZone(zone.name, zone.path) for zone in zones.values()]
    with kind(started, settings_of(kind), folder / "server") as server:
        yield Served(Endpoint(*server.address), zones, key_of_settings(server.settings))


def judged(item: ModuleType, subject: AuthoritativeSubject) -> Outcome:
    outcome: Outcome = item.check(subject)
    return outcome


def test_one_of_many_is_found_by_the_zone_file_and_by_a_transfer(served: Served) -> None:
    for subject in (served.by_file("wrong"), served.by_transfer("wrong")):
        for name, (_, item) in SPOILT.items():
            outcome = judged(item, subject)
            assert outcome.verdict is Verdict.FAIL, (name, outcome.reason)
            assert f" {name}.wrong.dnsrig.test." in f" {outcome.reason}", (name, outcome.reason)
            assert "wrong likewise" not in outcome.reason, (name, outcome.reason)
        # The key of each signature is there.
        assert judged(a58_signer_key, subject).verdict is Verdict.PASS
        assert judged(a27_inception, subject).verdict is Verdict.PASS


def test_a_transfer_with_one_bad_signature_is_found(served: Served) -> None:
    assert judged(a_axfr_complete, served.by_transfer("wrong")).verdict is Verdict.FAIL


def test_how_much_was_looked_at_is_said(served: Served) -> None:
    for subject in (served.by_file("right"), served.by_transfer("right")):
        assert subject.known_data.doubts.names == ()
        for item in (a28_expiration, a58_signer_key, a_signatures_valid):
            outcome = judged(item, subject)
            assert outcome.verdict is Verdict.PASS, outcome.reason
            assert f"{PLACES_KEPT} of {subject.known_data.places_in_all} RRsets" in outcome.reason, outcome.reason
            assert "were all looked at (times, labels, TTLs, keys), and verified, too." in outcome.reason


def test_times_are_looked_at_where_there_is_no_time_to_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubts, "LONGEST_S", -1.0)
    found = make_large(tmp_path, "wrong", "expired", "bad").landmarks.doubts
    assert [name.labels[0] for name in found.names] == [b"expired"]
    assert not found.is_verified and found.signatures > HOSTS


def test_doubtful_nsec3_records_lead_to_the_names_of_their_hashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone = make_zone(tmp_path, VARIANTS["nsec3"])
    editor = ZoneEditor(zone)
    owner, record = editor.link_of(editor.name("mail"))
    assert not isinstance(record, NSEC)
    editor.sign(owner, RdataType.NSEC3, is_expired=True)
    editor.finish()
    assert editor.name("mail") in doubts.doubts_of(editor.data, zone.path).names
    found = doubts.doubts_of(editor.data)
    assert editor.name("mail") in found.names
    # Nobody can ask for the record itself, but it is in a transfer.
    assert found.owners == {owner}
    monkeypatch.setattr(a_axfr_complete, "VERIFIED_MAX", 0)
    subject = SimpleNamespace(transfer_doubts=found, landmarks=zone.landmarks)
    chosen = [name for name, _ in a_axfr_complete._chosen_signatures(subject, editor.data)]
    assert set(chosen) == {owner, *found.names}


def test_the_draw_follows_from_the_seed(served: Served, tmp_path: Path) -> None:
    zone = served.zones["right"]

    def drawn(seed: int) -> list[tuple[dns.name.Name, RdataType]]:
        told = Told(zone.name, zone.path, seed=seed)
        with authoritative_target(str(served.endpoint), 53, told, tmp_path) as target:
            (subject,) = target.subjects
            assert subject.landmarks.seed == seed
            return [(place.name, place.rtype) for place in subject.known_data.places]

    assert drawn(1) == drawn(1) != drawn(2)
    origin = zone.origin
    there = [(dns.name.from_text(f"h{number}", origin), RdataType.NS, ()) for number in range(3 * PLACES_KEPT)]
    first, again = (find_landmarks(origin, order) for order in (there, reversed(there)))
    assert first.places == again.places
