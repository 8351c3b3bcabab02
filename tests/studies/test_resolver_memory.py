"""Memory of the simulated Internet: what is free, what a load says in which it did not suffice, and before serving."""

import subprocess
import sys

import pytest
from dnsrig.report.figures import FIGURES
from dnsrig.studies.registry import study
from dnsrig.studies.resolving import memory
from resolver_runs import by_case, run_study, settings

GIB_KB = 1 << 20
MADE = "the simulated Internet made zones or signatures meanwhile"


@pytest.fixture
def machine(tmp_path):
    """Make files of the kernel that say that 8 GiB are free; others as given."""

    def make(**files):
        told = {"proc/meminfo": f"MemTotal: {16 * GIB_KB} kB\nMemAvailable:    {8 * GIB_KB} kB\n", **files}
        for name, text in told.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return make


def test_internets_share_half_of_what_is_free(machine):
    root = machine()
    assert [memory.share_of_free_mib(count, root) for count in (1, 2, 4, 1000)] == [4096, 2048, 1024, 256]


@pytest.mark.parametrize(
    ("limit", "used", "left_gib"),
    [
        ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current", 2),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory/memory.usage_in_bytes", 2),
    ],
)
def test_what_the_control_group_leaves_is_what_is_free(machine, limit, used, left_gib):
    assert memory.free_octets(machine(**{limit: f"{3 << 30}\n", used: f"{1 << 30}\n"})) == left_gib << 30
    # What was read from files is given up when it is wanted.
    stat = f"{limit.rsplit('/', 1)[0]}/memory.stat"
    cached = f"inactive_file {1 << 29}\ntotal_inactive_file {1 << 29}\n"
    machine(**{limit: f"{3 << 30}\n", used: f"{1 << 30}\n", stat: cached})
    assert memory.free_octets(machine()) == (left_gib << 30) + (1 << 29)
    assert memory.free_octets(machine(**{limit: "max\n"})) == 8 << 30


def test_a_load_says_that_the_internet_made_zones_meanwhile(tmp_path):
    """With 1 MiB what was rehearsed is gone when it is asked for; with enough of it no figure is of that."""
    short = {"load_s": 1.0, "periods": 1, "rates": (300,)}
    marked = {}
    for mib in (1, 64):
        run, _ = run_study("validation-cost", tmp_path, internet_memory_mib=mib, **short)
        item = by_case(run)["unbound-on-300-profile-udp-part1"]
        marked[mib] = any(MADE in reason for reason in item["tainted"])
        assert (FIGURES["internet_made_per_query"].of(item) > memory.MADE_TOLERATED) == marked[mib]
        assert run.manifest()["facts"]["internet_memory_mib"] == mib
        assert f"memory reaches ({mib} MiB)" in (run.path / "report.md").read_text()
    assert marked == {1: True, 64: False}


def test_a_plan_counts_the_rehearsal():
    chosen = settings("validation-cost", rates=(300, 900), load_s=60.0, periods=3)
    assert study("validation-cost").plan(chosen).preparing_s > 2 * 3 * 60


@pytest.mark.parametrize(("domains", "warns"), [(5000, True), (20, False)])
def test_domains_that_do_not_fit_are_told_of(tmp_path, domains, warns):
    argv = [sys.executable, "-m", "dnsrig", "internet", "serve", "--loopback", "--port", "0", "--profile", "small"]
    argv += ["--memory", "16", "--presign", str(domains)]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout.readline()
            serving.terminate()
            _, said = serving.communicate(timeout=20)
        finally:
            serving.kill()
    assert ("--memory allows 16: the most popular" in said) == warns
