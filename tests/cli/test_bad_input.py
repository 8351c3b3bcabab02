"""What careless input gets: a message that says what, where and what to do, and the right exit code."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("dnsrig")


def refused(finished, code, *parts):
    """Expect exit `code` and a message with all `parts`, without a traceback."""
    assert finished.code == code, finished.err
    assert "Traceback" not in finished.err
    for part in parts:
        assert part in finished.err, finished.err


def test_a_zone_that_does_not_parse(dnsrig, tmp_path):
    bad = tmp_path / "bad.db"
    bad.write_text("$ORIGIN z.test.\n@ 60 IN SOA ns host 1 2 3 4 5\n@ 60 IN NS ns\nwww 60 IN A 300.1.1.1\n")
    for command in (
        ["zone", "stats", bad],
        ["sign", bad],
        ["run", "denial-cost", "--zone", bad, "--server", "embedded"],
    ):
        refused(dnsrig(*command, cwd=tmp_path), 2, "bad.db:4:")


def test_a_zone_without_soa(dnsrig, tmp_path):
    bad = tmp_path / "nosoa.db"
    bad.write_text("$ORIGIN z.test.\nwww 60 IN A 192.0.2.1\n")
    refused(dnsrig("zone", "stats", bad), 2, "nosoa.db", "no SOA record")


def test_a_missing_zone_file(dnsrig):
    refused(dnsrig("zone", "stats", "/nowhere/at/all.db"), 2, "/nowhere/at/all.db")


def test_a_query_file_with_bad_lines(dnsrig, tmp_path, served):
    queries = tmp_path / "queries.txt"
    queries.write_text("www.example.test A\nbroken\nmail.example.test NOTYPE\n")
    refused(dnsrig("load", "-p", served[1], "-d", queries), 2, "line 2:", "line 3:", "--skip-bad")
    done = dnsrig("load", "-p", served[1], "-d", queries, "--skip-bad", "--json")
    assert done.code == 0, done.err
    assert (done.json["sent"], done.json["answered"]) == (1, 1)
    assert "left out 2 bad lines" in done.err


def test_a_silent_server_is_said_within_seconds(dnsrig, tmp_path):
    queries = tmp_path / "queries.txt"
    queries.write_text("www.example.test A\n")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        began = time.monotonic()
        refused(dnsrig("load", "-p", port, "-d", queries), 1, f"127.0.0.1:{port}", "no answer")
        assert time.monotonic() - began < 15
    refused(dnsrig("load", "-p", port, "-d", queries), 1, f"127.0.0.1:{port}")


def test_an_address_that_is_not_ours(dnsrig, tmp_path):
    queries = tmp_path / "queries.txt"
    queries.write_text("www.example.test A\n")
    refused(dnsrig("load", "-s", "192.0.2.1", "-d", queries), 2, "192.0.2.1", "--i-may-load-this")
    refused(dnsrig("load", "-s", "localhost", "-d", queries), 2, "'localhost' is not an IP address")


def test_no_query_file(dnsrig):
    refused(dnsrig("load", "-d", "/nowhere.txt"), 2, "/nowhere.txt")
    refused(dnsrig("load", "-p", "5", stdin=""), 2, "no question")


def test_unknown_names_get_the_nearest(dnsrig, tmp_path):
    refused(dnsrig("run", "denial-costs", cwd=tmp_path), 2, "did you mean denial-cost?")
    refused(dnsrig("run", "denial-cost", "--server", "knott", cwd=tmp_path), 2, "did you mean knot?")
    refused(dnsrig("run", "denial-cost", "--server", "hickory", cwd=tmp_path), 2, "embedded")
    refused(dnsrig("studies", "show", "nsec3"), 2, "nsec3-iterations")
    refused(dnsrig("run", "denial-cost", "--stream", "exist", cwd=tmp_path), 2, "'exist' is not one of")
    refused(dnsrig("run", "denial-cost", "--iterations", "5,x", cwd=tmp_path), 2, "5,x")
    assert list(tmp_path.iterdir()) == []


def test_wrong_signing_choices(dnsrig, small_zone, tmp_path):
    out = tmp_path / "out.db"
    refused(dnsrig("sign", small_zone, "-f", out, "-3", "zz"), 2, "zz is not a salt")
    refused(dnsrig("sign", small_zone, "-f", out, "-H", "5"), 2, "need NSEC3")
    refused(dnsrig("sign", small_zone, "-f", out, "-a", "RSASHA256", "--zsk-bits", "512"), 2, "512 bits")
    refused(dnsrig("sign", small_zone, "-f", out, "--zsk-bits", "512"), 2, "always have 256 bits, not 512")
    refused(dnsrig("sign", small_zone, "-f", out, "-e", "tomorrow"), 2, "-e tomorrow")
    refused(dnsrig("sign", small_zone, "-f", out, "-s", "now", "-e", "now-5"), 2, "-e", "not later")
    assert not out.exists()


def test_failed_signing_leaves_nothing(dnsrig, small_zone, tmp_path):
    for wrong in (["-3", "zz"], ["-s", "soon"], ["-e", "now-99999999999999"], ["-e", "20200101000000"]):
        assert dnsrig("sign", small_zone, "-f", tmp_path / "out.db", *wrong).code == 2
    assert list(tmp_path.iterdir()) == []


def test_signing_to_a_device_leaves_it_a_device(dnsrig, small_zone, tmp_path):
    done = dnsrig("sign", small_zone, "-f", "/dev/stdout", "-K", tmp_path, "-a", "ED25519")
    assert done.code == 0, done.err
    assert "RRSIG" in done.out
    refused(dnsrig("zone", "stats", "/dev/zero"), 2, "/dev/zero", "device")


@pytest.mark.parametrize(
    "choice",
    [
        ["--load-seconds", "nan"],
        ["--warm-up-seconds", "inf"],
        ["--ksk-bits", "-5"],
        ["--iterations", "-1"],
        ["--iterations", "70000"],
        ["--outstanding", "99999999999"],
        ["--denial", ","],
        ["--iterations", "1,,5"],
        ["--stream", ","],
        ["--iterations", ","],
        ["--server", ","],
    ],
)
def test_choices_out_of_range(dnsrig, tmp_path, choice):
    refused(dnsrig("run", "denial-cost", *choice, cwd=tmp_path), 2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (["--threads", "0"], "from 1 to 1024"),
        (["--threads", "1025"], "from 1 to 1024"),
        (["--threads", "1,x"], "from 1 to 1024"),
        (["--steps", "0"], "from 1 to 65535"),
        (["--iterations", "65536"], "from 0 to 65535"),
    ],
)
def test_lists_of_numbers_out_of_range(dnsrig, tmp_path, choice, said):
    refused(dnsrig("run", "encrypted-cost", *choice, cwd=tmp_path), 2, choice[0], said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("choice", [["-l", "nan"], ["-Q", "inf"], ["-t", "1e300"], ["--cpus", "-1"], ["--cpus", "x"]])
def test_load_choices_out_of_range(dnsrig, choice):
    refused(dnsrig("load", *choice), 2, choice[0])


def test_a_server_that_answers_garbage(dnsrig, tmp_path):
    queries = tmp_path / "queries.txt"
    queries.write_text("www.example.test A\n")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        stop = threading.Event()

        def answer():
            server.settimeout(0.1)
            while not stop.is_set():
                try:
                    _, peer = server.recvfrom(512)
                    server.sendto(b"garbage", peer)
                except TimeoutError:
                    continue

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            done = dnsrig("load", "-p", port, "-d", queries, "-n", 1, "-t", 0.3)
        finally:
            stop.set()
            thread.join()
    refused(done, 1, str(port))


def test_closed_streams(small_zone):
    command = f"exec {sys.executable} -m dnsrig zone stats {small_zone}"
    for closed, code in (("<&-", 0), ("2>&-", 0), (">&-", 3)):
        assert subprocess.run(["sh", "-c", f"{command} {closed}"], check=False, timeout=60).returncode == code


def test_a_folder_that_is_no_run(dnsrig, tmp_path):
    refused(dnsrig("report", tmp_path), 2, str(tmp_path), "not a run's folder")
    refused(dnsrig("compare", tmp_path, tmp_path), 2, "not a run's folder")
    refused(dnsrig("run", "--resume", tmp_path), 2, "not a run's folder")


def test_what_a_resumed_run_is_of_is_chosen_already(dnsrig, tmp_path):
    more = ["cold-start", "--server", "nsd", "--seed", 9, "--quick"]
    refused(dnsrig("run", "--resume", tmp_path, *more), 2, "leave out STUDY, --server, --quick, --seed")


def test_a_profile_that_is_a_file_is_checked_and_printed(dnsrig, tmp_path):
    mine = tmp_path / "mine.toml"
    small = dnsrig("internet", "profile", "small").out
    mine.write_text(small)
    assert dnsrig("internet", "profile", mine).out == small
    for said, wrong in (
        ("ipv6_share is 1e300; a share is from 0 to 1", small.replace("ipv6_share = 0.5", "ipv6_share = 1e300")),
        ("name: reports show it", small.replace('name = "small"', 'name = ""')),
        ("name: reports show it", small.replace('name = "small"', r'name = "\u001b[2J"')),
        ("name: reports show it", small.replace('name = "small"', r'name = "a\u2028b"')),
        ("name: reports show it", small.replace('name = "small"', r'name = "a\u202eb"')),
        ("ipv6_share is -1e-300;", small.replace("ipv6_share = 0.5", "ipv6_share = -1e-300")),
        (
            "outage of larg-dns: there is no such operator",
            f'{small}\n[[outage]]\noperator = "larg-dns"\nfrom_s = 0\nfor_s = 1\n',
        ),
    ):
        assert wrong != small
        mine.write_text(wrong)
        refused(dnsrig("internet", "profile", mine), 2, str(mine), said)
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    refused(dnsrig("internet", "profile", pipe), 2, str(pipe), "it is no file")
    refused(dnsrig("internet", "profile", ""), 2, 'there is no profile ""; the named ones are')


def test_a_run_that_could_not_print_its_result_does_not_begin(tmp_path):
    command = f"exec {sys.executable} -m dnsrig run denial-cost --server embedded --quick --out {tmp_path} >&-"
    assert subprocess.run(["sh", "-c", command], check=False, timeout=60).returncode == 3
    assert not list(tmp_path.iterdir())


def test_a_taken_port(dnsrig, small_zone):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        refused(dnsrig("serve", "embedded", small_zone, "-p", port), 3, str(port))


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv (util-linux)")
def test_no_permission_for_a_port(small_zone, tmp_path):
    if int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()) <= 53:
        pytest.skip("anybody may use port 53 here (ip_unprivileged_port_start)")
    # The work tree may lie where only root can look, so only the right to low ports is given up.
    without = ["setpriv", "--bounding-set", "-net_bind_service", "--inh-caps", "-net_bind_service"]
    done = subprocess.run(
        [*without, sys.executable, "-m", "dnsrig", "serve", "embedded", small_zone, "-p", "53"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.returncode == 3, done.stderr
    assert "53" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare (util-linux)")
def test_a_full_disk_marks_the_run(tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    script = (
        f"mount -t tmpfs -o size=600k none {small} && {sys.executable} -m dnsrig run denial-cost --server embedded "
        f"--repetitions 40 --load-seconds 0.1 --warm-up-seconds 0 --seed 1 --out {small}; code=$?; "
        f"cat {small}/*/manifest.json; exit $code"
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 3, done.stderr
    assert "no room" in done.stderr
    assert '"status": "interrupted"' in done.stdout
