"""The description of the machine."""

import json
from importlib import resources

import jsonschema
from dnsrig.runs.host import describe_host, host_warnings


def test_this_machine_follows_the_schema():
    schema = json.loads(resources.files("dnsrig").joinpath("schemas/host.json").read_text())
    host = describe_host()
    jsonschema.Draft202012Validator(schema).validate(host)
    assert host["cpu"]["usable"]
    assert "lo" in host["mtu_bytes"]


def test_a_machine_that_tells_nothing_is_described_all_the_same(tmp_path):
    host = describe_host(tmp_path)
    schema = json.loads(resources.files("dnsrig").joinpath("schemas/host.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(host)
    assert host["cpu"]["model"] is None
    assert host["virtualisation"] is None


def test_a_laptop_at_work_is_warned_about(tmp_path):
    for name, text in {
        "proc/cpuinfo": "processor : 0\nmodel name : Notebook\nflags : fpu hypervisor\n"
        "physical id : 0\ncore id : 0\n\nprocessor : 1\nphysical id : 0\ncore id : 0\n",
        "proc/loadavg": "3.10 2.00 1.00 1/100 1\n",
        "proc/meminfo": "MemTotal:       2048 kB\n",
        "etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12"\n',
        "sys/devices/system/cpu/smt/active": "1\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
        "sys/class/net/lo/mtu": "65536\n",
        "sys/fs/cgroup/cgroup.controllers": "cpu\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    host = describe_host(tmp_path)
    assert (host["cpu"]["model"], host["cpu"]["online"], host["cpu"]["cores"]) == ("Notebook", 2, 1)
    assert host["memory_bytes"] == 2048 * 1024
    assert (host["distribution"], host["cgroup_version"]) == ("Debian GNU/Linux 12", "2")
    assert host["mtu_bytes"] == {"lo": 65536}
    text = " ".join(host["warnings"])
    for word in ("load average 3.10 on 2 CPUs", "virtual", "powersave", "SMT"):
        assert word in text


def test_a_quiet_server_is_not_warned_about():
    host = {
        "cpu": {"usable": list(range(16)), "online": 16, "governor": "performance", "smt": False},
        "load_average": [0.1, 0.1, 0.1],
        "virtualisation": None,
    }
    assert list(host_warnings(host)) == []


def test_a_single_cpu_is_warned_about():
    host = {
        "cpu": {"usable": [0], "online": 1, "governor": None, "smt": False},
        "load_average": None,
        "virtualisation": None,
    }
    (warning,) = host_warnings(host)
    assert "one CPU only" in warning
