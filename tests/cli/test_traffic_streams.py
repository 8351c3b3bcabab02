"""Streams made of captures by `dnsrig traffic`, by the eyes of tshark, dnspython and `dnsrig load`."""

import gzip
import json
import lzma
import os
import signal
import subprocess
import sys
from collections import Counter

import dns.message
import pyarrow.parquet as pq
import pytest
from capture_maker import session, traffic, udp, write_pcap
from other_programs import need
from waiting import wait_until

FIELDS = ("ip.src", "ipv6.src", "dns.id", "dns.qry.name", "dns.qry.type")


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    """A capture of UDP, TCP and fragments over IPv4 and IPv6."""
    return write_pcap(tmp_path_factory.mktemp("capture") / "all.pcap", traffic())


def tshark(path, display_filter=None):
    """Give the DNS messages that tshark finds: a packet may have several."""
    need("tshark", "tshark")
    command = ["tshark", "-n", "-r", str(path), "-Y", display_filter or "dns", "-T", "json", "--no-duplicate-keys"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = Counter()
    for packet in json.loads(done.stdout):
        layers = packet["_source"]["layers"]
        addresses = layers.get("ip") or layers["ipv6"]
        source = addresses.get("ip.src") or addresses["ipv6.src"]
        messages = layers["dns"] if isinstance(layers["dns"], list) else [layers["dns"]]
        for message in messages:
            [question] = message["Queries"].values()
            found[source, message["dns.id"], question["dns.qry.name"], question["dns.qry.type"]] += 1
    return found


EXPRESSIONS = [
    ("query", "dns.flags.response == 0"),
    ("answer", "dns.flags.response == 1"),
    ("name www.example.com", 'dns.qry.name == "www.example.com"'),
    ("zone example.com", 'lower(dns.qry.name) matches "(^|[.])example[.]com$"'),
    ("zone .", "dns"),
    ("type AAAA,MX", "dns.qry.type in {28, 15}"),
    ("type HTTPS and query", "dns.qry.type == 65 and dns.flags.response == 0"),
    ("class IN", "dns.qry.class == 1"),
    ("rcode NXDOMAIN", "dns.flags.rcode == 3"),
    ("rcode SERVFAIL,REFUSED", "dns.flags.rcode in {2, 5}"),
    ("rd", "dns.flags.recdesired == 1"),
    ("query and not rd", "dns.flags.response == 0 and dns.flags.recdesired == 0"),
    ("edns", "dns.resp.type == 41"),
    ("do", "dns.resp.z.do == 1"),
    ("udp", "dns and udp"),
    ("client 198.51.100.0/30", "dns and ip.addr == 198.51.100.0/30"),
    ("server 2001:db8::53", "dns and ipv6.addr == 2001:db8::53"),
    ("after 1700000000.1", "dns and frame.time_epoch >= 1700000000.1"),
    (
        "(type A or rcode REFUSED) and not zone example.com",
        '(dns.qry.type == 1 or dns.flags.rcode == 5) and not lower(dns.qry.name) matches "(^|[.])example[.]com$"',
    ),
]


@pytest.fixture(scope="module")
def single(dnsrig, capture, tmp_path_factory):
    """The capture with a packet for each message: tshark's filters tell of packets."""
    path = tmp_path_factory.mktemp("single") / "single.pcap"
    assert dnsrig("traffic", "filter", "zone .", capture, "-f", path).code == 0
    return path


@pytest.mark.parametrize(("expression", "display_filter"), EXPRESSIONS)
def test_a_filter_keeps_what_tshark_keeps(dnsrig, single, tmp_path, expression, display_filter):
    out = tmp_path / "out.pcap"
    done = dnsrig("traffic", "filter", expression, single, "-f", out, "--json")
    assert done.code == 0, done.err
    expected = tshark(single, display_filter)
    assert tshark(out) == expected
    assert done.json["messages_kept"] == sum(expected.values()) > 0


def test_no_message_is_lost_or_changed(dnsrig, capture, tmp_path):
    out = tmp_path / "out.pcap"
    done = dnsrig("traffic", "filter", "query or answer", capture, "-f", out, "--json")
    assert done.json["messages_kept"] == done.json["messages"] == 2 * 120 + 2 * 12
    assert done.json["malformed"] == 0
    assert tshark(out) == tshark(capture)
    same = tmp_path / "same.pcap"
    assert dnsrig("traffic", "convert", capture, "-f", same).code == 0
    assert tshark(same) == tshark(capture)


def test_checksums_of_made_packets_are_right(dnsrig, capture, tmp_path):
    out = tmp_path / "tcp.pcap"
    assert dnsrig("traffic", "filter", "tcp and query or zone example.com", capture, "-f", out).code == 0
    need("tshark", "tshark")
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    bad = 'tcp.checksum.status == "Bad" or ip.checksum.status == "Bad" or tcp.analysis.flags or _ws.malformed'
    command = ["tshark", "-n", "-r", str(out), *checks, "-Y", f"tcp and ({bad})"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_partitions_are_whole_and_apart(dnsrig, capture, tmp_path):
    ranges = ["--by-label-range", "-m,n-", "-o", "example.com"]
    done = dnsrig("traffic", "partition", capture, "-f", tmp_path / "p", *ranges, "--json")
    assert done.code == 0, done.err
    assert [file.rsplit("/")[-1] for file in done.json["files"]] == ["p.1.pcap", "p.2.pcap"]
    parts = [tshark(file) for file in done.json["files"]]
    assert {name.lower() for _, _, name, _ in parts[0]} <= {"mail.example.com", "example.com"}
    assert {name.lower() for _, _, name, _ in parts[1]} <= {"www.example.com", "example.com"}
    below = tmp_path / "below.pcap"
    dnsrig("traffic", "filter", "zone example.com", capture, "-f", below)
    assert parts[0] + parts[1] == tshark(below)
    assert done.json["outside_zone"] == done.json["messages"] - sum(done.json["messages_kept"])
    text = dnsrig("traffic", "partition", capture, "-f", tmp_path / "p", *ranges).out
    assert "left out, as their names are not in the zone" in text


def test_parts_are_those_of_a_split_zone(dnsrig, tmp_path):
    zone = tmp_path / "zone"
    assert dnsrig("zone", "generate", zone, "-o", "example", "--seed", 1).code == 0
    assert dnsrig("zone", "split", zone, "-n", 3, "-f", tmp_path / "piece").code == 0
    owners = {}
    for piece in (1, 2, 3):
        for line in (tmp_path / f"piece.{piece}").read_text().splitlines():
            if not line.startswith(";") and line.split()[0] != "example.":
                owners[line.split()[0]] = piece
    packets = []
    for number, name in enumerate(owners):
        message = dns.message.make_query(name, "A", id=number)
        packets.append(udp(("192.0.2.1", 4000), ("192.0.2.53", 53), message.to_wire()))
    stream = write_pcap(tmp_path / "all.pcap", packets)
    done = dnsrig(
        "traffic", "partition", stream, "-f", tmp_path / "q", "--by-manifest", tmp_path / "piece.pieces", "--json"
    )
    assert done.code == 0, done.err
    for number, file in enumerate(done.json["files"], 1):
        text = tmp_path / "names.txt"
        dnsrig("traffic", "convert", file, "-f", text)
        asked = {line.split()[0] for line in text.read_text().splitlines()}
        assert asked == {name for name, piece in owners.items() if piece == number}


def test_a_sample_says_what_it_is(dnsrig, capture, tmp_path):
    out = tmp_path / "out.pcap"
    half = dnsrig("traffic", "sample", capture, "-f", out, "--clients", "50%", "--json").json
    assert half["clients_asked"] == 0.5
    assert dnsrig("traffic", "sample", capture, "-f", out, "--clients", "0.5", "--json").json == half
    assert half["sample"]["queries"] == sum(tshark(out, "dns.flags.response == 0").values())
    assert 0 < half["queries_share"] < 1
    rate = half["whole"]["mean_qps"] / 2
    found = dnsrig("traffic", "sample", capture, "-f", out, "--target-qps", rate, "--json").json
    assert found["sample"]["mean_qps"] == pytest.approx(rate, rel=0.1)
    text = dnsrig("traffic", "sample", capture, "-f", out, "--target-qps", rate).out
    options = text.split("clients asked for: ")[1].splitlines()[0].split()
    again = dnsrig("traffic", "sample", capture, "-f", out, *options, "--json").json
    assert again["sample"] == found["sample"]


def replayed(dnsrig, served, file, *options):
    done = dnsrig("load", "-p", served[1], *options, file, "--json")
    assert done.code in {0, 1}, done.err
    return done.json


@pytest.mark.parametrize(
    "case",
    [
        (132, "filter", "query"),
        (132, "sample", "--clients", "100%"),
        (132, "warp", "--speed", "3"),
        (264, "warp", "--loops", "2"),
        (264, "mix", "--augment", "100%"),
        (132, "convert"),
    ],
)
def test_a_load_replays_what_is_written(dnsrig, served, capture, tmp_path, case):
    out = tmp_path / "out.pcap"
    queries, name, *options = case
    files = [capture, capture] if name == "mix" else [capture]
    expression = options if name == "filter" else []
    rest = [] if name == "filter" else options
    assert dnsrig("traffic", name, *expression, *files, "-f", out, *rest).code == 0
    report = replayed(dnsrig, served, out, "--speed", "20", "--replay")
    assert report["stream"]["queries"] == report["sent"] == queries


def test_text_and_binary_are_loads_too(dnsrig, served, capture, tmp_path):
    text, binary = tmp_path / "q.txt", tmp_path / "q.bin"
    assert dnsrig("traffic", "convert", capture, "-f", text).code == 0
    assert dnsrig("traffic", "convert", capture, "-f", binary).code == 0
    report = replayed(dnsrig, served, text, "--speed", "20", "--replay")
    assert report["sent"] == 132
    assert replayed(dnsrig, served, binary, "-B", "-d")["sent"] >= 132
    # As dnspython reads the octets.
    octets = binary.read_bytes()
    names = Counter()
    while octets:
        length = int.from_bytes(octets[:2])
        names[str(dns.message.from_wire(octets[2 : 2 + length]).question[0].name).lower()] += 1
        octets = octets[2 + length :]
    assert sum(names.values()) == 132
    assert names == Counter(line.split()[0].lower() for line in text.read_text().splitlines())


def test_parquet_has_the_transactions_and_gives_the_queries_back(dnsrig, capture, tmp_path):
    table, back = tmp_path / "q.parquet", tmp_path / "back.pcap"
    done = dnsrig("traffic", "convert", capture, "-f", table, "--json")
    assert done.code == 0, done.err
    assert done.json["queries"] == done.json["answered"] == 132
    rows = pq.read_table(table).to_pylist()
    assert len(rows) == 132
    seen = tshark(capture, "dns.flags.response == 0")
    assert Counter(row["client"] for row in rows) == Counter(
        {address: sum(n for (source, *_), n in seen.items() if source == address) for address, *_ in seen}
    )
    for row in rows:
        message = dns.message.from_wire(row["query"])
        assert str(message.question[0].name) == row["name"]
        assert row["latency"].total_seconds() > 0
        assert row["answer_flags"] & 0x800F == 0x8000 | row["rcode"]
    assert sum(row["rcode"] == 3 for row in rows) == 30
    assert dnsrig("traffic", "convert", table, "-f", back).code == 0
    queries = tmp_path / "queries.pcap"
    dnsrig("traffic", "filter", "query", capture, "-f", queries)
    assert back.read_bytes()[24:] and tshark(back) == tshark(queries)
    text, again = tmp_path / "q.txt", tmp_path / "again.txt"
    dnsrig("traffic", "convert", queries, "-f", text)
    dnsrig("traffic", "convert", table, "-f", again)
    assert text.read_text() == again.read_text()


def test_queries_without_answers_have_none(dnsrig, tmp_path):
    message = dns.message.make_query("a.example", "A")
    stream = write_pcap(tmp_path / "q.pcap", [udp(("192.0.2.1", 4000), ("192.0.2.53", 53), message.to_wire())])
    table = tmp_path / "q.parquet"
    assert dnsrig("traffic", "convert", stream, "-f", table, "--json").json["answered"] == 0
    [row] = pq.read_table(table).to_pylist()
    assert row["latency"] is row["rcode"] is row["answer_flags"] is row["answer_octets"] is None


def test_commands_are_chained_by_pipes(capture, tmp_path):
    out = tmp_path / "q.txt"
    python = f"{sys.executable} -m dnsrig traffic"
    line = f"{python} filter query {capture} | {python} warp - --shift 5 | {python} convert - -f {out}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(out.read_text().splitlines()) == 132
    assert "132 of 264 messages" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["filter", "qname x", "CAPTURE", "-f", "out.pcap"], "'qname' is no term; terms are zone"),
        (["filter", "query", "CAPTURE", "-f", "CAPTURE"], "would be overwritten"),
        (["filter", "query", "CAPTURE", "--json"], "either traffic or the JSON object"),
        (["filter", "query", "CAPTURE", "-f", "none/out.pcap"], "the folder none is missing"),
        (["filter", "query", "TEXT", "-f", "out.pcap"], "no capture"),
        (["sample", "CAPTURE", "-f", "out.pcap"], "give --clients"),
        (["sample", "CAPTURE", "-f", "out.pcap", "--clients", "110%"], "1.1 is not in the range"),
        (["sample", "-", "-f", "out.pcap", "--target-qps", "5"], "can be read only once"),
        (["partition", "CAPTURE", "-f", "p"], "give one of --by-label-range"),
        (["partition", "CAPTURE", "-f", "p", "--by-label-range", "a-b"], "go together"),
        (["partition", "CAPTURE", "-f", "p", "--by-label-range", "b-a", "-o", "x"], "is no list of label ranges"),
        (["partition", "CAPTURE", "-f", "p", "--by-manifest", "TEXT"], "no manifest of pieces"),
        (["mix", "CAPTURE", "CAPTURE", "-f", "out.pcap"], "give --augment or --substitute"),
        (["mix", "CAPTURE", "CAPTURE", "-f", "out.parquet", "--augment", "1"], "takes no Parquet"),
        (["warp", "CAPTURE", "-f", "out.pcap", "--start", "noon"], "'noon' is not a time"),
        (["warp", "-", "-f", "out.pcap", "--loops", "2"], "can be read only once"),
        (["warp", "CAPTURE", "-f", "out.pcap", "--shift", "-1700000001"], "pcap files hold times from 0"),
        (["warp", "CAPTURE", "-f", "out.pcap", "--shift", "4294967295"], "pcap files hold times from 0"),
        (["warp", "CAPTURE", "-f", "out.pcap", "--speed", "1e-6", "--loops", "1000000"], "fewer --loops"),
        (["warp", "CAPTURE", "-f", "out.pcap", "--speed", "0"], "is not in the range"),
        (["filter", "client 1::/129", "CAPTURE", "-f", "out.pcap"], "is not an address or prefix"),
        (["convert", "CAPTURE", "TEXT", "-f", "out.bin"], "are of several forms"),
        (["convert", "TEXT", "-f", "out.bin"], "line 1"),
        (["convert", "TEXT", "--from", "parquet", "-f", "out.bin"], "cannot be read as Parquet"),
        (["convert", "CAPTURE", "--to", "parquet"], "Parquet cannot be written to standard output"),
        (
            ["convert", "--from", "parquet", "-", "-f", "out.pcap"],
            "standard input is no regular file, which Parquet needs",
        ),
    ],
)
def test_mistakes_are_said_and_leave_nothing(dnsrig, capture, tmp_path, arguments, expected):
    text = tmp_path / "text.txt"
    text.write_text("neither a query nor a capture\n")
    named = {"CAPTURE": capture, "TEXT": text}
    done = dnsrig("traffic", *(named.get(argument, argument) for argument in arguments), cwd=tmp_path)
    assert done.code == 2, done.out + done.err
    assert expected in done.err.replace("\n", " ").replace("  ", " "), done.err
    assert "Traceback" not in done.err
    assert [file.name for file in tmp_path.iterdir()] == ["text.txt"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["filter", "query", "NONE", "-f", "out.pcap"],
        ["partition", "NONE", "-f", "p", "--by-client", "2"],
        ["sample", "NONE", "-f", "out.pcap", "--clients", "10%"],
        ["mix", "NONE", "CAPTURE", "-f", "out.pcap", "--augment", "1"],
        ["mix", "CAPTURE", "NONE", "-f", "out.pcap", "--augment", "1"],
        ["warp", "NONE", "-f", "out.pcap"],
        ["warp", "NONE", "-f", "out.pcap", "--loops", "2"],
        ["convert", "NONE", "-f", "out.pcap"],
        ["convert", "NONE", "-f", "out.txt"],
        ["convert", "NONE", "-f", "out.bin"],
        ["convert", "NONE", "-f", "out.parquet"],
        ["anonymize", "NONE", "-f", "out.pcap"],
        ["fit", "NONE", "-f", "out.toml"],
    ],
    ids=lambda arguments: "-".join(arguments[:1] + arguments[-1:]),
)
def test_a_capture_without_dns_makes_no_stream(dnsrig, capture, tmp_path, arguments):
    none = write_pcap(tmp_path / "none.pcap", [udp(("192.0.2.1", 4000), ("192.0.2.53", 443), b"x")])
    named = {"CAPTURE": capture, "NONE": none}
    done = dnsrig("traffic", *(named.get(argument, argument) for argument in arguments), cwd=tmp_path)
    assert done.code == 2, done.out + done.err
    assert "no DNS message" in done.err and "none.pcap" in done.err, done.err
    assert [file.name for file in tmp_path.iterdir()] == ["none.pcap"]


@pytest.mark.parametrize("name", ["out.pcap", "out.txt", "out.bin", "out.parquet"])
def test_what_cannot_be_converted_is_an_error_that_says_why(dnsrig, tmp_path, name):
    server, client = ("192.0.2.53", 53), ("192.0.2.1", 4000)
    garbage = write_pcap(tmp_path / "garbage.pcap", [udp(client, server, b"xyz")] * 3)
    for arguments in (["convert"], ["filter", "type A"]):
        done = dnsrig("traffic", *arguments, garbage, "-f", tmp_path / name)
        assert done.code == 2 and "no DNS message" in done.err, done.out + done.err
        assert "3 with malformed messages" in done.err.replace("\n", " "), done.err
    answer = dns.message.make_response(dns.message.make_query("a.example", "A"))
    answers = write_pcap(tmp_path / "answers.pcap", [udp(server, client, answer.to_wire())] * 3)
    done = dnsrig("traffic", "convert", answers, "-f", tmp_path / name)
    if name == "out.pcap":
        assert done.code == 0 and "3 messages" in done.out
        return
    assert done.code == 2 and "no query to be written" in done.err, done.out + done.err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["answers.pcap", "garbage.pcap"]


def test_an_expression_that_holds_for_nothing_gives_an_empty_capture(dnsrig, capture, tmp_path):
    done = dnsrig("traffic", "filter", "name nowhere.invalid", capture, "-f", tmp_path / "out.pcap", "--json")
    assert (done.code, done.json["messages_kept"]) == (0, 0)
    assert len((tmp_path / "out.pcap").read_bytes()) == 24


def test_what_has_no_room_is_counted(dnsrig, tmp_path):
    update = dns.message.make_query("a.example", "SOA")
    update.set_opcode(5)
    client = ("192.0.2.1", 4000)
    query = dns.message.make_query("a.example", "SOA")
    packets = [udp(client, ("192.0.2.53", 53), message.to_wire()) for message in (update, query)]
    stream = write_pcap(tmp_path / "q.pcap", [*packets, udp(client, ("192.0.2.53", 123), b"time?")])
    done = dnsrig("traffic", "convert", stream, "-f", tmp_path / "q.txt")
    assert done.code == 0, done.err
    assert "left out, as the form has no room for them: 1 messages (1 other opcode)" in done.out
    done = dnsrig("traffic", "filter", "query", stream, "-f", tmp_path / "out.pcap")
    assert "left out, as they hold nothing of DNS: 1 packets (1 other port)" in done.out


def test_sessions_stay_where_clients_are_chosen(dnsrig, tmp_path):
    client, server = ("192.0.2.1", 4000), ("192.0.2.53", 53)
    asked = dns.message.make_query("a.example", "A")
    packets = session(client, server, [asked.to_wire()], [dns.message.make_response(asked).to_wire()], 1000)
    stream = write_pcap(tmp_path / "q.pcap", packets)
    out = tmp_path / "out.pcap"
    done = dnsrig("traffic", "filter", "client 192.0.2.1", stream, "-f", out, "--json")
    assert done.json["packets_written"] == [len(packets)]
    assert done.json["messages"] == 2


def test_an_interrupted_command_leaves_nothing(capture, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [
        sys.executable,
        "-m",
        "dnsrig",
        "traffic",
        "filter",
        "query",
        str(pipe),
        "-f",
        str(tmp_path / "out.pcap"),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        # Opening it waits for the reader; the command has begun to write then.
        with pipe.open("wb") as writer:
            writer.write(capture.read_bytes())
            writer.flush()
            wait_until(lambda: any(file.name.startswith(".dnsrig-") for file in tmp_path.iterdir()), process)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, err
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_damaged_compressed_data_are_read_as_far_as_they_go(dnsrig, tmp_path, compress):
    packets = [
        udp(("192.0.2.1", 4000), ("192.0.2.53", 53), dns.message.make_query(f"n{n}.example", "A").to_wire())
        for n in range(20_000)
    ]
    octets = bytearray(compress(write_pcap(tmp_path / "whole.pcap", packets).read_bytes()))
    middle = len(octets) * 2 // 3
    octets[middle : middle + 100] = b"U" * 100
    damaged = tmp_path / "damaged"
    damaged.write_bytes(octets)
    done = dnsrig("traffic", "stats", damaged, "--json")
    assert done.code == 0, done.err
    assert f"{damaged} is damaged after packet" in done.err
    # Both have their checksums at the end, so that nonsense may come out before they are found damaged.
    assert 0 < done.json["requests"] < 20_000
