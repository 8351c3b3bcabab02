"""Resolvers' answers to questions of the tree: a failure is taken for one only if it lasts."""

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest
from dns.rcode import NOERROR, SERVFAIL
from dnsrig.items.resolver import _table
from dnsrig.verification.exchange import Endpoint, Exchange
from dnsrig.verification.tree.cases import BOGUS, SECURE, Case, TableRow, ZonePlan
from dnsrig.verification.verdicts import Verdict

ZONE = ZonePlan(name="good.test.", what="a zone")


class Resolver:
    """A subject whose answers to one question have these response codes, the last one for ever."""

    sets_ad = True

    def __init__(self, right, rcodes):
        self.asker = self
        self.row = TableRow(ZONE, Case(name="www", what="an address", right=right))
        self.rcodes = list(rcodes)

    def rows(self, _item):
        return [self.row]

    def ask(self, query):
        rcode = self.rcodes.pop(0) if len(self.rcodes) > 1 else self.rcodes[0]
        message = dns.message.make_response(dns.message.make_query(query.name, query.rtype), recursion_available=True)
        message.set_rcode(rcode)
        if rcode == NOERROR:
            message.flags |= dns.flags.AD
            message.answer.append(dns.rrset.from_text(query.name, 300, "IN", "A", "192.0.2.1"))
        return Exchange(Endpoint("192.0.2.53"), "udp", query, b"", message.to_wire(), 1, 1.0)


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch):
    monkeypatch.setattr(_table, "PAUSES_S", tuple(0 for _ in _table.PAUSES_S))


@pytest.mark.parametrize("failures", range(2 + len(_table.PAUSES_S)))
def test_failures_that_pass_are_no_failures(failures):
    found = _table.check_table(Resolver(SECURE, [SERVFAIL] * failures + [NOERROR]), "F-any")
    assert (found.verdict, found.reason) == (Verdict.PASS, "1 question: 1 secure, as is right.")


def test_failures_that_last_are_failures():
    found = _table.check_table(Resolver(SECURE, [SERVFAIL]), "F-any")
    assert found.verdict == Verdict.FAIL
    assert found.reason == "Of 1 questions, 1: www.good.test. A (an address) is answered with SERVFAIL."
    assert len(found.evidence) == 1


def test_what_is_accepted_wrongly_is_not_asked_again():
    resolver = Resolver(BOGUS, [NOERROR, SERVFAIL])
    assert _table.check_table(resolver, "F-any").verdict == Verdict.FAIL
    assert _table.check_table(resolver, "F-any").verdict == Verdict.PASS
