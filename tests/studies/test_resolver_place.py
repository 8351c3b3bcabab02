"""Where the studies of resolvers have their Internet: how its answers come to a resolver."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import dns.flags
import dns.message
import dns.rdatatype
import dns.zonefile
import pytest
from dnsrig import _core
from dnsrig.errors import EnvironmentLacksError
from dnsrig.internet import DNS_PORT
from dnsrig.monitor.proc import parse_snmp, parse_snmp6
from dnsrig.studies.resolving.place import Place, place_of

PATIENCE_S = 20.0
ASKED = [(".", "NS"), (".", "DNSKEY"), ("com.", "A"), ("no-such-label.", "A"), ("se.", "DNSKEY"), (".", "SOA")]


def roots(internet: _core.Internet) -> list[str]:
    """List an address of each family of the root's servers, IPv4 first."""
    hints = dns.zonefile.read_rrsets(internet.root_hints, rdclass=None, origin=dns.name.root, relativize=False)
    found = {
        rrset.rdtype: rdata.to_text()
        for rrset in hints
        for rdata in rrset
        if rrset.rdtype in (dns.rdatatype.A, dns.rdatatype.AAAA)
    }
    return [found[rdtype] for rdtype in sorted(found)]


def sent(place: Place) -> int:
    """Count the datagrams that the Internet's namespace sent by the system's own means."""

    def read() -> int:
        net = Path("/proc/thread-self/net")
        ipv6 = parse_snmp6((net / "snmp6").read_bytes(), "Udp6").get("OutDatagrams", 0)
        return parse_snmp((net / "snmp").read_bytes(), "Udp").get("OutDatagrams", 0) + ipv6

    return place.outside.call(read)


def answers(place: Place, servers: list[str]) -> Iterator[bytes]:
    """Ask servers from the resolver's namespace, over UDP; give the octets of the answers."""
    for server in servers:
        family = socket.AF_INET6 if ":" in server else socket.AF_INET
        with place.resolver.call(lambda family=family: socket.socket(family, socket.SOCK_DGRAM)) as client:
            client.settimeout(PATIENCE_S)
            client.connect((server, DNS_PORT))
            for number, (name, rtype) in enumerate(ASKED):
                query = dns.message.make_query(name, rtype, id=number)
                query.use_edns(0, dns.flags.DO, 1232)
                client.send(query.to_wire())
                yield client.recv(65_535)


@pytest.fixture(scope="module")
def internet() -> _core.Internet:
    return _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=2000, distances=False)


def asked(internet: _core.Internet, *, packets: bool) -> tuple[list[bytes], int]:
    """Give all answers of an Internet, and how many of them the system sent."""
    try:
        with place_of(internet, whole_packets=packets) as place:
            if place.server.sends_packets != packets:
                pytest.skip("packet sockets are not permitted here")
            place.server.gather(1000)
            servers = roots(internet)
            before = sent(place)
            found = list(answers(place, servers if place.resolver.has_ipv6 else servers[:1]))
            return found, sent(place) - before
    except EnvironmentLacksError as error:
        pytest.skip(str(error))


def test_whole_packets_hold_the_answers_that_the_system_sends(internet: _core.Internet) -> None:
    as_packets, by_system = asked(internet, packets=True)
    as_datagrams, by_system_alone = asked(internet, packets=False)
    assert as_packets == as_datagrams
    assert len(as_datagrams) >= len(ASKED)
    assert (by_system, by_system_alone) == (0, len(as_datagrams))
