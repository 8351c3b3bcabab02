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
from importlib import resources
from pathlib import Path
from typing import Any

import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.rdata
import dns.rdatatype
import dns.rrset
import jsonschema
import pytest
from dnsrig import _core
from dnsrig.cli.internet_capture import from_capture
from dnsrig.cli.progress import WorkProgress
from dnsrig.errors import InputError
from dnsrig.hosts.namespace import Namespace
from dnsrig.hosts.network import users
from dnsrig.internet import INDEX, REBUILT_PREFIXES, internet_namespace, read_rebuilt, resolver_addresses
from dnsrig.servers.resolvers.registry import resolver_driver
from dnsrig.servers.resolvers.settings import ResolverSettings

QUESTIONS = 40
ANSWER_S = 15.0
SEED = 7
SIGNED_AT_S = 1_669_900_000
RESOLVER_PORT = 5353
SERVERS_PORT = 53
IPV4, IPV6 = 0x0800, 0x86DD
"""EtherTypes."""
DENYING = {dns.rdatatype.NSEC, dns.rdatatype.NSEC3}
"""What a zone has of these depends on which names it has, and in a rebuilt one are those only that were asked for."""
ALL_PROTOCOLS = 3
ETHERNET = 1
LONGEST = 1 << 18
SO_RCVBUFFORCE = 33
SOL_PACKET = 263
PACKET_STATISTICS = 6
"""Numbers of <linux/socket.h> and <linux/if_packet.h> that Python's socket module does not name."""

MADE_ANEW = {dns.rdatatype.DNSKEY, dns.rdatatype.DS}
"""Of these there are other records, with a TTL of their own; a zone that had one key for all has two."""

Seen = tuple[str, bool, frozenset[str]]
Place = tuple[Namespace, str]
"""A namespace, and the address of the resolver in it."""


@contextmanager
def captured(namespace: Namespace, path: Path) -> Iterator[None]:
    """Write what crosses the loopback device of a namespace into a capture."""
    packets = namespace.call(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS)))
    packets.bind(("lo", 0))
    # SO_RCVBUF would stop at net.core.rmem_max, below what a resolver sends while this thread waits for a processor.
    packets.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
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
        _all, lost = struct.unpack("II", packets.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        packets.close()
    assert not lost, f"the capture lost {lost} packets"


def packets(*messages: bytes, snapped: int = LONGEST) -> bytes:
    """Give a capture of UDP datagrams between 192.0.2.1 and port 53 of 192.0.2.53, of which it has `snapped` octets."""
    capture = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, LONGEST, ETHERNET)
    for message in messages:
        is_response = bool(message[2] & 0x80)
        ports = (53, 5353) if is_response else (5353, 53)
        udp = struct.pack(">HHHH", *ports, 8 + len(message), 0) + message
        server, client = socket.inet_aton("192.0.2.53"), socket.inet_aton("192.0.2.1")
        addresses = server + client if is_response else client + server
        packet = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0, 64, socket.IPPROTO_UDP, 0) + addresses + udp
        frame = bytes(12) + b"\x08\x00" + packet
        capture += struct.pack("<IIII", 1, 0, len(frame[:snapped]), len(frame)) + frame[:snapped]
    return capture


def ask(namespace: Namespace, address: str, name: str, rtype: str) -> Seen:
    query = dns.message.make_query(name, rtype, want_dnssec=True)

    def send() -> dns.message.Message:
        return dns.query.udp_with_fallback(query, address, port=RESOLVER_PORT, timeout=ANSWER_S)[0]

    response = namespace.call(send)
    data = (rrset for rrset in response.answer if rrset.rdtype != dns.rdatatype.RRSIG)
    records = frozenset(f"{rrset.name} {rrset.rdtype} {rdata}" for rrset in data for rdata in rrset)
    return dns.rcode.to_text(response.rcode()), bool(response.flags & dns.flags.AD), records


def sent_by_servers(capture: Path) -> list[tuple[str, dns.message.Message]]:
    """Give the whole responses of name servers over UDP that a capture of a loopback device has, with their addresses.

    It reads packets and messages by itself, so that nothing of the rig judges the rig.
    """
    octets, place, found = capture.read_bytes(), 24, []
    while place < len(octets):
        length = struct.unpack_from("<I", octets, place + 8)[0]
        frame, place = octets[place + 16 : place + 16 + length], place + 16 + length
        version = struct.unpack_from(">H", frame, 12)[0]
        if version == IPV4:
            protocol, address, udp = frame[23], socket.inet_ntoa(frame[26:30]), 14 + 4 * (frame[14] & 15)
        elif version == IPV6:
            protocol, address, udp = frame[20], socket.inet_ntop(socket.AF_INET6, frame[22:38]), 54
        else:
            continue
        if protocol == socket.IPPROTO_UDP and struct.unpack_from(">H", frame, udp)[0] == SERVERS_PORT:
            response = dns.message.from_wire(frame[udp + 8 :])
            if not response.flags & dns.flags.TC:
                found.append((address, response))
    return found


def says(response: dns.message.Message) -> dict[str, Any]:
    """Give what a response says, but for what other keys, another time and names that nobody asked for change."""
    said: dict[str, Any] = {
        "rcode": dns.rcode.to_text(response.rcode()),
        "authoritative": bool(response.flags & dns.flags.AA),
    }
    for title in ("answer", "authority", "additional"):
        for rrset in getattr(response, title):
            kind = " ".join(dns.rdatatype.to_text(number) for number in (rrset.rdtype, rrset.covers) if number)
            if not DENYING.isdisjoint({rrset.rdtype, rrset.covers}):
                said[f"{title} {dns.rdatatype.to_text(rrset.rdtype)}"] = True
            else:
                # Glue has the TTL of the addresses themselves where both were seen, and keys are of the seed's own TTL.
                has_ttl = title != "additional" and MADE_ANEW.isdisjoint({rrset.rdtype, rrset.covers})
                said[f"{title} {rrset.name} {kind}"] = rrset.ttl if has_ttl else None, sorted(set(map(unsigned, rrset)))
    return said


def unsigned(rdata: dns.rdata.Rdata) -> str:
    """Give data in text without what a signature or key of the seed is in them."""
    fields = rdata.to_text().split()
    match rdata.rdtype:
        case dns.rdatatype.RRSIG:
            # Type covered, algorithm, labels, and the signer: not times, key tag and signature.
            return " ".join([*fields[:3], fields[7]])
        case dns.rdatatype.DNSKEY:
            return fields[2]
        case dns.rdatatype.DS:
            return " ".join(fields[1:3])
    return " ".join(fields)


def changed_responses(
    internet: _core.RebuiltInternet, namespace: Namespace, sent: list[tuple[str, dns.message.Message]]
) -> list[str]:
    """Ask each server again what it was asked; give what it said that it does not say now, and the other way round."""
    start = partial(_core.InternetServer, internet, port=SERVERS_PORT, threads=1)
    server = namespace.call(start, discard=_core.InternetServer.stop)

    def again(address: str, response: dns.message.Message) -> dns.message.Message:
        question = response.question[0]
        do_bit = bool(response.ednsflags & dns.flags.DO)
        query = dns.message.make_query(question.name, question.rdtype, use_edns=response.edns >= 0, want_dnssec=do_bit)
        query.flags &= ~dns.flags.RD
        # By TCP, in which there is room for all.
        return dns.query.tcp(query, address, port=SERVERS_PORT, timeout=ANSWER_S)

    try:
        changed = []
        for address, response in sent:
            was, now = says(response), says(namespace.call(partial(again, address, response)))
            gone, new = (
                [f"{key}: {value}" for key, value in one.items() if other.get(key) != value]
                for one, other in ((was, now), (now, was))
            )
            # What servers add besides is theirs to choose: there has to be all that there was.
            new = [told for told in new if not told.startswith("additional")]
            if gone or new:
                changed.append(f"{response.question[0]} at {address} was {gone}, now {new}")
        return changed
    finally:
        server.stop()


def resolved(
    internet: _core.Internet | _core.RebuiltInternet,
    name: str,
    place: Place,
    folder: Path,
    questions: list[list[str]],
) -> list[Seen]:
    """Give what a resolver answers when it asks what is served in a namespace."""
    namespace, address = place
    kind = resolver_driver(name)
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


@pytest.mark.parametrize("name", ["unbound", "bind", "knot-resolver", "powerdns-recursor"])
def test_what_a_resolver_was_sent_makes_an_internet_that_answers_it_the_same(
    dnsrig: Callable[..., Any], name: str, tmp_path: Path
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
        place = namespace, resolver_addresses(prefixes)[0]
        expected = resolved(internet, name, place, tmp_path / "first", questions)
    assert {rcode for rcode, _, _ in expected} == {"NOERROR", "NXDOMAIN"}
    assert QUESTIONS // 5 < sum(is_secure for _, is_secure, _ in expected) < QUESTIONS

    done = dnsrig("internet", "from-capture", capture, "-o", folder, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["zones"] > 10
    assert told["used"] > QUESTIONS
    assert told["malformed"] == told["conflicts"] == told["astray"] == told["left_out"] == 0
    index = json.loads((folder / INDEX).read_text())
    jsonschema.validate(index, json.loads(resources.files("dnsrig.schemas").joinpath("rebuilt.json").read_text()))
    assert {zone["nsec3"] is None for zone in index["zones"] if zone["algorithm"]} == {True, False}

    with pytest.raises(InputError, match="allow more memory"):
        _core.rebuild_internet([capture], tmp_path, memory_octets=1 << 12)
    with pytest.raises(InputError, match="allow more memory"):
        read_rebuilt(folder, SEED, now_s, memory_octets=1 << 16)
    rebuilt = read_rebuilt(folder, SEED, now_s)
    assert rebuilt.zones == told["zones"]
    assert 1 << 16 < rebuilt.memory_octets < 1 << 27
    with internet_namespace(REBUILT_PREFIXES, rebuilt.addresses) as namespace:
        place = namespace, resolver_addresses(REBUILT_PREFIXES)[0]
        seen = resolved(rebuilt, name, place, tmp_path / "second", questions)
        changed = changed_responses(rebuilt, namespace, sent_by_servers(capture))
        assert not changed
    differing = {
        tuple(question): (was, now) for question, was, now in zip(questions, expected, seen, strict=True) if was != now
    }
    assert not differing


def test_rebuilding_that_is_interrupted_leaves_nothing(
    dnsrig: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ("id 1", "opcode QUERY", "rcode NOERROR", "flags QR AA", ";QUESTION", "www.example. IN A", ";ANSWER")
    message = dns.message.from_text("\n".join([*lines, "www.example. 60 IN A 192.0.2.1"])).to_wire()
    capture, folder = tmp_path / "capture.pcap", tmp_path / "rebuilt"
    capture.write_bytes(packets(message))

    def interrupt(*_progress: object) -> None:
        raise KeyboardInterrupt

    command = from_capture.callback
    assert command is not None
    with monkeypatch.context() as patched:
        patched.setattr(WorkProgress, "show", interrupt)
        with pytest.raises(KeyboardInterrupt):
            command(files=(capture,), folder=folder, memory_mib=16, ports=(53,), threads=None, as_json=False)
    assert not folder.exists()
    done = dnsrig("internet", "from-capture", capture, "-o", folder)
    assert done.code == 0, done.err
    assert "1 zones, 0 of them signed, on 1 servers" in done.out
    assert "0 failures, 0 referrals astray, 0 cut (0 together)" in done.out
    assert {file.name for file in folder.iterdir()} == {"0.zone", "index.json"}


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
    asked = packets(*3 * [dns.message.make_query("a.example.", "A").to_wire()])
    for name, rest, fault in (("damaged", 40 * b"\xff", "damaged"), ("cut", asked[24:60], "cut off")):
        capture = tmp_path / f"{name}.pcap"
        capture.write_bytes(asked + rest)
        said = dnsrig("internet", "from-capture", capture, "-o", tmp_path / "new")
        assert said.code == 2
        assert f"no response of a name server in it; {capture} is {fault} after packet 3" in said.err
    unwritten = dnsrig("internet", "serve", "--from", tmp_path / "full")
    assert unwritten.code == 2
    assert "index.json cannot be read" in unwritten.err
    both = dnsrig("internet", "serve", "--from", tmp_path / "full", "--profile", "small")
    assert both.code == 2
    assert "--profile is of no use with --from" in both.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "dnsrig-rebuilt/0"}, "make it anew"),
        ({"zones": []}, "has to be the root"),
        ({"file": "../0.zone"}, "the name of a file in the index's folder"),
        ({"file": "/etc/passwd"}, "the name of a file in the index's folder"),
        ({"file": "1.zone"}, "1.zone"),
        ({"algorithm": "RSAMD5"}, "RSAMD5"),
        ({"name": "a" * 64 + "."}, "has to be the root"),
    ],
)
def test_an_index_that_somebody_changed(
    dnsrig: Callable[..., Any], tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    lines = ("id 1", "opcode QUERY", "rcode NOERROR", "flags QR AA", ";QUESTION", "www.example. IN A", ";ANSWER")
    message = dns.message.from_text("\n".join([*lines, "www.example. 60 IN A 192.0.2.1"])).to_wire()
    capture, folder = tmp_path / "capture.pcap", tmp_path / "rebuilt"
    capture.write_bytes(packets(message))
    assert dnsrig("internet", "from-capture", capture, "-o", folder).code == 0
    index = json.loads((folder / INDEX).read_text())
    for name, value in change.items():
        place = index if name in index else index["zones"][-1]
        place[name] = value
    (folder / INDEX).write_text(json.dumps(index))
    with pytest.raises(InputError, match=said):
        read_rebuilt(folder, SEED, SIGNED_AT_S)


def test_queries_without_a_response_are_counted(dnsrig: Callable[..., Any], tmp_path: Path) -> None:
    queries = [dns.message.make_query(f"{host}.example.", "A") for host in ("a", "b", "c", "d")]
    transfers = [dns.message.make_query("example.", "IXFR"), dns.message.make_query("version.bind.", "TXT", "CH")]
    responses = [dns.message.make_response(query) for query in [queries[0], *transfers]]
    for response in responses:
        response.flags |= dns.flags.AA
    responses[0].answer.append(dns.rrset.from_text("a.example.", 60, "IN", "A", "192.0.2.1"))
    responses[1].flags |= dns.flags.TC
    responses[2].flags = (responses[2].flags | dns.flags.RA) & ~dns.flags.AA
    capture, folder = tmp_path / "capture.pcap", tmp_path / "rebuilt"
    of_all = [message.to_wire() for message in [*queries, *transfers, *responses]]
    capture.write_bytes(packets(*of_all))
    done = dnsrig("internet", "from-capture", capture, "-o", folder)
    assert done.code == 0, done.err
    assert "at least 3 of 4 queries have no response" in done.out
    index = json.loads((folder / INDEX).read_text())
    assert (index["queries"], index["unanswered"], index["others"]) == (4, 3, 4)
    assert (index["used"], index["truncated"], index["of_resolvers"], index["cut"]) == (1, 0, 0, 0)

    # A response of which only the beginning was captured is one.
    cut = tmp_path / "cut.pcap"
    longer = dns.message.make_response(queries[1])
    longer.answer.append(dns.rrset.from_text("b.example.", 60, "IN", "TXT", "x" * 200))
    begun = packets(longer.to_wire(), snapped=150)
    cut.write_bytes(capture.read_bytes() + begun[24:])
    done = dnsrig("internet", "from-capture", cut, "-o", tmp_path / "second", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["queries"], told["unanswered"], told["cut"]) == (4, 2, 1)
