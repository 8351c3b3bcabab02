"""What was used between two readings."""

import os

import pytest
from dnsrig.monitor.cgroup import own_cgroup
from dnsrig.monitor.proc import CpuTicks, Interface
from dnsrig.monitor.usage import MachineCounters, ProcessCounters, machine_usage, process_usage


def machine(time_ns, cpus, interfaces, errors=0):
    return MachineCounters(
        time_ns=time_ns,
        cpus=cpus,
        interfaces=interfaces,
        udp_receive_errors=errors,
        udp_receive_buffer_errors=errors,
        udp_send_buffer_errors=0,
        udp_no_ports=0,
        udp_sockets=3,
        tcp_sockets=1,
        tcp_time_wait=0,
    )


def test_machine_usage_is_the_difference():
    second = os.sysconf("SC_CLK_TCK")
    cpus = {0: CpuTicks(90, 0), 1: CpuTicks(100, 0)}
    before = machine(0, cpus, {"lo": Interface(10, 1, 0, 10, 1, 0)})
    after = machine(
        1_000_000_000,
        {0: CpuTicks(90 + second // 5, 0), 1: CpuTicks(100 + second // 2, second // 4)},
        {"lo": Interface(1010, 11, 0, 1010, 11, 0), "new0": Interface(9, 9, 9, 9, 9, 9)},
        errors=4,
    )
    used = machine_usage(before, after)
    assert used["busy_by_cpu"] == pytest.approx({"0": 0.8, "1": 0.25})
    assert used["cpu_share"] == pytest.approx(1.05)
    assert used["steal_share"] == pytest.approx(0.25 / 2)
    assert (used["bytes_in"], used["packets_out"]) == (1000, 10)
    assert (used["udp_receive_errors"], used["udp_sockets"]) == (4, 3)
    assert list(used["interfaces"]) == ["lo"]


def test_a_cpu_that_was_offline_meanwhile_is_not_judged():
    before = machine(0, {0: CpuTicks(500, 0), 1: CpuTicks(500, 0), 2: CpuTicks(500, 0)}, {})
    # The third is rounded down only.
    after = machine(
        1_000_000_000, {0: CpuTicks(520, 0), 1: CpuTicks(20, 0), 2: CpuTicks(499, 0), 3: CpuTicks(1, 0)}, {}
    )
    assert set(machine_usage(before, after)["busy_by_cpu"]) == {"0", "2"}
    assert machine_usage(before, after)["busy_by_cpu"]["2"] == 1.0


def test_process_usage_takes_the_larger_rss_and_the_later_pss():
    before = ProcessCounters(0, 5_000_000, 4096, 100, 2, 1, "process CPU clocks")
    after = ProcessCounters(10_000_000, 12_000_000, 1024, None, 3, 1, "process CPU clocks")
    used = process_usage(before, after)
    assert (used["cpu_us"], used["cpu_share"], used["wall_us"]) == (7000, 0.7, 10_000)
    assert (used["rss_bytes_max"], used["pss_bytes"], used["threads"]) == (4096, 100, 3)


def make_cgroup(tmp_path, version, members):
    proc, mount = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "42").mkdir(parents=True)
    if version == 1:
        (proc / "42/cgroup").write_text("3:cpuacct:/unit\n2:memory:/unit\n")
        cpu, memory = mount / "cpuacct/unit", mount / "memory/unit"
        memory.mkdir(parents=True)
        (memory / "memory.usage_in_bytes").write_text("8192\n")
        cpu.mkdir(parents=True)
        (cpu / "cpuacct.usage").write_text("123456789\n")
    else:
        (proc / "42/cgroup").write_text("0::/unit\n")
        cpu = mount / "unit"
        cpu.mkdir(parents=True)
        (cpu / "cpu.stat").write_text("usage_usec 123456\nuser_usec 1\n")
        (cpu / "memory.current").write_text("8192\n")
    (cpu / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in members))
    return proc, mount


@pytest.mark.parametrize(("version", "cpu_ns"), [(1, 123456789), (2, 123456000)])
def test_a_cgroup_of_its_own_is_used(tmp_path, version, cpu_ns):
    proc, mount = make_cgroup(tmp_path, version, [42, 43])
    found = own_cgroup({42, 43, 44}, proc=proc, mount=mount)
    assert (found.version, found.cpu_ns(), found.memory_bytes()) == (version, cpu_ns, 8192)


@pytest.mark.parametrize("version", [1, 2])
def test_a_cgroup_shared_with_others_is_not_used(tmp_path, version):
    proc, mount = make_cgroup(tmp_path, version, [42, 99])
    assert own_cgroup({42}, proc=proc, mount=mount) is None


def test_the_root_cgroup_is_nobodys_own(tmp_path):
    (tmp_path / "42").mkdir()
    (tmp_path / "42/cgroup").write_text("3:cpuacct:/\n0::/\n")
    assert own_cgroup({42}, proc=tmp_path, mount=tmp_path) is None
    assert own_cgroup({43}, proc=tmp_path, mount=tmp_path) is None
