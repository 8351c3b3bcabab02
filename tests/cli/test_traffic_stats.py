"""`dnsrig traffic stats` against tshark, dnspython and a load."""

import collections
import json
import lzma
import math
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import dns.flags
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import pytest
from captures import Packet, fragments, tcp, transactions, udp, write_pcap
from jsonschema import Draft202012Validator
from other_programs import need

SYN, FIN, PUSH = 0x02, 0x01, 0x18
GOLDEN = Path(__file__).parent / "golden" / "traffic_stats.txt"


@pytest.fixture(scope="module")
def known():
    """Give transactions, every tenth over TCP, every seventh answer in fragments."""
    return list(transactions(800, seed=3))


@pytest.fixture(scope="module")
def capture(known, tmp_path_factory):
    """Write them."""
    packets = []
    for place, (at_ns, answer_ns, (client, server), query, answer) in enumerate(known):
        asked, replied = query.to_wire(), answer.to_wire()
        if place % 10 == 0:
            data = len(asked).to_bytes(2, "big") + asked
            for number, (flags, part) in enumerate(((SYN, b""), (PUSH, data[:9]), (PUSH, data[9:]))):
                sequence = 100 if number == 0 else 101 + (9 if number == 2 else 0)
                packets.append(Packet(at_ns + number - 2, tcp(client, server, sequence, flags, part)))
            if answer_ns is not None:
                data = len(replied).to_bytes(2, "big") + replied
                packets.append(Packet(answer_ns - 1, tcp(server, client, 500, SYN | 0x10)))
                packets.append(Packet(answer_ns, tcp(server, client, 501, PUSH, data)))
                packets.append(Packet(answer_ns + 1, tcp(server, client, 501 + len(data), FIN | 0x10)))
            continue
        packets.append(Packet(at_ns, udp(client, server, asked)))
        if answer_ns is None:
            continue
        packet = udp(server, client, replied)
        if place % 7 == 0 and packet[0] >> 4 == 4:
            packets += [Packet(answer_ns, piece) for piece in fragments(packet, 24)]
        else:
            packets.append(Packet(answer_ns, packet))
    packets.sort(key=lambda packet: packet.time_ns)
    path = tmp_path_factory.mktemp("captures") / "known.pcap"
    write_pcap(path, packets)
    return path


@pytest.fixture(scope="module")
def schema():
    """Give the schema of the JSON object."""
    schema = json.loads(resources.files("dnsrig.schemas").joinpath("traffic.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_every_figure_is_that_of_the_messages_made(dnsrig, known, capture, schema):
    found = dnsrig("traffic", "stats", capture, "--json").json
    schema.validate(found)
    queries = [query for _, _, _, query, _ in known]
    answers = [answer for _, answer_ns, _, _, answer in known if answer_ns is not None]
    assert found["requests"] == len(queries)
    assert found["answers"] == {
        "count": len(answers),
        "answered": len(answers),
        "unanswered": len(queries) - len(answers),
        "unmatched": 0,
        "given_up": 0,
    }
    assert found["failed"] == sum(answer.rcode() != 0 for answer in answers)
    assert found["rcodes"] == collections.Counter(dns.rcode.to_text(answer.rcode()) for answer in answers)
    types = collections.Counter(question_of(query) for query in queries)
    failed = collections.Counter(question_of(answer) for answer in answers if answer.rcode())
    rows = {(row["class"], row["type"]): (row["count"], row["failed"]) for row in found["types"]}
    assert rows == {key: (count, failed[key]) for key, count in types.items()}
    rd = [bool(query.flags & dns.flags.RD) for query in queries]
    rd_failed = sum(answer.rcode() != 0 and bool(answer.flags & dns.flags.RD) for answer in answers)
    assert found["rd"] == {"count": sum(rd), "failed": rd_failed}
    assert found["aa"] == sum(bool(answer.flags & dns.flags.AA) for answer in answers)
    assert found["flags"]["do"] == sum(bool(query.ednsflags & dns.flags.DO) for query in queries)
    assert found["flags"]["cd"] == sum(bool(query.flags & dns.flags.CD) for query in queries)
    sizes = collections.Counter(str(query.payload) for query in queries if query.edns >= 0)
    assert found["edns"]["udp_sizes"] == sizes
    assert found["sizes"]["truncated"] == sum(bool(answer.flags & dns.flags.TC) for answer in answers)
    mean = sum(len(answer.to_wire()) for answer in answers) / len(answers)
    assert found["sizes"]["answer_mean"] == pytest.approx(mean)
    assert found["clients"]["count"] == len({client for _, _, ((client, _), _), _, _ in known})
    names = {str(query.question[0].name).lower() for query in queries}
    assert found["names"]["count"] == len(names)
    latencies = sorted(answer_ns - at_ns for at_ns, answer_ns, *_ in known if answer_ns is not None)
    assert found["latency_ns"]["max"] == latencies[-1]
    assert found["latency_ns"]["p50"] == pytest.approx(latencies[(len(latencies) + 1) // 2 - 1], rel=1 / 128)
    seconds = collections.Counter(at_ns // 10**9 for at_ns, *_ in known)
    counts = sorted(seconds[second] for second in range(min(seconds), max(seconds) + 1))
    assert found["rate_qps"]["max"] == counts[-1]
    assert found["rate_qps"]["p95"] == counts[math.ceil(0.95 * len(counts)) - 1]
    assert found["rate_qps"]["mean"] == pytest.approx(len(queries) / found["seconds"])
    assert found["transports"] == {"udp": 720, "tcp": 80}
    assert found["tcp"]["sessions"] == 80
    closed = sum(answer_ns is not None for _, answer_ns, *_ in known[::10])
    assert (found["tcp"]["closed"], found["tcp"]["never_closed"]) == (closed, 80 - closed)
    assert not any(found["packets"]["malformed"].values()) and not any(found["packets"]["not_dns"].values())
    assert found["packets"]["fragments"]["incomplete"] == 0


def question_of(message):
    """Give class and type as they are shown."""
    question = message.question[0]
    return dns.rdataclass.to_text(question.rdclass), dns.rdatatype.to_text(question.rdtype)


def test_tshark_counts_the_same(dnsrig, capture):
    need("tshark", "tshark")
    fields = ("dns.flags.response", "dns.flags.rcode", "dns.qry.type", "dns.resp.ttl", "frame.number")
    command = ["tshark", "-r", capture, "-Y", "dns", "-T", "fields", "-E", "occurrence=f"]
    command += [part for field in fields for part in ("-e", field)]
    # Fragments of both families and segments are put together by default.
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    is_answer = [row[0] in ("1", "True") for row in rows]
    found = dnsrig("traffic", "stats", capture, "--json").json
    assert found["requests"] == is_answer.count(False)
    assert found["answers"]["count"] == is_answer.count(True)
    rcodes = collections.Counter(int(row[1]) for row, answers in zip(rows, is_answer, strict=True) if answers)
    assert {dns.rcode.from_text(name): count for name, count in found["rcodes"].items()} == rcodes
    types = collections.Counter(int(row[2]) for row, answers in zip(rows, is_answer, strict=True) if not answers)
    ours = collections.Counter()
    for row in found["types"]:
        ours[int(dns.rdatatype.from_text(row["type"]))] += row["count"]
    assert ours == types


def test_the_text_is_the_golden_file(dnsrig, capture):
    """Set DNSRIG_UPDATE_GOLDEN=1 to write it anew, then read the difference.

    The tests above say that the figures are right; this one says that they are printed, in which words and order.
    """
    done = dnsrig("traffic", "stats", capture, cwd=capture.parent)
    assert (done.code, done.err) == (0, "")
    # How fast it was read is of this machine.
    kept = [line.rstrip() + "\n" for line in done.out.splitlines() if not line.startswith("read at ")]
    if os.environ.get("DNSRIG_UPDATE_GOLDEN"):
        GOLDEN.write_text("".join(kept))
    assert "".join(kept) == GOLDEN.read_text()


def test_forms_of_output(dnsrig, capture, tmp_path):
    page = tmp_path / "page.html"
    assert dnsrig("traffic", "stats", capture, "--html", page).code == 0
    content = page.read_text()
    assert "<svg" in content and "maximum burst" in content and "example.org." in content
    assert ">192.0.2.13</th>" in content
    packed = tmp_path / "known.pcap.xz"
    packed.write_bytes(lzma.compress(capture.read_bytes()))
    first, second = (dnsrig("traffic", "stats", file, "--json", "--names", 0).json for file in (capture, packed))
    assert first["names"] is None
    for found in (first, second):
        del found["throughput"], found["files"], found["state"]
    assert first == second


def test_statistics_are_merged_and_compared(dnsrig, capture, schema, tmp_path):
    stored = tmp_path / "stored.json"
    stored.write_text(dnsrig("traffic", "stats", capture, "--json").out)
    merged = dnsrig("traffic", "stats", "--merge", stored, stored, "--json").json
    schema.validate(merged)
    assert merged["requests"] == 1600 and merged["rate_qps"]["max"] % 2 == 0
    compared = dnsrig("traffic", "stats", "--compare", stored, capture, "--json").json
    figures = {figure["name"]: figure for figure in compared["figures"]}
    assert figures["requests"]["ratio"] == 1.0 and figures["failed"]["is_share"]
    assert "type MX" in dnsrig("traffic", "stats", "--compare", capture, stored).out
    wrong = dnsrig("traffic", "stats", "--merge", capture)
    assert wrong.code == 2 and "holds no statistics" in wrong.err
    older = json.loads(stored.read_text())
    older["state"]["version"] = 1
    (old := tmp_path / "old.json").write_text(json.dumps(older, sort_keys=True))
    for files in (["--merge", stored, old], ["--merge", old], ["--compare", old, capture]):
        wrong = dnsrig("traffic", "stats", *files)
        assert wrong.code == 2 and f"{old}: statistics of version 1" in wrong.err, wrong.err
        assert "make them again" in wrong.err


def test_captures_with_many_names_and_clients_add_up_exactly(dnsrig, schema, tmp_path):
    captures = [tmp_path / f"{seed}.pcap" for seed in (1, 2)]
    for seed, path in enumerate(captures, 1):
        made = dnsrig("traffic", "synthesize", "resolver-2022", path, "-n", 25_000, "--seed", seed)
        assert made.code == 0, made.err
    stored = {path: path.with_suffix(".json") for path in captures}
    for path, file in stored.items():
        file.write_text(dnsrig("traffic", "stats", path, "--json", "--store-all").out)
    merged = dnsrig("traffic", "stats", "--merge", *stored.values(), "--json", "--store-all")
    assert merged.code == 2 and "--store-all" in merged.err
    merged = dnsrig("traffic", "stats", "--merge", *stored.values(), "--json").json
    schema.validate(merged)
    whole = dnsrig("traffic", "stats", *captures, "--json", "--store-all").json
    assert whole["names"]["count"] > 10_000 and whole["clients"]["count"] > 10_000
    for found in (merged, whole):
        del found["throughput"], found["files"], found["state"]["files"], found["state"]["reading_s"]
    assert merged == whole
    # Stored as usual, the most frequent add up, and the error is said.
    for path, file in stored.items():
        file.write_text(dnsrig("traffic", "stats", path, "--json").out)
    usual = dnsrig("traffic", "stats", "--merge", *stored.values(), "--json").json
    assert usual["clients"]["error"] > 0 and usual["clients"]["top"]["error"] > 0


def test_a_pipe_and_several_files_are_read(dnsrig, capture):
    expected = dnsrig("traffic", "stats", capture, "--json").json
    with capture.open("rb") as file:
        command = [sys.executable, "-m", "dnsrig", "traffic", "stats", "-", "--json"]
        done = subprocess.run(command, stdin=file, capture_output=True, check=True)
    piped = json.loads(done.stdout)
    twice = dnsrig("traffic", "stats", capture, capture, "--json").json
    assert piped["types"] == expected["types"] and piped["files"][0]["file"] == "-"
    assert twice["packets"]["read"] == 2 * expected["packets"]["read"]


def test_what_is_wrong_is_said(dnsrig, capture, tmp_path):
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(capture.read_bytes()[:-7])
    done = dnsrig("traffic", "stats", cut)
    assert done.code == 0 and "is cut off after packet" in done.err
    done = dnsrig("traffic", "stats", capture, "--port", 5300)
    assert done.code == 2 and "no DNS message" in done.err and "of other ports" in done.err
    done = dnsrig("traffic", "stats", tmp_path / "missing.pcap")
    assert done.code == 2
    text = tmp_path / "queries.txt"
    text.write_text("www.example.test A\n")
    table = tmp_path / "queries.parquet"
    table.write_bytes(b"PAR1" + bytes(40))
    for file, form in ((text, "text"), (table, "parquet")):
        for command in (["stats", file], ["filter", "query", file, "-f", tmp_path / "out.pcap"]):
            done = dnsrig("traffic", *command)
            assert done.code == 2 and f"'dnsrig traffic convert --from {form}'" in " ".join(done.err.split()), done.err


def test_packets_with_a_wrong_clock_spoil_no_figure(dnsrig, schema, tmp_path):
    start_ns, second_ns = 1_700_000_000 * 10**9, 10**9
    query = b"\x00\x07\x01\x00\x00\x01" + bytes(6) + b"\x03www\x04test\x00\x00\x01\x00\x01"
    packet = udp(("192.0.2.1", 4000), ("198.51.100.53", 53), query)
    times = [start_ns + number * second_ns for number in range(200)]
    strange = {"first": 7 * second_ns, "last": 4_294_967_295 * second_ns}
    capture = tmp_path / "clock.pcap"
    for ends, warning in (
        ((), None),
        (("first",), "first packet has the time 1970-01-01T00:00:07Z"),
        (("last",), "last packet has the time 2106-02-07T06:28:15Z"),
    ):
        all_times = [strange[end] for end in ends if end == "first"] + times
        all_times += [strange[end] for end in ends if end == "last"]
        write_pcap(capture, [Packet(time_ns, packet) for time_ns in all_times])
        done = dnsrig("traffic", "stats", capture, "--json")
        found = json.loads(done.out)
        schema.validate(found)
        assert found["start"] == "2023-11-14T22:13:20Z" and 199 <= found["seconds"] <= 200
        assert found["rate_qps"] == pytest.approx({"mean": 200 / found["seconds"], "p95": 1, "max": 1, "beyond": 0})
        assert found["requests"] == 200 + len(ends)
        assert (found["clock"] is None) == (warning is None)
        assert warning is None or warning in done.err
        compared = dnsrig("traffic", "stats", "--compare", capture, capture, "--json")
        assert compared.json["first_clock"] == compared.json["second_clock"] == found["clock"]
        assert warning is None or compared.err.count(f"{capture}: the {warning}") == 2, compared.err


def test_times_that_run_backwards_are_counted_and_said(dnsrig, schema, tmp_path):
    query = b"\x00\x07\x01\x00\x00\x01" + bytes(6) + b"\x03www\x04test\x00\x00\x01\x00\x01"
    packet = udp(("192.0.2.1", 4000), ("198.51.100.53", 53), query)
    start_ns, capture = 1_700_000_000 * 10**9, tmp_path / "back.pcap"
    ahead = [start_ns + number * 10**9 for number in range(12)]
    for back_ns, is_said in ((900_000, False), (2_500_000_000, True)):
        times = [*ahead, ahead[-1] - back_ns, ahead[-1] + 10**9]
        write_pcap(capture, [Packet(time_ns, packet) for time_ns in times])
        done = dnsrig("traffic", "stats", capture, "--json")
        schema.validate(done.json)
        [file] = done.json["files"]
        assert (file["back_in_time"], file["furthest_back_ns"]) == (1, back_ns)
        assert ("times run backwards at 1 packets, by up to 2.5 s" in done.err) == is_said, done.err
    # In reverse order, in steps so small that single ones would say nothing.
    write_pcap(capture, [Packet(start_ns - number * 500_000, packet) for number in range(12)])
    assert "times run backwards at 11 packets, by up to" in dnsrig("traffic", "stats", capture).err


def test_a_top_level_domain_of_its_own_for_each_query_is_counted(dnsrig, tmp_path):
    # More than the tables of zones have room for.
    names, capture = 1_100_000, tmp_path / "tlds.pcap"
    queries = tmp_path / "queries.txt"
    queries.write_text("".join(f"q{number:07x}. A\n" for number in range(names)))
    made = dnsrig("traffic", "convert", queries, "-f", capture)
    assert made.code == 0, made.err
    found = dnsrig("traffic", "stats", capture, "--json").json["names"]
    assert found["unknown_tld"] == names and found["zones"][0]["error"] > 0


def test_several_datagrams_as_one_packet_are_counted_each(dnsrig, schema, tmp_path):
    query = b"\x00\x07\x01\x00\x00\x01" + bytes(6) + b"\x03www\x04test\x00\x00\x01\x00\x01"
    capture = tmp_path / "merged.pcap"
    ends = ("192.0.2.1", 4000), ("198.51.100.53", 53)
    write_pcap(capture, [Packet(10**18, udp(*ends, query * number)) for number in (1, 3, 2)])
    done = dnsrig("traffic", "stats", capture, "--json")
    schema.validate(done.json)
    assert (done.json["packets"]["merged"], done.json["requests"]) == (2, 6)
    assert done.json["sizes"]["query_mean"] == len(query)
    shown = dnsrig("traffic", "stats", capture).out
    assert "several datagrams as one" in shown and "2, the messages of which are counted each" in shown


def test_several_datagrams_as_one_packet_are_taken_apart_by_all(dnsrig, tmp_path):
    def query(number: int, name: bytes) -> bytes:
        return number.to_bytes(2) + b"\x01\x00\x00\x01" + bytes(6) + name + b"\x04test\x00\x00\x01\x00\x01"

    ends = ("192.0.2.1", 4000), ("198.51.100.53", 53)
    merged = b"".join(query(number, b"\x03www" if number % 2 else b"\x03ftp") for number in range(1, 6))
    capture = tmp_path / "merged.pcap"
    write_pcap(capture, [Packet(10**18, udp(*ends, merged)), Packet(10**18, udp(*ends, query(9, b"\x03www")))])
    lines = tmp_path / "queries.txt"
    assert dnsrig("traffic", "convert", capture, "-f", lines).code == 0
    names = [line.split()[0] for line in lines.read_text().splitlines() if not line.startswith(";")]
    assert names == ["www.test.", "ftp.test.", "www.test.", "ftp.test.", "www.test.", "www.test."]
    for command, expected in (
        (("filter", "name www.test"), 4),
        (("warp", "--speed", "2"), 6),
        (("sample", "--clients", "100%"), 6),
        (("anonymize",), 6),
    ):
        output = tmp_path / f"{command[0]}.pcap"
        arguments = (*command[1:], capture) if command[0] == "filter" else (capture, *command[1:])
        done = dnsrig("traffic", command[0], *arguments, "-f", output)
        assert done.code == 0, done.err
        found = dnsrig("traffic", "stats", output, "--json").json
        assert (found["requests"], found["packets"]["merged"]) == (expected, 0), command[0]


def test_tcp_that_cannot_be_used_is_in_the_text(dnsrig, tmp_path):
    query = b"\x00\x07\x01\x00\x00\x01" + bytes(6) + b"\x03www\x04test\x00\x00\x01\x00\x01"
    data = len(query).to_bytes(2, "big") + query
    ends, capture = (("192.0.2.1", 4000), ("198.51.100.53", 53)), tmp_path / "tcp.pcap"
    parts = [(0, data[5:]), (23, data), (23, data), (51, data[:9])]
    write_pcap(capture, [Packet(10**18, tcp(*ends, 100 + place, PUSH, part)) for place, part in parts])
    text = dnsrig("traffic", "stats", capture).out
    assert "TCP packets sent again    1\n" in text, text
    assert "TCP not used              1 segments without a known place, 1 messages not whole\n" in text, text
