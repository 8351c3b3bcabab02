"""A zone with many names: no delegation is left to chance of which the zone file shows that it contradicts itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dns.name
import pytest
from dns.rdatatype import RdataType
from dnsrig.errors import InputError
from dnsrig.items.authoritative import a_bitmap_cut, a_data
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.verification.discovery import ToldNames
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.landmarks import PLACES_KEPT
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.targets import Told, authoritative_target
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.zones.editing import ZoneEditor
from dnsrig.verification.zones.making import VARIANTS, make_zone

HOSTS = 260
CUTS = 500
ORIGIN = "many.dnsrig.test."
DS = f"12345 13 2 {'01' * 32}"
LOST, RIGHT, INSECURE = (dns.name.from_text(f"{label}.{ORIGIN}") for label in ("cut-411", "cut-412", "cut-413"))


@dataclass(frozen=True)
class Served:
    """A server of a faulty zone, with its data before and after the fault."""

    endpoint: Endpoint
    before: Path
    after: Path


@pytest.fixture(scope="module", params=["embedded", "nsd"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a zone in which a delegation has lost its DS records under the NSEC3 record that lists them."""
    kind = driver(request.param)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    folder = tmp_path_factory.mktemp(request.param)
    lines = ["$TTL 3600", "@ SOA ns1 hostmaster 1 7200 900 604800 300", "@ NS ns1", "ns1 A 192.0.2.1"]
    lines += [f"host-{number} A 192.0.2.2" for number in range(HOSTS)]
    for number in range(CUTS):
        lines += [f"cut-{number} NS ns1", *([] if number % 4 == 1 else [f"cut-{number} DS {DS}"])]
    zone = make_zone(folder, VARIANTS["nsec3"], ORIGIN, records="\n".join(lines) + "\n")
    before = folder / "before"
    before.write_bytes(zone.path.read_bytes())
    editor = ZoneEditor(zone)
    editor.data.delete_rdataset(LOST, RdataType.DS)
    editor.data.delete_rdataset(LOST, RdataType.RRSIG, RdataType.DS)
    editor.finish()
    with kind([ServedZone(zone.name, zone.path)], ServerSettings(), folder / "server") as server:
        yield Served(Endpoint(*server.address), before, zone.path)


def subject_of(served: Served, zone_file: Path, folder: Path, *told: dns.name.Name) -> AuthoritativeSubject:
    given = Told(ORIGIN, zone_file, names=ToldNames(told))
    with authoritative_target(str(served.endpoint), 53, given, folder) as target:
        (subject,) = target.subjects
        assert isinstance(subject, AuthoritativeSubject)
        return subject


def test_what_the_zone_file_contradicts_itself_in_is_asked_for(served: Served, tmp_path: Path) -> None:
    subject = subject_of(served, served.after, tmp_path)
    assert subject.landmarks.doubtful_cuts == (LOST,)
    outcome = a_bitmap_cut.check(subject)
    assert outcome.verdict is Verdict.FAIL and "lists DS, which it has not" in outcome.reason, outcome.reason


def test_delegations_that_are_told_are_looked_at(served: Served, tmp_path: Path) -> None:
    """The zone file shows nothing, and of the delegations some only are drawn."""
    subject = subject_of(served, served.before, tmp_path, LOST)
    assert subject.landmarks.secure_delegation == LOST
    assert a_bitmap_cut.check(subject).verdict is Verdict.FAIL
    assert a_data.check(subject).verdict is Verdict.FAIL
    subject = subject_of(served, served.after, tmp_path, INSECURE, RIGHT)
    assert subject.landmarks.told_cuts == (INSECURE, RIGHT)
    assert (subject.landmarks.delegation, subject.landmarks.secure_delegation) == (INSECURE, RIGHT)
    with pytest.raises(InputError, match="has no such delegation; name one of it"):
        subject_of(served, served.after, tmp_path, dns.name.from_text(f"host-1.{ORIGIN}"))


def test_how_much_was_looked_at_is_said(served: Served, tmp_path: Path) -> None:
    subject = subject_of(served, served.after, tmp_path, RIGHT)
    places = subject.landmarks.places
    # As many of the delegations as of the other RRsets, drawn by lot.
    assert sum(place.rtype == RdataType.DS for place in places) == 251 and len(places) == PLACES_KEPT
    subject.landmarks.places = [one for one in places if one.name != LOST]
    subject.landmarks.doubtful_cuts = ()
    outcome = a_bitmap_cut.check(subject)
    assert outcome.verdict is Verdict.PASS and f" of {CUTS} delegations are right" in outcome.reason, outcome.reason
    data = a_data.check(subject)
    assert data.verdict is Verdict.PASS and f", of {subject.landmarks.places_in_all} RRsets." in data.reason, data
