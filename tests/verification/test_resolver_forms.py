"""Items about the form of a resolver's responses, its data and its proofs, with a model of a resolver without sockets.

Each fault of form fails exactly the items that name it, and no resolver that is right is accused, whatever its style.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
import pytest
from dns.rdatatype import RdataType
from dnsrig.items.catalogue import items
from dnsrig.items.resolver import _table
from dnsrig.verification.exchange import Endpoint, Exchange, Transport
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.fault import Fault, Passage
from dnsrig.verification.faults.relay import NO_FAULT
from dnsrig.verification.faults.resolver_data import FAULTS as DATA_FAULTS
from dnsrig.verification.faults.resolver_messages import FAULTS as MESSAGE_FAULTS
from dnsrig.verification.queries import Query
from dnsrig.verification.runner import run_item
from dnsrig.verification.subjects.known_names import RIG_NAMES
from dnsrig.verification.subjects.resolver import BOGUS_FRESH, ResolverSubject
from dnsrig.verification.tree.answering import answer, truncated, udp_limit, zone_for
from dnsrig.verification.tree.cases import Status
from dnsrig.verification.tree.making import Tree
from dnsrig.verification.tree.serve import TreeServer
from dnsrig.verification.verdicts import Verdict
from trees import Trees

HIDDEN = {RdataType.RRSIG, RdataType.NSEC, RdataType.NSEC3}
ALIASES = 8
FAULTS = tuple(fault for fault in (*MESSAGE_FAULTS, *DATA_FAULTS) if not fault.delay_s)
RESOLVER = Endpoint("192.0.2.53")
OF_OTHERS = ("lower-cases", "fails-bogus-server", "sets-ad-always", "strips-opt", "no-tcp", "cuts-without-tc")
"""Faults that other tests have too; here they must fail no item about form but those that name them."""
Style = Callable[[dns.message.Message], None]


class Model:
    """Resolves from the zones of the tree, and knows from its description what is bogus."""

    def __init__(self, tree: Tree) -> None:
        self.zones = TreeServer(tree).zones
        self.rows = {(row.name, row.case.rtype): row.case.right[0] for row in tree.table}
        self.signed = {zone.plan.origin: bool(zone.plan.chain) for zone in tree.zones}

    def status(self, name: dns.name.Name, rtype: RdataType) -> Status:
        if name.is_subdomain(BOGUS_FRESH):
            return Status.BOGUS
        zone = zone_for(name, rtype, self.zones)
        is_signed = zone is not None and self.signed[zone.origin]
        return self.rows.get((name, rtype), Status.SECURE if is_signed else Status.INSECURE)

    def respond(self, query: dns.message.Message) -> dns.message.Message:
        question = query.question[0]
        rtype = RdataType.make(question.rdtype)
        response = dns.message.make_response(query, recursion_available=True, our_payload=1232)
        response.flags |= query.flags & dns.flags.CD
        with_do = query.edns >= 0 and bool(query.ednsflags & dns.flags.DO)
        if query.edns >= 0:
            response.want_dnssec(with_do)
        status = self.status(question.name, rtype)
        if status == Status.BOGUS and not query.flags & dns.flags.CD:
            response.set_rcode(dns.rcode.SERVFAIL)
            return response
        found = self.found(question.name, rtype)
        response.set_rcode(found.rcode())
        hidden = set() if with_do else HIDDEN - {rtype}
        response.answer = [rrset for rrset in found.answer if rrset.rdtype not in hidden]
        response.authority = [rrset for rrset in found.authority if rrset.rdtype not in hidden | {RdataType.NS}]
        if status == Status.SECURE and (with_do or query.flags & dns.flags.AD):
            response.flags |= dns.flags.AD
        return response

    def found(self, name: dns.name.Name, rtype: RdataType) -> dns.message.Message:
        """Give what the servers of the tree say, aliases followed from zone to zone."""
        first = answer(dns.message.make_query(name, rtype, want_dnssec=True), self.zones)
        for _ in range(ALIASES):
            aliases = {one.name: one[0].target for one in first.answer if one.rdtype == RdataType.CNAME}
            while name in aliases:
                name = aliases[name]
            if not aliases or any(one.name == name for one in first.answer):
                break
            following = answer(dns.message.make_query(name, rtype, want_dnssec=True), self.zones)
            first.answer += following.answer
            first.authority += following.authority
            first.set_rcode(following.rcode())
        return first


@dataclass(frozen=True)
class FakeAsker:
    """Asks the model through a fault; silence costs no time."""

    model: Model
    fault: Fault = NO_FAULT
    style: Style = lambda _: None
    server: Endpoint = RESOLVER
    memory: set[str] = field(default_factory=set)

    def udp(self, query: Query) -> Exchange:
        return self._asked(query, "udp")

    def tcp(self, query: Query) -> Exchange:
        return self._asked(query, "tcp")

    def ask(self, query: Query) -> Exchange:
        exchange = self.udp(query)
        return self.tcp(query) if exchange.is_truncated else exchange

    def _asked(self, query: Query, transport: Transport) -> Exchange:
        sent = query.wire(4711)
        response = None if self.fault.refuses_tcp and transport == "tcp" else self._passed(sent, transport)
        return Exchange(self.server, transport, query, sent, response, 1, 1.0, "" if response else "none")

    def _passed(self, sent: bytes, transport: Transport) -> bytes | None:
        passage = Passage(sent, transport, memory=self.memory)
        asked = self.fault.on_query(passage) if self.fault.on_query else sent
        if asked is None:
            return None
        message = dns.message.from_wire(asked)
        response = self.model.respond(message)
        self.style(response)
        limit = udp_limit(message) if transport == "udp" else 65_535
        passage.response = truncated(response, limit)
        return self.fault.on_response(passage) if self.fault.on_response else passage.response


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory, trees: Trees) -> Tree:
    return trees.copy_to(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def model(tree: Tree) -> Model:
    return Model(tree)


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_table, "PAUSES_S", ())


FORMS = {fault.name for fault in FAULTS} | {"fails-bogus-server", "lower-cases"}
CACHED = {"F-ttl-passed", "F-ttl-signed"}
"""Items about what is kept, and for how long; the model keeps nothing."""
CHOSEN = [known for known in items("resolver") if FORMS & set(known.item.faults) and known.item.id not in CACHED]


def verdicts(tree: Tree, asker: FakeAsker, only: Iterable[Verdict]) -> dict[str, str]:
    """Give the items that end so, each with its reason; the subject asks by the fake."""
    subject = ResolverSubject(asker, tree)  # type: ignore[arg-type]
    results = [run_item(known, subject) for known in CHOSEN]
    return {one.item.id: one.outcome.reason for one in results if one.outcome.verdict in set(only)}


def test_the_model_passes_all_items(tree: Tree, model: Model) -> None:
    assert verdicts(tree, FakeAsker(model), [verdict for verdict in Verdict if verdict != Verdict.PASS]) == {}


@pytest.mark.parametrize("name", [*(fault.name for fault in FAULTS), *OF_OTHERS])
def test_each_fault_fails_the_items_that_name_it(tree: Tree, model: Model, name: str) -> None:
    failures = verdicts(tree, FakeAsker(model, fault_named(name)), [Verdict.FAIL])
    expected = {known.item.id for known in CHOSEN if name in known.item.faults}
    assert set(failures) == expected, failures


def _age(message: dns.message.Message) -> None:
    """Count TTLs down, and hold denials no longer than the zone's minimum, as caches do."""
    for rrset in (*message.answer, *message.authority):
        rrset.ttl = min(rrset.ttl, 60) // 2


def _rotate(message: dns.message.Message) -> None:
    """Give the records of each RRset in another order."""
    for section in (message.answer, message.authority):
        section[:] = [dns.rrset.from_rdata_list(one.name, one.ttl, [*one][::-1]) for one in section]


def _tell_servers(message: dns.message.Message) -> None:
    """Add the zone's name servers to answers, without signatures."""
    if message.answer:
        message.authority.append(dns.rrset.from_text("secure.nsec.", 300, "IN", "NS", "ns1.secure.nsec."))


def _write_in_capitals(message: dns.message.Message) -> None:
    """Give owner names in another case than the question, as resolvers that keep the servers' case do."""
    for rrset in message.answer:
        rrset.name = dns.name.Name([label.upper() for label in rrset.name.labels])


@pytest.mark.parametrize("style", [_age, _rotate, _tell_servers, _write_in_capitals])
def test_resolvers_that_are_right_in_their_own_way_pass(tree: Tree, model: Model, style: Style) -> None:
    assert verdicts(tree, FakeAsker(model, style=style), [Verdict.FAIL, Verdict.INCONCLUSIVE]) == {}


@pytest.mark.parametrize(("fault", "verdict"), [("raises-all-ttls", Verdict.FAIL), ("none", Verdict.PASS)])
def test_in_other_trees_ttls_are_compared_with_those_of_signatures(model: Model, fault: str, verdict: Verdict) -> None:
    asker = FakeAsker(model, NO_FAULT if fault == "none" else fault_named(fault))
    subject = ResolverSubject(asker, told=RIG_NAMES)  # type: ignore[arg-type]
    (known,) = [known for known in CHOSEN if known.item.id == "F-ttl"]
    assert run_item(known, subject).outcome.verdict == verdict
