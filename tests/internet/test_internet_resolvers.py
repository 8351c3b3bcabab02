"""Real resolvers resolve and validate a simulated Internet in a network namespace, all to the same effect."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.query
import dns.rcode
import dns.rdatatype
import pytest
from dnsrig import _core
from dnsrig.errors import InputError
from dnsrig.hosts.namespace import Namespace
from dnsrig.hosts.network import users
from dnsrig.internet import bind_keys, internet_namespace, resolver_addresses, write_files
from dnsrig.servers.ports import find_free_port
from dnsrig.servers.resolvers.registry import resolver_driver
from dnsrig.servers.resolvers.settings import ResolverSettings
from dnsrig.studies.resolving.settings import UPSTREAM_QUERIES

QUESTIONS = 60
ANSWER_S = 10.0
AGAIN = 4
SBIN = "/usr/sbin:/sbin:/usr/bin:/bin"
RESOLVERS = ("unbound", "bind", "knot-resolver", "powerdns-recursor")


@dataclass(frozen=True)
class Rig:
    profile: str
    internet: _core.Internet
    server: _core.InternetServer
    namespace: Namespace

    def questions(self) -> list[tuple[str, str]]:
        lines = self.internet.questions(QUESTIONS, 7, 0.3).splitlines()
        return [(name, rtype) for name, rtype in (line.split() for line in lines)]


@dataclass(frozen=True)
class Seen:
    """What a resolver says to a question."""

    rcode: str
    is_secure: bool
    answer: frozenset[str]


@pytest.fixture(
    scope="module",
    params=[("small", False), ("small", True), ("internet-2022", True)],
    ids=["at-once", "with-distances", "internet-2022"],
)
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    if why := users.why_no_namespaces():
        pytest.skip(why)
    if shutil.which("ip") is None:
        pytest.skip("needs ip: install the Debian package iproute2")
    profile, distances = request.param
    internet = _core.Internet(profile, seed=1, signed_at_s=int(time.time()), distances=distances)
    prefixes = internet.summary()["prefixes"]
    with internet_namespace(prefixes) as namespace:
        start = partial(_core.InternetServer, internet, port=53, threads=1)
        server = namespace.call(start, discard=_core.InternetServer.stop)
        try:
            yield Rig(profile, internet, server, namespace)
        finally:
            server.stop()


def ask(rig: Rig, kind: str, address: tuple[str, int], name: str, rtype: str) -> Seen:
    query = dns.message.make_query(name, rtype, want_dnssec=True)

    def send() -> dns.message.Message:
        return dns.query.udp_with_fallback(query, address[0], port=address[1], timeout=ANSWER_S)[0]

    try:
        response = rig.namespace.call(send)
    except dns.exception.Timeout:
        if kind != "unbound":
            raise
        # It gives no answer that took it more than 1.9 s (discard-timeout): stub resolvers ask again.
        response = rig.namespace.call(send)
    data = (rrset for rrset in response.answer if rrset.rdtype != dns.rdatatype.RRSIG)
    records = frozenset(
        f"{rrset.name} {dns.rdatatype.to_text(rrset.rdtype)} {rdata}" for rrset in data for rdata in rrset
    )
    is_secure = bool(response.flags & dns.flags.AD)
    return Seen(dns.rcode.to_text(response.rcode()), is_secure, records)


def all_seen(rig: Rig, name: str, folder: Path, questions: list[tuple[str, str]]) -> dict[tuple[str, str], Seen]:
    kind = resolver_driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    address = resolver_addresses(rig.internet.summary()["prefixes"])[0]
    settings = ResolverSettings(
        addresses=(address,),
        port=5353,
        root_hints=rig.internet.root_hints,
        trust_anchors=rig.internet.trust_anchor,
        upstream_queries=UPSTREAM_QUERIES,
        deadline_s=60.0,
    )
    with kind(settings, folder, rig.namespace):
        return {question: ask(rig, name, (address, 5353), *question) for question in questions}


@pytest.fixture(scope="module")
def reference(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], dict[tuple[str, str], Seen]]:
    """What Unbound says."""
    known: dict[tuple[str, str], Seen] = {}

    def seen() -> dict[tuple[str, str], Seen]:
        if not known:
            known.update(all_seen(rig, "unbound", tmp_path_factory.mktemp("unbound"), rig.questions()))
        return known

    return seen


@pytest.mark.parametrize("name", RESOLVERS)
def test_all_names_resolve_and_the_signed_ones_are_secure(
    rig: Rig, name: str, tmp_path: Path, reference: Callable[[], dict[tuple[str, str], Seen]]
) -> None:
    seen = reference() if name == "unbound" else all_seen(rig, name, tmp_path, rig.questions())
    failed = {question: answer for question, answer in seen.items() if answer.rcode not in {"NOERROR", "NXDOMAIN"}}
    assert not failed
    secure = sum(answer.is_secure for answer in seen.values())
    # As many as are signed: of the domains of 2022 few, which all validators find (`differing`).
    assert (QUESTIONS // 5 if rig.profile == "small" else 2) <= secure < QUESTIONS
    assert {answer.rcode for answer in seen.values()} == {"NOERROR", "NXDOMAIN"}
    differing = {
        question: (answer, reference()[question])
        for question, answer in seen.items()
        if answer != reference()[question]
    }
    assert not differing


@pytest.mark.parametrize("name", RESOLVERS)
def test_what_a_resolver_counts_is_what_it_was_asked(rig: Rig, name: str, tmp_path: Path) -> None:
    kind = resolver_driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    address = resolver_addresses(rig.internet.summary()["prefixes"])[0]
    settings = ResolverSettings(
        addresses=(address,),
        port=5353,
        root_hints=rig.internet.root_hints,
        trust_anchors=rig.internet.trust_anchor,
        deadline_s=60.0,
        cache_octets=16 << 20,
        prefetch=False,
        statistics=True,
    )
    questions = [("com.", "SOA"), ("com.", "NS"), ("se.", "SOA")]
    with kind(settings, tmp_path, rig.namespace) as resolver:
        before = resolver.counts()
        for question in questions * AGAIN:
            ask(rig, name, (address, 5353), *question)
        after, in_load = resolver.counts(), resolver.counts_in_load()
        resolver.flush_cache()
        flushed = resolver.counts()
        for question in questions:
            ask(rig, name, (address, 5353), *question)
        asked_anew = resolver.counts()
    assert asked_anew.queries - flushed.queries == len(questions)
    assert asked_anew.hit_share_since(flushed) == 0
    # The driver's own question, by which it saw that the resolver answers, may be counted after it was answered.
    assert after.queries - before.queries - len(questions) * AGAIN in {0, 1}
    assert after.hit_share_since(before) == pytest.approx(1 - 1 / AGAIN, abs=0.1)
    assert after.cache_entries is not None
    assert before.cache_entries is not None
    assert after.cache_entries > before.cache_entries
    assert after.cache_octets is not None
    assert before.cache_octets is not None
    assert after.cache_octets > before.cache_octets
    assert in_load.queries == after.queries


def test_a_resolver_that_keeps_no_statistics_says_so(tmp_path: Path) -> None:
    settings = ResolverSettings(root_hints=". 1 NS a.\na. 1 A 192.0.2.1\n")
    with pytest.raises(InputError, match="not told to keep statistics"):
        resolver_driver("unbound")(settings, tmp_path).counts()
    with pytest.raises(InputError, match="not told to take commands"):
        resolver_driver("unbound")(settings, tmp_path).flush_cache()


def test_a_wrong_trust_anchor_makes_all_bogus(rig: Rig, tmp_path: Path) -> None:
    other = _core.Internet("small", seed=2, signed_at_s=int(time.time())).trust_anchor
    kind = resolver_driver("unbound")
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    address = resolver_addresses(rig.internet.summary()["prefixes"])[0]
    settings = ResolverSettings(
        addresses=(address,), port=5353, root_hints=rig.internet.root_hints, trust_anchors=other, ready="responds"
    )
    with kind(settings, tmp_path, rig.namespace):
        seen = ask(rig, "unbound", (address, 5353), *rig.questions()[0])
    assert seen.rcode == "SERVFAIL"


def test_delv_validates(rig: Rig, tmp_path: Path) -> None:
    if shutil.which("delv") is None:
        pytest.skip("needs delv: install the Debian package bind9-dnsutils")
    anchors = tmp_path / "bind.keys"
    anchors.write_text(bind_keys(rig.internet.trust_anchor))
    kind = resolver_driver("unbound")
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    address = resolver_addresses(rig.internet.summary()["prefixes"])[0]
    settings = ResolverSettings(
        addresses=(address,), port=5353, root_hints=rig.internet.root_hints, trust_anchors=rig.internet.trust_anchor
    )
    said = []
    with kind(settings, tmp_path / "unbound", rig.namespace):
        for name, rtype in rig.questions()[:20]:
            said.append(
                rig.namespace.run(["delv", f"@{address}", "-p", "5353", "-a", str(anchors), "+root=.", name, rtype])
            )
    assert not [text for text in said if "resolution failed" in text and "ncache" not in text]
    assert [text for text in said if "fully validated" in text]


GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "internet.md"
BIND_READY_S = 20.0


@contextmanager
def bind_by_the_guide(folder: Path, internet_port: int) -> Iterator[int]:
    """Start named with the configuration that the guide has for --loopback; give the port on which it answers."""
    if shutil.which("named", path=SBIN) is None:
        pytest.skip("needs named: install the Debian package bind9")
    text = next(block for block in GUIDE.read_text().split("```") if "listen-on port 5353" in block and "zone" in block)
    port = find_free_port("127.0.0.1")
    config = folder / "named.conf"
    config.write_text(text.replace("port 5300;", f"port {internet_port};").replace("port 5353 {", f"port {port} {{"))
    log = folder / "named.log"
    with (
        log.open("w") as said,
        subprocess.Popen(
            ["named", "-4", "-g", "-c", config.name],
            cwd=folder,
            stdout=said,
            stderr=said,
            env=os.environ | {"PATH": SBIN},
        ) as process,
    ):
        try:
            deadline = time.monotonic() + BIND_READY_S
            while not any(line.endswith(" running") for line in log.read_text().splitlines()):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.05)
            yield port
        finally:
            process.terminate()


def test_bind_resolves_without_namespaces_as_the_guide_says(tmp_path: Path) -> None:
    internet = _core.Internet("small", seed=1, signed_at_s=int(time.time()), distances=False, loopback=True)
    write_files(internet, tmp_path / "inet")
    server = _core.InternetServer(internet, port=0, threads=1, loopback=True)
    try:
        with bind_by_the_guide(tmp_path, server.port) as port:
            flags = []
            for line in internet.questions(20, 7, 0.3).splitlines():
                query = dns.message.make_query(*line.split(), want_dnssec=True)
                response = dns.query.udp_with_fallback(query, "127.0.0.1", port=port, timeout=ANSWER_S)[0]
                assert response.rcode() in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}, line
                flags.append(bool(response.flags & dns.flags.AD))
    finally:
        server.stop()
    assert 20 // 5 < sum(flags) < 20
