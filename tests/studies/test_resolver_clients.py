"""Queries of clients at their times: drawn, captured, with names of an Internet, in parts; and room for them."""

import hashlib
import struct
import time
from pathlib import Path

import dns.exception
import dns.message
import dns.rdatatype
import pytest
from dnsrig import _core
from dnsrig.capture_losses import losses_said
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.resolving import room
from dnsrig.studies.resolving.clients import (
    CAPTURED_OCTETS,
    Part,
    captured,
    names_on,
    rate_of_capture,
    sampled,
    synthetic,
)
from dnsrig.studies.resolving.room import refuse_too_many, require_disk
from dnsrig.studies.resolving.streams import MISSING_SHARE, PTR, distinct, keep_queries, read_stream
from resolver_runs import write_capture

ALL_NS = 1 << 60
FILE_HEADER, PACKET_HEADER = 24, 16
"""Octets of pcap's."""


@pytest.fixture(scope="module")
def internet():
    return _core.Internet("small", seed=1, signed_at_s=1_700_000_000, domains=3000, distances=False)


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path, "fake", argv=[], settings={}, seed=1)


def asked_of(queries):
    asked = _core.AskedQueries()
    for time_s, client, name, rtype in queries:
        asked.push(round(time_s * 1e9), client, name, dns.rdatatype.from_text(rtype))
    return asked


def clients_queries(count=400, clients=20):
    return asked_of((100 + index / 10, index % clients, f"n{index % 50}.", "A") for index in range(count))


def lines_of(asked, names, path, **more):
    chosen = {"start_ns": 0, "end_ns": ALL_NS, **more}
    count = asked.write_text(path, names, **chosen)
    lines = path.read_text().splitlines()
    assert len(lines) == count
    return lines


def test_a_client_is_in_with_all_its_queries_or_out(internet, tmp_path):
    asked = clients_queries()
    kept = sampled(asked, 0.5, 3)
    assert (len(kept), kept) == (20, sampled(clients_queries(), 0.5, 3))
    assert 3 < sum(kept) < 17
    lines = lines_of(asked, names_on(internet, asked, 5), tmp_path / "some", kept=kept)
    of_client = [line.split("client=")[1] for line in lines]
    assert {client: of_client.count(client) for client in of_client} == {
        str(client): 20 for client, is_kept in enumerate(kept) if is_kept
    }
    assert set(sampled(asked, 1.0, 3)) == {1}


def test_a_name_of_a_capture_becomes_one_name_of_the_internet(internet, tmp_path):
    asked = clients_queries()
    lines = lines_of(asked, names_on(internet, asked, 5), tmp_path / "all")
    names = [line.split()[0] for line in lines]
    assert len(set(names)) == asked.name_count == 50
    assert names[:50] == names[50:100]
    known = {line.split()[0] for line in distinct(internet, 5, 5000)}
    # Of the others some do not exist, and of some it is not certain.
    assert 0.5 < len(set(names) & known) / 50 < 1
    assert [line.split()[-2] for line in lines[:2]] == ["time=0.000000000", "time=0.100000000"]


def test_parts_of_a_stream_begin_at_time_zero_and_lose_nothing(internet, run):
    asked = clients_queries()
    names = names_on(internet, asked, 5)
    for number in range(4):
        keep_queries(run, f"part{number}", Part(asked, names, number * 10.0, number * 10.0 + 10.0).write)
        lines = (run.path / "inputs" / f"part{number}.txt").read_text().splitlines()
        assert len(lines) == 100
        assert lines[0].split()[-2:] == ["time=0.000000000", "client=0"]
        stream = read_stream(run, f"part{number}", edns=False)
        assert (len(stream), stream.is_timed, stream.client_count) == (100, True, 20)
    assert [entry["path"] for entry in run.manifest()["inputs"]] == [f"inputs/part{number}.txt" for number in range(4)]
    with pytest.raises(InputError, match="no query from 40 to 50 s: take fewer --periods"):
        keep_queries(run, "empty", Part(asked, names, 40.0, 50.0).write)
    assert not (run.path / "inputs" / "empty.txt").exists()


def test_missing_names_and_addresses_keep_their_shares(internet):
    of_names = [(0, 0, f"n{index}.", "A") for index in range(3000)]
    asked = asked_of([*of_names, *((0, 0, f"{index}.0.0.10.in-addr.arpa.", PTR) for index in range(200))])
    drawn = names_on(internet, asked, 5)
    names = [drawn.question(number) for number in range(len(drawn))]
    assert len({line.split()[0] for line in names}) == asked.name_count == 3200
    of_addresses = [line for line in names if line.endswith(f" {PTR}")]
    assert of_addresses == names[3000:]
    made_up = [line for line in names[:3000] if line.split(".")[0].startswith("x")]
    known = {line.split()[0] for seed in range(10) for line in internet.questions(50_000, seed, 0.0).splitlines()}
    missing = [line for line in made_up if line.split()[0] not in known]
    assert MISSING_SHARE - 0.03 < len(missing) / 3000 < MISSING_SHARE + 0.03
    with pytest.raises(IndexError, match="name 3200 of 3200"):
        drawn.question(3200)
    with pytest.raises(ValueError, match="not a question for each name"):
        clients_queries().write_text("/dev/null", names_on(internet, asked_of([]), 5), start_ns=0, end_ns=1)


def test_an_internet_with_too_few_names_says_so():
    tiny = _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=100, distances=False)
    many = asked_of((0, 0, f"n{index}.", "A") for index in range(100_000))
    with pytest.raises(InputError, match=r"too few names for the (89|90)\d\d\d of the traffic: take more --domains"):
        names_on(tiny, many, 5)


def test_synthetic_traffic_is_what_its_seed_makes(internet, tmp_path):
    made = synthetic("resolver-2022", 200, 3.0, 1)
    assert len(made) == 600
    assert 0 <= made.span_ns <= 3_000_000_000
    assert made.client_count > 20
    lines = lines_of(made, names_on(internet, made, 1), tmp_path / "made", kept=sampled(made, 0.5, 1))
    # As it was when streams were made in Python: runs of the same seed have the same queries from version to version.
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert (len(lines), digest[:16]) == GOLDEN


GOLDEN = (328, "328c60900e1b5325")


def test_messages_of_a_capture_that_cannot_be_read_are_left_out(internet, tmp_path):
    query = dns.message.make_query("www.example.com", "A", use_edns=True).to_wire()
    opt = query[-11:]
    two = query[:11] + b"\2" + query[12:] + opt
    tsig = b"\3key\0" + struct.pack(">HHIH", 250, 255, 0, 0)
    signed = query[:11] + b"\2" + query[12:] + tsig
    other = dns.message.make_query("WWW.example.com", "MX", want_dnssec=True, payload=4096).to_wire()
    with pytest.raises(dns.exception.DNSException):
        dns.message.from_wire(two)
    with pytest.raises(dns.exception.DNSException):
        dns.message.from_wire(signed)
    found = captured(write_capture(tmp_path / "some.pcap", query, two, signed, query, other), 5.0)
    assert (len(found.asked), found.left_out, found.asked.name_count) == (3, 2, 1)
    names = names_on(internet, found.asked, 5)
    lines = lines_of(found.asked, names, tmp_path / "some")
    name, rtype = names.question(0).split()
    assert [line.split()[:3] for line in lines[:2]] == [[name, "A", "edns=1232"]] * 2
    assert lines[2].split()[:4] == [name, rtype, "edns=4096", "do=1"]
    with pytest.raises(InputError, match="holds no query"):
        captured(write_capture(tmp_path / "none.pcap", two, signed), 5.0)
    with pytest.raises(InputError, match=r"to port 5300, 5353 are read; name another with --capture-port"):
        captured(str(tmp_path / "some.pcap"), 5.0, (5300, 5353))
    assert len(captured(str(tmp_path / "some.pcap"), 5.0, (5300, 53)).asked) == 3


def test_what_a_capture_has_lost_is_counted(tmp_path):
    query = dns.message.make_query("www.example.com", "A").to_wire()
    whole = Path(write_capture(tmp_path / "whole.pcap", *[query] * 4))
    octets = bytearray(whole.read_bytes())
    packet = (len(octets) - FILE_HEADER) // 4
    # The second one was longer than what of it was kept, the third a fragment, and the file ends inside the fourth.
    second, third = FILE_HEADER + packet, FILE_HEADER + 2 * packet
    octets[second + 12 : second + 16] = struct.pack("<I", 400)
    octets[second + PACKET_HEADER + 14 + 2 : second + PACKET_HEADER + 14 + 4] = struct.pack(">H", 386)
    octets[second + PACKET_HEADER + 34 + 4 : second + PACKET_HEADER + 34 + 6] = struct.pack(">H", 366)
    octets[third + PACKET_HEADER + 14 + 6] = 0x20
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(octets[:-3])
    found = captured(str(cut), 5.0)
    assert (len(found.asked), found.lost, found.cut_packet) == (1, {"truncated": 1, "fragments": 1}, 4)
    assert losses_said(found.lost, found.cut_packet) == [
        "left out packets and messages of the capture that may be queries: 1 cut off by the snapshot length, 1 in "
        "fragments (`dnsrig traffic filter query FILE -f whole.pcap` puts them together)",
        "the capture ends inside packet 4; what is before it is sent",
    ]


def test_of_a_capture_no_more_is_read_than_there_is_memory_for(tmp_path, monkeypatch):
    query = dns.message.make_query("www.example.com", "A").to_wire()
    path = write_capture(tmp_path / "some.pcap", *[query] * 10)
    monkeypatch.setattr(room, "free_octets", lambda: 2 * 10 * CAPTURED_OCTETS)
    assert (len(captured(path, 5.0).asked), rate_of_capture(path, 5.0)) == (10, 9)
    monkeypatch.setattr(room, "free_octets", lambda: 2 * 9 * CAPTURED_OCTETS)
    for read in (captured, rate_of_capture):
        with pytest.raises(InputError, match=r"some\.pcap: the first \d s .* more than 9 messages, .* --periods"):
            read(path, 5.0)


def test_what_there_is_no_room_for_is_refused_with_what_it_would_take(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "free_octets", lambda: 8e9)
    refuse_too_many(80e6, "--rate 1", 50)
    refuse_too_many(8e6, "--rate 1")
    with pytest.raises(InputError, match=r"--rate 9 make 80,000,000 queries, .* 4\.1 GB .* 8\.0 GB are free, .* 4\.0"):
        refuse_too_many(80e6, "--rate 9", 50, 0.1e9)
    require_disk(1, tmp_path)
    with pytest.raises(EnvironmentLacksError, match=r"about 1,000,000,000\.0 GB of disk"):
        require_disk(1e18, tmp_path)
