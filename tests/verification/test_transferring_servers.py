"""Real servers that transfer zones, to a second one too: those that the rig starts, and as others are set up."""

import json
from pathlib import Path

import dns.name
import dns.rrset
import pytest
from dnsrig.cli.app import run_command_line
from dnsrig.errors import SubjectFailedError
from dnsrig.items.authoritative import a_axfr_complete, a_axfr_form
from dnsrig.items.catalogue import items
from dnsrig.servers.base import ServedZone, Server, ServerSettings
from dnsrig.servers.knot import Knot
from dnsrig.servers.nsd import Nsd
from dnsrig.servers.registry import driver
from dnsrig.verification import targets
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import deviating_items, known_deviations, why_known
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.item import KnownItem
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.targets import Told, authoritative_target, secondary_of, settings_of
from dnsrig.verification.transfer import Course, transfer
from dnsrig.verification.tsig_keys import key_of_settings
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.zones.making import VARIANTS, make_zone

SERVERS = ("embedded", "bind", "nsd", "knot", "powerdns", "dnsdist+nsd")
OF_ALL = {"A-axfr", "A-ixfr"}
"""Items about transfers that need none."""
JUDGED = {Verdict.PASS, Verdict.FAIL}
GIVES_TO_ANYONE_HERE = {"embedded", "powerdns"}
ORIGIN_OF_NSEC3 = dns.name.from_text("nsec3.dnsrig.test.")
ACL = "acl:\n  - id: rig\n    address: 127.0.0.1\n    action: transfer\n\n"


class TransferringKnot(Knot):
    """Knot DNS with an ACL."""

    def render(self) -> dict[str, str]:
        """Allow transfers to this host."""
        return {
            name: text.replace("\nzone:", f"\n{ACL}zone:").replace("    file: ", "    acl: rig\n    file: ")
            for name, text in super().render().items()
        }


class TransferringNsd(Nsd):
    """NSD with secondaries."""

    def render(self) -> dict[str, str]:
        """Allow transfers to this host."""
        provide = "    provide-xfr: 127.0.0.1 NOKEY\n"
        return {
            name: text.replace("    zonefile: ", f"{provide}    zonefile: ") for name, text in super().render().items()
        }


@pytest.mark.parametrize("kind", [TransferringKnot, TransferringNsd])
def test_transfers_are_not_accused_but_for_what_is_known(kind: type[Server], tmp_path: Path) -> None:
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    zone = make_zone(tmp_path, VARIANTS["nsec3"])
    with kind([ServedZone(zone.name, zone.path)], ServerSettings(), tmp_path / "server") as server:
        subject = AuthoritativeSubject(Asker(Endpoint(*server.address)), zone.landmarks)
        assert subject.lacks("transfer") is None
        assert a_axfr_complete.check(subject).verdict is Verdict.PASS
        form = a_axfr_form.check(subject)
    known = known_deviations("authoritative", server.name, server.version, is_of_rig=False)
    is_known = why_known(known, "A-axfr-form", form.reason) is not None
    assert form.verdict is (Verdict.FAIL if is_known else Verdict.PASS), form
    assert is_known == (server.name == "knot")


@pytest.mark.parametrize("name", ["bind", "nsd", "knot"])
def test_a_key_that_the_server_does_not_take_is_told(
    capsys: pytest.CaptureFixture[str], name: str, tmp_path: Path
) -> None:
    kind = driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    zone = make_zone(tmp_path, VARIANTS["unsigned"])
    with kind([ServedZone(zone.name, zone.path)], settings_of(kind), tmp_path / "server") as server:
        command = ["verify", "authoritative", str(Endpoint(*server.address)), "--zone", str(zone.name)]
        chosen = ["--item", "A-axfr-complete", "--json"]
        assert run_command_line([*command, *chosen, "--tsig", "hmac-sha256:other.:c2VjcmV0"]) == 2
        assert "does not take the TSIG key: The peer didn't know the key we used (other. at " in capsys.readouterr().err
        assert run_command_line([*command, *chosen]) == 2
    reason = json.loads(capsys.readouterr().out)["items"][0]["reason"]
    assert reason.endswith("; --tsig-file names a key that it may want.")


def about_transfers() -> list[KnownItem]:
    """Give the items about zone transfers, and those that compare the servers of a zone."""
    wanted = {"transfer", "peers"}
    return [known for known in items("authoritative") if wanted & {*known.item.needs} or known.item.id in OF_ALL]


@pytest.mark.parametrize("name", SERVERS)
def test_transfers_and_secondaries_are_tried_with_servers_of_the_rig(name: str, tmp_path: Path) -> None:
    kind = driver(name)
    installation = kind.find()
    if installation is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    with authoritative_target(name, 53, Told(), tmp_path) as target:
        (subject,) = (one for one in target.subjects if one.origin == ORIGIN_OF_NSEC3)
        results = {one.item.id: one.outcome for one in run_items(about_transfers(), subject)}
    told = {item: f"{outcome.verdict}: {outcome.reason}" for item, outcome in results.items()}
    known = deviating_items("authoritative", name, installation.version, "nsec3")
    failing = {item for item, outcome in results.items() if outcome.verdict is Verdict.FAIL}
    assert failing == known.keys() & results.keys(), told
    assert {item for item, outcome in results.items() if outcome.verdict not in JUDGED} == set(), told
    if kind.transfers_by_key:
        assert "signed by TSIG 2 are answered" in told["A-ixfr"]
    # Strangers get the zone where the server ships so.
    assert ("A-axfr" in failing) == (name in GIVES_TO_ANYONE_HERE)


@pytest.mark.parametrize("name", [name for name in SERVERS if driver(name).takes_transfers])
def test_a_secondary_of_the_rig_has_its_zones_by_transfer(name: str, tmp_path: Path) -> None:
    kind = driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    zone = make_zone(tmp_path, VARIANTS["nsec3"])
    served = [ServedZone(zone.name, zone.path)]
    with (
        kind(served, settings_of(kind), tmp_path / "server") as server,
        secondary_of(server, tmp_path / "secondary") as second,
    ):
        assert second.address != server.address
        assert all(str(zone.path) not in text for text in second.render().values())
        key = key_of_settings(server.settings)
        wanted, found = (transfer(Asker(Endpoint(*one.address)), zone.origin, key) for one in (server, second))
    assert wanted.zone is not None
    assert sorted(map(str, found.rrsets)) == sorted(map(str, wanted.rrsets))


def test_the_command_compares_a_server_with_a_second_one(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["verify", "authoritative", "embedded", "--item", "A-peers-serial", "--item", "A-axfr-complete", "--json"]
    assert run_command_line(command) == 0
    found = {one["id"]: one["verdict"] for one in json.loads(capsys.readouterr().out)["items"]}
    assert found == {"A-peers-serial": "pass", "A-axfr-complete": "pass"}


def test_a_second_server_that_does_not_start_is_missed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Server:
        raise SubjectFailedError("NSD 4.6.1: it refuses the zone\nits log ends:")

    monkeypatch.setattr(targets, "secondary_of", refuse)
    with authoritative_target("embedded", 53, Told(), tmp_path) as target:
        subject = target.subjects[0]
        assert subject.lacks("zone") is None
        why = subject.lacks("peers")
    assert why is not None
    assert why.endswith("did not start: NSD 4.6.1: it refuses the zone.")


def test_a_second_server_is_started_only_where_items_ask_for_it(tmp_path: Path) -> None:
    with authoritative_target("embedded", 53, Told(), tmp_path, has_secondary=False) as target:
        assert target.subjects[0].lacks("peers") is not None
    assert not (tmp_path / "secondary").exists()


ORIGIN = dns.name.from_text("example.")


def is_over(messages: str, *, is_incremental: bool = True) -> list[bool]:
    """Say after each message whether the transfer is over; a number is the SOA record with that serial."""
    course = Course(ORIGIN, is_incremental=is_incremental)
    found = []
    for message in messages.split("|"):
        records = [
            dns.rrset.from_text(ORIGIN, 0, "IN", "SOA", f". . {word} 0 0 0 0")
            if word.isdecimal()
            else dns.rrset.from_text(word, 0, "IN", "A", "192.0.2.1")
            for word in message.split()
        ]
        course.note(records)
        found.append(course.is_over)
    return found


@pytest.mark.parametrize(
    ("messages", "over"),
    [
        ("3", [True]),
        ("3 a b | c 3", [False, True]),
        ("3 2 a | 3 b | 3", [False, False, True]),
        ("3 1 a 2 b 2 c 3 d 3", [True]),
        ("3 1 | a 2 b 2 | c 3 d | 3", [False, False, False, True]),
    ],
)
def test_the_end_of_an_incremental_transfer_is_told(messages: str, over: list[bool]) -> None:
    assert is_over(messages) == over


def test_the_end_of_a_whole_transfer_is_told() -> None:
    assert is_over("3 | a b | 3", is_incremental=False) == [False, False, True]
    # Another serial at the end is A-axfr-complete's to tell.
    assert is_over("3 a 4", is_incremental=False) == [True]
