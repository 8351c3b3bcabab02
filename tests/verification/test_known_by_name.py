"""Servers of which only the zone's name is known: what is wrong is found by asking, and odd answers end nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import dns.name
import pytest
from dns.rdatatype import RdataType
from dnsrig.items.catalogue import items
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.nsd import Nsd
from dnsrig.verification.asker import Asker
from dnsrig.verification.discovery import NOTHING_TOLD, ToldNames, discover
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.faults.zone_chains import change_types
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome
from dnsrig.verification.zones.editing import ZoneEditor
from dnsrig.verification.zones.making import VARIANTS, make_zone

ORIGIN = dns.name.from_text("known-by-name.test")


@contextmanager
def served(folder: Path, edit: Callable[[ZoneEditor], None] = lambda _: None) -> Iterator[Endpoint]:
    """Serve a zone that nobody may transfer."""
    if Nsd.find() is None:
        pytest.skip("NSD is not installed: install the Debian package nsd")
    editor = ZoneEditor(make_zone(folder, VARIANTS["nsec"], ORIGIN.to_text()))
    edit(editor)
    zone = editor.finish()
    with Nsd([ServedZone(zone.name, zone.path)], ServerSettings(), folder / "server") as server:
        yield Endpoint(*server.address)


def outcome(
    item_id: str,
    endpoint: Endpoint,
    fault: str = NO_FAULT.name,
    *,
    told: ToldNames = NOTHING_TOLD,
    is_near: bool = False,
) -> Outcome:
    chosen = [one for one in items("authoritative") if one.item.id == item_id]
    with Relay(endpoint, NO_FAULT if fault == NO_FAULT.name else fault_named(fault)) as relay:
        asker = Asker(relay.endpoint)
        marks = discover(asker, ORIGIN, told)
        (result,) = run_items(chosen, AuthoritativeSubject(asker, marks, may_resolve_for_us=is_near))
    return result.outcome


def test_a_referral_upward_is_no_delegation_of_the_zone(tmp_path: Path) -> None:
    cut = dns.name.from_text("insecure", ORIGIN)
    with served(tmp_path) as endpoint:
        found = outcome("A-referral", endpoint, "upward-for-delegations", told=ToldNames(delegations=(cut,)))
    assert found.verdict == "fail" and "upward" in found.reason, found


def test_ra_of_a_server_that_refuses_is_no_recursion_for_neighbours(tmp_path: Path) -> None:
    with served(tmp_path) as endpoint:
        assert outcome("A-ra", endpoint, is_near=True).verdict == "pass"
        assert outcome("A-ra", endpoint, "sets-ra", is_near=True).verdict == "fail"


def _deny_addresses(zone: ZoneEditor) -> None:
    change_types(zone, zone.name("ns1"), {RdataType.AAAA}, set())


def _lose_data(zone: ZoneEditor) -> None:
    for covers in (RdataType.NONE, RdataType.A):
        rtype = RdataType.RRSIG if covers else RdataType.A
        zone.data.delete_rdataset(zone.name("mail"), rtype, covers)


@pytest.mark.parametrize(
    ("edit", "says"), [(_deny_addresses, "does not list AAAA"), (_lose_data, "lists A, which is not answered")]
)
def test_bitmaps_of_all_names_are_compared(tmp_path: Path, edit: Callable[[ZoneEditor], None], says: str) -> None:
    with served(tmp_path, edit) as endpoint:
        found = outcome("A-bitmap-honest", endpoint)
    assert found.verdict == "fail" and says in found.reason, found


def test_right_bitmaps_accuse_nobody(tmp_path: Path) -> None:
    with served(tmp_path) as endpoint:
        assert outcome("A-bitmap-honest", endpoint).verdict == "pass"
