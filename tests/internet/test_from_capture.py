"""An Internet rebuilt from what a real resolver and its name servers exchanged answers the same questions alike."""

import json
import select
import shutil
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import pytest
from dnsrig import _core
from dnsrig.hosts.namespace import Namespace
from dnsrig.hosts.network import users
from dnsrig.internet import REBUILT_PREFIXES, internet_namespace, read_rebuilt, resolver_addresses
from dnsrig.servers.resolvers.registry import resolver_driver
from dnsrig.servers.resolvers.settings import ResolverSettings

QUESTIONS = 40
ANSWER_S = 15.0
SEED = 7
RESOLVER_PORT = 5353
ALL_PROTOCOLS = 3
ETHERNET = 1
LONGEST = 1 << 18

Seen = tuple[str, bool, frozenset[str]]


@contextmanager
def captured(namespace: Namespace, path: Path) -> Iterator[None]:
    """Write what crosses the loopback device of a namespace into a capture."""
    packets = namespace.call(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS)))
    packets.bind(("lo", 0))
    packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
    over = threading.Event()

    def write() -> None:
        with path.open("wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, LONGEST, ETHERNET))
            while select.select([packets], [], [], 0.1)[0] or not over.is_set():
                if not select.select([packets], [], [], 0)[0]:
                    continue
                frame, where = packets.recvfrom(LONGEST)
                # The device shows each packet twice: as it leaves and as it arrives.
                if where[2] != socket.PACKET_OUTGOING:
                    second, fraction = divmod(time.time(), 1)
                    file.write(struct.pack("<IIII", int(second), int(fraction * 1e6), len(frame), len(frame)) + frame)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        packets.close()


def ask(namespace: Namespace, address: str, name: str, rtype: str) -> Seen:
    query = dns.message.make_query(name, rtype, want_dnssec=True)

    def send() -> dns.message.Message:
        return dns.query.udp_with_fallback(query, address, port=RESOLVER_PORT, timeout=ANSWER_S)[0]

    response = namespace.call(send)
    data = (rrset for rrset in response.answer if rrset.rdtype != dns.rdatatype.RRSIG)
    records = frozenset(f"{rrset.name} {rrset.rdtype} {rdata}" for rrset in data for rdata in rrset)
    return dns.rcode.to_text(response.rcode()), bool(response.flags & dns.flags.AD), records


def resolved(
    internet: _core.Internet | _core.RebuiltInternet,
    namespace: Namespace,
    address: str,
    folder: Path,
    questions: list[list[str]],
) -> list[Seen]:
    """Give what Unbound answers when it asks what is served in a namespace."""
    kind = resolver_driver("unbound")
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    settings = ResolverSettings(
        addresses=(address,),
        port=RESOLVER_PORT,
        root_hints=internet.root_hints,
        trust_anchors=internet.trust_anchor,
        deadline_s=60.0,
    )
    start = partial(_core.InternetServer, internet, port=53, threads=1)
    server = namespace.call(start, discard=_core.InternetServer.stop)
    try:
        with kind(settings, folder, namespace):
            return [ask(namespace, address, name, rtype) for name, rtype in questions]
    finally:
        server.stop()


def test_what_unbound_was_sent_makes_an_internet_that_answers_the_same(
    dnsrig: Callable[..., Any], tmp_path: Path
) -> None:
    if why := users.why_no_namespaces():
        pytest.skip(why)
    if shutil.which("ip") is None:
        pytest.skip("needs ip: install the Debian package iproute2")
    now_s = int(time.time())
    internet = _core.Internet("small", seed=3, signed_at_s=now_s, distances=False)
    questions = [line.split() for line in internet.questions(QUESTIONS, 5, 0.3).splitlines()]
    capture, folder = tmp_path / "upstream.pcap", tmp_path / "rebuilt"
    prefixes = internet.summary()["prefixes"]
    with internet_namespace(prefixes) as namespace, captured(namespace, capture):
        address = resolver_addresses(prefixes)[0]
        expected = resolved(internet, namespace, address, tmp_path / "first", questions)
    assert {rcode for rcode, _, _ in expected} == {"NOERROR", "NXDOMAIN"}
    assert QUESTIONS // 5 < sum(is_secure for _, is_secure, _ in expected) < QUESTIONS

    done = dnsrig("internet", "from-capture", capture, "-o", folder, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["zones"] > 10
    assert told["used"] > QUESTIONS
    assert told["malformed"] == told["conflicts"] == 0

    rebuilt = read_rebuilt(folder, SEED, now_s)
    with internet_namespace(REBUILT_PREFIXES, rebuilt.addresses) as namespace:
        address = resolver_addresses(REBUILT_PREFIXES)[0]
        seen = resolved(rebuilt, namespace, address, tmp_path / "second", questions)
    differing = {
        tuple(question): (was, now) for question, was, now in zip(questions, expected, seen, strict=True) if was != now
    }
    assert not differing


def test_folders_and_captures_that_cannot_be_used(dnsrig: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "something").touch()
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, LONGEST, ETHERNET))
    full = dnsrig("internet", "from-capture", empty, "-o", tmp_path / "full")
    assert full.code == 2
    assert "is not empty" in full.err
    nothing = dnsrig("internet", "from-capture", empty, "-o", tmp_path / "new")
    assert nothing.code == 2
    assert "no response of a name server" in nothing.err or "no DNS message" in nothing.err
    unwritten = dnsrig("internet", "serve", "--from", tmp_path / "full")
    assert unwritten.code == 2
    assert "index.json cannot be read" in unwritten.err
    both = dnsrig("internet", "serve", "--from", tmp_path / "full", "--profile", "small")
    assert both.code == 2
    assert "--profile is of no use with --from" in both.err
