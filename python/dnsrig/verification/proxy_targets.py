"""What a TARGET of `dnsrig verify proxy` means: a proxy that the rig starts, or a device at an address."""

import json
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dnsrig.errors import EnvironmentLacksError, SubjectFailedError
from dnsrig.hosts.network.topologies import INNER, OUTER, path_network
from dnsrig.servers.resolvers.registry import OTHER_NAMES, resolver_driver, resolver_drivers
from dnsrig.servers.resolvers.settings import Forwarder, ResolverSettings
from dnsrig.verification.addresses import endpoint_of
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import KnownFailures, known_deviations
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.lateness import Lateness
from dnsrig.verification.reach import limit_of
from dnsrig.verification.runner import Check, trust
from dnsrig.verification.said_version import SaidVersion, said_version
from dnsrig.verification.subjects.proxy import NO_OUTER, ProxySubject
from dnsrig.verification.upstream.server import Upstream

PORT = 53
OUTER_WAITS_S = (0.5, 0.5)
"""How long each try at the outer address waits: there, silence is right."""
IP_WAIT_S = 10.0
"""How long the program ip may take."""


@dataclass(frozen=True, slots=True)
class ProxyTarget:
    """A proxy that can be asked: its version where that is known, and the subject."""

    version: str | None
    subject: ProxySubject
    known: KnownFailures = field(default_factory=dict)
    """What this version is known to fail; see `Verification`."""
    limit_s: float | None = None
    """How long its items may take in all, in seconds; None: as long as they do."""
    lateness: Lateness = field(default_factory=Lateness)
    """When the rig's servers were late; see `Target`."""
    check_survived: Check = trust
    """See that what the rig started has not ended by itself; see `Target`."""
    zones: tuple[str, ...] = ()
    """None: it has no zones of its own."""

    @property
    def subjects(self) -> Sequence[ProxySubject]:
        """The one subject."""
        return (self.subject,)

    @property
    def endpoint(self) -> Endpoint:
        """What is asked."""
        return self.subject.asker.server

    def without(self) -> "ProxyTarget":
        """Give what it forwards to, without it.

        Raises:
            ValueError: the upstream is not the rig's.

        """
        return ProxyTarget(None, self.subject.without(), lateness=self.lateness)


@dataclass(frozen=True, slots=True)
class Device:
    """What the user says of a proxy that the rig does not start."""

    port: int = PORT
    upstream: Endpoint | None = None
    """An address of this machine, to which the proxy forwards: the rig answers there."""
    outer: Sequence[str] = ()
    """The proxy's addresses towards its upstream."""
    version: SaidVersion | None = None
    """What it is; None: as it says."""


@contextmanager
def proxy_target(target: str, device: Device, folder: Path, udp_limit: int | None = None) -> Iterator[ProxyTarget]:
    """Start the proxy that `target` names in `folder`, or find the one at an address or of a host name.

    A proxy that the rig starts stands between two links, in network namespaces: a client on the one, on the other the
    rig's upstream. It has `udp_limit` as its limit of octets by UDP, or is as it ships. One at an address forwards to
    `device.upstream`, or to who knows what.

    Raises:
        InputError: no such proxy, address or host.
        EnvironmentLacksError: namespaces cannot be made, the proxy is not installed, or the upstream's address cannot
            be taken.
        SubjectFailedError: it does not answer; or, at the end, it has ended by itself.

    """
    if target in resolver_drivers("proxy"):
        with _started(target, folder, udp_limit) as found:
            yield found
        return
    asker = Asker(endpoint_of(target, device.port, resolver_drivers("proxy"), OTHER_NAMES))
    # What cannot be tried of what was given is said, not left out.
    lacks_wan = next(filter(None, (_why_no_wan(asker.server, outer) for outer in device.outer or (None,))), "")
    wan = () if lacks_wan else [Asker(Endpoint(outer, PORT), udp_waits_s=OUTER_WAITS_S) for outer in device.outer]
    if device.upstream is None:
        yield _answering(target, ProxySubject(asker, None, wan, lacks_wan=lacks_wan), device.version)
        return
    with _upstream(device.upstream) as upstream:
        subject = ProxySubject(asker, upstream, wan, direct=Asker(upstream.endpoint), lacks_wan=lacks_wan)
        yield _answering(target, subject, device.version)


@contextmanager
def _started(name: str, folder: Path, udp_limit: int | None) -> Iterator[ProxyTarget]:
    with (
        path_network("host") as network,
        Upstream(network.server_addresses.ipv4, PORT, network.server.make_socket) as up,
    ):
        settings = ResolverSettings(
            addresses=(INNER.ipv4,), port=PORT, forwarders=(Forwarder(up.address, PORT),), udp_limit=udp_limit
        )
        with resolver_driver(name)(settings, folder / "server", network.middle) as server:
            asker = Asker(Endpoint(INNER.ipv4, PORT), network.client.make_socket)
            outer = (OUTER.ipv4, OUTER.ipv6) if network.middle.has_ipv6 else (OUTER.ipv4,)
            wan = [Asker(Endpoint(address, PORT), network.server.make_socket, OUTER_WAITS_S) for address in outer]
            version = f"{server.title} {server.version}"
            known = known_deviations("proxy", server.name, server.version)
            direct = Asker(up.endpoint, network.server.make_socket)
            subject = ProxySubject(asker, up, wan, version, direct)
            yield ProxyTarget(version, subject, known, None, up.lateness, server.check_survived)
            server.check_survived()


def _why_no_wan(inner: Endpoint, outer: str | None) -> str:
    """Say why the outer address cannot be asked from the outer side; "" where it can."""
    if outer is None:
        return NO_OUTER
    from_inner, from_outer = _source_towards(inner.address), _source_towards(outer)
    if from_outer is None:
        return f"The outer address {outer} cannot be reached from this machine."
    advice = "run dnsrig where it has an address on the outer link"
    if from_outer == from_inner:
        reason = f"This machine asks {outer} from {from_outer}, as it does the inner side, which is to be answered"
        return f"{reason}; {advice}."
    # Sources of two families, or of one link with several addresses, differ also on the same side.
    link = _link_towards(outer)
    if not link:
        return f"Which link leads to {outer} cannot be told: `ip route get` does not say it (Debian package iproute2)."
    if link == _link_towards(inner.address):
        return f"This machine asks {outer} over {link}, as it does the inner side, which is to be answered; {advice}."
    return ""


def _link_towards(address: str) -> str:
    """Give the name of the link over which packets to an address leave this machine; "" if that cannot be told."""
    unscoped, _, zone = address.partition("%")
    if zone:
        return zone
    command = ["ip", "-j", "route", "get", unscoped]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=IP_WAIT_S, check=True)
        return str(json.loads(done.stdout)[0]["dev"])
    except (OSError, subprocess.SubprocessError, ValueError, LookupError):
        return ""


def _source_towards(address: str) -> str | None:
    """Give the address of this machine that packets to another have; None if there is no route. Nothing is sent."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as channel:
            channel.connect((address, PORT))
            return str(channel.getsockname()[0])
    except OSError:
        return None


@contextmanager
def _upstream(endpoint: Endpoint) -> Iterator[Upstream]:
    with ExitStack() as stack:
        try:
            upstream = stack.enter_context(Upstream(endpoint.address, endpoint.port))
        except OSError as error:
            reason = f"--upstream {endpoint.address}: port {endpoint.port} cannot be taken: {error.strerror}"
            advice = "name an address of this machine, and run dnsrig as root for a port below 1024"
            raise EnvironmentLacksError(f"{reason}; {advice}") from error
        yield upstream


def _answering(target: str, subject: ProxySubject, version: SaidVersion | None) -> ProxyTarget:
    try:
        limit_s = limit_of(subject.ask_simplest, target, "is a proxy there, and does its upstream answer?")
    except SubjectFailedError as error:
        raise SubjectFailedError(f"{error}{_upstreams_side(subject.upstream)}") from error
    lateness = Lateness() if subject.upstream is None else subject.upstream.lateness
    said = version or said_version(subject.asker, "proxy")
    if said is None:
        return ProxyTarget(None, subject, limit_s=limit_s, lateness=lateness)
    return ProxyTarget(said.title, subject, said.known, limit_s, lateness)


def _upstreams_side(upstream: Upstream | None) -> str:
    """Say what came to the rig's upstream of a proxy that does not answer."""
    if upstream is None:
        return ""
    if not upstream.everything():
        return f" Nothing has come to the rig at {upstream.endpoint}: let the proxy forward to there"
    return f" Its queries come to the rig at {upstream.endpoint}, and are answered: may the responses come back?"
