"""Parsers of /proc: on texts taken from real machines, and on whatever hypothesis makes up."""

import os

import pytest
from dnsrig.monitor.proc import (
    CpuTicks,
    count_time_wait,
    parse_cgroups,
    parse_cpu_stat,
    parse_net_dev,
    parse_process_stat,
    parse_smaps_rollup,
    parse_snmp,
    parse_snmp6,
    parse_sockstat,
)
from hypothesis import given
from hypothesis import strategies as st

STAT = (
    b"1203 (named) S 1 1203 1203 0 -1 4194560 15034 0 12 0 3921 1477 31 12 20 0 7 0 10873 "
    b"1130356736 12034 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
)
NET_DEV = b"""Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 31905062   93581    0    0    0     0          0         0 31905062   93581    0    0    0     0       0          0
  eth0:1218742919 1102033    0    7    0     0          0         0 60142873  402311    0    1    0     0       0          0
"""  # noqa: E501
SNMP = b"""Ip: Forwarding DefaultTTL InReceives
Ip: 1 64 496221
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
Udp: 91234 17 43 91300 41 2 0 0 0
UdpLite: InDatagrams NoPorts
UdpLite: 0 0
"""
CPU = b"""cpu  15846 1 2541 269777 750 0 115 14 0 0
cpu0 8380 0 1418 134183 474 0 40 7 0 0
cpu1 7465 1 1123 135594 276 3 75 6 12 0
intr 330063 0 0
ctxt 1
"""


def test_process_stat_of_a_named():
    stat = parse_process_stat(STAT)
    assert (stat.state, stat.parent, stat.reaped_ticks, stat.threads) == ("S", 1, 43, 7)
    assert (stat.start_ticks, stat.rss_pages, stat.ended) == (10873, 12034, False)


@pytest.mark.parametrize("name", [b"a b", b"(sd-pam)", b") S 1 (", b"\xff\n)"])
def test_process_stat_of_a_program_with_an_awkward_name(name):
    assert parse_process_stat(STAT.replace(b"named", name)).threads == 7


def test_a_zombie_has_ended():
    assert parse_process_stat(STAT.replace(b") S ", b") Z ")).ended


def test_net_dev():
    interfaces = parse_net_dev(NET_DEV)
    assert list(interfaces) == ["lo", "eth0"]
    eth0 = interfaces["eth0"]
    assert (eth0.bytes_in, eth0.packets_in, eth0.drops_in) == (1218742919, 1102033, 7)
    assert (eth0.bytes_out, eth0.packets_out, eth0.drops_out) == (60142873, 402311, 1)


def test_snmp_pairs_names_with_values():
    udp = parse_snmp(SNMP, "Udp")
    assert (udp["InErrors"], udp["RcvbufErrors"], udp["SndbufErrors"], udp["NoPorts"]) == (43, 41, 2, 17)


def test_snmp6():
    text = b"Ip6InReceives   \t1\nUdp6InDatagrams   \t3\nUdp6InErrors   \t9\nUdpLite6InErrors \t4\n"
    assert parse_snmp6(text, "Udp6") == {"InDatagrams": 3, "InErrors": 9}
    assert parse_snmp6(b"", "Udp6") == parse_snmp(b"", "Udp") == {}


def test_sockstat():
    text = b"sockets: used 12\nTCP: inuse 1 orphan 0 tw 5 alloc 1 mem 0\nUDP: inuse 4 mem 0\n"
    assert parse_sockstat(text)["TCP"]["tw"] == 5
    assert parse_sockstat(text)["UDP"]["inuse"] == 4


def test_cpu_stat_keeps_steal_apart_from_idle_and_takes_waiting_for_devices_as_idle():
    cpus = parse_cpu_stat(CPU)
    assert (cpus[1].idle, cpus[1].steal) == (135594 + 276, 6)


def test_cpu_stat_of_an_old_kernel_without_steal():
    assert parse_cpu_stat(b"cpu0 1 2 3 4\n") == {0: CpuTicks(4, 0)}


def test_smaps_rollup():
    text = b"55f0-7ffc ---p 00000000 00:00 0    [rollup]\nRss:  1768 kB\nPss:   406 kB\nLocked: 0 kB\n"
    assert parse_smaps_rollup(text) == {"Rss": 1768 * 1024, "Pss": 406 * 1024, "Locked": 0}


def test_cgroups_of_both_versions():
    text = b"4:memory:/a\n3:cpu,cpuacct:/b:c\n0::/d\n"
    assert parse_cgroups(text) == {"memory": "/a", "cpu": "/b:c", "cpuacct": "/b:c", "": "/d"}


@pytest.mark.parametrize(
    ("parse", "text"),
    [(parse_process_stat, b"nonsense"), (parse_cpu_stat, b"intr 1\n"), (parse_smaps_rollup, b"\n")],
)
def test_text_of_another_kind_is_a_value_error(parse, text):
    with pytest.raises(ValueError):
        parse(text)


@given(st.binary(max_size=300))
def test_no_parser_fails_other_than_by_value_error(text):
    for parse in (
        parse_cgroups,
        parse_cpu_stat,
        parse_net_dev,
        parse_process_stat,
        parse_smaps_rollup,
        lambda text: parse_snmp(b"Udp: a b\nUdp: " + text, "Udp"),
        lambda text: parse_snmp6(text, "Udp6"),
        parse_sockstat,
    ):
        try:
            parse(text)
        except ValueError:
            continue


@given(
    st.binary(min_size=1, max_size=15).filter(lambda name: b"\0" not in name),
    st.lists(st.integers(0, 2**63 - 1), min_size=22, max_size=60),
)
def test_process_stat_gives_back_what_the_kernel_wrote(name, values):
    text = b"7 (%s) R " % name + b" ".join(b"%d" % value for value in values)
    stat = parse_process_stat(text)
    assert stat.parent == values[0]
    assert stat.reaped_ticks == values[12] + values[13]
    assert (stat.threads, stat.start_ticks, stat.rss_pages) == (values[16], values[18], values[20])


TICKS = st.lists(st.integers(0, 2**40), min_size=8, max_size=10)


@given(st.dictionaries(st.integers(0, 4095), TICKS, min_size=1))
def test_cpu_stat_finds_what_was_idle_and_stolen_on_every_cpu(cpus):
    lines = [b"cpu 0 0 0 0 0 0 0 0"]
    for number, ticks in cpus.items():
        lines.append(b"cpu%d " % number + b" ".join(b"%d" % tick for tick in ticks))
    parsed = parse_cpu_stat(b"\n".join(lines) + b"\nintr 0\n")
    assert parsed == {number: CpuTicks(ticks[3] + ticks[4], ticks[7]) for number, ticks in cpus.items()}


TCP = b"""  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0135A8C0:0035 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1073 1 0 100 0 0 10 0
   1: 0135A8C0:C001 0200000A:0035 06 00000000:00000000 03:00001388 00000000     0        0 0 3 0
   2: 0135A8C0:C002 0200000A:0035 06 00000000:00000000 03:000007D0 00000000     0        0 0 3 0
   3: 0100007F:C2D2 0100007F:22B9 06 00000000:00000000 03:00001700 00000000     0        0 0 3 0
   4: 0135A8C0:C003 0200000A:0035 01 00000000:00000000 02:00001700 00000000     0        0 9 1 0 20 4 30 10 -1
"""
TCP6 = b"""  sl  local_address rem_address st tx_queue rx_queue tr when
   0: 00000000000000000000000001000000:C001 00000000000000000000000001000000:0035 06 00000000:00000000 03:00001700 0
   1: 0000000000000000FFFF00000135A8C0:0035 0000000000000000FFFF00000235A8C0:C001 06 00000000:00000000 03:00001700 0
   2: 0000000000000000FFFF00000100007F:0035 0000000000000000FFFF00000100007F:C001 06 00000000:00000000 03:00001700 0
"""


@pytest.mark.skipif(os.sysconf("SC_CLK_TCK") != 100, reason="the examples are of 100 ticks a second")
def test_connections_in_time_wait_are_told_by_when_they_came_to_it():
    # 10 and 40 s ago.
    assert [count_time_wait(TCP, ago_s) for ago_s in (5, 15, 45)] == [0, 1, 2]
    assert count_time_wait(TCP6, 60) == 1
    assert count_time_wait(b"", 60) == 0


@given(st.binary(max_size=300))
def test_no_text_of_connections_is_too_odd(text):
    assert count_time_wait(text, 60) >= 0
