"""Options of `dnsrig load` that contradict each other, and Ctrl-C before there is anything to report."""

import signal
import socket
import subprocess
import sys

import dns.message
import pytest
from dnsrig.cli.load import output


@pytest.fixture
def queries(tmp_path):
    """Give a query file."""
    path = tmp_path / "queries.txt"
    path.write_text("www.example.test A\n")
    return path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--ca", "roots.pem"], "--ca goes with dot, doh, doq"),
        (["--sni", "ns.example", "-m", "tcp"], "--sni goes with dot, doh, doq"),
        (["--no-resumption", "--mix", "udp=0.5,tcp=0.5"], "--no-resumption goes with"),
        (["--queries-per-session", "5"], "--queries-per-session goes with tcp, dot, doh, doq"),
        (["--idle", "5"], "--idle goes with"),
        (["--http-get", "-m", "dot"], "--http-get goes with doh"),
        (["--mix", "udp=1", "-m", "tcp"], "leave -m out"),
        (["--mix", ""], "is no transport"),
        (["-c", "٢٤"], "'٢٤' is not a whole number"),
        (["-T", "1_0"], "'1_0' is not a whole number"),
        (["-Q", "٢٤"], "'٢٤' is not a number"),
        (["--ramp", "nan:5:1"], "--ramp: 'nan:5:1' is not FROM:TO:SECONDS"),
        (["--steps", "inf:1"], "--steps: 'inf:1' is not RATE:SECONDS"),
        (["--steps", "\u0661\u0660:1"], "is not RATE:SECONDS"),
        (["--ramp", "1_0:20:1"], "--ramp: '1_0:20:1' is not FROM:TO:SECONDS"),
        (["-m", "dot", "--ca", "nowhere.pem"], "--ca: nowhere.pem: "),
        (["-m", "dot", "--cipher", "NOPE"], "--cipher: NOPE is none of"),
        (["-T", "4", "-c", "2"], "-c: 2 clients over UDP for 4 threads"),
        (["-a", "192.0.2.1"], "-a: 192.0.2.1 cannot be used"),
        (["-a", "here"], "-a: 'here' is not an address or a prefix"),
        (["--cpus", "0,4095"], "--cpus: nothing can run on processor 4095 here"),
        (["--cpus", "99999999999999999999"], "--cpus: nothing can run on processor 99999999999999999999 here"),
        (["--csv", "one", "--jsonl", "one"], "each need a file of their own"),
        (["--ecs", "x"], "Invalid value for '--ecs': 'x' is not an address or prefix"),
        (["--ecs", "192.0.2.0/33"], "Invalid value for '--ecs': '192.0.2.0/33' is not"),
        (["--ecs", "192.0.2.7/24"], "has bits beyond its length; write 192.0.2.0/24"),
        (["--ecs", "192.0.2.0/"], "Invalid value for '--ecs': '192.0.2.0/' is not"),
        (["-E", "65001:0"], "'65001:0' is not an EDNS option"),
        (["-E", "65536:00"], "'65536:00' is not an EDNS option"),
        (["--ramp=-1:5:5"], "--ramp: no rate is below 0"),
        (["--ramp", "1:5:-3"], "--ramp: -3 s; give 0 to"),
        (["--ramp", "0:0:1"], "--ramp: 0 queries per second"),
        (["--steps=5:1,-5:1"], "--steps: no rate is below 0"),
        (["--steps", "1:-1"], "--steps: -1 s; give 0 to"),
        (["--search", "--from", "100", "--to", "50"], "--to: 50 queries per second; give at least the 100"),
        (["--search", "--from", "1"], "--from: 1 queries per second"),
        (["--search", "--p99", "0.0000001"], "--p99: no latency is 0 ns"),
        (["-l", "1e-9"], "'-l' / '--limit': 1e-09 is not in the range 0.001<=x<=31536000"),
        (["-t", "601"], "'-t' / '--timeout': 601.0 is not in the range 0.001<=x<=600"),
        (["-m", "tcp", "--idle", "1e-30"], "is not in the range 0.001<=x<=31536000"),
        (["--steps", "0:10,1:1", "-l", "0.001"], "the load ended before its first query was due"),
        (["--generate", "{n}.test", "--count", "9223372036854775807"], "--count"),
        (["-B", "-D"], "-D changes nothing with -B"),
        (["-B", "--padding", "128"], "--padding changes nothing with -B"),
        (["-B", "--no-rd"], "--no-rd changes nothing with -B"),
        (["-B", "--ecs", "192.0.2.0/24"], "--ecs changes nothing with -B"),
        (["-B", "-u"], "-u and -B are two forms"),
        (["-B", "--skip-bad"], "--skip-bad is about lines"),
        (["-u", "--cd"], "--cd is about queries"),
        (["--edns-size", "512"], "--edns-size goes with EDNS"),
        (["--edns-size", "4096"], "--edns-size goes with EDNS"),
        (["--types", "A"], "--types goes with --generate"),
        (["--count", "100000"], "--count goes with --generate"),
        (["--generate", "{n}.test", "-u"], "-u is about a query file"),
        (["--generate", "{n}.test", "-B"], "-B is about a query file"),
        (["--generate", "{n}.test", "--skip-bad"], "--skip-bad is about a query file"),
        (["--replay", "some.pcap", "-D"], "-D changes nothing with --replay CAPTURE"),
        (["--replay", "some.pcap", "-E", "10:00"], "-E changes nothing with --replay CAPTURE"),
        (["--replay", "some.txt", "--skip-bad"], "--skip-bad is about a query file"),
        (["--loss", "0.1"], "--loss goes with --search"),
        (["--p99", "5"], "--p99 goes with --search"),
        (["--from", "1000"], "--from goes with --search"),
        (["--to", "2000"], "--to goes with --search"),
        (["--search", "-l", "5"], "-l does not go with --search"),
        (["--search", "-n", "1"], "-n does not go with --search"),
        (["--search", "--queries", "10"], "--queries does not go with --search"),
    ],
)
def test_options_that_cannot_be_used_are_named(dnsrig, served, queries, options, said):
    port = [] if "--mix" in options else ["-p", served[1]]
    source = [] if {"--generate", "--replay"} & set(options) else ["-d", queries]
    finished = dnsrig("load", *port, *source, *options, cwd=queries.parent)
    assert finished.code == 2, finished.err
    assert said in finished.err
    assert "Traceback" not in finished.err


def test_ctrl_c_while_nobody_answers(queries):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.settimeout(60)
        port = str(silent.getsockname()[1])
        command = [sys.executable, "-m", "dnsrig", "load", "-p", port, "-d", str(queries)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
            silent.recv(512)
            started.send_signal(signal.SIGINT)
            out, err = started.communicate(timeout=60)
    assert started.returncode == 130, err
    assert "Traceback" not in err
    assert "cancelled before its end" in out


@pytest.mark.parametrize(
    "implying", [["--nsid"], ["--ecs", "192.0.2.0/24"], ["-E", "10:0011223344556677"], ["--cookies"]]
)
def test_the_edns_size_of_options_that_imply_edns(queries, implying):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        silent.settimeout(60)
        port = str(silent.getsockname()[1])
        load = [
            sys.executable,
            "-m",
            "dnsrig",
            "load",
            "-p",
            port,
            "-d",
            str(queries),
            "--edns-size",
            "1001",
            *implying,
        ]
        with subprocess.Popen(load, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
            query = dns.message.from_wire(silent.recv(512))
            started.kill()
    assert query.payload == 1001


@pytest.mark.parametrize(
    "options",
    [
        ["--ecs", "192.0.2.7"],
        ["--ecs", "192.0.2.0/24"],
        ["--ecs", "2001:db8::/32"],
        ["--ecs", "::/0"],
        ["-E", "3", "-E", "65001:00fF", "-E", "10:"],
    ],
)
def test_values_that_messages_can_have(dnsrig, served, queries, options):
    finished = dnsrig("load", "-p", served[1], "-d", queries, "-n", 1, *options)
    assert finished.code in {0, 1}, finished.err
    assert "cannot be used" not in finished.err


def test_a_search_among_rates_that_cannot_be_sent(capsys):
    found = {
        "qps": 0.0,
        "interval": [0.0, 1e9],
        "limited_by": "generator",
        "generator_ceiling_qps": 152_834.2,
        "generator_ceiling_from": "sink",
    }
    output.print_breaking_point(found)
    said = capsys.readouterr().out
    assert "the generator could send at no rate that was tried, the lowest 1,000,000,000 q/s" in said
    assert "the generator's own ceiling: 152,834 q/s" in said
    output.print_breaking_point({**found, "limited_by": "min_rate"})
    assert "kept from more by the lowest rate tried (--from): it was too much" in capsys.readouterr().out
