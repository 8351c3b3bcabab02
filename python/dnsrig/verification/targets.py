"""What a TARGET on the command line means: a server of the rig by its name, or one at an address."""

import ipaddress
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import dns.exception
import dns.name
import dns.zone
import dns.zonefile
from dns.rdtypes.ANY.DS import DS

from dnsrig import _core
from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.servers.base import ServedZone
from dnsrig.servers.registry import driver, drivers
from dnsrig.servers.settings import ServerSettings
from dnsrig.verification.asker import Asker, Habits
from dnsrig.verification.deviations import known_deviations
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
    known: Mapping[str, str] = field(default_factory=dict)
    """What this version is known to fail; see `Verification`."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the user says of the zone."""

    zone: str | None = None
    """Its name."""
    zone_file: Path | None = None
    """Its data, which a server of the rig serves, and which show what to ask for."""
    ds_file: Path | None = None
    """DS records of the parent zone for it, as a zone file has them."""
    servers: tuple[str, ...] = ()
    """Addresses or host names of its other servers."""


@contextmanager
def authoritative_target(
    target: str, port: int, told: Told, folder: Path, udp_limit: int | None = None
) -> Iterator[AuthoritativeTarget]:
    """Start the server that `target` names in `folder`, or find the one at an address or of a host name.

    One that is started has `udp_limit` as its limit of octets by UDP; None leaves it as it ships.

    Raises:
        InputError: no such server, address or host; no zone for an address; a file that cannot be read.

    """
    peers = tuple(Asker(Endpoint(address_of(server, port, ()), port)) for server in told.servers)
    if target not in drivers() and not target.startswith("dnsdist+"):
        if told.zone is None:
            raise InputError(f"--zone is missing: which zone does the server at {target} serve?")
        origin = _name(told.zone)
        asker = Asker(Endpoint(address_of(target, port, drivers()), port), habits=Habits())
        landmarks = discover(asker, origin) if told.zone_file is None else landmarks_of_file(told.zone_file, origin)
        given_ds = None if told.ds_file is None else ds_of_file(told.ds_file, origin)
        subject = AuthoritativeSubject(asker, landmarks, peers, given_ds=given_ds)
        if silence := subject.silence():
            raise SubjectFailedError(f"{target}: {silence}; is a server there, and does it serve {origin}?")
        yield AuthoritativeTarget(None, [subject])
        return
    zones = _zones(told, folder)
    served = [ServedZone(one.name, one.path) for one in zones]
    with driver(target)(served, ServerSettings(udp_limit=udp_limit), folder / "server") as server:
        asker = Asker(Endpoint(*server.address))
        subjects = [AuthoritativeSubject(asker, one.landmarks, peers, given_ds=one.ds or None) for one in zones]
        known = known_deviations("authoritative", server.name, server.version)
        yield AuthoritativeTarget(f"{server.title} {server.version}", subjects, known)


def _zones(told: Told, folder: Path) -> Sequence[RigZone]:
    """Give the zones that a server of the rig is to serve: the user's, or those made for it."""
    if told.zone_file is None:
        for option, value in (("--zone", told.zone), ("--ds", told.ds_file)):
            if value is not None:
                raise InputError(
                    f"{option} {value}: a server that the rig starts needs --zone-file with the zone's data"
                )
        return list(make_zones(folder).values())
    origin = _name(told.zone or _core.zone_apex(told.zone_file))
    ds = () if told.ds_file is None else ds_of_file(told.ds_file, origin)
    return [RigZone(origin, told.zone_file, landmarks_of_file(told.zone_file, origin), ds)]


def ds_of_file(path: Path, origin: dns.name.Name) -> tuple[DS, ...]:
    """Read the DS records of a zone from a file, such as dnssec-signzone's dsset- file.

    Raises:
        InputError: it cannot be read, or has none for the zone.

    """
    try:
        text = path.read_text(encoding="utf-8")
        rrsets = dns.zonefile.read_rrsets(text, origin=origin, relativize=False, rdclass=None, default_ttl=0)
    except (OSError, UnicodeDecodeError, dns.exception.DNSException) as error:
        raise InputError(f"--ds {path}: {error}") from error
    found = tuple(record for rrset in rrsets if rrset.name == origin for record in rrset if isinstance(record, DS))
    if not found:
        raise InputError(f"--ds {path}: no DS records for {origin} are in it")
    return found


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
        names = ", ".join(known)
        nor = f", no server of the rig ({names})," if names else ""
        raise InputError(f"'{target}' is no address{nor} and as a host name: {error.strerror}") from error
