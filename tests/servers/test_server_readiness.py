"""What counts as serving a zone, and what is read from zone files."""

import socket
import threading
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import dns.flags
import dns.message
import dns.rcode
import dns.rdtypes.ANY.SOA
import dns.rrset
import pytest
from dnsrig.servers.presigned import Nsec3Parameters, Signing, signing_of
from dnsrig.servers.readiness import ask_soa, serial_in_file

SOA = dns.rrset.from_text("example.", 60, "IN", "SOA", "ns1.example. host.example. 7 1 1 1 1")


@contextmanager
def answering(change: Callable[[dns.message.Message], bytes]):
    """Answer one datagram with what `change` makes of an empty response to it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(10)

        def answer() -> None:
            wire, client = sock.recvfrom(4096)
            response = dns.message.make_response(dns.message.from_wire(wire))
            response.flags |= dns.flags.AA
            sock.sendto(change(response), client)

        thread = threading.Thread(target=answer)
        thread.start()
        yield sock.getsockname()[1]
        thread.join()


def with_soa(response: dns.message.Message) -> bytes:
    response.answer.append(SOA)
    return response.to_wire()


def without_aa(response: dns.message.Message) -> bytes:
    response.flags &= ~dns.flags.AA
    return with_soa(response)


def servfail(response: dns.message.Message) -> bytes:
    response.set_rcode(dns.rcode.SERVFAIL)
    return response.to_wire()


def other_id(response: dns.message.Message) -> bytes:
    response.id ^= 1
    return with_soa(response)


@pytest.mark.parametrize(
    ("change", "serial", "said"),
    [
        (with_soa, 7, "serial 7"),
        (without_aa, None, "without AA"),
        (servfail, None, "rcode SERVFAIL"),
        (other_id, None, "another question"),
        (lambda response: response.to_wire(), None, "without SOA"),
        (lambda response: b"\x00\x01nonsense", None, "cannot be read"),
    ],
)
def test_soa_answers(change, serial: int | None, said: str) -> None:
    with answering(change) as port:
        answer = ask_soa("127.0.0.1", port, "example", tcp=False)
    assert answer.serial == serial
    assert said in answer.said


def test_interruption_while_an_answer_is_read(monkeypatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with answering(with_soa) as port:
        monkeypatch.setattr(dns.rdtypes.ANY.SOA.SOA, "from_wire_parser", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ask_soa("127.0.0.1", port, "example", tcp=False)


def test_interruption_while_a_zone_file_is_read(monkeypatch, tmp_path: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "zone"
    path.write_text("example. 60 IN SOA ns1 host 7 1 1 1 1\n")
    monkeypatch.setattr(dns.rdtypes.ANY.SOA.SOA, "from_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        serial_in_file(path, "example.")


@pytest.mark.parametrize("tcp", [False, True])
def test_nobody_listens(tcp: bool) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM) as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        if not tcp:
            # It keeps the port, so that no other program has it, and takes nothing but what comes from itself.
            unused.connect(("127.0.0.1", port))
        answer = ask_soa("127.0.0.1", port, "example", tcp=tcp)
    assert answer.serial is None
    assert "refused" in answer.said


def test_serial_is_read_no_further_than_the_soa(tmp_path: Path) -> None:
    path = tmp_path / "zone"
    path.write_text(
        "; first\n$TTL 1h\n$ORIGIN example.\n@ IN SOA ns1 host (\n 4294967295 ; serial\n 1 1 1 1 )\nthis is no record\n"
    )
    assert serial_in_file(path, "example.") == 4294967295


@pytest.mark.parametrize("text", ["", "@ 60 NS ns1\n", "nonsense (\n", "\0\1\2"])
def test_no_serial(text: str, tmp_path: Path) -> None:
    path = tmp_path / "zone"
    path.write_text(text)
    assert serial_in_file(path, "example.") is None


def test_serial_of_missing_file(tmp_path: Path) -> None:
    assert serial_in_file(tmp_path / "absent", "example.") is None


EXPECTED = {
    "unsigned": Signing(False, None),
    "nsec": Signing(True, None),
    "nsec3": Signing(True, Nsec3Parameters(5, "AABBCCDD", False)),
    "nsec3-plain": Signing(True, Nsec3Parameters(0, "-", False)),
    "opt-out": Signing(True, Nsec3Parameters(1, "-", True)),
}


@pytest.mark.parametrize("variant", list(EXPECTED))
def test_signing_of_real_zones(variant: str, zones) -> None:
    assert signing_of(zones(variant).path) == EXPECTED[variant]


SIGNED_START = "example. 60 IN RRSIG SOA 8 1 60 20300101000000 20200101000000 1 example. AAAA\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Signing(False, None)),
        (SIGNED_START, Signing(True, None)),
        (SIGNED_START + "example. NSEC3PARAM 1 0 10 -\n", Signing(True, Nsec3Parameters(10, "-", False))),
        (
            SIGNED_START + "example.\tIN nsec3param (\n\t1 0 3 ab12 )\n",
            Signing(True, Nsec3Parameters(3, "ab12", False)),
        ),
        (
            SIGNED_START + "example. RRSIG NSEC3PARAM 8 1 0 20300101000000 20200101000000 1 example. AAAA\n",
            Signing(True, None),
        ),
        (SIGNED_START + "h.example. NSEC3 1 0 3 ab i NS SOA RRSIG NSEC3PARAM\n", Signing(True, None)),
    ],
)
def test_signing_of_texts(text: str, expected: Signing, tmp_path: Path) -> None:
    path = tmp_path / "zone"
    path.write_text(text)
    assert signing_of(path) == expected
