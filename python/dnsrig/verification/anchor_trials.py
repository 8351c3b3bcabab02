"""Trials of RFC 5011: a resolver of its own for each, whose root changes keys before its eyes."""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dns.flags
import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.hosts.network.topologies import resolver_network
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.settings import ManagedAnchors, ResolverSettings
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint, Exchange
from dnsrig.verification.lateness import Lateness
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.tree.making import Tree
from dnsrig.verification.tree.rolling_root import TTL_S, RollingRoot
from dnsrig.verification.tree.serve import TreeServer
from dnsrig.verification.verdicts import Evidence

PORT = 53
CLIENT_ADDRESS = "127.0.0.1"
PREFIX = "198.18.55"
PROBES = 3
"""So many queries for the root's keys show that the resolver has seen them."""
PROBING_S = 10.0
"""A resolver has probed by then, or does not probe."""
ASKING_S = 12.0
POLL_S = 0.3
WAITS_S = (5.0, 5.0)


@dataclass
class AnchorTrial:
    """A resolver that has just started, with a root that can be changed."""

    root: RollingRoot
    resolver: Resolver
    asker: Asker
    served: TreeServer
    hold_down_s: int
    """How long the resolver is told to wait before it trusts a new key."""
    _numbers: Iterator[int] = field(default_factory=itertools.count, repr=False)

    def ask(self) -> Exchange:
        """Ask for a name that is not in the cache."""
        name = dns.name.from_text(f"h{next(self._numbers)}.")
        return self.asker.ask(Query(name=name, rtype=RdataType.A, rd=True, do=True))

    def secure(self) -> Exchange | None:
        """Wait until names are secure; None if they do not get so."""
        deadline = time.monotonic() + ASKING_S
        while time.monotonic() < deadline:
            exchange = self.ask()
            if is_secure(exchange):
                return exchange
            pause(POLL_S)
        return None

    def never_secure(self) -> tuple[bool, Exchange]:
        """Ask for some seconds; say whether no name is secure once what is in the cache has expired, and show one."""
        pause(TTL_S + 1)
        deadline = time.monotonic() + 2 * TTL_S
        exchange = self.ask()
        while time.monotonic() < deadline and not is_secure(exchange):
            pause(POLL_S)
            exchange = self.ask()
        return not is_secure(exchange), exchange

    def let_probe(self, at_least_s: float = 0.0) -> None:
        """Wait so long, and then until the resolver has asked for the root's keys some times."""
        pause(at_least_s)
        began = len(self.served.seen)
        deadline = time.monotonic() + PROBING_S
        while time.monotonic() < deadline:
            seen = self.served.seen.below(dns.name.root, began)
            if sum(one.rtype == RdataType.DNSKEY and one.name == dns.name.root for one in seen) >= PROBES:
                return
            pause(POLL_S)

    def adopt_successor(self) -> None:
        """Publish a new key beside the others for the hold-down time and some probes."""
        self.root.publish([*self.root.anchors, self.root.successor])
        # The time begins when the resolver first sees the key.
        self.let_probe()
        self.let_probe(self.hold_down_s)

    def restart(self) -> None:
        """Stop the resolver and start it again, with an empty cache and what it has noted of its trust anchors."""
        self.resolver.stop()
        self.resolver.start()

    def states(self) -> Evidence:
        """Show what the resolver says of its trust anchors."""
        return Evidence("trust anchors as the resolver notes them", self.resolver.managed_keys())


AnchorTrials = Callable[[int, int], AbstractContextManager[AnchorTrial]]
"""Makes a trial: hold-down time in seconds, and number of trust anchors to begin with."""


def is_secure(exchange: Exchange) -> bool:
    """Say whether the response says so."""
    return exchange.rcode == dns.rcode.NOERROR and exchange.has_flag(dns.flags.AD)


def anchor_trials(kind: type[Resolver], folder: Path, lateness: Lateness | None = None) -> AnchorTrials:
    """Give what makes trials of one kind of resolver, each in a namespace and in a folder of its own below `folder`.

    When their root's servers answer late is noted in `lateness`.
    """
    numbers = itertools.count()

    @contextmanager
    def trial(hold_down_s: int, anchors: int) -> Iterator[AnchorTrial]:
        place = folder / f"trial-{next(numbers)}"
        tree = Tree(place, PREFIX, (), int(time.time()))
        root = RollingRoot(tree.addresses[0], anchors)
        settings = ResolverSettings(
            addresses=(CLIENT_ADDRESS,),
            port=PORT,
            root_hints=tree.root_hints,
            trust_anchors=root.trust_anchors,
            managed=ManagedAnchors(hold_down_s=hold_down_s, probe_s=1),
            # When it starts again, nothing may be valid.
            ready="responds",
        )
        with (
            resolver_network(tree.addresses) as network,
            TreeServer(tree, network.tree.make_socket, lateness=lateness) as served,
        ):
            served.zones_of[0] = {dns.name.root: root.zone}
            with kind(settings, place, network.resolver) as resolver:
                asker = Asker(Endpoint(CLIENT_ADDRESS, PORT), network.resolver.make_socket, WAITS_S)
                yield AnchorTrial(root, resolver, asker, served, hold_down_s)

    return trial
