"""Zones below the one that is looked at, which the same server has: no item takes their data for the zone's own."""

from pathlib import Path

import pytest
from dnsrig.items.catalogue import items
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import deviating_items
from dnsrig.verification.discovery import discover
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.zones.making import VARIANTS, make_zone

HEAD = "$TTL 3600\n@ SOA ns1 hostmaster 1 7200 900 1209600 300\n@ NS ns1\nns1 A 192.0.2.1\n"
APP = HEAD + "app A 192.0.2.7\n"


@pytest.mark.parametrize("variant", ["nsec", "unsigned"])
@pytest.mark.parametrize("name", ["bind", "nsd", "knot", "powerdns", "embedded"])
def test_zones_below_that_the_server_has_too_accuse_nobody(name: str, variant: str, tmp_path: Path) -> None:
    kind = driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    records = HEAD + "www CNAME app.below\nbelow NS ns1.below\n"
    upper = make_zone(tmp_path, VARIANTS["nsec3"], "upper.example.", records=records)
    below = make_zone(tmp_path, VARIANTS[variant], "below.upper.example.", records=APP)
    served = [ServedZone(zone.name, zone.path) for zone in (upper, below)]
    with kind(served, ServerSettings(), tmp_path / "server") as server:
        asker = Asker(Endpoint(*server.address))
        # Nothing is known of the cut: NSEC3 does not show it.
        subject = AuthoritativeSubject(asker, discover(asker, upper.origin))
        found = run_items(items("authoritative"), subject)
        expected = {"A-axfr", *deviating_items("authoritative", name, server.version)}
    failed = {result.item.id: result.outcome.reason for result in found if result.outcome.verdict is Verdict.FAIL}
    assert failed.keys() <= expected, failed
