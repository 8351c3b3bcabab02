"""What a TARGET on the command line means: a server of the rig by its name, or one at an address."""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import dns.exception
import dns.name
import dns.tsig
import dns.zonefile
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DS import DS

from dnsrig import _core
from dnsrig.errors import DnsrigError, InputError
from dnsrig.given_files import read_given_text, said_of_text
from dnsrig.servers.base import ServedZone, Server
from dnsrig.servers.interruption import raise_interruption
from dnsrig.servers.registry import OTHER_NAMES, driver, drivers
from dnsrig.servers.settings import ServerSettings, TransferKey
from dnsrig.verification.addresses import endpoint_of, has_address, is_near, others_of
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import KnownFailures, known_deviations, why_known
from dnsrig.verification.discovery import NOTHING_TOLD, ToldNames, discover
from dnsrig.verification.doubts import doubts_of
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.given_names import name_of
from dnsrig.verification.habits import Habits
from dnsrig.verification.included_files import check_zone_file
from dnsrig.verification.item import KnownItem
from dnsrig.verification.landmarks import SEED, Landmarks, find_landmarks
from dnsrig.verification.lateness import Lateness
from dnsrig.verification.queries import Query
from dnsrig.verification.reach import other_role, reach
from dnsrig.verification.runner import Check, Result, trust
from dnsrig.verification.said_version import SaidVersion, said_version
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.tsig_keys import key_of_settings
from dnsrig.verification.verdicts import Outcome, Verdict
from dnsrig.verification.verification import ORDER
from dnsrig.verification.zone_reading import INCLUDED_FROM, read_zone
from dnsrig.verification.zones.making import RigZone, make_zones
from dnsrig.wording import did_you_mean

ONLY_ITSELF = "The only server that --ns names is the target itself: there is nothing to compare it with."


@dataclass(frozen=True, slots=True)
class AuthoritativeTarget:
    """A target that can be asked: its version where that is known, and a subject for each of its zones."""

    version: str | None
    subjects: Sequence[AuthoritativeSubject]
    known: KnownFailures = field(default_factory=dict)
    """What this version is known to fail; see `Verification`."""
    limit_s: float | None = None
    """How long its items may take in all, in seconds; None: as long as they do."""
    lateness: Lateness = field(default_factory=Lateness)
    """When the rig's servers were late; see `Target`."""
    check_survived: Check = trust
    """See that what the rig started has not ended by itself; see `Target`."""
    seems_other: str = ""
    """That what answers looks like a server of another role, as a sentence; "" if it does not."""

    @property
    def zones(self) -> Sequence[str]:
        """The names of its zones."""
        return [subject.origin.to_text() for subject in self.subjects]

    @property
    def endpoint(self) -> Endpoint:
        """What is asked."""
        return self.subjects[0].asker.server


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
    names: ToldNames = NOTHING_TOLD
    """What is in it, where a server at an address does not show that."""
    tsig: dns.tsig.Key | None = field(default=None, repr=False)
    """Signs queries for zone transfers from a server at an address."""
    version: SaidVersion | None = None
    """What a server at an address is; None: as it says."""
    seed: int = SEED
    """By which is drawn what of a large zone is looked at."""


def is_of_rig(target: str) -> bool:
    """Say whether a target is the name of a server that the rig starts."""
    return target in drivers() or target.startswith("dnsdist+")


@contextmanager
def authoritative_target(
    target: str, port: int, told: Told, folder: Path, udp_limit: int | None = None, *, has_secondary: bool = True
) -> Iterator[AuthoritativeTarget]:
    """Start the server that `target` names in `folder`, or find the one at an address or of a host name.

    One that is started has `udp_limit` as its limit of octets by UDP; None leaves it as it ships. Where it can be told,
    it gives zone transfers to who has a key, as the items do. With `has_secondary` there is a second one of its kind,
    which the items compare with it, unless the user names others.

    Raises:
        InputError: no such server, address or host; no zone for an address; a file that cannot be read.
        SubjectFailedError: nobody answers at the address; or, at the end, what was started has ended by itself.

    """
    if not is_of_rig(target):
        yield _at_address(target, port, told)
        return
    peers = _peers(told, port, None)
    zones = _zones(told, folder)
    served = [ServedZone(one.name, one.path) for one in zones]
    kind = driver(target)
    settings = settings_of(kind, udp_limit)
    with ExitStack() as running:
        server = running.enter_context(kind(served, settings, folder / "server"))
        second, why_alone = None, ""
        if has_secondary and not peers:
            try:
                second = running.enter_context(secondary_of(server, folder / "secondary"))
                peers = (Asker(Endpoint(*second.address), habits=Habits()),)
            except DnsrigError as error:
                # A zone that is refused there is no reason to verify nothing.
                why_alone = f"There is one server, as a second one of its kind did not start: {_first_line(error)}"
        asker, key = Asker(Endpoint(*server.address)), key_of_settings(settings)
        subjects = [
            AuthoritativeSubject(
                asker, one.landmarks, peers, given_ds=one.ds or None, tsig=key, is_primary=settings.primary is None
            )
            for one in zones
        ]
        for subject in subjects:
            subject.no_peers = why_alone or subject.no_peers
        known = known_deviations("authoritative", server.name, server.version)

        def check_survived() -> None:
            server.check_survived()
            if second is not None:
                second.check_survived()

        title = f"{server.title} {server.version}"
        yield AuthoritativeTarget(title, subjects, known, check_survived=check_survived)
        # To items, one that crashed is one that does not answer any more, which may have many reasons.
        check_survived()


def settings_of(kind: type[Server], udp_limit: int | None = None) -> ServerSettings:
    """Give the settings with which a kind of server is verified: it transfers zones by a new key, if it can be told."""
    key = TransferKey.new() if kind.transfers_by_key else None
    return ServerSettings(udp_limit=udp_limit, transfer_key=key)


def secondary_of(server: Server, folder: Path) -> Server:
    """Make a second server like one that runs: it takes the zones from that one, if it can, or reads the same files."""
    primary = server.address if server.takes_transfers else None
    return type(server)(server.zones, replace(server.settings, primary=primary), folder)


def _first_line(error: DnsrigError) -> str:
    return f"{str(error).splitlines()[0].rstrip('.:')}."


def _at_address(target: str, port: int, told: Told) -> AuthoritativeTarget:
    if told.zone is None:
        raise InputError(_zone_is_missing(target))
    origin = name_of(told.zone)
    for name in told.names.names:
        if not name.is_subdomain(origin) or name == origin:
            raise InputError(f"{name} is no name below {origin}: give names of the zone whole, with the zone's name")
    endpoint = endpoint_of(target, port, drivers(), OTHER_NAMES)
    peers = _peers(told, port, endpoint)
    asker = Asker(endpoint, habits=Habits())
    of_file = None if told.zone_file is None else landmarks_of_file(told.zone_file, origin, told)
    given_ds = None if told.ds_file is None else ds_of_file(told.ds_file, origin)
    simplest = Query(name=origin, rtype=RdataType.SOA, payload=None)
    # Before anything else: what is not there would be waited for again with each question.
    first, limit_s = reach(asker, simplest, target, f"is a server there, and does it serve {origin}?")
    landmarks = discover(asker, origin, told.names, told.seed) if of_file is None else of_file
    subject = AuthoritativeSubject(
        asker, landmarks, peers, given_ds=given_ds, tsig=told.tsig, may_resolve_for_us=is_near(endpoint)
    )
    if of_file is None:
        # A transfer shows what asking did not find; what was found does not rest on it.
        landmarks.filled_from(subject.known_data)
    if told.tsig is not None and subject.transfer.refuses_key:
        why = subject.transfer.refusal.rstrip(".")
        raise InputError(
            f"--tsig, --tsig-file: {why} ({told.tsig.name} at {target}); give one that it knows, or leave it out to go "
            "on without"
        )
    if told.servers and not peers:
        subject.no_peers = ONLY_ITSELF
    seems_other = other_role(first, "authoritative")
    version = told.version or said_version(asker)
    if version is None:
        return AuthoritativeTarget(None, [subject], limit_s=limit_s, seems_other=seems_other)
    return AuthoritativeTarget(version.title, [subject], version.known, limit_s, seems_other=seems_other)


def _peers(told: Told, port: int, target: Endpoint | None) -> tuple[Asker, ...]:
    return tuple(Asker(one, habits=Habits()) for one in others_of(told.servers, port, target))


def _zones(told: Told, folder: Path) -> Sequence[RigZone]:
    """Give the zones that a server of the rig is to serve: the user's, or those made for it."""
    if told.zone_file is None:
        for option, value in (("--zone", told.zone), ("--ds", told.ds_file)):
            if value is not None:
                raise InputError(
                    f"{option} {value}: a server that the rig starts needs --zone-file with the zone's data"
                )
        zones = list(make_zones(folder).values())
        for one in zones:
            one.landmarks.seed = told.seed
        return zones
    check_zone_file("--zone-file", told.zone_file)
    origin = name_of(_core.zone_apex(told.zone_file) if told.zone is None else told.zone)
    ds = () if told.ds_file is None else ds_of_file(told.ds_file, origin)
    landmarks = _landmarks_in(told.zone_file, origin, told)
    return [RigZone(origin=origin, path=told.zone_file, ds=ds, landmarks=landmarks)]


def ds_of_file(path: Path, origin: dns.name.Name) -> tuple[DS, ...]:
    """Read the DS records of a zone from a file, such as dnssec-signzone's dsset- file.

    Raises:
        InputError: it cannot be read, or has none for the zone.

    """
    wanted = f"give the DS records of {origin}, as dnssec-signzone's dsset- file has them"
    text = read_given_text("--ds", path, wanted)
    try:
        rrsets = dns.zonefile.read_rrsets(text, origin=origin, relativize=False, rdclass=None, default_ttl=0)
    except (dns.exception.DNSException, ValueError) as error:
        raise_interruption(error)
        raise InputError(f"--ds {path}: {said_of_text(error)}; {wanted}") from error
    found = tuple(record for rrset in rrsets if rrset.name == origin for record in rrset if isinstance(record, DS))
    if not found:
        raise InputError(f"--ds {path}: no DS records for {origin} are in it; {wanted}")
    return found


def landmarks_of_file(path: Path, origin: dns.name.Name, told: Told) -> Landmarks:
    """Find landmarks in a zone file; delegations that the user names are among those that are asked for.

    Raises:
        InputError: it cannot be read, or has not the delegations.

    """
    check_zone_file("--zone-file", path)
    return _landmarks_in(path, origin, told)


def _landmarks_in(path: Path, origin: dns.name.Name, told: Told) -> Landmarks:
    """Find landmarks in a zone file that may be read."""
    wanted = f"give the data of {origin} as a zone file (RFC 1035 section 5)"
    try:
        zone = read_zone(path, origin)
    except UnicodeDecodeError as error:
        raise InputError(f"--zone-file {path}: it is no text; {wanted}") from error
    except OSError as error:
        is_below = isinstance(error, FileNotFoundError) and Path(error.filename).is_relative_to(path.parent)
        hint = f"{INCLUDED_FROM}; " if is_below else ""
        raise InputError(f"--zone-file {path}: {error.filename}: {error.strerror}; {hint}{wanted}") from error
    except (dns.exception.DNSException, ValueError) as error:
        raise_interruption(error)
        raise InputError(f"--zone-file {path}: it is no zone file: {said_of_text(error)}; {wanted}") from error
    if zone.get_rdataset(origin, RdataType.SOA) is None:
        raise InputError(f"--zone-file {path}: no SOA record of {origin} is in it; {wanted}")
    rrsets = ((name, rdataset.rdtype, rdataset) for name, node in zone.nodes.items() for rdataset in node.rdatasets)
    found = find_landmarks(
        origin, rrsets, told_cuts=told.names.delegations, seed=told.seed, doubts=doubts_of(zone, path)
    )
    for cut in told.names.delegations:
        if cut not in found.cuts:
            raise InputError(f"--delegation {cut}: {path} has no such delegation; name one of it, or leave it out")
    return found


def merged(
    items: Sequence[KnownItem], by_zone: Sequence[Sequence[Result]], zones: Sequence[str], known: KnownFailures
) -> list[Result]:
    """Make one result of those of several zones: the worst, with the zone that shows it.

    Where it is applicable to none of them, each is named with its reason.
    A failure that is `known` is better than others.
    """
    if len(by_zone) == 1:
        return list(by_zone[0])
    found = []
    for index in range(len(items)):
        results = [results[index] for results in by_zone]
        outcomes = [result.outcome for result in results]
        item_id = results[0].item.id
        ranks = [
            (ORDER.index(one.verdict), why_known(known, item_id, one.reason) is not None, place)
            for place, one in enumerate(outcomes)
        ]
        worst = min(ranks)[-1]
        outcome = results[worst].outcome
        elapsed_s = sum(result.elapsed_s for result in results)
        is_of_none = outcome.verdict == Verdict.NOT_APPLICABLE
        reason = _of_all(zones, outcomes) if is_of_none else f"Zone {zones[worst]}: {outcome.reason}"
        told = replace(outcome, reason=reason)
        found.append(Result(results[worst].item, told, elapsed_s))
    return found


def _of_all(zones: Sequence[str], outcomes: Sequence[Outcome]) -> str:
    """Give the reasons of all zones, each once with the zones whose it is, which are not named in it again."""
    found: dict[str, list[str]] = {}
    for zone, outcome in zip(zones, outcomes, strict=True):
        found.setdefault(_without_name(outcome.reason, zone), []).append(zone)
    if len(found) == 1:
        return f"All zones: {next(iter(found))}"
    return " ".join(f"{'Zone' if len(of) == 1 else 'Zones'} {', '.join(of)}: {reason}" for reason, of in found.items())


def _zone_is_missing(target: str) -> str:
    missing = f"--zone is missing: which zone does the server at {target} serve?"
    if has_address(target):
        return missing
    hint = did_you_mean(target, drivers(), OTHER_NAMES)
    otherwise = f"{hint} If" if hint else "if"
    return f"'{target}' is no server of the rig ({', '.join(drivers())}); {otherwise} it is a host name: {missing}"


def _without_name(reason: str, zone: str) -> str:
    """Give a reason that calls the zone of this name nothing but the zone."""

    def named(found: re.Match[str]) -> str:
        # The name's last dot is also that of the sentence.
        return found[1] + ("." if found.end() == len(reason) else "")

    return re.sub(rf"\b([Tt]he zone) {re.escape(zone)}(?=$|[\s.,;:)])", named, reason)
