"""A-85 in zones whose keys fit into 512 octets: larger responses are looked for."""

from collections.abc import Iterator
from pathlib import Path

import dns.name
import pytest
from dnsrig.cli.app import run_command_line
from dnsrig.items.authoritative import (
    a85_edns,
    a86_udp_1220,
    a87_udp_4000,
    a_edns_truncated,
    a_truncated,
    a_udp_512,
    a_udp_payload,
)
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.landmarks import Landmarks
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Verdict

TINY = dns.name.from_text("t.")
SMALL = dns.name.from_text("small-zone.dnsrig.test.")
APEX = "@ 60 IN SOA ns hostmaster 1 7200 900 1209600 60\n@ 60 IN NS ns.elsewhere.\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """Serve two zones, signed by ECDSA: one with its apex alone, one with names."""
    folder = tmp_path_factory.mktemp("small")
    zones = []
    for origin, more in ((TINY, ""), (SMALL, "a 60 IN A 192.0.2.1\nns 60 IN A 192.0.2.2\n")):
        path = folder / origin.to_text()
        path.write_text(f"$ORIGIN {origin}\n{APEX}{more}")
        assert run_command_line(["sign", str(path), "-K", str(folder), "-f", f"{path}signed"]) == 0
        zones.append(ServedZone(origin.to_text(), Path(f"{path}signed")))
    with driver("embedded")(zones, ServerSettings(), folder / "server") as server:
        yield Endpoint(*server.address)


def judged(endpoint: Endpoint, origin: dns.name.Name, fault: str = NO_FAULT.name) -> Outcome:
    with Relay(endpoint, NO_FAULT if fault == NO_FAULT.name else fault_named(fault)) as relay:
        asker = Asker(relay.endpoint, udp_waits_s=(0.5, 0.5), tcp_wait_s=1.0)
        return a85_edns.check(AuthoritativeSubject(asker, Landmarks(origin)))


def test_the_largest_response_shows_it(served: Endpoint) -> None:
    """That is the denial of a name."""
    outcome = judged(served, SMALL)
    assert outcome.verdict is Verdict.PASS and "octets, the largest that is known, came by UDP" in outcome.reason, (
        outcome
    )


@pytest.mark.parametrize("fault", ["drops-large", "sets-tc", "drops-edns"])
def test_what_cannot_give_it_fails(served: Endpoint, fault: str) -> None:
    outcome = judged(served, SMALL, fault)
    assert outcome.verdict is Verdict.FAIL, outcome


def test_where_nothing_is_large_it_is_not_applicable(served: Endpoint) -> None:
    outcome = judged(served, TINY)
    assert outcome.verdict is Verdict.NOT_APPLICABLE
    assert outcome.reason.startswith("No response of the zone is known to exceed 512 octets; the largest, ")
    assert outcome.reason.endswith("; --name may name a larger RRset.")


@pytest.mark.parametrize("origin", [TINY, SMALL], ids=str)
def test_all_items_about_size_know_the_same_largest_response(served: Endpoint, origin: dns.name.Name) -> None:
    subject = AuthoritativeSubject(Asker(served), Landmarks(origin))
    found = {}
    for item in (a85_edns, a86_udp_1220, a87_udp_4000, a_edns_truncated, a_udp_payload, a_truncated, a_udp_512):
        outcome = item.check(subject)
        if outcome.verdict is Verdict.NOT_APPLICABLE:
            _, _, found[item.ITEM.id] = outcome.reason.rpartition("; the largest, ")
    without_edns = {found.pop(item, "") for item in ("A-truncated", "A-udp-512")}
    assert len(without_edns) == 1, without_edns
    # Of the zone with names the largest response exceeds 512 octets; the items that need no more have it.
    assert len(found) == (5 if origin == TINY else 2) and len(set(found.values())) == 1, found
