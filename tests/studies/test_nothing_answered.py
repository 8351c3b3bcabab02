"""A load in which nothing is answered before it ends measures nothing, even if answers come later."""

import json
import socket
import threading

import pytest
from dnsrig import _core
from dnsrig.errors import SubjectFailedError
from dnsrig.loads import LoadSettings, Route, closed_loop, run_load
from dnsrig.runs.folder import RunFolder
from dnsrig.studies import authoritative, bench, conduct
from dnsrig.studies.bench import require_answers
from dnsrig.studies.encrypted import bench as encrypted
from dnsrig.studies.registry import study as find_study

LATE_S = 0.6


@pytest.fixture
def late_server():
    """Give the port of a server that answers a load's first query at once, as it is a probe, and the others late."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(0.1)
        stop = threading.Event()

        def answer():
            first = True
            while not stop.is_set():
                try:
                    query, peer = server.recvfrom(512)
                except TimeoutError:
                    continue
                if not first:
                    stop.wait(LATE_S)
                first = False
                server.sendto(query[:2] + bytes([query[2] | 0x80]) + query[3:], peer)

        thread = threading.Thread(target=answer)
        thread.start()
        yield server.getsockname()[1]
        stop.set()
        thread.join()


def test_answers_after_the_end_make_no_rate(late_server, tmp_path):
    queries = tmp_path / "queries.txt"
    queries.write_text("www.example.test A\n")
    stream = _core.QueryLog.read(queries).to_stream()
    settings = LoadSettings((Route("udp", "127.0.0.1", late_server),), closed_loop(1), duration_s=0.1, timeout_s=5.0)
    report, _ = run_load(stream, settings)
    assert (report["answered"], report["qps"]) == (1, 0.0)
    with pytest.raises(SubjectFailedError, match=r"nsd: none of 1 queries was answered in the 0\.1. s of the load"):
        require_answers(report, "nsd")


class Quiet:
    def phase(self, text):
        pass

    def note(self, text):
        pass

    def step(self, step):
        pass

    def problem(self, text):
        pass


@pytest.mark.parametrize(
    ("name", "module", "choices"),
    [
        ("denial-cost", authoritative, {"denials": ("none",), "streams": ("existence",)}),
        ("encrypted-cost", encrypted, {"transports": ("udp",), "parts": ("transports",), "threads": (1,)}),
    ],
)
def test_such_a_case_is_not_measured(tmp_path, monkeypatch, name, module, choices):
    def late(stream, settings, on_second=None):
        report, interrupted = run_load(stream, settings, on_second)
        return {**report, "qps": 0.0}, interrupted

    monkeypatch.setattr(module, "run_load", late)
    # The other tests run in this process, too, and go on with all of its processors.
    monkeypatch.setattr(bench.os, "sched_setaffinity", lambda *_: None)
    study = find_study(name)
    brief = {"repetitions": 1, "load_s": 0.1, "warm_up_s": 0.0}
    settings = study.settings_type(seed=1, servers=("embedded",), **{**study.defaults, **brief, **choices})
    with pytest.raises(SubjectFailedError, match="was answered in the"):
        conduct.start(name, settings, tmp_path, ["dnsrig"], Quiet())
    (folder,) = tmp_path.iterdir()
    run = RunFolder.open(folder)
    assert run.measurements() == []
    reasons = {entry["reason"] for entry in json.loads((folder / "manifest.json").read_text())["failures"]}
    assert any("was answered in the" in reason for reason in reasons)
