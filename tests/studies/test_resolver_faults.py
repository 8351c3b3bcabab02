"""Resolvers that stop answering, run out of memory or refuse the trust anchor cost their cases, and no others."""

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from dnsrig.errors import SubjectFailedError
from dnsrig.hosts import processes
from dnsrig.runs.folder import RunFolder
from dnsrig.servers import driven
from dnsrig.servers.resolvers.settings import Forwarder, ResolverSettings
from dnsrig.servers.resolvers.unbound import UnboundForwarder, UnboundResolver
from dnsrig.studies import conduct
from dnsrig.studies.resolving import bench, silence
from resolver_runs import Quiet, by_case, settings, skip_without

NAME = "validation-cost"
SHORT = {"load_s": 2.0, "periods": 1, "rates": (300,)}


def conducted(parent, servers=("unbound",), **more):
    """Run the study; give its run, summary, and what the watcher heard of."""
    skip_without(*servers)
    watcher = Quiet()
    folder, summary = conduct.start(NAME, settings(NAME, servers, **{**SHORT, **more}), parent, ["dnsrig"], watcher)
    return RunFolder.open(folder), summary, watcher.problems


def stop_before_load(monkeypatch, number):
    """Stop the resolver with SIGSTOP, once it has been asked for its counts before the load of this number."""
    counts, asked = UnboundResolver.counts, []

    def stops(self):
        said = counts(self)
        asked.append(self.pids())
        if len(asked) == number:
            os.kill(self.pids()[0], signal.SIGSTOP)
        return said

    monkeypatch.setattr(UnboundResolver, "counts", stops)
    return asked


def test_a_resolver_that_stops_answering_costs_its_case(tmp_path, monkeypatch):
    """It is asked for its counts before and after each load: the third time is before the second load."""
    asked = stop_before_load(monkeypatch, 3)
    run, summary, problems = conducted(tmp_path)
    assert summary["status"] == "incomplete"
    assert set(by_case(run)) == {"unbound-off-300-profile-udp-part1"}
    (failure,) = run.manifest()["failures"]
    assert failure["case_ids"] == ["unbound-on-300-profile-udp-part1"]
    assert "gave no answer" in failure["reason"]
    assert len(problems) == 1
    assert not any(processes.is_live(pid) for pids in asked for pid in pids)


def test_a_resolver_that_stops_answering_within_a_load_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(silence, "SILENT_S", 3.0)
    note = bench.Timeline.note

    def stops(self, row):
        note(self, row)
        if len(self._readings) == 2:
            for pid in self._processes._readers:
                os.kill(pid, signal.SIGSTOP)

    monkeypatch.setattr(bench.Timeline, "note", stops)
    skip_without("unbound")
    with pytest.raises(SubjectFailedError, match=r"Unbound has stopped answering: .* answers before; the load was"):
        conduct.start(NAME, settings(NAME, **{**SHORT, "load_s": 20.0}), tmp_path, ["dnsrig"], Quiet())


@pytest.mark.parametrize("server", ["unbound", "bind", "knot-resolver", "powerdns-recursor"])
def test_a_refused_trust_anchor_costs_the_validating_cases(tmp_path, monkeypatch, server):
    made = bench.ResolverSettings

    def with_false_anchor(**values):
        if values["trust_anchors"]:
            values["trust_anchors"] = f". IN DS 1 13 2 {'0' * 64}\n"
        return made(**{**values, "deadline_s": 3.0})

    monkeypatch.setattr(bench, "ResolverSettings", with_false_anchor)
    run, summary, problems = conducted(tmp_path, (server,))
    assert summary["status"] == "incomplete"
    assert set(by_case(run)) == {f"{server}-off-300-profile-udp-part1"}
    (failure,) = run.manifest()["failures"]
    assert "SERVFAIL" in failure["reason"]
    assert "trust anchor" in failure["reason"]
    assert any(problem.startswith("not rehearsed: ") for problem in problems)


def test_a_resolver_out_of_memory_costs_its_cases(tmp_path):
    """BIND does not start with 24 MiB, and Unbound does."""
    run, summary, problems = conducted(tmp_path, ("unbound", "bind"), load_s=1.0, rates=(100,), memory_limit_mib=24)
    assert summary["status"] == "incomplete"
    assert "unbound-off-100-profile-udp-part1" in by_case(run)
    failed = [failure for failure in run.manifest()["failures"] if failure["case"]["server"] == "bind"]
    assert {case_id for failure in failed for case_id in failure["case_ids"]} == {
        "bind-off-100-profile-udp-part1",
        "bind-on-100-profile-udp-part1",
    }
    assert all("(it had at most 24 MiB of memory of its own)\n" in failure["reason"] for failure in failed)
    assert any("at most 24 MiB" in problem for problem in problems)
    item = by_case(run)["unbound-off-100-profile-udp-part1"]
    assert "at most 24 MiB of memory of its own (RLIMIT_DATA)" in item["remarks"]


@pytest.fixture
def tight_group():
    """Give a control group whose processes are killed when they take more than 256 KiB from then on."""
    limit = str(256 << 10)
    versions = (
        (Path("/sys/fs/cgroup/memory"), {"memory.limit_in_bytes": limit, "memory.swappiness": "0"}),
        (Path("/sys/fs/cgroup"), {"memory.max": limit, "memory.swap.max": "0"}),
    )
    for above, values in versions:
        group = above / f"dnsrig-test-{os.getpid()}"
        try:
            group.mkdir()
            for name, value in values.items():
                (group / name).write_text(value)
        except OSError:
            if group.exists():
                group.rmdir()
            continue
        yield group
        # Its processes have been killed, and may not be gone yet.
        deadline = time.monotonic() + 10
        while (group / "cgroup.procs").read_text() and time.monotonic() < deadline:
            time.sleep(0.01)
        group.rmdir()
        return
    pytest.skip("no control group for memory can be made here")


def test_a_resolver_that_the_kernel_kills_at_the_limit_of_its_control_group_costs_its_case(
    tmp_path, monkeypatch, tight_group
):
    """What it takes in the load before is not charged to the group; what its cache grows by in the second is."""
    counts, asked = UnboundResolver.counts, []

    def limited(self):
        said = counts(self)
        asked.append(self.pids())
        if len(asked) == 3:
            (tight_group / "cgroup.procs").write_text(str(self.pids()[0]))
        return said

    monkeypatch.setattr(UnboundResolver, "counts", limited)
    run, summary, _ = conducted(tmp_path)
    assert summary["status"] == "incomplete"
    assert set(by_case(run)) == {"unbound-off-300-profile-udp-part1"}
    (failure,) = run.manifest()["failures"]
    assert "ended by itself by signal 9, while the kernel killed for want of memory" in failure["reason"]
    assert not any(processes.is_live(pid) for pids in asked for pid in pids)


@pytest.mark.parametrize(("kills", "said"), [(8, True), (7, False)])
def test_a_kill_for_want_of_memory_is_told_from_another(tmp_path, monkeypatch, kills, said):
    """The kernel's count of such kills has grown, or has not, since the resolver was started."""
    skip_without("unbound")
    server = UnboundForwarder(ResolverSettings(forwarders=(Forwarder("127.0.0.1", 9),)), tmp_path)
    server._process = SimpleNamespace(
        alive=lambda: False, returncode=-9, log=server.log, log_tail=lambda: "its last line"
    )
    server._kills_before = 7
    monkeypatch.setattr(driven, "out_of_memory_kills", lambda: kills)
    with pytest.raises(SubjectFailedError, match="by signal 9") as raised:
        server.check_running()
    assert ("for want of memory" in str(raised.value)) == said


def test_the_kernels_count_of_kills_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "PROC", tmp_path)
    assert processes.out_of_memory_kills() == 0
    (tmp_path / "vmstat").write_text("pgfault 12\noom_kill 3\nballoon_inflate 0\n")
    assert processes.out_of_memory_kills() == 3
