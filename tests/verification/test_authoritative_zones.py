"""Zones out of the ordinary before servers that are right: no item accuses them."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from dnsrig.items.catalogue import items
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import deviating_items
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.landmarks import Landmarks
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Verdict
from protocol_zone import ORIGIN, read_landmarks, zone_text

UDP_WAITS_S = (0.5, 1.0, 2.0)
ZONES_AT_ONCE = 14
SERVERS = ("embedded", "bind", "nsd", "knot", "powerdns")
HEAD = "$TTL 3600\n@ SOA ns.elsewhere.example. hostmaster 1 7200 900 1209600 300\n"
ZONES = {
    ORIGIN: zone_text(),
    # Delegated in the zone above, and served by the same server.
    f"insecure.{ORIGIN}": HEAD + "@ NS ns1\nns1 A 192.0.2.6\n",
    "least.example.": HEAD + "@ NS ns.elsewhere.example.\n",
    "wild.example.": HEAD + '@ NS ns\n* TXT "everything"\n* A 192.0.2.1\nns A 192.0.2.2\na.b TXT "deep"\n',
    # Servers below a delegation, an alias to another zone, a chain of aliases, one that leads below the delegation.
    "below.example.": HEAD
    + "@ NS ns.child\nchild NS ns.child\nns.child A 192.0.2.3\nns.child AAAA 2001:db8::3\n"
    + "a CNAME b\nb CNAME c\nc A 192.0.2.4\nd CNAME host.elsewhere.example.\ne CNAME x.child\n",
    "aliases.example.": HEAD
    + "@ NS ns.elsewhere.example.\na CNAME www.elsewhere.example.\nold DNAME elsewhere.example.\n",
    "2.0.192.in-addr.arpa.": HEAD + "@ NS ns.elsewhere.example.\n1 PTR host.elsewhere.example.\n",
}


@pytest.fixture(scope="module")
def zones(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[Path, Landmarks]]:
    folder = tmp_path_factory.mktemp("zones")
    made = {}
    for origin, text in ZONES.items():
        path = folder / f"{origin}zone"
        path.write_text(text)
        made[origin] = (path, read_landmarks(path, origin))
    return made


@pytest.mark.parametrize("name", SERVERS)
def test_servers_that_are_right_are_not_accused(
    name: str, zones: Mapping[str, tuple[Path, Landmarks]], tmp_path: Path
) -> None:
    kind = driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    served = [ServedZone(origin, path) for origin, (path, _) in zones.items()]
    with kind(served, ServerSettings(), tmp_path) as server:
        expected = set(deviating_items("authoritative", name, server.version))
        asker = Asker(Endpoint(*server.address), udp_waits_s=UDP_WAITS_S)

        def accused(known: Landmarks) -> list[tuple[str, str, str]]:
            results = run_items(items("authoritative"), AuthoritativeSubject(asker, known))
            failed = [result for result in results if result.outcome.verdict is Verdict.FAIL]
            wrong = [result for result in failed if result.item.id not in expected]
            return [(known.origin.to_text(), result.item.id, result.outcome.reason) for result in wrong]

        # Also where nothing is known of the zone but its name.
        known = [landmarks for _, landmarks in zones.values()]
        known += [Landmarks(landmarks.origin) for landmarks in known]
        with ThreadPoolExecutor(ZONES_AT_ONCE) as pool:
            assert [found for several in pool.map(accused, known) for found in several] == []
