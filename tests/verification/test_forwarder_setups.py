"""Forwarders that the rig does not start, as administrators set them up: they fail what is known of them, and no more.

Strict: an entry of deviations.toml that names such a setup and does not show any more fails.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from dnsrig.items.catalogue import items
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.bind import BindResolver
from dnsrig.servers.resolvers.dnsdist import DnsdistProxy
from dnsrig.servers.resolvers.dnsmasq import Dnsmasq
from dnsrig.servers.resolvers.powerdns_recursor import PowerDnsRecursor
from dnsrig.servers.resolvers.settings import Forwarder, ResolverSettings
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import deviating_items, deviations, known_deviations, why_known
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream.server import Upstream
from dnsrig.verification.verdicts import Verdict

FORWARDER = "As a forwarder that does not validate"
WAITS_S = (2.0, 3.0)
USUAL = [known for known in items("proxy") if not known.item.is_slow]
NOT_TRIED = {"P-wan"}
"""There is no outer side on loopback."""


class BindForwarder(BindResolver):
    """named, as those set it up who have it in front of their provider's resolver."""

    role = "proxy"

    def render(self) -> dict[str, str]:
        """Give its configuration."""
        to = "".join(f"{one.address} port {one.port}; " for one in self.settings.forwarders)
        text = f"""options {{
            directory "."; pid-file none; lock-file none; session-keyfile "session.key"; geoip-directory none;
            managed-keys-directory "."; bindkeys-file "bind.keys"; interface-interval 0;
            listen-on port {self._port} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }};
            recursion yes; dnssec-validation no; forward only; forwarders {{ {to}}};
        }};
        controls {{ }};
        """
        return {"named.conf": text}


class PowerDnsForwarder(PowerDnsRecursor):
    """pdns_recursor with all names forwarded."""

    role = "proxy"
    dnssec = "process-no-validate"

    def render(self) -> dict[str, str]:
        """Give its configuration."""
        to = ";".join(f"{one.address}:{one.port}" for one in self.settings.forwarders)
        lines = (
            *(
                "local-address=127.0.0.1",
                f"local-port={self._port}",
                f"forward-zones-recurse=.={to}",
                f"dnssec={self.dnssec}",
            ),
            *("dont-query=", "query-local-address=127.0.0.1", "security-poll-suffix=", "socket-dir=."),
            *("write-pid=no", "daemon=no", "disable-syslog=yes", "threads=1", "pdns-distributes-queries=no"),
            *("quiet=yes", "loglevel=4"),
        )
        return {"recursor.conf": "\n".join(lines) + "\n"}


class PowerDnsWithoutDnssec(PowerDnsForwarder):
    """The same without signatures."""

    dnssec = "off"


class TrustingDnsmasq(Dnsmasq):
    """dnsmasq that passes on what its upstream says of validation."""

    def render(self) -> dict[str, str]:
        """Give its configuration with that."""
        return {name: text + "proxy-dnssec\n" for name, text in super().render().items()}


class CachingDnsdist(DnsdistProxy):
    """dnsdist with a packet cache."""

    def render(self) -> dict[str, str]:
        """Give its configuration with one."""
        cache = 'getPool(""):setCache(newPacketCache(10000))\n'
        return {name: text + cache for name, text in super().render().items()}


@dataclass(frozen=True)
class Setup:
    """A kind of server, and what deviations.toml calls the ways in which it is set up."""

    kind: type[Resolver]
    names: tuple[str, ...]
    left_open: frozenset[str] = frozenset()
    """Items that tell nothing of it."""


SETUPS = (
    Setup(BindForwarder, (FORWARDER,)),
    Setup(PowerDnsForwarder, (FORWARDER, "As a forwarder with dnssec=process-no-validate")),
    # It asks its upstream without CD.
    Setup(PowerDnsWithoutDnssec, (FORWARDER, "As a forwarder with dnssec=off"), frozenset({"P-cache-cd"})),
    Setup(TrustingDnsmasq, ("With proxy-dnssec",)),
    Setup(CachingDnsdist, ("With a packet cache",)),
)


@pytest.fixture(params=SETUPS, ids=lambda one: one.kind.__name__)
def setup(request: pytest.FixtureRequest) -> Iterator[Setup]:
    found: Setup = request.param
    if found.kind.find() is None:
        pytest.skip(f"{found.kind.title} is not installed: install the Debian package {found.kind.package}")
    yield found


def test_a_setup_fails_what_is_known_of_it_and_no_more(setup: Setup, tmp_path: Path) -> None:
    with Upstream() as upstream:
        forwarder = Forwarder(upstream.endpoint.address, upstream.endpoint.port)
        with setup.kind(ResolverSettings(forwarders=(forwarder,)), tmp_path / "server") as server:
            asker = Asker(Endpoint(*server.address), udp_waits_s=WAITS_S, tcp_wait_s=5.0)
            results = run_items(USUAL, ProxySubject(asker, upstream, ()))
            version = server.version
    failed = {one.item.id: one.outcome.reason for one in results if one.outcome.verdict is Verdict.FAIL}
    left_open = {one.item.id: one.outcome.reason for one in results if one.outcome.verdict is Verdict.INCONCLUSIVE}
    known = known_deviations("proxy", setup.kind.name, version, is_of_rig=False)
    accused = {one: said for one, said in failed.items() if why_known(known, one, said) is None}
    assert not accused, accused
    of_setup = {
        one.item
        for one in deviations()
        if (one.role, one.server) == ("proxy", setup.kind.name)
        and one.setup in setup.names
        and one.applies_to(setup.kind.name, version)
        and not one.not_each_time
    }
    assert of_setup
    gone = of_setup - failed.keys()
    assert not gone, (gone, left_open)
    assert left_open.keys() <= NOT_TRIED | setup.left_open, left_open


def test_every_setup_of_a_proxy_is_tried() -> None:
    named = {(one.server, one.setup) for one in deviations() if one.role == "proxy" and one.setup}
    assert named == {(one.kind.name, name) for one in SETUPS for name in one.names}
    assert deviating_items("proxy", "bind", "9.18.0") == {}
