"""Resolvers and proxies at addresses are known by what they say they are."""

import socket
import threading
from pathlib import Path

import dns.message
import dns.rdataclass
import dns.rrset
import pytest
from dns.rdatatype import RdataType
from dnsrig.errors import InputError
from dnsrig.verification.deviations import known_deviations
from dnsrig.verification.item import Role
from dnsrig.verification.proxy_targets import Device, proxy_target
from dnsrig.verification.resolver_targets import resolver_target
from dnsrig.verification.said_version import SaidVersion, read_version, told_version


@pytest.mark.parametrize(
    ("role", "text", "expected"),
    [
        ("resolver", "unbound 1.17.1", SaidVersion("unbound", "1.17.1", "resolver")),
        ("resolver", "9.18.49-1~deb12u3-Debian", SaidVersion("bind", "9.18.49", "resolver")),
        ("resolver", "PowerDNS Recursor 4.8.8 (built Jan 1)", SaidVersion("powerdns-recursor", "4.8.8", "resolver")),
        ("resolver", "Knot Resolver 5.6.0", SaidVersion("knot-resolver", "5.6.0", "resolver")),
        ("resolver", "NSD 4.6.1", None),
        ("proxy", "dnsmasq-2.90", SaidVersion("dnsmasq", "2.90", "proxy")),
        ("proxy", "dnsdist 1.7.3", SaidVersion("dnsdist", "1.7.3", "proxy")),
        ("proxy", "unbound 1.17.1", SaidVersion("unbound-forwarder", "1.17.1", "proxy")),
        ("proxy", "9.18.49-1~deb12u3-Debian", SaidVersion("bind", "9.18.49", "proxy")),
        ("proxy", "PowerDNS Recursor 4.8.8 (built Jan 1)", SaidVersion("powerdns-recursor", "4.8.8", "proxy")),
    ],
)
def test_versions_as_resolvers_and_proxies_say_them(role: Role, text: str, expected: SaidVersion | None) -> None:
    assert read_version(text, role) == expected
    if expected is None:
        with pytest.raises(InputError, match=r"give the program and its number, such as 'Unbound"):
            told_version(text, role)
        return
    assert told_version(text, role) == expected
    assert expected.title.endswith(expected.version)


def test_what_resolvers_at_addresses_fail_is_known(tmp_path: Path) -> None:
    """A resolver is what it says of itself; what the user says goes before that."""
    with Saying("unbound 1.17.1") as resolver:
        address = f"127.0.0.1#{resolver.port}"
        with resolver_target(address, 53, None, tmp_path) as found:
            assert found.version == "Unbound 1.17.1"
            assert found.known.keys() == known_deviations("resolver", "unbound", "1.17.1", is_of_rig=False).keys()
            assert "F-ttl-signed" in found.known
        with resolver_target(address, 53, None, tmp_path, version=told_version("BIND 9.18.28", "resolver")) as found:
            assert found.version == "BIND 9 (named) 9.18.28" and "F-ttl-signed" not in found.known
        with proxy_target(address, Device(), tmp_path) as device:
            assert device.version == "Unbound (forwarding) 1.17.1"
    with (
        Saying("none of your business") as silent,
        resolver_target(f"127.0.0.1#{silent.port}", 53, None, tmp_path) as found,
    ):
        assert found.version is None and not found.known


class Saying:
    """Says its version to whoever asks for that, and nothing to other questions but that they were heard."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._channel.bind(("127.0.0.1", 0))
        self.port = self._channel.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "Saying":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"end", ("127.0.0.1", self.port))
        self._thread.join()
        self._channel.close()

    def _serve(self) -> None:
        while (received := self._channel.recvfrom(4096))[0] != b"end":
            query = dns.message.from_wire(received[0])
            response = dns.message.make_response(query)
            question = query.question[0]
            if question.rdclass == dns.rdataclass.CH:
                text = f'"{self._version}"'
                response.answer = [dns.rrset.from_text(question.name, 0, dns.rdataclass.CH, RdataType.TXT, text)]
            self._channel.sendto(response.to_wire(), received[1])
