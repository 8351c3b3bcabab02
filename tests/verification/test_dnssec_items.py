"""The items about DNSSEC and the zone's data: servers that are right fail none, each fault of data those that name it.

Faults of servers are tried by test_authoritative_matrix.py. The other items, about messages and transport, meet a share
of the faults of zones, and all of them where DNSRIG_EVERY_ITEM is set (turns.py).
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import dns.tsig
import pytest
from dnsrig.items.catalogue import items
from dnsrig.servers.registry import driver
from dnsrig.servers.settings import ServedZone, ServerSettings
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import deviating_items
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.zone_catalogue import zone_faults
from dnsrig.verification.faults.zone_fault import ZoneFault
from dnsrig.verification.item import KnownItem
from dnsrig.verification.runner import Result, run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.targets import settings_of
from dnsrig.verification.tsig_keys import key_of_settings
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.zones.making import VARIANTS, RigZone, Variant, make_zone
from matrix_record import SECONDARIES, WITH_FAULTS, keep, keep_right, keep_unable, passed_of
from turns import NEW_PAIRS, TIMEOUT_S, chosen_with, in_turn

pytestmark = pytest.mark.timeout(TIMEOUT_S)

SERVERS = ("embedded", "bind", "nsd", "knot", "powerdns")
ZONES_AT_ONCE = 2
LASTS_S = 600
"""What expires sooner is made just before it is served, and looked at first."""

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
    "one-expired-denial",
    "one-missing-nsec",
    "chain-ends-early",
    "chain-turns-early",
    "one-bitmap-denies-type",
    "nsec-of-glue",
    "nsec-of-empty",
    "nsec3-of-glue",
    "lacks-nsec3-of-empty",
    "lacks-nsec3-of-host",
    "opt-out-skips-host",
    "two-nsec3params",
    "cut-bitmap-lists-glue",
    "cut-bitmap-without-ns",
    "nsec3param-of-no-chain",
    "nsec3param-beside-nsec",
    "cut-bitmap-lists-ds",
    "cut-bitmap-without-ds",
    "nsec3-cut-bitmap-without-ds",
    "ds-lost",
}
REFUSES = {
    "bind": {"wildcard-ns", "cds-deletion-with-digest"},
    "nsd": {"data-below-dname"},
    "knot": {"data-below-dname", "two-nsec3params", "nsec3param-beside-nsec"},
    "powerdns": {"rname-with-at", "csync-of-mx", "csync-flags", "csync-below-apex", "wildcard-alias-of-itself"},
}
"""Faults for which a server does not load the zone; PowerDNS reads no CSYNC records in the form for unknown types, and
gives SERVFAIL in place of an alias of itself. Knot 3.2 crashes at a query with DO where there is no NSEC3 chain."""
WITHOUT_PROOFS = {
    "A-nsec3param-fits",
    "A-proof-ds",
    "A-proof-empty",
    "A-proof-nodata",
    "A-proof-nxdomain",
    "A-proof-wildcard",
    "A-proof-wildcard-nodata",
}
SHOWS_OTHERWISE = {
    # Knot gives signatures their Original TTL as TTL, so that the zone's digest is another, too.
    ("knot", "wrong-original-ttl"): {"A-original-ttl", "A-rrsig-ttl", "A-zonemd"},
    # BIND gives SERVFAIL where it has not the record for a proof.
    ("bind", "one-missing-nsec"): {"A-chain-complete", "A-proof-nodata"},
    # Knot gives SERVFAIL for referrals and wildcards where it has not the record for a proof.
    ("knot", "nsec3param-of-no-chain"): {
        "A-denial-soa",
        "A-dnssec-answers",
        "A-nsec3param-fits",
        "A-proof-empty",
        "A-proof-nodata",
        "A-proof-nxdomain",
        "A-referral-do",
        "A-same",
        "A-types",
    },
    # BIND proves nothing by NSEC records beside an NSEC3PARAM record; the embedded server nothing in referrals either.
    ("bind", "nsec3param-beside-nsec"): WITHOUT_PROOFS,
    ("embedded", "nsec3param-beside-nsec"): WITHOUT_PROOFS | {"A-referral-insecure"},
    # NSD leaves signatures of a zone without keys out.
    ("nsd", "leftover-signatures"): set(),
    # PowerDNS makes NSEC records of its own at names below a DNAME record, which the zone's signatures are not of.
    ("powerdns", "data-below-dname"): {
        "A-axfr-complete",
        "A-chain-names",
        "A-occluded",
        "A-rrsig",
        "A-signatures-valid",
        "A-zonemd",
    },
}
"""Where a server serves a faulty zone otherwise than it stands in the file: the items that fail then."""


@dataclass(frozen=True)
class Zones:
    """The rig's zones, and those with faults, by name."""

    right: dict[str, RigZone]
    faulty: dict[str, RigZone]


@dataclass(frozen=True)
class Started:
    """A server with the rig's zones and those with faults that it is to show."""

    kind: str
    version: str
    endpoint: Endpoint
    zones: Zones
    faults: tuple[ZoneFault, ...] = ()
    tsig: dns.tsig.Key | None = None

    def deviating(self, variant: str) -> set[str]:
        """Give the items that the server is known to fail in a variant of the rig's zone."""
        return set(deviating_items("authoritative", self.kind, self.version, variant))

    def subject(self, zone: RigZone, peer: Endpoint | None = None) -> AuthoritativeSubject:
        return AuthoritativeSubject(
            Asker(self.endpoint, udp_waits_s=(2.0, 4.0), tcp_wait_s=2.0),
            zone.landmarks,
            given_ds=zone.ds,
            peers=(Asker(peer or self.endpoint),),
            tsig=self.tsig,
        )


def dnssec_items() -> list[KnownItem]:
    return [
        known
        for known in items("authoritative")
        if known.item.group.startswith(("DNSSEC", "Zone transfer", "Zone data"))
    ]


def items_with(fault: str) -> list[KnownItem]:
    """Give the items that a fault of a zone meets: those that it may reach, and a share of the others, or all."""
    about_data = dnssec_items()
    return [*about_data, *chosen_with(fault, [one for one in items("authoritative") if one not in about_data])]


def verdicts(subject: AuthoritativeSubject, chosen: Sequence[KnownItem] = ()) -> dict[str, Result]:
    return {result.item.id: result for result in run_items(chosen or dnssec_items(), subject)}


def those(results: dict[str, Result], *wanted: Verdict) -> set[str]:
    return {item_id for item_id, result in results.items() if result.outcome.verdict in wanted}


def naming(fault: str) -> set[str]:
    return {known.item.id for known in items("authoritative") if fault in known.item.faults}


def reasons(results: dict[str, Result]) -> dict[str, str]:
    return {item_id: results[item_id].outcome.reason for item_id in those(results, Verdict.FAIL)}


def shows(server: str, fault: ZoneFault) -> bool:
    if fault.name in REFUSES.get(server, ()):
        return False
    return server not in MAKES_THE_CHAIN or fault.name not in CHAIN_FAULTS


def faults_before(server: str) -> tuple[ZoneFault, ...]:
    """Give the faults whose zones a server is to serve."""
    installed = {name: found.version for name in SERVERS if (found := driver(name).find()) is not None}
    found = []
    for place, fault in enumerate(zone_faults()):
        able = {name: version for name, version in installed.items() if shows(name, fault)}
        if server in in_turn("authoritative", WITH_FAULTS, (place, fault.name), able):
            found.append(fault)
        if server in installed.keys() - able.keys():
            keep_unable("authoritative", fault.name, (server, installed[server]), WITH_FAULTS)
    return tuple(sorted(found, key=is_lasting))


def is_lasting(fault: ZoneFault) -> bool:
    """Say whether a zone stays as it is for long: one with signatures that expire soon has none but those some day."""
    return not 0 < fault.variant.expiration_s < LASTS_S


@pytest.fixture(scope="module")
def zones(tmp_path_factory: pytest.TempPathFactory) -> Zones:
    folder = tmp_path_factory.mktemp("zones")
    right = {name: make_zone(folder, variant) for name, variant in VARIANTS.items()}
    return Zones(right, {fault.name: fault.make(folder) for fault in zone_faults()})


@pytest.fixture(scope="module", params=SERVERS)
def started(
    request: pytest.FixtureRequest, zones: Zones, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Started]:
    kind = driver(request.param)
    if kind.find() is None:
        pytest.skip(f"needs {kind.title}: install the Debian package {kind.package}")
    faults = faults_before(request.param)
    fresh = {fault.name: fault.make(tmp_path_factory.mktemp("fresh")) for fault in faults if not is_lasting(fault)}
    zones = replace(zones, faulty={**zones.faulty, **fresh})
    served = [*zones.right.values(), *(zones.faulty[fault.name] for fault in faults)]
    folder = tmp_path_factory.mktemp(request.param)
    with kind([ServedZone(zone.name, zone.path) for zone in served], settings_of(kind), folder / "server") as server:
        tsig = key_of_settings(server.settings)
        yield Started(request.param, server.version, Endpoint(*server.address), zones, faults, tsig)


@pytest.mark.parametrize("variant", VARIANTS)
def test_servers_that_are_right_fail_no_item(started: Started, variant: str) -> None:
    results = verdicts(started.subject(started.zones.right[variant]))
    right = passed_of(results.values())
    keep_right("authoritative", (started.kind, started.version), reasons(results), right, f"zone {variant}")
    assert set(reasons(results)) == started.deviating(variant) & results.keys(), reasons(results)
    assert those(results, Verdict.INCONCLUSIVE) == set()


def wrong_with(started: Started, fault: ZoneFault) -> object:
    """Give what should have failed and what did, where they differ."""
    results = verdicts(started.subject(started.zones.faulty[fault.name]), items_with(fault.name))
    expected = naming(fault.name) - those(results, Verdict.NOT_APPLICABLE)
    expected = SHOWS_OTHERWISE.get((started.kind, fault.name), expected) & results.keys()
    known = started.deviating(fault.variant.chain)
    failed = set(reasons(results)) - (known - expected)
    keep("authoritative", fault.name, (started.kind, started.version), failed, WITH_FAULTS)
    return (expected, reasons(results)) if set(reasons(results)) - known != expected - known else None


def test_each_fault_of_a_zone_fails_its_items(started: Started) -> None:
    with ThreadPoolExecutor(ZONES_AT_ONCE) as pool:
        found = dict(
            zip(started.faults, pool.map(lambda fault: wrong_with(started, fault), started.faults), strict=True)
        )
    wrong = {fault.name: said for fault, said in found.items() if said is not None}
    assert not wrong, "\n".join(f"{name}: {said}" for name, said in wrong.items())


@pytest.mark.skipif(NEW_PAIRS, reason="of the pairs only those are run that are new")
def test_every_fault_of_a_zone_is_tried() -> None:
    assert {fault for server in SERVERS for fault in faults_before(server)} == set(zone_faults())


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
        started = Started("embedded", "", endpoints[0], Zones({}, {}))
        results = verdicts(started.subject(zones[0], peer=endpoints[1]))
    keep("authoritative", "stale-secondary", ("embedded", servers[0].version), reasons(results), SECONDARIES)
    assert set(reasons(results)) == naming("stale-secondary") == {"A-peers-dnskey", "A-peers-nsec3param"}
