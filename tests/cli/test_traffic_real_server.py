"""`dnsrig traffic` on what a real server was asked and answered: against tshark, and against BIND's dnstap-read."""

import collections
import dataclasses
import subprocess

import dns.flags
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dpkt
import pyarrow
import pyarrow.parquet
import pytest
from captures import Packet, tcp, write_pcap
from dnsrig.hosts.network import users
from other_programs import need
from read_by_others import by_dnstap_read, by_tshark, transactions_of
from recorded_server import CLIENTS, SERVERS, record

NS_PER_MS = 10**6


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Give a capture and a dnstap file of the same server."""
    if why := users.why_no_namespaces():
        pytest.skip(why)
    for program, package in (
        ("named", "bind9"),
        ("dnstap-read", "bind9-dnsutils"),
        ("tcpdump", "tcpdump"),
        ("tshark", "tshark"),
        ("ip", "iproute2"),
    ):
        need(program, package)
    return record(tmp_path_factory.mktemp("recorded"))


@pytest.fixture(scope="module")
def captured(recorded):
    """Give the messages of the capture by tshark."""
    return list(by_tshark(recorded.capture))


@pytest.fixture(scope="module")
def tapped(recorded):
    """Give the messages of the dnstap file by dnstap-read."""
    return [message for _, message in by_dnstap_read(recorded.dnstap)]


def rows_of(messages, unit_ns=1):
    """Give the rows that transactions have in Parquet; times in whole units."""
    for found in transactions_of(messages):
        query, answer = found.query, found.answer
        of_answer = (None,) * 4
        if answer is not None:
            of_answer = (answer.time_ns // unit_ns, answer.rcode, answer.flags, answer.size)
        ends = (*query.source, *query.target, query.transport)
        yield query.time_ns // unit_ns, *ends, query.id, query.flags, query.size, query.question, *of_answer


def rows_read(dnsrig, path, folder, unit_ns=1):
    """Give the rows of Parquet that `dnsrig traffic convert` made."""
    table = folder / "rows.parquet"
    done = dnsrig("traffic", "convert", path, "-f", table, "--from", "capture")
    assert done.code == 0, done.err
    read = pyarrow.parquet.read_table(table)
    for name in ("time", "latency"):
        # As numbers: Python's times have no nanoseconds.
        place = read.schema.get_field_index(name)
        read = read.set_column(place, name, read.column(name).cast(pyarrow.int64()))
    for row in read.to_pylist():
        of_answer = (None,) * 4
        if row["latency"] is not None:
            answered = (row["time"] + row["latency"]) // unit_ns
            of_answer = (answered, row["rcode"], row["answer_flags"], row["answer_octets"])
        ends = (row["client"], row["client_port"], row["server"], row["server_port"], row["transport"])
        flags, size = int.from_bytes(row["query"][2:4]), len(row["query"])
        types = (int(dns.rdatatype.from_text(row["type"])), int(dns.rdataclass.from_text(row["class"])))
        question = (row["name"].lower(), *types)
        yield row["time"] // unit_ns, *ends, row["id"], flags, size, question, *of_answer


def figures_of(messages):
    """Count what `dnsrig traffic stats` counts, by its names."""
    of_queries = [message for message in messages if message.opcode == dns.opcode.QUERY]
    queries = [message for message in of_queries if not message.is_answer]
    answers = [message for message in of_queries if message.is_answer]
    pairs = transactions_of(of_queries)
    failed = [pair.query for pair in pairs if pair.answer is not None and pair.answer.rcode]
    latencies = [pair.answer.time_ns - pair.query.time_ns for pair in pairs if pair.answer is not None]

    def with_flag(flag, found=queries):
        return sum(bool(message.flags & flag) for message in found)

    edns = [message.edns for message in queries if message.edns]
    types = collections.Counter((message.class_, message.type) for message in queries)
    failed_types = collections.Counter((message.class_, message.type) for message in failed)
    opcodes = collections.Counter(message.opcode for message in messages if not message.is_answer)
    sizes = {name: [message.size for message in found] for name, found in (("query", queries), ("answer", answers))}
    return {
        "requests": len(queries),
        "failed": len(failed),
        "answers": {
            "count": len(answers),
            "answered": len(latencies),
            "unanswered": len(queries) - len(latencies),
            "unmatched": len(answers) - len(latencies),
            "given_up": 0,
        },
        "rd": {"count": with_flag(dns.flags.RD), "failed": with_flag(dns.flags.RD, failed)},
        "aa": with_flag(dns.flags.AA, answers),
        "types": {key: (count, failed_types[key]) for key, count in types.items()},
        "rcodes": collections.Counter(message.rcode for message in answers),
        "opcodes": opcodes,
        "latency_max": max(latencies),
        "sizes": {name: (max(found), sum(found) / len(found)) for name, found in sizes.items()},
        "truncated": with_flag(dns.flags.TC, answers),
        "flags": {
            "rd": with_flag(dns.flags.RD),
            "ad": with_flag(dns.flags.AD),
            "cd": with_flag(dns.flags.CD),
            "do": sum(one.is_dnssec_ok for one in edns),
        },
        "edns": {
            "requests": len(edns),
            "other_versions": sum(one.version != 0 for one in edns),
            "udp_sizes": collections.Counter(str(one.udp_size) for one in edns),
            "options": collections.Counter(str(code) for one in edns for code in one.options),
        },
        "transports": collections.Counter(message.transport for message in queries),
        "families": collections.Counter("ipv6" if ":" in message.source[0] else "ipv4" for message in queries),
        "clients": collections.Counter(message.source[0] for message in queries),
        "names": collections.Counter(message.name.lower() for message in queries),
    }


def figures_read(found):
    """Give the same figures of a JSON object of `dnsrig traffic stats`."""
    kept = ("requests", "failed", "answers", "rd", "aa", "flags", "edns", "transports", "families")
    types = {
        (int(dns.rdataclass.from_text(row["class"])), int(dns.rdatatype.from_text(row["type"]))): (
            row["count"],
            row["failed"],
        )
        for row in found["types"]
    }
    sizes = found["sizes"]
    return {
        **{name: found[name] for name in kept},
        "types": types,
        "rcodes": {int(dns.rcode.from_text(name)): count for name, count in found["rcodes"].items()},
        "opcodes": {int(dns.opcode.from_text(name)): count for name, count in found["opcodes"].items()},
        "latency_max": found["latency_ns"]["max"],
        "sizes": {name: (sizes[name]["max"], sizes[f"{name}_mean"]) for name in ("query", "answer")},
        "truncated": sizes["truncated"],
        "clients": dict(found["clients"]["top"]["items"]),
        "names": dict(found["names"]["top"]["items"]),
    }


def test_the_capture_is_of_every_kind(captured):
    """What is compared is there to be compared."""
    assert {message.transport for message in captured} == {"udp", "tcp"}
    assert {message.source[0] for message in captured} >= set(CLIENTS)
    assert {message.opcode for message in captured} == {dns.opcode.QUERY, dns.opcode.UPDATE, dns.opcode.NOTIFY}
    wanted = (dns.rcode.NOERROR, dns.rcode.NXDOMAIN, dns.rcode.REFUSED, dns.rcode.BADVERS)
    assert {message.rcode for message in captured} >= set(wanted)
    # Fragments, and segments with several messages.
    assert max(message.size for message in captured if message.transport == "udp") > 1500
    of_segments = collections.Counter(message.time_ns for message in captured if message.transport == "tcp")
    assert max(of_segments.values()) > 1


def test_messages_are_those_of_tshark(dnsrig, recorded, captured, tmp_path):
    ours = list(rows_read(dnsrig, recorded.capture, tmp_path))
    assert ours == list(rows_of(captured))


def test_figures_are_those_of_tshark(dnsrig, recorded, captured):
    found = dnsrig("traffic", "stats", recorded.capture, "--json").json
    assert figures_read(found) == figures_of(captured)


def test_tcp_sessions_and_packets_are_those_of_tshark(dnsrig, recorded, captured):
    fields = ("tcp.stream", "tcp.flags.syn", "tcp.flags.fin", "tcp.flags.reset", "frame.protocols", "_ws.malformed")
    command = ["tshark", "-n", "-r", recorded.capture, "-T", "fields"]
    command += [part for field in fields for part in ("-e", field)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    sessions, layers = {}, []
    for line in done.stdout.splitlines():
        stream, *flags, protocols, malformed = line.split("\t")
        layers.append((protocols.split(":"), malformed))
        if stream:
            session = sessions.setdefault(stream, [])
            session += [
                name for name, flag in zip(("syn", "fin", "reset"), flags, strict=True) if flag in {"1", "True"}
            ]
    assert all(session[0] == "syn" for session in sessions.values())
    # How each ended: what came first counts.
    ends = collections.Counter(next((flag for flag in session if flag != "syn"), None) for session in sessions.values())
    assert min(ends["fin"], ends["reset"], ends[None]) > 0
    found = dnsrig("traffic", "stats", recorded.capture, "--json").json
    tcp, packets = found["tcp"], found["packets"]
    assert tcp["sessions"] == len(sessions)
    assert (tcp["closed"], tcp["reset"], tcp["never_closed"]) == (ends["fin"], ends["reset"], ends[None])
    assert tcp["joined"] == tcp["gaps"] == 0
    assert tcp["packets"] == sum("tcp" in protocols for protocols, _ in layers)
    assert tcp["messages"] == sum(message.transport == "tcp" for message in captured)
    assert packets["read"] == len(layers)
    others = sum("arp" in protocols or "icmpv6" in protocols for protocols, _ in layers)
    assert packets["read"] - packets["dns"] == sum(packets["not_dns"].values()) == others
    assert packets["malformed"]["header"] == sum(packets["malformed"].values()) == 1


def answers_over_tcp(path):
    """Give the messages, each after its length, that servers of a capture sent over TCP, by dpkt."""
    streams = collections.defaultdict(dict)
    with path.open("rb") as file:
        for _, octets in dpkt.pcap.Reader(file):
            packet = dpkt.ethernet.Ethernet(octets).data
            segment = getattr(packet, "data", None)
            if isinstance(segment, dpkt.tcp.TCP) and segment.sport == 53 and segment.data:
                streams[packet.src, packet.dst, segment.dport][segment.seq] = bytes(segment.data)
    for stream in streams.values():
        rest = b"".join(octets for _, octets in sorted(stream.items()))
        while rest:
            length = 2 + int.from_bytes(rest[:2])
            yield rest[:length]
            rest = rest[length:]


def joined(dnsrig, folder, segments):
    """Give what is said of TCP of a server whose connection was captured from the first of `segments` on."""
    capture, ends, sequence, packets = folder / "joined.pcap", ((SERVERS[0], 53), (CLIENTS[0], 4000)), 7, []
    for number, data in enumerate(segments):
        packets.append(Packet(10**18 + number, tcp(*ends, sequence, 0x18, data)))
        sequence += len(data)
    write_pcap(capture, packets)
    done = dnsrig("traffic", "stats", capture, "--json")
    assert done.code == 0, done.err
    return done.json["tcp"]


def test_connections_are_joined_anywhere(dnsrig, recorded, tmp_path):
    messages = list(answers_over_tcp(recorded.capture))
    longest = max(range(len(messages)), key=lambda place: len(messages[place]))
    assert len(messages[longest]) > 2000
    order = messages[longest:] + messages[:longest]
    cut = [[message[at : at + 200] for at in range(0, len(message), 200)] for message in order]
    # From each segment of the longest answer on: all but that answer are read.
    segments = [segment for message in cut for segment in message]
    for first in range(len(cut[0]) + 1):
        found = joined(dnsrig, tmp_path, segments[first:])
        expected = len(messages) - (first > 0)
        assert (found["messages"], found["misplaced"], found["incomplete"]) == (expected, 0, 0), first
        assert found["unplaced"] == (len(cut[0]) - first if first else 0)
    # From what looks like a message inside an answer on, as answers may hold anything: all after that answer are read.
    shortest = min(order, key=len)
    found = joined(dnsrig, tmp_path, [shortest, *segments[3:]])
    assert (found["messages"], found["misplaced"]) == (len(messages), 1)
    assert found["unplaced"] == len(cut[0]) - 3


def test_dnstap_is_that_of_dnstap_read(dnsrig, recorded, tapped, tmp_path):
    ours = list(rows_read(dnsrig, recorded.dnstap, tmp_path, NS_PER_MS))
    assert ours == list(rows_of(tapped, NS_PER_MS))
    figures, expected = figures_read(dnsrig("traffic", "stats", recorded.dnstap, "--json").json), figures_of(tapped)
    # dnstap-read tells times in milliseconds.
    assert figures.pop("latency_max") == pytest.approx(expected.pop("latency_max"), abs=NS_PER_MS)
    assert figures == expected


def test_dnstap_made_a_capture_is_the_same_to_tshark(dnsrig, recorded, tapped, tmp_path):
    made = tmp_path / "made.pcap"
    assert dnsrig("traffic", "convert", recorded.dnstap, "-f", made).code == 0
    found = [dataclasses.replace(one, time_ns=one.time_ns // NS_PER_MS * NS_PER_MS) for one in by_tshark(made)]
    assert found == tapped


def test_both_hold_the_same_messages(dnsrig, recorded, tmp_path):
    """What came over the link is what the server says it got and sent."""
    found = []
    for path in (recorded.capture, recorded.dnstap):
        rows = collections.Counter()
        for _, *travel, flags, size, question, _, rcode, answer_flags, answer_size in rows_read(dnsrig, path, tmp_path):
            # The rig asks from the server's own address whether it is up. BIND taps neither NOTIFY nor what it refuses
            # for its version of EDNS.
            is_notify = flags >> 11 & 15 == dns.opcode.NOTIFY
            if travel[0] in CLIENTS and not is_notify and rcode != dns.rcode.BADVERS:
                rows[*travel, flags, size, question, rcode, answer_flags, answer_size] += 1
        found.append(rows)
    assert found[0] == found[1]
    assert found[0].total() > 500
