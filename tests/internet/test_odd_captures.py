"""Captures with odd records, cut packets and odd addresses of servers: what is rebuilt of them is served, and said."""

import itertools
import json
import shutil
import socket
import struct
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import dns.message
import dns.name
import dns.query
import jsonschema
import pytest
from dnsrig import _core
from dnsrig.hosts.namespace import Namespace
from dnsrig.hosts.network import users
from dnsrig.internet import INDEX, REBUILT_PREFIXES, internet_namespace, read_rebuilt

SEED = 7
SIGNED_AT_S = 1_669_900_000
ANSWER_S = 10.0
RAW_IP = 101
"""Link type of packets without a link layer."""
NAME = "odd.example."
ADDRESS = bytes([192, 0, 2, 7])
A, CNAME, KX, TSIG = 1, 5, 36, 250


def record(rtype: int, data: bytes, ttl: int = 60) -> bytes:
    """Make a record of the name that is asked for, as no library would."""
    return b"\xc0\x0c" + struct.pack(">HHIH", rtype, 1, ttl, len(data)) + data


def packet(server: str, records: Sequence[bytes]) -> bytes:
    """Make an authoritative response in an IPv4 packet."""
    head = struct.pack(">HHHHHH", 1, 0x8400, 1, len(records), 0, 0)
    message = head + dns.name.from_text(NAME).to_wire() + struct.pack(">HH", A, 1) + b"".join(records)
    udp = struct.pack(">HHHH", 53, 5353, 8 + len(message), 0) + message
    addresses = socket.inet_aton(server) + socket.inet_aton("192.0.2.9")
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0, 64, socket.IPPROTO_UDP, 0) + addresses + udp


def write_capture(path: Path, packets: Sequence[bytes], kept: int = 1 << 16) -> None:
    """Write packets, or their first `kept` octets."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 16, RAW_IP)]
    for second, octets in enumerate(packets):
        parts += [struct.pack("<IIII", second, 0, len(octets[:kept]), len(octets)), octets[:kept]]
    path.write_bytes(b"".join(parts))


@pytest.fixture
def need_namespaces() -> None:
    if why := users.why_no_namespaces():
        pytest.skip(why)
    if shutil.which("ip") is None:
        pytest.skip("needs ip: install the Debian package iproute2")


def test_records_that_cannot_stand_in_a_zone_are_left_out_and_said(dnsrig: Callable[..., Any], tmp_path: Path) -> None:
    target = [dns.name.from_text(name).to_wire() for name in ("a.example.", "b.example.")]
    sound = record(A, ADDRESS)
    odd = [
        [sound, record(KX, b"\0")],
        [sound, record(A, ADDRESS[:3])],
        [sound, record(TSIG, b"")],
        [record(CNAME, one) for one in target],
        [record(A, ADDRESS, ttl=2**31)],
        [sound],
        [sound],
    ]
    capture, folder = tmp_path / "odd.pcap", tmp_path / "rebuilt"
    write_capture(capture, [packet("192.0.2.53", records) for records in odd])
    done = dnsrig("internet", "from-capture", capture, "-o", folder, "--json")
    assert done.code == 0, done.err
    assert done.json["unfit"] == 4
    assert "warning: 4 records are left out that cannot stand in a zone" in done.err
    jsonschema.validate(
        json.loads((folder / INDEX).read_text()),
        json.loads(resources.files("dnsrig.schemas").joinpath("rebuilt.json").read_text()),
    )
    assert read_rebuilt(folder, SEED, SIGNED_AT_S).zones == done.json["zones"]


def test_cut_captures_are_said_and_counted(dnsrig: Callable[..., Any], tmp_path: Path) -> None:
    whole, cut, all_cut = (tmp_path / name for name in ("whole.pcap", "cut.pcap", "all-cut.pcap"))
    short, long = packet("192.0.2.53", [record(A, ADDRESS)]), packet("192.0.2.53", [record(A, ADDRESS)] * 5)
    write_capture(whole, [short])
    write_capture(cut, [short, long, long], kept=len(short))
    # It ends in the middle of a packet, as where its writer was killed.
    cut.write_bytes(cut.read_bytes()[:-3])
    write_capture(all_cut, [long], kept=len(short))
    done = dnsrig("internet", "from-capture", whole, cut, "-o", tmp_path / "rebuilt")
    assert done.code == 0, done.err
    assert "1 cut (1 together)" in done.out
    assert "warning: 1 messages are left out, as only their beginnings were captured" in done.err
    assert f"warning: {cut} is cut off after packet 2" in done.err
    assert f"warning: {whole}" not in done.err
    assert json.loads((tmp_path / "rebuilt" / INDEX).read_text())["cut"] == 1
    nothing = dnsrig("internet", "from-capture", all_cut, "-o", tmp_path / "deep" / "nothing")
    assert nothing.code == 2
    assert "1 messages are cut: capture whole packets" in nothing.err
    assert not (tmp_path / "deep").exists()


@pytest.mark.usefixtures("need_namespaces")
def test_servers_of_the_loopback_device_are_served(dnsrig: Callable[..., Any], tmp_path: Path) -> None:
    capture, folder = tmp_path / "local.pcap", tmp_path / "rebuilt"
    write_capture(capture, [packet("127.0.0.53", [record(A, ADDRESS)])])
    done = dnsrig("internet", "from-capture", capture, "-o", folder)
    assert done.code == 0, done.err
    assert "servers are at 127.0.0.53: resolvers ask these only if told so" in done.err
    rebuilt = read_rebuilt(folder, SEED, SIGNED_AT_S)
    with internet_namespace(REBUILT_PREFIXES, [*rebuilt.addresses, "::1"]) as namespace:
        start = partial(_core.InternetServer, rebuilt, port=53, threads=1)
        server = namespace.call(start, discard=_core.InternetServer.stop)
        try:
            query = dns.message.make_query(NAME, "A")
            response = namespace.call(lambda: dns.query.udp(query, "127.0.0.53", timeout=ANSWER_S))
        finally:
            server.stop()
    assert [rdata.to_text() for rrset in response.answer for rdata in rrset] == ["192.0.2.7"]


@pytest.mark.usefixtures("need_namespaces")
def test_thousands_of_servers_take_no_process_each(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Sequence[str]] = []
    run = subprocess.run

    def count(argv: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[str]":
        started.append(argv)
        return run(argv, **options)

    monkeypatch.setattr(subprocess, "run", count)
    numbers = range(3000)
    servers = [
        *(f"203.0.{number >> 8}.{number & 255}" for number in numbers),
        *(f"2001:db8::1:{n + 1:x}" for n in numbers),
    ]
    with internet_namespace(REBUILT_PREFIXES, servers) as namespace:
        assert len(started) < 10
        local = itertools.chain.from_iterable(
            namespace.run_ip(family, "route", "show", "table", "local").split()
            for family in (("-4", "-6") if namespace.has_ipv6 else ("-4",))
        )
        known = set(local)
        wanted = servers if namespace.has_ipv6 else servers[: len(numbers)]
        assert sorted(set(wanted) - known) == []


@pytest.mark.usefixtures("need_namespaces")
def test_a_batch_says_what_failed() -> None:
    with Namespace() as namespace, pytest.raises(Exception, match="Command failed -:2"):
        namespace.run_ip_batch("-4", ["address add 192.0.2.1 dev lo", "address add 192.0.2.1 dev lo"])
