"""Resolvers whose tree is not the rig's: the items that its trust anchor, and names that are given, allow."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dns.name
import pytest
from dns.dnssectypes import Algorithm
from dns.rdatatype import RdataType
from dnsrig.errors import InputError
from dnsrig.hosts.namespace import Namespace
from dnsrig.hosts.network import users
from dnsrig.hosts.network.topologies import resolver_network
from dnsrig.items.catalogue import items
from dnsrig.servers.resolvers.anchors import read_anchors
from dnsrig.servers.resolvers.settings import ResolverSettings
from dnsrig.servers.resolvers.unbound import UnboundResolver
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.relay import NO_FAULT, Relay
from dnsrig.verification.resolver_targets import TREE_PREFIX
from dnsrig.verification.runner import run_items
from dnsrig.verification.said_version import said_version
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.told_tree import ToldTree, find_names
from dnsrig.verification.tree.keys import new_keys
from dnsrig.verification.tree.making import Tree
from dnsrig.verification.tree.serve import TreeServer
from trees import Trees

RESOLVER = Endpoint("127.0.0.1")
RELAY = "127.0.1.1"
WAITS_S = (4.0, 4.0)
ALWAYS = {
    "F-aa",
    "F-ad-asked",
    "F-any",
    "F-cd-copied",
    "F-class",
    "F-cookie",
    "F-dnssec-types",
    "F-do",
    "F-edns-version",
    "F-flags",
    "F-garbage",
    "F-negative",
    "F-nxdomain",
    "F-opcodes",
    "F-options",
    "F-owner",
    "F-pipelining",
    "F-proofs",
    "F-qdcount",
    "F-question",
    "F-question-case",
    "F-responses",
    "F-rrsig-stripped",
    "F-secure-data",
    "F-secure-nsec",
    "F-steady",
    "F-tcp",
    "F-tcp-kept",
    "F-tcp-stalled",
    "F-two-opts",
    "F-ttl",
    "F-unknown-flags",
    "F-unknown-type",
    "F-validates",
}
"""The items that need nothing but the trust anchor of a zone with NSEC."""
WITH_NAMES = ALWAYS | {
    "F-85",
    "F-86",
    "F-87",
    "F-ad-unproven",
    "F-bogus",
    "F-bogus-plain",
    "F-cd-cache",
    "F-cd-data",
    "F-insecure-delegation",
    "F-servfail",
    "F-udp-512",
}
FAULTS = (
    "clears-cd",
    "clears-do",
    "does-not-validate",
    "ignores-ad-flag",
    "ignores-cd",
    "keeps-nsec-without-do",
    "keeps-rrsig-without-do",
    "leaks-bogus-after-cd",
    "never-sets-ad",
    "sets-ad-always",
    "sets-ad-unasked",
    "strips-asked-types",
    "strips-opt",
)
MAY_FAIL_TOO = {"leaks-bogus-after-cd": {"F-bogus", "F-bogus-plain"}}
"""The user's bogus names are few: another item may have asked for one with CD just before."""


def question(name: str, rtype: RdataType = RdataType.A) -> Question:
    return Question(dns.name.from_text(name), rtype)


@dataclass(frozen=True)
class Place:
    """A resolver with the rig's tree, of which the items know what a user would tell."""

    host: Namespace
    tree: Tree

    @property
    def told(self) -> ToldTree:
        return ToldTree(
            Path("root.ds"),
            read_anchors(self.tree.trust_anchor_ds),
            tuple(question(f"large{size}.secure.nsec.", RdataType.TXT) for size in (700, 1220, 4000)),
            (question("www.plain.nsec."),),
            (question("any.fresh.control-bogus.nsec."), question("www.expired.nsec.")),
        )

    def verdicts(self, fault_name: str, told: ToldTree) -> dict[str, str]:
        fault = NO_FAULT if fault_name == NO_FAULT.name else fault_named(fault_name)
        with Relay(RESOLVER, fault, address=RELAY, port=53, make_socket=self.host.make_socket) as relay:
            asker = Asker(relay.endpoint, self.host.make_socket, WAITS_S)
            chosen = [known for known in items("resolver") if not known.item.is_slow]
            results = run_items(chosen, ResolverSubject(asker, told=find_names(asker, told)))
        return {one.item.id: str(one.outcome.verdict) for one in results}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, trees: Trees) -> Iterator[Place]:
    if why := users.why_no_namespaces():
        pytest.skip(why)
    if shutil.which("ip") is None:
        pytest.skip("needs ip: install the Debian package iproute2")
    if UnboundResolver.find() is None:
        pytest.skip(f"Unbound is not installed: install the Debian package {UnboundResolver.package}")
    tree = trees.copy_to(tmp_path_factory.mktemp("tree"), TREE_PREFIX)
    settings = ResolverSettings(port=53, root_hints=tree.root_hints, trust_anchors=tree.trust_anchor_ds)
    with (
        resolver_network(tree.addresses) as network,
        TreeServer(tree, network.tree.make_socket),
        UnboundResolver(settings, tmp_path_factory.mktemp("unbound"), network.resolver),
    ):
        yield Place(network.resolver, tree)


def test_unbound_says_its_version(place: Place) -> None:
    said = said_version(Asker(RESOLVER, place.host.make_socket), "resolver")
    assert said is not None and said.server == "unbound" and said.version.startswith("1.")


def test_what_a_trust_anchor_alone_allows(place: Place) -> None:
    found = place.verdicts(NO_FAULT.name, ToldTree(Path("root.ds"), read_anchors(place.tree.trust_anchor_dnskey)))
    assert {id_ for id_, verdict in found.items() if verdict != "not_applicable"} == ALWAYS
    assert set(found.values()) == {"pass", "not_applicable"}, found


def test_names_that_are_given_allow_more(place: Place) -> None:
    found = place.verdicts(NO_FAULT.name, place.told)
    assert {id_ for id_, verdict in found.items() if verdict != "not_applicable"} == WITH_NAMES
    assert set(found.values()) <= {"pass", "pass_by_tcp", "not_applicable"}, found


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_fails_the_items_that_name_it(place: Place, fault: str) -> None:
    found = place.verdicts(fault, place.told)
    run = {id_ for id_, verdict in found.items() if verdict != "not_applicable"}
    named = {known.item.id for known in items("resolver") if fault in known.item.faults}
    assert named & WITH_NAMES
    failing = {id_ for id_, verdict in found.items() if verdict == "fail"}
    assert failing - MAY_FAIL_TOO.get(fault, set()) == named & run, found


def test_a_trust_anchor_of_another_tree_is_refused(place: Place) -> None:
    asker = Asker(RESOLVER, place.host.make_socket, WAITS_S)
    other = new_keys(Algorithm.ECDSAP256SHA256).ds(dns.name.root)[0]
    told = ToldTree(Path("other.ds"), read_anchors(f". IN DS {other}\n"))
    with pytest.raises(InputError, match=r"--trust-anchor other.ds: its keys of \. \(key tag \d+\) are not among"):
        find_names(asker, told)


NOT_THERE = r"the resolver says that there is no such name \(NXDOMAIN\)"


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        ("--secure", "absent.control.nsec./A", NOT_THERE),
        ("--secure", "www.plain.nsec./A", r"its zone plain\.nsec\. has no DS records"),
        ("--secure", "www.expired.nsec./A", r"SERVFAIL, and its signatures, .* it is bogus"),
        ("--insecure", "www.control.unsigned./LOC", r"no such LOC record of this name"),
        ("--insecure", "www.control.nsec./A", r"the resolver gives it with AD, with RRSIG records, .* it is signed"),
        ("--insecure", "www.expired.nsec./A", r"the resolver gives it with SERVFAIL, .* it is signed"),
        ("--bogus", "absent.control.nsec./A", NOT_THERE),
        ("--bogus", "absent.control.unsigned./A", NOT_THERE),
        ("--bogus", "www.control.nsec./A", r"with AD, and their signatures verify"),
        ("--bogus", "www.plain.nsec./A", r"it is not bogus but insecure"),
    ],
)
def test_names_that_are_not_what_they_are_given_as_are_refused(place: Place, option: str, name: str, said: str) -> None:
    """They would look like failures of the resolver."""
    given: dict[str, tuple[Question, ...]] = dict.fromkeys(("--secure", "--insecure", "--bogus"), ())
    owner, _, rtype = name.partition("/")
    given[option] = (question(owner, RdataType.from_text(rtype)),)
    told = ToldTree(Path("root.ds"), read_anchors(place.tree.trust_anchor_dnskey), *given.values())
    with pytest.raises(InputError, match=rf"{option} {owner}: .*{said}"):
        find_names(Asker(RESOLVER, place.host.make_socket, WAITS_S), told)


def test_a_zone_with_nsec3_is_known_by_its_anchor(place: Place) -> None:
    asker = Asker(RESOLVER, place.host.make_socket, WAITS_S)
    keys = asker.ask(question("secure.nsec3.", RdataType.DNSKEY).with_do).message
    assert keys is not None
    anchors = "".join(f"{keys.answer[0].name} IN DNSKEY {key}\n" for key in keys.answer[0])
    found = find_names(asker, ToldTree(Path("zone.key"), read_anchors(anchors)))
    assert found.secure == question("secure.nsec3.", RdataType.SOA)
    assert question("secure.nsec3.", RdataType.NSEC3PARAM) in found.typed
    assert "F-secure-nsec3" in {row.case.item for row in found.rows}
