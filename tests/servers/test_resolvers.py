"""Resolvers validate a private signed tree in a namespace; proxies forward; nothing of them is left behind."""

import os
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import dns.flags
import dns.message
import dns.query
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest
from dnsrig import _core
from dnsrig.errors import EnvironmentLacksError, InputError, SubjectFailedError
from dnsrig.hosts import processes
from dnsrig.hosts.host import Host
from dnsrig.hosts.network import users
from dnsrig.hosts.network.topologies import PathNetwork, ResolverNetwork, path_network, resolver_network
from dnsrig.servers import ports
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.embedded import Embedded
from dnsrig.servers.nsd import Nsd
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.counts import KNOT_QUESTION, read_knot
from dnsrig.servers.resolvers.knot_resolver import KnotResolver
from dnsrig.servers.resolvers.registry import found_resolvers, resolver_driver, resolver_drivers
from dnsrig.servers.resolvers.settings import Forwarder, ManagedAnchors, ResolverSettings
from private_tree import DAY_S, GOOD_ADDRESS, PrivateTree, TreeMaker, serving

DEADLINE_S = 60.0
ANSWER_S = 10.0
ASKED_OF_SEVERAL = 24
OTHER_DS = ". IN DS 20326 8 2 e06d44b80b8f1d39a95c0b0d7c65d08458e880409bbc683457104237c7f8ec8d"
OTHER_DNSKEY = ". IN DNSKEY 257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4="
MANAGING = [name for name, kind in resolver_drivers("resolver").items() if kind.can_manage_anchors]


@dataclass(frozen=True)
class Rig:
    network: ResolverNetwork
    tree: PrivateTree

    def settings(self, kind: type[Resolver]) -> ResolverSettings:
        return ResolverSettings(
            port=53,
            root_hints=self.tree.root_hints,
            trust_anchors=self.tree.trust_anchors if kind.reads_ds else self.tree.trust_anchor_keys,
            unhidden=("test.",),
        )


def skip_without_namespaces() -> None:
    if why := users.why_no_namespaces():
        pytest.skip(why)
    if shutil.which("ip") is None:
        pytest.skip("needs ip: install the Debian package iproute2")


ONE_FAMILY = pytest.mark.parametrize("rig", [False], indirect=True, ids=["IPv4"])
"""For what has nothing to do with addresses."""


@pytest.fixture(scope="module", params=[False, True], ids=["IPv4", "IPv4+IPv6"])
def rig(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    skip_without_namespaces()
    folder = tmp_path_factory.mktemp("tree")
    tree = TreeMaker(folder).make(ipv6=request.param)
    # With IPv6 the tree is on a host of its own, otherwise on the resolver's loopback device.
    with resolver_network(tree.addresses, linked=request.param) as network, serving(tree, network.tree, folder):
        yield Rig(network, tree)


def installed(name: str) -> type[Resolver]:
    kind = resolver_driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: {kind.how_to_install()}")
    return kind


@pytest.fixture(params=list(resolver_drivers("resolver")))
def kind(request: pytest.FixtureRequest) -> type[Resolver]:
    return installed(request.param)


@pytest.fixture(params=list(resolver_drivers("proxy")))
def proxy(request: pytest.FixtureRequest) -> type[Resolver]:
    return installed(request.param)


def ask(
    host: Host, server: tuple[str, int], name: str, kind: str = "A", flags: int = dns.flags.RD
) -> dns.message.Message:
    """Ask as a client with DO does; by TCP when truncated."""
    query = dns.message.make_query(name, kind, want_dnssec=True, flags=flags)
    address, port = server
    return host.call(lambda: dns.query.udp_with_fallback(query, address, ANSWER_S, port)[0])


def is_secure(message: dns.message.Message) -> bool:
    return bool(message.flags & dns.flags.AD)


def addresses(message: dns.message.Message) -> list[str]:
    return [rdata.to_text() for rrset in message.answer if rrset.rdtype == dns.rdatatype.A for rdata in rrset]


def wait_until(condition: Callable[[], bool], what: Callable[[], str]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.2)


def test_resolves_and_validates(kind: type[Resolver], rig: Rig, tmp_path: Path) -> None:
    host = rig.network.resolver
    with kind(rig.settings(kind), tmp_path / "resolver", host) as resolver:
        good = ask(host, resolver.address, "www.good.test.")
        assert (addresses(good), is_secure(good)) == ([GOOD_ADDRESS], True)
        large = ask(host, resolver.address, "large.good.test.", "TXT")
        assert is_secure(large)
        assert len(large.answer) == 2
        absent = ask(host, resolver.address, "absent.good.test.")
        assert (absent.rcode(), is_secure(absent)) == (dns.rcode.NXDOMAIN, True)
        unsigned = ask(host, resolver.address, "www.unsigned.test.")
        assert (addresses(unsigned), is_secure(unsigned)) == ([GOOD_ADDRESS], False)
        for name in ("www.forged.test.", "www.expired.test."):
            bogus = ask(host, resolver.address, name)
            assert (bogus.rcode(), addresses(bogus)) == (dns.rcode.SERVFAIL, [])
            unchecked = ask(host, resolver.address, name, flags=dns.flags.RD | dns.flags.CD)
            assert unchecked.rcode() == dns.rcode.NOERROR
        resolver.check_running()


@ONE_FAMILY
def test_does_not_validate_when_told_so(kind: type[Resolver], rig: Rig, tmp_path: Path) -> None:
    host = rig.network.resolver
    settings = replace_settings(rig.settings(kind), validate=False)
    with kind(settings, tmp_path / "resolver", host) as resolver:
        for name in ("www.good.test.", "www.expired.test."):
            message = ask(host, resolver.address, name)
            assert (addresses(message), is_secure(message)) == ([GOOD_ADDRESS], False)


def replace_settings(settings: ResolverSettings, **changes: object) -> ResolverSettings:
    return replace(settings, **changes)  # type: ignore[arg-type]


@ONE_FAMILY
def test_cache_is_empty_after_a_restart(kind: type[Resolver], rig: Rig, tmp_path: Path) -> None:
    host = rig.network.resolver
    resolver = kind(replace_settings(rig.settings(kind), statistics=kind.can_count), tmp_path / "resolver", host)
    for _ in range(2):
        with resolver:
            if not kind.can_count:
                # Without RD a resolver answers from its cache at most; Knot Resolver refuses it.
                assert not addresses(ask(host, resolver.address, "www.good.test.", flags=0))
            for hits in (0, 1):
                before = resolver.counts().cache_hits if kind.can_count else 0
                assert is_secure(ask(host, resolver.address, "www.good.test."))
                assert not kind.can_count or resolver.counts().cache_hits - before == hits


def test_several_addresses(kind: type[Resolver], rig: Rig, tmp_path: Path) -> None:
    host = rig.network.resolver
    settings = replace_settings(rig.settings(kind), addresses=("::1", "127.0.0.1"), port=0)
    with kind(settings, tmp_path / "resolver", host) as resolver:
        for address in ("127.0.0.1", "::1"):
            assert is_secure(ask(host, (address, resolver.address[1]), "www.good.test."))


@ONE_FAMILY
def test_stop_leaves_nothing_and_start_again(kind: type[Resolver], rig: Rig, tmp_path: Path) -> None:
    host = rig.network.resolver
    resolver = kind(rig.settings(kind), tmp_path / "resolver", host)
    for _ in range(2):
        with resolver:
            pids = resolver.pids()
            assert pids
            assert is_secure(ask(host, resolver.address, "www.good.test."))
        assert not any(processes.is_live(pid) for pid in pids)
        assert host.call(lambda: ports.port_state(*resolver.address)) is ports.PortState.FREE


@ONE_FAMILY
def test_taken_port_is_told(kind: type[Resolver], rig: Rig, tmp_path: Path) -> None:
    host = rig.network.resolver
    with (
        kind(rig.settings(kind), tmp_path / "one", host),
        pytest.raises(EnvironmentLacksError, match=r"port 53 of 127.0.0.1 is taken"),
    ):
        kind(rig.settings(kind), tmp_path / "other", host).start()


@ONE_FAMILY
def test_wrong_anchor_is_told(kind: type[Resolver], rig: Rig, tmp_path: Path) -> None:
    host = rig.network.resolver
    settings = replace_settings(
        rig.settings(kind), trust_anchors=OTHER_DS if kind.reads_ds else OTHER_DNSKEY, deadline_s=2.0
    )
    with pytest.raises(SubjectFailedError, match=r"(?s)did not serve the zone \. within 2 s.*SERVFAIL"):
        kind(settings, tmp_path / "resolver", host).start()
    with kind(replace_settings(settings, ready="responds"), tmp_path / "resolver", host) as resolver:
        assert ask(host, resolver.address, "www.good.test.").rcode() == dns.rcode.SERVFAIL


@ONE_FAMILY
def test_death_is_noticed(kind: type[Resolver], rig: Rig, tmp_path: Path) -> None:
    with kind(rig.settings(kind), tmp_path / "resolver", rig.network.resolver) as resolver:
        resolver._running().signal(signal.SIGKILL)
        wait_until(lambda: not resolver._running().alive(), lambda: "it did not end")
        with pytest.raises(SubjectFailedError, match="ended by itself by signal 9"):
            resolver.check_running()


@ONE_FAMILY
def test_several_threads(kind: type[Resolver], rig: Rig, tmp_path: Path) -> None:
    """They answer as one does, count together, and all are gone afterwards; Knot Resolver's are processes."""
    host = rig.network.resolver
    settings = replace_settings(rig.settings(kind), threads=3, statistics=kind.can_count)
    with kind(settings, tmp_path / "resolver", host) as resolver:
        pids = resolver.pids()
        listening = host.call(lambda: ports.sockets_on("127.0.0.1", 53))
        assert listening and listening <= ports.sockets_of(pids)
        before = resolver.counts() if kind.can_count else None
        # Each from a socket of its own: those that the kernel gives to other threads find what is in the cache.
        answers = [ask(host, resolver.address, "www.good.test.") for _ in range(ASKED_OF_SEVERAL)]
        assert all(addresses(message) == [GOOD_ADDRESS] and is_secure(message) for message in answers)
        if before is not None:
            after = resolver.counts()
            # The driver's own question before may be counted after it was answered.
            assert after.queries - before.queries - ASKED_OF_SEVERAL in (0, 1)
            assert after.cache_hits - before.cache_hits >= ASKED_OF_SEVERAL // 2
    assert not any(processes.is_live(pid) for pid in pids)


@ONE_FAMILY
def test_processes_of_knot_resolver_share_work_and_a_cache(rig: Rig, tmp_path: Path) -> None:
    kind = installed("knot-resolver")
    host = rig.network.resolver
    settings = replace_settings(rig.settings(kind), threads=2, statistics=True)
    with kind(settings, tmp_path / "resolver", host) as resolver:
        assert isinstance(resolver, KnotResolver)
        first, second = resolver.pids()
        for _ in range(ASKED_OF_SEVERAL):
            assert is_secure(ask(host, resolver.address, "www.good.test."))
        listening = host.call(lambda: ports.sockets_on("127.0.0.1", 53))
        assert all(listening & ports.sockets_of([pid]) for pid in (first, second))
        full = [read_knot(said) for said in resolver._ask_all(KNOT_QUESTION)]
        assert all(counts.queries for counts in full)
        resolver.flush_cache()
        empty = [read_knot(said) for said in resolver._ask_all(KNOT_QUESTION)]
        assert [now.cache_entries < before.cache_entries / 2 for now, before in zip(empty, full, strict=True)] == [
            True
        ] * 2
        assert is_secure(ask(host, resolver.address, "www.good.test."))
        os.kill(second, signal.SIGKILL)
        wait_until(lambda: not resolver._further[0].alive(), lambda: "it did not end")
        assert resolver.pids() == [first]
        for look in (resolver.check_running, resolver.check_survived):
            with pytest.raises(SubjectFailedError, match="ended by itself by signal 9"):
                look()


@ONE_FAMILY
def test_a_process_of_knot_resolver_that_cannot_start_leaves_none(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = installed("knot-resolver")
    host = rig.network.resolver
    resolver = kind(replace_settings(rig.settings(kind), threads=3), tmp_path / "resolver", host)
    assert isinstance(resolver, KnotResolver)
    spawned = []
    spawn = host.spawn
    monkeypatch.setattr(host, "spawn", lambda *args, **more: spawned.append(spawn(*args, **more)) or spawned[-1])
    choose = resolver._choose_ports
    with host.make_socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        def choose_taken() -> None:
            choose()
            resolver._further_ports[1] = taken.getsockname()[1]

        monkeypatch.setattr(resolver, "_choose_ports", choose_taken)
        with pytest.raises(EnvironmentLacksError, match="process 3 of Knot Resolver"):
            resolver.start()
    assert len(spawned) == 3
    assert not any(process.alive() for process in spawned)
    assert not resolver.pids()
    monkeypatch.undo()
    with resolver:
        assert len(resolver.pids()) == 3


def test_tree_on_nsd(rig: Rig, tmp_path: Path) -> None:
    """Authoritative drivers run in namespaces too, and reload there."""
    if Nsd.find() is None:
        pytest.skip(f"NSD is not installed: install the Debian package {Nsd.package}")
    zone = next(zones[0] for address, zones in rig.tree.served if address == "192.0.2.2")
    with Nsd([zone], ServerSettings(port=5353), tmp_path / "nsd", rig.network.tree) as server:
        assert ask(rig.network.tree, server.address, "test.", "SOA", 0).flags & dns.flags.AA
        server.reload()
        assert ports.port_state(*server.address) is ports.PortState.FREE


class Root:
    """A root zone alone, whose keys change; its TTLs are short, so that servers probe often (RFC 5011 section 2.3)."""

    TTL_S = 2

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys = _core.KeySet()
        for role in ("ksk", "ksk", "zsk"):
            self.keys.generate(".", "ECDSAP256SHA256", None, role)
        self.keys.write(folder)
        self.tags = [key["tag"] for key in self.keys.describe() if key["role"] == "ksk"]
        self.zone = ServedZone(".", folder / "root.zone")
        self.serial = 0

    def publish(self, *ksks: int) -> None:
        """Sign with the ZSK and those key-signing keys, by their index."""
        self.serial += 1
        names = self.keys.file_names
        chosen = _core.KeySet()
        for index in (*ksks, 2):
            chosen.read(self.folder / names[index])
        plain = self.folder / "plain.zone"
        plain.write_text(
            f"$TTL {self.TTL_S}\n. SOA a.root-dns. hostmaster.invalid. {self.serial} 1800 900 604800 {self.TTL_S}\n"
            ". NS a.root-dns.\na.root-dns. A 192.0.2.1\n"
        )
        now = int(time.time())
        _core.Zone.read(plain, ".").sign(
            chosen, denial="nsec", inception=now - DAY_S, expiration=now + 30 * DAY_S
        ).write(self.zone.path)


@pytest.mark.parametrize("name", MANAGING)
def test_rolls_over_to_a_new_key(name: str, tmp_path: Path) -> None:
    """RFC 5011: a key that stays for the hold-down time is trusted, also after a restart."""
    skip_without_namespaces()
    kind = installed(name)
    root = Root(tmp_path)
    root.publish(0)
    ds = next(record for record in root.keys.ds_records if f" {root.tags[0]} " in record)
    settings = ResolverSettings(
        port=53,
        root_hints=". NS a.root-dns.\na.root-dns. A 192.0.2.1\n",
        trust_anchors=ds,
        managed=ManagedAnchors(hold_down_s=3, probe_s=1),
    )
    with (
        resolver_network(["192.0.2.1"]) as network,
        Embedded([root.zone], ServerSettings(address="192.0.2.1", port=53), tmp_path / "root", network.tree) as server,
    ):
        resolver = kind(settings, tmp_path / "resolver", network.resolver)
        with resolver:
            assert str(root.tags[0]) in resolver.managed_keys()
            root.publish(0, 1)
            server.reload()
            wait_until(lambda: trusted(resolver, root.tags[1]), resolver.managed_keys)
        with resolver:
            root.publish(1)
            server.reload()
            wait_until(lambda: root.serial == serial_seen(network.resolver, resolver), resolver.managed_keys)
            assert is_secure(ask(network.resolver, resolver.address, "absent."))


def trusted(resolver: Resolver, tag: int) -> bool:
    """Say whether a key is Valid (RFC 5011 section 4.2), as each server writes it."""
    said = resolver.managed_keys()
    if resolver.name == "bind":
        about = said.partition(f"keyid: {tag}")[2].partition("keyid:")[0]
        return "trusted since" in about
    return any(
        str(tag) in line and "valid" in line.lower() and "pending" not in line.lower() for line in said.splitlines()
    )


def serial_seen(host: Host, resolver: Resolver) -> int | None:
    message = ask(host, resolver.address, ".", "SOA")
    return message.answer[0][0].serial if message.answer and is_secure(message) else None


@ONE_FAMILY
def test_only_managed_keys_have_a_state(rig: Rig, tmp_path: Path) -> None:
    for kind in (resolver_driver(name) for name in MANAGING):
        with pytest.raises(InputError, match="does not keep its trust anchors up to date"):
            kind(rig.settings(kind), tmp_path, rig.network.resolver).managed_keys()


@dataclass(frozen=True)
class ProxyRig:
    network: PathNetwork
    tree: PrivateTree

    def settings(self, upstream: str) -> ResolverSettings:
        inner = self.network.inner_addresses
        assert inner is not None
        return ResolverSettings(
            addresses=(inner.ipv4, inner.ipv6), port=53, forwarders=(Forwarder(upstream),), unhidden=("test.",)
        )


@pytest.fixture(scope="module")
def proxy_rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProxyRig]:
    """Client, proxy's host, and a host with a validating resolver and the tree."""
    skip_without_namespaces()
    there = found_resolvers("resolver")
    if not there:
        pytest.skip("no resolver is installed to forward to: install the Debian package unbound")
    folder = tmp_path_factory.mktemp("tree")
    tree = TreeMaker(folder).make(ipv6=True)
    with ExitStack() as stack:
        network = stack.enter_context(path_network("host", tree.addresses))
        stack.enter_context(serving(tree, network.server, folder))
        settings = ResolverSettings(
            addresses=(network.server_addresses.ipv4, network.server_addresses.ipv6),
            port=53,
            root_hints=tree.root_hints,
            trust_anchors=tree.trust_anchors,
            unhidden=("test.",),
        )
        stack.enter_context(resolver_driver(next(iter(there)))(settings, folder / "upstream", network.server))
        yield ProxyRig(network, tree)


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_forwards(proxy: type[Resolver], family: str, proxy_rig: ProxyRig, tmp_path: Path) -> None:
    network = proxy_rig.network
    assert network.inner_addresses is not None
    settings = proxy_rig.settings(getattr(network.server_addresses, family))
    with proxy(settings, tmp_path / "proxy", network.middle):
        server = (getattr(network.inner_addresses, family), 53)
        assert addresses(ask(network.client, server, "www.good.test.")) == [GOOD_ADDRESS]
        large = ask(network.client, server, "large.good.test.", "TXT")
        assert [rrset.rdtype for rrset in large.answer] == [dns.rdatatype.TXT, dns.rdatatype.RRSIG]
        assert ask(network.client, server, "absent.good.test.").rcode() == dns.rcode.NXDOMAIN
        assert ask(network.client, server, "www.forged.test.").rcode() == dns.rcode.SERVFAIL


def test_a_proxy_may_validate_itself(proxy: type[Resolver], proxy_rig: ProxyRig, tmp_path: Path) -> None:
    """Behind a resolver that is asked with CD, as validating forwarders ask, it finds what is bogus on its own."""
    if not proxy.can_validate:
        pytest.skip(f"{proxy.title} does not validate")
    network = proxy_rig.network
    settings = replace_settings(
        proxy_rig.settings(network.server_addresses.ipv4), validate=True, trust_anchors=proxy_rig.tree.trust_anchors
    )
    with proxy(settings, tmp_path / "proxy", network.middle) as server:
        assert is_secure(ask(network.client, server.address, "www.good.test."))
        assert ask(network.client, server.address, "www.forged.test.").rcode() == dns.rcode.SERVFAIL


def test_runs_on_this_machine_too(proxy: type[Resolver], tmp_path: Path) -> None:
    """Without a namespace: on a free port, with an authoritative server as upstream."""
    zone = tmp_path / "root.zone"
    zone.write_text("$TTL 60\n. SOA a. b. 1 60 60 60 60\n. NS a.\na. A 192.0.2.1\nwww. A 192.0.2.80\n")
    with Embedded([ServedZone(".", zone)], ServerSettings(), tmp_path / "server") as upstream:
        settings = ResolverSettings(forwarders=(Forwarder(*upstream.address),))
        with proxy(settings, tmp_path / "proxy") as server:
            assert server.address[1] not in {0, 53}
            query = dns.message.make_query("www.", "A")
            assert dns.query.udp(query, server.address[0], ANSWER_S, server.address[1]).id == query.id
