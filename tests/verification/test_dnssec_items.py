"""The items about DNSSEC: no server that is right fails one, and each fault fails exactly the items that name it."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from dnsrig.items.catalogue import items
from dnsrig.servers.registry import driver
from dnsrig.servers.settings import ServedZone, ServerSettings
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults import dnssec, dnssec_delegations, dnssec_denials
from dnsrig.verification.faults.fault import Fault
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.faults.zone_catalogue import zone_faults
from dnsrig.verification.item import KnownItem
from dnsrig.verification.runner import Result, run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.zones.making import VARIANTS, RigZone, Variant, make_zone

SERVERS = ("embedded", "bind", "nsd", "knot", "powerdns")
SERVER_FAULTS: tuple[Fault, ...] = (*dnssec.FAULTS, *dnssec_denials.FAULTS, *dnssec_delegations.FAULTS)
PASSED = {Verdict.PASS, Verdict.PASS_BY_TCP}

DEVIATIONS = {
    ("powerdns", "nsec"): {"A-zonemd"},
    ("powerdns", "nsec3"): {"A-zonemd", "A-original-ttl"},
    ("powerdns", "opt-out"): {"A-zonemd", "A-original-ttl"},
    ("powerdns", "algorithms"): {"A-zonemd"},
}
"""What servers fail, by the zone's variant.

PowerDNS 4.7 keeps names in lower case, the Next Domain Name of NSEC records too, and gives NSEC3PARAM the TTL of
denials: what it serves is not what was signed and digested.
"""
MAKES_THE_CHAIN = {"powerdns"}
"""Serves NSEC and NSEC3 records of its own making also for zones that are signed already, so that what is wrong in
those of the file is seen as signatures that are not valid, if at all."""
CHAIN_FAULTS = {
    "bitmap-denies-type",
    "bitmap-invents-type",
    "nsec3-bitmap-denies-type",
    "nsec3-bitmap-invents-type",
    "bitmap-without-rrsig",
    "chain-skips-names",
    "nsec3-chain-skips-names",
    "chain-points-nowhere",
    "long-denial-ttl",
    "nsec3-flags",
}
SHOWS_OTHERWISE = {
    # Knot gives signatures their Original TTL as TTL.
    ("knot", "wrong-original-ttl"): {"A-original-ttl", "A-rrsig-ttl"},
    # NSD leaves signatures of a zone without keys out.
    ("nsd", "leftover-signatures"): set(),
}
"""Where a server serves a faulty zone otherwise than it stands in the file: the items that fail then."""


@dataclass(frozen=True)
class Started:
    """A server with the rig's zones and all the faulty ones."""

    kind: str
    endpoint: Endpoint
    zones: dict[str, RigZone]
    faulty: dict[str, RigZone]

    def subject(
        self, zone: RigZone, endpoint: Endpoint | None = None, peer: Endpoint | None = None
    ) -> AuthoritativeSubject:
        return AuthoritativeSubject(
            Asker(endpoint or self.endpoint, udp_waits_s=(2.0, 4.0), tcp_wait_s=4.0),
            zone.landmarks,
            given_ds=zone.ds,
            peers=(Asker(peer or self.endpoint),),
        )


def dnssec_items() -> list[KnownItem]:
    return [known for known in items("authoritative") if known.item.group.startswith(("DNSSEC", "Zone transfer"))]


def verdicts(subject: AuthoritativeSubject) -> dict[str, Result]:
    return {result.item.id: result for result in run_items(dnssec_items(), subject)}


def those(results: dict[str, Result], *wanted: Verdict) -> set[str]:
    return {item_id for item_id, result in results.items() if result.outcome.verdict in wanted}


def naming(fault: str) -> set[str]:
    return {known.item.id for known in dnssec_items() if fault in known.item.faults}


def reasons(results: dict[str, Result]) -> dict[str, str]:
    return {item_id: results[item_id].outcome.reason for item_id in those(results, Verdict.FAIL)}


@pytest.fixture(scope="module", params=SERVERS)
def started(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    kind = driver(request.param)
    if kind.find() is None:
        pytest.skip(f"needs {kind.title}: install the Debian package {kind.package}")
    folder = tmp_path_factory.mktemp(request.param)
    zones = {name: make_zone(folder, variant) for name, variant in VARIANTS.items()}
    faulty = {fault.name: fault.make(folder) for fault in zone_faults()}
    served = [ServedZone(zone.name, zone.path) for zone in (*zones.values(), *faulty.values())]
    with kind(served, ServerSettings(), folder / "server") as server:
        yield Started(request.param, Endpoint(*server.address), zones, faulty)


@pytest.mark.parametrize("variant", VARIANTS)
def test_servers_that_are_right_fail_no_item(started: Started, variant: str) -> None:
    results = verdicts(started.subject(started.zones[variant]))
    assert set(reasons(results)) == DEVIATIONS.get((started.kind, variant), set()), reasons(results)
    assert those(results, Verdict.INCONCLUSIVE) == set()


def test_each_fault_of_a_zone_fails_its_items(started: Started) -> None:
    wrong = {}
    for fault in zone_faults():
        if started.kind in MAKES_THE_CHAIN and fault.name in CHAIN_FAULTS:
            continue
        results = verdicts(started.subject(started.faulty[fault.name]))
        applicable = set(results) - those(results, Verdict.NOT_APPLICABLE)
        expected = naming(fault.name) & applicable
        expected = SHOWS_OTHERWISE.get((started.kind, fault.name), expected)
        known = DEVIATIONS.get((started.kind, "nsec3" if fault.variant.chain == "nsec3" else "nsec"), set())
        if set(reasons(results)) - known != expected - known:
            wrong[fault.name] = (expected, reasons(results))
    assert not wrong


@pytest.mark.parametrize("variant", ["nsec", "nsec3"])
def test_each_fault_of_a_server_fails_its_items(started: Started, variant: str) -> None:
    zone = started.zones[variant]
    with Relay(started.endpoint, NO_FAULT) as relay:
        right = started.subject(zone, relay.endpoint)
        passing = those(verdicts(right), *PASSED)
    wrong = {}
    for fault in SERVER_FAULTS:
        if any(right.lacks(need) for need in fault.needs) or (started.kind, fault.name) in NOT_SHOWN:
            continue
        with Relay(started.endpoint, fault) as relay:
            results = verdicts(started.subject(zone, relay.endpoint))
        expected = naming(fault.name) & passing
        if set(reasons(results)) & passing != expected:
            wrong[fault.name] = (expected, reasons(results))
    assert not wrong


NOT_SHOWN = {("powerdns", "strips-rrsig-of-dname"), ("powerdns", "signs-synthesised-cname")}
"""PowerDNS as it ships does not answer by DNAME records (dname-processing)."""


def test_stale_secondary(tmp_path: Path) -> None:
    """A secondary that still has the zone as it was before its keys and its chain were changed."""
    old = Variant(name="old", chain="nsec3", salt="aabb")
    folders = [tmp_path / name for name in ("new", "old")]
    for folder in folders:
        folder.mkdir()
    zones = [
        make_zone(folder, variant, "shared.dnsrig.test", serial)
        for folder, variant, serial in zip(folders, (VARIANTS["nsec3"], old), (2, 1), strict=True)
    ]
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                driver("embedded")([ServedZone(zone.name, zone.path)], ServerSettings(), folder / "server")
            )
            for zone, folder in zip(zones, folders, strict=True)
        ]
        endpoints = [Endpoint(*server.address) for server in servers]
        started = Started("embedded", endpoints[0], {}, {})
        results = verdicts(started.subject(zones[0], peer=endpoints[1]))
    assert set(reasons(results)) == naming("stale-secondary") == {"A-peers-dnskey", "A-peers-nsec3param"}


def test_every_fault_is_named_and_every_name_is_a_fault() -> None:
    known = {fault.name for fault in (*SERVER_FAULTS, *zone_faults())}
    named = {name for known_item in dnssec_items() for name in known_item.item.faults}
    assert known - named == set()
    elsewhere = {"stale-secondary", "clears-do", "ignores-edns", "cuts-without-tc", "clears-aa"}
    assert named - known <= elsewhere | {"drops-do", "drops-edns", "formerr-to-edns"}
    assert all(known_item.item.faults for known_item in dnssec_items())
