"""A zone that the embedded server has, behind a relay that may have a fault."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.registry import driver
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.fault import Fault
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.landmarks import Landmarks
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.zones.making import RigZone

WAITS_S = (0.3, 0.4, 0.5)


@contextmanager
def served(folder: Path, zone: RigZone, fault: Fault = NO_FAULT) -> Iterator[Relay]:
    """Serve a zone by the embedded server, behind a relay."""
    with (
        driver("embedded")([ServedZone(zone.name, zone.path)], ServerSettings(), folder / "server") as server,
        Relay(Endpoint(*server.address), fault) as relay,
    ):
        yield relay


def subject_at(relay: Relay, landmarks: Landmarks) -> AuthoritativeSubject:
    return AuthoritativeSubject(Asker(relay.endpoint, udp_waits_s=WAITS_S, tcp_wait_s=2.0), landmarks)
