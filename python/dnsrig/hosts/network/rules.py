"""nftables rules for what a router or firewall on the path does to DNS, as `Namespace.set_rules` takes them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

UDP_HEADER_OCTETS = 8
CHAINS: dict["Chain", str] = {
    # Before connection tracking (priority -400) joins fragments.
    "arriving": "type filter hook prerouting priority -450;",
    "passing": "type filter hook forward priority 0;",
    # What the router itself says, such as ICMP errors.
    "own": "type filter hook output priority 0;",
    "translation": "type nat hook prerouting priority dstnat;",
    "source": "type nat hook postrouting priority srcnat;",
}


Chain = Literal["arriving", "passing", "own", "translation", "source"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One nft(8) statement and the chain that it stands in."""

    chain: Chain
    statement: str


DROP_FRAGMENTS = (
    Rule("arriving", "ip frag-off & 0x3fff != 0 drop"),
    Rule("arriving", "exthdr frag exists drop"),
)
"""All fragments, first ones too, are lost (RFC 8900 section 3.1)."""
DROP_FRAGMENTS_IPV4, DROP_FRAGMENTS_IPV6 = ((rule,) for rule in DROP_FRAGMENTS)
"""Those of one version of IP."""
DROP_DNS_BY_TCP = (Rule("arriving", "tcp dport 53 drop"),)
"""TCP connections to port 53 get no answer."""
DROP_DNS_BY_TCP_IPV6 = (Rule("arriving", "meta nfproto ipv6 tcp dport 53 drop"),)
"""The same for those by IPv6 alone."""
RESET_DNS_BY_TCP = (Rule("passing", "tcp dport 53 tcp flags & psh == psh reject with tcp reset"),)
"""Connections open, and are reset when a query comes."""
RESET_LARGE_DNS_BY_TCP = (Rule("passing", "tcp sport 53 meta length > 1000 reject with tcp reset"),)
"""Connections are reset by the first full packet of a response."""
DROP_PACKET_TOO_BIG = (
    Rule("arriving", "icmp type destination-unreachable icmp code 4 drop"),
    Rule("arriving", "icmpv6 type packet-too-big drop"),
    Rule("own", "icmp type destination-unreachable icmp code 4 drop"),
    Rule("own", "icmpv6 type packet-too-big drop"),
)
"""Path MTU discovery is broken (RFC 2923): neither "fragmentation needed" nor "packet too big" gets through."""
REDIRECT_DNS = (Rule("translation", "meta l4proto { tcp, udp } th dport 53 redirect to :53"),)
"""Queries to any address go to port 53 of the router itself, and its responses look like those of that address."""
REDIRECT_DNS_IPV6 = (Rule("translation", "meta nfproto ipv6 meta l4proto { tcp, udp } th dport 53 redirect to :53"),)
"""The same for those by IPv6 alone."""
FEW_SOURCE_PORTS = (Rule("source", "udp dport 53 masquerade to :20000-21999"),)
"""Queries by UDP come from the router's address and from some ports of it (RFC 4787 section 4.2)."""

DROP_LOW_SOURCE_PORTS = (Rule("arriving", "udp dport 53 udp sport < 10000 drop"),)
"""Queries by UDP from many of the ports that resolvers use are lost, and none from those that most systems draw."""


def limit_dns_to(queries_per_s: int, burst: int) -> tuple[Rule, ...]:
    """Lose queries by UDP beyond a rate."""
    limit = f"limit rate over {queries_per_s}/second burst {burst} packets"
    return (Rule("arriving", f"udp dport 53 {limit} drop"),)


def drop_dns_longer_than(octets: int, *, ipv6_alone: bool = False) -> tuple[Rule, ...]:
    """DNS messages by UDP of more than `octets` are lost, from servers to clients."""
    which = "meta nfproto ipv6 " if ipv6_alone else ""
    return (Rule("arriving", f"{which}udp sport 53 udp length > {octets + UDP_HEADER_OCTETS} drop"),)


def ruleset(rules: Iterable[Rule], family: Literal["inet", "bridge"] = "inet") -> str:
    """Write rules as an nft(8) script, for a router (`inet`) or a bridge.

    A bridge has no translation.
    """
    chosen = list(rules)
    lines = [f"table {family} dnsrig {{"]
    for chain, head in CHAINS.items():
        statements = [rule.statement for rule in chosen if rule.chain == chain]
        if statements:
            lines += [f"    chain {chain} {{", f"        {head}", *(f"        {text}" for text in statements), "    }"]
    return "\n".join([*lines, "}", ""])
