"""Faults of servers before every server: exactly the items that name them fail, and without fault none does."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import dns.name
import pytest
from dnsrig.items.catalogue import all_items, items
from dnsrig.servers.base import ServedZone
from dnsrig.servers.registry import driver, drivers
from dnsrig.servers.resolvers.registry import resolver_drivers
from dnsrig.verification.deviations import deviating_items, deviations
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults import dnssec, dnssec_deep, dnssec_delegations, dnssec_denials
from dnsrig.verification.faults.catalogue import all_faults, faults_of
from dnsrig.verification.faults.relay import NO_FAULT
from dnsrig.verification.faults.secondaries import SECONDARY_FAULTS
from dnsrig.verification.faults.zone_catalogue import zone_faults
from dnsrig.verification.landmarks import Landmarks
from dnsrig.verification.targets import settings_of
from dnsrig.verification.tsig_keys import key_of_settings
from dnsrig.verification.zones.making import VARIANTS, RigZone
from dnsrig.verification.zones.making import make_zone as make_rig_zone
from matrix_record import keep, keep_right, keep_unable
from matrix_runs import Cell, Task, processes, run_task
from protocol_zone import make_zone
from turns import NEW_PAIRS, TIMEOUT_S, in_turn

pytestmark = pytest.mark.timeout(TIMEOUT_S)

SERVERS = ("embedded", "bind", "nsd", "knot", "powerdns")
ITEMS = {known.item.id: known.item for known in items("authoritative")}
ABOUT_DNSSEC = {item.id for item in ITEMS.values() if item.group.startswith(("DNSSEC", "Zone transfer", "Zone data"))}
"""Whether these can be tried depends on the zone; test_dnssec_items.py has zones for all of them."""
ALL_LANDMARKS = "all-landmarks"
FAULTS = {
    # All faults, with a zone that has every landmark; the other is a variant of the rig's.
    ALL_LANDMARKS: [fault.name for fault in faults_of("authoritative")],
    "nsec3": [
        fault.name for topic in (dnssec, dnssec_deep, dnssec_delegations, dnssec_denials) for fault in topic.FAULTS
    ],
}
NOT_SHOWN_BY_ALL = {"A-cookie", "A-nsid"}
"""Items about what servers may leave out, and do as shipped."""
CANNOT_TELL = {"A-notify"}
"""Inconclusive before a server that is right: BIND acknowledges a NOTIFY to a primary."""
NOT_SHOWN = {
    ("powerdns", "strips-rrsig-of-dname"),
    ("powerdns", "signs-synthesised-cname"),
    ("powerdns", "wildcard-below-names-with-do"),
    ("nsd", "clears-tc"),
    ("embedded", "ixfr-of-another-version"),
    ("powerdns", "ixfr-of-another-version"),
}
"""PowerDNS as it ships does not answer by DNAME records (dname-processing): names below them do not exist.

NSD's responses of less than its limit are whole. The embedded server and PowerDNS give no zone to those who
ask by IXFR.
"""
ALSO = {
    ("nsd", "cuts-without-tc"): {"A-denial-soa"},
    ("powerdns", "two-soas"): {"A-ixfr"},
    **{(server, "drops-large"): {"A-86"} for server in ("nsd", "knot", "embedded")},
    **{(server, "drops-large-by-tcp"): {"A-any"} for server in ("bind", "embedded")},
}
"""What a fault breaks besides, for what a server happens to answer.

NSD has a denial in more than the 512 octets that are cut; PowerDNS answers IXFR by its
SOA record, which then is two. NSD, Knot and the embedded server have responses between 1220 octets and their limit.
BIND and the embedded server give all RRsets of a name to ANY by TCP.
"""
BESIDE = {
    "cuts-tcp": {"A-same"},
    "cuts-without-tc": {"A-same"},
    "clears-tc": {"A-same"},
    "hides-nsec3param": {"A-same"},
    "wrong-nsec3param": {"A-same"},
    "noerror-below-names": {"A-dnssec-answers"},
    "ecs-unasked": {"A-edns-options"},
    "keeps-first-string": {"A-peers-data"},
    "referral-in-answer": {"A-types"},
    "referral-in-answer-with-do": {"A-types"},
    "referral-with-aa": {"A-types"},
    "referral-with-aa-with-do": {"A-types"},
    "servfail-to-mx": {"A-referral"},
    "servfail-to-ns-of-delegations": {"A-referral"},
    "nxdomain-for-ds": {"A-ds-at-apex", "A-rare-types"},
}
"""What a fault may break besides, before whichever server: keys or NSEC3PARAM records differ by how they are asked for,
a name exists with DO alone, another client subnet comes than was sent, or other data than the secondary has; referrals
are wrong for some types, too."""
OF_SECONDARIES = {fault.name for fault in SECONDARY_FAULTS}
"""Faults of a zone's other servers: see test_dnssec_items.py and test_secondaries.py."""
PASSED = ("pass", "pass_by_tcp")


@dataclass(frozen=True)
class Matrix:
    """The cells of every server by zone and fault, and how to see one again with patience."""

    cells: dict[tuple[str, str, str], Cell]
    tasks: Mapping[tuple[str, str, str], Task]
    versions: Mapping[str, str]
    again: set[tuple[str, str, str]] = field(default_factory=set)
    """Those that were seen again already."""

    def deviating(self, server: str, zone: str) -> set[str]:
        return set(deviating_items("authoritative", server, self.versions[server], zone))

    def tried(self, server: str, zone: str) -> list[str]:
        """Give the faults that were put before a server."""
        return [fault for one, other, fault in self.tasks if (one, other) == (server, zone) and fault != NO_FAULT.name]

    def mistaken(self, server: str, zone: str, fault: str, cell: Cell) -> set[str]:
        """Give the items whose verdict is wrong."""
        if fault == NO_FAULT.name:
            return cell.failed ^ self.deviating(server, zone)
        named = {item.id for item in ITEMS.values() if fault in item.faults}
        right = self.right(server, zone)
        # Some faults make it seem that the server has what it has not.
        shown = set().union(*(right.of_verdict(verdict) for verdict in PASSED)) | NOT_SHOWN_BY_ALL
        # Known deviations are so without the fault too. What else fails without it, fails another test.
        excused = self.deviating(server, zone) | ALSO.get((server, fault), set()) | BESIDE.get(fault, set())
        return (cell.failed - named - excused) | ((named & shown) - cell.failed)

    def right(self, server: str, zone: str) -> Cell:
        """Give what is found without fault; what a busy machine made of an item there would excuse it everywhere."""
        key = server, zone, NO_FAULT.name
        untold = self.cells[key].of_verdict("inconclusive") - CANNOT_TELL
        if key not in self.again and (untold or self.mistaken(*key, self.cells[key])):
            self.again.add(key)
            self.cells[key] = run_task(replace(self.tasks[key], is_patient=True))
        return self.cells[key]

    def keep(self, server: str, zone: str, fault: str, cell: Cell) -> None:
        """Keep what failed for the page of the matrix; beside a fault, without the known deviations."""
        of, part = (server, self.versions[server]), f"zone {zone}"
        if fault == NO_FAULT.name:
            right = set().union(*(cell.of_verdict(verdict) for verdict in PASSED))
            keep_right("authoritative", of, cell.failed, right, part)
        else:
            keep("authoritative", fault, of, cell.failed - self.deviating(server, zone), part)

    def wrong(self, server: str, zone: str, fault: str) -> str:
        """Say which items are mistaken, also when they are asked with patience: a busy machine loses messages."""
        key = server, zone, fault
        self.keep(*key, self.cells[key])
        if not self.mistaken(*key, self.cells[key]):
            return ""
        again = run_task(replace(self.tasks[key], is_patient=True))
        self.keep(*key, again)
        mistaken = self.mistaken(*key, again)
        return f"{fault} before {server}, {zone}:\n{again.says(mistaken)}" if mistaken else ""


def make_zones(folder: Path) -> dict[str, RigZone]:
    path, landmarks = make_zone(folder)
    nsec3 = make_rig_zone(folder, VARIANTS["nsec3"])
    return {ALL_LANDMARKS: RigZone(origin=landmarks.origin, path=path, landmarks=landmarks), "nsec3": nsec3}


def tasks_of(
    tasks: Mapping[tuple[str, str], Task], versions: Mapping[str, str]
) -> Iterator[tuple[tuple[str, str, str], Task]]:
    """Give what is to be run with which fault; `tasks` has what is to be run without, by server and zone."""
    for (server, zone), task in tasks.items():
        yield (server, zone, NO_FAULT.name), task
    needs = {fault.name: fault.needs for fault in all_faults()}
    for zone, faults in FAULTS.items():
        without = {server: task for (server, other), task in tasks.items() if other == zone}
        subjects = {server: task.subject(task.endpoint) for server, task in without.items()}
        for place, fault in enumerate(faults):
            able = [
                server
                for server, subject in subjects.items()
                if (server, fault) not in NOT_SHOWN and not any(subject.lacks(need) for need in needs[fault])
            ]
            for server in subjects.keys() - set(able):
                keep_unable("authoritative", fault, (server, versions[server]), f"zone {zone}")
            of_able = {server: versions[server] for server in able}
            for server in in_turn("authoritative", f"zone {zone}", (place, fault), of_able):
                yield (server, zone, fault), replace(without[server], fault=fault)


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matrix]:
    folder = tmp_path_factory.mktemp("matrix")
    zones = make_zones(folder)
    without, versions = {}, {}
    with ExitStack() as running:
        for name in SERVERS:
            kind = driver(name)
            if kind.find() is None:
                continue
            served = [ServedZone(zone.name, zone.path) for zone in zones.values()]
            server = running.enter_context(kind(served, settings_of(kind), folder / name))
            versions[name] = server.version
            endpoint, tsig = Endpoint(*server.address), key_of_settings(server.settings)
            for of, zone in zones.items():
                task = Task(name, NO_FAULT.name, endpoint, zone.landmarks, zone.ds or None, tsig=tsig)
                without[name, of] = task
        tasks = dict(tasks_of(without, versions))
        run = running.enter_context(processes())
        cells = dict(zip(tasks, run(list(tasks.values())), strict=True))
        yield Matrix(cells, tasks, versions)


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, matrix: Matrix) -> str:
    kind = driver(request.param)
    if request.param not in matrix.versions:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    return str(request.param)


@pytest.mark.parametrize("zone", FAULTS)
def test_servers_without_fault_fail_no_item(matrix: Matrix, server: str, zone: str) -> None:
    wrong = matrix.wrong(server, zone, NO_FAULT.name)
    assert not wrong, wrong


def test_every_item_can_be_tried_before_a_server_that_is_right(matrix: Matrix, server: str) -> None:
    key = server, ALL_LANDMARKS, NO_FAULT.name
    cell = matrix.cells[key]
    if cell.of_verdict("inconclusive") - ABOUT_DNSSEC - CANNOT_TELL:
        # A busy machine loses messages.
        cell = run_task(replace(matrix.tasks[key], is_patient=True))
    for verdict, allowed in (("not_applicable", NOT_SHOWN_BY_ALL), ("inconclusive", CANNOT_TELL)):
        found = cell.of_verdict(verdict) - ABOUT_DNSSEC
        assert found <= allowed, cell.says(found)


@pytest.mark.parametrize("zone", FAULTS)
def test_faults_fail_exactly_the_items_that_name_them(matrix: Matrix, server: str, zone: str) -> None:
    wrong = [said for fault in matrix.tried(server, zone) if (said := matrix.wrong(server, zone, fault))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("fault", "verdict"), [("sets-ra", "fail"), ("discards-pipelined", "pass"), ("discards-pipelined", "inconclusive")]
)
def test_what_fails_by_chance_without_fault_excuses_nothing(
    fault: str, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cell(name: str, found: str) -> Cell:
        return Cell("bind", name, {"A-pipelining": (found, "as it was")})

    key = "bind", ALL_LANDMARKS, NO_FAULT.name
    task = Task(key[0], key[2], Endpoint("192.0.2.1"), Landmarks(dns.name.root))
    monkeypatch.setattr(sys.modules[__name__], "run_task", lambda _: cell(NO_FAULT.name, "pass"))
    by_chance = Matrix({key: cell(NO_FAULT.name, "fail")}, {key: task}, {"bind": "9.18.49"})
    assert by_chance.mistaken("bind", ALL_LANDMARKS, fault, cell(fault, verdict)) == {"A-pipelining"}


@pytest.mark.skipif(NEW_PAIRS, reason="of the pairs only those are run that are new")
def test_every_fault_is_tried(matrix: Matrix) -> None:
    tried = {fault for _, _, fault in matrix.tasks} - {NO_FAULT.name}
    assert tried == set(FAULTS[ALL_LANDMARKS])


def test_faults_that_items_name_exist_and_each_is_named() -> None:
    named = {fault for item in ITEMS.values() for fault in item.faults}
    of_zones = {fault.name for fault in zone_faults()}
    assert {*FAULTS[ALL_LANDMARKS], *of_zones} <= named
    assert named <= {fault.name for fault in all_faults()} | of_zones | OF_SECONDARIES


def test_deviations_are_of_items_and_servers_that_exist() -> None:
    every = {known.item.id: known.item.role for known in all_items()}
    for known in deviations():
        assert every[known.item] == known.role, known
        assert known.server in {**drivers(), **resolver_drivers()}, known
        assert known.reason.endswith("."), known
        assert set(known.zones) <= VARIANTS.keys(), known


@pytest.mark.parametrize("known", list(all_items()), ids=lambda known: known.item.id)
def test_items_have_whole_sentences(known) -> None:
    item = known.item
    for text in (item.requirement, item.consequence, item.procedure):
        assert text.endswith("."), text
        assert text[0].isupper() or text[0].isdigit() or text.startswith("dnsrig"), text
    assert item.references and item.dig
    assert item.faults
