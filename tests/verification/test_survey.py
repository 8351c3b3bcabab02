"""The look at the whole of a zone: which names are asked for, and what is found at names that no landmark is."""

import dns.dnssec
import dns.name
import dns.rdata
import dns.rdataclass
import pytest
from dns.rdatatype import RdataType
from dnsrig.items.catalogue import items
from dnsrig.servers.registry import driver
from dnsrig.servers.settings import ServedZone, ServerSettings
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.relay import Relay
from dnsrig.verification.landmarks import PLACES_KEPT, Landmarks, find_landmarks
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.zones.making import VARIANTS, make_zone

ORIGIN = dns.name.from_text("example.")
HASH_OF_A = dns.dnssec.nsec3_hash("a.example.", None, 0, 1)
SHORT_WAITS_S = (1.0, 2.0)


def landmarks(*lines: str, is_whole: bool = True) -> Landmarks:
    """Find landmarks in lines of owner, type and data."""
    rrsets = []
    for line in lines:
        owner, kind, text = line.split(maxsplit=2)
        rtype = RdataType.make(kind)
        rdata = dns.rdata.from_text(dns.rdataclass.IN, rtype, text, origin=ORIGIN, relativize=False)
        rrsets.append((dns.name.from_text(owner, ORIGIN), rtype, [rdata]))
    return find_landmarks(ORIGIN, rrsets, is_whole=is_whole)


def test_places_are_what_the_server_answers_from_its_own_zone() -> None:
    found = landmarks(
        "@ SOA . . 7 1 1 1 1",
        "host A 192.0.2.1",
        "host A 192.0.2.2",
        "host NSEC child A NSEC",
        "child NS ns.child",
        "ns.child A 192.0.2.3",
        "old DNAME host",
        "x.old A 192.0.2.4",
    )
    assert [(str(place.name), place.rtype.name, len(place.data)) for place in found.places] == [
        ("example.", "SOA", 1),
        ("child.example.", "DS", 0),
        ("host.example.", "A", 2),
        ("old.example.", "DNAME", 1),
    ]
    assert found.cuts == {dns.name.from_text("child", ORIGIN)}
    assert [str(place.name) for place in found.glue_places] == ["ns.child.example."]
    assert found.serial == 7


@pytest.mark.parametrize(
    ("lines", "doubtful"),
    [
        (["a NS ns", "a NSEC b NS RRSIG NSEC"], False),
        (["a NS ns", f"a DS 1 13 2 {'01' * 32}", "a NSEC b NS DS RRSIG NSEC"], False),
        (["a NS ns", "a NSEC b NS DS RRSIG NSEC"], True),
        (["a NS ns", f"a DS 1 13 2 {'01' * 32}", "a NSEC b NS RRSIG NSEC"], True),
        (["a NS ns", "a NSEC b NS A RRSIG NSEC"], True),
        # The hash of a.example., without salt and further iterations.
        (["a NS ns", f"{HASH_OF_A} NSEC3 1 0 0 - {HASH_OF_A} NS"], False),
        (["a NS ns", f"{HASH_OF_A} NSEC3 1 0 0 - {HASH_OF_A} NS DS RRSIG"], True),
        (["a NS ns", f"{HASH_OF_A} NSEC3 1 0 1 - {HASH_OF_A} NS DS RRSIG"], False),
    ],
)
def test_delegations_with_other_types_than_their_bitmap_are_doubtful(lines: list[str], doubtful: bool) -> None:
    found = landmarks("@ SOA . . 7 1 1 1 1", *lines)
    assert found.doubtful_cuts == ((dns.name.from_text("a", ORIGIN),) if doubtful else ())
    assert found.places_in_all == len(found.places) == 2


def test_of_a_large_zone_some_places_are_kept() -> None:
    found = landmarks("@ SOA . . 7 1 1 1 1", *(f"h{number} A 192.0.2.1" for number in range(2 * PLACES_KEPT)))
    assert len(found.places) == len({place.name for place in found.places}) == PLACES_KEPT


def test_what_was_found_by_asking_is_not_taken_for_the_whole_zone() -> None:
    assert not landmarks("host A 192.0.2.1", is_whole=False).is_whole


@pytest.fixture(scope="module")
def endpoint_and_zone(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("compact")
    zone = make_zone(folder, VARIANTS["nsec"], "compact.dnsrig.test")
    with driver("embedded")([ServedZone(zone.name, zone.path)], ServerSettings(), folder / "server") as server:
        yield Endpoint(*server.address), zone


def outcome(endpoint: Endpoint, known: Landmarks, item_id: str):
    chosen = [one for one in items("authoritative") if one.item.id == item_id]
    (result,) = run_items(chosen, AuthoritativeSubject(Asker(endpoint, udp_waits_s=SHORT_WAITS_S), known))
    return result.outcome


def test_a_zone_named_compact_is_not_taken_for_compact_denial(endpoint_and_zone) -> None:
    endpoint, zone = endpoint_and_zone
    with Relay(endpoint, fault_named("noerror-for-nxdomain")) as relay:
        assert outcome(relay.endpoint, zone.landmarks, "A-proof-nxdomain").verdict is Verdict.FAIL


@pytest.mark.parametrize("fault", ["other-address", "other-glue"])
def test_data_are_compared_with_the_transfer_where_no_file_is_known(endpoint_and_zone, fault: str) -> None:
    endpoint, zone = endpoint_and_zone
    unknown = Landmarks(zone.origin)
    assert outcome(endpoint, unknown, "A-data").verdict is Verdict.PASS
    with Relay(endpoint, fault_named(fault)) as relay:
        assert outcome(relay.endpoint, unknown, "A-data").verdict is Verdict.FAIL


def test_a_zone_too_large_to_be_transferred_is_no_fault(endpoint_and_zone, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint, zone = endpoint_and_zone
    monkeypatch.setattr("dnsrig.verification.transfer.LARGEST_TRANSFER", -1)
    for item in ("A-axfr-complete", "A-zonemd"):
        assert outcome(endpoint, zone.landmarks, item).verdict is Verdict.INCONCLUSIVE
    assert outcome(endpoint, Landmarks(zone.origin), "A-data").verdict is Verdict.NOT_APPLICABLE


def test_every_name_is_asked_for(endpoint_and_zone) -> None:
    endpoint, zone = endpoint_and_zone
    subject = AuthoritativeSubject(Asker(endpoint, udp_waits_s=SHORT_WAITS_S), zone.landmarks)
    asked = {name for name, _ in subject.survey.asked}
    assert asked == {place.name for place in zone.landmarks.places}
    assert len(asked) >= 20
