"""Servers that sign on the fly: what they make up is right, though no zone file has it."""

from pathlib import Path

import dns.name
import pytest
from dnsrig.items.authoritative import a85_edns
from dnsrig.items.catalogue import items
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.knot import Knot
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import known_deviations, why_known
from dnsrig.verification.discovery import discover
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.relay import Relay
from dnsrig.verification.landmarks import Landmarks
from dnsrig.verification.runner import run_items
from dnsrig.verification.said_version import said_version
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.zones.making import VARIANTS, make_zone

ORIGIN = "online.dnsrig.test."
KNOWN = {"A-dname-signed", "A-referral-secure"}
"""What the module does against RFC 6672 section 5.3.1 and RFC 4035 section 3.1.4; see verification/deviations.toml."""
KNOWN_OF_SIZE = "A-edns-truncated"
"""Against section 3.1.1 too; it shows where signatures alone are too large."""


class OnlineKnot(Knot):
    """Knot DNS with its module that signs each response, with NSEC records made for it ("black lies")."""

    def render(self) -> dict[str, str]:
        """Put the module beside the zone's file."""
        return {
            name: text.replace("    file: ", "    module: mod-onlinesign\n    file: ")
            for name, text in super().render().items()
        }


@pytest.fixture(scope="module")
def knot(tmp_path_factory: pytest.TempPathFactory):
    if Knot.find() is None:
        pytest.skip("Knot DNS is not installed: install the Debian package knot")
    folder = tmp_path_factory.mktemp("online")
    zone = make_zone(folder, VARIANTS["unsigned"], ORIGIN)
    with OnlineKnot([ServedZone(zone.name, zone.path)], ServerSettings(), folder / "server") as server:
        yield Endpoint(*server.address), zone


def failures(endpoint: Endpoint, landmarks: Landmarks) -> dict[str, str]:
    subject = AuthoritativeSubject(Asker(endpoint), landmarks)
    assert subject.is_signed
    results = run_items(items("authoritative"), subject)
    return {one.item.id: one.outcome.reason for one in results if one.outcome.verdict is Verdict.FAIL}


def test_knot_that_signs_on_the_fly_is_not_accused(knot) -> None:
    endpoint, zone = knot
    found = failures(endpoint, zone.landmarks)
    assert set(found) == KNOWN, found
    assert_known(endpoint, found)


def assert_known(endpoint: Endpoint, found: dict[str, str]) -> None:
    version = said_version(Asker(endpoint))
    assert version is not None
    known = known_deviations("authoritative", version.server, version.version, is_of_rig=False)
    assert all(why_known(known, item, reason) for item, reason in found.items())
    assert not found.keys() & known_deviations("authoritative", version.server, version.version).keys()


def test_nor_where_only_the_name_of_the_zone_is_known(knot) -> None:
    endpoint, _ = knot
    origin = dns.name.from_text(ORIGIN)
    found = failures(endpoint, discover(Asker(endpoint), origin))
    assert KNOWN_OF_SIZE in found and set(found) <= KNOWN | {KNOWN_OF_SIZE}, found
    assert_known(endpoint, found)


def test_signatures_with_another_ttl_are_seen_all_the_same(knot) -> None:
    endpoint, zone = knot
    with Relay(endpoint, fault_named("rrsig-ttl-differs")) as relay:
        assert "A-rrsig-ttl" in failures(relay.endpoint, zone.landmarks)


def test_large_rrsets_that_are_signed_on_the_fly(tmp_path: Path) -> None:
    """What does not fit with its signature gets SERVFAIL by UDP: the reason says so, and it is known."""
    if Knot.find() is None:
        pytest.skip("Knot DNS is not installed: install the Debian package knot")
    mail = "".join(f"many MX {place} mail\n" for place in range(30))
    head = "$TTL 3600\n@ SOA ns1 hostmaster 1 7200 900 1209600 300\n@ NS ns1\nns1 A 192.0.2.1\nmail A 192.0.2.2\n"
    zone = make_zone(tmp_path, VARIANTS["unsigned"], ORIGIN, records=f"{head}{mail}")
    with OnlineKnot([ServedZone(zone.name, zone.path)], ServerSettings(), tmp_path / "server") as server:
        endpoint = Endpoint(*server.address)
        outcome = a85_edns.check(AuthoritativeSubject(Asker(endpoint), zone.landmarks))
        assert outcome.verdict is Verdict.FAIL, outcome
        assert outcome.reason.endswith(" by UDP, and no TC, and the response code SERVFAIL.")
        assert_known(endpoint, {"A-85": outcome.reason})
