"""Faults of network paths, by rules and MTU of a router, or by something in it that takes port 53 to itself."""

from dataclasses import dataclass

from dnsrig.hosts.network import rules
from dnsrig.hosts.network.rules import Rule

OLD_LIMIT = 512
FLAG_DAY_LIMIT = 1232
SMALL_MTU = 1280
"""The least that IPv6 allows (RFC 8200 section 5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathFault:
    """What a router or firewall does wrong."""

    name: str
    does: str
    """In words that go on after "The router"."""
    rules: tuple[Rule, ...] = ()
    mtu: int | None = None
    """Of the router's device towards the client, in octets."""
    relay: str | None = None
    """The fault of the relay that port 53 is redirected to; `none` is a relay that changes nothing."""
    ipv6_alone: bool = False
    """IPv4 passes as it should."""
    own_server: bool = False
    """Port 53 is redirected to another server."""


PATH_FAULTS = (
    PathFault(name="path-drops-fragments", does="drops fragments", rules=rules.DROP_FRAGMENTS),
    PathFault(
        name="path-drops-over-512",
        does="drops DNS messages by UDP beyond 512 octets",
        rules=rules.drop_dns_longer_than(OLD_LIMIT),
    ),
    PathFault(name="path-blocks-tcp", does="drops TCP to port 53", rules=rules.DROP_DNS_BY_TCP),
    PathFault(
        name="path-hides-mtu",
        does="has a link of 1280 octets and drops what says so",
        rules=rules.DROP_PACKET_TOO_BIG,
        mtu=SMALL_MTU,
    ),
    PathFault(name="path-intercepts", does="takes queries to any address to itself", relay="none"),
    PathFault(name="path-other-server", does="answers queries from a server of its own", own_server=True),
    PathFault(name="path-clears-do", does="takes queries to itself and clears DO", relay="clears-do"),
    PathFault(
        name="path-strips-options", does="takes queries to itself and strips options", relay="proxy-strips-options"
    ),
    PathFault(
        name="path-rewrites", does="takes queries to itself and changes addresses", relay="proxy-rewrites-addresses"
    ),
    PathFault(
        name="path-rewrites-nxdomain",
        does="takes queries to itself and hides NXDOMAIN",
        relay="proxy-rewrites-nxdomain",
    ),
    PathFault(
        name="path-rewrites-ipv6",
        does="takes queries by IPv6 to itself and changes addresses",
        relay="proxy-rewrites-addresses",
        ipv6_alone=True,
    ),
    PathFault(
        name="path-clears-do-ipv6",
        does="takes queries by IPv6 to itself and clears DO",
        relay="clears-do",
        ipv6_alone=True,
    ),
    PathFault(
        name="path-rewrites-by-tcp",
        does="takes queries to itself and changes addresses in responses by TCP",
        relay="rewrites-addresses-by-tcp",
    ),
    PathFault(
        name="path-rewrites-mail",
        does="takes queries to itself and changes mail servers",
        relay="rewrites-mail-servers",
    ),
    PathFault(
        name="path-drops-types",
        does="takes queries to itself and drops those for CAA, TLSA, HTTPS and unknown types",
        relay="drops-types-in-use",
    ),
    PathFault(
        name="path-drops-any",
        does="takes queries to itself and drops those for ANY",
        relay="proxy-drops-any",
    ),
    PathFault(
        name="path-drops-refused",
        does="takes queries to itself and drops responses with REFUSED",
        relay="proxy-drops-refused",
    ),
    PathFault(
        name="path-sets-rd",
        does="takes queries to itself and sets RD",
        relay="proxy-sets-rd",
    ),
    PathFault(
        name="path-drops-rrsig-queries",
        does="takes queries to itself and drops those for RRSIG",
        relay="drops-rrsig-queries",
    ),
    PathFault(
        name="path-drops-edns-versions",
        does="takes queries to itself and drops those of other EDNS versions",
        relay="drops-edns-versions-on-path",
    ),
    PathFault(
        name="path-drops-long-queries",
        does="takes queries to itself and drops those of more than 512 octets",
        relay="drops-long-queries",
    ),
    PathFault(
        name="path-answers-once-a-port",
        does="takes queries to itself and drops those from a port that has sent one just before",
        relay="answers-once-a-port",
    ),
    PathFault(
        name="path-closes-after-response",
        does="takes queries to itself and drops all but the first response to those sent at once from one port",
        relay="closes-after-response",
    ),
    PathFault(
        name="path-lower-cases-queries",
        does="takes queries to itself and lower-cases their names",
        relay="lower-cases-queries-on-path",
    ),
    PathFault(
        name="path-drops-unusual-names",
        does="takes queries to itself and drops those for names with underscores or octets beyond ASCII",
        relay="drops-unusual-names",
    ),
    PathFault(
        name="path-drops-many-labels",
        does="takes queries to itself and drops those for names of more than 20 labels",
        relay="proxy-drops-many-labels",
    ),
    PathFault(
        name="path-drops-cookies",
        does="takes queries to itself and drops those with COOKIE",
        relay="drops-cookies-on-path",
    ),
    PathFault(
        name="path-drops-updates",
        does="takes queries to itself and drops NOTIFY and UPDATE",
        relay="drops-updates",
    ),
    PathFault(
        name="path-answers-chaos",
        does="takes queries to itself and refuses class CHAOS",
        relay="answers-chaos",
    ),
    PathFault(
        name="path-blocks-names",
        does="takes queries to itself and gives another address for names on a list",
        relay="blocks-foreign-names",
    ),
    PathFault(
        name="path-lowers-ttl",
        does="takes queries to itself and lowers TTLs",
        relay="lowers-ttl",
    ),
    PathFault(
        name="path-lower-cases-responses",
        does="takes queries to itself and lower-cases the questions of responses",
        relay="lower-cases",
    ),
    PathFault(
        name="path-clears-ad",
        does="takes queries to itself and clears AD in responses",
        relay="proxy-clears-ad-in-responses",
    ),
    PathFault(
        name="path-clears-ad-in-denials",
        does="takes queries to itself and clears AD in denials",
        relay="proxy-clears-ad-in-denials",
    ),
    PathFault(
        name="path-clears-cd",
        does="takes queries to itself and clears CD in responses",
        relay="proxy-clears-cd-in-responses",
    ),
    PathFault(
        name="path-clears-do-in-responses",
        does="takes queries to itself and clears DO in responses",
        relay="proxy-clears-do-in-responses",
    ),
    PathFault(
        name="path-strips-proofs",
        does="takes queries to itself, and signatures and proofs out of denials",
        relay="proxy-strips-proofs",
    ),
    PathFault(
        name="path-strips-signatures-of-keys",
        does="takes queries to itself, and signatures out of responses with DS and DNSKEY",
        relay="strips-signatures-of-keys",
    ),
    PathFault(
        name="path-strips-signatures-of-types-in-use",
        does="takes queries to itself, and signatures out of responses with TXT, SRV, CAA, TLSA, SVCB and HTTPS",
        relay="strips-signatures-of-types-in-use",
    ),
    PathFault(
        name="path-strips-signatures-by-tcp",
        does="takes queries to itself, and signatures out of responses by TCP",
        relay="proxy-strips-rrsig-by-tcp",
    ),
    PathFault(
        name="path-strips-options-of-responses",
        does="takes queries to itself, and options but extended errors out of responses",
        relay="strips-options-but-errors",
    ),
    PathFault(
        name="path-strips-ede",
        does="takes queries to itself, and extended errors out of responses",
        relay="proxy-strips-ede",
    ),
    PathFault(
        name="path-strips-opt-of-unsigned",
        does="takes queries to itself, and OPT out of responses without signatures to those with DO",
        relay="strips-opt-of-unsigned",
    ),
    PathFault(
        name="path-truncates-unsigned",
        does="takes queries to itself, and truncates responses without signatures to those with DO",
        relay="truncates-unsigned",
    ),
    PathFault(
        name="path-closes-tcp-after-one",
        does="takes queries to itself and closes TCP connections after one response",
        relay="closes-tcp-after-one",
    ),
    PathFault(
        name="path-discards-pipelined",
        does="takes queries to itself and drops what comes by TCP before its last response has gone",
        relay="discards-pipelined",
    ),
    PathFault(
        name="path-forgets-udp",
        does="takes queries to itself and drops responses by UDP that take more than a second",
        relay="forgets-udp",
    ),
    PathFault(name="path-drops-fragments-ipv6", does="drops fragments of IPv6", rules=rules.DROP_FRAGMENTS_IPV6),
    PathFault(name="path-drops-fragments-ipv4", does="drops fragments of IPv4", rules=rules.DROP_FRAGMENTS_IPV4),
    PathFault(
        name="path-drops-over-1232-ipv6",
        does="drops DNS messages by UDP beyond 1232 octets over IPv6",
        rules=rules.drop_dns_longer_than(FLAG_DAY_LIMIT, ipv6_alone=True),
    ),
    PathFault(
        name="path-resets-tcp",
        does="resets TCP connections to port 53 that carry a query",
        rules=rules.RESET_DNS_BY_TCP,
    ),
    PathFault(
        name="path-resets-large-tcp",
        does="resets TCP connections to port 53 that carry much",
        rules=rules.RESET_LARGE_DNS_BY_TCP,
    ),
    PathFault(
        name="path-limits-rate",
        does="drops queries by UDP beyond 60 a second",
        rules=rules.limit_dns_to(60, 30),
    ),
    PathFault(
        name="path-translates-to-few-ports",
        does="sends all queries by UDP from 2000 ports of its own",
        rules=rules.FEW_SOURCE_PORTS,
    ),
    PathFault(
        name="path-blocks-low-ports",
        does="drops queries by UDP from ports below 10000",
        rules=rules.DROP_LOW_SOURCE_PORTS,
    ),
    PathFault(name="path-blocks-tcp-ipv6", does="drops TCP to port 53 by IPv6", rules=rules.DROP_DNS_BY_TCP_IPV6),
)
