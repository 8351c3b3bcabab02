"""`dnsrig traffic synthesize`, `fit` and `profiles`: by the eyes of other tools, and what happens when they cannot."""

import signal
import subprocess
import sys
import tomllib
from collections import Counter

import dns.message
import dns.rcode
import dns.rdatatype
import pytest
from full_output import TARGETS, run_into
from other_programs import need
from waiting import wait_until


def synthesize(dnsrig, file, *options, profile="root-2006"):
    done = dnsrig("traffic", "synthesize", profile, file, "--seed", 7, *options, "--json")
    assert done.code == 0, done.err
    return done.json


def fields(file, *names):
    """Give fields of all packets, as tshark reads them."""
    need("tshark", "tshark")
    command = ["tshark", "-r", file, "-T", "fields", "-o", "udp.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    for name in names:
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def test_tshark_finds_nothing_wrong(dnsrig, tmp_path):
    file = tmp_path / "root.pcap"
    made = synthesize(dnsrig, file, "-n", 4000, "--packets", "both")
    checked = ("ip.checksum.status", "udp.checksum.status", "tcp.checksum.status")
    packets = fields(file, "_ws.malformed", "_ws.expert.severity", *checked, "dns.flags.response", "dns.qry.type")
    assert len(packets) == made["items"]
    for malformed, _, *statuses, _, qtype in packets:
        # After an A6 record of prefix length 0, tshark wants a name that is not there (RFC 2874 section 3.1).
        assert not malformed or qtype == "38"
        # 0 is a wrong checksum; 1 and 2 are a right one and one that was not looked at.
        assert "0" not in statuses
    requests = [packet for packet in packets if packet[5] in {"0", "False"}]
    assert len(requests) == made["queries"] + made["other_requests"]
    types = Counter(packet[6] for packet in requests)
    assert types["1"] / 4000 == pytest.approx(0.607, abs=0.001)
    assert types["12"] / 4000 == pytest.approx(0.1, abs=0.001)


def test_dnspython_reads_every_message(dnsrig, tmp_path):
    file = tmp_path / "stream.bin"
    made = synthesize(dnsrig, file, "-n", 3000, profile="resolver-2022")
    octets = file.read_bytes()
    types = Counter()
    while octets:
        length = int.from_bytes(octets[:2])
        message = dns.message.from_wire(octets[2 : 2 + length])
        types[dns.rdatatype.to_text(message.question[0].rdtype)] += 1
        octets = octets[2 + length :]
    assert types.total() == made["queries"] == 3000
    assert types["A"] / 3000 == pytest.approx(0.61, abs=0.001)
    assert types["HTTPS"] / 3000 == pytest.approx(0.125, abs=0.001)


def test_a_load_replays_it(dnsrig, tmp_path, served):
    address, port = served
    for file in (tmp_path / "stream.txt", tmp_path / "stream.pcap"):
        synthesize(dnsrig, file, "-n", 500, "-l", 0.5, profile="resolver-2022")
        done = dnsrig("load", "-s", address, "-p", port, "--replay", file, "--json")
        assert done.code == 0, done.err
        assert done.json["sent"] == 500


def test_the_seed_and_the_start_decide(dnsrig, tmp_path):
    files = [tmp_path / name for name in ("a.txt", "b.txt", "c.txt")]
    starts = ["2020-01-01T00:00:00Z", "1577836800", "2020-01-01T00:00:01Z"]
    for file, start in zip(files, starts, strict=True):
        synthesize(dnsrig, file, "-n", 200, "--start", start)
    texts = [file.read_text() for file in files]
    assert texts[0] == texts[1]
    assert " time=15778368" in texts[0]
    assert texts[2] != texts[0]


def test_a_profile_of_a_capture_makes_more_of_its_kind(dnsrig, tmp_path):
    capture, profile, again = tmp_path / "a.pcap", tmp_path / "a.toml", tmp_path / "b.pcap"
    synthesize(dnsrig, capture, "-n", 20_000, "--packets", "both")
    fitted = dnsrig("traffic", "fit", capture, "-f", profile, "--name", "ours", "--json")
    assert fitted.code == 0, fitted.err
    assert fitted.json["queries"] == 20_000
    figures = tomllib.loads(profile.read_text())
    assert figures["name"] == "ours"
    made = synthesize(dnsrig, again, "-n", 2000, profile=profile)
    assert made["failed"] / 2000 == pytest.approx(0.388, abs=0.002)
    shown = dnsrig("traffic", "profiles", profile, "--json").json
    assert shown["provenance"]["rate.mean_qps"].startswith("measured: ")


def test_profiles_are_listed_and_shown(dnsrig, tmp_path):
    names = [profile["name"] for profile in dnsrig("traffic", "profiles", "--json").json]
    assert names == ["root-2006", "resolver-2022"]
    assert "ISC-2008" in dnsrig("traffic", "profiles").out
    own = tmp_path / "own.toml"
    own.write_text(dnsrig("traffic", "profiles", "root-2006").out)
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    synthesize(dnsrig, a, "-n", 100)
    synthesize(dnsrig, b, "-n", 100, profile=own)
    assert a.read_text() == b.read_text()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["root-2007", "x.pcap"], "no profile of that name"),
        (["root-2006", "missing/x.pcap"], "missing"),
        (["root-2006", "x.pcap", "-n", "10", "-l", "1", "--rate", "10"], "leave one out"),
        (["root-2006", "x.txt", "--packets", "both"], "for pcap only"),
        (["root-2006", "x.pcap", "--start", "yesterday"], "not a time"),
        (["root-2006", "x.pcap", "--start", "2106-02-07T06:28:00Z", "-n", "100000"], "2106"),
        (["root-2006", "x.pcap", "--rate", "1000000"], "more than 16777216"),
        (["root-2006", "-", "--json"], "name a FILE"),
    ],
)
def test_what_cannot_be_made_is_said(dnsrig, tmp_path, arguments, expected):
    done = dnsrig("traffic", "synthesize", *arguments, cwd=tmp_path)
    assert done.code == 2
    assert expected in " ".join(done.err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_profile_that_is_wrong_names_the_figure(dnsrig, tmp_path):
    own = tmp_path / "own.toml"
    text = dnsrig("traffic", "profiles", "root-2006").out
    for replaced, expected in [
        (text.replace("rd_failed = 0.387", "rd_failed = 1.5"), "queries.rd_failed"),
        (text.replace('rd_failed = "published: ISC-2008"', ""), "queries.rd_failed"),
        (text[: len(text) // 2], "own.toml"),
    ]:
        own.write_text(replaced)
        done = dnsrig("traffic", "synthesize", own, tmp_path / "x.pcap")
        assert done.code == 2
        assert expected in done.err
    assert not (tmp_path / "x.pcap").exists()


@pytest.mark.parametrize(("target", "code"), TARGETS)
def test_standard_output_that_takes_no_more(target, code):
    command = [sys.executable, "-m", "dnsrig", "traffic", "synthesize", "root-2006", "-", "-n", "50000"]
    done = run_into(target, command)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupted_one_leaves_nothing(tmp_path):
    file = tmp_path / "long.pcap"
    command = [sys.executable, "-m", "dnsrig", "traffic", "synthesize", "root-2006", file, "-l", "100000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as running:
        wait_until(lambda: list(tmp_path.iterdir()), running)
        running.send_signal(signal.SIGINT)
        running.communicate()
    assert running.returncode == 130
    assert list(tmp_path.iterdir()) == []
