"""Other servers of a zone, as --ns names them: those that are not there, and what is compared with whom."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from dnsrig.cli.app import run_command_line
from dnsrig.errors import InputError
from dnsrig.items.authoritative import a_peers_answer
from dnsrig.items.catalogue import items
from dnsrig.servers.base import ServedZone, Server, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.verification.addresses import endpoint_of, others_of
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.faults.secondaries import BEHIND_RELAYS
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.zones.making import VARIANTS, RigZone, make_zone
from matrix_record import SECONDARIES, keep

WAITS_S = (0.3, 0.3)
ABOUT_PEERS = [known for known in items("authoritative") if "peers" in known.item.needs]
FAULTS = {fault.name: fault for fault in BEHIND_RELAYS}
"""What is wrong with a secondary; `dead-secondary` is a port where nobody listens."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, RigZone]]:
    folder = tmp_path_factory.mktemp("served")
    zone = make_zone(folder, VARIANTS["nsec"])
    with driver("embedded")([ServedZone(zone.name, zone.path)], ServerSettings(), folder / "server") as server:
        yield server, zone


def closed_port() -> Endpoint:
    """Give a port that was free a moment ago; who takes it meanwhile serves no zone of the rig's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return Endpoint(*probe.getsockname())


def subject_of(served: tuple[Server, RigZone], *peers: Endpoint) -> AuthoritativeSubject:
    server, zone = served
    askers = [Asker(one, udp_waits_s=WAITS_S, tcp_wait_s=1.0) for one in (Endpoint(*server.address), *peers)]
    return AuthoritativeSubject(askers[0], zone.landmarks, tuple(askers[1:]))


@pytest.mark.parametrize("fault", ["dead-secondary", *FAULTS])
def test_a_secondary_that_does_not_answer(served: tuple[Server, RigZone], fault: str) -> None:
    right = Endpoint(*served[0].address)
    with ExitStack() as stack:
        wrong = closed_port() if fault == "dead-secondary" else None
        if wrong is None:
            wrong = stack.enter_context(Relay(right, FAULTS[fault])).endpoint
        good = stack.enter_context(Relay(right, NO_FAULT)).endpoint
        results = run_items(ABOUT_PEERS, subject_of(served, good, wrong))
    failed = {one.item.id: one.outcome.reason for one in results if one.outcome.verdict is Verdict.FAIL}
    keep("authoritative", fault, ("embedded", served[0].version), failed, SECONDARIES)
    assert set(failed) == {"A-peers-answer"}, failed
    assert failed["A-peers-answer"].startswith(str(wrong)) and failed["A-peers-answer"].endswith("1 of 2 servers.")
    assert fault in a_peers_answer.ITEM.faults
    assert {"dead-secondary", *FAULTS} == set(a_peers_answer.ITEM.faults)


def test_secondaries_that_answer_are_not_accused(served: tuple[Server, RigZone]) -> None:
    with Relay(Endpoint(*served[0].address), NO_FAULT) as relay:
        outcomes = {one.item.id: one.outcome for one in run_items(ABOUT_PEERS, subject_of(served, relay.endpoint))}
    assert {one.verdict for one in outcomes.values()} == {Verdict.PASS}, outcomes


def test_where_nobody_answers_no_secondary_is_accused(served: tuple[Server, RigZone]) -> None:
    zone = served[1]
    askers = [Asker(closed_port(), udp_waits_s=WAITS_S, tcp_wait_s=1.0) for _ in range(2)]
    outcome = a_peers_answer.check(AuthoritativeSubject(askers[0], zone.landmarks, (askers[1],)))
    assert outcome.verdict is Verdict.INCONCLUSIVE


def test_a_server_without_a_route_is_not_accused(served: tuple[Server, RigZone]) -> None:
    # A socket for the loopback interface cannot be connected to addresses elsewhere.
    def at_loopback(family: socket.AddressFamily, kind: socket.SocketKind) -> socket.socket:
        channel = socket.socket(family, kind)
        channel.bind(("127.0.0.1", 0))
        return channel

    subject = subject_of(served)
    subject.peers = (Asker(Endpoint("192.0.2.1"), at_loopback, WAITS_S, 1.0),)
    outcome = a_peers_answer.check(subject)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.reason.startswith("192.0.2.1#53 cannot be asked from here: ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("192.0.2.53", Endpoint("192.0.2.53", 5300)),
        ("192.0.2.53#54", Endpoint("192.0.2.53", 54)),
        ("192.0.2.53@54", Endpoint("192.0.2.53", 54)),
        ("192.0.2.53:54", Endpoint("192.0.2.53", 54)),
        ("2001:DB8::53", Endpoint("2001:db8::53", 5300)),
        ("2001:db8::53#54", Endpoint("2001:db8::53", 54)),
        ("[2001:db8::53]:54", Endpoint("2001:db8::53", 54)),
        ("fe80::1%eth0", Endpoint("fe80::1%eth0", 5300)),
        ("fe80::1%eth0#54", Endpoint("fe80::1%eth0", 54)),
        ("fe80::1%eth0@54", Endpoint("fe80::1%eth0", 54)),
        ("[fe80::1%eth0]:54", Endpoint("fe80::1%eth0", 54)),
        ("localhost#54", Endpoint(socket.getaddrinfo("localhost", 54)[0][4][0], 54)),
    ],
)
def test_endpoints_as_users_write_them(text: str, expected: Endpoint) -> None:
    assert endpoint_of(text, 5300) == expected


@pytest.mark.parametrize("text", ["192.0.2.53#0", "192.0.2.53#65536", "::1#65536"])
def test_ports_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match="is no port; they go from 1 to 65535"):
        endpoint_of(text, 53)


def test_the_target_is_not_compared_with_itself() -> None:
    target = Endpoint("192.0.2.53", 54)
    assert others_of(["192.0.2.53#54", "192.0.2.54", "192.0.2.54#53"], 53, target) == (Endpoint("192.0.2.54"),)


def test_naming_the_target_alone_compares_nothing(
    capsys: pytest.CaptureFixture[str], served: tuple[Server, RigZone]
) -> None:
    server, zone = served
    address, port = server.address
    command = ["verify", "authoritative", f"{address}#{port}", "--zone", zone.name, "--item", "A-peers-serial"]
    assert run_command_line([*command, "--ns", f"{address}#{port}", "--json"]) == 2
    shown, said = capsys.readouterr()
    assert '"not_applicable"' in shown and "is the target itself" in shown
    assert "nothing could be verified: " in said and "is the target itself" in said


def test_what_is_inconclusive_can_count_as_failed(
    capsys: pytest.CaptureFixture[str], served: tuple[Server, RigZone]
) -> None:
    server, zone = served
    command = ["verify", "authoritative", str(Endpoint(*server.address)), "--zone", zone.name, "--json"]
    command += ["--ns", str(closed_port()), "--item", "A-peers-ns"]
    # Where something was found out; alone, what is inconclusive is no success.
    with_soa = [*command, "--item", "A-soa"]
    assert run_command_line(with_soa) == 0
    assert run_command_line([*with_soa, "--fail-on-inconclusive"]) == 1
    assert run_command_line(command) == 1
    assert capsys.readouterr().out.count('"verdict": "inconclusive"') == 3
