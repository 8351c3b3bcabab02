"""What items say of a chain beyond their verdict: which parameters do not fit, all gaps, and how little was seen."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dns.name
import dns.rdata
import pytest
from dns.rdatatype import RdataType
from dnsrig.items.authoritative import (
    a_bitmap_own_types,
    a_chain_closed,
    a_chain_names,
    a_nsec3_flags,
    a_nsec3param_fits,
)
from dnsrig.items.authoritative._chain import Link, extent
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.landmarks import Landmarks
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.zones.editing import ZoneEditor
from dnsrig.verification.zones.making import VARIANTS, RigZone, make_zone

WITHOUT_TRANSFER = "nsd"


@contextmanager
def serving(zone: RigZone, folder: Path) -> Iterator[Asker]:
    """Serve a zone without transferring it."""
    kind = driver(WITHOUT_TRANSFER)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    with kind([ServedZone(zone.name, zone.path)], ServerSettings(), folder / "server") as server:
        yield Asker(Endpoint(*server.address))


@pytest.mark.parametrize("changes", [{"salt": b"\xaa\xbb"}, {"iterations": 3}], ids=str)
def test_parameters_that_do_not_fit_are_named(changes: Mapping[str, object], tmp_path: Path) -> None:
    """Servers hash by the NSEC3PARAM record, find no chain, and leave the NSEC3 records out."""
    editor = ZoneEditor(make_zone(tmp_path, VARIANTS["nsec3"]))
    there = editor.rdataset(editor.origin, RdataType.NSEC3PARAM)
    editor.put(editor.origin, RdataType.NSEC3PARAM, there.ttl, [one.replace(**changes) for one in there])
    editor.sign(editor.origin, RdataType.NSEC3PARAM)
    zone = editor.finish()
    with serving(zone, tmp_path) as asker:
        for landmarks, said in (
            (zone.landmarks, "The zone's NSEC3 records have algorithm 1, 0 iterations, salt -, of which"),
            (Landmarks(zone.origin), "Denials have neither NSEC3 nor NSEC records, though there is"),
        ):
            outcome = a_nsec3param_fits.check(AuthoritativeSubject(asker, landmarks))
            assert outcome.verdict is Verdict.FAIL and outcome.reason.startswith(said), outcome.reason


@pytest.mark.parametrize(
    "item",
    [a_chain_closed, a_chain_names, a_bitmap_own_types, a_nsec3_flags, a_nsec3param_fits],
    ids=lambda one: one.ITEM.id,
)
def test_how_little_was_seen_is_said(item: Any, hundred: tuple[RigZone, Asker]) -> None:
    zone, asker = hundred
    outcome = item.check(AuthoritativeSubject(asker, Landmarks(zone.origin)))
    assert outcome.verdict is Verdict.PASS
    # One or two records in a hundred, or some more of those that are long.
    assert "; they span " in outcome.reason and "% of the chain, and of the rest nothing" in outcome.reason, (
        outcome.reason
    )
    whole = item.check(AuthoritativeSubject(asker, zone.landmarks))
    assert whole.reason.endswith("; the chain was seen whole."), whole.reason


@pytest.fixture(scope="module")
def hundred(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RigZone, Asker]]:
    """Serve a zone of which asking alone shows next to nothing."""
    folder = tmp_path_factory.mktemp("hundred")
    hosts = "".join(f"h{number} A 192.0.2.2\n" for number in range(100))
    records = f"$TTL 3600\n@ SOA ns1 hostmaster 1 7200 900 604800 300\n@ NS ns1\nns1 A 192.0.2.1\n{hosts}"
    zone = make_zone(folder, VARIANTS["nsec3"], "hundred.dnsrig.test.", records=records)
    with serving(zone, folder) as asker:
        yield zone, asker


ONE, HALF = "0" * 32, "g" + "0" * 31
"""The first hash, and that in the middle."""
NEAR = "0" * 31 + "1"
AROUND = "the chain was seen whole"


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([f"{ONE} NSEC3 1 0 0 - {ONE} A"], AROUND),
        ([f"{ONE} NSEC3 1 0 0 - {HALF} A", f"{HALF} NSEC3 1 0 0 - {ONE} A"], AROUND),
        ([f"{ONE} NSEC3 1 0 0 - {HALF} A"], "they span 50 % of the chain, and of the rest nothing is known"),
        ([f"{HALF} NSEC3 1 0 0 - {ONE} A"], "they span 50 % of the chain, and of the rest nothing is known"),
        (
            [f"{ONE} NSEC3 1 0 0 - {NEAR} A"],
            "they span less than 0.01 % of the chain, and of the rest nothing is known",
        ),
        ([f"{NEAR} NSEC3 1 0 0 - {ONE} A"], "they span 99.9 % of the chain, and of the rest nothing is known"),
        (["@ NSEC a A", "a NSEC @ A"], AROUND),
        (["@ NSEC a A"], "the chain goes on after 1 of them, with records that were not seen"),
        (["@ NSEC \\000.@ A"], "they are made on the fly"),
    ],
)
def test_how_much_of_a_chain_is_seen(records: list[str], said: str) -> None:
    origin = dns.name.from_text("example.")
    links = []
    for line in records:
        owner, kind, text = line.split(maxsplit=2)
        record = dns.rdata.from_text("IN", kind, text.replace(".@", ""), origin=origin, relativize=False)
        links.append(Link(dns.name.from_text(owner, origin), record, 300, None))  # type: ignore[arg-type]
    assert extent(links) == said


def test_all_gaps_of_a_chain_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chain is gone on with at the next name that is known."""
    hosts = "".join(f"h{number} A 192.0.2.2\n" for number in range(10, 50))
    records = f"$TTL 3600\n@ SOA ns1 hostmaster 1 7200 900 604800 300\n@ NS ns1\nns1 A 192.0.2.1\n{hosts}"
    editor = ZoneEditor(make_zone(tmp_path, VARIANTS["nsec"], "gaps.dnsrig.test.", records=records))
    # Canonical order: h15 to h18, h20 to h25, and two that point to names which are not there.
    for owner, following in (("h15", "h18"), ("h20", "h25"), ("h30", "h300"), ("h40", "h400")):
        editor.change_links(lambda fields, to=following: fields.update(next=editor.name(to)), editor.name(owner))
    zone = editor.finish()
    gaps = [
        "h15.gaps.dnsrig.test. NSEC covers h16.gaps.dnsrig.test., which has such a record itself",
        "h20.gaps.dnsrig.test. NSEC covers h21.gaps.dnsrig.test., which has such a record itself",
        "h30.gaps.dnsrig.test. NSEC points to h300.gaps.dnsrig.test., which does not exist",
        "h40.gaps.dnsrig.test. NSEC points to h400.gaps.dnsrig.test., which does not exist",
    ]
    with serving(zone, tmp_path) as asker:
        outcome = a_chain_closed.check(AuthoritativeSubject(asker, zone.landmarks))
        assert outcome.verdict is Verdict.FAIL
        assert outcome.reason == f"{gaps[0]}, and 3 more records do not fit either."
        assert sorted(outcome.evidence[0].text.splitlines()) == gaps
        monkeypatch.setattr(a_chain_closed, "NEXT_ASKED", 1)
        outcome = a_chain_closed.check(AuthoritativeSubject(asker, zone.landmarks))
        end = "; not asked for: 1 further name that records point to."
        assert outcome.reason == f"{gaps[0]}, and 2 more records do not fit either{end}"
