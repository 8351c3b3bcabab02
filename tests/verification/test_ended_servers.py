"""Servers of the rig that end by themselves while they are verified: no success, whatever items could not find out."""

import json
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from dnsrig.cli import verify_trial
from dnsrig.cli.app import run_command_line
from dnsrig.errors import SubjectFailedError
from dnsrig.hosts.network import users
from dnsrig.items.catalogue import items
from dnsrig.servers.driven import DrivenServer
from dnsrig.servers.embedded import Embedded
from dnsrig.servers.resolvers.registry import resolver_driver
from dnsrig.verification.proxy_targets import Device, proxy_target
from dnsrig.verification.resolver_targets import resolver_target
from dnsrig.verification.runner import Subject, run_on_each
from dnsrig.verification.stopping import pause
from dnsrig.verification.targets import Told, authoritative_target
from dnsrig.verification.verdicts import Outcome, Verdict, passed

WITHIN_S = 30.0
PATIENCE_S = 200.0


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[DrivenServer]:
    """Give the servers that are started, in their order."""
    servers: list[DrivenServer] = []
    launch = DrivenServer._launch

    def note(server: DrivenServer, *arguments: object, **more: object) -> None:
        launch(server, *arguments, **more)  # type: ignore[arg-type]
        servers.append(server)

    monkeypatch.setattr(DrivenServer, "_launch", note)
    return servers


def crash(server: DrivenServer) -> None:
    """End the server's process, and return when that is known."""
    process = server._running()
    process.signal(signal.SIGKILL)
    deadline = time.monotonic() + WITHIN_S
    while process.alive():
        assert time.monotonic() < deadline, "it does not end"
        time.sleep(0.01)


@pytest.mark.parametrize("place", [0, 1])
def test_an_authoritative_server_or_its_secondary(tmp_path: Path, started: Sequence[DrivenServer], place: int) -> None:
    with (
        pytest.raises(SubjectFailedError, match="ended by itself by signal 9"),
        authoritative_target("embedded", 53, Told(), tmp_path),
    ):
        crash(started[place])


def test_one_that_is_stopped_has_not_ended_by_itself(tmp_path: Path, started: Sequence[DrivenServer]) -> None:
    with authoritative_target("embedded", 53, Told(), tmp_path):
        started[0].stop()


def test_what_fails_otherwise_is_said_before_that(tmp_path: Path, started: Sequence[DrivenServer]) -> None:
    with pytest.raises(KeyboardInterrupt), authoritative_target("embedded", 53, Told(), tmp_path):
        crash(started[0])
        raise KeyboardInterrupt


@pytest.mark.parametrize(("role", "name"), [("resolver", "unbound"), ("proxy", "dnsmasq")])
def test_a_resolver_or_a_proxy(tmp_path: Path, started: Sequence[DrivenServer], role: str, name: str) -> None:
    if why := users.why_no_namespaces():
        pytest.skip(why)
    kind = resolver_driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    as_resolver = role == "resolver"
    target = resolver_target(name, 53, None, tmp_path) if as_resolver else proxy_target(name, Device(), tmp_path)
    with pytest.raises(SubjectFailedError, match="ended by itself by signal 9"), target:
        crash(started[0])


def test_nothing_is_waited_for_any_more(tmp_path: Path, started: Sequence[DrivenServer]) -> None:
    def wait_for_it(_: Subject) -> Outcome:
        crash(started[0])
        pause(PATIENCE_S)
        return passed("It was waited for.")

    needs_nothing = next(known for known in items("authoritative") if not known.item.needs)
    with (
        pytest.raises(SubjectFailedError, match="ended by itself by signal 9"),
        authoritative_target("embedded", 53, Told(), tmp_path) as target,
    ):
        ((result,),) = run_on_each(
            [replace(needs_nothing, check=wait_for_it)], target.subjects[:1], check=target.check_survived
        )
        assert result.outcome.verdict == Verdict.INCONCLUSIVE
        assert result.outcome.reason == "It had not ended when the server ended by itself."


def test_what_was_found_before_is_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, started: Sequence[DrivenServer]
) -> None:
    def run_and_crash(*arguments: object, **more: object) -> object:
        found = run_on_each(*arguments, **more)  # type: ignore[arg-type]
        crash(started[0])
        return found

    monkeypatch.setattr(verify_trial, "run_on_each", run_and_crash)
    assert run_command_line(["verify", "authoritative", "embedded", "--item", "A-plain", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verifications"][0]["summary"]["pass"] == 1
    (not_verified,) = told["not_verified"]
    assert not_verified["reason"].startswith(f"{Embedded.title} ") and "by signal 9" in not_verified["reason"]
