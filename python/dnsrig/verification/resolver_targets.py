"""What a TARGET of `dnsrig verify resolver` means: a resolver of the rig with the rig's tree, or one at an address."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from dns.rdatatype import RdataType

from dnsrig.errors import InputError
from dnsrig.hosts.network.topologies import resolver_network
from dnsrig.monitor.counters import cpu_time_s
from dnsrig.servers.resolvers.registry import OTHER_NAMES, resolver_driver, resolver_drivers
from dnsrig.servers.resolvers.settings import ResolverSettings
from dnsrig.verification.addresses import endpoint_of
from dnsrig.verification.anchor_trials import anchor_trials
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import KnownFailures, known_deviations
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.habits import Habits
from dnsrig.verification.lateness import Lateness
from dnsrig.verification.queries import Query
from dnsrig.verification.reach import other_role, reach
from dnsrig.verification.runner import Check, trust
from dnsrig.verification.said_version import SaidVersion, said_version
from dnsrig.verification.subjects.resolver import ResolverSubject, simplest_query
from dnsrig.verification.told_tree import ToldTree, find_names
from dnsrig.verification.tree.making import Tree, make_tree
from dnsrig.verification.tree.seen import SeenQueries
from dnsrig.verification.tree.serve import TreeServer
from dnsrig.verification.tree.watching import WatchedTree

PORT = 53
WAITS_S = (8.0, 15.0)
"""How long a try waits: a resolver itself may wait for servers of the tree that do not answer."""
FIRST_WAITS_S = (2.0, 3.0, 5.0)
"""The same for the first question, which finds out whether anybody is there."""
SOURCE_NAMES = 4
"""So many fresh names are asked for to find out from where a resolver asks."""
CLIENT_ADDRESS = "127.0.0.1"
TREE_PREFIX = "198.18.54"
"""Addresses of the tree in the namespace, of the range for measurements (RFC 2544): some ask none of 127.0.0.0/8."""


@dataclass(frozen=True, slots=True)
class ResolverTarget:
    """A resolver that can be asked: its version where that is known, and the subject."""

    version: str | None
    subject: ResolverSubject
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
    zones: tuple[str, ...] = ()
    """None: what it resolves from are no zones of its own."""

    @property
    def subjects(self) -> Sequence[ResolverSubject]:
        """The one subject."""
        return (self.subject,)

    @property
    def endpoint(self) -> Endpoint:
        """What is asked."""
        return self.subject.asker.server


@contextmanager
def resolver_target(
    target: str,
    port: int,
    tree_folder: Path | None,
    folder: Path,
    told: ToldTree | None = None,
    *,
    udp_limit: int | None = None,
    version: SaidVersion | None = None,
) -> Iterator[ResolverTarget]:
    """Start the resolver that `target` names in `folder`, or find the one at an address or of a host name.

    A resolver that the rig starts resolves from the rig's tree, in a network namespace, with `udp_limit` as its limit
    of octets by UDP, or as it ships. One at an address resolves from
    the tree in `tree_folder`, which `dnsrig verify serve-tree` serves, from the tree that the user tells of, or from
    who knows what; it is what `version` says, or else what it says itself.

    Raises:
        InputError: no such resolver, address or host; no tree in the folder; a trust anchor of another tree.
        EnvironmentLacksError: namespaces cannot be made, or the resolver is not installed.
        SubjectFailedError: it does not answer; or, at the end, it has ended by itself.

    """
    if target not in resolver_drivers("resolver"):
        tree = None if tree_folder is None else _opened(tree_folder)
        endpoint = endpoint_of(target, port, resolver_drivers("resolver"), OTHER_NAMES)
        asker = Asker(endpoint, udp_waits_s=WAITS_S, habits=Habits())
        subject = ResolverSubject(asker, tree, no_trials=no_trials_at_address())
        advice = "is a resolver there, and may this host ask it?"
        first, limit_s = reach(replace(asker, udp_waits_s=FIRST_WAITS_S), simplest_query(), target, advice)
        if told is not None:
            subject.told = find_names(asker, told)
        said = version or said_version(asker, "resolver")
        title, known = (None, {}) if said is None else (said.title, said.known)
        with _watched(tree_folder) as watched:
            if watched is not None:
                subject.seen, subject.is_seen_from_start = watched.queries, False
                watched.queries.keep_to(_sources(subject, watched.queries))
            lateness = Lateness() if watched is None else watched.lateness
            yield ResolverTarget(title, subject, known, limit_s, lateness, seems_other=other_role(first, "resolver"))
        return
    tree = make_tree(folder, TREE_PREFIX)
    kind = resolver_driver(target)
    settings = ResolverSettings(
        addresses=(CLIENT_ADDRESS,),
        port=PORT,
        root_hints=tree.root_hints,
        trust_anchors=tree.trust_anchor_ds if kind.reads_ds else tree.trust_anchor_dnskey,
        udp_limit=udp_limit,
    )
    with (
        resolver_network(tree.addresses) as network,
        TreeServer(tree, network.tree.make_socket) as served,
        kind(settings, folder / "server", network.resolver) as server,
    ):
        asker = Asker(Endpoint(CLIENT_ADDRESS, PORT), network.resolver.make_socket, udp_waits_s=WAITS_S)
        title = f"{server.title} {server.version}"
        subject = ResolverSubject(asker, tree, served.seen, title, restart=server.restart)
        subject.spent_s = lambda: cpu_time_s(server.pids())
        if kind.can_manage_anchors:
            subject.trials = anchor_trials(kind, folder, served.lateness)
        else:
            subject.no_trials = (
                f"{kind.title} does not keep its trust anchors up to date (RFC 5011): there is nothing to be judged, "
                "and somebody has to change them when the root's keys do."
            )
        known = known_deviations("resolver", server.name, server.version)
        yield ResolverTarget(title, subject, known, None, served.lateness, server.check_survived)
        server.check_survived()


def no_trials_at_address() -> str:
    """Say why a resolver at an address is not judged by RFC 5011, and how to have a verdict on the same program."""
    names = [name for name, kind in resolver_drivers("resolver").items() if kind.can_manage_anchors]
    return (
        "Whether trust anchors follow the root's keys is judged in resolvers that the rig starts, from a root whose "
        "keys change and with a shorter clock: hold-down takes 30 days otherwise. For a verdict on the same program, "
        f"run dnsrig verify resolver NAME --item ID, where NAME is {', '.join(names[:-1])} or {names[-1]}."
    )


def _sources(subject: ResolverSubject, seen: SeenQueries) -> frozenset[str]:
    """Find out from which addresses the resolver asks: others may ask the same tree."""
    names = [subject.fresh_name() for _ in range(SOURCE_NAMES)]
    for name in names:
        subject.asker.ask(Query(name=name, rtype=RdataType.A, rd=True, payload=None))
    return frozenset(one.source for one in seen.since(0) if one.name in names)


@contextmanager
def _watched(folder: Path | None) -> Iterator[WatchedTree | None]:
    """Be told what the tree in a folder is asked; None where nobody serves it on this machine."""
    try:
        watched = None if folder is None else WatchedTree(folder)
    except OSError:
        watched = None
    with watched or nullcontext():
        yield watched


def _opened(folder: Path) -> Tree:
    found = sorted(folder.glob("tree-*"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise InputError(f"--tree {folder}: no tree is there; dnsrig verify serve-tree makes and serves one")
    return Tree.opened(found[-1])
