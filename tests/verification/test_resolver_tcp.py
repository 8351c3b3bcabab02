"""Resolvers with limits of size by UDP, and without TCP: only what they do wrong themselves is held against them."""

from collections.abc import Sequence
from dataclasses import dataclass

import dns.flags
import dns.message
import dns.name
import dns.rrset
import pytest
from dns.rdatatype import RdataType
from dnsrig.items.resolver import f85_edns, f_aliases, f_bad_signature, f_tcp
from dnsrig.verification import asked_again
from dnsrig.verification.exchange import Endpoint, Exchange, Transport
from dnsrig.verification.habits import HASTY_WAITS_S, SILENCES_BORNE, Habits
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.known_names import KnownNames, Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.cases import BOGUS, BOGUS_OR_INSECURE, SECURE, Case, Status, TableRow, ZonePlan
from dnsrig.verification.verdicts import Verdict

RESOLVER = Endpoint("192.0.2.53")
APEX = Question(dns.name.from_text("example."), RdataType.SOA)
LARGE = Question(dns.name.from_text("large.example."), RdataType.TXT)
OLD_LIMIT = 512


@dataclass
class Resolver:
    """Answers as a resolver with a limit of its own by UDP; no name of `silent` is answered."""

    octets: int = 100
    """Of the large response."""
    limit: int = 1232
    has_tcp: bool = True
    silent: Sequence[str] = ()
    server: Endpoint = RESOLVER

    def udp(self, query: Query) -> Exchange:
        if query.name.to_text() in self.silent:
            return self._exchange("udp", query, None, "none in 8 s and 15 s")
        response = self._response(query)
        if len(response.to_wire(max_size=65_535)) > min(self.limit, query.payload or OLD_LIMIT):
            response.answer.clear()
            response.flags |= dns.flags.TC
        return self._exchange("udp", query, response, "")

    def tcp(self, query: Query) -> Exchange:
        if not self.has_tcp:
            return self._exchange("tcp", query, None, "connection refused")
        if query.name.to_text() in self.silent:
            return self._exchange("tcp", query, None, "none in 5 s")
        return self._exchange("tcp", query, self._response(query), "")

    def ask(self, query: Query) -> Exchange:
        exchange = self.udp(query)
        return self.tcp(query) if exchange.is_truncated else exchange

    def udp_in_a_row(self, queries: Sequence[Query], _gap_s: float, _wait_s: float) -> list[Exchange]:
        return [self.udp(query) for query in queries]

    def _response(self, query: Query) -> dns.message.Message:
        asked = dns.message.from_wire(query.wire(1))
        response = dns.message.make_response(asked, recursion_available=True, our_payload=1232)
        response.flags |= dns.flags.AD
        text = "192.0.2.1"
        if query.rtype == RdataType.SOA:
            text = "ns.example. hostmaster.example. 1 1 1 1 1"
        elif query.rtype == RdataType.TXT:
            text = " ".join([f'"{"x" * 99}"'] * (self.octets // 100) + [f'"{"x" * (self.octets % 100)}"'])
        response.answer.append(dns.rrset.from_text(query.name, 300, "IN", query.rtype, text))
        return response

    def _exchange(
        self, transport: Transport, query: Query, response: dns.message.Message | None, silence: str
    ) -> Exchange:
        wire = None if response is None else response.to_wire(max_size=65_535)
        return Exchange(self.server, transport, query, query.wire(1), wire, 1, 1.0, silence)


def subject_of(resolver: Resolver, *rows: TableRow) -> ResolverSubject:
    names = KnownNames(secure=APEX, denied=(), typed=(), large={OLD_LIMIT: LARGE}, rows=rows)
    return ResolverSubject(resolver, told=names)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("octets", "limit", "has_tcp", "verdict", "said"),
    [
        (5000, 4096, True, Verdict.NOT_APPLICABLE, "name one of 513 to 1220 octets by --secure NAME/TYPE"),
        (1900, 1232, True, Verdict.NOT_APPLICABLE, "name one of 513 to 1220 octets by --secure NAME/TYPE"),
        (1900, 4096, True, Verdict.PASS, "comes by UDP"),
        (700, 1232, True, Verdict.PASS, "comes by UDP"),
        (700, 512, True, Verdict.FAIL, "the resolver gives no more than 512 by UDP"),
        (700, 512, False, Verdict.INCONCLUSIVE, "there is none (see F-tcp)"),
        (700, 1232, False, Verdict.INCONCLUSIVE, "there is no TCP, by which the rest would come (see F-tcp)"),
    ],
)
def test_size_by_udp_is_judged_by_what_fits(
    octets: int, limit: int, has_tcp: bool, verdict: Verdict, said: str
) -> None:
    outcome = f85_edns.check(subject_of(Resolver(octets, limit, has_tcp)))
    assert outcome.verdict == verdict and said in outcome.reason, outcome.reason


@pytest.mark.parametrize(("has_tcp", "verdict"), [(True, Verdict.PASS), (False, Verdict.FAIL)])
def test_one_item_tells_that_there_is_no_tcp(has_tcp: bool, verdict: Verdict) -> None:
    outcome = f_tcp.check(subject_of(Resolver(has_tcp=has_tcp)))
    assert outcome.verdict == verdict, outcome.reason
    assert verdict == Verdict.PASS or "connection refused, while others are answered" in outcome.reason


def row(name: str, right: tuple[Status, ...], item: str) -> TableRow:
    return TableRow(ZonePlan(name="example.", what="a zone"), Case(name=name, right=right, what="a name", item=item))


@pytest.mark.parametrize(("has_tcp", "verdict"), [(True, Verdict.FAIL), (False, Verdict.INCONCLUSIVE)])
def test_silence_where_there_is_no_tcp_is_no_failure_of_validation(has_tcp: bool, verdict: Verdict) -> None:
    resolver = Resolver(has_tcp=has_tcp, silent=["www.example."])
    outcome = f_aliases.check(subject_of(resolver, row("www", SECURE, "F-aliases")))
    assert outcome.verdict == verdict, outcome.reason
    assert has_tcp or "does not answer by TCP at all (see F-tcp)" in outcome.reason


@pytest.mark.parametrize("right", [BOGUS, BOGUS_OR_INSECURE])
def test_who_is_silent_accepts_nothing(right: tuple[Status, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_again, "TRIES_IN_A_ROW", 1)
    resolver = Resolver(silent=["www.example."])
    other = row("other", SECURE, "F-bad-signature")
    outcome = f_bad_signature.check(subject_of(resolver, row("www", right, "F-bad-signature"), other))
    assert outcome.verdict == Verdict.PASS, outcome.reason


def test_who_is_often_silent_is_waited_for_less_long() -> None:
    habits, waits_s = Habits(), (8.0, 15.0)
    query = Query(name=APEX.name, rtype=RdataType.SOA)
    habits.note(Resolver().udp(query))
    silent = Resolver(silent=["example."]).udp(query)
    waited = []
    for _ in range(SILENCES_BORNE + 1):
        waited.append(habits.udp_waits_s(query, waits_s))
        habits.note(silent, sum(waits_s))
        # What is not waited for for long need not be answered.
        habits.note(silent, 3.0)
    assert waited == [*[waits_s] * SILENCES_BORNE, HASTY_WAITS_S]
    assert habits.udp_waits_s(query, (0.1,)) == (0.1,)
