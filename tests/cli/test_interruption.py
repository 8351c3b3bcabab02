"""Signals that end a command, while it is loaded and while it works; and standard streams that are closed."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
from pathlib import Path

import dns.exception
import dns.message
import dns.name
import pytest
from dns.rdatatype import RdataType
from dnsrig.cli import app
from dnsrig.errors import InputError
from dnsrig.verification.exchange import Endpoint, Exchange
from dnsrig.verification.queries import Query
from waiting import wait_until

INTERRUPTED_WHILE_IMPORTING = """
import os, signal, sys

_, module, number = sys.argv

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), getattr(signal, number))

sys.meta_path.insert(0, Interrupt())
from dnsrig.cli import main
sys.argv = ["dnsrig", "run", "--help"]
main()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize(
    "module", ["dnsrig.cli.app", "click", "dnsrig._core", "dnsrig.cli.run", "pyarrow", "rich.table"]
)
def test_signals_while_modules_are_imported(module, name):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE_IMPORTING, module, name],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "dnsrig: interrupted\n")


REPEATED = """
import os, signal, sys, time

import dnsrig.cli.app as app
from dnsrig.cli.signals import quit_on_signals, raise_on_signals

NUMBER = getattr(signal, sys.argv[1])

def interrupt_twice(*_arguments):
    raise_on_signals()
    try:
        os.kill(os.getpid(), NUMBER)
        time.sleep(60)
    finally:
        os.kill(os.getpid(), NUMBER)
        print("put away", flush=True)
        os.kill(os.getpid(), NUMBER)

def say(text, before=app.say):
    os.kill(os.getpid(), NUMBER)
    before(text)

quit_on_signals()
app.cli.invoke, app.say, sys.argv = interrupt_twice, say, ["dnsrig", "servers"]
import atexit
atexit.register(os.kill, os.getpid(), NUMBER)
app.main()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_that_come_again_while_things_are_put_away(name):
    done = subprocess.run(
        [sys.executable, "-c", REPEATED, name], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "put away\n", "dnsrig: interrupted\n")


def test_making_a_large_key_can_be_interrupted(tmp_path):
    command = [
        sys.executable,
        "-m",
        "dnsrig",
        "keygen",
        "-K",
        tmp_path,
        "-a",
        "RSASHA256",
        "-b",
        "4096",
        "example.test",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        wait_for_threads(started, 2)
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
    # It may have been quick.
    if started.returncode != 0:
        assert (started.returncode, out, err) == (130, "", "dnsrig: interrupted\n")
        assert list(tmp_path.iterdir()) == []


@pytest.fixture
def silent():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(60)
        yield receiver


def loaded(server, folder, *options):
    queries = folder / "queries.txt"
    queries.write_text("www.example.test A\n")
    return [sys.executable, "-m", "dnsrig", "load", "-p", str(server), "-d", str(queries), *map(str, options)]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_a_load_with_its_report_and_files(served, tmp_path, name):
    table, lines = tmp_path / "load.csv", tmp_path / "load.jsonl"
    command = loaded(served[1], tmp_path, "-l", 600, "-Q", 50, "--csv", table, "--jsonl", lines, "--json")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        wait_for_a_second(started, lines)
        started.send_signal(getattr(signal, name))
        out, err = started.communicate(timeout=60)
    assert (started.returncode, err.strip()) == (130, "dnsrig: interrupted")
    assert json.loads(out)["answered"] > 0
    assert len(table.read_text().splitlines()) > 1
    assert json.loads(lines.read_text().splitlines()[-1])["type"] == "stats_sum"


def test_a_terminal_that_is_closed_ends_a_load_with_its_report_and_files(served, tmp_path):
    lines, printed = tmp_path / "load.jsonl", tmp_path / "printed"
    command = loaded(served[1], tmp_path, "-l", 600, "-Q", 50, "--jsonl", lines)
    in_terminal = (
        "import fcntl, os, termios; os.setsid(); fcntl.ioctl(2, termios.TIOCSCTTY, 0);"
        f"os.execv({command[0]!r}, {command})"
    )
    keeper, terminal = pty.openpty()
    with (
        printed.open("w") as out,
        subprocess.Popen([sys.executable, "-c", in_terminal], stdin=terminal, stdout=out, stderr=terminal) as started,
    ):
        os.close(terminal)
        wait_for_a_second(started, lines)
        os.close(keeper)
        assert started.wait(timeout=60) == 130
    assert "bottleneck" in printed.read_text()
    assert json.loads(lines.read_text().splitlines()[-1])["type"] == "stats_sum"


def wait_for_a_second(started, lines):
    """Wait until the first second of a load has ended: then the second line is written."""
    partial = lines.with_name(f"{lines.name}.partial")
    wait_until(lambda: partial.exists() and partial.read_bytes().count(b"\n") > 1, started)


def test_a_signal_that_is_ignored_stays_ignored(silent, tmp_path):
    command = loaded(silent.getsockname()[1], tmp_path, "-t", "0.2", "-n", 1)
    ignoring = f"import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv({command[0]!r}, {command})"
    with subprocess.Popen([sys.executable, "-c", ignoring], stderr=subprocess.PIPE, text=True) as started:
        silent.recv(512)
        started.send_signal(signal.SIGHUP)
        _, err = started.communicate(timeout=60)
    assert started.returncode == 1, err
    assert "gave no answer" in err


@pytest.mark.parametrize("as_json", ["", "--json"])
@pytest.mark.parametrize(
    ("redirection", "said"), [(">&-", "standard output is closed"), (">/dev/full", "No space left")]
)
def test_a_report_that_cannot_be_printed(served, tmp_path, redirection, said, as_json):
    table = tmp_path / "load.csv"
    command = " ".join(loaded(served[1], tmp_path, "-n", 3, "--csv", table, as_json))
    done = subprocess.run(
        ["sh", "-c", f"exec {command} {redirection}"], stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )
    assert done.returncode == 3, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
    assert len(table.read_text().splitlines()) > 1


@pytest.mark.parametrize(
    ("redirection", "said"),
    [
        (">&-", "dnsrig: standard output is closed, so that nothing can be printed\n"),
        (">/dev/full", "dnsrig: standard output"),
        ("1</dev/null", "dnsrig: standard output is not open for writing, so that nothing can be printed\n"),
    ],
)
def test_a_short_json_object_that_cannot_be_printed(small_zone, redirection, said):
    command = f"exec {sys.executable} -m dnsrig zone stats {small_zone} --json {redirection}"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
    assert done.stderr.startswith(said)


def made_by_dnspython():
    """Raise what dnspython makes of a KeyboardInterrupt while it reads a record."""
    raise dns.exception.SyntaxError("") from KeyboardInterrupt()


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_interruption_within_dnspython_is_one(monkeypatch, capsys, wrapped):
    def invoke(_arguments):
        try:
            made_by_dnspython()
        except dns.exception.DNSException as error:
            if wrapped:
                raise InputError(f"it cannot be read: {error}") from error
            raise

    monkeypatch.setattr(app, "_invoke", invoke)
    assert app.run_command_line([]) == 130
    assert capsys.readouterr().err == "dnsrig: interrupted\n"


def test_an_interruption_is_no_malformed_message(monkeypatch):
    monkeypatch.setattr(dns.message, "from_wire", lambda *_, **__: made_by_dnspython())
    query = Query(name=dns.name.root, rtype=RdataType.SOA)
    with pytest.raises(KeyboardInterrupt):
        Exchange(Endpoint("192.0.2.1"), "udp", query, b"", b"\0" * 12, 1, 1.0)


WITHIN_TEXT = """
import sys
from dnsrig.cli import app

def invoke(_arguments):
    exec("raise KeyboardInterrupt")

app._invoke = invoke
sys.argv = ["dnsrig"]
app.main()
"""


def test_an_interruption_within_an_executed_text(tmp_path):
    (tmp_path / "within_text.py").write_text(WITHIN_TEXT)
    command = [sys.executable, "-m", "within_text"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (130, "dnsrig: interrupted\n")


def test_signals_before_they_are_ignored(monkeypatch):
    times = []

    def ignore():
        times.append(1)
        if len(times) < 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(app, "_invoke", lambda _: 0)
    monkeypatch.setattr(app, "ignore_signals", ignore)
    monkeypatch.setattr(app, "occupy_closed_descriptors", lambda: None)
    with pytest.raises(SystemExit) as ended:
        app.main()
    assert (ended.value.code, len(times)) == (130, 3)


def test_standard_error_that_is_gone_does_not_change_the_exit_code(tmp_path):
    for arguments in (f"zone stats {tmp_path}/nowhere.db", f"report {tmp_path}"):
        for redirection in ("2>&-", "2>/dev/full"):
            command = f"exec {sys.executable} -m dnsrig {arguments} {redirection}"
            for unbuffered in ("", "1"):
                environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
                done = subprocess.run(["sh", "-c", command], env=environment, check=False, timeout=60)
                assert done.returncode == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("source", ["pipe", "FIFO", "FIFO being written", "terminal"])
def test_signals_end_who_waits_for_input(tmp_path, source, number):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    path, stdin = ("-", subprocess.PIPE) if source == "pipe" else (fifo, subprocess.DEVNULL)
    held = []
    if source == "FIFO being written":
        held.append(os.open(fifo, os.O_RDWR))
        os.write(held[0], b"z.test. 60 IN SOA ns host 1 2 3 4 5\n")
    if source == "terminal":
        held.extend(pty.openpty())
        path, stdin = "-", held[1]
    command = [sys.executable, "-m", "dnsrig", "zone", "stats", path, "--threads", "3"]
    with subprocess.Popen(command, stdin=stdin, stderr=subprocess.PIPE, text=True) as started:
        wait_for_threads(started, 4)
        started.send_signal(number)
        # Not communicate(), which would close standard input.
        assert started.wait(timeout=60) == 130
        assert "interrupted" in started.stderr.read()
    for descriptor in held:
        os.close(descriptor)


def wait_for_threads(started, count):
    """Wait until a process has so many threads: it works then."""
    wait_until(lambda: len(list(Path(f"/proc/{started.pid}/task").iterdir())) >= count, started)


def test_a_fifo_is_not_read_twice(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for command in (["zone", "verify", fifo, "--ds", "1 13 2 00"], ["sign", fifo]):
        done = subprocess.run(
            [sys.executable, "-m", "dnsrig", *command], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 2 and "add -o NAME" in done.stderr
