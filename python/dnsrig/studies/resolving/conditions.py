"""What may be wrong with the path between a resolver and the Internet."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dnsrig.hosts.network.links import ETHERNET_MTU
from dnsrig.monitor.proc import parse_snmp, parse_snmp6
from dnsrig.studies.resolving.place import INTERNET_DEVICE, OUTSIDE_DEVICE, Place

OPEN = ""
SMALL_MTU = "mtu-1280"
NO_FRAGMENTS = "no-fragments"
NO_UDP = "tcp-only"
SMALLEST_MTU = 1280
"""The least that IPv6 works with (RFC 8200 section 5)."""
_COUNTER = re.compile(r"counter packets (\d+) bytes")


@dataclass(frozen=True, slots=True)
class Condition:
    """A path's MTU in octets, and nftables rules of the namespace of the Internet's servers."""

    label: str
    mtu: int = ETHERNET_MTU
    rules: str = ""


_NO_FRAGMENTS = """
table inet path {
    chain out {
        # Before fragments of a namespace's own are put together or made.
        type filter hook postrouting priority 300;
        ip frag-off & 0x3fff != 0 counter drop
        exthdr frag exists counter drop
        meta l4proto udp meta length > 1500 counter drop
    }
}
"""
_NO_UDP = """
table inet path {
    chain in {
        type filter hook input priority 0;
        udp dport 53 counter reject
    }
}
"""
CONDITIONS: Mapping[str, Condition] = {
    OPEN: Condition("Ethernet"),
    SMALL_MTU: Condition("MTU 1280", mtu=SMALLEST_MTU),
    NO_FRAGMENTS: Condition("fragments dropped", rules=_NO_FRAGMENTS),
    NO_UDP: Condition("TCP only", rules=_NO_UDP),
}
"""Conditions by name."""


def needs_nft(name: str) -> bool:
    """Say whether a condition has nftables rules."""
    return bool(CONDITIONS[name].rules)


@contextmanager
def conditioned(place: Place, name: str) -> Iterator[None]:
    """Have a condition between resolver and Internet, and the open path again afterwards.

    Raises:
        EnvironmentLacksError: `nft` is not installed, or the kernel lacks what the rules need.

    """
    condition = CONDITIONS[name]
    if condition == CONDITIONS[OPEN]:
        yield
        return
    try:
        _set_mtu(place, condition.mtu)
        if condition.rules:
            place.outside.set_rules(condition.rules)
        yield
    finally:
        _set_mtu(place, ETHERNET_MTU)
        if condition.rules:
            place.outside.set_rules("")


def path_counts(place: Place, name: str) -> dict[str, int]:
    """Count what has become of packets: two readings while a condition is in force tell what did between them.

    `dropped` are those that its rules dropped or refused, `fragments` those that answers were sent in.
    """
    said = place.outside.run(["nft", "list", "ruleset"]) if needs_nft(name) else ""
    return {
        "dropped": sum(int(count) for count in _COUNTER.findall(said)),
        "fragments": place.outside.call(_fragments),
    }


def _fragments() -> int:
    """Give how many fragments the namespace of the calling thread has made of its own packets (proc(5))."""
    net = Path("/proc/thread-self/net")
    ipv4 = parse_snmp((net / "snmp").read_bytes(), "Ip").get("FragCreates", 0)
    file = net / "snmp6"
    return ipv4 + (parse_snmp6(file.read_bytes(), "Ip6").get("FragCreates", 0) if file.exists() else 0)


def _set_mtu(place: Place, octets: int) -> None:
    place.resolver.set_mtu(INTERNET_DEVICE, octets)
    place.outside.set_mtu(OUTSIDE_DEVICE, octets)
