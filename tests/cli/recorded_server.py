"""A real server under `dnsrig load` in namespaces: what tcpdump captured of it, and the dnstap file that it wrote."""

import contextlib
import signal
import socket
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import dns.message
import dns.opcode
import dns.query
from dnsrig.hosts.namespace import Namespace
from dnsrig.hosts.network.links import End, link
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.bind import Bind
from waiting import wait_until

DEVICE = "eth0"
SERVERS = ("192.0.2.53", "2001:db8::53")
CLIENTS = ("192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1", "2001:db8::2")
LAST = b"\x04last\x07example\x04test\x00"
NAMES = ("www.example.test", "WwW.Example.TEST", "big.example.test", "nowhere.example.test", "other.invalid", ".")
TYPES = ("A", "AAAA", "TXT", "MX", "NS", "SOA", "DNSKEY", "HTTPS", "TYPE65280")
OPTIONS = (
    "",
    "edns=1232 do=1",
    "cd=1 ad=1",
    "rd=0 edns=4096 nsid=1",
    "edns=4096 ecs=198.51.100.0/24 do=1",
    "padding=128",
    "cookie=1 rd=0",
)
ZONE = f"""\
$ORIGIN example.test.
@ 300 SOA ns hostmaster 1 3600 600 86400 300
@ 300 NS ns
ns 300 A 192.0.2.53
ns 300 AAAA 2001:db8::53
www 300 A 192.0.2.80
www 300 MX 10 www
big 300 TXT {" ".join(f'"{number:0200d}"' for number in range(14))}
"""
UPDATES = """\
example.test
add new 300 A 192.0.2.99
send
example.test
delete www
send
"""


class TappedBind(Bind):
    """BIND at addresses of both families, that writes all messages to a dnstap file."""

    def render(self):
        [(name, text)] = super().render().items()
        one_family = "listen-on-v6 { none; };"
        assert one_family in text
        tap = 'listen-on-v6 port 53 { any; };\n    dnstap { all; };\n    dnstap-output file "tap";'
        # Room for all messages: BIND drops those that do not fit (fstrm-set-input-queue-size, 512 as shipped).
        tap += "\n    fstrm-set-input-queue-size 16384;"
        return {name: text.replace(one_family, tap)}


@dataclass(frozen=True)
class Recorded:
    """The two files."""

    capture: Path
    dnstap: Path


def record(folder):
    """Load BIND with messages of every kind over UDP and TCP, and record both sides."""
    zone = folder / "example.zone"
    zone.write_text(ZONE)
    with Namespace("server") as inside, Namespace("client") as outside:
        ends = [
            End(namespace, DEVICE, [f"{address}/{64 if ':' in address else 24}" for address in addresses])
            for namespace, addresses in ((inside, SERVERS), (outside, CLIENTS))
        ]
        link(*ends)
        for namespace in (inside, outside):
            # Datagrams that leave together (UDP segmentation offload) are cut up before they are captured.
            namespace.run_ip("link", "set", DEVICE, "gso_max_segs", "1")
        settings = ServerSettings(address=SERVERS[0], port=53, threads=2, udp_limit=4096)
        bind = TappedBind([ServedZone("example.test", zone)], settings, folder / "bind", inside)
        capture = folder / "server.pcap"
        with bind, contextlib.ExitStack() as left_open, _captured(inside, capture, folder):
            _loads(outside, folder)
            outside.call(lambda: _by_hand(left_open))
            wait_until(lambda: capture.read_bytes().count(LAST) == 2)
    return Recorded(capture, folder / "bind" / "tap")


@contextlib.contextmanager
def _captured(namespace, path, folder):
    """Capture all packets of the server's link while the body runs."""
    log = folder / "tcpdump.log"
    command = ["tcpdump", "-i", DEVICE, "-n", "--immediate-mode", "-U", "--time-stamp-precision", "nano", "-Z", "root"]
    # Room for each packet of a link of 1500 octets, and for all of them.
    command += ["-s", "2048", "-B", "16384"]
    with namespace.spawn([*command, "-w", str(path)], folder=folder, log=log, cpus=None) as process:
        wait_until(lambda: "listening on" in log.read_text() or not process.alive())
        yield
        process.signal(signal.SIGINT)
        wait_until(lambda: not process.alive())
    assert "\n0 packets dropped by kernel" in log.read_text(), log.read_text()


def _loads(client, folder):
    """Send queries of many kinds over UDP and TCP from addresses of both families, and updates."""
    queries, updates = folder / "queries.txt", folder / "updates.txt"
    lines = [
        f"{NAMES[number % len(NAMES)]} {TYPES[number % len(TYPES)]} {OPTIONS[number % len(OPTIONS)]}\n"
        for number in range(len(NAMES) * len(TYPES) * len(OPTIONS))
    ]
    queries.write_text("".join(lines))
    updates.write_text(UPDATES)
    to_4, to_6 = (["-s", address, "-p", "53", "--i-may-load-this"] for address in SERVERS)
    from_4, from_6 = ([part for one in CLIENTS if (":" in one) == is_6 for part in ("-a", one)] for is_6 in (0, 1))
    for options in (
        [*to_4, *from_4, "-d", str(queries), "-c", "6", "-q", "40"],
        [*to_6, *from_6, "-d", str(queries), "--queries", "100", "-c", "4", "-Q", "2000", "--tcp-fallback", "--0x20"],
        [
            *to_6,
            "-d",
            str(queries),
            "--queries",
            "60",
            "-m",
            "tcp",
            "-c",
            "3",
            "-q",
            "12",
            "--queries-per-session",
            "7",
        ],
        [*to_4, "-d", str(queries), "--queries", "40", "--cookies"],
        [*to_4, "-u", "-d", str(updates)],
    ):
        client.run([sys.executable, "-m", "dnsrig", "load", *options])


def _by_hand(left_open):
    """Send what no load does, and leave a connection open; the last query is that of LAST."""
    version = dns.message.make_query("version.bind", "TXT", "CH")
    other_edns = dns.message.make_query("www.example.test", "A", use_edns=1)
    notify = dns.message.make_query("example.test", "SOA")
    notify.set_opcode(dns.opcode.NOTIFY)
    for message in (version, other_edns, notify):
        dns.query.udp(message, SERVERS[0], timeout=10)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.sendto(b"no DNS", (SERVERS[0], 53))
    query = dns.message.make_query("www.example.test", "A")
    for is_reset in (True, False):
        channel = left_open.enter_context(socket.create_connection((SERVERS[1], 53), 10))
        dns.query.send_tcp(channel, query)
        dns.query.receive_tcp(channel)
        if is_reset:
            # Closed at once, without FIN (socket(7): SO_LINGER).
            channel.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            channel.close()
    dns.query.udp(dns.message.make_query("last.example.test", "A"), SERVERS[0], timeout=10)
