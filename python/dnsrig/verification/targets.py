"""What a TARGET on the command line means: a server of the rig by its name, or one at an address."""

import ipaddress
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import dns.exception
import dns.name
import dns.zone

from dnsrig import _core
from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.servers.base import ServedZone
from dnsrig.servers.registry import driver, drivers
from dnsrig.servers.settings import ServerSettings
from dnsrig.verification.asker import Asker
from dnsrig.verification.discovery import discover
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.item import KnownItem
from dnsrig.verification.landmarks import Landmarks, find_landmarks
from dnsrig.verification.runner import Result
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verification import ORDER
from dnsrig.verification.zones.making import RigZone, make_zones


@dataclass(frozen=True, slots=True)
class AuthoritativeTarget:
    """A target that can be asked: its version where the rig started it, and a subject for each of its zones."""

    version: str | None
    subjects: Sequence[AuthoritativeSubject]


@contextmanager
def authoritative_target(
    target: str, port: int, zone: str | None, zone_file: Path | None, folder: Path
) -> Iterator[AuthoritativeTarget]:
    """Start the server that `target` names in `folder`, or find the one at an address or of a host name.

    Raises:
        InputError: no such server, address or host; no zone for an address; a zone file that cannot be read.

    """
    if target not in drivers() and not target.startswith("dnsdist+"):
        if zone is None:
            raise InputError(f"--zone is missing: which zone does the server at {target} serve?")
        origin = _name(zone)
        asker = Asker(Endpoint(address_of(target, port, drivers()), port))
        landmarks = discover(asker, origin) if zone_file is None else landmarks_of_file(zone_file, origin)
        subject = AuthoritativeSubject(asker, landmarks)
        if silence := subject.silence():
            raise SubjectFailedError(f"{target}: {silence}; is a server there, and does it serve {origin}?")
        yield AuthoritativeTarget(None, [subject])
        return
    zones = _zones(zone, zone_file, folder)
    served = [ServedZone(one.name, one.path) for one in zones]
    with driver(target)(served, ServerSettings(), folder / "server") as server:
        asker = Asker(Endpoint(*server.address))
        subjects = [AuthoritativeSubject(asker, one.landmarks, given_ds=one.ds or None) for one in zones]
        yield AuthoritativeTarget(f"{server.title} {server.version}", subjects)


def _zones(zone: str | None, zone_file: Path | None, folder: Path) -> Sequence[RigZone]:
    """Give the zones that a server of the rig is to serve: the user's, or those made for it."""
    if zone_file is None:
        if zone is not None:
            raise InputError(f"--zone {zone}: a server that the rig starts needs --zone-file with its data")
        return list(make_zones(folder).values())
    origin = _name(zone or _core.zone_apex(zone_file))
    return [RigZone(origin, zone_file, landmarks_of_file(zone_file, origin))]


def landmarks_of_file(path: Path, origin: dns.name.Name) -> Landmarks:
    """Find landmarks in a zone file.

    Raises:
        InputError: it cannot be read.

    """
    try:
        zone = dns.zone.from_file(str(path), origin, relativize=False, check_origin=False)
    except (OSError, dns.exception.DNSException) as error:
        raise InputError(f"{path}: {error}") from error
    rrsets = ((name, rdataset.rdtype, rdataset) for name, node in zone.nodes.items() for rdataset in node.rdatasets)
    return find_landmarks(origin, rrsets)


def merged(items: Sequence[KnownItem], by_zone: Sequence[Sequence[Result]], zones: Sequence[str]) -> list[Result]:
    """Make one result of those of several zones: the worst, with the zone that shows it."""
    if len(by_zone) == 1:
        return list(by_zone[0])
    found = []
    for index in range(len(items)):
        results = [results[index] for results in by_zone]
        worst = min(range(len(results)), key=lambda place: ORDER.index(results[place].outcome.verdict))
        outcome = results[worst].outcome
        elapsed_s = sum(result.elapsed_s for result in results)
        told = replace(outcome, reason=f"Zone {zones[worst]}: {outcome.reason}")
        found.append(Result(results[worst].item, told, elapsed_s))
    return found


def _name(text: str) -> dns.name.Name:
    try:
        return dns.name.from_text(text)
    except dns.exception.DNSException as error:
        raise InputError(f"'{text}' is no domain name: {error}") from error


def address_of(target: str, port: int, known: Iterable[str]) -> str:
    """Give the address that `target` is, or the first of the host that it names.

    Raises:
        InputError: it is neither, nor one of the names `known`.

    """
    try:
        return str(ipaddress.ip_address(target))
    except ValueError:
        pass
    try:
        return str(socket.getaddrinfo(target, port, type=socket.SOCK_DGRAM)[0][4][0])
    except OSError as error:
        raise InputError(
            f"'{target}' is no address, no server of the rig ({', '.join(known)}), and as a host name: {error.strerror}"
        ) from error
