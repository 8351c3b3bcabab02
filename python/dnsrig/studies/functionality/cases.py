"""What the study verifies: each server in each role that it has, with the items for that."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.items.catalogue import items
from dnsrig.servers.base import Server
from dnsrig.servers.dnsdist import Dnsdist
from dnsrig.servers.driven import DrivenServer
from dnsrig.servers.registry import driver, drivers
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.registry import resolver_driver, resolver_drivers
from dnsrig.studies.functionality.published import published_items
from dnsrig.studies.functionality.settings import FunctionalitySettings, Scope
from dnsrig.studies.interleave import interleaved
from dnsrig.studies.plan import Plan, PlannedCase
from dnsrig.verification.item import ROLES, KnownItem, Role
from dnsrig.verification.path_targets import OWN_PATHS

SECONDS = {"authoritative": 17, "resolver": 50, "proxy": 16, "path": 7}
"""About how long the items of a role take that are not slow, on a machine with two processors."""
QUICK_SECONDS = {"authoritative": 3, "resolver": 10, "proxy": 4, "path": 2}
"""The same for the published items alone."""
WAITS_S = {"authoritative": 0, "resolver": 305, "proxy": 305, "path": 0}
"""About how long the slow items of a role take, which wait most of the time: those of all cases at the same time."""


@dataclass(frozen=True, slots=True)
class Case:
    """A server in a role; or what the rig makes a path of."""

    role: Role
    target: str

    @property
    def case_id(self) -> str:
        """Name the case, and its folder."""
        return f"{self.role}-{self.target}"


def chosen_roles(settings: FunctionalitySettings) -> tuple[Role, ...]:
    """Give the roles of the settings, in the usual order."""
    return tuple(role for role in ROLES if role in settings.roles)


def cases(settings: FunctionalitySettings) -> tuple[Case, ...]:
    """Give all cases, role by role."""
    return tuple(
        Case(role, name)
        for role in chosen_roles(settings)
        for name in dict.fromkeys(settings.servers)
        if _has_role(name, role) and _is_there(name, role)
    )


def case_items(role: Role, scope: Scope) -> Sequence[KnownItem]:
    """Give the items that targets of a role are verified by."""
    if scope == "all":
        return items(role)
    wanted = {item_id for published in published_items() for item_id in published.items}
    return [known for known in items(role) if known.item.id in wanted and not known.item.is_slow]


def seconds(case: Case, scope: Scope) -> int:
    """Say about how long the next case has to wait for one."""
    return (SECONDS if scope == "all" else QUICK_SECONDS)[case.role]


def wait_s(case: Case, scope: Scope) -> int:
    """Say about how long a case waits beside the following ones."""
    return WAITS_S[case.role] if scope == "all" else 0


def in_order(settings: FunctionalitySettings) -> Iterator[tuple[int, Case]]:
    """Give all repetitions of the cases, those that wait longest first, so that the others run meanwhile."""
    by_wait = sorted(cases(settings), key=lambda case: -wait_s(case, settings.scope))
    return interleaved(by_wait, settings.repetitions)


def plan(settings: FunctionalitySettings) -> Plan:
    """Say what a run is made of, and about how long it takes."""
    planned = [(case.case_id, float(seconds(case, settings.scope))) for case in cases(settings)]
    return Plan(
        tuple(PlannedCase(case_id, took_s, took_s) for case_id, took_s in planned),
        settings.repetitions,
        last_wait_s(in_order(settings), settings.scope),
    )


def last_wait_s(order: Iterable[tuple[int, Case]], scope: Scope) -> float:
    """Say about how long some case still waits when the last of them has nothing else to do."""
    now_s = ends_s = 0.0
    for _, case in order:
        now_s += seconds(case, scope)
        ends_s = max(ends_s, now_s + wait_s(case, scope))
    return ends_s - now_s


def known_names(role: Role) -> tuple[str, ...]:
    """Name what the rig can verify in a role, installed or not."""
    if role == "authoritative":
        return tuple(name for name, kind in drivers().items() if kind.measured_by_default)
    return tuple(resolver_drivers(role)) if role in {"resolver", "proxy"} else OWN_PATHS


def usual_names() -> tuple[str, ...]:
    """Name everything that can be verified on this machine."""
    found = (name for role in ROLES for name in known_names(role) if _is_there(name, role))
    return tuple(dict.fromkeys(found))


def missing(roles: Iterable[Role]) -> list[tuple[Case, str]]:
    """Give what the rig knows and this machine has not, each with what to do about it."""
    return [
        (Case(role, name), _how_to_install(name, role))
        for role in roles
        for name in known_names(role)
        if not _is_there(name, role)
    ]


def require(names: Sequence[str]) -> None:
    """Raise InputError for an unknown name, EnvironmentLacksError for one that is in no role on this machine."""
    for name in dict.fromkeys(names):
        roles = [role for role in ROLES if _has_role(name, role)]
        if not roles:
            known = dict.fromkeys(known for role in ROLES for known in known_names(role))
            raise InputError(f"there is nothing named '{name}' to verify; known are {', '.join(known)}")
        if not any(_is_there(name, role) for role in roles):
            raise EnvironmentLacksError(f"{_how_to_install(name, roles[0])}, or leave it out of --server")


def title(case: Case) -> str:
    """Give the name of a case's program for readers."""
    kind = _kind(case.target, case.role)
    return f"{case.target.capitalize()} (Linux)" if kind is None else kind.title


def can_limit_udp(case: Case) -> bool:
    """Say whether the rig can set the limit of octets by UDP of a case's program."""
    kind = _kind(case.target, case.role)
    return kind is not None and issubclass(kind, Server | Resolver) and kind.can_limit_udp


def _has_role(name: str, role: Role) -> bool:
    if role == "authoritative" and name.startswith(f"{Dnsdist.name}+"):
        return driver(name) is not None
    return name in known_names(role)


def _kind(name: str, role: Role) -> type[DrivenServer] | None:
    if role == "path":
        return None
    return driver(name) if role == "authoritative" else resolver_driver(name)


def _is_there(name: str, role: Role) -> bool:
    kind = _kind(name, role)
    return kind is None or kind.find() is not None


def _how_to_install(name: str, role: Role) -> str:
    kind = _kind(name, role)
    return "" if kind is None else f"{kind.title} is not installed: {kind.how_to_install()}"
